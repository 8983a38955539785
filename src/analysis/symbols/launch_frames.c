/* SPDX-License-Identifier: MIT */
/* See launch_frames.h. */
#include "analysis/symbols/launch_frames.h"

#include <errno.h>

#include "util/error.h"

int gt_launch_frames_read(struct gt_launch_frames *f, const struct gt_capture *c)
{
	int status = gt_call_stacks_create(c, &f->calls);

	if (status || !f->calls)
		return status;
	f->names = gt_frame_names_create(c);
	return f->names ? 0 : gt_error(-ENOMEM, "cannot export");
}

void gt_launch_frames_fini(struct gt_launch_frames *f)
{
	gt_call_stacks_destroy(f->calls);
	gt_frame_names_destroy(f->names);
}

unsigned gt_launch_frames_find(struct gt_launch_frames *f, const struct gt_item *call)
{
	uint32_t number = gt_call_stacks_find(f->calls, call->process, call->id);
	struct gt_frames frames;
	unsigned count;

	if (!number || !f->names)
		return 0;
	frames = gt_frames_get(f->names, call->process, number);
	count = frames.count < GT_LAUNCH_FRAMES ? (unsigned)frames.count : GT_LAUNCH_FRAMES;
	for (unsigned i = 0; i < count; i++)
		gt_frame_text(&frames.list[i], f->texts[i], sizeof f->texts[i]);
	return count;
}
