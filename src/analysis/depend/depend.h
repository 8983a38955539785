/* SPDX-License-Identifier: MIT */
/* The dependencies between the calls and the GPU activities of a capture, as a graph in memory.
 *
 *   thread 1   host | launch | host | launch |  synchronise  | host
 *                       \               \       ▲ wait
 *                 launch ▼        launch ▼      |
 *   queue                 [ kernel ] stream ──► [ kernel ]
 *
 * A node is a GPU activity, or a part of a thread's time: the part of a call in which no other call
 * runs inside it, or time outside any call. The parts of a thread follow each other without a hole.
 * Nodes are in an order in which each edge comes from an earlier node. An edge ends at the start of
 * an activity, or at the end of a part of a thread's time.
 *
 * Memory: 64 bytes per node and 32 bytes per edge, at most DEPEND_NODES_MOST nodes. */
#ifndef GPUTAP_ANALYSIS_DEPEND_DEPEND_H
#define GPUTAP_ANALYSIS_DEPEND_DEPEND_H

#include <stdbool.h>

#include "analysis/base/lookup.h"
#include "analysis/base/progress.h"
#include "capture/capture.h"
#include "record/operation.h"

enum { DEPEND_NODES_MOST = 1 << 26 };

/* Kinds of dependencies: number, key in tables, text. */
#define DEPEND_KINDS(_)                                                 \
	_(HOST, "host", "next on the same thread")                      \
	_(LAUNCH, "launch", "launched by the call")                     \
	_(STREAM, "stream", "next in the same queue")                   \
	_(EVENT, "event", "waits for an event")                         \
	_(GRAPH, "graph", "next node of the graph's launch")            \
	_(BUSY, "busy", "the device was busy with another queue")       \
	_(WAIT, "wait", "the call waits for the activity")              \
	_(COPY, "copy", "the call returns after its activity")          \
	_(FULL, "full", "the call waits for room in the queue")         \
	_(THREAD, "thread", "started by, or waits for, another thread") \
	_(COLLECTIVE, "collective", "the call waits for another process")

enum depend_kind {
#define DEPEND_ONE(name, key, text) DEPEND_##name,
	DEPEND_KINDS(DEPEND_ONE)
#undef DEPEND_ONE
		DEPEND_KIND_COUNT
};
const char *depend_kind_key(enum depend_kind kind);

enum depend_type {
	DEPEND_IS_HOST, /* time of a thread outside any call */
	DEPEND_IS_CALL, /* time of a thread in a call */
	DEPEND_IS_ACTIVITY,
};

/* Calls of one operation, or activities of one name. Class 0 is time outside any call. */
struct depend_class {
	uint32_t name; /* number in depend.names */
	uint8_t type;  /* enum depend_type */
	uint8_t kind;  /* activities: enum gt_device_op; calls: enum gt_operation_kind */
};

struct depend_node {
	uint64_t start, end; /* BOOTTIME ns */
	uint64_t id;         /* id of the call, or of the launching call; 0: none */
	uint32_t process;
	uint32_t owner;    /* index of the thread, or of the queue */
	uint32_t class;    /* index in depend.classes */
	uint32_t call;     /* index of the call, or of the launching call; LOOKUP_NONE: none */
	uint32_t edge;     /* index of the first edge; those of the next node follow */
	uint32_t launcher; /* activity: first node of the launching call; LOOKUP_NONE: none */
	float factor;      /* of the duration, as requested; 1: unchanged, 0: gone */
	/* class of all activities that the call launched; LOOKUP_NONE: none, or several */
	uint32_t launches;
	uint8_t type;   /* enum depend_type */
	bool frees;     /* activity: its edges from other queues vanish (--overlap) */
	bool ends_call; /* last part of the call */
	bool is_marker; /* activity: a barrier or marker */
};

struct depend_edge {
	uint32_t from; /* node; LOOKUP_NONE: the first node of the capture */
	uint8_t kind;  /* enum depend_kind */
	/* true: of the node's edges, this one ended last, so the node waited for it */
	bool binds;
	bool is_known; /* `lag` is recorded, though another edge binds */
	/* inside + lag: time from the end of `from` to the end of the edge; `lag` is estimated
	 * unless `binds` or `is_known`. inside: time in the launching call, which may have a
	 * factor; or time until the end of the thread, or of the lock, for which another waits */
	uint64_t inside, lag;
	/* the estimate may be too large by `less`, or too small by `more`; saturated */
	uint32_t less, more;
};

struct depend_thread {
	uint32_t process, ordinal;
	uint64_t start, end;  /* as the capture says; 0: not known */
	uint32_t first, last; /* first and last node; LOOKUP_NONE: none */
};

struct depend_queue {
	const struct gt_object_info *object; /* NULL: not known */
	uint32_t process, device;            /* device: index in the capture; UINT32_MAX: none */
};

/* A range of the program. */
struct depend_range {
	uint64_t start, end;
	uint32_t process, ordinal; /* its thread */
	uint32_t first, last; /* nodes that contain, or are nearest to, its start and its end */
};

/* Empty if zero-initialised, except for fields that the caller sets. */
struct depend {
	/* The caller sets these fields */
	const struct gt_capture *capture;
	struct progress progress;
	bool mangled; /* true: kernel names as recorded */
	/* Returns the requested factor of a call or an activity, 1 if none was requested. *frees:
	 * set to true if the edges of the activity from other work vanish. NULL: all 1 */
	float (*scale)(void *data, const struct gt_item *item, bool *frees);
	void *scale_data;
	const char *range; /* find the ranges with this name, a glob; NULL: none */
	/* Results */
	struct depend_node *nodes;
	struct depend_edge *edges;
	struct depend_class *classes;
	struct depend_thread *threads;
	struct depend_queue *queues;
	struct depend_range *ranges;
	struct texts names;
	size_t range_count;
	size_t node_count, edge_count, edge_room, class_count, thread_count, queue_count;
	uint64_t start, end; /* of the first and the last call or activity */
	uint64_t activity_count, call_count;
	uint64_t untimed;      /* activities without times, which are not nodes */
	uint64_t unlinked;     /* activities whose call was not recorded */
	uint64_t contradicted; /* edges left out because the recorded times contradict them */
	/* Internal state: depend_parts.h */
	struct depend_reading *reading;
};

/* Read a capture and find the dependencies. Return 0 or negative errno with a cause: -E2BIG too
 * many records, -ENODATA neither calls nor activities. */
int depend_read(struct depend *d);
void depend_fini(struct depend *d);

static inline const char *depend_name(const struct depend *d, uint32_t class)
{
	return texts_get(&d->names, d->classes[class].name);
}

/* Return the edges of a node, and their number. */
static inline const struct depend_edge *depend_edges(const struct depend *d, size_t node,
						     size_t *count)
{
	const size_t first = d->nodes[node].edge;

	*count = (node + 1 < d->node_count ? d->nodes[node + 1].edge : d->edge_count) - first;
	return d->edges ? d->edges + first : NULL;
}

/* Return the time at which a node's dependencies have to be met. */
static inline uint64_t depend_ready(const struct depend_node *n)
{
	return n->type == DEPEND_IS_ACTIVITY && !n->is_marker ? n->start : n->end;
}

#endif
