/* SPDX-License-Identifier: MIT */
/* Payload of a call's record: one struct gt_payload and its bytes, padded to 8, for each blob that is there.
 * Out of line and shared by all taps, so that one copy stays warm.
 * Never here: reading through a pointer that the tap did not find readable. */
#include "core/tap.h"

static size_t capped(uint64_t bytes)
{
	return bytes < gt_tap_options.payload_cap ? bytes : gt_tap_options.payload_cap;
}

size_t gt_blobs_bytes(const struct gt_blob *blobs, unsigned count)
{
	size_t bytes = 0;

	for (const struct gt_blob *b = blobs; b < blobs + count; b++)
		bytes += gt_blob_bytes(*b);
	return bytes;
}

void gt_blob_put_any(void *p, uint32_t arg, const void *data, uint64_t bytes)
{
	size_t n = capped(bytes);
	struct gt_payload h = {(uint16_t)arg, n < bytes ? GT_PAYLOAD_TRUNCATED : 0, (uint32_t)n};
	uint64_t *words = p;

	memcpy(words++, &h, sizeof h);
	if (n % 8)
		words[n / 8] = 0; /* padding is part of the record: nothing old shows */
	memcpy(words, data, n);
}

void gt_blobs_put(void *p, const struct gt_blob *blobs, unsigned count)
{
	uint8_t *at = p;

	for (const struct gt_blob *b = blobs; b < blobs + count; b++) {
		gt_blob_put((uint64_t *)at, *b);
		at += gt_blob_bytes(*b);
	}
}
