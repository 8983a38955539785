/* SPDX-License-Identifier: MIT */
/* export/bulk.h: SQLite accepts the written database, and reads the values that were written. */
#include "export/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"
#include "util/error.h"

static const char schema[] =
	"CREATE TABLE t (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, n integer, s text);"
	"CREATE INDEX by_n ON t (n); CREATE INDEX by_s ON t (s); CREATE TABLE empty (x);";

static const char *file_path(void)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/test.db", unit_folder());
	return path;
}

/* Return the first column of the first row of @query, as text. */
static const char *ask(const char *query)
{
	static char answers[4][4096];
	static unsigned next;
	char *answer = answers[next++ % 4];
	sqlite3_stmt *statement;
	sqlite3 *sql;

	CHECK_EQ(sqlite3_open_v2(file_path(), &sql, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(sql, query, -1, &statement, NULL) != SQLITE_OK)
		unit_fail(__FILE__, __LINE__, "%s: %s", query, sqlite3_errmsg(sql));
	answer[0] = '\0';
	if (sqlite3_step(statement) == SQLITE_ROW)
		snprintf(answer, sizeof answers[0], "%s",
			 (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	sqlite3_close(sql);
	return answer;
}

/* Make text number k. All texts start alike, have up to @longest bytes, and sort like k. */
static size_t make_text(char *text, int64_t k, size_t longest)
{
	int n = snprintf(text, 32, "%012" PRId64, k);

	memset(text + n, 'x', longest);
	return (size_t)n + (size_t)(k * 7919) % (longest - 12 + 1);
}

/* Write @rows rows and both indexes. The numbers and the texts are ascending, as both indexes
 * require. Ids omit every third number. */
static void fill(int64_t rows, unsigned page_bytes, size_t longest)
{
	struct gt_bulk *db;
	struct gt_bulk_tree *t, *by_n, *by_s;
	struct gt_bulk_row row;
	char *text = malloc(longest + 32);

	CHECK_OK(gt_bulk_create(file_path(), schema, page_bytes, &db));
	CHECK_NOT_NULL(t = gt_bulk_tree(db, "t"));
	CHECK_NOT_NULL(by_n = gt_bulk_tree(db, "by_n"));
	CHECK_NOT_NULL(by_s = gt_bulk_tree(db, "by_s"));
	for (int64_t k = 0; k < rows; k++) {
		int64_t id = k * 3 / 2 + 1, n = k * 1000 - 5000;
		size_t bytes = make_text(text, k, longest);

		gt_bulk_begin(&row);
		gt_bulk_null(&row);
		gt_bulk_int(&row, n);
		gt_bulk_text(&row, text, bytes);
		gt_bulk_add(t, id, &row);
		gt_bulk_begin(&row);
		gt_bulk_int(&row, n);
		gt_bulk_int(&row, id);
		gt_bulk_add(by_n, 0, &row);
		gt_bulk_begin(&row);
		gt_bulk_text(&row, text, bytes);
		gt_bulk_int(&row, id);
		gt_bulk_add(by_s, 0, &row);
	}
	CHECK_EQ(gt_bulk_count(t), (uint64_t)rows);
	CHECK_OK(gt_bulk_finish(db, "INSERT INTO empty VALUES (7);"));
	free(text);
}

static void check(int64_t rows, unsigned page_bytes, size_t longest)
{
	char number[32];

	unlink(file_path());
	fill(rows, page_bytes, longest);
	snprintf(number, sizeof number, "%" PRId64, rows);
	CHECK_STR(ask("PRAGMA integrity_check"), "ok");
	CHECK_STR(ask("SELECT count(*) FROM t"), number);
	CHECK_STR(ask("SELECT count(*) FROM t INDEXED BY by_n WHERE n >= -5000"), number);
	CHECK_STR(ask("SELECT count(*) FROM t INDEXED BY by_s WHERE s > ''"), number);
	CHECK_STR(ask("SELECT count(*) FROM t WHERE n <> ((id - 1) * 2 + 2) / 3 * 1000 - 5000 OR s "
		      "NOT LIKE '0%'"),
		  "0");
	CHECK_STR(ask("SELECT x FROM empty"), "7");
}

UNIT_TEST(bulk_writes_nulls_and_floats_in_rows_of_many_columns)
{
	struct gt_bulk *db;
	struct gt_bulk_tree *t;
	struct gt_bulk_row row;
	char sql[1024];
	int n = snprintf(sql, sizeof sql,
			 "CREATE TABLE wide (id integer PRIMARY KEY, r real, e text");

	for (int i = 3; i < GT_BULK_COLUMNS; i++)
		n += snprintf(sql + n, sizeof sql - (size_t)n, ", c%d", i);
	snprintf(sql + n, sizeof sql - (size_t)n, ");");
	CHECK_OK(gt_bulk_create(file_path(), sql, GT_BULK_MIN_PAGE, &db));
	CHECK_NOT_NULL(t = gt_bulk_tree(db, "wide"));
	gt_bulk_begin(&row);
	gt_bulk_null(&row);
	gt_bulk_real(&row, -0.375);
	gt_bulk_null(&row);
	for (int i = 3; i < GT_BULK_COLUMNS; i++)
		gt_bulk_int(&row, -i);
	gt_bulk_add(t, 1, &row);
	CHECK_OK(gt_bulk_finish(db, "CREATE VIEW v AS SELECT * FROM wide;"));
	CHECK_STR(ask("PRAGMA integrity_check"), "ok");
	CHECK_STR(ask("SELECT r || typeof(r) || typeof(e) || c31 FROM v"), "-0.375realnull-31");
}

UNIT_TEST(bulk_writes_empty_tables)
{
	check(0, 65536, 100);
}

UNIT_TEST(bulk_writes_trees_of_one_page)
{
	check(1, 65536, 100);
	check(2, 16384, 100);
	check(100, 16384, 100);
}

/* Test every number of rows around the first page boundaries of each tree. */
UNIT_TEST(bulk_writes_trees_whose_last_page_is_nearly_empty)
{
	for (int64_t rows = 3; rows < 60; rows++)
		check(rows, 16384, 3900);
}

UNIT_TEST(bulk_writes_trees_of_three_levels)
{
	check(60000, 16384, 200);
}

/* Index entries of 4,000 bytes: four per page. */
UNIT_TEST(bulk_writes_deep_indexes_of_long_texts)
{
	check(3000, 16384, 3900);
}

/* SQLite never uses the page at 1 GiB, which holds its locks. */
UNIT_TEST(bulk_leaves_out_the_page_of_the_locks)
{
	struct gt_bulk *db;
	struct gt_bulk_tree *t;
	struct gt_bulk_row row;
	char *text = malloc(4000);

	memset(text, 'y', 4000);
	CHECK_OK(gt_bulk_create(file_path(), schema, 65536, &db));
	CHECK_NOT_NULL(t = gt_bulk_tree(db, "t"));
	for (int64_t id = 1; id <= 290000; id++) {
		gt_bulk_begin(&row);
		gt_bulk_null(&row);
		gt_bulk_int(&row, id);
		gt_bulk_text(&row, text, 4000);
		gt_bulk_add(t, id, &row);
	}
	CHECK_OK(gt_bulk_finish(db, "DROP INDEX by_n; DROP INDEX by_s;"));
	CHECK_STR(ask("PRAGMA integrity_check"), "ok");
	CHECK_STR(ask("SELECT sum(id) FROM t WHERE length(s) = 4000"), "42050145000");
	free(text);
}

UNIT_TEST(bulk_keeps_integers_of_every_size)
{
	/* clang-format off */
	static const int64_t values[] = {
		0, 1, 2, -1, -2, 127, 128, -128, -129, 32767, 32768, -32768, -32769, 8388607,
		8388608, -8388608, -8388609, INT32_MAX, INT32_MAX + 1LL, INT32_MIN,
		INT32_MIN - 1LL, (1LL << 47) - 1, 1LL << 47, -(1LL << 47), -(1LL << 47) - 1,
		INT64_MAX, INT64_MIN,
	};
	/* clang-format on */
	struct gt_bulk *db;
	struct gt_bulk_tree *t;
	struct gt_bulk_row row;
	char query[64], expected[64];
	int64_t n = sizeof values / sizeof *values;

	CHECK_OK(gt_bulk_create(file_path(), schema, 16384, &db));
	CHECK_NOT_NULL(t = gt_bulk_tree(db, "t"));
	for (int64_t i = 0; i < n; i++) {
		gt_bulk_begin(&row);
		gt_bulk_null(&row);
		gt_bulk_int(&row, values[i]);
		gt_bulk_null(&row);
		gt_bulk_add(t, i ? INT64_C(1) << (i * 2) : 0, &row); /* ids of every length */
	}
	CHECK_OK(gt_bulk_finish(db, "REINDEX;"));
	CHECK_STR(ask("PRAGMA integrity_check"), "ok");
	for (int64_t i = 0; i < n; i++) {
		snprintf(query, sizeof query, "SELECT n FROM t WHERE id = %" PRId64,
			 i ? INT64_C(1) << (i * 2) : 0);
		snprintf(expected, sizeof expected, "%" PRId64, values[i]);
		CHECK_STR(ask(query), expected);
	}
}

UNIT_TEST(bulk_tells_that_the_file_cannot_grow)
{
	struct rlimit limit = {4 << 20, 4 << 20};
	struct gt_bulk *db;
	struct gt_bulk_tree *t;
	struct gt_bulk_row row;

	signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CHECK_OK(gt_bulk_create(file_path(), schema, 65536, &db));
	CHECK_NOT_NULL(t = gt_bulk_tree(db, "t"));
	gt_bulk_begin(&row);
	gt_bulk_null(&row);
	gt_bulk_int(&row, 5);
	gt_bulk_text(&row, file_path(), 10);
	for (int64_t id = 1; id < 1000000; id++)
		gt_bulk_add(t, id, &row);
	CHECK_EQ(gt_bulk_status(db), -EFBIG);
	CHECK_EQ(gt_bulk_finish(db, ""), -EFBIG);
	CHECK(strstr(gt_error_text(), "test.db") != NULL);
}

UNIT_TEST(bulk_tells_a_bad_schema_and_an_unknown_tree)
{
	struct gt_bulk *db;

	CHECK_LT(gt_bulk_create(file_path(), "CREATE TABL t (x)", 16384, &db), 0);
	CHECK_NULL(db);
	CHECK(strstr(gt_error_text(), "syntax error") != NULL);
	gt_error_clear();
	unlink(file_path());
	CHECK_OK(gt_bulk_create(file_path(), schema, 16384, &db));
	CHECK_NULL(gt_bulk_tree(db, "nothing"));
	gt_bulk_destroy(db);
}
