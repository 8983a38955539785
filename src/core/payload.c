/* SPDX-License-Identifier: MIT */
/* Payload of a call's record: for each blob present, one struct gt_payload and the blob's bytes,
 * padded to 8. The functions are out of line and shared by all taps, so that one copy stays in the
 * cache.
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
		words[n / 8] = 0; /* clear old data, because padding is part of the record */
	memcpy(words, data, n);
}

static __attribute__((noinline)) void put_from(uint64_t *at, const struct gt_blob *b,
					       const struct gt_blob *end)
{
	for (; b < end; b++) {
		gt_blob_put(at, *b);
		at += gt_blob_bytes(*b) / 8;
	}
}

/* The payload of a kernel size in one dimension, or of a list of one event, is one word. Blobs of
 * one word are written without a function call, so no registers need to be saved. */
void gt_blobs_put(void *p, const struct gt_blob *blobs, unsigned count)
{
	const struct gt_blob *b = blobs, *end = blobs + count;
	uint64_t *at = p;

	for (; b < end; b++) {
		if (!b->data)
			continue;
		if (gt_unlikely(b->bytes != 8 || gt_tap_options.payload_cap < 8))
			return put_from(at, b, end);
		at[0] = b->arg | UINT64_C(8) << 32; /* struct gt_payload */
		memcpy(at + 1, b->data, 8);
		at += 2;
	}
}
