/* SPDX-License-Identifier: MIT */
/* Internals of summary.h: the interfaces between its steps. summary_entries.c converts a record to
 * small numbers and passes it to the filter. summary_rows.c finds the record's group and track.
 * summary_files.c adds the sessions and processes of a capture. summary.c adds up all records. */
#ifndef GPUTAP_ANALYSIS_TABLES_SUMMARY_STEPS_H
#define GPUTAP_ANALYSIS_TABLES_SUMMARY_STEPS_H

#include "analysis/tables/summary.h"

/* number of the first device operation among the values of FILTER_KIND, after the kinds of calls */
enum { SUMMARY_KIND_DEVICE = 64 };

/* State that is needed only while records are read. */
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

/* A record, converted to small numbers. */
struct summary_entry {
	const struct gt_item *item;
	enum summary_class class;
	uint32_t domain, name, device, process, thread, queue;
	uint32_t brief;              /* name of the activity; for memcpys, only the direction */
	uint32_t ranges;             /* set of ranges that contain the record */
	uint32_t scope, category;    /* ranges only */
	enum gt_operation_kind kind; /* calls only */
	uint64_t duration_ns;
	/* start of the record or, if its times are not known, of its call; 0: not known */
	uint64_t at_ns;
	int32_t status;
	bool timed, failed;
	/* true if the runtime refused a call that the program only tried, which is not a failure */
	bool refused;
};

/* Key of a track. Small, because it is computed for every record. */
struct summary_track_ids {
	uint32_t device, name, process, thread, queue, place;
};

static inline uint32_t summary_intern(struct summary *s, const char *text)
{
	return texts_put(&s->names, text);
}

static inline uint64_t summary_thread_key(uint32_t process, uint32_t ordinal)
{
	return range_paths_thread(process, ordinal);
}

/* Return the key of the thread whose ranges contain the item. */
static inline uint64_t summary_place_key(const struct gt_item *item)
{
	return summary_thread_key(item->process, GT_ID_ORDINAL(gt_item_place(item)));
}

/* Functions of summary_entries.c */

struct summary_entry summary_entry_of_call(struct summary_reading *r, const struct gt_item *item);
/* Convert a whole range of the program, whether nested or not. A mark has a name, but no time. @id:
 * id of the call that started the range; 0: not known. */
struct summary_entry summary_entry_of_range(struct summary_reading *r, const struct gt_range *range,
					    uint64_t id);
struct summary_entry summary_entry_of_activity(struct summary_reading *r,
					       const struct gt_item *item);
/* Add a thread. Return its number. */
uint32_t summary_add_thread(struct summary_reading *r, uint32_t process, uint32_t ordinal);
/* Return true if the filter matches. @kind: the operation's kind, or SUMMARY_KIND_DEVICE + the
 * activity's kind. */
bool summary_matches(struct summary *s, const struct summary_entry *e, uint32_t kind);

/* Functions of summary_rows.c */

/* @e: entry of a GPU activity. */
struct summary_track_ids summary_track_ids_of(const struct summary *s,
					      const struct summary_entry *e);
uint32_t summary_track_of(struct summary *s, const struct summary_entry *e);
/* Return the group of a record. May move the rows of the record's class. */
uint32_t summary_group_of(struct summary *s, const struct summary_entry *e);
void summary_group_add(struct summary_group *g, const struct summary_entry *e);
void summary_add_failure(struct summary *s, const struct summary_entry *e);

/* Functions of summary_files.c */

/* Add a row for each session, regardless of the number of files. Call before the processes. */
void summary_add_sessions(struct summary_reading *r);
void summary_add_processes(struct summary_reading *r);
/* Give the devices the same numbers that they get when all records are read. */
void summary_number_devices(struct summary_reading *r);
/* Note the untraced processes of each session. Call after the processes. */
void summary_count_untraced(struct summary_reading *r);

#endif
