/* SPDX-License-Identifier: MIT */
/* Text of unknown content for formats with rules. Bytes that are not valid UTF-8 become U+FFFD,
 * one for each. */
#ifndef GPUTAP_EXPORT_TEXT_H
#define GPUTAP_EXPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Length of the valid UTF-8 sequence at @text (1 to 4), 0: none there. Overlong forms,
 * surrogates and numbers over U+10FFFF are not valid. */
unsigned gt_utf8_length(const unsigned char *text, size_t bytes);

/* Valid UTF-8. Room: 3 bytes for each of @bytes. Return: the end. */
char *gt_put_utf8(char *p, const char *text, size_t bytes);
/* What stands between the quotes of a JSON string. Room: 6 bytes for each of @bytes. Return: the
 * end. */
char *gt_put_json(char *p, const char *text, size_t bytes);
/* A CSV field by RFC 4180, quoted only when it must be. Room: 3 bytes for each of @bytes and 2.
 * Return: the end. */
char *gt_put_csv(char *p, const char *text, size_t bytes);

/* Without what careless readers print into JSON unescaped: quotes, backslashes and control
 * characters become ' / and spaces. Room: 3 bytes for each of @bytes. Return: the end. */
char *gt_put_harmless(char *p, const char *text, size_t bytes);
/* Length of at most @most bytes that cuts no character in two. */
size_t gt_cut_utf8(const char *text, size_t bytes, size_t most);
uint64_t gt_text_hash(const char *text, size_t bytes, uint64_t seed);

#endif
