/* SPDX-License-Identifier: MIT */
/* Generated taps, tested with the taps of tests/gen/tiny.api: every kind of argument, a runtime
 * that fails, and programs that pass pointers that taps must not follow. A plain buffer replaces
 * the rings. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GT_DOMAIN_TINY 11
#include "core/late.h"
#include "core/recording.h"
#include "core/tap.h"
#include "generated/hip_compiler_ops.h"
#include "generated/hip_compiler_wraps.h"
#include "tool/tool.h"
#include "tests/gen/golden/tiny_ops.h"
#include "tests/gen/golden/tiny_wraps.h"
#include "unit.h"

/* Functions of the core that taps use ------------------------------------------ */

static struct {
	struct gt_block block;
	uint64_t words[8192];
} ring;
static struct gt_slot slot;
static _Atomic uint32_t epoch = 1;
static unsigned drops;
static struct gt_segment segment;

/* the last edges */
static struct {
	unsigned starts, ends;
	uint32_t op;
	uint64_t id, start, end;
} edges;

uint64_t gt_edge_at_start(struct gt_thread *t, uint32_t op, uint64_t id, uint64_t start)
{
	(void)t;
	edges.starts++;
	edges.op = op;
	edges.id = id;
	while (gt_ticks() - start < 1000) /* as if the handling took this long */
		;
	edges.start = gt_ticks();
	return edges.start;
}

void gt_edge_at_end(struct gt_thread *t, uint64_t id, uint64_t start, uint64_t end)
{
	(void)t;
	edges.ends++;
	edges.id = id;
	edges.start = start;
	edges.end = end;
}

struct gt_recording gt_recording = {.segment = &segment};

struct gt_tap_options gt_tap_options = {.record_args = 1, .payload_cap = 64};
_Thread_local struct gt_thread gt_thread = {.epoch = GT_EPOCH_NONE};
const _Atomic uint32_t *gt_epoch = &epoch;
uint32_t gt_host_clock = GT_HOST_CLOCK_COUNTER, gt_skip_nested[GT_DOMAIN_COUNT];

struct gt_thread *gt_thread_attach_call(struct gt_thread *t, enum gt_domain domain, uintptr_t here)
{
	(void)here;
	if (t->depth & gt_skip_nested[domain])
		return NULL;
	return gt_thread_ready(t) ? t : gt_thread_attach(t);
}

struct gt_thread *gt_thread_attach_api(struct gt_thread *t, uintptr_t here)
{
	(void)here;
	if (t->api_id)
		return NULL;
	return gt_thread_ready(t) ? t : gt_thread_attach(t);
}

struct gt_thread *gt_thread_attach(struct gt_thread *t)
{
	if (t->internal || !epoch)
		return NULL;
	*t = (struct gt_thread){.cur = (uint8_t *)ring.words,
				.end = (uint32_t)(uintptr_t)(ring.words + 8192),
				.block = &ring.block,
				.slot = &slot,
				.next_id = GT_ID(7, 1),
				.epoch = 1,
				.look_at = UINT64_MAX};
	return t;
}

void gt_drop(struct gt_thread *t, enum gt_class class, enum gt_domain domain,
	     enum gt_drop_reason why)
{
	(void)t, (void)class, (void)domain, (void)why;
	drops++;
}

void *gt_ring_next(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why)
{
	(void)t, (void)bytes;
	*why = GT_DROP_FULL;
	return NULL;
}

/* In this test no tool requests calls. */
bool gt_tool_call_enter(struct gt_tool_frame *f, const struct gt_table *table, uint32_t index,
			void *args, uint32_t args_bytes)
{
	(void)f, (void)table, (void)index, (void)args, (void)args_bytes;
	return false;
}

void gt_tool_call_exit(struct gt_tool_frame *f, void *ret, uint32_t ret_bytes)
{
	(void)f, (void)ret, (void)ret_bytes;
}

void *gt_ring_reserve_slow(struct gt_thread *t, size_t bytes, enum gt_class class,
			   enum gt_domain domain)
{
	(void)bytes;
	gt_drop(t, class, domain, GT_DROP_FULL);
	return NULL;
}

uint64_t gt_ticks_boottime(void)
{
	return 1;
}

/* The taps -------------------------------------------------------------------- */

extern struct gt_tap gt_tiny_taps[GT_INSTANCES][GT_TINY_INDEX_COUNT];
extern struct gt_table gt_tiny_tables[GT_INSTANCES];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "tests/gen/golden/tiny_taps.inc"
#pragma GCC diagnostic pop
/* The smallest domain with `outermost` in its description. */
extern struct gt_tap gt_hip_compiler_taps[1][GT_HIP_COMPILER_INDEX_COUNT];
struct gt_tap gt_hip_compiler_taps[1][GT_HIP_COMPILER_INDEX_COUNT];
static struct gt_table gt_hip_compiler_tables[1];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "generated/hip_compiler_taps.inc"
#pragma GCC diagnostic pop
/* in assembler */
extern gt_tiny_tiny_values_fn gt_tiny_tap0_tiny_values;
extern gt_tiny_tiny_no_status_fn gt_tiny_tap0_tiny_no_status;
extern gt_tiny_tiny_out_fn gt_tiny_tap0_tiny_out;
extern gt_tiny_tiny_arrays_fn gt_tiny_tap0_tiny_arrays;
extern gt_tiny_tiny_list_fn gt_tiny_tap0_tiny_list;
extern gt_tiny_tiny_create_fn gt_tiny_tap0_tiny_create;
extern gt_tiny_tiny_text_fn gt_tiny_tap0_tiny_text;
extern gt_tiny_tiny_texts_fn gt_tiny_tap0_tiny_texts;
extern gt_tiny_tiny_region_fn gt_tiny_tap0_tiny_region;
extern gt_tiny_tiny_free_fn gt_tiny_tap0_tiny_free, gt_tiny_tap5_tiny_free;
extern gt_tiny_tiny_map_fn gt_tiny_tap0_tiny_map;
extern gt_tiny_tiny_mark_fn gt_tiny_tap0_tiny_mark;
extern gt_tiny_tiny_fill_fn gt_tiny_tap0_tiny_fill, gt_tiny_tap7_tiny_fill;
extern gt_tiny_tiny_ask_fn gt_tiny_tap0_tiny_ask;
extern gt_tiny_tiny_join_fn gt_tiny_tap0_tiny_join;
extern gt_tiny_tiny_exchange_fn gt_tiny_tap0_tiny_exchange;
extern gt_tiny_tiny_split_fn gt_tiny_tap0_tiny_split;
extern gt_tiny_tiny_join_all_fn gt_tiny_tap0_tiny_join_all;
extern gt_hip_compiler___hipPushCallConfiguration_fn
	gt_hip_compiler_tap0___hipPushCallConfiguration;
