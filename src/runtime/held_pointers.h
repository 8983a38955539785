/* SPDX-License-Identifier: MIT */
/* Pointers to functions that mapped objects hold in their writable data, where a program has stored
 * what dlsym() and a runtime's own look-up functions returned. */
#ifndef GPUTAP_RUNTIME_HELD_POINTERS_H
#define GPUTAP_RUNTIME_HELD_POINTERS_H

#include <stddef.h>
#include <stdint.h>

struct gt_held_pointers {
	uintptr_t low, high; /* only words in [low, high) are looked at */
	/* base addresses of objects whose data is left alone */
	const uintptr_t *left;
	size_t left_count;
	/* return the new value of a word that contains @value; 0: leave it */
	uintptr_t (*target)(uintptr_t value, void *data);
	void *data;
};

/**
 * gt_held_pointers_replace() - replace pointers in the writable data of all mapped objects
 * Reads only pages that are in memory or swapped, because untouched pages contain no such pointer.
 * Words are changed by compare and exchange, while the program runs. Words in the heap and on
 * stacks are never changed.
 * Return: number of changed words. Thread: one at a time; makes system calls; takes the dynamic
 *         linker's lock for a moment.
 */
size_t gt_held_pointers_replace(const struct gt_held_pointers *held);

#endif
