/* SPDX-License-Identifier: MIT */
/* Inside of summary.h: what its steps hand to each other. summary_entries.c puts a record into
 * small numbers and shows it to the filter, summary_rows.c finds its group and its track,
 * summary_files.c begins with the sessions and processes of a capture, summary.c adds all up. */
#ifndef GPUTAP_CLI_SUMMARY_STEPS_H
#define GPUTAP_CLI_SUMMARY_STEPS_H

#include "cli/summary.h"

/* numbers of device operations in FILTER_KIND: behind the calls' kinds */
enum { SUMMARY_KIND_DEVICE = 64 };

/* What is only needed while they are read. */
struct summary_reading {
	struct summary *s;
	const struct gt_capture *capture;
	struct idmap operations; /* GT_OP() -> name */
	struct idmap strings;    /* process << 32 | string id -> name */
	struct idmap threads;    /* process << 32 | ordinal -> thread */
	struct idmap devices;    /* process << 32 | device reference -> device */
	struct idmap queues;     /* address of gt_object_info -> queue */
	struct gt_ranges ranges;
	uint64_t last_thread_key;
	uint32_t last_thread;
};

/* A record in small numbers. */
struct summary_entry {
	const struct gt_item *item;
	enum summary_class class;
	uint32_t domain, name, device, process, thread, queue;
	uint32_t brief;              /* name of work, of copies the direction alone */
	uint32_t ranges;             /* around it */
	uint32_t scope, category;    /* of a range */
	enum gt_operation_kind kind; /* of a call */
	uint64_t duration_ns;
	uint64_t at_ns; /* its begin; of work without times that of its call; 0: not known */
	int32_t status;
	bool timed, failed;
	bool refused; /* it did not fail: the runtime said no to what the program tried out */
};

#define SUMMARY_GROW(array, count, room)                                                     \
	((count) == (room) ? ((array) = lookup_grow((array), (room), (room) ? (room)*2 : 16, \
						    sizeof *(array)),                        \
			      (room) = (room) ? (room)*2 : 16)                               \
			   : 0)

/* What tells tracks apart; small, as it is made for every record. */
struct summary_track_ids {
	uint32_t device, name, process, thread, queue, place;
};

static inline uint32_t summary_intern(struct summary *s, const char *text)
{
	return texts_put(&s->names, text);
}

static inline uint64_t summary_thread_key(uint32_t process, uint32_t ordinal)
{
	return enclosing_thread(process, ordinal);
}

/* Of the thread in whose ranges the item is. */
static inline uint64_t summary_place_key(const struct gt_item *item)
{
	return summary_thread_key(item->process, GT_ID_ORDINAL(gt_item_place(item)));
}

/* summary_entries.c */

struct summary_entry summary_entry_of_call(struct summary_reading *r, const struct gt_item *item);
/* A whole range of the program, nested or not. A mark has a name but no time. @id: of the call
 * that began it; 0: not known. */
struct summary_entry summary_entry_of_range(struct summary_reading *r, const struct gt_range *range,
					    uint64_t id);
struct summary_entry summary_entry_of_work(struct summary_reading *r, const struct gt_item *item);
/* Does the filter take it? @kind: of the operation, or SUMMARY_KIND_DEVICE + that of the work. */
bool summary_matches(struct summary *s, const struct summary_entry *e, uint32_t kind);

/* summary_rows.c */

/* @e: of device work. */
struct summary_track_ids summary_track_ids_of(const struct summary *s,
					      const struct summary_entry *e);
uint32_t summary_track_of(struct summary *s, const struct summary_entry *e);
/* Moves the rows of that class when it adds one. */
uint32_t summary_group_of(struct summary *s, const struct summary_entry *e);
void summary_group_add(struct summary_group *g, const struct summary_entry *e);
void summary_add_failure(struct summary *s, const struct summary_entry *e);

/* summary_files.c */

/* A row for each session, whichever file it is in. Before the processes. */
void summary_add_sessions(struct summary_reading *r);
void summary_add_processes(struct summary_reading *r);
/* Devices have the numbers that they have where all is read. */
void summary_number_devices(struct summary_reading *r);
/* Says of each session what was not traced in it. After the processes. */
void summary_count_untraced(struct summary_reading *r);

#endif
