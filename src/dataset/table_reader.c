/* SPDX-License-Identifier: MIT */
/* See table_reader.h. */
#include "dataset/table_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "util/error.h"

/* Parts ------------------------------------------------------------------------ */

/* Find the streams of part @part of @parts: runs of streams of about the same size. Streams
 * [first, first + count) are divided. */
static void find_part(struct reader *r, size_t part, size_t parts)
{
	const struct gt_capture *c = r->dataset->capture;
	const size_t first = r->first_stream, count = r->stream_count;
	uint64_t total = 0, sum = 0;

	for (size_t i = 0; i < count; i++)
		total += gt_capture_stream_at(c, first + i).bytes;
	r->stream_count = 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t bytes = gt_capture_stream_at(c, first + i).bytes;
		/* a stream belongs to the part in which its middle lies */
		const double middle = (double)sum + (double)bytes / 2;
		size_t of = total ? (size_t)(middle / (double)total * (double)parts) : 0;

		of = of < parts ? of : parts - 1;
		if (of == part) {
			if (!r->stream_count)
				r->first_stream = first + i;
			r->stream_count++;
		}
		sum += bytes;
	}
}

static void find_streams(struct reader *r, const struct gputap_capture_stream_options *o)
{
	const struct gt_capture *c = r->dataset->capture;
	const size_t count = gt_capture_stream_count(c), parts = o ? o->partitions : 0;
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!reader_has_process(r, gt_capture_stream_at(c, i).process))
			continue;
		if (!any)
			r->first_stream = i;
		any = true;
		r->stream_count++;
	}
	if (parts > 1 && r->table->is_partitioned)
		find_part(r, o->partition, parts);
	else
		r->is_empty = parts > 1 && o->partition;
}

/* Readers ---------------------------------------------------------------------- */

int reader_create(const struct gputap_capture *capture, const struct table *table,
		  const struct gputap_capture_stream_options *options, bool *wants,
		  struct reader **out)
{
	struct reader *r = calloc(1, sizeof *r);

	if (!r) {
		free(wants);
		return gt_error(-ENOMEM, "cannot read table %s", table->name);
	}
	r->dataset = dataset_take(capture->dataset);
	r->table = table;
	r->wants = wants;
	r->last_session = (uint32_t)r->dataset->session_count - 1;
	r->status = 1;
	if (options && options->session_count) {
		r->first_session = (uint32_t)options->first_session;
		r->last_session = (uint32_t)(options->first_session + options->session_count - 1);
	}
	find_streams(r, options);
	r->where = capture->where ? strdup(capture->where) : NULL;
	r->own = calloc(1, table->own_bytes + 1);
	r->rows = calloc(ROWS_MOST, table->row_bytes + 1);
	if (!r->own || !r->rows || (capture->where && !r->where)) {
		reader_destroy(r);
		return gt_error(-ENOMEM, "cannot read table %s", table->name);
	}
	*out = r;
	return 0;
}

static void end_selection(struct selection *s)
{
	struct filter *filter = s->summary.filter;

	summary_end_filter(s->reading);
	summary_fini(&s->summary);
	filter_destroy(filter);
	*s = (struct selection){.reading = NULL};
}

void reader_destroy(struct reader *r)
{
	if (!r)
		return;
	if (r->table->close && r->own)
		r->table->close(r);
	end_selection(&r->selection);
	for (unsigned i = 0; i < DICTIONARY_COUNT; i++)
		dictionary_fini(&r->dictionaries[i]);
	dataset_put(r->dataset);
	free(r->where);
	free(r->wants);
	free(r->own);
	free(r->rows);
	free(r);
}

int reader_next(struct reader *r, struct rows *rows, size_t most)
{
	rows->count = 0;
	if (r->status <= 0) /* an error is repeated */
		return r->status;
	if (r->is_empty)
		return r->status = 0;
	if (!r->is_open) {
		r->is_open = true;
		r->status = -ENOMEM; /* result if open() leaves the guard */
		r->status = r->table->open ? r->table->open(r) : 0;
		if (r->status < 0)
			return r->status;
	}
	r->status = -ENOMEM;
	r->status = r->table->next(r, rows, most < ROWS_MOST ? most : ROWS_MOST);
	return r->status;
}

int reader_run(struct reader *r, int (*step)(void *data), void *data)
{
	int status;

	if (__atomic_exchange_n(&r->is_busy, 1, __ATOMIC_ACQUIRE))
		return gt_error(-EBUSY, "another thread is reading this stream or cursor");
	gt_error_clear();
	status = guard_memory(step, data);
	__atomic_store_n(&r->is_busy, 0, __ATOMIC_RELEASE);
	return status;
}

/* Cursors ----------------------------------------------------------------------- */

int reader_select(struct reader *r)
{
	struct selection *s = &r->selection;
	struct filter_error error;

	if (!r->where || s->reading)
		return 0;
	s->summary.filter = filter_create(r->where, summary_texts, &s->summary, &error);
	if (!s->summary.filter)
		return gt_error(0, "%s", error.text);
	s->summary.leaves_capture = true;
	s->reading = summary_begin_filter(&s->summary, r->dataset->capture);
	return s->reading ? 0 : gt_error(-EIO, "cannot evaluate '%s'", r->where);
}

int reader_open_cursor(struct reader *r, struct gt_cursor **out)
{
	int status = reader_select(r);

	*out = NULL;
	if (status)
		return status;
	status = gt_cursor_create(r->dataset->capture, out);
	if (status)
		return status;
	gt_cursor_take_streams(*out, r->first_stream, r->stream_count);
	if (!r->where)
		return 0;
	gt_cursor_filter(*out, reader_wants, r);
	return filter_scope_restrict(&r->selection.summary.scope, *out);
}

bool reader_wants(void *reader, const struct gt_item *item)
{
	struct reader *r = reader;

	return summary_wants(r->selection.reading, item);
}

/* Lists -------------------------------------------------------------------------- */

int reader_next_entries(struct reader *r, struct rows *rows, size_t most, size_t entry_count,
			bool (*build)(struct reader *r, size_t entry, void *row))
{
	const size_t bytes = r->table->row_bytes;

	while (rows->count < most && r->next_row < entry_count) {
		void *row = r->rows + rows->count * bytes;

		memset(row, 0, bytes);
		if (build(r, r->next_row++, row))
			rows->row[rows->count++] = row;
	}
	return rows->count > 0;
}

int reader_next_sorted(struct reader *r, struct rows *rows, size_t most, struct sorter *sorted)
{
	const size_t bytes = r->table->row_bytes;
	const void *row;
	int status = 0;

	/* a row of the sorter is valid until the next one */
	while (rows->count < most && (status = sorter_next(sorted, &row)) > 0) {
		rows->row[rows->count] = memcpy(r->rows + rows->count * bytes, row, bytes);
		rows->count++;
	}
	return rows->count ? 1 : status;
}
