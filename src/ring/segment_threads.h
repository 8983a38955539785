/* SPDX-License-Identifier: MIT */
/* gputap's own threads in a process. The data is part of the process's segment, in the last words
 * of the header's pages. Few files need this header.
 *
 *   | struct gt_segment | unused | struct gt_segment_threads | slots
 *                                                          ^ gt_segment.header_bytes */
#ifndef GPUTAP_RING_SEGMENT_THREADS_H
#define GPUTAP_RING_SEGMENT_THREADS_H

#include <assert.h>

#include "ring/segment.h"

struct gt_segment_threads {
	_Atomic uint32_t running;      /* number of running threads that belong to gputap */
	_Atomic uint32_t follower_tid; /* tid of the session's follower; 0: none */
	/* set by the collector: GT_ALONE_WORD() when only gputap's threads are left, 0 while the
	 * program has other threads */
	_Atomic uint32_t alone;
	uint32_t reserved[13];
};

/* @signal: signal that ended the program's first thread; 0: the thread called pthread_exit() */
#define GT_ALONE_WORD(signal) ((signal) + 1)
#define GT_ALONE_SIGNAL(word) ((word)-1)

enum {
	GT_SEGMENT_PAGE = 4096,
	GT_SEGMENT_HEADER_BYTES = (sizeof(struct gt_segment) + GT_SEGMENT_PAGE - 1) /
				  GT_SEGMENT_PAGE * GT_SEGMENT_PAGE,
};
static_assert(sizeof(struct gt_segment) + sizeof(struct gt_segment_threads) <=
		      GT_SEGMENT_HEADER_BYTES,
	      "there is room behind the header");

static inline struct gt_segment_threads *gt_segment_threads(const struct gt_segment *r)
{
	return (struct gt_segment_threads *)((char *)(uintptr_t)r + GT_SEGMENT_HEADER_BYTES -
					     sizeof(struct gt_segment_threads));
}

#endif
