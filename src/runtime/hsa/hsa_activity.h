/* SPDX-License-Identifier: MIT */
/* A GPU activity in flight, and its conversion to a record. A separate struct next to it describes
 * its completion (struct gt_hsa_watch). */
#ifndef GPUTAP_RUNTIME_HSA_HSA_ACTIVITY_H
#define GPUTAP_RUNTIME_HSA_HSA_ACTIVITY_H

#include "record/record.h"
#include "runtime/graph_nodes.h"
#include "runtime/hsa/hsa_agent.h"

enum gt_hsa_activity_flags {
	GT_HSA_ACTIVITY_RECORDED = 1,  /* if clear, the activity is only reported to tools */
	GT_HSA_ACTIVITY_BY_ENGINE = 2, /* a copy made by a copy engine, not by a kernel */
	GT_HSA_ACTIVITY_SHARES = 4,    /* GT_DROP_SIGNAL */
};

/* Description of an activity. The submitting thread writes it before the activity becomes pending
 * (release); the harvester reads it (acquire). */
struct gt_hsa_activity {
	uint64_t id, call_start; /* id and start of the linked call; 0: not known */
	uint64_t queue;          /* number of the queue object; upper half: number of the graph */
	uint64_t queued; /* host ticks for dispatches; the runtime's system time for copies */
	uint64_t bytes, object[2];
	struct gt_graph_span *span;             /* NULL: the activity has a separate record */
	struct gt_tool_activity *tool_activity; /* for tools; NULL: no tool wants the activity */
	uint32_t name, replay, ordinal;
	/* Truncated index of the packet in the device's ring, by which the runtime identifies
	 * packets that need scratch memory. Read atomically by ROCr's thread. */
	uint32_t packet;
	uint32_t global[3];
	uint32_t local[3];
	/* GT_HSA_ACTIVITY_BY_ENGINE: numbers of the device objects; 0: not known */
	uint32_t source_device, destination_device;
	uint8_t op;    /* enum gt_device_op */
	uint8_t flags; /* enum gt_hsa_activity_flags */
};
static_assert(sizeof(struct gt_hsa_activity) == 2 * 64, "two cache lines");

/* Mark an activity as a node of a graph's launch. */
static inline void gt_hsa_activity_set_node(struct gt_hsa_activity *w,
					    const struct gt_node_ref *ref, enum gt_graph_part part)
{
	w->replay = ref->replay;
	w->ordinal = ref->ordinal[part];
	w->queue |= (uint64_t)ref->graph << 32;
	w->span = ref->span;
}

/* Write the record of a completed activity, or add the activity to its span. @queued:
 * CLOCK_BOOTTIME ns; @times: NULL if the times are not known */
void gt_hsa_activity_write(const struct gt_hsa_activity *w, const struct gt_hsa_agent *a,
			   uint64_t queued, const struct gt_hsa_times *times, struct gt_thread *t);
/* Count an activity that will never complete. */
void gt_hsa_activity_count_unfinished(const struct gt_hsa_activity *w, struct gt_thread *t);

#endif
