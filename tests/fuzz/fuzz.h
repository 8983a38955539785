/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_FUZZ_H
#define GPUTAP_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/checksum.h"
#include "capture/format.h"

/* Create a file in memory that can be opened through its path. */
static inline void fuzz_file(int *fd, char *path)
{
	if (*fd >= 0)
		return;
	*fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (*fd < 0)
		abort();
	sprintf(path, "/proc/self/fd/%d", *fd);
}

/* Repair the checksums of the heads in an index, which have their own magic. */
static inline void fuzz_mend_index(uint8_t *heads, size_t bytes)
{
	for (size_t at = 0; at + sizeof(struct gt_file_block) <= bytes;) {
		struct gt_file_block h;

		memcpy(&h, heads + at, sizeof h);
		if (h.magic != GT_INDEX_MAGIC || h.head_bytes < sizeof h ||
		    h.head_bytes > bytes - at) {
			at += 4;
			continue;
		}
		h.magic = GT_BLOCK_MAGIC;
		memcpy(heads + at, &h, sizeof h);
		h.head_crc = gt_head_crc(heads + at, h.head_bytes);
		h.magic = GT_INDEX_MAGIC;
		memcpy(heads + at, &h, sizeof h);
		at += h.head_bytes;
	}
}

/* Repair the checksums of everything that looks like a block. Lengths stay unchanged, so that wrong
 * lengths are also tested. */
static inline void fuzz_mend(uint8_t *file, size_t bytes)
{
	size_t at = sizeof(struct gt_file_header);

	if (bytes < at)
		return;
	memcpy(file, GT_FILE_MAGIC, 8);
	((struct gt_file_header *)file)->major %= GT_FILE_MAJOR_MERGED + 1;
	((struct gt_file_header *)file)->crc =
		gt_crc32c(0, file, offsetof(struct gt_file_header, crc));
	while (at + sizeof(struct gt_file_block) <= bytes) {
		struct gt_file_block h;

		memcpy(&h, file + at, sizeof h);
		if (h.magic != GT_BLOCK_MAGIC) {
			at++;
			continue;
		}
		if (h.head_bytes < sizeof h || h.head_bytes > bytes - at ||
		    h.stored_bytes > bytes - at - h.head_bytes) {
			at += 4;
			continue;
		}
		if (h.type == GT_BLOCK_INDEX)
			fuzz_mend_index(file + at + h.head_bytes, h.stored_bytes);
		h.payload_crc = gt_crc32c(0, file + at + h.head_bytes, h.stored_bytes);
		memcpy(file + at, &h, sizeof h);
		h.head_crc = gt_head_crc(file + at, h.head_bytes);
		memcpy(file + at, &h, sizeof h);
		at += (size_t)h.head_bytes + h.stored_bytes;
	}
}

#endif
