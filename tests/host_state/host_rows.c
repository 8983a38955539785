/* SPDX-License-Identifier: MIT */
/* host_rows FILE: prints the states of threads in a capture, one JSON object per line. */
#include <inttypes.h>
#include <stdio.h>

#include "capture/capture.h"
#include "record/host_state.h"
#include "record/record.h"
#include "util/error.h"

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			printf("\\u%04x", (unsigned char)*text);
		else
			putchar(*text);
	putchar('"');
}

static void print_row(const struct gt_capture *c, const struct gt_item *item)
{
	const struct gt_thread_info *thread =
		gt_capture_thread_find(c, item->process, item->ordinal);
	const uint64_t *v = item->args;

	printf("{\"detail\": %u, \"state\": \"%s\", \"process\": %u, \"tid\": %u, "
	       "\"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 ", \"values\": [",
	       item->push, gt_host_state_name(item->op), item->process, thread ? thread->tid : 0,
	       item->start_ns, item->end_ns);
	for (int i = 0; i < 8; i++)
		printf("%s%" PRIu64, i ? ", " : "", v[i]);
	printf("], \"text\": ");
	print_text(item->push == GT_HOST_STATE ? gt_capture_string(c, item->process, (uint32_t)v[1])
					       : "");
	printf("}\n");
}

int main(int argc, char **argv)
{
	const struct gt_item *item;
	struct gt_cursor *cursor;
	struct gt_capture *c;
	int status;

	if (argc != 2 || gt_capture_open(argv[1], &c)) {
		fprintf(stderr, "host_rows FILE: %s\n", gt_error_text());
		return 1;
	}
	if (gt_cursor_create(c, &cursor))
		return 1;
	gt_cursor_take_host(cursor);
	while ((status = gt_cursor_next(cursor, &item)) == 1)
		if (item->kind == GT_RECORD_HOST)
			print_row(c, item);
	gt_cursor_destroy(cursor);
	gt_capture_close(c);
	return status != 0;
}
