/* SPDX-License-Identifier: MIT */
/* Where time went, by the way to it:
 *
 *   process > range > range > function > function > call > call > kernel
 *
 * A node is a frame below a frame: all that came to the same place the same way. Its own time on
 * the host is that of its ranges and calls less what the ranges and calls directly in them took;
 * its time on devices is that of the work which it is the name of.
 *
 * Functions are those of the call's stack, if it was recorded; they have no time of their own.
 *
 * A range is a frame of the calls that its thread began in it, and of their work. Work whose call
 * is not known hangs on its process. Ranges that are started and stopped, and may cross others, are
 * frames without time of their own.
 *
 * Under a filter (gt_capture_filter()) only what it takes has time; all that is around it is a
 * frame, and ranges have no time of their own.
 *
 * Memory: nodes by distinct ways; 56 bytes a range; a bit for each call and 4 bytes for each that
 * caused work. */
#ifndef GPUTAP_EXPORT_CALLTREE_H
#define GPUTAP_EXPORT_CALLTREE_H

#include "export/callset.h"
#include "export/view.h"

/* HOST: a function of the program's that the call was made from (gputap run --stacks) */
enum gt_frame_kind {
	GT_FRAME_PROCESS,
	GT_FRAME_RANGE,
	GT_FRAME_HOST,
	GT_FRAME_CALL,
	GT_FRAME_WORK
};

struct gt_calltree_node {
	uint32_t parent;         /* itself: the root, which is no frame */
	uint32_t frame;          /* index of gt_calltree.frames */
	uint32_t child, sibling; /* first one below it, next one beside it, as they came; 0: none */
	int64_t host_ns;         /* its own; never negative when the tree is built */
	uint64_t device_ns, device_count;
};

struct gt_calltree_frame {
	char *text; /* as it was recorded or is written by people: any bytes */
	enum gt_frame_kind kind;
};

/* Zero-initialised is empty. */
struct gt_calltree {
	struct gt_calltree_node *nodes;   /* 0: the root */
	struct gt_calltree_frame *frames; /* each text of a kind once */
	size_t node_count, node_room, frame_count, frame_room;
	uint64_t host_ns, device_ns; /* of all together */
	uint64_t untimed;            /* work without times */
	struct gt_map node_map, frame_map;
};

/* Return: 0 or negative errno with a cause. */
int gt_calltree_build(struct gt_calltree *t, const struct gt_capture *c,
		      const struct gt_export_options *options);
void gt_calltree_fini(struct gt_calltree *t);

/* All nodes but the root, each before those below it: from 0 to the first, from the last to 0. */
uint32_t gt_calltree_next(const struct gt_calltree *t, uint32_t node);

#endif
