/* SPDX-License-Identifier: MIT */
/* A capture in the form that exporters need: dense numbers and labels for threads, queues and
 * kernel names; correlation numbers that are unique in the file; cached texts of arguments. Entries
 * are looked up or created on first use. Returned pointers stay valid until gt_view_fini().
 * Memory: proportional to threads, queues and distinct names, not to records. */
#ifndef GPUTAP_ANALYSIS_MODEL_VIEW_H
#define GPUTAP_ANALYSIS_MODEL_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/model/track_rows.h"
#include "analysis/model/view_options.h"
#include "capture/capture.h"
#include "record/operation.h"

struct gt_view_thread {
	uint32_t index; /* dense, in the capture's order */
	uint32_t process, ordinal;
	uint64_t pid, tid; /* see gt_view_pid() */
	const char *name;  /* "" if none */
	void *own;         /* belongs to the exporter; freed with free() */
};

struct gt_view_queue {
	uint32_t index; /* dense */
	uint32_t process;
	uint64_t pid;    /* see gt_view_pid() */
	uint32_t device; /* merged device index; UINT32_MAX: not known */
	uint32_t number; /* number within its process and device, as in reports; 0: not known */
	uint32_t stream; /* number within its device across all processes, from 1 */
	const struct gt_object_info *object; /* NULL for activities whose queue is not known */
	struct gt_track_rows rows;
	void *own; /* belongs to the exporter; freed with free() */
};

struct gt_view_text {
	uint32_t index; /* dense per kind of text */
	uint32_t bytes;
	char *text; /* NUL-terminated */
	void *own;  /* belongs to the exporter; freed with free() */
};

struct gt_view_operation {
	uint32_t index; /* dense */
	uint32_t name_bytes;
	const struct gt_operation_info *info; /* NULL if the operation is from a newer gputap */
	char *name;
	uint8_t nargs;  /* number of known arguments */
	bool allocates; /* true if a call allocates or frees memory */
	bool submits;   /* true if a call may launch GPU activities and thus starts a flow */
	void *own;      /* belongs to the exporter; freed with free() */
};

/* Classes of GPU activities, for formats that distinguish only these. */
enum gt_activity_class { GT_ACTIVITY_KERNEL, GT_ACTIVITY_COPY, GT_ACTIVITY_SET, GT_ACTIVITY_MARK };

enum { GT_VIEW_QUEUE_CACHE = 64 };

struct gt_view {
	const struct gt_capture *capture;
	struct gt_map thread_map, queue_map, name_map, word_map;
	struct gt_view_thread **threads;
	struct gt_view_queue **queues;
	struct gt_view_text **names, **words;
	struct gt_view_operation **operations[GT_DOMAIN_COUNT]; /* index: operation number */
	uint32_t operation_limit[GT_DOMAIN_COUNT], operation_count;
	uint32_t thread_count, queue_count, name_count, word_count;
	uint32_t *streams; /* last number used per device; the last entry is for "not known" */
	uint32_t *object_streams; /* number of each object of the capture; 0: not a queue */
	uint32_t correlation_stride;
	size_t rows_budget;
	bool mangled; /* true if names stay as recorded */
	/* Results of the last look-ups. Records of one thread are consecutive, so look-ups
	 * repeat. */
	struct gt_view_thread *last_thread, *last_caller;
	/* indexed with the position of the queue's object */
	struct gt_view_queue *queue_cache[GT_VIEW_QUEUE_CACHE];
};

/* Initialise a view of a capture. @options: may be NULL */
int gt_view_init(struct gt_view *v, const struct gt_capture *capture,
		 const struct gt_view_options *options);
void gt_view_fini(struct gt_view *v);

/* Find or create an entry. Return NULL with a cause if out of memory. */
struct gt_view_thread *gt_view_thread_find(struct gt_view *v, uint32_t process, uint32_t ordinal);
struct gt_view_queue *gt_view_queue_slow(struct gt_view *v, const struct gt_item *activity);
struct gt_view_operation *gt_view_operation_slow(struct gt_view *v, uint32_t op);
/* Return the display name of a kernel or other named activity. @string: its string id, not 0. */
struct gt_view_text *gt_view_name(struct gt_view *v, uint32_t process, uint32_t string);

/* Return the text of an argument of form GT_FORM_NAMED. Some thousand texts are cached. NULL: too
 * many distinct texts; the caller must format the argument. */
struct gt_view_text *gt_view_word(struct gt_view *v, uint32_t op, unsigned arg,
				  const uint64_t *args);

/* Return @text as a word, for callers that cache words under another key. NULL: too many words. */
struct gt_view_text *gt_view_word_of(struct gt_view *v, const char *text, size_t bytes);

static inline struct gt_view_thread *gt_view_thread(struct gt_view *v, uint32_t process,
						    uint32_t ordinal)
{
	struct gt_view_thread *t = v->last_thread;

	if (t && t->process == process && t->ordinal == ordinal)
		return t;
	return v->last_thread = gt_view_thread_find(v, process, ordinal);
}

/* Return the thread of a launching call. This thread is cached separately from the thread whose
 * records are being read. */
static inline struct gt_view_thread *gt_view_caller(struct gt_view *v, uint32_t process,
						    uint32_t ordinal)
{
	struct gt_view_thread *t = v->last_caller;

	if (t && t->process == process && t->ordinal == ordinal)
		return t;
	return v->last_caller = gt_view_thread_find(v, process, ordinal);
}

static inline struct gt_view_operation *gt_view_operation(struct gt_view *v, uint32_t op)
{
	uint32_t domain = GT_OP_DOMAIN(op) % GT_DOMAIN_COUNT, number = GT_OP_NUMBER(op);

	if (number < v->operation_limit[domain] && v->operations[domain][number])
		return v->operations[domain][number];
	return gt_view_operation_slow(v, op);
}

