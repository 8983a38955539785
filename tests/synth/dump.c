/* SPDX-License-Identifier: MIT */
/* Prints the contents of a capture, for tests and for debugging: dump FILE [--items|--host]. --host
 * prints calls and states of threads. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "util/error.h"

static void print_item(const struct gt_item *i)
{
	unsigned k;

	printf("%s %u/%u op=%#x depth=%u id=%#" PRIx64 " parent=%#" PRIx64 " ext=%" PRIu64
	       ",%" PRIu64 " %" PRIu64 "..%" PRIu64,
	       i->kind == GT_RECORD_CALL     ? "call"
	       : i->kind == GT_RECORD_DEVICE ? "device"
					     : "external",
	       i->process, i->ordinal, i->op, i->depth, i->id, i->parent, i->external[0],
	       i->external[1], i->start_ns, i->end_ns);
	if (i->context)
		printf(" context=%u", i->context);
	if (i->kind == GT_RECORD_CALL) {
		printf(" ret=%" PRId64, (int64_t)i->ret);
		for (k = 0; i->args && k < GT_OP_NARGS(i->op); k++)
			printf(" %#" PRIx64, i->args[k]);
		printf(" payload=%u\n", i->payload_bytes);
	} else if (i->kind == GT_RECORD_DEVICE) {
		printf(" %d status=%d name=%u queue=%" PRIu64 " call=%" PRIu64 " queued=%" PRIu64
		       " bytes=%" PRIu64 "\n",
		       i->device_op, i->status, i->name, i->queue ? i->queue->number : 0,
		       i->call_start_ns, i->queued_ns, i->bytes);
	} else {
		printf(" value=%" PRIu64 "\n", i->ret);
	}
}

static void print_host(const struct gt_item *i)
{
	printf("host %u/%u detail=%u state=%u %" PRIu64 "..%" PRIu64, i->process, i->ordinal,
	       i->push, i->op, i->start_ns, i->end_ns);
	for (unsigned k = 0; k < 8; k++)
		printf(" %" PRIu64, i->args[k]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const char *const ends[] = {"complete", "incomplete", "cut"};
	bool host = argc > 2 && !strcmp(argv[2], "--host"),
	     items = host || (argc > 2 && !strcmp(argv[2], "--items"));
	uint64_t n[GT_RECORD_KIND_COUNT] = {0};
	const struct gt_capture_health *h;
	const struct gt_item *item;
	struct gt_capture *c;
	struct gt_cursor *cursor;
	int status;
	size_t i;

	if (argc < 2 || gt_capture_open(argv[1], &c)) {
		gt_error_print(stderr);
		return 1;
	}
	for (i = 0; i < gt_capture_device_count(c); i++)
		printf("device %zu: %s clock %s residual %" PRIu64 " ns violations %" PRIu64 "\n",
		       i, gt_object_value(gt_capture_device(c, (uint32_t)i), "name"),
		       gt_clock_method_name(gt_device_clock_method(gt_capture_device_clock(
			       c, gt_capture_device(c, (uint32_t)i)->process,
			       gt_capture_device(c, (uint32_t)i)->number))),
		       gt_device_clock_residual_ns(
			       gt_capture_device_clock(c,
						       gt_capture_device(c, (uint32_t)i)->process,
						       gt_capture_device(c, (uint32_t)i)->number)),
		       gt_device_clock_violations(
			       gt_capture_device_clock(c,
						       gt_capture_device(c, (uint32_t)i)->process,
						       gt_capture_device(c, (uint32_t)i)->number)));
	status = gt_cursor_create(c, &cursor);
	if (!status)
		gt_cursor_take_context(cursor);
	if (!status && host)
		gt_cursor_take_host(cursor);
	while (!status && (status = gt_cursor_next(cursor, &item)) > 0) {
		status = 0;
		n[item->kind]++;
		if (item->kind == GT_RECORD_HOST)
			print_host(item);
		else if (items)
			print_item(item);
	}
	h = gt_capture_health(c);
	printf("%zu processes, %zu threads, %zu objects, %zu events, %" PRIu64 " calls, %" PRIu64
	       " device, %" PRIu64 " external, clock residual %" PRIu64 " ns\n%s, %" PRIu64
	       " bytes, bad %" PRIu64 " bytes in %" PRIu64 " blocks, %" PRIu64 " unknown blocks\n",
	       gt_capture_process_count(c), gt_capture_thread_count(c), gt_capture_object_count(c),
	       gt_capture_event_count(c), n[GT_RECORD_CALL], n[GT_RECORD_DEVICE],
	       n[GT_RECORD_EXTERNAL], gt_host_clock_residual_ns(gt_capture_host_clock(c)),
	       ends[h->end], h->bytes, h->bad_bytes, h->bad_blocks, h->unknown_blocks);
	gt_cursor_destroy(cursor);
	gt_capture_close(c);
	if (status)
		gt_error_print(stderr);
	return status != 0;
}