extern gt_hip_compiler___hipPopCallConfiguration_fn gt_hip_compiler_tap0___hipPopCallConfiguration;
extern const int32_t gt_tiny_tap_functions[GT_INSTANCES][GT_TINY_INDEX_COUNT];
extern const struct gt_operation gt_tiny_operations[GT_TINY_INDEX_COUNT];
#include "tests/gen/golden/tiny_operations.inc"
struct gt_tap gt_tiny_taps[GT_INSTANCES][GT_TINY_INDEX_COUNT];
struct gt_table gt_tiny_tables[GT_INSTANCES];

/* A runtime with settable results. */
static struct {
	tiny_int status;
	void *pointer;
	tiny_uint came;
	void (*inside)(void);
	int saw_error_pointer, saw_count_pointer;
} answer;

static tiny_int real_int(void)
{
	if (answer.inside)
		answer.inside();
	errno = EDOM;
	return answer.status;
}

static tiny_int real_values(tiny_queue queue, tiny_uint count, long number, size_t bytes,
			    unsigned mode, unsigned long access)
{
	return queue == (tiny_queue)0x10 && count == 4000000000u && number == -5 &&
			       bytes == SIZE_MAX && mode == 16 && access == 3
		       ? real_int()
		       : -99;
}

static tiny_int real_out(tiny_queue queue, tiny_queue *made, long *number)
{
	(void)queue;
	if (made)
		*made = answer.pointer;
	if (number)
		*number = -8;
	return answer.status;
}

static tiny_int real_list(tiny_uint room, tiny_queue *queues, tiny_uint *came)
{
	for (tiny_uint i = 0; queues && i < room && i < answer.came; i++)
		queues[i] = (tiny_queue)(uintptr_t)(0x100 + i);
	answer.saw_count_pointer = came != NULL;
	if (came)
		*came = answer.came;
	return answer.status;
}

static tiny_queue real_create(const unsigned long *properties, const unsigned long *words,
			      tiny_int *error)
{
	(void)properties, (void)words;
	answer.saw_error_pointer = error != NULL;
	if (error)
		*error = answer.status;
	return answer.pointer;
}

static void *real_map(tiny_queue queue, void *at, tiny_int *error)
{
	(void)queue, (void)at;
	answer.saw_error_pointer = error != NULL;
	if (error)
		*error = answer.status;
	return answer.pointer;
}

static int real_fill(void *stream, void *at, struct gt_tiny_size size, unsigned short value,
		     float factor, size_t count)
{
	(void)stream, (void)at;
	return size.width == 64 && size.height == 3 && size.depth == 1 && value == 9 &&
			       factor == 0.5f && count == 10
		       ? 0
		       : -99;
}

static struct gt_tiny_size real_ask(void *stream, const void *secret, struct gt_tiny_size *size,
				    float *factor)
{
	(void)stream, (void)secret;
	*size = (struct gt_tiny_size){1, 2, 3};
	*factor = 0.25f;
	return (struct gt_tiny_size){7, 8, 9};
}

static int real_split(void *comm, void **made)
{
	(void)comm;
	*made = answer.pointer;
	return real_int();
}

static struct gt_call wrapped;

void gt_tiny_wrap_tiny_free(const struct gt_call *call, tiny_queue queue)
{
	wrapped = *call;
	((gt_tiny_tiny_free_fn *)call->tap->real)(queue);
}

tiny_int gt_tiny_wrap_tiny_region(const struct gt_call *call, const tiny_region *region,
				  const void *other)
{
	wrapped = *call;
	return ((gt_tiny_tiny_region_fn *)call->tap->real)(region, other);
}

void *gt_tiny_wrap_tiny_map(const struct gt_call *call, tiny_queue queue, void *at, tiny_int *error)
{
	wrapped = *call;
	return ((gt_tiny_tiny_map_fn *)call->tap->real)(queue, at, error);
}

static const void *next_record;

static void begin(uint32_t services)
{
	void *reals[GT_TINY_INDEX_COUNT] = {
		[GT_TINY_INDEX_tiny_values] = real_values,
		[GT_TINY_INDEX_tiny_out] = real_out,
		[GT_TINY_INDEX_tiny_list] = real_list,
		[GT_TINY_INDEX_tiny_create] = real_create,
		[GT_TINY_INDEX_tiny_map] = real_map,
		[GT_TINY_INDEX_tiny_fill] = real_fill,
		[GT_TINY_INDEX_tiny_ask] = real_ask,
		[GT_TINY_INDEX_tiny_split] = real_split,
	};

	for (int n = 0; n < GT_INSTANCES; n++)
		for (int i = 0; i < GT_TINY_INDEX_COUNT; i++)
			gt_tiny_taps[n][i] = (struct gt_tap){reals[i] ? reals[i] : (void *)real_int,
							     services, 0};
	next_record = ring.words;
}

