/* SPDX-License-Identifier: MIT */
/* Capture files: all written records are read back, in order. capture_damage.c tests damaged
 * files. */
#include <errno.h>

#include "capture/format.h"
#include "capture/summary_block.h"
#include "records.h"

static struct records r;

/* Writing and reading ------------------------------------------------------- */

UNIT_TEST(a_capture_tells_its_session_processes_threads_and_counts)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_thread_info thread = {.ordinal = 1, .tid = 43, .start_ticks = 5, .name = "first"};
	struct gt_process_info end = {.wait_status = 256,
				      .ended = true,
				      .proper_end = true,
				      .runtimes = GT_DOMAIN_BIT(1) | GT_DOMAIN_BIT(40),
				      .end_ns = 1000005000,
				      .children_lost = 3};
	struct gt_counts counts = {.seen = {{0, 10}}, .dropped = {{{0, 9}}}};
	const struct gt_process_info *p;
	struct gt_capture *c;

	CHECK_OK(gt_capture_write_thread(w, &thread));
	thread.name = "second";
	thread.end_ticks = 99;
	CHECK_OK(gt_capture_write_thread(w, &thread));
	records_call(&r, 46, 1, 0, GT_ID(1, 1), 1000000100, 1000000200, 7);
	write_records(s, &r, &counts);
	CHECK_OK(gt_capture_write_process_end(w, &end));
	capture_finish(w, s, &counts);

	c = open_capture(path);
	CHECK_EQ(gt_capture_health(c)->end, GT_CAPTURE_COMPLETE);
	CHECK_EQ(gt_capture_health(c)->bad_bytes, 0);
	CHECK_STR(gt_capture_session(c)->hostname, "host");
	CHECK_MEM(gt_capture_session(c)->command, "prog\0arg\0", 10);
	CHECK_EQ(gt_capture_process_count(c), 1);
	p = gt_capture_process(c, 0);
	CHECK_EQ(p->pid, 42);
	CHECK_EQ(p->start_ns, 1000000000);
	CHECK_EQ(p->end_ns, 1000005000);
	CHECK_EQ(p->wait_status, 256);
	CHECK(p->ended && p->proper_end);
	CHECK_EQ(p->runtimes, GT_DOMAIN_BIT(1) | GT_DOMAIN_BIT(40));
	CHECK_EQ(p->children_lost, 3);
	CHECK_STR(p->exe, "/bin/prog");
	CHECK_MEM(p->argv, "prog\0arg\0", 10);
	CHECK_NULL(gt_capture_process(c, 1));
	CHECK_EQ(gt_capture_thread_count(c), 1);
	CHECK_STR(gt_capture_thread_find(c, 0, 1)->name, "second");
	CHECK_EQ(gt_capture_thread_find(c, 0, 1)->end_ticks, 99);
	CHECK_NULL(gt_capture_thread_find(c, 0, 2));
	CHECK_EQ(gt_capture_counts(c, 0)->seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL], 10);
	CHECK_EQ(gt_capture_counts(c, 0)->recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL], 1);
	CHECK_EQ(gt_capture_counts(c, 0)->dropped[GT_DROP_FULL][GT_CLASS_CALL][GT_DOMAIN_OPENCL],
		 9);
	gt_capture_close(c);
}

