/* SPDX-License-Identifier: MIT */
/* Lines of source and inlined functions of an ELF file, from its debug information, by elfutils'
 * libdw. It is loaded where it is there; without it there are no lines. Debug information in a file
 * of its own is found where distributions put it; nothing is fetched over a network. */
#ifndef GPUTAP_EXPORT_DWARF_LINES_H
#define GPUTAP_EXPORT_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/frame_names.h"

struct gt_dwarf_lines;

/* Is there a libdw? */
bool gt_dwarf_lines_are_there(void);
/* NULL: no libdw, or no debug information. */
struct gt_dwarf_lines *gt_dwarf_lines_open(const char *path);
void gt_dwarf_lines_close(struct gt_dwarf_lines *d);

/**
 * gt_dwarf_lines_find() - the functions that are at an address, as the file has it
 * @frames: receives at most @most, innermost first: those that were inlined, and the one that they
 *          are in. Texts stay until gt_dwarf_lines_close()
 * Return: how many; 0: nothing is known.
 */
size_t gt_dwarf_lines_find(const struct gt_dwarf_lines *d, uint64_t address,
			   struct gt_frame_name *frames, size_t most);

#endif