/* Return the next committed record, or NULL. */
static const struct gt_record_call *record(void)
{
	const struct gt_record_call *r = next_record;

	if ((const uint8_t *)r >= (const uint8_t *)ring.words + ring.block.committed)
		return NULL;
	CHECK(r->head.words >= 5);
	CHECK_EQ(r->head.kind, GT_RECORD_CALL);
	CHECK(r->end >= r->start);
	next_record = (const uint64_t *)r + r->head.words;
	return r;
}

/* Return the payload of an argument, followed by its bytes, or NULL. */
static const struct gt_payload *payload(const struct gt_record_call *r, unsigned arg)
{
	const uint64_t *p = r->args + GT_OP_NARGS(r->head.op),
		       *end = (const uint64_t *)r + r->head.words;

	while (p < end) {
		const struct gt_payload *h = (const void *)p;

		if (h->arg == arg)
			return h;
		p += 1 + (h->bytes + 7) / 8;
	}
	CHECK(p == end);
	return NULL;
}

/* Map an inaccessible page. */
static void *forbidden(void)
{
	return mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

_Atomic bool gt_late_came;

UNIT_TEST(tap_that_nobody_asks_passes_everything_through)
{
	begin(0);
	answer.status = 3;
	CHECK_EQ(gt_tiny_tap0_tiny_values((tiny_queue)0x10, 4000000000u, -5, SIZE_MAX, 16, 3), 3);
	CHECK(record() == NULL);
	CHECK_EQ(slot.domains[GT_DOMAIN_TINY].seen[GT_CLASS_CALL], 0);
}

UNIT_TEST(structs_and_floats_by_value_go_through_and_into_the_record)
{
	const struct gt_tiny_size size = {64, 3, 1};
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	CHECK_EQ(gt_tiny_tap0_tiny_fill((void *)0x10, (void *)0x20, size, 9, 0.5f, 10), 0);
	r = record();
	CHECK_NOT_NULL(r);
	CHECK_EQ(r->args[2], 64 | UINT64_C(3) << 32); /* first eight bytes of the value */
	CHECK_EQ(r->args[3], 9);
	CHECK_EQ(r->args[4], 0x3f000000); /* 0.5f */
	CHECK_NOT_NULL(payload(r, 2));
	CHECK_EQ(payload(r, 2)->bytes, sizeof size);
	CHECK_EQ(memcmp(payload(r, 2) + 1, &size, sizeof size), 0);
}

UNIT_TEST(structs_by_value_are_whole_under_the_smallest_payload_cap)
{
	gt_tap_options.payload_cap = 0;
	begin(GT_SERVICE_STREAM);
	gt_tiny_tap0_tiny_fill((void *)0x10, (void *)0x20, (struct gt_tiny_size){64, 3, 1}, 9, 0.5f,
			       10);
	gt_tap_options.payload_cap = 64;
	CHECK_EQ(payload(record(), 2)->bytes, 12);
}

UNIT_TEST(structs_are_returned_and_given_out)
{
	const struct gt_record_call *r;
	struct gt_tiny_size out, ret;
	float factor;

	begin(GT_SERVICE_STREAM);
	ret = gt_tiny_tap0_tiny_ask((void *)0x10, NULL, &out, &factor);
	CHECK(ret.width == 7 && ret.height == 8 && ret.depth == 9);
	r = record();
	CHECK_NOT_NULL(r);
	CHECK_EQ(r->ret, 7 | UINT64_C(8) << 32);
	CHECK_EQ(r->args[3], 0x3e800000);
	CHECK_NOT_NULL(payload(r, 2));
	CHECK_EQ(memcmp(payload(r, 2) + 1, &out, sizeof out), 0);
}

UNIT_TEST(tap_records_values_extended_as_their_types_say)
{
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	answer.status = -7;
	CHECK_EQ(gt_tiny_tap0_tiny_values((tiny_queue)0x10, 4000000000u, -5, SIZE_MAX, 16, 3), -7);
	r = record();
	CHECK_EQ(r->head.op, GT_OP(GT_DOMAIN_TINY, GT_TINY_tiny_values, 6));
	CHECK_EQ(r->ret, (uint64_t)-7);
	CHECK_EQ(r->args[0], 0x10);
	CHECK_EQ(r->args[1], 4000000000u);
	CHECK_EQ(r->args[2], (uint64_t)-5);
	CHECK_EQ(r->args[3], SIZE_MAX);
	CHECK_EQ(r->args[4], 16);
	CHECK_EQ(r->args[5], 3);
	CHECK_EQ(r->id, GT_ID(7, 1));
	CHECK(record() == NULL);
	CHECK_EQ(slot.domains[GT_DOMAIN_TINY].seen[GT_CLASS_CALL], 1);
	CHECK_EQ(slot.domains[GT_DOMAIN_TINY].newest,
		 GT_CALL_WORD(GT_ID(7, 1), GT_TINY_tiny_values));
	CHECK_EQ(gt_thread.depth, 0);
}

UNIT_TEST(tap_keeps_errno_of_the_runtime)
{
	begin(GT_SERVICE_STREAM);
	errno = 0;
	gt_tiny_tap0_tiny_values((tiny_queue)0x10, 4000000000u, -5, SIZE_MAX, 16, 3);
	CHECK_EQ(errno, EDOM);
}

UNIT_TEST(tap_without_recorded_arguments_still_tells_the_status)
{
	begin(GT_SERVICE_STREAM);
	gt_tap_options.record_args = 0;
	answer.status = -3;
	answer.pointer = NULL;
	CHECK(gt_tiny_tap0_tiny_create(NULL, NULL, NULL) == NULL);
	CHECK_EQ(record()->ret, (uint64_t)-3);
	answer.status = 0;
	answer.pointer = (void *)0x77;
	gt_tiny_tap0_tiny_create(NULL, NULL, NULL);
	const struct gt_record_call *r = record();
	CHECK_EQ(r->ret, 0x77);
	CHECK_EQ(r->head.words, 5);
	CHECK_EQ(GT_OP_NARGS(r->head.op), 0);
}

UNIT_TEST(out_arguments_are_what_stands_there_after_a_call_that_succeeded)
{
	tiny_queue made = (tiny_queue)1;
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	answer.pointer = (void *)0x55;
	gt_tiny_tap0_tiny_out(NULL, &made, NULL);
	r = record();
	CHECK_EQ(r->args[1], 0x55);
	CHECK_EQ(r->args[2], 0);
	answer.status = -7;
	gt_tiny_tap0_tiny_out(NULL, &made, NULL);
	CHECK_EQ(record()->args[1], 0);
}

UNIT_TEST(status_is_known_when_the_program_does_not_ask_for_it)
{
	tiny_int status = 1;

	begin(GT_SERVICE_STREAM);
	answer.status = -3;
	gt_tiny_tap0_tiny_create(NULL, NULL, NULL);
	CHECK_EQ(record()->args[2], (uint64_t)-3);
	gt_tiny_tap0_tiny_create(NULL, NULL, &status);
	CHECK_EQ(record()->args[2], (uint64_t)-3);
	CHECK_EQ(status, -3);
}

UNIT_TEST(runtime_gets_the_program_s_own_null_when_nothing_is_recorded)
{
	begin(GT_SERVICE_STREAM);
	gt_thread.internal = 1;
	gt_tiny_tap0_tiny_create(NULL, NULL, NULL);
	CHECK_EQ(answer.saw_error_pointer, 0);
	gt_tiny_tap0_tiny_map(NULL, NULL, NULL);
	CHECK_EQ(answer.saw_error_pointer, 0);
	CHECK(record() == NULL);
}

UNIT_TEST(arrays_are_recorded_with_their_lengths)
{
	tiny_queue list[] = {(tiny_queue)1, (tiny_queue)2, (tiny_queue)3};
	size_t region[] = {4, 5, 6};
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	gt_tiny_tap0_tiny_arrays(2, list, "abcde", 5, region);
	r = record();
	CHECK_EQ(payload(r, 1)->bytes, 16);
	CHECK(memcmp(payload(r, 1) + 1, list, 16) == 0);
	CHECK_EQ(payload(r, 2)->bytes, 5);
	CHECK(memcmp(payload(r, 2) + 1, "abcde\0\0\0", 8) == 0);
	CHECK_EQ(payload(r, 4)->bytes, 24);
	CHECK_EQ(payload(r, 4)->flags, 0);
	CHECK_EQ(r->head.words, 5 + 5 + 3 + 2 + 4);
}

/* Three arguments, each with each of these lengths (0: absent), under caps below, at and above the
 * size of a word. Payloads that are written together equal payloads that are written separately. */
UNIT_TEST(payloads_of_one_call_are_each_as_it_is_alone)
{
	static const uint32_t lengths[] = {0, 4, 5, 8, 9, 16, 24}, caps[] = {0, 4, 7, 8, 12, 64};
	enum { COUNT = sizeof lengths / sizeof *lengths };
	char data[24];

	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (char)(i + 1);
	for (size_t k = 0; k < sizeof caps / sizeof *caps * COUNT * COUNT * COUNT; k++) {
		uint64_t words[16];
		uint8_t *at = (uint8_t *)words;
		struct gt_blob blobs[3];

		gt_tap_options.payload_cap = caps[k / (COUNT * COUNT * COUNT)];
		for (uint32_t i = 0, rest = (uint32_t)k; i < 3; i++, rest /= COUNT)
			blobs[i] = gt_blob(i + 5, 1, data, lengths[rest % COUNT]);
		memset(words, 0xff, sizeof words);
		gt_blobs_put(words, blobs, 3);
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t whole = (uint32_t)blobs[i].bytes, cap = gt_tap_options.payload_cap,
				 n = whole < cap ? whole : cap;
			const struct gt_payload *h = (const void *)at;

			if (!whole)
				continue;
			CHECK_EQ(h->arg, i + 5);
			CHECK_EQ(h->bytes, n);
			CHECK_EQ(h->flags, n < whole ? GT_PAYLOAD_TRUNCATED : 0);
			CHECK(memcmp(h + 1, data, n) == 0);
			at += sizeof *h + (n + 7) / 8 * 8;
			for (uint32_t pad = n; pad % 8; pad++)
				CHECK_EQ(((const uint8_t *)(h + 1))[pad], 0);
		}
		CHECK_EQ(gt_blobs_bytes(blobs, 3), (size_t)(at - (uint8_t *)words));
		for (; at < (uint8_t *)(words + 16); at++)
			CHECK_EQ(*at, 0xff);
	}
	gt_tap_options.payload_cap = 64;
}

