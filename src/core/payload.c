/* SPDX-License-Identifier: MIT */
/* Payload of a call's record: one struct gt_payload and its bytes, padded to 8, for each blob that is there.
 * Out of line and shared by all taps, so that one copy stays warm.
 * Never here: reading through a pointer that the tap did not find readable. */
#include "core/tap.h"

static size_t capped(const struct gt_blob *b)
{
	return b->bytes < gt_tap_options.payload_cap ? b->bytes : gt_tap_options.payload_cap;
}

size_t gt_blobs_bytes(const struct gt_blob *blobs, unsigned count)
{
	size_t bytes = 0;

	for (const struct gt_blob *b = blobs; b < blobs + count; b++)
		if (b->data)
			bytes += sizeof(struct gt_payload) + ((capped(b) + 7) & ~(size_t)7);
	return bytes;
}

void gt_blobs_put(void *p, const struct gt_blob *blobs, unsigned count)
{
	uint8_t *at = p;

	for (const struct gt_blob *b = blobs; b < blobs + count; b++) {
		if (!b->data)
			continue;
		size_t n = capped(b);
		struct gt_payload h = {(uint16_t)b->arg, n < b->bytes ? GT_PAYLOAD_TRUNCATED : 0, (uint32_t)n};

		memcpy(at, &h, sizeof h);
		at += sizeof h;
		if (n == 8) { /* handles and pointers: most of what there is */
			memcpy(at, b->data, 8);
			at += 8;
			continue;
		}
		if (n & 7)
			memset(at + (n & ~(size_t)7), 0, 8);
		memcpy(at, b->data, n);
		at += (n + 7) & ~(size_t)7;
	}
}
