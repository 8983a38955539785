/* SPDX-License-Identifier: MIT */
/* src/export: numbers, texts, rows, output files, and the output of the formats for unusual
 * captures. */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/model/replays.h"
#include "analysis/model/track_rows.h"
#include "analysis/model/view.h"
#include "export/out.h"
#include "export/proto.h"
#include "fake_capture.h"
#include "unit.h"
#include "util/error.h"

/* Number of allocations until one fails; -1: all succeed. */
static int allocations = -1;

static bool fails(void)
{
	return allocations >= 0 && allocations-- == 0;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

/* Numbers and texts ------------------------------------------------------------ */

static void check_number(uint64_t v)
{
	static struct gt_clock_digits clock = GT_CLOCK_DIGITS;
	char want[32], have[32];

	snprintf(want, sizeof want, "%" PRIu64, v);
	*gt_put_u64(have, v) = '\0';
	CHECK_STR(have, want);
	*gt_put_wide(have, v) = '\0';
	CHECK_STR(have, want);
	*gt_put_clock_ns(&clock, have, v) = '\0';
	CHECK_STR(have, want);
	snprintf(want, sizeof want, "%" PRIx64, v);
	*gt_put_hex(have, v) = '\0';
	CHECK_STR(have, want);
	snprintf(want, sizeof want, "%" PRId64, (int64_t)v);
	*gt_put_i64(have, (int64_t)v) = '\0';
	CHECK_STR(have, want);
	snprintf(want, sizeof want, "%" PRIu64 ".%03u", v / 1000, (unsigned)(v % 1000));
	*gt_put_us(have, v) = '\0';
	CHECK_STR(have, want);
	*gt_put_clock_us(&clock, have, v) = '\0';
	CHECK_STR(have, want);
}

UNIT_TEST(numbers_read_as_printf_writes_them)
{
	uint64_t random = 1;

	for (uint64_t power = 1; power && power <= UINT64_C(10000000000000000000); power *= 10) {
		check_number(power - 1);
		check_number(power);
		check_number(power + 1);
		if (power == UINT64_C(10000000000000000000))
			break;
	}
	for (unsigned bit = 0; bit < 64; bit++) {
		check_number(UINT64_C(1) << bit);
		check_number((UINT64_C(1) << bit) - 1);
	}
	check_number(UINT64_MAX);
	for (int i = 0; i < 100000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		check_number(random >> (i % 64));
	}
}

static const char *json(const char *text, size_t bytes)
{
	static char out[256];

	*gt_put_json(out, text, bytes) = '\0';
	return out;
}

UNIT_TEST(json_text_escapes_quotes_backslashes_and_control_characters)
{
	CHECK_STR(json("a\"b\\c", 5), "a\\\"b\\\\c");
	CHECK_STR(json("\n\r\t\x01\x1f\x7f", 6), "\\n\\r\\t\\u0001\\u001f\\u007f");
	CHECK_STR(json("\0x", 2), "\\u0000x");
}

UNIT_TEST(json_text_keeps_valid_utf8_and_replaces_the_rest_byte_by_byte)
{
	CHECK_STR(json("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9),
		  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	CHECK_STR(json("\xff", 1), "\xef\xbf\xbd");
	/* overlong */
	CHECK_STR(json("\xc0\x80", 2), "\xef\xbf\xbd\xef\xbf\xbd");
	/* surrogate */
	CHECK_STR(json("\xed\xa0\x80", 3), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(json("\xf4\x90\x80\x80", 4), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	/* cut off */
	CHECK_STR(json("\xe2\x82", 2), "\xef\xbf\xbd\xef\xbf\xbd");
}

static const char *csv(const char *text)
{
	static char out[256];

	*gt_put_csv(out, text, strlen(text)) = '\0';
	return out;
}

UNIT_TEST(csv_text_is_quoted_only_when_it_must_be)
{
	CHECK_STR(csv("plain"), "plain");
	CHECK_STR(csv(""), "");
	CHECK_STR(csv("a,b"), "\"a,b\"");
	CHECK_STR(csv("say \"x\""), "\"say \"\"x\"\"\"");
	CHECK_STR(csv("two\nlines"), "\"two\nlines\"");
	CHECK_STR(csv(" blank"), "\" blank\"");
}

UNIT_TEST(protobuf_messages_have_their_length_in_two_bytes)
{
	char out[512], *mark, *p = gt_pb_open(out, 1, &mark);

	memset(p, 'x', 300);
	gt_pb_close(p + 300, mark);
	CHECK_MEM(out, "\x0a\xac\x02", 3); /* field 1, type bytes; length 300 */
	p = gt_pb_u64(out, 47, UINT64_MAX);
	CHECK_MEM(out, "\xf8\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	CHECK_EQ(p - out, 12);
}

UNIT_TEST(
	protobuf_messages_of_up_to_127_bytes_have_their_length_in_one_byte_where_that_was_hoped_for)
{
	char out[512], *mark, *p;

	for (size_t bytes = 0; bytes < 300; bytes++) {
		p = gt_pb_open_short(out, 1, &mark);
		memset(p, 'x', bytes);
		p[bytes] = '?';
		p = gt_pb_close_either(p + bytes, mark);
		CHECK_EQ(p - out, (bytes < 128 ? 2 : 3) + bytes);
		CHECK_EQ((uint8_t)out[1], bytes < 128 ? bytes : (bytes & 127) | 128);
		if (bytes) {
			CHECK_EQ(p[-1], 'x');
			CHECK_EQ(out[bytes < 128 ? 2 : 3], 'x');
		}
	}
}

UNIT_TEST(protobuf_numbers_are_the_same_whichever_way_they_are_written)
{
	char one[32], other[32];
	uint64_t random = 1;

	for (int i = 0; i < 100000; i++) {
		uint64_t v = i < 64    ? UINT64_C(1) << i
			     : i < 128 ? (UINT64_C(1) << (i - 64)) - 1
				       : random >> i % 64;
		ptrdiff_t bytes = gt_pb_varint(one, v) - one;

		CHECK_EQ(gt_pb_varint_wide(other, v) - other, bytes);
		CHECK_MEM(other, one, (size_t)bytes);
		random = random * 6364136223846793005u + 1442695040888963407u;
	}
}

/* Cached texts ------------------------------------------------------------------- */

/* Make the n-th allocation of a text's first lookup fail, for every n. Return the number of
 * failures. */
static int look_without_memory(bool word)
{
	static const uint64_t args[16] = {3};
	struct gt_capture capture;
	int failures = 0;

	fake_capture_init(&capture);
	capture.string[1] = "matmul";
	for (bool failed = true; failed; failures += failed) {
		struct gt_view_text *t;
		struct gt_view view;

		CHECK_EQ(gt_view_init(&view, &capture, NULL), 0);
		allocations = failures;
		t = word ? gt_view_word(&view, 0, 0, args) : gt_view_name(&view, 0, 1);
		allocations = -1;
		failed = !t;
		gt_error_clear();
		t = word ? gt_view_word(&view, 0, 0, args) : gt_view_name(&view, 0, 1);
		CHECK(t && t->text && t->index == 0);
		if (!word)
			CHECK_STR(t->text, "matmul");
		gt_view_fini(&view);
	}
	fake_capture_fini(&capture);
	return failures;
}

UNIT_TEST(texts_without_memory_are_not_kept_half)
{
	CHECK(look_without_memory(false) >= 3); /* allocations of the text, its position, the map */
	CHECK(look_without_memory(true) >= 3);
}

/* Rows ------------------------------------------------------------------------- */

UNIT_TEST(rows_put_work_that_does_not_overlap_in_the_first)
{
	struct gt_track_rows rows = {0};

	for (uint64_t t = 0; t < 100000; t += 10)
		CHECK_EQ(gt_track_rows_place(&rows, t, t + 10), 0);
	CHECK_EQ(rows.count, 1);
	gt_track_rows_fini(&rows);
}

UNIT_TEST(rows_put_overlapping_work_in_more)
{
	struct gt_track_rows rows = {0};

	CHECK_EQ(gt_track_rows_place(&rows, 100, 200), 0);
	CHECK_EQ(gt_track_rows_place(&rows, 150, 250), 1);
	CHECK_EQ(gt_track_rows_place(&rows, 160, 170), 2);
	CHECK_EQ(gt_track_rows_place(&rows, 200, 210), 0);
	CHECK_EQ(gt_track_rows_place(&rows, 180, 190), 2);
	gt_track_rows_fini(&rows);
}

UNIT_TEST(rows_take_empty_work_between_its_neighbours)
{
	struct gt_track_rows rows = {0};

	CHECK_EQ(gt_track_rows_place(&rows, 100, 200), 0);
	CHECK_EQ(gt_track_rows_place(&rows, 200, 200), 0);
	CHECK_EQ(gt_track_rows_place(&rows, 200, 200), 0);
	CHECK_EQ(gt_track_rows_place(&rows, 200, 300), 0);
	CHECK_EQ(gt_track_rows_place(&rows, 150, 150), 1);
	gt_track_rows_fini(&rows);
}

/* Readers keep the order of the file for equal times: a later item must not end where an earlier
 * item starts. */
UNIT_TEST(rows_keep_late_work_from_ending_where_earlier_placed_work_begins)
{
	struct gt_track_rows rows = {0};

	CHECK_EQ(gt_track_rows_place(&rows, 200, 300), 0);
	CHECK_EQ(gt_track_rows_place(&rows, 100, 200), 1);
	CHECK_EQ(gt_track_rows_place(&rows, 100, 199), 0);
	gt_track_rows_fini(&rows);
}

struct placed {
	uint64_t start, end;
	int row;
};

static int by_row_and_start(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->start < y->start   ? -1
	       : x->start > y->start ? 1
	       : x->end < y->end     ? -1
				     : x->end > y->end;
}

/* Compare all pairs of neighbouring activities after @shuffle has disturbed their order. */
static void check_rows(size_t count, unsigned shuffle, uint64_t length, size_t budget)
{
	struct placed *all = calloc(count, sizeof *all);
	struct gt_track_rows rows = {.budget = &budget};
	uint64_t random = count;

	for (size_t i = 0; i < count; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		all[i].start = 10 * (i + (shuffle ? (random >> 33) % shuffle : 0));
		all[i].end = all[i].start + (length ? (random >> 20) % length : 0);
		all[i].row = gt_track_rows_place(&rows, all[i].start, all[i].end);
	}
	qsort(all, count, sizeof *all, by_row_and_start);
	for (size_t i = 1; i < count; i++)
		if (all[i].row == all[i - 1].row)
			CHECK_LE(all[i - 1].end, all[i].start);
	gt_track_rows_fini(&rows);
	free(all);
}

UNIT_TEST(rows_never_overlap_whatever_the_order)
{
	check_rows(20000, 0, 30, GT_TRACK_ROWS_BUDGET);
	check_rows(20000, 5, 30, GT_TRACK_ROWS_BUDGET);
	check_rows(20000, 1000, 100, GT_TRACK_ROWS_BUDGET);
	check_rows(20000, 20000, 200, GT_TRACK_ROWS_BUDGET);
	check_rows(20000, 1000, 0, GT_TRACK_ROWS_BUDGET);
}

UNIT_TEST(rows_never_overlap_when_the_older_half_was_forgotten)
{
	check_rows(20000, 3, 8, 1000);
	check_rows(20000, 5000, 8, 1000);
	check_rows(20000, 20000, 200, 300);
	check_rows(20000, 100, 200, 0);
}

UNIT_TEST(rows_merge_two_threads_whose_parts_come_one_after_the_other)
{
	struct gt_track_rows rows = {0};

	/* batches of 1000: thread A at even times, then thread B in the gaps */
	for (uint64_t batch = 0; batch < 50; batch++)
		for (uint64_t thread = 0; thread < 2; thread++)
			for (uint64_t i = 0; i < 1000; i++) {
				uint64_t start = (batch * 1000 + i) * 100 + thread * 50;

				CHECK_EQ(gt_track_rows_place(&rows, start, start + 40), 0);
			}
	gt_track_rows_fini(&rows);
}

/* Files -------------------------------------------------------------------------- */

static struct gt_capture fake;

static const char *target(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", unit_folder(), name);
	return path;
}

static int export_to(const char *path, bool replace)
{
	return gt_export(gt_exporter_for_path(path), &fake, path, replace, NULL);
}

static size_t files_in_folder(void)
{
	char command[300];
	FILE *list;
	size_t count = 0;
	int c;

	snprintf(command, sizeof command, "ls -A %s", unit_folder());
	list = popen(command, "r");
	while ((c = fgetc(list)) != EOF)
		count += c == '\n';
	pclose(list);
	return count;
}

/* Launches of graphs ------------------------------------------------------------ */

static int find_queue(void *data, const struct gt_replay *replay, unsigned row)
{
	const struct gt_view_queue **queue = data;

	*queue = replay->queue;
	return (int)row;
}

UNIT_TEST(a_launch_whose_first_node_begins_at_the_end_of_time_has_a_queue)
{
	struct gt_view view = {.rows_budget = 1000};
	struct gt_view_queue queue = {.index = 3};
	const struct gt_view_queue *found = NULL;
	struct gt_item node = {.graph = 1,
			       .replay = 1,
			       .device_op = GT_DEVICE_KERNEL,
			       .start_ns = UINT64_MAX,
			       .end_ns = UINT64_MAX};
	struct gt_replays replays = {.count = 0};

	CHECK_OK(gt_replays_add(&replays, &queue, &node, 7));
	CHECK_OK(gt_replays_each(&replays, &view, 0, find_queue, &found));
	CHECK(found == &queue);
	gt_replays_fini(&replays);
}

UNIT_TEST(export_format_follows_the_longest_extension)
{
	CHECK_STR(gt_exporter_for_path("a.json")->name, "chrome");
	CHECK_STR(gt_exporter_for_path("a.json.gz")->name, "chrome-gz");
	CHECK_STR(gt_exporter_for_path("a.hta.json.gz")->name, "hta");
	CHECK_STR(gt_exporter_for_path("dir.csv/a.pftrace")->name, "perfetto");
	CHECK_STR(gt_exporter_for_path("a.csv")->name, "csv");
	CHECK(!gt_exporter_for_path("a.gz"));
	CHECK(!gt_exporter_for_path("csv"));
	CHECK(!gt_exporter_for_path("dir/.csv"));
	CHECK(!gt_exporter_for_path(""));
	CHECK(gt_exporter_find("perfetto") == gt_exporter_for_path("x.pftrace"));
	CHECK(!gt_exporter_find("perfett"));
}

UNIT_TEST(export_does_not_overwrite_unless_it_is_told_to)
{
	fake_capture_init(&fake);
	CHECK_EQ(export_to(target("a.csv"), false), 0);
	CHECK_EQ(export_to(target("a.csv"), false), -EEXIST);
	gt_error_clear();
	CHECK_EQ(export_to(target("a.csv"), true), 0);
	CHECK_EQ(files_in_folder(), 1);
	fake_capture_fini(&fake);
}

UNIT_TEST(export_never_replaces_what_is_no_regular_file)
{
	fake_capture_init(&fake);
	CHECK_EQ(mkfifo(target("pipe.csv"), 0600), 0);
	CHECK_EQ(export_to(target("pipe.csv"), true), -EINVAL);
	gt_error_clear();
	CHECK_EQ(mkdir(target("folder.csv"), 0700), 0);
	CHECK_EQ(export_to(target("folder.csv"), true), -EISDIR);
	gt_error_clear();
	CHECK_EQ(files_in_folder(), 2);
	fake_capture_fini(&fake);
}

UNIT_TEST(export_that_fails_leaves_no_file)
{
	fake_capture_init(&fake);
	CHECK_EQ(export_to(target("none/a.csv"), false), -ENOENT);
	CHECK(strstr(gt_error_text(), "none/"));
	gt_error_clear();
	CHECK_EQ(files_in_folder(), 0);
	fake_capture_fini(&fake);
}

/* Blocks are preallocated in large pieces: the file must have the correct length and bytes, and no
 * blocks beyond its end. */
UNIT_TEST(output_keeps_no_blocks_that_it_did_not_need)
{
	enum { LINES = 3000000, LINE = 8 };
	static char line[LINE + 1], have[LINE * 4096];
	uint64_t expected = 0;
	struct gt_out out;
	struct stat st;
	FILE *file;
	size_t got;

	CHECK_EQ(gt_out_open(&out, target("file"), false), 0);
	for (unsigned i = 0; i < LINES; i++) {
		snprintf(line, sizeof line, "%07u\n", i);
		gt_out_text(&out, line);
	}
	if (!out.has_reserved)
		unit_skip("this file system takes no reservations");
	CHECK_EQ(gt_out_finish(&out, 0), 0);
	CHECK_EQ(stat(target("file"), &st), 0);
	CHECK_EQ(st.st_size, (off_t)LINES * LINE);
	/* blocks of the file system's own metadata */
	CHECK_LE(st.st_blocks * 512, st.st_size + (1 << 20));
	file = fopen(target("file"), "rbe");
	CHECK(file);
	while ((got = fread(have, LINE, sizeof have / LINE, file)) > 0)
		for (size_t i = 0; i < got; i++)
			CHECK_EQ(strtoull(have + i * LINE, NULL, 10), expected++);
	fclose(file);
	CHECK_EQ(expected, LINES);
}

UNIT_TEST(output_of_an_export_that_failed_is_only_closed)
{
	struct gt_out out;
	struct stat st;

	CHECK_EQ(gt_out_open(&out, target("file"), false), 0);
	gt_out_text(&out, "text");
	CHECK_EQ(gt_out_finish(&out, -EIO), -EIO);
	CHECK_EQ(stat(target("file"), &st), 0);
	CHECK_EQ(st.st_size, 0);
}

UNIT_TEST(output_tells_a_full_disk)
{
	struct gt_out out;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	CHECK_EQ(gt_out_open(&out, target("file"), false), 0);
	CHECK_EQ(dup2(full, out.fd), out.fd);
	close(full);
	gt_out_text(&out, "text");
	CHECK_EQ(gt_out_finish(&out, 0), -ENOSPC);
	CHECK(strstr(gt_error_text(), "No space left"));
	gt_error_clear();
}