UNIT_TEST(long_payload_is_cut_at_the_cap_and_says_so)
{
	tiny_queue list[100] = {0};
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	gt_tiny_tap0_tiny_arrays(100, list, NULL, 0, NULL);
	r = record();
	CHECK_EQ(payload(r, 1)->bytes, 64);
	CHECK_EQ(payload(r, 1)->flags, GT_PAYLOAD_TRUNCATED);
	CHECK(payload(r, 2) == NULL);
	CHECK(payload(r, 4) == NULL);
}

UNIT_TEST(pointers_of_a_failed_call_are_not_followed)
{
	begin(GT_SERVICE_STREAM);
	answer.status = -1;
	gt_tiny_tap0_tiny_arrays(1000000, forbidden(), forbidden(), SIZE_MAX, forbidden());
	gt_tiny_tap0_tiny_list(1000, forbidden(), NULL);
	gt_tiny_tap0_tiny_text(forbidden(), NULL, NULL);
	gt_tiny_tap0_tiny_texts(9, forbidden(), forbidden());
	gt_tiny_tap0_tiny_create(forbidden(), forbidden(), NULL);
	gt_tiny_tap0_tiny_region(forbidden(), forbidden());
	for (int i = 0; i < 6; i++) {
		const struct gt_record_call *r = record();

		CHECK_EQ(r->head.words, 5 + GT_OP_NARGS(r->head.op));
	}
}

