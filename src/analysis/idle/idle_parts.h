/* SPDX-License-Identifier: MIT */
/* Causes of a device's idle time, and the data of a part of a gap. analysis/idle/idle.h finds the
 * parts. Exporters get the parts through a function in struct gt_view_options.
 * docs/guides/idle-time.md describes the rules. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_PARTS_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/host_state.h"

/* Name in files, name in reports. Names in files never change. */
#define GT_IDLE_CAUSES(X)                                               \
	X(HOST, "host", "host, outside any call")                       \
	X(SYNCHRONISING, "synchronising", "in a call that waits")       \
	X(ALLOCATING, "allocating", "allocating memory")                \
	X(FREEING, "freeing", "freeing memory")                         \
	X(COMPILING, "compiling", "building or loading code")           \
	X(COPYING, "copying", "in a blocking copy")                     \
	X(PAGEABLE, "pageable", "copying pageable memory")              \
	X(OTHER_CALL, "other_call", "in another call")                  \
	X(COLLECTIVE, "collective", "in a collective's call")           \
	X(LAUNCHING, "launching", "in the launching call")              \
	X(BLOCKED, "blocked", "queue blocked by an event")              \
	X(SUBMITTED_LATE, "submitted_late", "submitted late (runtime)") \
	X(STARTED_LATE, "started_late", "started late (driver)")        \
	X(UNRECORDED, "unrecorded", "not recorded")                     \
	X(SHORT, "short", "too short to say")                           \
	X(UNKNOWN, "unknown", "not known")

/* Time outside any call has the cause GT_IDLE_HOST, or the state of the thread if it is known:
 * GT_IDLE_HOST_LOCK, named "host_lock" in files. */
enum gt_idle_cause {
#define X(name, key, text) GT_IDLE_##name,
	GT_IDLE_CAUSES(X)
#undef X
		GT_IDLE_STATES,
#define X(name, number, key, text) GT_IDLE_HOST_##name = GT_IDLE_STATES + (number),
	GT_HOST_STATES(X)
#undef X
		GT_IDLE_COUNT
};

/* Return the cause of time that a thread spent in a state outside any call. */
static inline enum gt_idle_cause gt_idle_state_cause(enum gt_host_state state)
{
	return state == GT_HOST_STATE_UNKNOWN || state >= GT_HOST_STATE_COUNT
		       ? GT_IDLE_HOST
		       : (enum gt_idle_cause)(GT_IDLE_STATES + (unsigned)state);
}

static inline bool gt_idle_is_host(enum gt_idle_cause cause)
{
	return cause == GT_IDLE_HOST || (cause >= GT_IDLE_STATES && cause < GT_IDLE_COUNT);
}

static inline const char *gt_idle_cause_name(enum gt_idle_cause cause)
{
	static const char *const names[] = {
#define X(name, key, text) key,
		GT_IDLE_CAUSES(X)
#undef X
#define X(name, number, key, text) "host_" key,
			GT_HOST_STATES(X)
#undef X
	};
	return cause < GT_IDLE_COUNT ? names[cause] : "";
}

static inline const char *gt_idle_cause_text(enum gt_idle_cause cause)
{
	static const char *const texts[] = {
#define X(name, key, text) text,
		GT_IDLE_CAUSES(X)
#undef X
#define X(name, number, key, text) text,
			GT_HOST_STATES(X)
#undef X
	};
	return cause < GT_IDLE_COUNT ? texts[cause] : "";
}

/* A part of a gap that has one cause. The parts of a gap do not overlap and add up to the gap. They
 * come in any order. */
struct gt_idle_part {
	uint64_t start_ns, end_ns;
	uint64_t gap_start_ns, gap_end_ns;
	enum gt_idle_cause cause;
	uint32_t device; /* merged device index; UINT32_MAX: not known */
	/* thread whose call submitted the activity that ended the gap; ordinal 0: not known */
	uint32_t process, ordinal;
	uint32_t op;       /* call in progress on that thread; 0: none */
	const char *range; /* innermost range of the program on that thread; NULL: none */
	/* names of the activities that ended at the gap's start and started at its end */
	const char *after, *before;
	const char
		*behind; /* GT_IDLE_BLOCKED: activity that the queue waited for; NULL: not known */
	/* what the thread waited for: the file, the pipe, the holder of a lock; NULL: not known */
	const char *wait;
	/* outermost calls of that thread: the call that had ended before the part, and the call of
	 * the part, or else the call after it. id 0: none. Line NULL: not known */
	struct gt_idle_edge {
		uint64_t id;
		uint32_t op;
		const char *line;
	} previous, next;
};

typedef void gt_idle_part_fn(void *to, const struct gt_idle_part *part);

#endif
