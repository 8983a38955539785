/* SPDX-License-Identifier: MIT */
/* Sums of captures: one pass over their records, with memory bounded for the number of distinct
 * things (names, devices, threads and so on), not of records. Printing is in report.c. */
#ifndef GPUTAP_CLI_SUMMARY_H
#define GPUTAP_CLI_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "cli/range_paths.h"
#include "cli/filter.h"
#include "cli/filter_slice.h"
#include "cli/graphs.h"
#include "cli/histogram.h"
#include "cli/idle.h"
#include "cli/info_code.h"
#include "cli/launched.h"
#include "cli/linked.h"
#include "cli/odd_ranges.h"
#include "cli/gpu_by_range.h"
#include "cli/ranks.h"
#include "cli/lookup.h"
#include "cli/stages.h"
#include "cli/timeline.h"
#include "cli/unrecorded.h"
#include "export/memory_use.h"
#include "export/ranges.h"
#include "record/operation.h"

/* Keys that give separate rows. */
enum summary_key {
	SUMMARY_NAME = 1,
	SUMMARY_DEVICE = 2,
	SUMMARY_PROCESS = 4,
	SUMMARY_THREAD = 8,
	SUMMARY_QUEUE = 16,
	SUMMARY_OPERATOR = 32, /* for a separate table */
	SUMMARY_RANK = 64,
	SUMMARY_HOST = 128,
};

enum summary_class {
	SUMMARY_CALLS, /* host API calls */
	/* the program's annotations (ROCTx): ranges, and marks, which have no time */
	SUMMARY_RANGES,
	SUMMARY_KERNELS,
	SUMMARY_COPIES, /* all that move or map bytes */
	SUMMARY_OTHER,  /* markers, barriers, command buffers and so on */
	SUMMARY_CLASS_COUNT
};

struct summary_group {
	/* LOOKUP_NONE if the group is not split on the key */
	uint32_t domain, name, device, process, thread, queue;
	uint32_t place;              /* index of its process in summary.places */
	uint32_t scope, category;    /* names, for ranges: NVTX's domain, and category in it */
	enum gt_device_op device_op; /* for GPU activities */
	enum gt_operation_kind kind; /* SUMMARY_CALLS: of its first call */
	struct histogram times;
	uint64_t count, failed, refused, bytes;
	uint64_t timed_bytes;    /* of those with known times: for rates */
	uint64_t inner_ns;       /* of calls inside these calls */
	struct stages_wait wait; /* for calls that wait */
};

struct summary_groups {
	struct summary_group *rows;
	uint32_t count, room;
	struct idmap by_hash;
	uint32_t *hints; /* per name: last used row + 1, 0: none */
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
	const char *name; /* from the capture, kept in summary.names. NULL: no activity on it */
	uint32_t name_id;
	enum gt_domain domain;
};

/* A device's activities, or those with certain keys. */
struct summary_track {
	uint32_t device;
	/* LOOKUP_NONE if tracks are not split on the key */
	uint32_t name, process, thread, queue, place;
	uint64_t count, untimed, failed;
	struct timeline all, kernels, copies;
	/* kernels: from call start to kernel start; from the stamps; from what ran before them */
	struct histogram launch, enqueue, submit, wait;
	struct histogram own, others, runtime;
	uint64_t early; /* kernels that seemed to start before their calls */
};

struct summary_process {
	uint32_t file, index, pid, fork_count, ppid;
	const char *exe, *name; /* path, and its last part */
	uint32_t rank;          /* LOOKUP_NONE: no launcher set one */
	uint32_t host;          /* name */
	uint32_t place;         /* LOOKUP_NONE: not split by rank or host */
	uint32_t threads;
	uint64_t calls, call_ns, device_count, device_ns, failed;
	uint64_t start_ns, end_ns; /* 0: not known */
	int32_t wait_status;
	bool ended, proper_end;
};

/* The latest call of a depth; calls one level deeper are part of it. */
struct summary_open {
	uint64_t end_ns;
	uint64_t own_ns; /* without those calls */
	uint32_t group;  /* LOOKUP_NONE: the filter does not match it */
	enum gt_operation_kind kind;
};

struct summary_thread {
	uint32_t process, ordinal, tid;
	const char *name;
	uint64_t calls, call_ns, device_count, device_ns, failed;
	struct stages_wait wait; /* in calls that wait */
	uint64_t start_ns, end_ns;
	struct summary_open *open; /* the latest call of each depth */
	uint32_t open_count;
	uint32_t outer; /* number of those of domains that are recorded on request */
};

struct summary_queue {
	uint32_t device, process, ordinal;
	uint64_t handle;
	enum gt_domain domain;
	bool untimed; /* true if some of its activities have no times */
};

/* A rank, a host, or a rank on a host, for --by. */
struct summary_place {
	uint32_t rank, host; /* LOOKUP_NONE: not requested, or there is none */
};

