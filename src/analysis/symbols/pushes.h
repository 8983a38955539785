/* SPDX-License-Identifier: MIT */
/* Derives ranges of a thread from the pushes and pops of its external ids. */
#ifndef GPUTAP_ANALYSIS_SYMBOLS_PUSHES_H
#define GPUTAP_ANALYSIS_SYMBOLS_PUSHES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

struct gt_pushed_range {
	uint64_t value, start_ns;
};

/* Empty if zero-initialised. */
struct gt_pushes {
	struct {
		struct gt_pushed_range *open;
		size_t depth, capacity;
	} stack[GT_EXTERNAL_STACK_COUNT];
};

/* Process a push or a pop. Return 1 and fill *range with a range that has ended; 0: none has ended;
 * -ENOMEM without a cause. */
int gt_pushes_step(struct gt_pushes *r, const struct gt_item *item, struct gt_pushed_range *range);
/* End the innermost range. Return false if no range is open, for example because the push preceded
 * the recording. */
bool gt_pushes_pop(struct gt_pushes *r, enum gt_external_stack stack,
		   struct gt_pushed_range *range);
void gt_pushes_fini(struct gt_pushes *r);

#endif
