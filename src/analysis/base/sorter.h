/* SPDX-License-Identifier: MIT */
/* External sort of keys, each with a number. Handles as many keys as fit on the disk, in a fixed
 * amount of memory.
 *
 * Keys are bytes in memcmp() order. Either all keys are texts without NUL bytes, or all keys have
 * the same length of at most 8 bytes. Equal keys keep the order in which they were added. Keys that
 * do not fit in memory are written in sorted runs to an unnamed temporary file and merged at the
 * end. Not thread-safe. */
#ifndef GPUTAP_ANALYSIS_BASE_SORTER_H
#define GPUTAP_ANALYSIS_BASE_SORTER_H

#include <stddef.h>
#include <stdint.h>

struct gt_sorter;

/* Create a sorter. @folder: folder for the temporary file; @memory_bytes: at least 64 KiB. Return 0
 * or -ENOMEM. */
int gt_sorter_create(const char *folder, size_t memory_bytes, struct gt_sorter **out);
void gt_sorter_destroy(struct gt_sorter *s);

/* Add a key. @bytes: at most 4096. Return 0 or negative errno with a cause. */
int gt_sorter_add(struct gt_sorter *s, const void *key, size_t bytes, uint64_t number);

/* Get the next key in ascending order. No key may be added after the first call. The key is valid
 * until the next call.
 * Return 1, 0 at the end, negative errno with a cause. */
int gt_sorter_next(struct gt_sorter *s, const void **key, size_t *bytes, uint64_t *number);

#endif