UNIT_TEST(items_have_their_arguments_payload_and_times)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	struct gt_record_device *d;
	const struct gt_item *i;
	struct gt_capture *c;
	struct gt_cursor *k;
	uint64_t *p;

	p = records_add(&r, 5 + 4 + 2, GT_RECORD_CALL, 0, GT_OP(GT_DOMAIN_OPENCL, 38, 4));
	p[1] = 1000000100;
	p[2] = 1000000250;
	p[3] = GT_ID(1, 1);
	p[4] = (uint64_t)-52;
	p[5] = 0xaaaa;
	p[8] = UINT64_MAX;
	p[9] = 3 | UINT64_C(8) << 32;
	p[10] = UINT64_C(0x1122334455667788);
	/* duration 0, no arguments */
	records_call(&r, 46, 0, 0, GT_ID(1, 2), 1000000300, 1000000300, 0);
	d = records_device(&r, GT_ID(1, 1), 1000000100, 1000000150);
	d->status = -5;
	d->bytes = 4096;
	d->global[2] = 77;
	d->local[0] = 64;
	d->replay = 9;
	d->object[1] = 0xbeef;
	d = records_device(&r, 0, 0, 1000000150);
	d->submitted = d->start = d->end = 0;
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	CHECK_EQ(counts.recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL], 2);
	CHECK_EQ(counts.recorded[GT_CLASS_DEVICE][GT_DOMAIN_OPENCL], 2);

	c = open_capture(path);
	k = cursor_of(c);
	i = next_item(k);
	CHECK_EQ(i->kind, GT_RECORD_CALL);
	CHECK_EQ(i->start_ns, 1000000100);
	CHECK_EQ(i->end_ns, 1000000250);
	CHECK_EQ((int64_t)i->ret, -52);
	CHECK_EQ(i->args[0], 0xaaaa);
	CHECK_EQ(i->args[3], UINT64_MAX);
	CHECK_EQ(i->payload_bytes, 16);
	CHECK_MEM(i->payload, p + 9, 16);
	i = next_item(k);
	CHECK_EQ(i->id, GT_ID(1, 2));
	CHECK_EQ(i->start_ns, i->end_ns);
	CHECK_NULL(i->args);
	CHECK_EQ(i->payload_bytes, 0);
	i = next_item(k);
	CHECK_EQ(i->kind, GT_RECORD_DEVICE);
	CHECK_EQ(i->device_op, GT_DEVICE_KERNEL);
	CHECK_EQ(GT_OP_DOMAIN(i->op), GT_DOMAIN_OPENCL);
	CHECK_EQ(i->call_start_ns, 1000000100);
	CHECK_EQ(i->queued_ns, 1000000150);
	CHECK_EQ(i->submitted_ns, 1000000160);
	CHECK_EQ(i->start_ns, 1000000250);
	CHECK_EQ(i->end_ns, 1000001250);
	CHECK_EQ(i->status, -5);
	CHECK_EQ(i->bytes, 4096);
	CHECK_EQ(i->global[2], 77);
	CHECK_EQ(i->local[0], 64);
	CHECK_EQ(i->replay, 9);
	CHECK_EQ(i->object[1], 0xbeef);
	i = next_item(k);
	CHECK_EQ(i->queued_ns, 1000000150);
	CHECK_EQ(i->submitted_ns, 0);
	CHECK_EQ(i->start_ns, 0);
	CHECK_EQ(i->end_ns, 0);
	CHECK_EQ(i->call_start_ns, 0);
	CHECK_NULL(next_item(k));
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

/* Random groups of nested calls: the reader must return the calls in the order of their starts,
 * with their parents. */
struct model_call {
	uint64_t id, parent;
	unsigned depth;
};

static struct model_call model[20000];
static size_t model_count;
static uint64_t model_now, model_seq;

static void model_make(uint64_t *state, unsigned depth, uint64_t parent, unsigned budget)
{
	uint64_t id = GT_ID(1, ++model_seq), start = ++model_now,
		 children = budget ? records_random(state) % 4 : 0;

	model[model_count++] = (struct model_call){id, parent, depth};
	while (children--)
		model_make(state, depth + 1, id, budget - 1);
	records_call(&r, 1 + depth, depth % 3, depth, id, start, ++model_now, id);
}

static void read_model(const char *path)
{
	struct gt_capture *c = open_capture(path);
	struct gt_cursor *k = cursor_of(c);
	size_t n;

	for (n = 0; n < model_count; n++) {
		const struct gt_item *i = next_item(k);

		CHECK_NOT_NULL(i);
		CHECK_EQ(i->id, model[n].id);
		CHECK_EQ(i->parent, model[n].parent);
		CHECK_EQ(i->depth, model[n].depth);
		if (i->depth % 3)
			CHECK_EQ(i->args[0], i->id);
	}
	CHECK_NULL(next_item(k));
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

UNIT_TEST(calls_come_in_order_of_their_begin_with_their_parents)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	uint64_t state = 11;

	model_now = 1000000000;
	while (model_count < 15000) {
		r.count = 0;
		model_make(&state, 0, 0, (unsigned)(records_random(&state) % 6));
		write_records(s, &r, &counts);
		/* blocks may also end inside a group: flush between batches of one call */
		if (records_random(&state) % 50 == 0)
			CHECK_OK(gt_capture_flush(w));
	}
	capture_finish(w, s, &counts);
	read_model(path);
}

