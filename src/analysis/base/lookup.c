/* SPDX-License-Identifier: MIT */
/* Hash tables with open addressing and linear probing. A table that is half full is doubled. */
#include "analysis/base/lookup.h"

#include <stdlib.h>
#include <string.h>

/* Texts ------------------------------------------------------------------------ */

static uint64_t hash_text(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return lookup_mix(h);
}

static void texts_rehash(struct texts *t)
{
	uint32_t count = t->slot_count ? t->slot_count * 2 : 64;
	uint32_t *slots = allocate_list(count, sizeof *slots);

	free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t s = (uint32_t)hash_text(t->text[i]) & (count - 1);
		while (t->slots[s])
			s = (s + 1) & (count - 1);
		t->slots[s] = i + 1;
	}
}

uint32_t texts_put(struct texts *t, const char *text)
{
	uint32_t s;

	if (t->count * 2 >= t->slot_count)
		texts_rehash(t);
	s = (uint32_t)hash_text(text) & (t->slot_count - 1);
	for (; t->slots[s]; s = (s + 1) & (t->slot_count - 1))
		if (!strcmp(t->text[t->slots[s] - 1], text))
			return t->slots[s] - 1;
	GROW_LIST(t->text, t->count, t->room);
	t->text[t->count] = strcpy(allocate_list(strlen(text) + 1, 1), text);
	t->slots[s] = ++t->count;
	return t->count - 1;
}

void texts_fini(struct texts *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->text[i]);
	free(t->text);
	free(t->slots);
	*t = (struct texts){0};
}

/* Numbers ---------------------------------------------------------------------- */

static struct idmap_slot *find_slot(const struct idmap *m, uint64_t key)
{
	uint32_t s = (uint32_t)lookup_mix(key) & (m->slot_count - 1);

	while (m->slots[s].used && m->slots[s].key != key)
		s = (s + 1) & (m->slot_count - 1);
	return &m->slots[s];
}

uint32_t idmap_get(const struct idmap *m, uint64_t key)
{
	const struct idmap_slot *slot = m->slot_count ? find_slot(m, key) : NULL;

	return slot && slot->used ? slot->value : LOOKUP_NONE;
}

void idmap_put(struct idmap *m, uint64_t key, uint32_t value)
{
	struct idmap_slot *slot;

	if (m->count * 2 >= m->slot_count) {
		struct idmap old = *m;
		m->slot_count = old.slot_count ? old.slot_count * 2 : 64;
		m->slots = allocate_list(m->slot_count, sizeof *m->slots);
		for (uint32_t i = 0; i < old.slot_count; i++)
			if (old.slots[i].used)
				*find_slot(m, old.slots[i].key) = old.slots[i];
		free(old.slots);
	}
	slot = find_slot(m, key);
	m->count += !slot->used;
	*slot = (struct idmap_slot){.key = key, .value = value, .used = 1};
}

void idmap_fini(struct idmap *m)
{
	free(m->slots);
	*m = (struct idmap){0};
}
