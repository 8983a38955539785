/* SPDX-License-Identifier: MIT */
/* A hash map from two 64-bit keys to a 32-bit number. Uses open addressing and never shrinks. */
#ifndef GPUTAP_ANALYSIS_BASE_MAP_H
#define GPUTAP_ANALYSIS_BASE_MAP_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct gt_map_entry {
	uint64_t a, b;
	uint32_t value; /* number plus one; 0: free entry */
};

struct gt_map {
	struct gt_map_entry *entry;
	size_t capacity, count; /* capacity: power of two or 0 */
};

static inline size_t gt_map_hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	h = (h ^ h >> 29 ^ b) * 0x94d049bb133111ebu;
	return (size_t)(h ^ h >> 32);
}

/* Return the number of a key, or -1 if the map does not contain the key. */
static inline int64_t gt_map_find(const struct gt_map *map, uint64_t a, uint64_t b)
{
	size_t mask = map->capacity - 1;

	if (!map->capacity)
		return -1;
	for (size_t i = gt_map_hash(a, b) & mask;; i = (i + 1) & mask) {
		const struct gt_map_entry *e = &map->entry[i];

		if (!e->value)
			return -1;
		if (e->a == a && e->b == b)
			return e->value - 1;
	}
}

static inline void gt_map_put_free(struct gt_map *map, uint64_t a, uint64_t b, uint32_t stored)
{
	size_t mask = map->capacity - 1, i = gt_map_hash(a, b) & mask;

	while (map->entry[i].value)
		i = (i + 1) & mask;
	map->entry[i] = (struct gt_map_entry){a, b, stored};
}

/* Add a key that is not in the map. Return 0 or -ENOMEM. */
static inline int gt_map_add(struct gt_map *map, uint64_t a, uint64_t b, uint32_t value)
{
	if (map->count * 2 >= map->capacity) {
		struct gt_map bigger = {.capacity = map->capacity ? map->capacity * 2 : 64,
					.count = map->count};

		bigger.entry = calloc(bigger.capacity, sizeof *bigger.entry);
		if (!bigger.entry)
			return -ENOMEM;
		for (size_t i = 0; i < map->capacity; i++)
			if (map->entry[i].value)
				gt_map_put_free(&bigger, map->entry[i].a, map->entry[i].b,
						map->entry[i].value);
		free(map->entry);
		*map = bigger;
	}
	gt_map_put_free(map, a, b, value + 1);
	map->count++;
	return 0;
}

/* Change the number of a key. The key must be in the map. */
static inline void gt_map_set(struct gt_map *map, uint64_t a, uint64_t b, uint32_t value)
{
	size_t mask = map->capacity - 1, i = gt_map_hash(a, b) & mask;

	while (map->entry[i].a != a || map->entry[i].b != b)
		i = (i + 1) & mask;
	map->entry[i].value = value + 1;
}

static inline void gt_map_fini(struct gt_map *map)
{
	free(map->entry);
	*map = (struct gt_map){0};
}

#endif
