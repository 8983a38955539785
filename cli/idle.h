/* SPDX-License-Identifier: MIT */
/* Why devices were idle: each gap between a device's work is split into parts, each with one cause,
 * as docs/guides/idle-time.md says.
 *
 *   first pass, by the caller      all work, ranges  -> sorted by start, by thread
 *   idle_finish(): sweep           work in order     -> gaps, each with the work that ended it
 *   idle_finish(): second pass     the calls of each thread, beside the gaps that its work ended
 *   idle_finish(): what is left    gaps whose queue may have been held behind other work
 *
 *        gap begins      the call begins   it ends           the work starts
 *           |  the host, or the  |  launching  |  held, submitted  |
 *           |  call it is in     |             |  or started late  |
 *
 * A gap belongs to the work that ended it: to its queue, its process, the thread that called.
 * Without gaps there is no second pass. Memory is bounded: rows are small, and sorted in files. */
#ifndef GPUTAP_CLI_IDLE_H
#define GPUTAP_CLI_IDLE_H

#include <stdbool.h>

#include "capture/capture.h"
#include "cli/lookup.h"
#include "cli/spill.h"
#include "cli/unrecorded.h"
#include "export/idle_parts.h"
#include "export/ranges.h"

enum { IDLE_LARGEST = 128, IDLE_LAST_DETAILS = 64 };

/* Whose gaps are told apart: LOOKUP_NONE where they are not. Without padding. */
struct idle_owner {
	uint32_t device; /* number of the caller's */
	uint32_t name, process, thread, queue;
	uint32_t place; /* rank, host */
};

struct idle_sum {
	uint64_t ns, max_ns; /* max_ns: the most of one gap */
	uint64_t gaps;       /* in which it was a cause */
};

struct idle_row {
	struct idle_owner owner;
	struct idle_sum all, sums[GT_IDLE_COUNT]; /* all: max_ns: the longest gap */
};

/* Where time of a cause went: the calls that the thread was in, or else its ranges; behind what
 * work a queue was held. */
struct idle_detail {
	uint32_t row, cause;
	uint32_t op, name; /* op 0: name; LOOKUP_NONE: in no range */
	uint64_t ns;
};

/* One of a device's largest gaps. */
struct idle_gap {
	uint64_t start_ns, end_ns, idle_ns; /* idle_ns: less what was not recorded */
	struct idle_gap_cause {
		uint64_t ns,
			most_ns;   /* most_ns: of its largest part, whose `op` and `name` it is */
		uint32_t op, name; /* LOOKUP_NONE: in no range */
	} causes[GT_IDLE_COUNT];
	uint32_t device, process, ordinal; /* ordinal 0: not known whose */
};

struct idle_work {
	const struct gt_item *item; /* timed */
	struct idle_owner owner;
	uint64_t slack_ns;     /* how far the device's clock may be off */
	uint32_t device_index; /* of the capture */
	uint32_t name;         /* number in `names` */
	bool counts;           /* gaps that it ends are in the rows */
	bool is_marker;        /* no work: others may wait for it, that is all */
};

/* Work, in the order of its start; tag: what idle_tag() gave for it. */
struct idle_start {
	uint64_t start, end, id, call_start, submitted;
	uint32_t tag;
};

struct idle_origin;
struct idle_held;
struct idle_device;

struct idle_operation {
	uint8_t cause; /* enum gt_idle_cause; of copies, if they return when they are done */
	uint8_t hold;  /* enum idle_hold */
	/* the argument that says how many events its work waits for; UINT8_MAX: none does */
	uint8_t waits_arg;
	bool copies;   /* or sets */
	int8_t blocks; /* of copies: the argument that says whether they do; or one of these: */
};
enum { IDLE_ALWAYS = -1, IDLE_NEVER = -2 };

/* Zero-initialised but for what the caller sets is empty. */
struct idle {
	/* set by the caller before the first record */
	const struct gt_capture *capture;
	struct texts *names;
	gt_idle_part_fn
		*each; /* may be NULL; parts of gaps that are too small to see are left out */
	void *to;
	/* before idle_finish(), by device: what was not recorded, so not idle; NULL: nothing */
	const struct unrecorded_list *unrecorded;
	/* results, after idle_finish() */
	struct idle_row *rows;
	struct idle_detail *details;
	struct idle_gap *largest; /* of device d: from d * IDLE_LARGEST, largest first */
	uint32_t row_count, detail_count, device_count;
	uint64_t *unrecorded_ns; /* by device: of gaps that count */
	/* work */
	uint32_t row_room, detail_room;
	struct idle_device *devices;
	struct idmap row_numbers, detail_numbers, threads, origin_numbers;
	uint64_t last_thread; /* whose records come, and how many threads came before it */
	uint32_t thread_count;
	struct spill work, ranges, gaps;
	struct idle_origin *origins;
	uint32_t origin_count, origin_room, last_origin;
	struct idle_held *held; /* some call may hold a queue behind other work; NULL: none does */
	/* by domain and number: what calls of an operation are */
	struct idle_operation *operations[GT_DOMAIN_COUNT];
	uint32_t operation_counts[GT_DOMAIN_COUNT];
	uint64_t gap_count;
	uint32_t last_row, last_caller;           /* found last */
	uint32_t last_details[IDLE_LAST_DETAILS]; /* by hash */
	uint64_t last_caller_key;
	/* by process: in what it was paused; NULL: in nothing, or not asked for yet */
	struct unrecorded_list *paused;
	size_t paused_count;
};

/* What is to be set has been. */
void idle_init(struct idle *s);
void idle_note_thread(struct idle *s, const struct gt_item *item);
void idle_note_hold(struct idle *s, const struct gt_item *call);
/* For each record of the capture, before anything else of it. */
static inline void idle_note(struct idle *s, const struct gt_item *item)
{
	uint32_t domain = GT_OP_DOMAIN(item->op) % GT_DOMAIN_COUNT;

	if (((uint64_t)item->process << 32 | item->ordinal) + 1 != s->last_thread)
		idle_note_thread(s, item);
	if (!s->held && item->kind == GT_RECORD_CALL &&
	    GT_OP_NUMBER(item->op) < s->operation_counts[domain]) {
		const struct idle_operation *o = &s->operations[domain][GT_OP_NUMBER(item->op)];

		if (o->hold && (!item->args || o->waits_arg >= GT_OP_NARGS(item->op) ||
				item->args[o->waits_arg]))
			idle_note_hold(s, item);
	}
}
/* Work: sorted here, or, where the caller sorts it, with a tag; then idle_step() in order, before
 * idle_finish(). Markers are added. */
void idle_add_work(struct idle *s, const struct idle_work *work);
uint32_t idle_tag(struct idle *s, const struct idle_work *work);
void idle_step(struct idle *s, const struct idle_start *work);
/* A range of the program, with the number of its name. */
void idle_add_range(struct idle *s, const struct gt_range *range, uint32_t name);
/* Reads the capture again. Return: 0 or negative errno with a cause. */
int idle_finish(struct idle *s);
void idle_fini(struct idle *s);

/* NULL: it is not one of the largest ones. */
const struct idle_gap *idle_find_gap(const struct idle *s, uint32_t device, uint64_t start_ns,
				     uint64_t end_ns);

#endif
