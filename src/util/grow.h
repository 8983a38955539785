/* SPDX-License-Identifier: MIT */
/* Lists that grow by doubling. */
#ifndef GPUTAP_UTIL_GROW_H
#define GPUTAP_UTIL_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * gt_grow() - make room for one more element
 * @list:  @count elements, with space for *@room; NULL with *@room 0: no list yet
 * @bytes: size of one element
 * Return: the list, which may have moved; NULL if out of memory. @list is then unchanged.
 * Owner:  caller; free().
 */
static inline void *gt_grow(void *list, size_t count, size_t *room, size_t bytes)
{
	size_t wanted = *room ? 2 * *room : 64;
	void *moved;

	if (count < *room)
		return list;
	/* the tests make realloc() fail */
	moved = wanted > SIZE_MAX / bytes ? NULL : realloc(list, wanted * bytes);
	if (moved)
		*room = wanted;
	return moved;
}

#endif
