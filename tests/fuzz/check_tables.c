/* SPDX-License-Identifier: MIT */
/* See check_tables.h. */
#include "check_tables.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/text.h"
#include "gputap/capture.h"

struct checking {
	char *wrong;
	const char *table, *column;
};

static void find(struct checking *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void find(struct checking *c, const char *format, ...)
{
	int n;
	va_list args;

	if (*c->wrong)
		return;
	n = snprintf(c->wrong, 256, "%s.%s: ", c->table, c->column);
	va_start(args, format);
	vsnprintf(c->wrong + n, 256 - (size_t)n, format, args);
	va_end(args);
}

static void check_texts(struct checking *c, const struct ArrowArray *a)
{
	const int32_t *offsets = a->buffers[1];
	const char *bytes = a->buffers[2];

	for (int64_t i = 0; i < a->length; i++) {
		if (offsets[i + 1] < offsets[i]) {
			find(c, "offset %d after %d", offsets[i + 1], offsets[i]);
			return;
		}
		for (int32_t at = offsets[i]; at < offsets[i + 1];) {
			uint32_t character;

			at += (int32_t)gt_text_next(bytes + at, (size_t)(offsets[i + 1] - at),
						    &character);
			if (character == GT_TEXT_BAD)
				find(c, "a text that is not UTF-8");
		}
	}
}

static bool is_valid(const struct ArrowArray *a, int64_t i)
{
	const uint8_t *valid = a->buffers[0];

	return !valid || valid[i / 8] >> (i % 8) & 1;
}

static void check_indexes(struct checking *c, const struct ArrowArray *a)
{
	const int32_t *indexes = a->buffers[1];

	for (int64_t i = 0; i < a->length; i++)
		if (is_valid(a, i) && (indexes[i] < 0 || indexes[i] >= a->dictionary->length))
			find(c, "index %d of %lld texts", indexes[i],
			     (long long)a->dictionary->length);
	check_texts(c, a->dictionary);
}

static void check_list(struct checking *c, const struct ArrowArray *a)
{
	const int32_t *offsets = a->buffers[1];

	for (int64_t i = 0; i < a->length; i++)
		if (offsets[i + 1] < offsets[i] || offsets[i + 1] > a->children[0]->length)
			find(c, "offset %d of %lld elements", offsets[i + 1],
			     (long long)a->children[0]->length);
}

static void check_column(struct checking *c, const struct ArrowArray *a,
			 const struct ArrowSchema *s, int64_t rows)
{
	int64_t missing = 0;

	c->column = s->name;
	if (a->length != rows)
		find(c, "%lld values for %lld rows", (long long)a->length, (long long)rows);
	for (int64_t i = 0; i < a->length; i++)
		missing += !is_valid(a, i);
	if (missing != a->null_count)
		find(c, "%lld missing values, not %lld", (long long)missing,
		     (long long)a->null_count);
	if (missing && !(s->flags & ARROW_FLAG_NULLABLE))
		find(c, "missing values in a column that has none");
	if (a->dictionary)
		check_indexes(c, a);
	else if (!strcmp(s->format, "u"))
		check_texts(c, a);
	else if (!strcmp(s->format, "+l"))
		check_list(c, a);
}

/* Return 0, or the errno of the stream. */
static int read_stream(struct checking *c, struct ArrowArrayStream *stream, uint64_t *rows)
{
	struct ArrowSchema schema;
	struct ArrowArray batch;
	int status = stream->get_schema(stream, &schema);

	if (status)
		return status;
	while (!(status = stream->get_next(stream, &batch)) && batch.release) {
		for (int64_t i = 0; i < batch.n_children; i++)
			check_column(c, batch.children[i], schema.children[i], batch.length);
		*rows += (uint64_t)batch.length;
		batch.release(&batch);
	}
	schema.release(&schema);
	c->column = "";
	if (status && !stream->get_last_error(stream))
		find(c, "error %d without a cause", status);
	return status;
}

static int check_table(struct gputap_capture *capture, struct checking *c,
		       struct table_counts *counts)
{
	struct gputap_capture_stream_options options = {.size = sizeof options, .batch_rows = 1000};
	struct ArrowArrayStream stream;
	uint64_t rows = 0;
	int status = gputap_capture_stream(capture, c->table, &options, &stream);

	if (status) {
		if (!*gputap_capture_error())
			find(c, "refused without a cause");
		return 1;
	}
	status = read_stream(c, &stream, &rows);
	stream.release(&stream);
	if (!strcmp(c->table, "calls"))
		counts->calls = rows;
	if (!strcmp(c->table, "activities"))
		counts->activities = rows;
	return status != 0;
}

/* Read the records one at a time, and compare their number. */
static void check_cursors(struct gputap_capture *capture, struct checking *c,
			  const struct table_counts *counts)
{
	struct gputap_capture_activity activity = {.size = sizeof activity};
	struct gputap_capture_call call = {.size = sizeof call};
	struct gputap_capture_cursor *cursor;
	uint64_t calls = 0, activities = 0;

	c->table = "cursor";
	if (gputap_capture_cursor(capture, "calls", &cursor))
		return;
	while (gputap_capture_next_call(cursor, &call) > 0)
		calls++;
	gputap_capture_cursor_close(cursor);
	if (gputap_capture_cursor(capture, "activities", &cursor))
		return;
	while (gputap_capture_next_activity(cursor, &activity) > 0)
		activities++;
	gputap_capture_cursor_close(cursor);
	if (calls != counts->calls || activities != counts->activities)
		find(c, "%llu calls and %llu activities, not %llu and %llu",
		     (unsigned long long)calls, (unsigned long long)activities,
		     (unsigned long long)counts->calls, (unsigned long long)counts->activities);
}

int check_tables(const char *path, const char *where, struct table_counts *counts, char wrong[256])
{
	struct gputap_capture_health health = {.size = sizeof health};
	struct gputap_capture_table table = {.size = sizeof table};
	struct gputap_capture *capture, *all;
	struct checking c = {.wrong = wrong, .table = path, .column = ""};
	int status;

	*wrong = '\0';
	*counts = (struct table_counts){0};
	status = gputap_capture_open(&path, 1, &health, &capture);
	if (!status && where) {
		all = capture;
		status = gputap_capture_where(all, where, NULL, &capture);
		gputap_capture_close(all);
	}
	if (status) {
		if (!*gputap_capture_error())
			find(&c, "refused without a cause");
		return 1;
	}
	for (size_t i = 0; !gputap_capture_table_at(i, &table); i++) {
		c.table = table.name;
		c.column = "";
		status |= check_table(capture, &c, counts);
	}
	if (!status)
		check_cursors(capture, &c, counts);
	gputap_capture_close(capture);
	return status;
}
