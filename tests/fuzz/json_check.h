/* SPDX-License-Identifier: MIT */
/* Is a text printable UTF-8, is it JSON (RFC 8259)? */
#ifndef GPUTAP_FUZZ_JSON_CHECK_H
#define GPUTAP_FUZZ_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Return: offset of the first byte that is neither printable UTF-8 nor a line's end; @bytes: there
 * is none. */
size_t text_check(const char *text, size_t bytes);

/* @several: values may follow each other. Return: offset of the first byte that is wrong; @bytes:
 * there is none. */
size_t json_check(const char *text, size_t bytes, bool several);

#endif
