/* SPDX-License-Identifier: MIT */
/* The functions of a call's stack as texts of limited size, for exporters. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_LAUNCH_FRAMES_H
#define GPUTAP_ANALYSIS_SYMBOLS_LAUNCH_FRAMES_H

#include "analysis/symbols/frames.h"

enum { GT_LAUNCH_FRAMES = 24, GT_LAUNCH_FRAME_BYTES = 160 };

/* Contains no stacks if zero-initialised. */
struct gt_launch_frames {
	struct gt_call_stacks *calls;
	struct gt_frame_names *names;
	/* functions in the stack of the call that was looked up last, innermost first; outer frames
	 * beyond the limit are left out */
	char texts[GT_LAUNCH_FRAMES][GT_LAUNCH_FRAME_BYTES];
};

/* Read the stacks. Return 0 or negative errno with a cause. */
int gt_launch_frames_read(struct gt_launch_frames *f, const struct gt_capture *c);
void gt_launch_frames_fini(struct gt_launch_frames *f);
/* Fill `texts`. Return the number of frames; 0: the call has no stack. */
unsigned gt_launch_frames_find(struct gt_launch_frames *f, const struct gt_item *call);

#endif
