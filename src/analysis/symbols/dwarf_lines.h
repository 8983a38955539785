/* SPDX-License-Identifier: MIT */
/* Reads source lines and inlined functions of an ELF file from its debug information, with
 * elfutils' libdw. libdw is loaded if it is installed; otherwise lines are missing. Separate debug
 * files are found where distributions install them. Nothing is fetched over a network. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_DWARF_LINES_H
#define GPUTAP_ANALYSIS_SYMBOLS_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/frame_names.h"

struct gt_dwarf_lines;

/* Return true if libdw is installed. */
bool gt_dwarf_lines_are_there(void);
/* Open the debug information of a file. Return NULL if there is no libdw or no debug
 * information. */
struct gt_dwarf_lines *gt_dwarf_lines_open(const char *path);
void gt_dwarf_lines_close(struct gt_dwarf_lines *d);

/**
 * gt_dwarf_lines_find() - find the functions at an address of the file
 * @frames: receives at most @most functions, innermost first: inlined functions, then the function
 *          that contains them. Texts are valid until gt_dwarf_lines_close()
 * Return: number of functions; 0: nothing is known.
 */
size_t gt_dwarf_lines_find(const struct gt_dwarf_lines *d, uint64_t address,
			   struct gt_frame_name *frames, size_t most);

#endif