UNIT_TEST(null_pointers_are_recorded_as_such)
{
	begin(GT_SERVICE_STREAM);
	gt_tiny_tap0_tiny_arrays(3, NULL, NULL, 3, NULL);
	gt_tiny_tap0_tiny_list(3, NULL, NULL);
	gt_tiny_tap0_tiny_create(NULL, NULL, NULL);
	gt_tiny_tap0_tiny_text(NULL, NULL, NULL);
	gt_tiny_tap0_tiny_texts(2, NULL, NULL);
	gt_tiny_tap0_tiny_texts(2, (const char *[]){NULL, NULL}, NULL);
	gt_tiny_tap0_tiny_region(NULL, NULL);
	gt_tiny_tap0_tiny_no_status(NULL);
	for (int i = 0; i < 8; i++) {
		const struct gt_record_call *r = record();

		CHECK_EQ(r->head.words, 5 + GT_OP_NARGS(r->head.op));
	}
}

UNIT_TEST(only_the_elements_that_came_are_recorded)
{
	tiny_queue queues[4];
	tiny_uint came = 0;
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	answer.came = 2;
	gt_tiny_tap0_tiny_list(4, queues, &came);
	r = record();
	CHECK_EQ(payload(r, 1)->bytes, 16);
	CHECK_EQ(r->args[2], 2);
	answer.came = 9; /* more elements than fit */
	gt_tiny_tap0_tiny_list(4, queues, &came);
	CHECK_EQ(payload(record(), 1)->bytes, 32);
	answer.came = 1;
	/* the program does not request the count */
	gt_tiny_tap0_tiny_list(4, queues, NULL);
	r = record();
	CHECK_EQ(payload(r, 1)->bytes, 8);
	CHECK_EQ(r->args[2], 1);
	answer.came = 77;
	gt_tiny_tap0_tiny_list(0, NULL, NULL); /* invalid, and stays invalid */
	CHECK_EQ(answer.saw_count_pointer, 0);
	CHECK(payload(record(), 1) == NULL);
}

UNIT_TEST(text_is_recorded_after_failures_that_come_from_reading_it)
{
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	answer.status = -3;
	gt_tiny_tap0_tiny_text("wrong", NULL, NULL);
	r = record();
	CHECK_EQ(payload(r, 0)->bytes, 5);
	CHECK(memcmp(payload(r, 0) + 1, "wrong", 5) == 0);
	answer.status = -4;
	gt_tiny_tap0_tiny_text("wrong", NULL, NULL);
	CHECK(payload(record(), 0) == NULL);
}

static void notify(tiny_queue queue, tiny_int status, void *data)
{
	(void)queue, (void)status, (void)data;
}

UNIT_TEST(text_that_a_callback_may_have_freed_is_not_read)
{
	begin(GT_SERVICE_STREAM);
	gt_tiny_tap0_tiny_text(forbidden(), notify, NULL);
	CHECK(payload(record(), 0) == NULL);
}

UNIT_TEST(text_is_never_read_beyond_its_end)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct gt_record_call *r;

	mprotect(page + 4096, 4096, PROT_NONE);
	begin(GT_SERVICE_STREAM);
	memcpy(page + 4090, "hello", 6);
	gt_tiny_tap0_tiny_no_status(page + 4090);
	CHECK_EQ(payload(record(), 0)->bytes, 5);
	memset(page + 4096 - 66, 'x', 65);
	gt_tiny_tap0_tiny_no_status(page + 4096 - 66);
	r = record();
	CHECK_EQ(payload(r, 0)->bytes, 64);
	CHECK_EQ(payload(r, 0)->flags, GT_PAYLOAD_TRUNCATED);
	gt_tiny_tap0_tiny_no_status("");
	r = record();
	CHECK_EQ(payload(r, 0)->bytes, 0);
}

UNIT_TEST(first_of_several_texts_is_recorded)
{
	const char *texts[] = {"first", "second"};
	size_t lengths[] = {3, 0};
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	gt_tiny_tap0_tiny_texts(2, texts, NULL);
	r = record();
	CHECK_EQ(payload(r, 1)->bytes, 5);
	gt_tiny_tap0_tiny_texts(2, texts, lengths);
	r = record();
	CHECK_EQ(payload(r, 1)->bytes, 3);
	gt_tiny_tap0_tiny_texts(0, forbidden(), NULL);
	CHECK(payload(record(), 1) == NULL);
}

