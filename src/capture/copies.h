/* SPDX-License-Identifier: MIT */
/* Sessions that are given more than once, by copies of a file or in merged ones: which copy
 * counts. Merging and reading several files ask the same, so that they agree.
 *
 * A copy is known by its session's id: a file's own, or what the first readable SECTION block of
 * a section says; sessions without an id (its only marks are damaged) are nobody's copies. Of
 * several the one counts with the most bytes that can be read, then the one that is complete,
 * then the one that is not damaged, then the one that was given first. */
#ifndef GPUTAP_CAPTURE_COPIES_H
#define GPUTAP_CAPTURE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_copies;

/**
 * gt_copies_find() - look which sessions the files have; payloads are read where a session is there
 * more than once
 * Files that are no captures have none: whoever reads them says so.
 * Return: 0 or negative errno with a cause. Owner: caller; gt_copies_destroy().
 */
int gt_copies_find(const char *const *paths, size_t count, struct gt_copies **out);
void gt_copies_destroy(struct gt_copies *c);

/* Is a session left out, as another copy of it counts? @section: GT_SECTION_NONE for what is in
 * none. NULL leaves nothing out. */
bool gt_copies_leave_out(const struct gt_copies *c, size_t file, uint32_t section);
/* All that the file has. */
bool gt_copies_leave_out_file(const struct gt_copies *c, size_t file);
/* How many are left out. */
size_t gt_copies_count(const struct gt_copies *c);

#endif
