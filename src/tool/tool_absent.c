/* SPDX-License-Identifier: MIT */
/* Weak definitions of the parts that are not linked (unit tests link some of them only). */
#include "tool/tool.h"

#define ABSENT __attribute__((weak))

ABSENT void gt_correlation_leave(struct gt_tool_frame *f)
{
	(void)f;
}

ABSENT void gt_tool_objects_replay(uint32_t place, uint32_t generation)
{
	(void)place;
	(void)generation;
}

ABSENT int32_t gt_tool_priority(void)
{
	return 0;
}