/* More heads than one INDEX holds: the first index is written during the recording. */
UNIT_TEST(many_blocks_get_several_indexes)
{
	enum { FLUSHES = 12000 };
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	const struct gt_item *i;
	struct gt_capture *c;
	struct gt_cursor *k;

	for (uint64_t n = 1; n <= FLUSHES; n++) {
		r.count = 0;
		records_call(&r, 1, 2, 0, GT_ID(1, n), 1000000000 + n * 10, 1000000000 + n * 10 + 5,
			     n);
		write_records(s, &r, &counts);
		CHECK_OK(gt_capture_flush(w));
	}
	capture_finish(w, s, &counts);
	c = open_capture(path);
	CHECK(gt_capture_index(c)->blocks > FLUSHES);
	CHECK(gt_capture_index(c)->bytes > 1 << 20);
	CHECK_EQ(gt_capture_index(c)->wrong_files, 0);
	CHECK_EQ(gt_capture_health(c)->end, GT_CAPTURE_COMPLETE);
	k = cursor_of(c);
	for (uint64_t n = 1; n <= FLUSHES; n++) {
		i = next_item(k);
		CHECK_EQ(i->id, GT_ID(1, n));
	}
	CHECK_NULL(next_item(k));
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

/* Write a capture with one call. */
static void write_call(const char *path)
{
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};

	r.count = 0;
	records_call(&r, 1, 2, 0, GT_ID(1, 1), 1000000100, 1000000200, 7);
	write_records(s, &r, &counts);
	counts.seen[GT_CLASS_CALL][GT_DOMAIN_OPENCL] = 1;
	capture_finish(w, s, &counts);
}

UNIT_TEST(a_summary_of_several_parts_comes_back_until_a_writer_goes_on)
{
	enum { BYTES = 9 << 20 };
	const char *path = file_name("a.gputap");
	uint8_t *content = malloc(BYTES);
	struct gt_capture_writer *w;
	struct gt_capture *c;
	size_t bytes;

	CHECK_NOT_NULL(content);
	for (uint32_t i = 0; i < BYTES; i++)
		content[i] = (uint8_t)(i * 2654435761u >> 24);
	write_call(path);
	c = open_capture(path);
	CHECK_NULL(gt_capture_summary(c, 7, &bytes));
	CHECK_OK(gt_capture_store_summary(c, 7, content, BYTES));
	/* the file has changed since it was opened */
	CHECK_EQ(gt_capture_store_summary(c, 7, content, BYTES), -ESTALE);
	gt_error_clear();
	gt_capture_close(c);

	c = open_capture(path);
	CHECK_EQ(gt_capture_health(c)->end, GT_CAPTURE_COMPLETE);
	CHECK_EQ(gt_capture_health(c)->bad_blocks + gt_capture_health(c)->unknown_blocks, 0);
	CHECK_NULL(gt_capture_summary(c, 8, &bytes));
	CHECK_NOT_NULL(gt_capture_summary(c, 7, &bytes));
	CHECK_EQ(bytes, BYTES);
	CHECK_MEM(gt_capture_summary(c, 7, &bytes), content, BYTES);
	gt_capture_close(c);

	CHECK_OK(gt_capture_writer_reopen(path, NULL, UINT64_MAX, &w));
	CHECK_OK(gt_capture_writer_finish(w, true));
	c = open_capture(path);
	CHECK_EQ(gt_capture_summary_info(c).bytes, 0);
	CHECK_EQ(gt_capture_health(c)->end, GT_CAPTURE_COMPLETE);
	gt_capture_close(c);
	free(content);
}

UNIT_TEST(a_summary_that_is_empty_or_too_large_is_refused)
{
	const char *path = file_name("a.gputap");
	uint8_t *content = calloc(1, GT_FILE_SUMMARY_MAX + 1);
	struct gt_capture *c;

	CHECK_NOT_NULL(content);
	write_call(path);
	c = open_capture(path);
	CHECK_EQ(gt_capture_store_summary(c, 7, content, 0), -EFBIG);
	CHECK_EQ(gt_capture_store_summary(c, 7, content, GT_FILE_SUMMARY_MAX + 1), -EFBIG);
	gt_error_clear();
	CHECK_OK(gt_capture_store_summary(c, 7, content, GT_FILE_SUMMARY_MAX));
	gt_capture_close(c);
	free(content);
}

