/* SPDX-License-Identifier: MIT */
/* Finds the period of a sequence of GPU activities, such as the step of a training loop.
 *
 *   A B B C | A B B C | A B B C     period 4: most activities have the name of the activity
 *   ^ step    ^ step    ^ step      four places earlier
 *
 * Candidates are the distances between successive activities of one name. The smallest candidate
 * at which nearly all names repeat is the period. A step starts where the mean gap before an
 * activity is largest. */
#ifndef GPUTAP_ANALYSIS_PATTERNS_PERIOD_H
#define GPUTAP_ANALYSIS_PATTERNS_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PERIOD_MOST = 1 << 20, PERIOD_STEPS_LEAST = 4 };

struct period_item {
	uint64_t id; /* of the launching call, which gives the order */
	uint64_t start_ns, end_ns;
	uint32_t name;
	uint32_t is_kernel;
};

struct period {
	uint32_t length; /* activities in a step; 0: there is no period */
	uint32_t steps, kernels;
	/* length of a step: median, the value that a tenth of steps is below or above */
	uint64_t median_ns, low_ns, high_ns;
	uint64_t from_ns, to_ns; /* start of the first step, end of the last */
	uint64_t third_ns;       /* start of the third step: the first two often prepare */
};

/* Find the period of items in the order of their launches. Return false if there is none. Leaves
 * the innermost guard_memory() if memory runs out. */
bool period_find(const struct period_item *items, size_t count, struct period *out);

#endif
