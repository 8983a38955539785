/* SPDX-License-Identifier: MIT */
/* State of a range window: the edges that have not been reached yet (range_window.h). This file is
 * separate from the effects of the edges, because the effects depend on callers of this file. */
#include "core/range_window.h"

_Atomic uint32_t gt_range_edges GT_HOT;

static GT_AT_START bool is_asked;

bool gt_range_window_init(const struct gt_session *session)
{
	uint32_t edges = 0;

	for (int i = 0; i < GT_RANGE_EDGES; i++)
		edges |= (uint32_t)(session->ranges[i].number != 0) << i;
	is_asked = edges != 0;
	atomic_store_explicit(&gt_range_edges, edges, memory_order_relaxed);
	return edges & 1 << GT_RANGE_FROM;
}

bool gt_range_window_is_asked(void)
{
	return is_asked;
}