UNIT_TEST(a_group_of_calls_may_span_blocks)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	struct gt_capture *c;
	struct gt_cursor *k;
	uint64_t n;

	for (n = 2; n <= 5000; n++) {
		r.count = 0;
		records_call(&r, 1, 2, 1, GT_ID(1, n), 1000000000 + n * 10, 1000000000 + n * 10 + 5,
			     n);
		write_records(s, &r, &counts);
		if (n % 100 == 0)
			CHECK_OK(gt_capture_flush(w));
	}
	r.count = 0;
	records_call(&r, 2, 0, 0, GT_ID(1, 1), 1000000000, 1001000000, 0);
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	k = cursor_of(c);
	CHECK_EQ(next_item(k)->id, GT_ID(1, 1));
	for (n = 2; n <= 5000; n++) {
		const struct gt_item *i = next_item(k);

		CHECK_EQ(i->id, GT_ID(1, n));
		CHECK_EQ(i->parent, GT_ID(1, 1));
		CHECK_EQ(i->args[1], n + 1);
	}
	CHECK_NULL(next_item(k));
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

UNIT_TEST(calls_inside_one_that_never_returned_come_without_parent)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	const struct gt_item *i;
	struct gt_capture *c;
	struct gt_cursor *k;

	records_call(&r, 1, 0, 2, GT_ID(1, 3), 1000000030, 1000000031, 0);
	records_call(&r, 1, 0, 1, GT_ID(1, 2), 1000000020, 1000000040, 0);
	records_call(&r, 1, 0, 1, GT_ID(1, 4), 1000000050, 1000000060, 0);
	/* call 1 at depth 0: the process is killed inside this call */
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	k = cursor_of(c);
	i = next_item(k);
	CHECK_EQ(i->id, GT_ID(1, 2));
	CHECK_EQ(i->parent, 0);
	i = next_item(k);
	CHECK_EQ(i->id, GT_ID(1, 3));
	CHECK_EQ(i->parent, GT_ID(1, 2));
	i = next_item(k);
	CHECK_EQ(i->id, GT_ID(1, 4));
	CHECK_EQ(i->parent, 0);
	CHECK_NULL(next_item(k));
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

UNIT_TEST(calls_of_a_dropped_parent_are_not_given_to_the_next_call)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	const struct gt_item *i;
	struct gt_capture *c;
	struct gt_cursor *k;

	/* call 1 was dropped, and call 2 is its child. Call 3 has child 4, which was also dropped,
	 * and 4 has child 5, whose nearest known ancestor is 3 */
	records_call(&r, 1, 0, 1, GT_ID(1, 2), 1000000020, 1000000021, 0);
	records_call(&r, 1, 0, 2, GT_ID(1, 5), 1000000050, 1000000051, 0);
	records_call(&r, 1, 0, 0, GT_ID(1, 3), 1000000030, 1000000090, 0);
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	k = cursor_of(c);
	i = next_item(k);
	CHECK_EQ(i->id, GT_ID(1, 2));
	CHECK_EQ(i->parent, 0);
	i = next_item(k);
	CHECK_EQ(i->id, GT_ID(1, 3));
	i = next_item(k);
	CHECK_EQ(i->id, GT_ID(1, 5));
	CHECK_EQ(i->parent, GT_ID(1, 3));
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

UNIT_TEST(external_ids_are_those_at_a_calls_begin)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	uint64_t seen[5][2] = {{0}}, n;
	const struct gt_item *i;
	struct gt_capture *c;
	struct gt_cursor *k;

	records_external(&r, GT_EXTERNAL_USER, true, 1000000010, 70);
	/* call 1 begins at 20; inside it 500 is pushed at 30, call 2 begins at 40, popped at 60,
	 * call 3 begins at 70 */
	records_external(&r, GT_EXTERNAL_OPERATION, true, 1000000030, 500);
	records_call(&r, 1, 0, 1, GT_ID(1, 2), 1000000040, 1000000050, 0);
	records_external(&r, GT_EXTERNAL_OPERATION, false, 1000000060, 500);
	records_call(&r, 1, 0, 1, GT_ID(1, 3), 1000000070, 1000000080, 0);
	records_call(&r, 1, 0, 0, GT_ID(1, 1), 1000000020, 1000000090, 0);
	/* call 4 contains no calls, but a push */
	records_external(&r, GT_EXTERNAL_OPERATION, true, 1000000110, 600);
	records_call(&r, 1, 0, 0, GT_ID(1, 4), 1000000100, 1000000120, 0);
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	k = cursor_of(c);
	for (n = 0; (i = next_item(k));) {
		if (i->kind == GT_RECORD_EXTERNAL) {
			n++;
			CHECK_EQ(i->ret, n == 1 ? 70 : n < 4 ? 500 : 600);
			continue;
		}
		seen[GT_ID_SEQ(i->id)][0] = i->external[GT_EXTERNAL_OPERATION];
		seen[GT_ID_SEQ(i->id)][1] = i->external[GT_EXTERNAL_USER];
	}
	CHECK_EQ(n, 4);
	CHECK_EQ(seen[1][0], 0);
	CHECK_EQ(seen[2][0], 500);
	CHECK_EQ(seen[3][0], 0);
	CHECK_EQ(seen[4][0], 0);
	for (n = 1; n < 5; n++)
		CHECK_EQ(seen[n][1], 70);
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

