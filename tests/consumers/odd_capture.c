/* SPDX-License-Identifier: MIT */
/* odd_capture OUT...: exports an in-memory capture that contains everything that readers may handle
 * incorrectly, and prints the contents as JSON, so that a test can compare them with the reader's
 * result.
 *
 * The capture contains calls of zero length; children with the times of their parents; adjacent
 * siblings; failed calls; names with quotes, backslashes, control characters, bytes that are not
 * UTF-8, or 5,000 letters; two processes on one device; an exec (two processes with one pid);
 * overlapping GPU activities on one queue, in the order of the file and in reverse; activities
 * without times, without a call, without a queue; a call with three activities; a loss event. */
#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "../unit/fake_capture.h"
#include "util/error.h"

#define MS UINT64_C(1000000)

static struct gt_capture capture;
static char long_name[5001];

static const char *const names[] = {
	NULL,
	"saxpy",
	"void \"quoted\"<'a', \"b\\\\c\">(int*)",
	"back\\slash \\n \\u0041",
	"tab\tnew\nline\r\x01\x1b[31m",
	"\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	"bad \xff\xc3( \xed\xa0\x80 end \xe2\x82",
	"comma, semicolon; </script>",
	long_name,
};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

static struct gt_item *call(uint32_t process, uint32_t ordinal, const char *name, uint64_t start,
			    uint64_t end, unsigned depth)
{
	static const uint64_t args[16] = {0x55d0c8, 0x1234, 1, 0, 64, 5, 0, 0, 0x777};
	struct gt_item *item = fake_call(&capture, ordinal, name, start, end, depth, args);

	item->process = process;
	return item;
}

/* Thread 0 of process 0: nested calls. */
static void add_nesting(uint64_t t)
{
	call(0, 0, "clBuildProgram", t, t + 1000, 0);
	/* zero length, at the parent's start */
	call(0, 0, "clGetDeviceInfo", t, t, 1);
	call(0, 0, "clGetDeviceInfo", t, t + 1000, 1); /* as long as its parent */
	call(0, 0, "clGetPlatformInfo", t, t + 500, 2);
	/* adjacent siblings, the last of which ends with the parent */
	call(0, 0, "clGetPlatformInfo", t + 500, t + 1000, 2);
	call(0, 0, "clGetPlatformInfo", t + 1000, t + 1000, 2);
	call(0, 0, "clFinish", t + 1000, t + 1000, 0); /* starts when all these calls end */
	call(0, 0, "clFinish", t + 1000, t + 1000, 0);
	call(0, 0, "clFlush", t + 1000, t + 1000, 1);
	call(0, 0, "clCreateBuffer", t + 1000, t + 1010, 0)->ret = 0xabc0;
	call(0, 0, "clFlush", t + 2000, t + 2010, 0)->ret = (uint64_t)(int64_t)-36;
}

/* Add a call that encloses more calls than a cursor holds back: the cursor returns it after
 * them. */
static void add_late_parent(uint64_t t)
{
	struct gt_item *item;
	uint64_t parent = GT_ID(0, ++capture.sequence[0]);

	call(0, 0, "clGetDeviceInfo", t + 10, t + 20, 1)->parent = parent;
	call(0, 0, "clGetDeviceInfo", t + 20, t + 990, 1)->parent = parent;
	item = call(0, 0, "clBuildProgram", t, t + 1000, 0);
	item->id = parent;
	call(0, 0, "clFinish", t + 1000, t + 1010, 0);
}

static void add_names(const struct gt_object_info *queue, uint64_t t)
{
	for (uint32_t i = 1; i < NAME_COUNT; i++, t += 1000) {
		struct gt_item *c = call(0, 0, "clEnqueueNDRangeKernel", t, t + 100, 0);
		uint64_t id = c->id;
		struct gt_item *w =
			fake_activity(&capture, queue, GT_DEVICE_KERNEL, i, t + 200, t + 800, id);

		w->call_start_ns = t;
		w->queued_ns = t + 50;
		w->submitted_ns = t + 150;
		w->global[0] = 1000 * i;
		w->global[1] = 2;
		w->local[0] = 64;
	}
}

/* Thread 1: GPU activities that overlap on their queue, in the wrong order, as a callback thread
 * may report them. */
static void add_overlap(const struct gt_object_info *queue, uint64_t t)
{
	static const uint32_t offset[][2] = {
		{0, 300},   {100, 200}, {150, 400}, {300, 300}, {300, 500},
		{800, 900}, {700, 800}, {600, 700}, {500, 600},
	};
	uint64_t first = t;

	for (size_t i = 0; i < sizeof offset / sizeof offset[0]; i++, t += 10) {
		uint64_t id = call(0, 1, "clEnqueueCopyBuffer", t, t + 5, 0)->id;
		struct gt_item *w =
			fake_activity(&capture, queue, GT_DEVICE_COPY, 0,
				      first + 1000 + offset[i][0], first + 1000 + offset[i][1], id);

		w->bytes = 4096;
		w->call_start_ns = t;
	}
}

static void add_loose_ends(const struct gt_object_info *queue, uint64_t t)
{
	uint64_t id = call(0, 1, "clEnqueueNDRangeKernel", t, t + 100, 0)->id;
	struct gt_item *w;

	for (uint32_t i = 0; i < 3; i++) { /* one call with three activities */
		w = fake_activity(&capture, queue, GT_DEVICE_KERNEL, 1, t + 200 + 100 * i,
				  t + 300 + 100 * i, id);
		w->call_start_ns = t;
		w->ordinal_in_graph = i;
		w->replay = 1;
	}
	id = call(0, 1, "clEnqueueMarkerWithWaitList", t + 1000, t + 1100, 0)->id;
	w = fake_activity(&capture, queue, GT_DEVICE_MARKER, 0, t + 1200, t + 1200, id);
	w->call_start_ns = t + 1000;
	id = call(0, 1, "clEnqueueFillBuffer", t + 2000, t + 2100, 0)->id;
	/* the runtime reported no times */
	w = fake_activity(&capture, queue, GT_DEVICE_FILL, 0, 0, 0, id);
	w->call_start_ns = t + 2000;
	w->status = -5;
	/* the call is unknown */
	w = fake_activity(&capture, queue, GT_DEVICE_WRITE, 0, t + 3000, t + 4000, 0);
	w->bytes = 1 << 20;
	/* the queue is also unknown */
	w = fake_activity(&capture, NULL, GT_DEVICE_READ, 0, t + 3000, t + 4000, 0);
	w->bytes = 1 << 20;
}

static void fill(void)
{
	const struct gt_object_info *queue, *second, *other;
	uint64_t t = 2 * MS;

	fake_capture_init(&capture);
	memset(long_name, 'n', sizeof long_name - 1);
	memcpy(capture.string, names, sizeof names);
	capture.session.rank = 3;
	queue = &capture.object[1];
	second = fake_queue(&capture, 0, 1);
	fake_thread(&capture, 0, 1, 1001, "a \"worker\"");
	fake_process(&capture, 1100, "/opt/child");
	fake_thread(&capture, 1, 2, 1100, "");
	other = fake_queue(&capture, 1, 1);
	fake_process(&capture, 1100, "/opt/exec'd");
	fake_thread(&capture, 2, 3, 1100, "exec'd");

	add_nesting(t);
	add_late_parent(t + 5000);
	add_names(queue, t + 10000);
	add_overlap(second, t + 50000);
	add_loose_ends(queue, t + 100000);
	for (int i = 0; i < 3; i++, t += 1000) {
		uint64_t id = call(1, 2, "clEnqueueReadBuffer", t, t + 100, 0)->id;
		struct gt_item *w =
			fake_activity(&capture, other, GT_DEVICE_READ, 0, t + 200, t + 600, id);

		w->bytes = 4000;
		w->call_start_ns = t;
	}
	call(2, 3, "clGetPlatformIDs", t + 5000, t + 5100, 0);
	for (uint32_t p = 0; p < capture.processes; p++)
		for (size_t i = 0; i < capture.items; i++)
			if (capture.item[i].process == p) {
				int class = capture.item[i].kind == GT_RECORD_DEVICE;

				capture.counts[p].seen[class][GT_DOMAIN_OPENCL]++;
				capture.counts[p].recorded[class][GT_DOMAIN_OPENCL]++;
			}
	capture.counts[0].seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL] += 17;
	capture.counts[0].dropped[GT_DROP_FULL][GT_CLASS_CALL][GT_DOMAIN_OPENCL] = 17;
	capture.event[capture.events++] =
		(struct gt_event_info){0, GT_EVENT_LOSS, GT_DOMAIN_OPENCL, t, 17, "a \"text\""};
}

