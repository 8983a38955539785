/* SPDX-License-Identifier: MIT */
/* Ranges: name parts of a program. A framework opens ranges with keys, kinds and shapes.
 *
 *     cc ranges.c -lgputap -o ranges
 *     gputap run -o ranges.gputap ./ranges && gputap report ranges.gputap -t ranges */
#include <gputap/gputap.h>

static void multiply(void)
{
	static const int64_t shapes[] = {2, 64, 32, 2, 32, 16}; /* shapes 64 x 32 and 32 x 16 */
	const struct gputap_range_opts opts = {
		.size = sizeof opts,
		.kind = GPUTAP_RANGE_OPERATOR,
		.shapes = shapes,
		.shape_count = sizeof shapes / sizeof shapes[0],
	};

	gputap_range_begin("mm", (uintptr_t)shapes, &opts);
	gputap_range_end((uintptr_t)shapes);
}

int main(void)
{
	for (int step = 0; step < 3; step++) {
		gputap_range_push("step");
		gputap_range_push("load");
		gputap_range_pop();
		multiply();
		gputap_range_pop();
	}
	return 0;
}