UNIT_TEST(lists_are_read_up_to_their_zero)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long *list = (unsigned long *)(page + 4096) - 3;
	const struct gt_record_call *r;

	mprotect(page + 4096, 4096, PROT_NONE);
	begin(GT_SERVICE_STREAM);
	answer.pointer = (void *)1;
	memcpy(list, (unsigned long[]){5, 0, 0}, 24); /* key 5 with the value 0, and the end */
	gt_tiny_tap0_tiny_create(list, list + 2, NULL);
	r = record();
	CHECK_EQ(payload(r, 0)->bytes, 24);
	CHECK_EQ(payload(r, 1)->bytes, 8);
}

UNIT_TEST(wrap_gets_the_call_and_stands_in_its_record)
{
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM | GT_SERVICE_WRAP);
	gt_tiny_tap0_tiny_free((tiny_queue)4);
	r = record();
	CHECK(wrapped.thread == &gt_thread);
	CHECK(wrapped.table == &gt_tiny_tables[0]);
	CHECK(wrapped.tap == &gt_tiny_taps[0][GT_TINY_INDEX_tiny_free]);
	CHECK_EQ(wrapped.id, r->id);
	CHECK_EQ(wrapped.start, r->start);
	CHECK_EQ(r->ret, 0);
}

UNIT_TEST(wrap_alone_gets_no_thread)
{
	begin(GT_SERVICE_WRAP);
	wrapped.thread = &gt_thread;
	gt_tiny_tap0_tiny_free((tiny_queue)4);
	CHECK(wrapped.thread == NULL);
	CHECK_EQ(wrapped.id, 0);
	CHECK(record() == NULL);
}

UNIT_TEST(tap_of_another_instance_uses_its_own_state_and_table)
{
	const struct gt_tiny_size size = {64, 3, 1};

	begin(GT_SERVICE_STREAM | GT_SERVICE_WRAP);
	gt_tiny_tap5_tiny_free((tiny_queue)4);
	CHECK_NOT_NULL(record());
	CHECK(wrapped.table == &gt_tiny_tables[5]);
	CHECK(wrapped.tap == &gt_tiny_taps[5][GT_TINY_INDEX_tiny_free]);
	/* the address of this tap's state comes in a floating-point register */
	gt_tiny_taps[0][GT_TINY_INDEX_tiny_fill].services = 0;
	CHECK_EQ(gt_tiny_tap0_tiny_fill((void *)0x10, (void *)0x20, size, 9, 0.5f, 10), 0);
	CHECK_NULL(record());
	CHECK_EQ(gt_tiny_tap7_tiny_fill((void *)0x10, (void *)0x20, size, 9, 0.5f, 10), 0);
	CHECK_NOT_NULL(record());
}

UNIT_TEST(table_of_functions_leads_to_the_taps)
{
	const struct gt_table first = {.functions = gt_tiny_tap_functions[0]},
			      sixth = {.functions = gt_tiny_tap_functions[5]};

	CHECK(gt_table_tap(&first, GT_TINY_INDEX_tiny_ask) == (void *)gt_tiny_tap0_tiny_ask);
	CHECK(gt_table_tap(&sixth, GT_TINY_INDEX_tiny_free) == (void *)gt_tiny_tap5_tiny_free);
}

UNIT_TEST(operation_without_a_wrap_says_so)
{
	CHECK(gt_tiny_operations[GT_TINY_INDEX_tiny_free].wrap);
	CHECK(!gt_tiny_operations[GT_TINY_INDEX_tiny_values].wrap);
	CHECK_EQ(gt_tiny_operations[GT_TINY_INDEX_tiny_free].table_offset, 11 * 8);
	CHECK_EQ(gt_tiny_operations[GT_TINY_INDEX_tiny_mark].table_offset, UINT32_MAX);
}

static void nested(void)
{
	void (*again)(void) = answer.inside;

	answer.inside = NULL;
	gt_tiny_tap0_tiny_mark((tiny_queue)9, NULL);
	answer.inside = again;
}

UNIT_TEST(calls_inside_a_call_have_its_depth_plus_one_and_come_first)
{
	const struct gt_record_call *inner, *outer;

	begin(GT_SERVICE_STREAM);
	answer.inside = nested;
	gt_tiny_tap0_tiny_values((tiny_queue)0x10, 4000000000u, -5, SIZE_MAX, 16, 3);
	inner = record();
	outer = record();
	CHECK_EQ(inner->head.detail, 1);
	CHECK_EQ(outer->head.detail, 0);
	CHECK(inner->id > outer->id);
	CHECK(inner->start >= outer->start && inner->end <= outer->end);
}

static void recording_ends(void)
{
	epoch = 0;
}

UNIT_TEST(call_that_returns_after_recording_ended_writes_nothing)
{
	begin(GT_SERVICE_STREAM);
	answer.inside = recording_ends;
	answer.status = 5;
	CHECK_EQ(gt_tiny_tap0_tiny_values((tiny_queue)0x10, 4000000000u, -5, SIZE_MAX, 16, 3), 5);
	CHECK(record() == NULL);
	CHECK_EQ(drops, 1);
	CHECK_EQ(gt_thread.depth, 0);
}

static void in_handler(void)
{
	gt_thread.writing = 1; /* as if the signal had arrived between reserve and commit */
}

UNIT_TEST(call_in_a_signal_handler_between_reserve_and_commit_is_counted)
{
	begin(GT_SERVICE_STREAM);
	answer.inside = in_handler;
	gt_tiny_tap0_tiny_values((tiny_queue)0x10, 4000000000u, -5, SIZE_MAX, 16, 3);
	CHECK(record() == NULL);
	CHECK_EQ(drops, 1);
	CHECK_EQ(slot.domains[GT_DOMAIN_TINY].seen[GT_CLASS_CALL], 1);
}

/* Domains with `outermost` -------------------------------------------------------- */

static struct {
	uint64_t id, start;
	unsigned depth;
} inside;