UNIT_TEST(strings_and_events_keep_any_bytes_and_the_newest_counts)
{
	static const char odd[] = "q\"b\\\x01\xff\xc3";
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	uint64_t fixed[2] = {1000000500, 12};
	struct gt_capture *c;

	records_string(&r, 1, "first");
	records_string(&r, 2, odd);
	records_string(&r, 7, "");
	records_string(&r, 1, "newest");
	records_string(&r, UINT32_MAX, "last");
	records_text(&r, GT_RECORD_EVENT, GT_DOMAIN_OPENCL, GT_EVENT_LOSS, fixed, 2, "lost", 4);
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	CHECK_STR(gt_capture_string(c, 0, 1), "newest");
	CHECK_STR(gt_capture_string(c, 0, 2), odd);
	CHECK_STR(gt_capture_string(c, 0, 7), "");
	CHECK_STR(gt_capture_string(c, 0, UINT32_MAX), "last");
	CHECK_STR(gt_capture_string(c, 0, 0), "");
	CHECK_STR(gt_capture_string(c, 0, 5), "");
	CHECK_STR(gt_capture_string(c, 1, 1), "");
	CHECK_EQ(gt_capture_event_count(c), 1);
	CHECK_EQ(gt_capture_event(c, 0)->time_ns, 1000000500);
	CHECK_EQ(gt_capture_event(c, 0)->value, 12);
	CHECK_STR(gt_capture_event(c, 0)->text, "lost");
	gt_capture_close(c);
}

#define TEXT(t) t, sizeof t

UNIT_TEST(the_same_device_of_two_processes_is_one)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_process_info child = {.index = 1, .pid = 43};
	struct gt_stream *s = stream_begin(w, 0, 1), *s2;
	struct gt_counts counts = {0};
	const struct gt_object_info *o;
	struct gt_capture *c;

	CHECK_OK(gt_capture_write_process(w, &child));
	s2 = stream_begin(w, 1, 1);
	records_object(&r, GT_OBJECT_DEVICE, 1, 0, TEXT("name=A\0uuid=1234\0"));
	records_object(&r, GT_OBJECT_DEVICE, 2, 0, TEXT("name=B\0uuid=0000\0pci=0:1.0\0"));
	records_object(&r, GT_OBJECT_DEVICE, 3, 0, TEXT("name=C\0"));
	records_object(&r, GT_OBJECT_DEVICE, 4, 0, TEXT("name=C\0"));
	records_object(&r, GT_OBJECT_QUEUE, 1, 2, TEXT("properties=\0"));
	records_object(&r, GT_OBJECT_QUEUE, 2, 1, TEXT("properties=x\0"));
	records_object(&r, GT_OBJECT_QUEUE, 3, 2, TEXT(""));
	records_object(&r, GT_OBJECT_QUEUE, 4, 99, TEXT(""));
	write_records(s, &r, &counts);
	r.count = 0;
	/* C is the first device of its process */
	records_object(&r, GT_OBJECT_DEVICE, 1, 0, TEXT("name=C\0"));
	records_object(&r, GT_OBJECT_DEVICE, 2, 0, TEXT("name=other\0uuid=1234\0")); /* A */
	records_object(&r, GT_OBJECT_DEVICE, 3, 0, TEXT("pci=0:1.0\0"));             /* B */
	/* a name is not a uuid */
	records_object(&r, GT_OBJECT_DEVICE, 4, 0, TEXT("name=1234\0"));
	write_records(s2, &r, &counts);
	gt_capture_stream_destroy(s2);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	CHECK_EQ(gt_capture_device_count(c), 5);
