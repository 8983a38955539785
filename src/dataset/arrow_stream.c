/* SPDX-License-Identifier: MIT */
/* Arrow streams over readers, and the descriptions of tables and columns, see gputap/capture.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/show.h"
#include "dataset/arrow_batch.h"
#include "util/error.h"

enum { BATCH_ROWS = 65536, BATCH_ROWS_MOST = 1 << 24, ERROR_BYTES = 1024 };

struct stream {
	struct reader *reader;
	struct batch_shape shape;
	uint32_t *columns; /* owned; shape.columns */
	/* batch that is being filled; a member, so that leaving the guard does not leak it */
	struct batch *batch;
	char error[ERROR_BYTES]; /* of the last step */
};

/* Tables ------------------------------------------------------------------------ */

const struct table *const tables[] = {
	&table_sessions, &table_processes,  &table_threads,    &table_devices,      &table_queues,
	&table_calls,    &table_activities, &table_ranges,     &table_idle,         &table_waits,
	&table_memory,   &table_events,     &table_windows,    &table_counts,       &table_losses,
	&table_stacks,   &table_frames,     &table_open_calls, &table_dependencies, NULL,
};

const struct table *table_find(const char *name)
{
	for (size_t i = 0; name && tables[i]; i++)
		if (!strcmp(tables[i]->name, name))
			return tables[i];
	return NULL;
}

/* Report an unknown table, with the nearest name. */
static int no_table(const char *name)
{
	const char *names[sizeof tables / sizeof *tables], *nearest;
	size_t count = 0;

	for (; tables[count]; count++)
		names[count] = tables[count]->name;
	names[count] = NULL;
	nearest = name ? nearest_name(name, names) : NULL;
	gt_error(0, "no table '%s'%s%s%s", name ? name : "", nearest ? ": did you mean '" : "",
		 nearest ? nearest : "", nearest ? "'?" : "");
	return -ENOENT;
}