static int real_pop(struct gt_hip_dim3 *grid, struct gt_hip_dim3 *block, size_t *bytes,
		    void **stream)
{
	(void)grid, (void)block, (void)bytes, (void)stream;
	return 0;
}

static int real_push(struct gt_hip_dim3 grid, struct gt_hip_dim3 block, size_t bytes, void *stream)
{
	(void)grid, (void)block, (void)bytes, (void)stream;
	inside.id = gt_thread.api_id;
	inside.start = gt_thread.api_start;
	inside.depth = gt_thread.depth;
	/* call of the runtime itself */
	gt_hip_compiler_tap0___hipPopCallConfiguration(NULL, NULL, NULL, NULL);
	gt_tiny_tap0_tiny_free(NULL); /* call of a layer below */
	return 0;
}

static void begin_outermost(uint32_t services)
{
	begin(GT_SERVICE_STREAM);
	gt_hip_compiler_taps[0][GT_HIP_COMPILER_INDEX___hipPushCallConfiguration] =
		(struct gt_tap){real_push, services, 0};
	gt_hip_compiler_taps[0][GT_HIP_COMPILER_INDEX___hipPopCallConfiguration] =
		(struct gt_tap){real_pop, GT_SERVICE_STREAM, 0};
}

UNIT_TEST(call_inside_a_call_of_its_api_is_the_runtime_s_own_and_others_are_recorded)
{
	const struct gt_hip_dim3 one = {1, 1, 1};
	const struct gt_record_call *inner, *outer;

	begin_outermost(GT_SERVICE_STREAM);
	CHECK_EQ(gt_hip_compiler_tap0___hipPushCallConfiguration(one, one, 0, NULL), 0);
	inner = record();
	outer = record();
	CHECK_NOT_NULL(inner);
	CHECK_NOT_NULL(outer);
	CHECK(record() == NULL);
	CHECK_EQ(GT_OP_DOMAIN(inner->head.op), GT_DOMAIN_TINY);
	CHECK_EQ(inner->head.detail, 1);
	CHECK_EQ(GT_OP_DOMAIN(outer->head.op), GT_DOMAIN_HIP_COMPILER);
	CHECK_EQ(outer->head.detail, 0);
	CHECK_EQ(slot.domains[GT_DOMAIN_HIP_COMPILER].seen[GT_CLASS_CALL], 1);
}

UNIT_TEST(open_call_of_an_api_is_known_in_its_thread_while_it_is_open)
{
	const struct gt_hip_dim3 one = {1, 1, 1};
	const struct gt_record_call *outer;

	begin_outermost(GT_SERVICE_STREAM);
	gt_hip_compiler_tap0___hipPushCallConfiguration(one, one, 0, NULL);
	record();
	outer = record();
	CHECK_EQ(inside.id, outer->id);
	CHECK_EQ(inside.start, outer->start);
	CHECK_EQ(inside.depth, 1);
	CHECK_EQ(gt_thread.api_id, 0);
	CHECK_EQ(gt_thread.depth, 0);
}

UNIT_TEST(call_of_an_api_that_nobody_asked_for_is_not_the_open_one)
{
	const struct gt_hip_dim3 one = {1, 1, 1};

	begin_outermost(0);
	inside.id = 1;
	gt_hip_compiler_tap0___hipPushCallConfiguration(one, one, 0, NULL);
	CHECK_EQ(inside.id, 0);
	CHECK_EQ(inside.depth, 0);
}

/* Open calls -------------------------------------------------------------------- */

static struct gt_slot_wait seen_wait;
static uint64_t seen_newest, seen_started;

/* Runs inside the real call, as another process would read the slot while the call is open. */
static void look(void)
{
	memcpy(&seen_wait, (void *)&slot.wait, sizeof seen_wait);
	seen_newest = slot.domains[GT_DOMAIN_TINY].newest;
	seen_started = slot.domains[GT_DOMAIN_TINY].started;
}

UNIT_TEST(start_of_an_open_call_is_in_the_slot)
{
	const uint64_t before = gt_ticks();

	begin(GT_SERVICE_STREAM);
	answer.inside = look;
	gt_tiny_tap0_tiny_values((tiny_queue)0x10, 4000000000u, -5, SIZE_MAX, 16, 3);
	CHECK_EQ(seen_newest, GT_CALL_WORD(GT_ID(7, 1), GT_TINY_tiny_values));
	CHECK(seen_started >= before && seen_started <= gt_ticks());
	CHECK_EQ(seen_started, record()->start);
	CHECK_EQ(seen_wait.id, 0);
}

UNIT_TEST(collective_calls_are_counted_per_communicator)
{
	void *const comm = (void *)0x7f0000001000, *const other = (void *)0x7f0000002000;

	begin(GT_SERVICE_STREAM);
	answer.inside = look;
	gt_tiny_tap0_tiny_join(2, 4096, comm);
	CHECK_EQ(seen_wait.id, GT_ID(7, 1));
	CHECK_EQ(seen_wait.communicator, (uintptr_t)comm);
	CHECK_EQ(seen_wait.sequence, 1);
	CHECK_EQ(seen_wait.peer, 3);
	CHECK_EQ(seen_wait.bytes, 4096);
	gt_tiny_tap0_tiny_join(-1, 8, other);
	CHECK_EQ(seen_wait.sequence, 1);
	CHECK_EQ(seen_wait.peer, 0);
	gt_tiny_tap0_tiny_join(0, 8, comm);
	CHECK_EQ(seen_wait.sequence, 2);
	CHECK_EQ(seen_wait.peer, 1);
}