#define INDEX(process, number) \
	gt_capture_object_find(c, process, GT_OBJECT_DEVICE, number)->device_index
	CHECK_EQ(INDEX(0, 1), 0);
	CHECK_EQ(INDEX(0, 4), 3);
	CHECK_EQ(INDEX(1, 1), INDEX(0, 3));
	CHECK_EQ(INDEX(1, 2), INDEX(0, 1));
	CHECK_EQ(INDEX(1, 3), INDEX(0, 2));
	CHECK_EQ(INDEX(1, 4), 4);
#undef INDEX
	o = gt_capture_object_find(c, 0, GT_OBJECT_QUEUE, 3);
	CHECK_EQ(o->device_index, 1);
	CHECK_EQ(o->ordinal, 2);
	CHECK_EQ(gt_capture_object_find(c, 0, GT_OBJECT_QUEUE, 1)->ordinal, 1);
	CHECK_EQ(gt_capture_object_find(c, 0, GT_OBJECT_QUEUE, 2)->ordinal, 1);
	CHECK_STR(gt_object_value(gt_capture_object_find(c, 0, GT_OBJECT_QUEUE, 2), "properties"),
		  "x");
	CHECK_NULL(gt_object_value(o, "properties"));
	CHECK_EQ(gt_capture_object_find(c, 0, GT_OBJECT_QUEUE, 4)->device_index, UINT32_MAX);
	CHECK_NULL(gt_capture_device(c, 5));
	gt_capture_close(c);
}

UNIT_TEST(a_queue_of_a_device_record_is_found)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, true);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	const struct gt_item *i;
	struct gt_capture *c;
	struct gt_cursor *k;

	/* the activity precedes its object, because another ring may be slower */
	records_device(&r, GT_ID(1, 1), 1000000000, 1000000100);
	records_device(&r, GT_ID(1, 1), 1000000000, 1000000100)->queue = 5;
	records_object(&r, GT_OBJECT_QUEUE, 1, 1, TEXT(""));
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	k = cursor_of(c);
	i = next_item(k);
	CHECK_NOT_NULL(i->queue);
	CHECK_EQ(i->queue->number, 1);
	CHECK_NULL(next_item(k)->queue);
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

/* Malformed input ----------------------------------------------------------- */

UNIT_TEST(what_is_good_before_a_malformed_record_is_kept)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	struct gt_capture *c;

	records_call(&r, 1, 2, 0, GT_ID(1, 1), 1000000000, 1000000001, 0);
	records_string(&r, 1, "good");
	records_call(&r, 1, 2, 0, GT_ID(1, 2), 1000000002, 1000000003, 0);
	/* 65535 words */
	records_call(&r, 1, 2, 0, GT_ID(1, 3), 1000000004, 1000000005, 0)[0] |= 0xffff;
	CHECK_EQ(gt_capture_write_records(s, r.words, r.count * 8, &counts), -EBADMSG);
	CHECK_EQ(counts.recorded[GT_CLASS_CALL][GT_DOMAIN_OPENCL], 2);
	gt_error_clear();
	r.count = 0;
	records_call(&r, 1, 2, 0, GT_ID(1, 4), 1000000006, 1000000007, 0);
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	CHECK_EQ(count_items(c), 3);
	CHECK_STR(gt_capture_string(c, 0, 1), "good");
	CHECK_EQ(gt_capture_health(c)->bad_bytes, 0);
	gt_capture_close(c);
}

UNIT_TEST(lengths_inside_records_are_checked_when_writing)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	uint64_t fixed[3] = {1, 2, 3};
	int kind;

	for (kind = GT_RECORD_STRING; kind <= GT_RECORD_EVENT; kind++) {
		size_t count = kind == GT_RECORD_STRING ? 0 : kind == GT_RECORD_EVENT ? 2 : 3;

		if (kind == GT_RECORD_CLOCK)
			continue;
		r.count = 0;
		records_text(&r, (uint8_t)kind, 0, 1, fixed, count, "12345678", 8);
		r.words[1 + count] = 9;
		CHECK_EQ(gt_capture_write_records(s, r.words, r.count * 8, NULL), -EBADMSG);
		r.words[1 + count] = UINT64_MAX;
		CHECK_EQ(gt_capture_write_records(s, r.words, r.count * 8, NULL), -EBADMSG);
	}
	r.count = 0;
	records_add(&r, 4, GT_RECORD_CLOCK, 0, 1);
	CHECK_EQ(gt_capture_write_records(s, r.words, r.count * 8, NULL), -EBADMSG);
	gt_error_clear();
	gt_capture_stream_destroy(s);
	CHECK_OK(gt_capture_writer_finish(w, true));
}