static inline unsigned gt_view_queue_slot(const struct gt_object_info *queue)
{
	return (unsigned)((uintptr_t)queue / sizeof *queue % GT_VIEW_QUEUE_CACHE);
}

static inline struct gt_view_queue *gt_view_queue(struct gt_view *v, const struct gt_item *activity)
{
	struct gt_view_queue *q = v->queue_cache[gt_view_queue_slot(activity->queue)];

	if (q && activity->queue && q->object == activity->queue)
		return q;
	return gt_view_queue_slow(v, activity);
}

/* Return a correlation number. The capture's ids are large and unique only within a process. These
 * numbers are unique in the file and small for programs with few threads: | thread index | count |,
 * with 32 bits for the count. Return 0 if @id is 0 or @caller is NULL. */
static inline uint64_t gt_view_correlation(const struct gt_view *v,
					   const struct gt_view_thread *caller, uint64_t id)
{
	uint64_t count = GT_ID_SEQ(id);

	if (!id || !caller)
		return 0;
	if (__builtin_expect(count <= UINT32_MAX, 1))
		return (uint64_t)caller->index << 32 | count;
	return (caller->index + (count >> 32) * v->correlation_stride) << 32 | (count & UINT32_MAX);
}

/* Return true for an operation of an API, such as HIP, whose GPU activities are recorded in a
 * lower-level domain. */
static inline bool gt_view_delegates(uint32_t op)
{
	return GT_OP_DOMAIN(op) < GT_DOMAIN_COUNT &&
	       gt_domain_delegates((enum gt_domain)GT_OP_DOMAIN(op));
}

/* Return true for an activity or a call of a lower-level domain, such as HSA. */
static inline bool gt_view_is_beneath(uint32_t op)
{
	return GT_OP_DOMAIN(op) < GT_DOMAIN_COUNT && gt_domain_traits[GT_OP_DOMAIN(op)].beneath;
}

/* Source and destination device of a memcpy, in the form of queue->device. If they are not known,
 * both are queue->device. */
struct gt_view_ends {
	uint32_t from, to;
};
struct gt_view_ends gt_view_ends(const struct gt_view *v, const struct gt_item *activity,
				 const struct gt_view_queue *queue);

static inline enum gt_activity_class gt_view_activity_class(enum gt_device_op op)
{
	switch (op) {
	case GT_DEVICE_READ:
	case GT_DEVICE_WRITE:
	case GT_DEVICE_COPY:
	case GT_DEVICE_MAP:
	case GT_DEVICE_UNMAP:
	case GT_DEVICE_MIGRATE: return GT_ACTIVITY_COPY;
	case GT_DEVICE_FILL: return GT_ACTIVITY_SET;
	case GT_DEVICE_MARKER:
	case GT_DEVICE_BARRIER:
	case GT_DEVICE_SCRATCH: /* the device waits meanwhile */ return GT_ACTIVITY_MARK;
	default: return GT_ACTIVITY_KERNEL;
	}
}
/* Return the best known time of an activity in ns, also for an activity that has no times. */
uint64_t gt_view_activity_time(const struct gt_item *activity);

/* Formats identify a process with one number: its pid plus this stride times the index of the
 * machine or pid namespace. RPD uses the same convention for several nodes; the stride exceeds
 * every Linux pid. */
enum { GT_VIEW_PID_STRIDE = 10000000 };
uint64_t gt_view_pid(const struct gt_view *v, uint32_t process);
/* Return the processes in display order: ranks of a job in ascending order, then processes without
 * a rank, then by host, then by start time. The caller frees the array. Return NULL with a cause if
 * out of memory. */
uint32_t *gt_view_order_processes(const struct gt_view *v);
/* Write "python3", or "python3 (rank 3, node17)" if the capture combines several sessions. */
const char *gt_view_process_title(const struct gt_view *v, const struct gt_process_info *process,
				  char *buffer, size_t size);
/* Write the name of the program that the process runs, such as "python3". */
const char *gt_view_process_label(const struct gt_process_info *process, char *buffer, size_t size);
/* Write a NUL-separated list as one line of words. */
const char *gt_view_command(const char *argv, char *buffer, size_t size);
/* Write "device 3: pthread-AMD EPYC", followed by " (node17)" if the capture combines several
 * machines. */
const char *gt_view_device_label(const struct gt_view *v, uint32_t device, char *buffer,
				 size_t size);

/* Sums over all processes and all domains of one class. */
struct gt_view_counts {
	uint64_t seen, recorded, dropped;
};
struct gt_view_counts gt_view_counts(const struct gt_view *v, enum gt_class class);

/* Reports progress from time to time. Call gt_view_progress_step() for every record. */
struct gt_view_progress {
	const struct gt_view_options *options;
	uint64_t total;
	uint32_t count;
};
void gt_view_progress_begin(struct gt_view_progress *p, const struct gt_view *v,
			    const struct gt_view_options *options);
void gt_view_progress_report(struct gt_view_progress *p, const struct gt_cursor *cursor);
static inline void gt_view_progress_step(struct gt_view_progress *p, const struct gt_cursor *cursor)
{
	if (__builtin_expect(++p->count % (1u << 16) == 0, 0))
		gt_view_progress_report(p, cursor);
}
/* Report progress for a few records at once. */
static inline void gt_view_progress_steps(struct gt_view_progress *p,
					  const struct gt_cursor *cursor, uint32_t records)
{
	uint32_t before = p->count;

	p->count += records;
	if (__builtin_expect((p->count ^ before) >> 16, 0))
		gt_view_progress_report(p, cursor);
}

#endif
