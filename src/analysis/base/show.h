/* SPDX-License-Identifier: MIT */
/* Formats numbers, names and words for people. */
#ifndef GPUTAP_ANALYSIS_BASE_SHOW_H
#define GPUTAP_ANALYSIS_BASE_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Format numbers for text: "1.23 ms", "4.50 GiB", "15.3 GB/s" (powers of 1,000), "12,345".
 * Per-thread buffers; results stay valid for 32 calls. */
const char *show_duration(uint64_t ns);
const char *show_bytes(uint64_t bytes);
const char *show_rate(double bytes_per_s);
const char *show_count(uint64_t count);

/* Return @word in shell syntax, quoted if necessary, with control characters as '?'. A result stays
 * valid during the next call of the function. */
const char *show_shell_word(const char *word);

/* Read a character like gt_text_next(), from a non-empty @text that ends with a NUL. */
size_t text_next(const char *text, uint32_t *character);
/* Return the number of columns of a character on a terminal. */
unsigned character_width(uint32_t character);
/* Return the number of columns that ui_put() needs for @text. */
unsigned text_width(const char *text);

/* Return the name in @names (NULL-terminated) that is nearest to @word; NULL: no name is near. */
const char *nearest_name(const char *word, const char *const *names);

bool text_ends_with(const char *text, const char *end);

#endif