UNIT_TEST(kinds_of_records_that_are_not_known_are_kept_and_skipped)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	struct gt_capture *c;

	records_add(&r, 9, GT_RECORD_KIND_COUNT + 3, 1, 7);
	records_call(&r, 1, 2, 0, GT_ID(1, 1), 1000000000, 1000000001, 0);
	records_string(&r, 1, "behind");
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	CHECK_EQ(count_items(c), 1);
	CHECK_STR(gt_capture_string(c, 0, 1), "behind");
	CHECK_EQ(gt_capture_health(c)->bad_bytes, 0);
	gt_capture_close(c);
}

/* Count the states of threads that a cursor restricted to a time range returns. */
static unsigned count_states(const struct gt_capture *c, struct gt_time_range span)
{
	const struct gt_scope scope = {.spans = &span, .count = 1};
	const struct gt_item *item;
	struct gt_cursor *k;
	unsigned count = 0;

	CHECK_OK(gt_cursor_create(c, &k));
	gt_cursor_take_host(k);
	CHECK_OK(gt_cursor_take_scope(k, &scope));
	while (gt_cursor_next(k, &item) == 1)
		count += item->kind == GT_RECORD_HOST;
	gt_cursor_destroy(k);
	return count;
}

UNIT_TEST(states_of_threads_are_found_in_a_time_range_without_calls)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	struct gt_capture *c;
	uint64_t *state;

	records_call(&r, 1, 0, 0, GT_ID(1, 1), 1000000000, 1000000001, 0);
	write_records(s, &r, &counts);
	CHECK_OK(gt_capture_flush(w)); /* the state gets another block */
	r.count = 0;
	state = records_add(&r, sizeof(struct gt_record_host) / 8, GT_RECORD_HOST, GT_HOST_STATE,
			    5);
	state[1] = 1000500000;
	state[2] = 1000600000;
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	CHECK_EQ(count_states(c, (struct gt_time_range){1000550000, 1000560000}), 1);
	gt_capture_close(c);
}

UNIT_TEST(a_record_as_long_as_records_can_be_is_kept)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_stream *s = stream_begin(w, 0, 1);
	struct gt_counts counts = {0};
	const struct gt_item *i;
	struct gt_capture *c;
	struct gt_cursor *k;
	uint64_t *p, n;

	records_call(&r, 1, 1, 0, GT_ID(1, 1), 1000000000, 1000000001, 0);
	p = records_add(&r, UINT16_MAX, GT_RECORD_CALL, 0, GT_OP(GT_DOMAIN_OPENCL, 2, 3));
	for (n = 1; n < UINT16_MAX; n++)
		p[n] = n * UINT64_C(0x9e3779b97f4a7c15);
	p[1] = p[2] = 1000000002;
	p[3] = GT_ID(1, 2);
	records_call(&r, 1, 1, 0, GT_ID(1, 3), 1000000003, 1000000004, 0);
	write_records(s, &r, &counts);
	capture_finish(w, s, &counts);
	c = open_capture(path);
	k = cursor_of(c);
	CHECK_EQ(next_item(k)->id, GT_ID(1, 1));
	i = next_item(k);
	CHECK_EQ(i->payload_bytes, (UINT16_MAX - 8) * 8);
	CHECK_MEM(i->payload, p + 8, i->payload_bytes);
	CHECK_EQ(next_item(k)->id, GT_ID(1, 3));
	CHECK_NULL(next_item(k));
	gt_cursor_destroy(k);
	gt_capture_close(c);
}

