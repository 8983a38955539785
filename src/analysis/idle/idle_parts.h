/* SPDX-License-Identifier: MIT */
/* Causes of a device's idle time, and the data of a part of a gap. analysis/idle/idle.h finds the
 * parts. Exporters get the parts through a function in struct gt_view_options.
 * docs/guides/idle-time.md describes the rules. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_PARTS_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

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

enum gt_idle_cause {
#define X(name, key, text) GT_IDLE_##name,
	GT_IDLE_CAUSES(X)
#undef X
		GT_IDLE_COUNT
};

static inline const char *gt_idle_cause_name(enum gt_idle_cause cause)
{
	static const char *const names[] = {
#define X(name, key, text) key,
		GT_IDLE_CAUSES(X)
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
};

typedef void gt_idle_part_fn(void *to, const struct gt_idle_part *part);

#endif
