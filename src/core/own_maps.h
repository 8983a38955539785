/* SPDX-License-Identifier: MIT */
/* What of /proc/self/maps says of one address: read by system calls alone, in any thread. */
#ifndef GPUTAP_CORE_OWN_MAPS_H
#define GPUTAP_CORE_OWN_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_own_map {
	uintptr_t low, high;
};

/**
 * gt_own_map_find() - the mapping that an address lies in
 * @at:    the address
 * @map:   receives where it lies
 * @name:  receives the file's path, "[stack]", ..; "": none, or a longer one
 * @bytes: of @name
 * Return: false: there is none, or it cannot be read.
 * Little of the caller's stack is taken, for it may be a small one.
 */
bool gt_own_map_find(uintptr_t at, struct gt_own_map *map, char *name, size_t bytes);

#endif
