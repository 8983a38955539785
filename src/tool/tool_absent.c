/* SPDX-License-Identifier: MIT */
/* Weak definitions of parts that are not linked (unit tests link only some parts). */
#include "tool/tool.h"
#include "tool/tool_load.h"

#define ABSENT __attribute__((weak))

ABSENT int32_t gt_tool_priority(void)
{
	return 0;
}

ABSENT const struct gputap_tool *gt_tool_current(void)
{
	return NULL;
}

ABSENT void gt_tools_needed(void)
{
}

ABSENT void gt_tools_meet_runtime(bool mapped)
{
	(void)mapped;
}

ABSENT int gputap_tool_opened(void)
{
	return 0;
}
