/* SPDX-License-Identifier: MIT */
/* Table `ranges`: ranges and marks of the program, and operators of frameworks. A range is recorded
 * when it ends, so all ranges are sorted by thread and start before the first row. Then a stack of
 * the open ranges of the thread gives each range its parent and its step. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/sorter.h"
#include "dataset/range_tops.h"
#include "dataset/table_ranges.h"

/* A range as it is sorted. All bytes are defined. */
struct sorted_range {
	uint64_t start_ns, end_ns, begun;
	uint32_t process, ordinal;
	int32_t name, kind, scope, category, shapes, payload;
	uint8_t is_step, is_nested, is_instant, pad[5];
};

/* An open range. */
struct open_range {
	uint64_t end_ns;
	int64_t id, step;
};

struct ranges {
	struct gt_cursor *cursor;
	struct gt_ranges ranges;
	struct sorter sorted;
	struct thread_number thread; /* thread of the last row */
	bool has_thread;
	struct open_range *open;
	size_t depth, room;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct sorted_range *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->begun != y->begun)
		return x->begun < y->begun ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

/* Return true for the name of a training step: "step 7", "ProfilerStep#7". */
static bool is_step(const char *name)
{
	return !strncasecmp(name, "step", 4) || !strncmp(name, "ProfilerStep", 12);
}

static int32_t put_words(struct reader *r, const struct gt_range_words *words)
{
	return words->text ? dictionary_put_bytes(&r->dictionaries[DICTIONARY_OTHER], words->text,
						  words->bytes)
			   : -1;
}

static void add_range(struct reader *r, const struct gt_range *range)
{
	struct ranges *own = r->own;
	struct sorted_range s = {
		.start_ns = range->start_ns,
		.end_ns = range->end_ns,
		.begun = range->begun,
		.process = range->process,
		.ordinal = range->ordinal,
		.name = reader_text(r, DICTIONARY_RANGE, range->name),
		.kind = reader_text(r, DICTIONARY_KIND,
				    range->instant ? "mark" : gt_range_category(range)),
		.scope = put_words(r, &range->detail.scope),
		.category = put_words(r, &range->detail.category),
		.payload = put_words(r, &range->detail.payload),
		.shapes = -1,
		.is_step = is_step(range->name),
		.is_nested = !range->across,
		.is_instant = range->instant,
	};
	char shapes[4096];

	if (range->detail.shapes && r->wants[RANGE_COLUMN_SHAPES]) {
		gt_range_shapes(&range->detail, shapes, sizeof shapes);
		s.shapes = reader_text(r, DICTIONARY_NAME, shapes);
	}
	sorter_add(&own->sorted, &s);
}

/* Return true if the reader's expression matches the range that @call has completed. A range that
 * is one call matches as a record does. */
static bool wants_range(struct reader *r, const struct gt_item *call)
{
	if (!r->where)
		return true;
	return gt_mark_of(call->op) == GT_MARK_RANGE
		       ? summary_wants(r->selection.reading, call)
		       : summary_wants_range(r->selection.reading, call);
}

static int step_ranges(struct reader *r, const struct gt_item *call)
{
	struct ranges *own = r->own;
	struct gt_range range;
	/* the expression has a stack of ranges of its own, so it sees each call */
	const bool wanted = wants_range(r, call);
	int status = gt_ranges_step(&own->ranges, call, &range);

	if (status > 0 && wanted && !range.context && reader_has_process(r, range.process))
		add_range(r, &range);
	return status < 0 ? status : 0;
}

static int open_ranges(struct reader *r)
{
	struct ranges *own = r->own;
	const struct gt_item *item;
	struct gt_range range;
	int status = reader_select(r);

	own->sorted = (struct sorter){.row_bytes = sizeof(struct sorted_range),
				      .compare = compare_ranges};
	/* a thread may end the ranges of another, so all streams are read */
	if (!status)
		status = range_marks_open(r, 0, SIZE_MAX, &own->cursor);
	while (!status && (status = gt_cursor_next(own->cursor, &item)) > 0) {
		status = 0;
		if (item->kind == GT_RECORD_CALL && gt_mark_of(item->op))
			status = step_ranges(r, item);
	}
	while (!status && gt_ranges_rest(&own->ranges, &range))
		if (!r->where && !range.context && reader_has_process(r, range.process))
			add_range(r, &range);
	return status;
}

/* Rows ------------------------------------------------------------------------------- */

