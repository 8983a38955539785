/* SPDX-License-Identifier: MIT */
/* Submit orders (runtime/submit_order.h): what HIP's other files report of streams and graphs.
 * All but gt_hip_order_configure() only if gt_tap_options.submit_orders. */
#ifndef GPUTAP_RUNTIME_HIP_ORDER_H
#define GPUTAP_RUNTIME_HIP_ORDER_H

#include "runtime/hip/hip_graph.h"
#include "runtime/device_work.h"
#include "runtime/submit_order.h"

/* Does HIP submit from threads of its own? Sets gt_tap_options.submit_orders. */
void gt_hip_order_configure(void);

/* A call begins that makes a stream. HIP makes one thread in it, which works for that stream. */
void gt_hip_order_begin_stream(void);
/* The call has made this stream: the thread's order is found by its handle. */
void gt_hip_order_bind_stream(void *handle);
/* Before the real call. */
void gt_hip_order_destroy_stream(void *handle);

/* A graph's nodes, for its launches that are in submit orders. Counted; NULL is legal. */
struct gt_hip_shared_nodes {
	_Atomic uint32_t users;
	uint32_t count;
	size_t bytes;
	struct gt_hip_node order[]; /* [count + 1] */
};
void gt_hip_shared_nodes_put(struct gt_hip_shared_nodes *nodes);
struct gt_hip_ordered_launch {
	void *stream;
	bool own;   /* as in struct gt_submit_call */
	bool apart; /* as in struct gt_hip_nodes */
	uint32_t graph, replay, name;
	uint64_t handle;
	struct gt_hip_shared_nodes *nodes; /* taken over; NULL: its work goes to several streams */
};
/* Around the real hipGraphLaunch(), with gt_submit_order_end_call() behind it. */
void gt_hip_order_add_launch(struct gt_thread *t, const struct gt_table *table,
			     const struct gt_hip_ordered_launch *launch);
/* In between: the launch has itself submitted the work of a node, @at is the place behind it. */
void gt_hip_order_note_submitted(uint32_t at, bool transfer);
/* The real call has returned. @kernels: it has itself submitted all kernels; @all: and there is no
 * other work; @part: it has submitted some, and it is not known which. */
void gt_hip_order_end_launch(bool kernels, bool all, bool part);

#endif
