/* SPDX-License-Identifier: MIT */
/* Computes sums over captures, in one pass over their records. Memory grows with the numbers of
 * distinct names, devices, threads and so on, but not with the number of records. report.c prints
 * the sums. */
#ifndef GPUTAP_ANALYSIS_TABLES_SUMMARY_H
#define GPUTAP_ANALYSIS_TABLES_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/lookup.h"
#include "analysis/base/progress.h"
#include "analysis/idle/idle.h"
#include "analysis/idle/unrecorded.h"
#include "analysis/model/memory_use.h"
#include "analysis/model/ranges.h"
#include "analysis/patterns/patterns.h"
#include "analysis/query/filter.h"
#include "analysis/query/filter_scope.h"
#include "analysis/query/range_paths.h"
#include "analysis/tables/dispatches.h"
#include "analysis/tables/gpu_by_range.h"
#include "analysis/tables/graphs.h"
#include "analysis/tables/histogram.h"
#include "analysis/tables/launched.h"
#include "analysis/tables/linked.h"
#include "analysis/tables/odd_ranges.h"
#include "analysis/tables/rank_sums.h"
#include "analysis/tables/stages.h"
#include "analysis/tables/timeline.h"
#include "capture/capture.h"
#include "record/operation.h"

/* Keys that split sums into separate rows. */
enum summary_key {
	SUMMARY_NAME = 1,
	SUMMARY_DEVICE = 2,
	SUMMARY_PROCESS = 4,
	SUMMARY_THREAD = 8,
	SUMMARY_QUEUE = 16,
	SUMMARY_OPERATOR = 32, /* splits only a separate table */
	SUMMARY_RANK = 64,
	SUMMARY_HOST = 128,
};

enum summary_class {
	SUMMARY_CALLS, /* host API calls */
	/* annotations of the program (ROCTx): ranges, and marks, which have no time */
	SUMMARY_RANGES,
	SUMMARY_KERNELS,
	SUMMARY_COPIES, /* all activities that move or map bytes */
	SUMMARY_OTHER,  /* markers, barriers, command buffers and so on */
	SUMMARY_CLASS_COUNT
};

struct summary_group {
	/* LOOKUP_NONE if the key does not split groups */
	uint32_t domain, name, device, process, thread, queue;
	uint32_t place; /* index in summary.places of the group's process */
	/* ranges: names of the NVTX domain and of the category in that domain */
	uint32_t scope, category;
	enum gt_device_op device_op; /* GPU activities: operation */
	enum gt_operation_kind kind; /* SUMMARY_CALLS: kind of the group's first call */
	struct histogram times;
	uint64_t count, failed, refused, bytes;
	uint64_t timed_bytes;    /* bytes of the records with known times, used to compute rates */
	uint64_t inner_ns;       /* time of calls inside these calls */
	struct stages_wait wait; /* calls that wait: parts of their time */
};

struct summary_groups {
	struct summary_group *rows;
	uint32_t count, room;
	struct idmap by_hash;
	uint32_t *hints; /* last used row + 1 for each name; 0: none */
	uint32_t hint_count;
};

struct summary_failure {
	uint32_t domain, name;
	int32_t status;
	bool device;  /* true: GPU activity; false: call */
	bool refused; /* as in struct summary_entry */
	uint64_t count;
};

struct summary_device {
	const char *name; /* text in summary.names; NULL: the device had no activity */
	uint32_t name_id;
	enum gt_domain domain;
};

/* All activities of a device, or those with certain keys. */
struct summary_track {
	uint32_t device;
	/* LOOKUP_NONE if the key does not split tracks */
	uint32_t name, process, thread, queue, place;
	uint64_t count, untimed, failed;
	struct timeline all, kernels, copies;
	/* kernels: launch latency; parts of it according to the runtime's time stamps (enqueue,
	 * submit, wait); parts of it according to earlier activities (own, others, runtime) */
	struct histogram launch, enqueue, submit, wait;
	struct histogram own, others, runtime;
	uint64_t early; /* number of kernels that appeared to start before their calls */
};

/* Return true if the time of any activity is known. */
static inline bool summary_track_has_times(const struct summary_track *t)
{
	return t->all.last_ns != 0;
}

