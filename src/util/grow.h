/* SPDX-License-Identifier: MIT */
/* Lists that grow by doubling. */
#ifndef GPUTAP_UTIL_GROW_H
#define GPUTAP_UTIL_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * gt_grow_to() - make room for @count elements
 * @list:  a list with space for *@room elements; NULL with *@room 0: no list yet
 * @bytes: size of one element
 * Return: the list, which may have moved; NULL if out of memory. @list is then unchanged.
 * Owner:  caller; free().
 */
static inline void *gt_grow_to(void *list, size_t count, size_t *room, size_t bytes)
{
	size_t wanted = *room ? 2 * *room : 16;
	void *moved;

	if (count <= *room)
		return list;
	if (wanted < count)
		wanted = count;
	/* the tests make realloc() fail */
	moved = wanted > SIZE_MAX / bytes ? NULL : realloc(list, wanted * bytes);
	if (moved)
		*room = wanted;
	return moved;
}

/* Like gt_grow_to(), for one more element than @count. */
static inline void *gt_grow(void *list, size_t count, size_t *room, size_t bytes)
{
	return gt_grow_to(list, count + 1, room, bytes);
}

#endif
