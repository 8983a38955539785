/* SPDX-License-Identifier: MIT */
/* Time per call path:
 *
 *   process > range > range > function > function > call > call > kernel
 *
 * A node is a frame below its parent frame: everything that was reached through the same path. The
 * host's own time of a node is that of its ranges and calls minus that of the ranges and calls
 * directly in them; its device time is that of the GPU activities with its name.
 *
 * Functions are those of the call's stack, if it was recorded; they have no own time.
 *
 * A range is a frame for the calls that its thread started in it, and for their activities.
 * Activities whose call is not known are below their process. Ranges that are started and stopped,
 * and may cross others, are frames without own time.
 *
 * Under a filter (gt_capture_filter()) only the items that it takes have time; all that enclose
 * them are frames, and ranges have no own time.
 *
 * Memory: nodes for distinct paths; 56 bytes per range; a bit per call and 4 bytes per launching
 * call. */
#ifndef GPUTAP_EXPORT_CALLTREE_H
#define GPUTAP_EXPORT_CALLTREE_H

#include "export/callset.h"
#include "export/view.h"

/* HOST: a function of the program that made the call (gputap run --stacks) */
enum gt_frame_kind {
	GT_FRAME_PROCESS,
	GT_FRAME_RANGE,
	GT_FRAME_HOST,
	GT_FRAME_CALL,
	GT_FRAME_WORK
};

struct gt_calltree_node {
	uint32_t parent; /* of the root, which is not a frame: itself */
	uint32_t frame;  /* index of gt_calltree.frames */
	/* its first child, its next sibling, in order of arrival; 0: none */
	uint32_t child, sibling;
	int64_t host_ns; /* own time; not negative in a complete tree */
	uint64_t device_ns, device_count;
};

struct gt_calltree_frame {
	char *text; /* as recorded, or demangled: may contain any bytes */
	enum gt_frame_kind kind;
};

/* Zero-initialised: empty. */
struct gt_calltree {
	struct gt_calltree_node *nodes;   /* nodes[0]: the root */
	struct gt_calltree_frame *frames; /* each text of a kind once */
	size_t node_count, node_room, frame_count, frame_room;
	uint64_t host_ns, device_ns; /* total of all nodes */
	uint64_t untimed;            /* activities without times */
	struct gt_map node_map, frame_map;
};

/* Build the tree. Return 0 or negative errno with a cause. */
int gt_calltree_build(struct gt_calltree *t, const struct gt_capture *c,
		      const struct gt_export_options *options);
void gt_calltree_fini(struct gt_calltree *t);

/* Iterate over all nodes but the root, each before its children: from 0 to the first, from the last
 * to 0. */
uint32_t gt_calltree_next(const struct gt_calltree *t, uint32_t node);

#endif