struct summary_file { /* a session: merged files contain several */
	const char *path, *command, *host;
	struct gt_capture_health health;
	uint64_t start_ns, end_ns, realtime_ns;
	uint64_t records;
	uint32_t processes, threads;
	bool is_cut;               /* part of a capture: without its last record */
	uint32_t untraced;         /* number of these processes */
	const char *untraced_text; /* names and reasons: cli/untraced.h */
	const char *recorded_text; /* pauses: cli/recorded_text.h; else "" */
	const char *retained_text; /* for a flight recorder, a snapshot: cli/retained.h; else "" */
};

/* A record, or a whole range of the program, that matches and has known times. */
struct summary_observed {
	enum summary_class class;
	uint32_t group;  /* row of its class, whose numbers do not change */
	uint64_t thread; /* the thread in whose ranges it is: gt_item_place(), any number */
	uint64_t place;  /* call of that thread */
	uint64_t duration_ns;
};

/* An observer that needs more than sums: called for each record, in the cursor's order. */
struct summary_observer {
	void (*observe)(struct summary_observer *o, const struct summary_observed *what);
};

struct summary {
	/* the caller sets these before the first file */
	unsigned keys[SUMMARY_CLASS_COUNT]; /* bits such as SUMMARY_NAME */
	unsigned track_keys;                /* the same for devices, besides the device */
	unsigned place_keys;                /* for all: SUMMARY_RANK, SUMMARY_HOST */
	struct filter *filter;              /* NULL: all */
	bool progress;
	bool mangled;                      /* true: names of kernels as recorded */
	struct summary_observer *observer; /* NULL: none */
	/* parts that are not needed: causes of idle time; busy times; wait targets and stages of
	 * kernels' latency, which causes of idle time also need */
	bool no_idle, no_timelines, no_stages;
	bool is_part; /* a cut capture without surrounding records: retained.h */

	struct filter_slice slice; /* for the filter: `read` and `linked` cover this */
	struct texts names;
	struct summary_groups groups[SUMMARY_CLASS_COUNT];
	struct summary_file *files;
	struct summary_device *devices;
	struct summary_track *tracks;
	struct idmap tracks_by_hash;
	struct stages stages;
	struct unrecorded unrecorded;
	struct unrecorded_list *unrecorded_lists; /* NULL: everything was recorded */
	struct idle idle;                         /* of matching activities, by track_keys */
	struct stages_wait wait;                  /* of all calls that wait */
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

	struct gt_counts counts;          /* of all processes together, regardless of the filter */
	uint64_t read[GT_CLASS_COUNT];    /* records that were read */
	uint64_t read_ranges;             /* whole ranges that are not calls */
	uint64_t matched;                 /* records that match the filter */
	uint64_t matched_ranges;          /* of the program: not in the counts of records */
	struct gt_capture_health health;  /* of all files together */
	struct graphs graphs;             /* those that match the filter */
	struct gpu_by_range gpu_by_range; /* the same */
	struct timeline_pool pool;        /* of the tracks' and the ranks' timelines */
	struct odd_ranges odd_ranges;
	struct ranks ranks;             /* their collective calls, without the filter */
	struct launched launched;       /* the same */
	struct range_paths range_paths; /* if the filter names ranges */
	struct dispatches dispatches;   /* the same */
	/* borrowed: what its objects say is read when it is shown */
	const struct gt_capture *capture;
	struct gt_memory_use memory; /* for calls that match the filter */
	struct linked linked;        /* GPU activities with their calls, regardless of the filter */
	/* calls without the calls inside them, of any kind and runtime: their sum counts no time
	 * twice */
	uint64_t kind_ns[GT_KIND_COUNT];
	uint32_t runtimes; /* bit per domain seen */
};

/* Return texts, for filters created with the summary as their data. */
unsigned summary_texts(void *summary, enum filter_field field, uint32_t number, const char **texts);

/* Add a whole capture, once; it must stay open while tables are made. Return 0 or negative errno
 * with a cause. */
int summary_add(struct summary *s, const struct gt_capture *capture);
/* Return: 0 or negative errno with a cause. */
int summary_finish(struct summary *s);
void summary_fini(struct summary *s);

/* Return true if the filter matched no record and no range that was read. */
static inline bool summary_holds_for_nothing(const struct summary *s)
{
	return s->filter && !s->matched && !s->matched_ranges;
}

/* Use only the filter, for callers that read the records themselves: @s has nothing else, and reads
 * what it needs to know of @capture. NULL: an error that is reported. */
struct summary_reading;
struct summary_reading *summary_begin_filter(struct summary *s, const struct gt_capture *capture);
/* A gt_item_filter_fn; @reading: as above. Matching records are counted in `matched`. */
bool summary_wants(void *reading, const struct gt_item *item);
/* For a call that begins or ends a range itself (push, pop and so on), called once, in a cursor's
 * order: return true if the range that it completes matches. */
bool summary_wants_range(void *reading, const struct gt_item *call);
void summary_end_filter(struct summary_reading *reading);

/* Return the time in calls of @group without the calls inside them. */
uint64_t summary_self_ns(const struct summary_group *group);

uint64_t summary_dropped(const struct summary *s);
uint64_t summary_seen(const struct summary *s);

#endif
