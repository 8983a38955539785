/* SPDX-License-Identifier: MIT */
/* Reads two columns of a table as Arrow arrays, and adds up the time of all calls:
 *
 *   cc arrow_rows.c -o arrow_rows $(pkg-config --cflags --libs gputap-capture)
 *   ./arrow_rows prog.gputap */
#include <gputap/capture.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static const char *const columns[] = {"depth", "duration_ns"};
	struct gputap_capture_stream_options options = {.size = sizeof options,
							.columns = columns,
							.column_count = 2};
	struct gputap_capture_health health = {.size = sizeof health};
	struct gputap_capture *capture;
	struct ArrowArrayStream stream;
	struct ArrowArray batch;
	int64_t rows = 0, ns = 0;
	int status;

	if (gputap_capture_open((const char *const *)argv + 1, (size_t)argc - 1, &health,
				&capture) ||
	    gputap_capture_stream(capture, "calls", &options, &stream)) {
		fprintf(stderr, "arrow_rows: %s\n", gputap_capture_error());
		return 1;
	}
	gputap_capture_close(capture); /* the stream keeps the files open */
	while (!(status = stream.get_next(&stream, &batch)) && batch.release) {
		const int16_t *depth = batch.children[0]->buffers[1];
		const int64_t *duration = batch.children[1]->buffers[1];

		for (int64_t i = 0; i < batch.length; i++)
			ns += depth[i] ? 0 : duration[i];
		rows += batch.length;
		batch.release(&batch);
	}
	if (status)
		fprintf(stderr, "arrow_rows: %s\n", stream.get_last_error(&stream));
	stream.release(&stream);
	printf("%" PRId64 " calls, %" PRId64 " ns in outermost calls\n", rows, ns);
	return status != 0;
}
