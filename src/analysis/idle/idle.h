/* SPDX-License-Identifier: MIT */
/* Finds why devices were idle. Each gap between a device's activities is split into parts. Each
 * part has one of the causes in docs/guides/idle-time.md.
 *
 *   first pass, in the caller         all activities, ranges  -> sorted by start, per thread
 *   idle_finish(): sweep              activities in order     -> gaps, each with the next activity
 *   idle_finish(): second pass        the calls of each thread, with the gaps that its activities
 *                                     ended
 *   idle_finish(): remaining gaps     gaps whose queue may have been blocked by other activities
 *
 *        gap starts      the call starts   call ends         the activity starts
 *           |  the host, or the  |  launching  |  blocked, submitted |
 *           |  enclosing call    |             |  or started late    |
 *
 * A gap belongs to the queue, the process and the calling thread of the activity that ended it. If
 * there are no gaps, the second pass is skipped. Memory is bounded: rows are small, and are sorted
 * in files. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_H

#include <stdbool.h>

#include "analysis/base/lookup.h"
#include "analysis/base/sorter.h"
#include "analysis/idle/idle_parts.h"
#include "analysis/idle/unrecorded.h"
#include "analysis/model/ranges.h"
#include "capture/capture.h"

enum { IDLE_LARGEST = 128, IDLE_LAST_DETAILS = 64 };

/* Key by which gaps are summed. Unused fields are LOOKUP_NONE. Must not contain padding. */
struct idle_owner {
	uint32_t device; /* the caller's number of the device */
	uint32_t name, process, thread, queue;
	uint32_t place; /* number of a rank, a host, or both */
	uint32_t phase; /* enum idle_phase; the caller sets 0 */
};

/* Part of a device's life in which a gap ends. Not known if the device has no steps. */
enum idle_phase { IDLE_PHASE_UNKNOWN, IDLE_PHASE_START_UP, IDLE_PHASE_STEPS };

struct idle_sum {
	uint64_t ns, max_ns; /* max_ns: largest value in a single gap */
	uint64_t gaps;       /* number of gaps with this cause */
};

/* CPU time, page faults and context switches of the threads in the idle time with one cause, as far
 * as they were recorded. */
struct idle_evidence {
	uint64_t cpu_ns, delay_ns; /* delay_ns: time in which the thread waited for a processor */
	double minor_faults, major_faults, voluntary, involuntary; /* context switches */
};

struct idle_row {
	struct idle_owner owner;
	struct idle_sum all, sums[GT_IDLE_COUNT]; /* all.max_ns: length of the longest gap */
	uint32_t phase_rows[IDLE_PHASE_STEPS]; /* numbers + 1 of this row's phases; 0: none yet */
	struct idle_evidence evidence[GT_IDLE_COUNT];
};

/* The outermost calls of a thread between which idle time lies: the call that had ended before, and
 * the call of the time, or else the next call. */
struct idle_pair {
	uint32_t previous_op, previous_line; /* op 0: no call; line LOOKUP_NONE: not known */
	uint32_t next_op, next_line;
	uint32_t previous_call, next_call; /* names of the operations; LOOKUP_NONE: no call */
};

/* Initializer of a pair without calls. */
#define IDLE_NO_PAIR                                                    \
	{                                                               \
		.previous_line = LOOKUP_NONE, .next_line = LOOKUP_NONE, \
		.previous_call = LOOKUP_NONE, .next_call = LOOKUP_NONE  \
	}

/* Idle time of a row with one cause between a pair of calls. */
struct idle_site {
	uint32_t row, cause, pair; /* pair: index in idle.pairs */
	uint32_t gaps;             /* number of parts */
	uint64_t ns;
};

/* Idle time of a row with one cause in which a thread was sampled at a line of the program. */
struct idle_place {
	uint32_t row, cause, line; /* line: number in idle.names */
	uint64_t ns;
};

/* A detail of a cause: the call that the thread was in, or its range if it was in no call. For a
 * blocked queue: the activity that the queue waited for. */
struct idle_detail {
	uint32_t row, cause;
	uint32_t op, name; /* op 0: use name; name LOOKUP_NONE: in no range */
	uint32_t wait;     /* what the thread waited for; LOOKUP_NONE: not known */
	uint64_t ns;
};

/* One of a device's largest gaps. */
struct idle_gap {
	uint64_t start_ns, end_ns, idle_ns; /* idle_ns: length without unrecorded time */
	struct idle_gap_cause {
		uint64_t ns,
			/* most_ns: length of the largest part, to which `op` and `name` belong */
			most_ns;
		uint32_t op, name; /* name LOOKUP_NONE: in no range */
		uint32_t wait;     /* what the thread waited for; LOOKUP_NONE: not known */
		uint32_t pair;     /* index in idle.pairs */
	} causes[GT_IDLE_COUNT];
	uint32_t device, process, ordinal; /* ordinal: number of the thread; 0: not known */
};

struct idle_activity {
	const struct gt_item *item; /* activity with known times */
	struct idle_owner owner;
	uint64_t slack_ns;     /* possible error of the device's clock */
	uint32_t device_index; /* index of the device in the capture */
	uint32_t name;         /* number in `names` */
	bool counts;           /* true if gaps that this activity ends are counted in the rows */
	/* true for a marker, which is not an activity, but other activities may wait for it */
	bool is_marker;
};

/* An activity. Callers of idle_step() sort activities by start. tag: from idle_tag(). */
struct idle_start {
	uint64_t start, end, id, call_start, submitted;
	uint32_t tag;
};

struct idle_origin;
struct idle_blocked;
struct idle_device;
struct idle_states;
struct idle_lines;
struct idle_samples;

