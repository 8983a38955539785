/* SPDX-License-Identifier: MIT */
/* Chooses one copy of each session that is given more than once, as copies of a file or in merged
 * ones. Merging and reading several files both use this, so that they agree.
 *
 * The session's id identifies a copy: a file's own, or that in the first readable SECTION block of
 * a section; sessions without an id (all their marks are damaged) have no copies. The copy chosen
 * has the most readable bytes; ties are decided by complete, then undamaged, then first given. */
#ifndef GPUTAP_CAPTURE_COPIES_H
#define GPUTAP_CAPTURE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_copies;

/**
 * gt_copies_find() - find which sessions the files have; payloads are read only for sessions with
 * more than one copy
 * Files that are not captures have no sessions: their reader reports them.
 * Return: 0 or negative errno with a cause. Owner: caller; gt_copies_destroy().
 */
int gt_copies_find(const char *const *paths, size_t count, struct gt_copies **out);
void gt_copies_destroy(struct gt_copies *c);

/* Return true if a session is left out because another copy of it counts. @section: GT_SECTION_NONE
 * for blocks in none. NULL leaves nothing out. */
bool gt_copies_leave_out(const struct gt_copies *c, size_t file, uint32_t section);
/* Return true if all sessions of the file are left out. */
bool gt_copies_leave_out_file(const struct gt_copies *c, size_t file);
/* Return how many sessions are left out. */
size_t gt_copies_count(const struct gt_copies *c);

#endif
