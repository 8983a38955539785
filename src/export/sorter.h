/* SPDX-License-Identifier: MIT */
/* Sorts keys with a number each: as many as fit on a disk, in a given amount of memory.
 *
 * Keys are bytes in memcmp() order. They must be texts without NUL bytes, or all of one length up
 * to 8. Equal keys come in the order in which they were added. Keys that do not fit are written,
 * sorted, to a nameless temporary file and merged at the end. One thread. */
#ifndef GPUTAP_EXPORT_SORTER_H
#define GPUTAP_EXPORT_SORTER_H

#include <stddef.h>
#include <stdint.h>

struct gt_sorter;

/* @folder: for the temporary file; @memory_bytes: at least 64 KiB. Return 0 or -ENOMEM. */
int gt_sorter_create(const char *folder, size_t memory_bytes, struct gt_sorter **out);
void gt_sorter_destroy(struct gt_sorter *s);

/* Add a key. @bytes: at most 4096. Return 0 or negative errno with a cause. */
int gt_sorter_add(struct gt_sorter *s, const void *key, size_t bytes, uint64_t number);

/* Return keys from the smallest on; nothing may be added after the first call. The key is valid
 * until the next call.
 * Return 1, 0 at the end, negative errno with a cause. */
int gt_sorter_next(struct gt_sorter *s, const void **key, size_t *bytes, uint64_t *number);

#endif
