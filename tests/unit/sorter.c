/* SPDX-License-Identifier: MIT */
/* analysis/base/sorter.h: texts compared with qsort(), rows of one size, and failures. */
#include "analysis/base/sorter.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "unit.h"
#include "util/error.h"

struct item {
	char key[SORTER_TEXT_MOST];
	size_t bytes;
	uint64_t number;
};

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = memcmp(x->key, y->key, x->bytes < y->bytes ? x->bytes : y->bytes);

	if (order)
		return order;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sort @count texts made by @make, with at most @memory bytes of rows and as many packed bytes, and
 * compare. */
static void check(size_t count, size_t memory, void (*make)(struct item *, uint64_t))
{
	struct item *items = calloc(count + 1, sizeof *items);
	struct sorter s = {.own.folder = unit_folder(),
			   .rows_most = memory,
			   .packed_most = memory / 4};
	const void *row;

	for (size_t i = 0; i < count; i++) {
		items[i].number = i;
		make(&items[i], i * 2654435761u % 1000003);
		CHECK_OK(sorter_add_text(&s, items[i].key, items[i].bytes, i));
	}
	qsort(items, count, sizeof *items, compare_items);
	for (size_t i = 0; i < count; i++) {
		const struct sorter_text *text;

		CHECK_EQ(sorter_next(&s, &row), 1);
		text = row;
		CHECK_EQ(text->number, items[i].number);
		CHECK_EQ(text->bytes, items[i].bytes);
		CHECK_MEM(text->text, items[i].key, text->bytes);
	}
	CHECK_EQ(sorter_next(&s, &row), 0);
	CHECK_EQ(sorter_next(&s, &row), 0);
	sorter_fini(&s);
	free(items);
}

static void make_arguments(struct item *item, uint64_t k)
{
	item->bytes =
		(size_t)snprintf(item->key, sizeof item->key,
				 "queue=0x55d0c8aa1000 | kernel=0x%llx | work_dim=%llu",
				 (unsigned long long)(k % 1000), (unsigned long long)(k % 37));
}

/* Make many equal items, many items that are prefixes of one another, and the empty item. */
static void make_nested(struct item *item, uint64_t k)
{
	item->bytes = k % 40;
	memset(item->key, 'a', sizeof item->key);
	if (item->bytes && k % 3 == 0)
		item->key[item->bytes - 1] = (char)(0xc0 + k % 7);
}

/* Make texts of up to the largest length. */
static void make_long(struct item *item, uint64_t k)
{
	item->bytes = k % (sizeof item->key + 1);
	memset(item->key, 'x', sizeof item->key);
	item->key[k % 7 * sizeof item->key / 7] = (char)('a' + k % 26);
}

UNIT_TEST(sorter_sorts_nothing_and_one)
{
	check(0, 1 << 20, make_arguments);
	check(1, 1 << 20, make_arguments);
}

UNIT_TEST(sorter_sorts_in_memory_as_qsort_does)
{
	check(20000, 16 << 20, make_arguments);
	check(20000, 16 << 20, make_nested);
	check(3000, 32 << 20, make_long);
}