static void enter_thread(struct reader *r, const struct sorted_range *s)
{
	struct ranges *own = r->own;

	if (own->has_thread && own->thread.process == s->process &&
	    own->thread.ordinal == s->ordinal)
		return;
	own->thread = dataset_find_thread(r->dataset, s->process, s->ordinal);
	own->has_thread = true;
	own->depth = 0;
}

static void push_open(struct ranges *own, const struct open_range *range)
{
	GROW_LIST(own->open, own->depth, own->room);
	own->open[own->depth++] = *range;
}

static void build_range(struct reader *r, const struct sorted_range *s, struct range_row *row)
{
	struct ranges *own = r->own;
	const struct open_range *around;

	enter_thread(r, s);
	while (own->depth && own->open[own->depth - 1].end_ns <= s->start_ns)
		own->depth--;
	around = own->depth ? &own->open[own->depth - 1] : NULL;
	*row = (struct range_row){
		.session = own->thread.session,
		.process = (int32_t)s->process,
		.thread = own->thread.number < 0 ? INT32_MIN : own->thread.number,
		.id = s->begun ? dataset_id(&own->thread, s->begun) : GPUTAP_UNKNOWN,
		.parent = around ? around->id : GPUTAP_UNKNOWN,
		.step = around ? around->step : GPUTAP_UNKNOWN,
		.depth = (int16_t)(own->depth < INT16_MAX ? own->depth : INT16_MAX),
		.kind = s->kind,
		.name = s->name,
		.start_ns = dataset_time(r->dataset, s->start_ns),
		.duration_ns = (int64_t)(s->end_ns - s->start_ns),
		.scope = s->scope,
		.category = s->category,
		.payload = s->payload,
		.shapes = s->shapes,
	};
	if (s->is_step)
		row->step = row->id;
	if (s->is_nested && !s->is_instant)
		push_open(own, &(struct open_range){s->end_ns, row->id, row->step});
}

static int next_ranges(struct reader *r, struct rows *rows, size_t most)
{
	struct ranges *own = r->own;
	int status = 1;

	while (rows->count < most) {
		struct range_row *row = (struct range_row *)r->rows + rows->count;
		const void *sorted;

		status = sorter_next(&own->sorted, &sorted);
		if (status <= 0)
			break;
		build_range(r, sorted, row);
		rows->row[rows->count++] = row;
	}
	return rows->count ? 1 : status;
}

static void close_ranges(struct reader *r)
{
	struct ranges *own = r->own;

	gt_cursor_destroy(own->cursor);
	gt_ranges_fini(&own->ranges);
	sorter_fini(&own->sorted);
	free(own->open);
}

#define R(field, type, unit, null, text) \
	COLUMN_MEMBER(struct range_row, field, type, unit, null, text)
#define TEXTS(field, kind, null, text) COLUMN_TEXTS(struct range_row, field, kind, null, text)

static const struct column columns[] = {
	R(session, COLUMN_I32, "", false, "number of the session"),
	R(process, COLUMN_I32, "", false, "number of the process"),
	R(thread, COLUMN_I32, "", true, "number of the thread that began the range"),
	R(id, COLUMN_I64, "", true, "id of the call that began the range, as in calls.range"),
	R(parent, COLUMN_I64, "", true, "id of the enclosing range"),
	R(step, COLUMN_I64, "", true,
	  "id of the innermost range, or this range, whose name begins with 'step' or "
	  "'ProfilerStep'"),
	R(depth, COLUMN_I16, "", false, "number of enclosing ranges"),
	TEXTS(kind, DICTIONARY_KIND, false, "such as user_annotation, cpu_op, mark"),
	TEXTS(name, DICTIONARY_RANGE, false, "name"),
	R(start_ns, COLUMN_I64, "ns", true, "start, since 1970"),
	R(duration_ns, COLUMN_I64, "ns", false, "duration; 0: a mark"),
	TEXTS(scope, DICTIONARY_OTHER, true, "NVTX domain"),
	TEXTS(category, DICTIONARY_OTHER, true, "NVTX category"),
	TEXTS(payload, DICTIONARY_OTHER, true, "NVTX payload: a number or JSON"),
	[RANGE_COLUMN_SHAPES] =
		TEXTS(shapes, DICTIONARY_NAME, true, "shapes of an operator's inputs"),
};

const struct table table_ranges = {
	.name = "ranges",
	.text = "ranges and marks of the program, and operators of frameworks",
	.columns = columns,
	.column_count = sizeof columns / sizeof *columns,
	.row_bytes = sizeof(struct range_row),
	.own_bytes = sizeof(struct ranges),
	.open = open_ranges,
	.next = next_ranges,
	.close = close_ranges,
};