struct summary_process {
	uint32_t file, index, pid, fork_count, ppid;
	const char *exe, *name; /* path of the program, and last component of the path */
	uint32_t rank;          /* LOOKUP_NONE: no launcher set a rank */
	uint32_t host;          /* number of the host's name */
	uint32_t place;         /* LOOKUP_NONE: rows are not split by rank or host */
	uint32_t threads;
	uint64_t calls, call_ns, device_count, device_ns, failed;
	uint64_t start_ns, end_ns; /* 0: not known */
	int32_t wait_status;
	bool ended, proper_end;
};

/* The latest call at a depth. Calls one level deeper are part of this call. */
struct summary_open {
	uint64_t end_ns;
	uint64_t own_ns; /* time without the calls one level deeper */
	uint32_t group;  /* LOOKUP_NONE: the filter does not match the call */
	enum gt_operation_kind kind;
};

struct summary_thread {
	uint32_t process, ordinal, tid;
	const char *name;
	uint64_t calls, call_ns, device_count, device_ns, failed;
	struct stages_wait wait; /* parts of the time in calls that wait */
	uint64_t start_ns, end_ns;
	struct summary_open *open; /* latest call at each depth */
	uint32_t open_count;
	uint32_t outer; /* number of open calls in domains that are recorded on request */
};

struct summary_queue {
	uint32_t device, process, ordinal;
	uint64_t handle;
	enum gt_domain domain;
	bool untimed; /* true if the queue has activities without times */
};

/* A rank, a host, or a rank on a host, for --by. */
struct summary_place {
	uint32_t rank, host; /* LOOKUP_NONE: not requested, or not known */
};

struct summary_file { /* a session; a merged file contains several sessions */
	const char *path, *command, *host;
	struct gt_capture_health health;
	uint64_t start_ns, end_ns, realtime_ns;
	uint64_t records;
	uint32_t processes, threads;
	bool is_cut;       /* true for a part of a capture, without its last record */
	uint32_t untraced; /* number of untraced processes */
	/* names and reasons of these processes: untraced.h */
	const char *untraced_text;
	const char *recorded_text; /* pauses: recorded_text.h; "": none */
	const char *retained_text; /* flight recorder or snapshot: retained.h; "": neither */
};

/* A record, or a whole range of the program, that matches the filter and has known times. */
struct summary_observed {
	enum summary_class class;
	uint32_t group;  /* row among those of the record's class; row numbers do not change */
	uint64_t thread; /* thread whose ranges contain the record: gt_item_place(), any number */
	uint64_t place;  /* position in the calls of that thread */
	uint64_t duration_ns;
	const struct gt_item *item; /* the call or the activity; of a range, an empty call */
};

/* Receives more than sums: called for each record, in the cursor's order. */
struct summary_observer {
	void (*observe)(struct summary_observer *o, const struct summary_observed *what);
};

struct device_edges;

struct summary {
	/* The caller sets these fields before the first file */
	unsigned keys[SUMMARY_CLASS_COUNT]; /* bits such as SUMMARY_NAME */
	/* bits such as SUMMARY_NAME that split tracks, in addition to the device */
	unsigned track_keys;
	unsigned place_keys;   /* SUMMARY_RANK and SUMMARY_HOST, for all rows */
	struct filter *filter; /* NULL: all records */
	/* true: leave the capture's scope unchanged; the caller restricts its cursors with
	 * filter_scope_restrict() */
	bool leaves_capture;
	struct progress progress;          /* while reading */
	bool mangled;                      /* true: kernel names as recorded */
	struct summary_observer *observer; /* NULL: none */
	/* true to skip causes of idle time; busy times; or wait targets and stages of kernels'
	 * latency, which causes of idle time also need */
	bool no_idle, no_timelines, no_stages;
	bool is_stored; /* true if the capture contains the summary: stored_summary.h */
	bool is_part;   /* true for a cut capture without surrounding records: retained.h */

	/* times that the filter needs; `read` and `linked` cover only these times */
	struct filter_scope scope;
	struct texts names;
	struct summary_groups groups[SUMMARY_CLASS_COUNT];
	struct summary_file *files;
	struct summary_device *devices;
	struct summary_track *tracks;
	struct idmap tracks_by_hash;
	struct stages stages;
	struct unrecorded unrecorded;
	struct unrecorded_list *unrecorded_lists; /* NULL: everything was recorded */
	/* causes of idle time, from matching activities, split by track_keys */
	struct idle idle;
	struct stages_wait wait; /* parts of the time in all calls that wait */
	struct summary_process *processes;
	struct summary_thread *threads;
	struct summary_queue *queues;
	struct summary_place *places;
	struct summary_failure *failures;
	uint32_t file_count, device_count, track_count, process_count, thread_count, queue_count;
	uint32_t failure_count, place_count, place_room, unrecorded_count;
	struct idmap place_ids;
	uint32_t track_room, process_room, thread_room, queue_room, failure_room;
	struct idmap failure_ids;