UNIT_TEST(sorter_merges_what_did_not_fit_as_qsort_does)
{
	check(60000, 65536, make_arguments);
	check(60000, 65536, make_nested);
	check(3000, 65536, make_long);
	check(60000, 1 << 20, make_arguments);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

UNIT_TEST(rows_that_writers_put_down_in_turns_come_in_order)
{
	for (unsigned writers = 1; writers < 9; writers++) {
		struct sorter s = {.row_bytes = sizeof(uint64_t), .compare = compare_numbers};
		uint64_t next[9], count = 0, sum = 0, last = 0;
		const void *row;

		s.rows_most = writers % 2 ? 0 : 700 * sizeof(uint64_t);
		for (unsigned i = 0; i < writers; i++)
			next[i] = i * 97;
		for (unsigned batch = 0; batch < 60; batch++) {
			for (unsigned i = 0; i < 1 + batch * 7 % 50; i++) {
				uint64_t number = next[batch % writers]++;

				sorter_add(&s, &number);
				sum += number;
				count++;
			}
		}
		while (sorter_next(&s, &row) > 0) {
			uint64_t number;

			memcpy(&number, row, sizeof number);
			CHECK(number >= last);
			last = number;
			sum -= number;
			count--;
		}
		CHECK_EQ(count, 0);
		CHECK_EQ(sum, 0);
		sorter_fini(&s);
	}
}

struct wide_row {
	uint64_t key, any[5], number;
};

static int compare_keys(const void *a, const void *b)
{
	const struct wide_row *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static struct wide_row make_row(uint64_t number)
{
	uint64_t random = number * UINT64_C(0x9e3779b97f4a7c15);
	struct wide_row row = {.key = random >> 56, .number = number};

	for (unsigned i = 0; i < 5; i++) { /* intervals of each length, with both signs */
		random = (random ^ random >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
		row.any[i] = random >> (random >> 58) % 64;
		row.any[i] = number % 7 ? row.any[i] : -row.any[i];
	}
	return row;
}

/* Rows are packed in memory or in a file. */
UNIT_TEST(packed_rows_are_what_they_were_and_equal_ones_keep_their_order)
{
	enum { ROWS = 20000 };

	for (unsigned round = 0; round < 2; round++) {
		struct sorter s = {.row_bytes = sizeof(struct wide_row),
				   .compare = compare_keys,
				   .rows_most = 700 * sizeof(struct wide_row),
				   .packed_most = round ? 100000 : 0};
		struct wide_row last = {0};
		uint64_t count = 0;
		const void *next;

		for (uint64_t i = 0; i < ROWS; i++) {
			struct wide_row row = make_row(i);

			if (i >= ROWS / 2) /* a contiguous run */
				row.key = 1000 + i / 100;
			sorter_add(&s, &row);
		}
		CHECK_EQ(s.own.bytes > 0, round);
		while (sorter_next(&s, &next) > 0) {
			struct wide_row row, expected;

			memcpy(&row, next, sizeof row);
			expected = make_row(row.number);
			CHECK(!memcmp(row.any, expected.any, sizeof row.any));
			CHECK(row.key > last.key ||
			      (row.key == last.key && (!count || row.number > last.number)));
			last = row;
			count++;
		}
		CHECK_EQ(count, ROWS);
		sorter_fini(&s);
	}
}

/* Add rows until one fails, and return the status. */
static int add_until_failure(struct sorter *s)
{
	int status = 0;

	s->rows_most = s->packed_most = 8192;
	s->row_bytes = sizeof(struct wide_row);
	s->compare = compare_keys;
	for (uint64_t i = 0; i < 10000 && !status; i++) {
		struct wide_row row = make_row(i);

		status = sorter_add(s, &row);
	}
	return status;
}

UNIT_TEST(sorter_tells_a_folder_it_cannot_write_to)
{
	struct sorter rows = {.own.folder = "/proc/self"}, texts = rows;
	const void *row;
	char text[1000];
	int status = 0;

	memset(text, 'k', sizeof text);
	texts.rows_most = texts.packed_most = 8192;
	for (uint64_t i = 0; i < 10000 && !status; i++) {
		memcpy(text, &(uint64_t[]){i * UINT64_C(0x0123456789abcdef)}, 8);
		status = sorter_add_text(&texts, text, sizeof text, i);
	}
	CHECK_LT(status, 0);
	CHECK(strstr(gt_error_text(), "/proc/self"));
	gt_error_clear();
	CHECK_EQ(sorter_next(&texts, &row), status);
	CHECK_LT(add_until_failure(&rows), 0);
	CHECK(strstr(gt_error_text(), "/proc/self"));
	sorter_fini(&rows);
	sorter_fini(&texts);
}

/* The failure is kept: analyses look at the status of sorter_next() only. */
UNIT_TEST(sorter_reports_a_full_disk_when_it_is_read)
{
	struct sorter s = {0};
	const void *row;

	CHECK_OK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){50000, 50000}));
	signal(SIGXFSZ, SIG_IGN);
	setenv("TMPDIR", unit_folder(), 1);
	CHECK_EQ(add_until_failure(&s), -EFBIG);
	CHECK(strstr(gt_error_text(), unit_folder()) && strstr(gt_error_text(), "TMPDIR"));
	CHECK_EQ(sorter_next(&s, &row), -EFBIG);
	CHECK_EQ(sorter_next(&s, &row), -EFBIG);
	sorter_fini(&s);
}

UNIT_TEST(sorters_that_share_a_file_share_its_failure)
{
	struct sorter_file file = {.folder = "/proc/self"};
	struct sorter a = {.shared = &file}, b = a;
	struct wide_row rows[2] = {{.key = 1}, {.key = 2}};
	const void *row;
	int status;

	a.row_bytes = b.row_bytes = sizeof *rows;
	a.compare = b.compare = compare_keys;
	status = sorter_add_sorted(&a, rows, 2);
	CHECK_LT(status, 0);
	CHECK_EQ(sorter_add_sorted(&b, rows, 2), status);
	CHECK_EQ(sorter_next(&b, &row), status);
	sorter_fini(&a);
	sorter_fini(&b);
	sorter_file_close(&file);
}
