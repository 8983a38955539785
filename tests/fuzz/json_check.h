/* SPDX-License-Identifier: MIT */
/* Checks whether a text is printable UTF-8, and whether it is JSON (RFC 8259). */
#ifndef GPUTAP_FUZZ_JSON_CHECK_H
#define GPUTAP_FUZZ_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Return: offset of the first byte that is neither printable UTF-8 nor a line end; @bytes if there
 * is none. */
size_t text_check(const char *text, size_t bytes);

/* @several: allow several values in a row. Return: offset of the first wrong byte; @bytes if
 * there is none. */
size_t json_check(const char *text, size_t bytes, bool several);

#endif
