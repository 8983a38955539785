/* SPDX-License-Identifier: MIT */
/* Sampled stacks of threads outside of any call (`gputap run --sample-host`), in order of thread
 * and time. The time between two calls is divided among the samples between them:
 *
 *   call    |== end                          start ==|  call
 *   samples          1        2            3
 *   spans      └──────── 1 ──┴──── 2 ───┴─── 3 ─────┘ */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_SAMPLES_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

struct idle_samples;

struct idle_sampled_span {
	uint64_t start, end;
	uint32_t process, stack;
};

/* Return a reader without samples. */
struct idle_samples *idle_samples_create(size_t packed_most);
void idle_samples_destroy(struct idle_samples *t);
/* Add a row (GT_HOST_SAMPLE). @thread: position of the thread in the order of records. */
void idle_samples_add(struct idle_samples *t, const struct gt_item *item, uint32_t thread);
/* Begin to read the samples of a thread. Threads must be read in order. Return 0 or negative errno
 * with a cause. */
int idle_samples_begin(struct idle_samples *t, uint32_t thread);
/* Find the spans of the current thread between two calls. @from must not decrease between calls.
 * Return 0 or negative errno with a cause. */
int idle_samples_read(struct idle_samples *t, uint64_t from, uint64_t to);
/* Return the spans that were found, in order, and their number. */
const struct idle_sampled_span *idle_samples_spans(const struct idle_samples *t, size_t *count);
/* Return the index of the first span that ends after @time, or the number of spans. */
size_t idle_samples_find(const struct idle_samples *t, uint64_t time);

#endif
