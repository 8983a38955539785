/* SPDX-License-Identifier: MIT */
/* A runtime of ten functions, for tests: one thread of the library executes its streams in
 * order. */
#ifndef TOY_H
#define TOY_H

#include <stddef.h>
#include <stdint.h>

typedef enum { TOY_SUCCESS = 0, TOY_BAD_STREAM = -1, TOY_NO_MEMORY = -2 } toy_status;
typedef void *toy_stream;

toy_status toy_stream_create(toy_stream *stream);
toy_status toy_stream_destroy(toy_stream stream); /* waits for the stream's work */
toy_status toy_launch(toy_stream stream, const char *kernel, unsigned blocks, unsigned threads);
toy_status toy_copy(toy_stream stream, void *to, const void *from, size_t size);
toy_status toy_synchronize(toy_stream stream);
toy_status toy_malloc(size_t size, void **memory);
toy_status toy_free(void *memory);
void toy_range_push(const char *name);
void toy_range_pop(void);

/* Called in the library's thread when an activity has ended. Times are CLOCK_BOOTTIME in ns. */
typedef void (*toy_observer)(void *token, int status, uint64_t queued, uint64_t start,
			     uint64_t end);
/* Set @observer for all threads, and @token for the next activity that this thread submits. */
void toy_observe(toy_observer observer, void *token);

#endif
