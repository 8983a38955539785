/* SPDX-License-Identifier: MIT */
/* Defines a thread's state: its open call and its hazards. Calls no gputap function of another
 * file. */
#include "tool/tool_reader.h"
#include "tool/tool_activity_item.h"

_Thread_local struct gt_tool_frame *gt_tool_frame;
_Thread_local struct gt_tool_reader *gt_tool_reader;

bool gt_tool_calling(bool calling)
{
	struct gt_tool_frame *f = gt_tool_open_call();
	bool before = f && f->calling;

	if (f)
		f->calling = calling;
	return before;
}