/* Print the content of the capture as JSON for the test. An enclosing call is given as its position
 * in the list, because the items of a thread are in order. */
static void tell(void)
{
	const char *separator = "";

	printf("[");
	for (size_t i = 0; i < capture.items; i++) {
		const struct gt_item *item = &capture.item[i];
		uint64_t parent = item->parent;

		for (size_t j = i; item->depth && !parent && j-- > 0;)
			if (capture.item[j].kind == GT_RECORD_CALL &&
			    capture.item[j].ordinal == item->ordinal &&
			    capture.item[j].depth + 1 == item->depth) {
				parent = capture.item[j].id;
				break;
			}
		printf("%s\n{\"kind\":\"%s\",\"process\":%u,\"thread\":%u,\"id\":%llu,\"parent\":%"
		       "llu,\"start\":%llu,\"end\":%llu,"
		       "\"what\":\"%s\",\"name\":%u}",
		       separator, item->kind == GT_RECORD_CALL ? "call" : "work", item->process,
		       item->kind == GT_RECORD_CALL ? item->ordinal : GT_ID_ORDINAL(item->id),
		       (unsigned long long)GT_ID_SEQ(item->id),
		       (unsigned long long)GT_ID_SEQ(parent), (unsigned long long)item->start_ns,
		       (unsigned long long)item->end_ns,
		       item->kind == GT_RECORD_CALL ? gt_operation_name(item->op)
						    : gt_device_op_name(item->device_op),
		       item->name);
		separator = ",";
	}
	printf("]\n");
}

int main(int argc, char **argv)
{
	fill();
	for (int i = 1; i < argc; i++) {
		const struct gt_exporter *exporter = gt_exporter_for_path(argv[i]);

		if (!exporter ||
		    gt_export(exporter, &capture, argv[i], false,
			      &(struct gt_view_options){.command_line = "odd_capture"})) {
			gt_error_print(stderr);
			return 1;
		}
	}
	tell();
	fake_capture_fini(&capture);
	return 0;
}