UNIT_TEST(messages_have_a_peer_and_are_not_counted)
{
	void *const comm = (void *)0x7f0000001000;

	begin(GT_SERVICE_STREAM);
	answer.inside = look;
	gt_tiny_tap0_tiny_exchange(4, 5, comm);
	CHECK_EQ(seen_wait.id, GT_ID(7, 1));
	CHECK_EQ(seen_wait.sequence, 0);
	CHECK_EQ(seen_wait.peer, 6); /* the source, which the call waits for */
	gt_tiny_tap0_tiny_join(0, 8, comm);
	CHECK_EQ(seen_wait.sequence, 1);
}

UNIT_TEST(new_communicator_with_an_old_handle_counts_from_one)
{
	void *const comm = (void *)0x7f0000001000, *const first = (void *)0x44000000;
	void *made;

	begin(GT_SERVICE_STREAM);
	answer.inside = look;
	gt_tiny_tap0_tiny_join(0, 8, comm);
	answer.pointer = comm;
	gt_tiny_tap0_tiny_split(first, &made);
	CHECK_EQ(seen_wait.communicator, (uintptr_t)first);
	CHECK_EQ(seen_wait.sequence, 1);
	gt_tiny_tap0_tiny_join(0, 8, comm);
	CHECK_EQ(seen_wait.sequence, 1);
	answer.status = -3; /* nothing was created */
	gt_tiny_tap0_tiny_split(first, &made);
	gt_tiny_tap0_tiny_join(0, 8, comm);
	CHECK_EQ(seen_wait.sequence, 2);
}

UNIT_TEST(call_that_closes_a_batch_waits_for_the_last_call_in_it)
{
	void *const comm = (void *)0x7f0000001000;

	begin(GT_SERVICE_STREAM);
	gt_tiny_tap0_tiny_join(2, 4096, comm);
	answer.inside = look;
	gt_tiny_tap0_tiny_join_all();
	CHECK_EQ(seen_wait.id, GT_ID(7, 2));
	CHECK_EQ(seen_wait.communicator, (uintptr_t)comm);
	CHECK_EQ(seen_wait.sequence, 1);
}

UNIT_TEST(sequence_is_not_known_for_more_communicators_than_there_is_room_for)
{
	begin(GT_SERVICE_STREAM);
	for (uintptr_t i = 0; i < GT_COMMUNICATORS; i++)
		gt_tiny_tap0_tiny_join(0, 8, (void *)(0x1000 + 64 * i));
	answer.inside = look;
	gt_tiny_tap0_tiny_join(0, 8, (void *)0x10);
	CHECK_EQ(seen_wait.sequence, 0);
	CHECK_EQ(seen_wait.communicator, 0x10);
	gt_tiny_tap0_tiny_join(0, 8, (void *)0x1000);
	CHECK_EQ(seen_wait.sequence, 2);
}

UNIT_TEST(call_that_is_not_recorded_leaves_the_slot_alone)
{
	begin(0);
	answer.inside = look;
	gt_tiny_tap0_tiny_join(0, 8, (void *)0x10);
	CHECK_EQ(seen_wait.id, 0);
	CHECK_EQ(seen_started, 0);
}

/* Edges of gaps ----------------------------------------------------------------- */

static void call_values(void)
{
	gt_tiny_tap0_tiny_values((tiny_queue)0x10, 4000000000u, -5, SIZE_MAX, 16, 3);
}

UNIT_TEST(only_a_call_after_a_certain_time_looks_for_a_gap_at_its_start)
{
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	call_values();
	CHECK_EQ(edges.starts, 0);
	CHECK_EQ(gt_thread.last_end, record()->end);
	gt_thread.look_at = gt_ticks() - 1;
	call_values();
	CHECK_EQ(edges.starts, 1);
	CHECK_EQ(edges.op, GT_OP(GT_DOMAIN_TINY, GT_TINY_tiny_values, 0));
	CHECK_EQ(edges.id, GT_ID(7, 2));
	r = record();
	CHECK_EQ(r->start, edges.start); /* the call does not include the handling of the edge */
	CHECK_EQ(slot.domains[GT_DOMAIN_TINY].started, r->start);
	CHECK_EQ(gt_thread.last_end, r->end);
}

static void wait_for_the_time(void)
{
	gt_thread.look_at = gt_ticks() + 1000;
	while (gt_ticks() <= gt_thread.look_at)
		;
}

UNIT_TEST(call_that_ends_after_a_certain_time_looks_whether_it_was_long)
{
	const struct gt_record_call *r;

	begin(GT_SERVICE_STREAM);
	answer.inside = wait_for_the_time;
	call_values();
	CHECK_EQ(edges.ends, 1);
	r = record();
	CHECK_EQ(edges.id, r->id);
	CHECK_EQ(edges.start, r->start);
	CHECK_EQ(edges.end, r->end);
	answer.inside = NULL;
	gt_thread.look_at = UINT64_MAX;
	call_values();
	CHECK_EQ(edges.starts, 0);
	CHECK_EQ(edges.ends, 1);
}

UNIT_TEST(call_whose_activities_alone_are_recorded_looks_for_a_gap_too)
{
	begin(GT_SERVICE_WRAP | GT_SERVICE_ACTIVITY);
	gt_tiny_tap0_tiny_free((tiny_queue)0x10);
	CHECK_EQ(edges.starts, 0);
	gt_thread.look_at = gt_ticks() - 1;
	gt_tiny_tap0_tiny_free((tiny_queue)0x10);
	CHECK_EQ(edges.starts, 1);
	CHECK_EQ(edges.id, 0);
	CHECK_EQ(gt_thread.last_end, edges.start);
	CHECK_EQ(wrapped.start, edges.start);
	CHECK(record() == NULL);
}
