/* SPDX-License-Identifier: MIT */
/* Texts that a traced program chose (names, paths, command lines), written for a medium. Every
 * output of the command uses one of these functions, or cli/ui.h for a terminal; the table of
 * docs/reference/export-formats.md#texts shows what each does. Each byte that is not UTF-8 becomes
 * one U+FFFD. All functions write at @p, without a terminating NUL, and return the end. */
#ifndef GPUTAP_EXPORT_TEXT_H
#define GPUTAP_EXPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_TEXT_BAD UINT32_MAX
/* Read the character at @text, which has @bytes (at least 1). Overlong forms, surrogates and
 * numbers over U+10FFFF are not UTF-8: GT_TEXT_BAD. Return its bytes. */
unsigned gt_text_next(const char *text, size_t bytes, uint32_t *character);
/* Return true for a character that must not reach a terminal or a page: C0, DEL, C1, line and
 * paragraph separators, marks and overrides of the direction, U+FFFE and U+FFFF (XML forbids them),
 * GT_TEXT_BAD. */
bool gt_text_is_control(uint32_t character);

typedef char *gt_text_fn(char *p, const char *text, size_t bytes);
/* Enough room for each function. */
#define GT_TEXT_ROOM(bytes) (6 * (bytes) + 3)

/* For binary formats: valid UTF-8, control characters unchanged. Room: 3 bytes per byte. */
gt_text_fn gt_put_utf8;
/* Between the quotes of a JSON string. */
gt_text_fn gt_put_json;
/* Between the quotes of a JSON string in an HTML element, whose texts a page shows. */
gt_text_fn gt_put_page_json;
/* A CSV field as in RFC 4180, quoted only if necessary. A text that a spreadsheet would evaluate
 * gets a leading apostrophe. Room: 3 bytes per byte, plus 3. */
gt_text_fn gt_put_csv;
/* Between tags of HTML or SVG, or in an attribute's quotes. */
gt_text_fn gt_put_page;
/* In Markdown, including a table's cell and a <code> element: no markup. */
gt_text_fn gt_put_markdown;
/* A frame of a folded stack. Room: 3 bytes per byte. */
gt_text_fn gt_put_frame;
/* For readers that print it into JSON unescaped. Room: 3 bytes per byte. */
gt_text_fn gt_put_harmless;

/* Return the length of at most @most bytes that does not split a character. */
size_t gt_cut_utf8(const char *text, size_t bytes, size_t most);
uint64_t gt_text_hash(const char *text, size_t bytes, uint64_t seed);

#endif
