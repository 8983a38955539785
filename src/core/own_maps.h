/* SPDX-License-Identifier: MIT */
/* What of /proc/self/maps says of one address: read by system calls alone, in any thread. */
#ifndef GPUTAP_CORE_OWN_MAPS_H
#define GPUTAP_CORE_OWN_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_own_map {
	uintptr_t low, high;
	char name[1024]; /* the file's path, "[stack]", ..; "": none, or a longer one */
};

/* The mapping that @at lies in. Return: false: there is none, or it cannot be read. */
bool gt_own_map_find(uintptr_t at, struct gt_own_map *map);

#endif
