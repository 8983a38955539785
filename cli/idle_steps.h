/* SPDX-License-Identifier: MIT */
/* Inside of idle.h: what its steps hand to each other. idle.c sorts the work and keeps the
 * results, idle_host.c walks the calls, idle_held.c finds what held a queue, idle_calls.c says what
 * a call is. */
#ifndef GPUTAP_CLI_IDLE_STEPS_H
#define GPUTAP_CLI_IDLE_STEPS_H

#include "cli/idle.h"

/* What many work items have in common. Without padding. */
struct idle_origin {
	uint64_t slack_ns;
	uint32_t row; /* LOOKUP_NONE: its gaps are not counted */
	uint32_t device, device_index;
	uint32_t process;
	uint32_t is_marker;
	uint32_t name; /* of the work */
};

/* A gap, with the work that ended it. */
struct idle_gap_row {
	uint64_t start, end;
	uint64_t id, call_start, submitted; /* of the work; 0: not known */
	uint32_t origin;                    /* of the work */
	uint32_t thread; /* place in the order of records; LOOKUP_NONE: it has none */
	uint32_t after;  /* origin of the work before the gap */
	uint32_t pad;
};

/* From then on its parts can come: the gap's begin or the call's. */
static inline uint64_t idle_gap_from(const struct idle_gap_row *gap)
{
	return gap->call_start && gap->call_start < gap->start ? gap->call_start : gap->start;
}

/* A range of a thread. */
struct idle_range_row {
	uint64_t start, end;
	uint32_t thread, name;
};

/* The last part of a gap, of which it is not yet known whether its queue was held. */
struct idle_rest {
	struct idle_gap_row gap;
	uint64_t from; /* to the gap's end */
};

/* A part, as long as it grows; end 0: none. */
struct idle_kept {
	uint64_t start, end;
	enum gt_idle_cause cause;
	uint32_t op, name;
};

/* A gap whose parts are being found. */
struct idle_open {
	struct idle_gap_row row;
	uint64_t until;             /* the host counts up to then */
	uint32_t causes;            /* bit per cause that it has */
	uint64_t ns[GT_IDLE_COUNT]; /* of those; others are not set */
	struct idle_gap *largest;   /* NULL: it is none of them */
	struct idle_kept kept;
	uint32_t detail_row;
	bool is_told; /* its parts go to others than the sums: as they are when they do not grow */
	bool is_seen; /* the call that submits the work */
	bool copies;  /* that call */
};

/* Calls of an operation, as to what they mean for a device without work. */
struct idle_operation idle_describe_operation(uint32_t op);
const struct idle_operation *idle_find_operation(const struct idle *s, uint32_t op);
enum gt_idle_cause idle_call_cause(const struct idle *s, const struct gt_item *call);
/* How a call may hold a queue. */
enum idle_hold {
	IDLE_HOLDS_NOT,
	IDLE_HOLDS_WORK,   /* its own work waits for events, if it names some */
	IDLE_HOLDS_STREAM, /* what its stream is given after it waits */
};
enum idle_hold idle_call_hold(uint32_t op);
/* It has a list of events that its work waits for. */
bool idle_names_events(const struct gt_operation_info *info);
bool idle_call_holds(const struct gt_item *call, enum idle_hold *how);

/* Why there may be calls that were not recorded, of a process. */
bool idle_host_is_known(const struct gt_capture *capture, uint32_t process);

void idle_add_sum(struct idle_sum *sum, uint64_t ns);

/* What was not recorded of a device; NULL: nothing. */
static inline const struct unrecorded_list *idle_unrecorded(const struct idle *s, uint32_t device)
{
	return s->unrecorded ? &s->unrecorded[device] : NULL;
}

/* The second pass. */
int idle_walk_host(struct idle *s);

/* Before its first part. */
void idle_open_gap(const struct idle *s, struct idle_open *gap, const struct idle_gap_row *row);
/* Parts of the gap; what is of no length is left out. @op, @name: as in struct idle_detail. */
void idle_add_part(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t to,
		   enum gt_idle_cause cause, uint32_t op, uint32_t name);
/* All its parts are there, or what is left is a rest. */
void idle_close_gap(struct idle *s, struct idle_open *gap);
/* All of the gap has one cause. */
void idle_add_whole(struct idle *s, const struct idle_gap_row *row, enum gt_idle_cause cause);
void idle_fini_paused(struct idle *s);
/* From the call's end, or where it is not known its begin, to the work's start. @held_until: the
 * end of the work that its queue waited for, 0: none; @unsure: it may have waited longer. */
void idle_split_rest(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t held_until,
		     uint32_t behind, bool unsure);

/* Held queues: all calls, all work and, of each gap that is left, its rest. */
struct idle_held *idle_held_create(void);
void idle_held_destroy(struct idle_held *h);
void idle_held_add_work(struct idle_held *h, uint32_t process, uint64_t id, uint64_t end,
			uint32_t name);
void idle_held_note_call(struct idle_held *h, const struct gt_item *call);
/* The call that submitted the work has been seen: the events that it names are its own waits. */
void idle_held_add_rest(struct idle_held *h, const struct gt_item *call,
			const struct idle_rest *rest);
int idle_held_finish(struct idle *s);

#endif
