/* SPDX-License-Identifier: MIT */
/* Weak definitions of the parts that are not linked (unit tests link some of them only). */
#include "tool/tool.h"

#include <errno.h>

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

ABSENT int gt_tool_buffer_write_ticks(struct gputap_buffer *b, uint64_t kind, const void *payload, size_t bytes,
				      uint32_t ticks_offset, uint32_t ticks_count, bool last)
{
	(void)b, (void)kind, (void)payload, (void)bytes, (void)ticks_offset, (void)ticks_count, (void)last;
	return -ENOSYS;
}

ABSENT int32_t gt_tool_priority(void)
{
	return 0;
}