static int no_column(const struct table *t, const char *name)
{
	const char **names = calloc(t->column_count + 1, sizeof *names), *nearest;

	for (size_t i = 0; names && i < t->column_count; i++)
		names[i] = t->columns[i].name;
	nearest = names && name ? nearest_name(name, names) : NULL;
	gt_error(0, "table %s has no column '%s'%s%s%s", t->name, name ? name : "",
		 nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
	free(names);
	return -ENOENT;
}

int gputap_capture_table_at(size_t index, struct gputap_capture_table *table)
{
	struct gputap_capture_table t;
	size_t count = 0;

	gt_error_clear();
	if (!table || table->size < sizeof table->size + sizeof table->name)
		return gt_error(0, "gputap_capture_table_at: no result with its size");
	while (tables[count])
		count++;
	if (index >= count) {
		gt_error(0, "there are %zu tables", count);
		return -ENOENT;
	}
	t = (struct gputap_capture_table){.size = table->size,
					  .name = tables[index]->name,
					  .description = tables[index]->text,
					  .columns = tables[index]->column_count,
					  .is_partitioned = tables[index]->is_partitioned};
	memcpy(table, &t, table->size < sizeof t ? table->size : sizeof t);
	return 0;
}

int gputap_capture_column_at(const char *table, size_t index, struct gputap_capture_column *column)
{
	const struct table *t = table_find(table);
	struct gputap_capture_column out;
	const struct column *c;

	gt_error_clear();
	if (!column || column->size < sizeof column->size + sizeof column->name)
		return gt_error(0, "gputap_capture_column_at: no result with its size");
	if (!t)
		return no_table(table);
	if (index >= t->column_count) {
		gt_error(0, "table %s has %zu columns", t->name, t->column_count);
		return -ENOENT;
	}
	c = &t->columns[index];
	out = (struct gputap_capture_column){.size = column->size,
					     .name = c->name,
					     .description = c->text,
					     .format = batch_format(c),
					     .unit = c->unit,
					     .is_dictionary = c->dictionary,
					     .is_nullable = c->nullable,
					     .is_on_request = c->on_request};
	memcpy(column, &out, column->size < sizeof out ? column->size : sizeof out);
	return 0;
}

/* Schemas ------------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i] && s->children[i]->release)
			s->children[i]->release(s->children[i]);
		free(s->children[i]);
	}
	free(s->children);
	if (s->dictionary && s->dictionary->release)
		s->dictionary->release(s->dictionary);
	free(s->dictionary);
	s->release = NULL;
}

/* Give @s one child more. Return NULL if out of memory. */
static struct ArrowSchema *add_child(struct ArrowSchema *s, const char *name, const char *format,
				     int64_t flags)
{
	struct ArrowSchema *child = calloc(1, sizeof *child);

	if (!child)
		return NULL;
	*child = (struct ArrowSchema){.format = format,
				      .name = name,
				      .flags = flags,
				      .release = release_schema};
	s->children[s->n_children++] = child;
	return child;
}

static bool describe_column(struct ArrowSchema *parent, const struct column *c)
{
	struct ArrowSchema *s =
		add_child(parent, c->name, batch_format(c), c->nullable ? ARROW_FLAG_NULLABLE : 0);

	if (s && c->dictionary) {
		s->dictionary = calloc(1, sizeof *s->dictionary);
		if (!s->dictionary)
			return false;
		*s->dictionary =
			(struct ArrowSchema){.format = "u", .name = "", .release = release_schema};
	}
	if (s && c->type == COLUMN_LIST) {
		s->children = calloc(1, sizeof(struct ArrowSchema *));
		return s->children && add_child(s, "item", "i", 0);
	}
	return s;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct stream *s = stream->private_data;
	const size_t count = s->shape.column_count;
	bool good;

	*out = (struct ArrowSchema){.format = "+s", .name = "", .release = release_schema};
	out->children = calloc(count, sizeof(struct ArrowSchema *));
	good = out->children;
	for (size_t i = 0; good && i < count; i++)
		good = describe_column(out, &s->shape.table->columns[s->columns[i]]);
	if (good)
		return 0;
	release_schema(out);
	snprintf(s->error, sizeof s->error, "out of memory");
	return ENOMEM;
}

/* Batches -------------------------------------------------------------------------- */

struct step {
	struct stream *stream;
	struct ArrowArray *out;
};

static int make_batch(void *data)
{
	struct step *step = data;
	struct stream *s = step->stream;
	struct rows rows;
	int status = 1;

	batch_destroy(s->batch); /* of a step that failed */
	s->batch = batch_create(&s->shape);
	if (!s->batch)
		return -ENOMEM;
	while (batch_rows(s->batch) < s->shape.rows &&
	       (status = reader_next(s->reader, &rows, s->shape.rows - batch_rows(s->batch))) > 0)
		batch_add(s->batch, s->reader, &rows);
	if (status < 0 || !batch_rows(s->batch))
		return status < 0 ? status : 0;
	batch_export(s->batch, s->reader, step->out);
	s->batch = NULL;
	return 0;
}

/* stream that this thread could not read because another thread was reading it */
static __thread const struct stream *busy_stream;

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct stream *s = stream->private_data;
	struct step step = {s, out};
	int status;

	memset(out, 0, sizeof *out); /* released: the end */
	status = reader_run(s->reader, make_batch, &step);
	busy_stream = status == -EBUSY ? s : NULL;
	if (busy_stream) /* `error` belongs to the other thread */
		return EBUSY;
	if (status)
		snprintf(s->error, sizeof s->error, "%s", gt_error_text());
	return -status;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
	struct stream *s = stream->private_data;

	if (busy_stream == s)
		return "another thread is reading this stream";
	return *s->error ? s->error : NULL;
}

static void destroy_stream(struct stream *s)
{
	batch_destroy(s->batch);
	reader_destroy(s->reader);
	free(s->columns);
	free(s);
}