UNIT_TEST(items_come_several_at_once_as_they_come_one_by_one)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_counts counts = {0};
	const struct gt_item *one, *some;
	struct gt_cursor *each, *several;
	struct gt_capture *c;
	uint64_t items = 0, most = 0;
	int count;

	for (uint32_t thread = 1; thread <= 2; thread++, r.count = 0) {
		struct gt_stream *s = stream_begin(w, 0, thread);
		uint64_t at = 1000000000;

		for (uint64_t id = 1; id <= 300; id += 3, at += 1000) {
			/* a record of 300 words has a tail */
			uint64_t *p = records_add(&r, id % 7 ? 12 : 300, GT_RECORD_CALL, 0,
						  GT_OP(GT_DOMAIN_OPENCL, 38, 4));

			memcpy(p + 1, (uint64_t[]){at, at + 10, GT_ID(thread, id), 0, id, 2, 3, at},
			       64);
			/* belongs to the next thread */
			records_call(&r, 46, 0, 1, GT_ID(thread, id + 2), at + 120, at + 130, 0);
			records_call(&r, 46, 0, 0, GT_ID(thread, id + 1), at + 100, at + 200, 0);
		}
		write_records(s, &r, &counts);
		gt_capture_stream_destroy(s);
	}
	CHECK_OK(gt_capture_writer_finish(w, true));
	c = open_capture(path);
	each = cursor_of(c);
	several = cursor_of(c);
	while ((count = gt_cursor_next_several(several, &some)) > 0) {
		most = (uint64_t)count > most ? (uint64_t)count : most;
		for (int i = 0; i < count; i++, items++) {
			one = next_item(each);
			CHECK_EQ(some[i].id, one->id);
			CHECK_EQ(some[i].ordinal, some[0].ordinal);
			CHECK_EQ(some[i].parent, one->parent);
			CHECK_EQ(some[i].start_ns, one->start_ns);
			CHECK_EQ(some[i].payload_bytes, one->payload_bytes);
			CHECK_EQ(some[i].args != NULL, one->args != NULL);
			if (one->args) {
				CHECK_EQ(GT_ID_SEQ(one->id), some[i].args[0]);
				CHECK_MEM(some[i].args, one->args, 4 * 8 + one->payload_bytes);
			}
		}
	}
	CHECK_EQ(count, 0);
	CHECK_NULL(next_item(each));
	CHECK_EQ(items, 600);
	CHECK_GT(most, 1);
	gt_cursor_destroy(each);
	gt_cursor_destroy(several);
	gt_capture_close(c);
}

UNIT_TEST(what_is_left_of_a_thread_is_skipped_but_not_the_next_one)
{
	const char *path = file_name("a.gputap");
	struct gt_capture_writer *w = capture_begin(path, false);
	struct gt_counts counts = {0};
	struct gt_capture *c;
	uint64_t whole, id;
	struct gt_cursor *k;

	for (uint32_t thread = 1; thread <= 3; thread++) {
		struct gt_stream *s = stream_begin(w, 0, thread);

		for (id = 2; id <= 500; id++) {
			r.count = 0;
			records_call(&r, 1, 2, thread == 2, GT_ID(thread, id), 1000000000 + id * 10,
				     1000000000 + id * 10 + 5, 0);
			write_records(s, &r, &counts);
			if (id % 100 == 0)
				CHECK_OK(gt_capture_flush(w));
		}
		/* this call contains the other calls of the second thread */
		r.count = 0;
		records_call(&r, 2, 0, 0, GT_ID(thread, 1), 1000000000, 1001000000, 0);
		write_records(s, &r, &counts);
		gt_capture_stream_destroy(s);
	}
	CHECK_OK(gt_capture_writer_finish(w, true));
	c = open_capture(path);
	k = cursor_of(c);
	while (next_item(k))
		;
	whole = gt_cursor_bytes_read(k);
	gt_cursor_destroy(k);
	k = cursor_of(c);
	for (uint32_t thread = 1; thread <= 3; thread++) {
		CHECK_EQ(next_item(k)->ordinal, thread);
		CHECK_EQ(next_item(k)->ordinal, thread);
		if (thread < 3)
			gt_cursor_skip_thread(k);
	}
	for (id = 3; id <= 500; id++)
		CHECK_EQ(next_item(k)->ordinal, 3);
	CHECK_NULL(next_item(k));
	CHECK(gt_cursor_bytes_read(k) < whole);
	CHECK_EQ(gt_cursor_position(k), gt_capture_health(c)->bytes);
	gt_cursor_destroy(k);
	gt_capture_close(c);
}
