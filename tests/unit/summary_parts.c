/* SPDX-License-Identifier: MIT */
/* Parts of `gputap report`: percentiles, busy time, filters, similar names. */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"
#include "analysis/base/pack.h"
#include "analysis/query/filter.h"
#include "analysis/query/range_paths.h"
#include "analysis/tables/histogram.h"
#include "analysis/tables/linked.h"
#include "analysis/tables/timeline.h"
#include "cli/ui.h"
#include "unit.h"

static uint64_t next_random(uint64_t *state)
{
	return lookup_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

UNIT_TEST(work_is_linked_whichever_of_it_and_its_call_is_read_first)
{
	struct linked l = {0};

	linked_activity(&l, 1, 7); /* three activities of one call, followed by the call */
	linked_activity(&l, 1, 7);
	linked_activity(&l, 1, 7);
	linked_activity(&l, 1, 0);
	CHECK_EQ(l.activity, 0);
	CHECK_EQ(l.lost, 3);
	linked_call(&l, 2, 7); /* call in another process */
	linked_call(&l, 1, 7 + LINKED_PAGE_IDS);
	linked_call(&l, 1, (UINT64_C(1) << 40) + 7); /* call in another thread */
	CHECK_EQ(l.activity, 0);
	linked_call(&l, 1, 7);
	CHECK_EQ(l.activity, 3);
	CHECK_EQ(l.lost, 0);
	linked_call(&l, 1, 7); /* a damaged capture may repeat a record */
	linked_activity(&l, 1, 7);
	CHECK_EQ(l.activity, 4);
	linked_fini(&l);
}

UNIT_TEST(links_of_many_calls_take_little_memory)
{
	struct linked l = {0};

	for (uint64_t id = 1; id <= 100000; id++) {
		linked_activity(&l, 0, id % 3 ? id : 0);
		if (id % 2)
			linked_call(&l, 0, id);
	}
	CHECK_EQ(l.activity, 33333);
	CHECK_EQ(l.lost, 33334);
	CHECK_EQ(l.count, 100000 / LINKED_PAGE_IDS + 1);
	linked_fini(&l);
}

UNIT_TEST(percentiles_of_few_values_are_exact)
{
	struct histogram h = {0};

	for (uint64_t i = HISTOGRAM_EXACT; i >= 1; i--)
		histogram_add(&h, i * 1000003);
	CHECK_EQ(histogram_percentile(&h, 500), UINT64_C(16000048));
	CHECK_EQ(histogram_percentile(&h, 990), UINT64_C(32000096));
	CHECK_EQ(h.min, UINT64_C(1000003));
	CHECK_EQ(h.max, UINT64_C(32000096));
	histogram_fini(&h);
}

UNIT_TEST(percentiles_of_many_values_are_within_a_sixty_fourth)
{
	enum { COUNT = 20000 };
	static uint64_t values[COUNT];
	struct histogram h = {0};
	uint64_t state = 1;

	for (unsigned i = 0; i < COUNT; i++) {
		values[i] = next_random(&state) >> (next_random(&state) % 64);
		histogram_add(&h, values[i]);
	}
	qsort(values, COUNT, sizeof *values, by_value);
	for (unsigned permille = 1; permille <= 1000; permille++) {
		uint64_t truth = values[((uint64_t)COUNT * permille + 999) / 1000 - 1],
			 got = histogram_percentile(&h, permille);
		uint64_t error = got > truth ? got - truth : truth - got;
		CHECK(error <= truth / 64);
	}
	CHECK_EQ(histogram_percentile(&h, 1000) <= values[COUNT - 1], true);
	histogram_fini(&h);
}

UNIT_TEST(percentile_of_nothing_is_zero)
{
	struct histogram h = {0};
	CHECK_EQ(histogram_percentile(&h, 500), UINT64_C(0));
}

UNIT_TEST(merged_histograms_equal_one_of_all_values)
{
	static const unsigned counts[][2] = {{0, 5},  {5, 0},  {7, 9},  {20, 30},
					     {32, 1}, {40, 3}, {3, 40}, {500, 700}};

	for (unsigned k = 0; k < sizeof counts / sizeof *counts; k++) {
		struct histogram parts[2] = {{0}, {0}}, all = {0};
		uint64_t state = k;

		for (unsigned p = 0; p < 2; p++)
			for (unsigned i = 0; i < counts[k][p]; i++) {
				uint64_t value = next_random(&state) >> (next_random(&state) % 64);

				histogram_add(&parts[p], value);
				histogram_add(&all, value);
			}
		histogram_merge(&parts[0], &parts[1]);
		CHECK_EQ(parts[0].count, all.count);
		CHECK_EQ(parts[0].total, all.total);
		CHECK_EQ(parts[0].min, all.min);
		CHECK_EQ(parts[0].max, all.max);
		for (unsigned permille = 1; permille <= 1000; permille += 37)
			CHECK_EQ(histogram_percentile(&parts[0], permille),
				 histogram_percentile(&all, permille));
		histogram_fini(&parts[0]);
		histogram_fini(&parts[1]);
		histogram_fini(&all);
	}
}

UNIT_TEST(packed_values_come_back)
{
	uint64_t wide[] = {0, 127, 128, UINT64_MAX}, got;
	uint32_t none = LOOKUP_NONE, number = 6, count = 3;
	struct pack p = {.used_most = 1000};
	const char *text = "a\xff text";
	bool yes = true;

	for (unsigned i = 0; i < 4; i++)
		pack_u64(&p, &wide[i]);
	pack_number(&p, &none, 7, true);
	pack_number(&p, &number, 7, true);
	pack_count(&p, &count, 1);
	pack_bool(&p, &yes);
	pack_text(&p, &text);
	CHECK(!p.wrong);
	p.from = p.bytes;
	p.end = p.bytes + p.used;
	for (unsigned i = 0; i < 4; i++) {
		pack_u64(&p, &got);
		CHECK_EQ(got, wide[i]);
	}
	none = number = count = 0;
	yes = false;
	pack_number(&p, &none, 7, true);
	pack_number(&p, &number, 7, true);
	pack_count(&p, &count, 1);
	pack_bool(&p, &yes);
	pack_text(&p, &text);
	CHECK_EQ(none, LOOKUP_NONE);
	CHECK_EQ(number, 6);
	CHECK_EQ(count, 3);
	CHECK(yes && !strcmp(text, "a\xff text") && !p.wrong && p.from == p.end);
	pack_u64(&p, &got);
	CHECK(p.wrong && !got);
	free(p.bytes);
}

UNIT_TEST(wrong_bytes_are_not_unpacked)
{
	static const uint8_t endless[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
	static const uint8_t values[] = {9}, text_without_end[] = {2, 'a', 'b', 'c'},
			     text_with_nul[] = {2, 'a', 0, 0};
	const struct {
		const uint8_t *bytes;
		size_t count;
	} texts[] = {{text_without_end, 4}, {text_with_nul, 4}, {endless, 11}, {values, 1}};
	struct pack p = {.from = endless, .end = endless + sizeof endless};
	uint64_t wide;
	uint32_t number;
	const char *text;

	pack_u64(&p, &wide);
	CHECK(p.wrong && !wide);
	p = (struct pack){.from = values, .end = values + 1};
	pack_number(&p, &number, 9, false);
	CHECK(p.wrong && !number);
	p = (struct pack){.from = values, .end = values + 1};
	pack_count(&p, &number, 1);
	CHECK(p.wrong && !number);
	for (unsigned i = 0; i < 4; i++) {
		p = (struct pack){.from = texts[i].bytes, .end = texts[i].bytes + texts[i].count};
		pack_text(&p, &text);
		CHECK(p.wrong && !*text);
	}
}

UNIT_TEST(a_pack_has_a_largest_size)
{
	const char *text = "ten bytes.";
	struct pack p = {.used_most = 20};

	pack_text(&p, &text);
	CHECK(!p.wrong);
	pack_text(&p, &text);
	CHECK(p.wrong);
	CHECK(p.used <= 20);
	free(p.bytes);
}

static void add(struct timeline *t, uint64_t start, uint64_t end, uint64_t queued, uint32_t name)
{
	timeline_add(t, &(struct timeline_span){start, end, queued, name, name});
}

UNIT_TEST(busy_time_is_the_union_of_intervals_in_any_order)
{
	struct timeline t = {0};

	add(&t, 100, 200, 90, 1);
	add(&t, 50, 60, 10, 2);
	add(&t, 150, 250, 90, 3);
	add(&t, 250, 260, 90, 4);  /* adjacent: no gap */
	add(&t, 300, 300, 295, 5); /* length zero */
	CHECK_EQ(timeline_finish(&t), 0);
	CHECK_EQ(t.busy_ns, UINT64_C(170));
	CHECK_EQ(t.first_ns, UINT64_C(50));
	CHECK_EQ(t.last_ns, UINT64_C(300));
	CHECK_EQ(t.gaps.count, UINT64_C(2));
	CHECK_EQ(t.gaps.total, UINT64_C(80));
	CHECK_EQ(t.largest_count, 2u);
	CHECK_EQ(t.largest[0].end - t.largest[0].start + 0, UINT64_C(40));
	CHECK_EQ(t.starved_ns, UINT64_C(30) + 35);
	timeline_fini(&t);
}

UNIT_TEST(gaps_name_the_work_on_both_sides)
{
	struct timeline t = {0};

	add(&t, 100, 200, 0, 1);
	add(&t, 120, 190, 0, 2);
	add(&t, 1000, 1100, 0, 3);
	CHECK_EQ(timeline_finish(&t), 0);
	CHECK_EQ(t.largest[0].before, 1u);
	CHECK_EQ(t.largest[0].after, 3u);
	timeline_fini(&t);
}

/* Many timelines, each of which fits alone, share a limit and one file. */
UNIT_TEST(timelines_of_a_pool_are_bounded_together)
{
	enum { TIMELINES = 40, EACH = 9000 };
	struct timeline alone = {0}, *pooled = calloc(TIMELINES, sizeof *pooled);
	struct timeline_pool pool = {.bytes_most = 1 << 20};
	uint64_t state = 7;
	size_t most = 0;

	CHECK(pooled != NULL);
	for (unsigned k = 0; pooled && k < TIMELINES; k++)
		pooled[k].pool = &pool;
	for (unsigned i = 0; pooled && i < EACH; i++) {
		uint64_t start = (uint64_t)i * 1000 + next_random(&state) % 3000,
			 end = start + next_random(&state) % 400;

		add(&alone, start, end, start - 10, i);
		for (unsigned k = 0; k < TIMELINES; k++)
			add(&pooled[k], start, end, start - 10, i);
		most = pool.bytes > most ? pool.bytes : most;
	}
	CHECK(most > 1u << 20);
	CHECK(most < 3u << 20); /* 23 MiB without a pool */
	CHECK(pool.file.is_open);
	CHECK_EQ(timeline_finish(&alone), 0);
	for (unsigned k = 0; pooled && k < TIMELINES; k++) {
		CHECK_EQ(timeline_finish(&pooled[k]), 0);
		CHECK_EQ(pooled[k].busy_ns, alone.busy_ns);
		CHECK_EQ(pooled[k].gaps.count, alone.gaps.count);
		CHECK_EQ(pooled[k].starved_ns, alone.starved_ns);
		CHECK_EQ(pooled[k].largest[0].start, alone.largest[0].start);
		timeline_fini(&pooled[k]);
	}
	timeline_fini(&alone);
	timeline_pool_fini(&pool);
	free(pooled);
}

/* Busy time of the same intervals, with all spans in memory and with runs in a file. */
UNIT_TEST(busy_time_is_the_same_through_the_temporary_file)
{
	enum { COUNT = 60000 };
	struct timeline memory = {0}, file = {.spans_most = 500};
	uint64_t state = 7;

	for (unsigned i = 0; i < COUNT; i++) {
		/* activities of two threads, one thread after the other, as in captures */
		uint64_t start = (uint64_t)(i % (COUNT / 2)) * 1000 + next_random(&state) % 1000;
		uint64_t end = start + next_random(&state) % 400;
		add(&memory, start, end, start - 10, i);
		add(&file, start, end, start - 10, i);
	}
	CHECK_EQ(timeline_finish(&memory), 0);
	CHECK_EQ(memory.runs.own.bytes, UINT64_C(0));
	CHECK(file.runs.run_count > 3);
	CHECK_EQ(timeline_finish(&file), 0);
	CHECK_EQ(file.busy_ns, memory.busy_ns);
	CHECK_EQ(file.gaps.count, memory.gaps.count);
	CHECK_EQ(file.gaps.total, memory.gaps.total);
	CHECK_EQ(file.starved_ns, memory.starved_ns);
	CHECK_EQ(file.largest[0].start, memory.largest[0].start);
	CHECK_EQ(file.largest[TIMELINE_GAPS - 1].end, memory.largest[TIMELINE_GAPS - 1].end);
	CHECK_EQ(file.busy_ns + file.gaps.total, file.last_ns - file.first_ns);
	timeline_fini(&memory);
	timeline_fini(&file);
}

static unsigned texts(void *data, enum filter_field field, uint32_t number, const char **out)
{
	static const char *const names[] = {"clFinish", "clEnqueueReadBuffer", "conv2d<float>",
					    "opencl"};
	unsigned *asked = data;

	(void)field;
	++*asked;
	out[0] = names[number];
	return 1;
}

static bool holds(const char *expression, const struct filter_record *record)
{
	struct filter_error error;
	unsigned asked = 0;
	struct filter *f = filter_create(expression, texts, &asked, &error);
	bool result;

	if (!f)
		unit_fail(__FILE__, __LINE__, "%s: at %zu: %s", expression, error.at, error.text);
	result = filter_match(f, record);
	CHECK_EQ(filter_match(f, record), result);
	filter_destroy(f);
	return result;
}

UNIT_TEST(filter_says_which_records_count)
{
	struct filter_record r = {.text = {1, 3, LOOKUP_NONE, LOOKUP_NONE, LOOKUP_NONE, LOOKUP_NONE,
					   LOOKUP_NONE, LOOKUP_NONE},
				  .duration_ns = 15000,
				  .bytes = 4096,
				  .timed = true,
				  .sized = true,
				  .failed = true};

	CHECK(holds("failed", &r));
	CHECK(!holds("not failed", &r));
	CHECK(holds("name=clEnqueueReadBuffer", &r));
	CHECK(holds("name=clEnqueue*", &r));
	CHECK(!holds("name=clEnqueue", &r));
	CHECK(holds("name~Read|Write", &r));
	CHECK(holds("name ~ '^cl(Finish|Enqueue)'", &r));
	CHECK(holds("name~^cl(Finish|Enqueue) and failed", &r));
	CHECK(holds("name!~Finish && duration>10us && duration<0.1ms", &r));
	CHECK(holds("duration=15us", &r));
	CHECK(!holds("duration>15us", &r));
	CHECK(holds("bytes>=4K and bytes<=4KiB", &r));
	CHECK(holds("name=x or name=y or domain=opencl", &r));
	CHECK(!holds("(name=x or domain=opencl) and !failed", &r));
	CHECK(!holds("device=0", &r));
	CHECK(!holds("device!=0", &r)); /* no device */
	CHECK(holds("not device=0", &r));
	r.sized = false; /* a call */
	CHECK(!holds("bytes>=0", &r));
	CHECK(!holds("bytes!=1", &r));
}

UNIT_TEST(filter_asks_for_a_text_once)
{
	struct filter_error error;
	unsigned asked = 0;
	struct filter *f = filter_create("name~Read", texts, &asked, &error);
	struct filter_record r = {.text = {1}};

	for (unsigned i = 0; i < 1000; i++)
		CHECK(filter_match(f, &r));
	CHECK_EQ(asked, 1u);
	filter_destroy(f);
}

UNIT_TEST(filter_tells_where_an_expression_is_wrong)
{
	static const struct {
		const char *expression;
		size_t at;
		const char *says;
	} wrong[] = {
		{"", 0, "ends too early"},
		{"nam=x", 0, "did you mean 'name'"},
		{"name", 4, "'name' must be followed by"},
		{"name=", 5, "a value is missing"},
		{"name>3", 4, "'name' takes"},
		{"duration~3", 8, "'duration' takes"},
		{"duration>3parsec", 9, "expected a time"},
		{"bytes>many", 6, "expected a size"},
		{"name~*(", 5, "regular expression"},
		{"failed failed", 7, "expected 'and' or 'or'"},
		{"(failed", 7, "not closed"},
		{"failed and", 10, "ends too early"},
		{"name='x", 5, "quote"},
		{"failed)", 6, "expected 'and' or 'or'"},
		{"colour=red", 0, "unknown field 'colour'"},
	};

	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct filter_error error = {0};
		struct filter *f = filter_create(wrong[i].expression, texts, NULL, &error);
		CHECK(!f);
		CHECK(strstr(error.text, wrong[i].says));
		CHECK_EQ(error.at, wrong[i].at);
	}
}

UNIT_TEST(filter_nested_too_deeply_is_refused)
{
	char deep[2000];
	struct filter_error error;

	memset(deep, '(', sizeof deep - 1);
	deep[sizeof deep - 1] = '\0';
	CHECK(!filter_create(deep, texts, NULL, &error));
	memset(deep, '!', sizeof deep - 1);
	CHECK(!filter_create(deep, texts, NULL, &error));
	CHECK(strstr(error.text, "deep"));
}

UNIT_TEST(nearest_names_are_those_a_finger_slipped_from)
{
	static const char *const names[] = {"run",  "report",  "export", "info",
					    "list", "recover", "doctor", NULL};

	CHECK_STR(nearest_name("reprot", names), "report");
	CHECK_STR(nearest_name("rnu", names), "run");
	CHECK_STR(nearest_name("docter", names), "doctor");
	CHECK_STR(nearest_name("lists", names), "list");
	CHECK_STR(nearest_name("exp", names), "export");
	CHECK(!nearest_name("frobnicate", names));
	CHECK(!nearest_name("x", names));
}

UNIT_TEST(numbers_have_three_digits_and_a_unit)
{
	CHECK_STR(show_duration(0), "0 ns");
	CHECK_STR(show_duration(999), "999 ns");
	CHECK_STR(show_duration(1000), "1.00 us");
	CHECK_STR(show_duration(999499), "999 us");
	CHECK_STR(show_duration(999500), "1.00 ms");
	CHECK_STR(show_duration(12345678), "12.3 ms");
	CHECK_STR(show_duration(999499999), "999 ms");
	CHECK_STR(show_duration(999500000), "1.00 s");
	CHECK_STR(show_duration(UINT64_C(3600000000000)), "3600 s");
	CHECK_STR(show_bytes(1023), "1023 B");
	CHECK_STR(show_bytes(1024), "1.00 KiB");
	CHECK_STR(show_bytes(UINT64_MAX), "16.0 EiB");
	CHECK_STR(show_count(0), "0");
	CHECK_STR(show_count(1234567), "1,234,567");
	CHECK_STR(show_count(UINT64_MAX), "18,446,744,073,709,551,615");
}

/* Return the names of ranges around a call, the innermost in the lowest digit: 0x21 is name 1 in
 * name 2. */
static unsigned around(const struct range_paths *e, uint64_t thread, uint64_t id)
{
	uint32_t names[8];
	unsigned count = range_paths_names(e, range_paths_find(e, thread, id), names, 8), all = 0;

	for (unsigned i = count; i-- > 0;)
		all = all << 4 | names[i];
	return all;
}

UNIT_TEST(range_paths_ranges_are_those_of_the_thread_that_hold_the_call)
{
	struct range_paths e = {0};

	range_paths_add(&e, 7, 3, 4, 1); /* in the order of their ends: the inner range first */
	range_paths_add(&e, 7, 2, 6, 2);
	range_paths_add(&e, 9, 2, 2, 3);
	CHECK_EQ(range_paths_finish(&e), 0);
	CHECK_EQ(around(&e, 7, 1), 0u);
	CHECK_EQ(around(&e, 7, 2), 0x2u);
	CHECK_EQ(around(&e, 7, 3), 0x21u);
	CHECK_EQ(around(&e, 7, 4), 0x21u);
	CHECK_EQ(around(&e, 7, 5), 0x2u);
	CHECK_EQ(around(&e, 7, 7), 0u);
	CHECK_EQ(around(&e, 8, 2), 0u);
	CHECK_EQ(around(&e, 9, 2), 0x3u);
	CHECK_EQ(around(&e, 9, 3), 0u);
	range_paths_fini(&e);
}

UNIT_TEST(range_paths_ranges_that_cross_each_other_are_both_around)
{
	struct range_paths e = {0};

	range_paths_add(&e, 1, 1, 4, 1);
	range_paths_add(&e, 1, 3, 6, 2);
	range_paths_add(&e, 1, 5, 5, 2); /* a nested range with the same name counts once */
	range_paths_add(&e, 1, 9, 8, 3); /* from a damaged capture */
	CHECK_EQ(range_paths_finish(&e), 0);
	CHECK_EQ(around(&e, 1, 2), 0x1u);
	CHECK_EQ(around(&e, 1, 4), 0x12u);
	CHECK_EQ(around(&e, 1, 5), 0x2u);
	CHECK_EQ(around(&e, 1, 6), 0x2u);
	CHECK_EQ(around(&e, 1, 9), 0u);
	range_paths_fini(&e);
}
