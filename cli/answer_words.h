/* SPDX-License-Identifier: MIT */
/* The words of a line of a session's answer, such as "tid=12 name=a%20b". */
#ifndef GPUTAP_CLI_ANSWER_WORDS_H
#define GPUTAP_CLI_ANSWER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* Return a value, unescaped. The caller frees it. NULL: the line has no such word. */
char *answer_copy_word(const char *line, const char *key);
/* The same; "" if the line has no such word. */
char *answer_copy_text(const char *line, const char *key);
/* Return false if the word is missing or empty. */
bool answer_read_number(const char *line, const char *key, uint64_t *out);
/* Return 0 if the word is missing or empty. */
uint64_t answer_get_number(const char *line, const char *key);
/* Return -1 if the word is missing or empty. */
int64_t answer_get_signed(const char *line, const char *key);
bool answer_is_yes(const char *line, const char *key);

#endif