static void release_stream(struct ArrowArrayStream *stream)
{
	destroy_stream(stream->private_data);
	stream->release = NULL;
}

/* Opening -------------------------------------------------------------------------- */

/* Copy the options as far as the caller's version of the struct has them, and check them. */
static int check_options(const struct gputap_capture *c,
			 const struct gputap_capture_stream_options *options,
			 struct gputap_capture_stream_options *o)
{
	const size_t sessions = c->dataset->session_count;

	memset(o, 0, sizeof *o);
	if (options && options->size < sizeof options->size)
		return gt_error(0, "gputap_capture_stream: no size in the options");
	if (options)
		memcpy(o, options, options->size < sizeof *o ? options->size : sizeof *o);
	if (o->partitions && o->partition >= o->partitions)
		return gt_error(0, "part %zu of %zu: parts are numbered from 0", o->partition,
				o->partitions);
	if (o->session_count &&
	    (o->first_session >= sessions || o->session_count > sessions - o->first_session))
		return gt_error(0, "sessions %zu to %zu of %zu: sessions are numbered from 0",
				o->first_session, o->first_session + o->session_count - 1,
				sessions);
	if (!o->batch_rows)
		o->batch_rows = BATCH_ROWS;
	if (o->batch_rows > BATCH_ROWS_MOST)
		o->batch_rows = BATCH_ROWS_MOST;
	return 0;
}

/* Find the wanted columns. @wants: receives a flag for each column of the table */
static int choose_columns(struct stream *s, const struct table *t,
			  const struct gputap_capture_stream_options *o, bool *wants)
{
	const size_t count = o->columns ? o->column_count : t->column_count;

	s->columns = calloc(count + 1, sizeof *s->columns);
	if (!s->columns)
		return gt_error(-ENOMEM, "cannot read table %s", t->name);
	for (size_t i = 0; i < count; i++) {
		size_t k = i;

		for (k = o->columns ? 0 : i; o->columns && k < t->column_count; k++)
			if (o->columns[i] && !strcmp(t->columns[k].name, o->columns[i]))
				break;
		if (k == t->column_count)
			return no_column(t, o->columns[i]);
		if (!o->columns && t->columns[k].on_request)
			continue;
		s->columns[s->shape.column_count++] = (uint32_t)k;
		wants[k] = true;
	}
	if (!s->shape.column_count)
		return gt_error(0, "no column of table %s is wanted", t->name);
	return 0;
}

static int make_stream(const struct gputap_capture *c, const struct table *t,
		       const struct gputap_capture_stream_options *o, struct stream *s)
{
	bool *wants = calloc(t->column_count, sizeof *wants);
	int status;

	if (!wants)
		return gt_error(-ENOMEM, "cannot read table %s", t->name);
	status = choose_columns(s, t, o, wants);
	if (status) {
		free(wants);
		return status;
	}
	s->shape.table = t;
	s->shape.columns = s->columns;
	s->shape.rows = o->batch_rows;
	return reader_create(c, t, o, wants, &s->reader);
}

int gputap_capture_stream(const struct gputap_capture *capture, const char *table,
			  const struct gputap_capture_stream_options *options,
			  struct ArrowArrayStream *out)
{
	struct gputap_capture_stream_options o;
	const struct table *t = table_find(table);
	struct stream *s;
	int status;

	gt_error_clear();
	if (!capture || !out)
		return gt_error(0, "gputap_capture_stream: no %s", out ? "capture" : "result");
	memset(out, 0, sizeof *out);
	if (!t)
		return no_table(table);
	status = check_options(capture, options, &o);
	if (status)
		return status;
	s = calloc(1, sizeof *s);
	if (!s)
		return gt_error(-ENOMEM, "cannot read table %s", t->name);
	status = make_stream(capture, t, &o, s);
	if (status) {
		destroy_stream(s);
		return status;
	}
	*out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, s};
	return 0;
}
