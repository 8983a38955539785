/* SPDX-License-Identifier: MIT */
/* Two small tables for commands that read records: numbered texts, which can be looked up by number
 * and by text, and a map from numbers to numbers. If memory runs out, they leave the innermost
 * guard_memory(). */
#ifndef GPUTAP_ANALYSIS_BASE_LOOKUP_H
#define GPUTAP_ANALYSIS_BASE_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/guard_memory.h"

#define LOOKUP_NONE UINT32_MAX

/* Numbered texts. Equal texts have the same number, and numbers start with 0. Empty if
 * zero-initialised. */
struct texts {
	char **text;
	uint32_t count, room;
	uint32_t *slots; /* number + 1 of a text, in a hash table with open addressing */
	uint32_t slot_count;
};
uint32_t texts_put(struct texts *t, const char *text);
static inline const char *texts_get(const struct texts *t, uint32_t number)
{
	return number < t->count ? t->text[number] : "";
}
void texts_fini(struct texts *t);

/* Map of 64-bit keys to 32-bit values. Empty if zero-initialised. */
struct idmap {
	struct idmap_slot {
		uint64_t key;
		uint32_t value;
		uint32_t used;
	} * slots;
	uint32_t slot_count, count;
};
/* Return the value; LOOKUP_NONE: not found. */
uint32_t idmap_get(const struct idmap *m, uint64_t key);
void idmap_put(struct idmap *m, uint64_t key, uint32_t value);
void idmap_fini(struct idmap *m);

static inline uint64_t lookup_mix(uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

#endif
