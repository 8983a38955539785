/* SPDX-License-Identifier: MIT */
/* A program for the toy runtime: argv[1] steps of one copy and two kernels, and a launch that
 * fails. */
#include <stdlib.h>

#include "toy.h"

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 3;
	static char host[4096];
	toy_stream stream;
	void *memory;

	if (toy_stream_create(&stream) || toy_malloc(sizeof host, &memory))
		return 1;
	for (int i = 0; i < steps; i++) {
		toy_range_push("step");
		toy_copy(stream, memory, host, sizeof host);
		toy_launch(stream, "scale", 20, 64);
		toy_launch(stream, "add", 10, 32);
		toy_synchronize(stream);
		toy_range_pop();
	}
	if (toy_launch(NULL, "scale", 1, 1) != TOY_BAD_STREAM)
		return 1;
	toy_free(memory);
	return toy_stream_destroy(stream) != TOY_SUCCESS;
}
