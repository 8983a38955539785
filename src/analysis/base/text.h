/* SPDX-License-Identifier: MIT */
/* Escapes texts that a traced program chose (names, paths, command lines) for an output format.
 * Every output of the command uses one of these functions, or cli/ui.h for a terminal. The table in
 * docs/reference/export-formats.md#texts describes each function. Each byte that is not UTF-8
 * becomes one U+FFFD. All functions write at @p, without a terminating NUL, and return the end. */
#ifndef GPUTAP_ANALYSIS_BASE_TEXT_H
#define GPUTAP_ANALYSIS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_TEXT_BAD UINT32_MAX
/* Read the character at the start of @text. @bytes: length of the text, at least 1; *character:
 * GT_TEXT_BAD for invalid UTF-8, which includes overlong forms, surrogates and numbers above
 * U+10FFFF. Return the number of bytes of the character. */
unsigned gt_text_next(const char *text, size_t bytes, uint32_t *character);
/* Return true for a character that must not reach a terminal or a page: C0, DEL, C1, line and
 * paragraph separators, directional marks and overrides, U+FFFE and U+FFFF (forbidden in XML),
 * GT_TEXT_BAD. */
bool gt_text_is_control(uint32_t character);

typedef char *gt_text_fn(char *p, const char *text, size_t bytes);
/* Room that suffices for each of these functions. */
#define GT_TEXT_ROOM(bytes) (6 * (bytes) + 3)

/* Write valid UTF-8 for binary formats. Control characters are unchanged. Room: 3 bytes per
 * byte. */
gt_text_fn gt_put_utf8;
/* Write the inside of a JSON string. */
gt_text_fn gt_put_json;
/* Write the inside of a JSON string in an HTML element, for texts that the page displays. */
gt_text_fn gt_put_page_json;
/* Write a CSV field as in RFC 4180, quoted only if necessary. A text that a spreadsheet would
 * evaluate as a formula gets a leading apostrophe. Room: 3 bytes per byte, plus 3. */
gt_text_fn gt_put_csv;
/* Return true if gt_put_csv() writes the text as it is. *quoted: true if it adds quotes around the
 * text. */
bool gt_csv_is_plain(const char *text, size_t bytes, bool *quoted);
/* Write text between tags of HTML or SVG, or between the quotes of an attribute. */
gt_text_fn gt_put_page;
/* Write Markdown that displays the text literally, also in table cells and <code> elements. */
gt_text_fn gt_put_markdown;
/* Write a frame of a folded stack. Room: 3 bytes per byte. */
gt_text_fn gt_put_frame;
/* Write text for readers that print it into JSON without escaping. Room: 3 bytes per byte. */
gt_text_fn gt_put_harmless;

/* Return the largest length up to @most that does not split a character. */
size_t gt_cut_utf8(const char *text, size_t bytes, size_t most);
uint64_t gt_text_hash(const char *text, size_t bytes, uint64_t seed);

#endif
