/* SPDX-License-Identifier: MIT */
/* Chooses one copy of each session that is given more than once, as copies of a file or within
 * merged files. Merging and reading of several files both use this code, so that both choose the
 * same copies.
 *
 * The session's id identifies its copies: the id of a file, or the id in the first readable SECTION
 * block of a section. A session whose ids are all damaged has no copies. The chosen copy has the
 * most readable bytes. Ties are decided in favour of a complete copy, then of an undamaged copy,
 * then of the copy given first. */
#ifndef GPUTAP_CAPTURE_COPIES_H
#define GPUTAP_CAPTURE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_copies;

/**
 * gt_copies_find() - find the sessions of the files
 * Reads payloads only for sessions with several copies. A file that is not a capture has no
 * sessions; the reader reports the file.
 * Return: 0 or negative errno with a cause. Owner: caller; gt_copies_destroy().
 */
int gt_copies_find(const char *const *paths, size_t count, struct gt_copies **out);
void gt_copies_destroy(struct gt_copies *c);

/* Return true if a session is left out because another copy of it was chosen. @section:
 * GT_SECTION_NONE for blocks outside of sections. @c: NULL: no session is left out. */
bool gt_copies_leave_out(const struct gt_copies *c, size_t file, uint32_t section);
/* Return true if all sessions of the file are left out. */
bool gt_copies_leave_out_file(const struct gt_copies *c, size_t file);
/* Return the number of sessions left out. */
size_t gt_copies_count(const struct gt_copies *c);

#endif
