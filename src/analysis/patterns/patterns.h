/* SPDX-License-Identifier: MIT */
/* Finds patterns in what threads do with devices: a small copy and a wait for it, a wait after each
 * launch, allocations in a loop, and so on; and the period of a loop.
 *
 *   each thread's outermost calls, in order ─► counts, and spans of time of the pattern's calls
 *   each thread's activities, in order      ─► sequence {name, start, duration} ─► period.h
 *   parts of idle time (idle_parts.h)       ─► idle time that the spans contain
 *
 * A pattern has exact counts and times. docs/guides/patterns.md documents the rules and limits.
 * Memory: 16 bytes for each span, 32 bytes for each activity of a thread up to PERIOD_MOST. */
#ifndef GPUTAP_ANALYSIS_PATTERNS_PATTERNS_H
#define GPUTAP_ANALYSIS_PATTERNS_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/idle/idle.h"
#include "analysis/patterns/period.h"

/* Name in files, which never changes. */
#define PATTERN_KINDS(X)                                                                      \
	/* a small copy that returns when it is complete, or that a wait follows */           \
	X(SMALL_COPIES, "small_copies")                                                       \
	X(WAIT_EACH, "wait_after_each_launch") /* one launch, then a wait */                  \
	X(ALLOCATIONS, "allocations_in_loop")                                                 \
	X(BUILDS, "builds_in_loop") /* device code is built or loaded after work has begun */ \
	X(PAGEABLE, "pageable_copies")                                                        \
	X(POLLING, "polling")             /* the same query, many times in a row */           \
	X(COPY_RUNS, "runs_of_copies")    /* many copies in a row that are small */           \
	X(SMALL_KERNELS, "small_kernels") /* kernels shorter than the host needs to launch */ \
	X(PAUSE, "one_long_pause")                                                            \
	X(PERIOD, "period")

enum pattern_kind {
#define X(name, key) PATTERN_##name,
	PATTERN_KINDS(X)
#undef X
		PATTERN_COUNT
};

/* A pattern of one thread, or of one device (PAUSE). */
struct pattern {
	enum pattern_kind kind;
	uint32_t process, ordinal; /* thread; ordinal 0: none */
	uint32_t device;           /* PAUSE: the caller's number; else LOOKUP_NONE */
	uint32_t op, then;         /* the most frequent operations; 0: none */
	/* number of the name of the line that makes most of the calls; LOOKUP_NONE: not known */
	uint32_t line;
	uint64_t count;   /* how often; PERIOD: steps; PAUSE: 1 */
	uint64_t ns;      /* time in the calls; PERIOD: median step; PAUSE: 0 */
	uint64_t idle_ns; /* idle time of devices that belongs to the pattern */
	uint64_t bytes;   /* copies: bytes of all */
	/* time to which the pattern's times are compared: of the loop's steps, or, without steps,
	 * from the first activity of a device to its last */
	uint64_t span_ns;
	uint64_t of;          /* WAIT_EACH, SMALL_KERNELS: number of launches, of kernels */
	uint64_t each_ns;     /* SMALL_KERNELS: median kernel; PAUSE: start of the pause */
	struct period period; /* PERIOD; also of other patterns of the thread, if known */
};

struct pattern_thread;

struct patterns {
	bool wanted; /* set before the first record; false: nothing is noted */
	/* Results, after patterns_finish(): the largest share of time first */
	struct pattern *list;
	uint32_t count;
	/* Internal state */
	struct pattern_thread *threads;
	uint32_t thread_count, thread_room, room, last;
	struct idmap numbers;
};

/* Note a call that matches the filter, in the cursor's order. */
void patterns_note_call(struct patterns *p, const struct idle *idle, const struct gt_item *call);
/* Note a GPU activity with known times. @name: number of its name. */
void patterns_note_activity(struct patterns *p, const struct gt_item *activity, uint32_t name,
			    bool is_pageable);
/* Call after the last record, before the first part of a gap. */
void patterns_end_records(struct patterns *p);
/* Return the steps of thread @number, after patterns_end_records(); length 0: none. *process:
 * process of the thread. */
const struct period *patterns_period(const struct patterns *p, uint32_t number, uint32_t *process);
/* A gt_idle_part_fn: note a part of a gap. */
void patterns_note_idle(void *patterns, const struct gt_idle_part *part);
/* Find the patterns. @idle: after idle_finish(). @span_ns: time from the first activity to the
 * last. Patterns with less than 1 % of their span are left out. */
void patterns_finish(struct patterns *p, struct idle *idle, uint64_t span_ns);
void patterns_fini(struct patterns *p);

const char *pattern_kind_name(enum pattern_kind kind);

#endif