struct idle_operation {
	/* enum gt_idle_cause; for a memcpy, the cause if the call returns after the copy */
	uint8_t cause;
	uint8_t hold; /* enum idle_hold */
	/* index of the argument with the number of events that the activity waits for; UINT8_MAX:
	 * none */
	uint8_t waits_arg;
	bool copies; /* memcpy or memset */
	/* memcpys: index of the argument that decides whether the call blocks, or one of the values
	 * below */
	int8_t blocks;
};
enum { IDLE_ALWAYS = -1, IDLE_NEVER = -2 };

/* Empty if zero-initialised, except for fields that the caller sets. */
struct idle {
	/* The caller sets these fields before the first record */
	const struct gt_capture *capture;
	struct texts *names;
	gt_idle_part_fn *each; /* may be NULL */
	void *to;
	/* called for each cause of each counted gap with its total time; may be NULL */
	void (*each_sum)(void *to, uint32_t row, enum gt_idle_cause cause, uint64_t ns);
	void *sums_to;
	bool tells_all; /* false: leave out parts that are too small to be visible */
	/* memory of each of a few sorts (sorter.h); 0: default */
	size_t packed_most;
	/* unrecorded time of each device, which is not idle time; set before idle_finish(); NULL:
	 * none */
	const struct unrecorded_list *unrecorded;
	/* start of each device's first step; 0: no steps. Set before the first idle_step(); NULL:
	 * no device has steps. first_step_count: number of devices in the list */
	const uint64_t *first_steps;
	uint32_t first_step_count;
	/* Results, valid after idle_finish() */
	struct idle_row *rows;
	struct idle_detail *details;
	struct idle_site *sites;
	struct idle_pair *pairs;
	struct idle_place *places; /* none: no samples were recorded */
	/* largest gaps; those of device d start at index d * IDLE_LARGEST, largest first */
	struct idle_gap *largest;
	uint32_t row_count, detail_count, device_count, site_count, pair_count, place_count;
	uint64_t *unrecorded_ns; /* for each device: unrecorded time in the counted gaps */
	/* Internal state */
	uint32_t row_room, detail_room, site_room, pair_room, place_room;
	struct idle_device *devices;
	struct idmap row_numbers, detail_numbers, threads, origin_numbers;
	struct idmap site_numbers, pair_numbers, place_numbers;
	uint32_t last_site, last_pair;
	struct idle_states *states;   /* states of threads; NULL: none were recorded */
	struct idle_samples *samples; /* sampled stacks; NULL: none were recorded */
	struct idle_workers *workers; /* delays of worker threads; NULL: none were recorded */
	struct idle_lines *lines;     /* lines of calls; NULL: no stacks were recorded */
	/* last_thread: current thread; thread_count: number of threads before it */
	uint64_t last_thread;
	uint32_t thread_count;
	struct sorter activity, ranges, gaps;
	struct idle_origin *origins;
	uint32_t origin_count, origin_room, last_origin;
	struct idle_blocked *held; /* calls that may block a queue; NULL: there are none */
	/* properties of an operation's calls, indexed by domain and number */
	struct idle_operation *operations[GT_DOMAIN_COUNT];
	uint32_t operation_counts[GT_DOMAIN_COUNT];
	uint64_t gap_count;
	uint32_t last_row, last_caller;           /* results of the previous search */
	uint32_t last_details[IDLE_LAST_DETAILS]; /* indexed by hash */
	uint64_t last_caller_key;
	/* times in which each process was paused; NULL: not looked up yet, or no process was
	 * paused */
	struct unrecorded_list *paused;
	size_t paused_count;
};

/* Initialise. Call after setting the caller's fields. */
void idle_init(struct idle *s);
void idle_note_thread(struct idle *s, const struct gt_item *item);
void idle_note_hold(struct idle *s, const struct gt_item *call);
/* Note a reading of a thread's state (GT_RECORD_HOST). */
void idle_note_state(struct idle *s, const struct gt_item *item);
/* Note a record. Call for each record of the capture, before the functions below. */
static inline void idle_note(struct idle *s, const struct gt_item *item)
{
	uint32_t domain = GT_OP_DOMAIN(item->op) % GT_DOMAIN_COUNT;

	if (((uint64_t)item->process << 32 | item->ordinal) + 1 != s->last_thread)
		idle_note_thread(s, item);
	if (item->kind == GT_RECORD_HOST)
		idle_note_state(s, item);
	if (!s->held && item->kind == GT_RECORD_CALL &&
	    GT_OP_NUMBER(item->op) < s->operation_counts[domain]) {
		const struct idle_operation *o = &s->operations[domain][GT_OP_NUMBER(item->op)];

		if (o->hold && (!item->args || o->waits_arg >= GT_OP_NARGS(item->op) ||
				item->args[o->waits_arg]))
			idle_note_hold(s, item);
	}
}
/* Add an activity or a marker. idle_add_activity() sorts the activities. A caller that sorts them
 * itself instead calls idle_tag() for each activity, and then idle_step() in order, before
 * idle_finish(). */
void idle_add_activity(struct idle *s, const struct idle_activity *activity);
uint32_t idle_tag(struct idle *s, const struct idle_activity *activity);
void idle_step(struct idle *s, const struct idle_start *activity);
/* Add a range of the program, with the number of its name. */
void idle_add_range(struct idle *s, const struct gt_range *range, uint32_t name);
/* Find the causes. This function reads the capture again. Return 0 or negative errno with a
 * cause. */
int idle_finish(struct idle *s);
void idle_fini(struct idle *s);

/* Return the gap between two times; NULL: it is not one of the largest gaps. */
const struct idle_gap *idle_find_gap(const struct idle *s, uint32_t device, uint64_t start_ns,
				     uint64_t end_ns);

#endif
