/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli) of blocks. */
#ifndef GPUTAP_CAPTURE_CHECKSUM_H
#define GPUTAP_CAPTURE_CHECKSUM_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include <isa-l/crc.h>

#include "capture/format.h"

/* The format limits the size of payloads, so an int is enough for ISA-L. */
static inline uint32_t gt_crc32c(uint32_t crc, const void *data, size_t bytes)
{
	return ~crc32_iscsi((unsigned char *)(uintptr_t)data, (int)bytes, ~crc);
}

/* Return the CRC of a block's header and extension, computed with head_crc as 0. */
static inline uint32_t gt_head_crc(const void *head, size_t bytes)
{
	static const uint32_t zero;
	size_t at = offsetof(struct gt_file_block, head_crc);
	uint32_t crc = gt_crc32c(0, head, at);

	crc = gt_crc32c(crc, &zero, sizeof zero);
	return gt_crc32c(crc, (const char *)head + at + 4, bytes - at - 4);
}

/* Add a block to the checksum of a file's heads. A head contains the checksum of its payload. */
static inline uint64_t gt_heads_add(uint64_t heads, uint64_t at, uint32_t head_crc)
{
	heads = (heads ^ at) * UINT64_C(0x9e3779b97f4a7c15);
	heads = (heads ^ heads >> 32 ^ head_crc) * UINT64_C(0xd6e8feb86659fd93);
	return heads ^ heads >> 29;
}

#endif
