/* SPDX-License-Identifier: MIT */
/* Time per call path:
 *
 *   process > range > range > function > function > call > call > kernel
 *
 * A node is a frame below its parent frame and covers everything that was reached through that
 * path. The own host time of a node is the time of its ranges and calls minus the time of ranges
 * and calls directly inside them. The device time of a node is the time of the GPU activities with
 * its name.
 *
 * Functions come from the call's stack, if one was recorded. Functions have no own time.
 *
 * A range is a frame for the calls that its thread started within the range, and for the activities
 * of those calls. Activities whose call is not known are below their process. Ranges that are
 * started and stopped explicitly may cross others; they are frames without own time.
 *
 * Under a filter (gt_capture_filter()) only matching items have time. Everything that encloses them
 * is a frame, and ranges have no own time.
 *
 * Memory: nodes for distinct paths; 56 bytes per range; a bit per call and 4 bytes per launching
 * call. */
#ifndef GPUTAP_ANALYSIS_MODEL_CALLTREE_H
#define GPUTAP_ANALYSIS_MODEL_CALLTREE_H

#include "analysis/model/callset.h"
#include "analysis/model/view.h"

/* GT_FRAME_HOST: a function of the program, from the stack of the call (gputap run --stacks). */
enum gt_frame_kind {
	GT_FRAME_PROCESS,
	GT_FRAME_RANGE,
	GT_FRAME_HOST,
	GT_FRAME_CALL,
	GT_FRAME_ACTIVITY
};

struct gt_calltree_node {
	uint32_t
		parent; /* index of the parent; the root, which is not a frame, is its own parent */
	uint32_t frame; /* index of gt_calltree.frames */
	/* first child and next sibling, in order of arrival; 0: none */
	uint32_t child, sibling;
	int64_t host_ns; /* own time; never negative in a complete tree */
	uint64_t device_ns, device_count;
};

struct gt_calltree_frame {
	char *text; /* as recorded, or demangled; may contain any bytes */
	enum gt_frame_kind kind;
};

/* Empty if zero-initialised. */
struct gt_calltree {
	struct gt_calltree_node *nodes;   /* nodes[0]: the root */
	struct gt_calltree_frame *frames; /* each text once per kind */
	size_t node_count, node_room, frame_count, frame_room;
	uint64_t host_ns, device_ns; /* totals of all nodes */
	uint64_t untimed;            /* number of activities without times */
	struct gt_map node_map, frame_map;
};

/* Build the tree of a capture. Return 0 or negative errno with a cause. */
int gt_calltree_build(struct gt_calltree *t, const struct gt_capture *c,
		      const struct gt_view_options *options);
void gt_calltree_fini(struct gt_calltree *t);

/* Return the node after @node in an iteration over all nodes except the root, each before its
 * children. Start with 0; the iteration ends when the function returns 0. */
uint32_t gt_calltree_next(const struct gt_calltree *t, uint32_t node);

#endif
