/* SPDX-License-Identifier: MIT */
/* Packs numbers and texts into bytes, and unpacks them. The same function does both, so that one
 * description of a struct serves for writing and for reading:
 *
 *   pack_u64(p, &row->count);    packs the field, or sets it
 *
 * Numbers take 7 bits per byte. The bytes may come from any file. After a failure, `wrong` is set,
 * and every field that is unpacked is 0; the caller checks `wrong` at the end. */
#ifndef GPUTAP_ANALYSIS_BASE_PACK_H
#define GPUTAP_ANALYSIS_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack {
	/* unpacking: the next byte, and the end; NULL: packing */
	const uint8_t *from, *end;
	/* packing; owner: caller, free() */
	uint8_t *bytes;
	size_t used, room;
	size_t used_most; /* larger contents are wrong */
	bool wrong;
};

static inline bool pack_is_reading(const struct pack *p)
{
	return p->from;
}

void pack_u64(struct pack *p, uint64_t *value);
void pack_u32(struct pack *p, uint32_t *value);
void pack_bool(struct pack *p, bool *value);
/* Pack a number below @limit. @or_none: LOOKUP_NONE is allowed as well. */
void pack_number(struct pack *p, uint32_t *value, uint32_t limit, bool or_none);
/* Pack the number of elements of a list. @least_bytes: smallest packed size of an element. A count
 * that the rest of the bytes cannot hold is wrong. */
void pack_count(struct pack *p, uint32_t *count, size_t least_bytes);
/* Pack a text. An unpacked text ends with NUL, belongs to the packed bytes, and is never NULL. */
void pack_text(struct pack *p, const char **text);

#endif
