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
#include "capture/scan.h"

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

/* Let a part of a summary describe the blocks before it. @first: position of part 0. */
static inline void fuzz_mend_summary(uint8_t *payload, size_t bytes, uint64_t at, uint64_t *first,
				     uint64_t heads)
{
	struct gt_file_summary part;

	if (bytes < sizeof part)
		return;
	memcpy(&part, payload, sizeof part);
	if (!part.part)
		*first = at;
	part.end = *first;
	part.heads = heads;
	memcpy(payload, &part, sizeof part);
}

/* Repair the checksums of everything that looks like a block. Lengths stay unchanged, so that wrong
 * lengths are also tested. */
static inline void fuzz_mend(uint8_t *file, size_t bytes)
{
	size_t at = sizeof(struct gt_file_header);
	uint64_t heads = 0, summary_at = 0;

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
		if (h.type == GT_BLOCK_SUMMARY)
			fuzz_mend_summary(file + at + h.head_bytes, h.stored_bytes, at, &summary_at,
					  heads);
		h.payload_crc = gt_crc32c(0, file + at + h.head_bytes, h.stored_bytes);
		memcpy(file + at, &h, sizeof h);
		h.head_crc = gt_head_crc(file + at, h.head_bytes);
		memcpy(file + at, &h, sizeof h);
		if (gt_block_is_of_session(&h))
			heads = gt_heads_add(heads, at, h.head_crc);
		at += (size_t)h.head_bytes + h.stored_bytes;
	}
}

#endif
