/* SPDX-License-Identifier: MIT */
/* Looks up lines of Python functions in the table that CPython 3.11 and later keep for each code
 * object (co_linetable; Objects/locations.md in CPython's source). */
#ifndef GPUTAP_CAPTURE_PYTHON_LINES_H
#define GPUTAP_CAPTURE_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Return the line of an instruction; 0: not known. @first: the function's first line; @offset: the
 * instruction's offset in bytes. */
uint32_t gt_python_line(const uint8_t *table, size_t bytes, uint32_t first, uint32_t offset);

#endif
