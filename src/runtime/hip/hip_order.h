/* SPDX-License-Identifier: MIT */
/* Declares the functions through which HIP's other files report streams and graphs to submit orders
 * (runtime/submit_order.h). Call all functions except gt_hip_order_configure() only if
 * gt_tap_options.submit_orders is set. */
#ifndef GPUTAP_RUNTIME_HIP_ORDER_H
#define GPUTAP_RUNTIME_HIP_ORDER_H

#include "runtime/hip/hip_graph.h"
#include "runtime/gpu_activity.h"
#include "runtime/submit_order.h"

/* Set gt_tap_options.submit_orders if HIP submits from its own threads. */
void gt_hip_order_configure(void);

/* Note the start of a call that creates a stream. HIP creates one thread in the call, which works
 * for the stream. */
void gt_hip_order_begin_stream(void);
/* Bind the thread's order to the stream that the call has created, so that the order can be looked
 * up by the stream's handle. */
void gt_hip_order_bind_stream(void *handle);
/* Call before the real call that destroys the stream. */
void gt_hip_order_destroy_stream(void *handle);

/* A graph's nodes, for launches of the graph in submit orders. Reference-counted; may be NULL. */
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
	/* ownership passes to the callee; NULL if the launch's activities go to several streams */
	struct gt_hip_shared_nodes *nodes;
};
/* Add a launch. Call before the real hipGraphLaunch(), and call gt_submit_order_end_call() after
 * it. */
void gt_hip_order_add_launch(struct gt_thread *t, const struct gt_table *table,
			     const struct gt_hip_ordered_launch *launch);
/* Note, during hipGraphLaunch(), that the launching thread has submitted a node's activity itself.
 * @at: the place after that node. */
void gt_hip_order_note_submitted(uint32_t at, bool transfer);
/* Call after the real hipGraphLaunch().
 * @kernels: true if the launching thread has submitted all kernels itself
 * @all:     true if @kernels and the graph has no other activities
 * @part:    true if the launching thread has submitted an unknown part of the kernels */
void gt_hip_order_end_launch(bool kernels, bool all, bool part);

#endif
