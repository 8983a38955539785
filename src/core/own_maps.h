/* SPDX-License-Identifier: MIT */
/* Finds the mapping of an address in /proc/self/maps. Makes system calls only and runs in any
 * thread. */
#ifndef GPUTAP_CORE_OWN_MAPS_H
#define GPUTAP_CORE_OWN_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_own_map {
	uintptr_t low, high;
	bool writable;
};

/**
 * gt_own_map_find() - find the mapping that contains an address
 * @at:    the address
 * @map:   receives the mapping's bounds, and whether it can be written
 * @name:  receives the file's path, "[stack]", ...; "": no name, or too long
 * @bytes: size of @name
 * Return: false: no such mapping, or the file cannot be read.
 * Uses little of the caller's stack, which may be small.
 */
bool gt_own_map_find(uintptr_t at, struct gt_own_map *map, char *name, size_t bytes);

#endif