	/* counts of all processes together, regardless of the filter */
	struct gt_counts counts;
	uint64_t read[GT_CLASS_COUNT]; /* number of records that were read */
	uint64_t read_ranges;          /* number of whole ranges that are not calls */
	uint64_t matched;              /* number of records that match the filter */
	/* number of matching program ranges, not included in counts of records */
	uint64_t matched_ranges;
	struct gt_capture_health health;  /* health of all files together */
	struct graphs graphs;             /* graphs that match the filter */
	struct gpu_by_range gpu_by_range; /* ranges that match the filter */
	struct timeline_pool pool;        /* pool for the timelines of tracks and ranks */
	struct odd_ranges odd_ranges;
	struct patterns patterns; /* patterns of matching records */
	/* start of the first step of each device's loop, if the start-up before it is long; 0:
	 * none; NULL: not looked for */
	uint64_t *first_steps;
	struct ranks ranks;             /* collective calls of ranks, regardless of the filter */
	struct launched launched;       /* launches, regardless of the filter */
	struct range_paths range_paths; /* used if the filter names ranges */
	struct dispatches dispatches;   /* dispatches for the tables of device code */
	/* Borrowed. The texts of the capture's objects are read when they are shown */
	const struct gt_capture *capture;
	struct gt_memory_use memory; /* memory in use by calls that match the filter */
	/* links of GPU activities to their calls, regardless of the filter */
	struct linked linked;
	/* time of calls without the time of calls inside them, regardless of kind and runtime, so
	 * that the sum contains no time twice */
	uint64_t kind_ns[GT_KIND_COUNT];
	uint64_t runtimes;          /* one bit for each domain with records */
	struct device_edges *edges; /* for each track: edges.h; NULL: not read */
};

/* A filter_texts_fn: returns texts for filters whose data is the summary. */
unsigned summary_texts(void *summary, enum filter_field field, uint32_t number, const char **texts);

/* Add a whole capture. Call once. The capture must stay open while tables are made. Return 0 or
 * negative errno with a cause. */
int summary_add(struct summary *s, const struct gt_capture *capture);
/* Compute the results. Return: 0 or negative errno with a cause. */
int summary_finish(struct summary *s);
void summary_fini(struct summary *s);

/* Return true if the filter matched no record and no range that was read. */
static inline bool summary_holds_for_nothing(const struct summary *s)
{
	return s->filter && !s->matched && !s->matched_ranges;
}

/* Set up only the filter, for callers that read the records themselves. @s must be empty except for
 * the caller's fields, and receives the information about @capture that the filter needs. Return
 * NULL after reporting an error. */
struct summary_reading;
struct summary_reading *summary_begin_filter(struct summary *s, const struct gt_capture *capture);
/* A gt_item_filter_fn. @reading: result of the function above. Matching records are counted in
 * `matched`. */
bool summary_wants(void *reading, const struct gt_item *item);
/* Return true if a range matches that was completed by @call, a call that itself begins or ends
 * ranges (push, pop and so on). Call once for each such call, in the cursor's order. */
bool summary_wants_range(void *reading, const struct gt_item *call);
void summary_end_filter(struct summary_reading *reading);

/* Return the time of the calls in @group, without the time of calls inside them. */
uint64_t summary_self_ns(const struct summary_group *group);

/* Join the rows of kernels and memcpys that differ only in the device. Call after
 * summary_finish(). */
void summary_join_devices(struct summary *s);
/* Return true if the captures contain all records from the start to the end of their runs.
 * Otherwise, the time before a device's first activity and after its last activity is not known. */
bool summary_has_whole_run(const struct summary *s);
/* Return the smallest excess that makes a range odd: 1 % of the longest run. */
uint64_t summary_odd_ns(const struct summary *s);
uint64_t summary_dropped(const struct summary *s);
uint64_t summary_seen(const struct summary *s);

#endif
