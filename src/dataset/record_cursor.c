/* SPDX-License-Identifier: MIT */
/* Reads records one by one, see gputap/capture.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/view.h"
#include "dataset/activity_values.h"
#include "dataset/table_ranges.h"
#include "dataset/table_reader.h"
#include "record/operation.h"
#include "util/error.h"

struct gputap_capture_cursor {
	struct reader *reader;
	struct activity_values values; /* activities */
	struct rows rows;              /* rows that were read */
	size_t next;                   /* next row to return */
};

int gputap_capture_cursor(const struct gputap_capture *capture, const char *table,
			  struct gputap_capture_cursor **out)
{
	const struct table *t = table_find(table);
	struct gputap_capture_cursor *c;
	bool *wants;
	int status = -ENOMEM;

	gt_error_clear();
	if (!capture || !out)
		return gt_error(0, "gputap_capture_cursor: no %s", out ? "capture" : "result");
	*out = NULL;
	if (t != &table_calls && t != &table_activities && t != &table_ranges) {
		gt_error(0, "no cursor for table '%s': calls, activities or ranges",
			 table ? table : "");
		return -ENOENT;
	}
	c = calloc(1, sizeof *c);
	wants = calloc(t->column_count, sizeof *wants);
	if (c && wants)
		status = reader_create(capture, t, NULL, wants, &c->reader);
	else
		free(wants);
	if (!status && t == &table_activities)
		status = activity_values_init(&c->values, c->reader);
	if (status) {
		gputap_capture_cursor_close(c);
		return gt_error(status, "cannot read table %s", t->name);
	}
	*out = c;
	return 0;
}

void gputap_capture_cursor_close(struct gputap_capture_cursor *cursor)
{
	if (!cursor)
		return;
	activity_values_fini(&cursor->values);
	reader_destroy(cursor->reader);
	free(cursor);
}

/* Get the next row. Return 1, 0 at the end, or negative errno with a cause. */
static int next_row(struct gputap_capture_cursor *c, const void **row)
{
	int status;

	if (c->next == c->rows.count) {
		c->next = 0;
		status = reader_next(c->reader, &c->rows, ROWS_MOST);
		if (status <= 0)
			return status;
	}
	*row = c->rows.row[c->next++];
	return 1;
}

/* A step of a cursor, run under the guard. */
struct step {
	struct gputap_capture_cursor *cursor;
	void *out;
};

/* Copy the fields that the caller's version of the struct has. */
static void copy_out(void *out, void *filled, size_t bytes)
{
	const size_t size = *(const size_t *)out;

	*(size_t *)filled = size;
	memcpy(out, filled, size < bytes ? size : bytes);
}

static int run_step(struct gputap_capture_cursor *c, const struct table *table, void *out,
		    int (*step)(void *data))
{
	struct step s = {c, out};

	if (!c || !out || *(const size_t *)out < sizeof(size_t)) {
		gt_error_clear();
		return gt_error(0, "no %s", c ? "record with its size" : "cursor");
	}
	if (c->reader->table != table) {
		gt_error_clear();
		return gt_error(0, "the cursor reads table %s, not %s", c->reader->table->name,
				table->name);
	}
	return reader_run(c->reader, step, &s);
}

static int64_t known_id(const struct thread_number *t, uint64_t id)
{
	return id ? dataset_id(t, id) : GPUTAP_UNKNOWN;
}

/* Calls ---------------------------------------------------------------------------- */

static int step_call(void *data)
{
	struct step *s = data;
	struct reader *r = s->cursor->reader;
	const struct thread_number *t;
	const struct gt_operation_info *info;
	const struct gt_item *k;
	const void *row;
	int32_t code;
	struct gputap_capture_call call;
	int status = next_row(s->cursor, &row);

	if (status <= 0)
		return status;
	k = row;
	t = s->cursor->rows.thread;
	info = gt_operation(k->op);
	call = (struct gputap_capture_call){
		.id = dataset_id(t, k->id),
		.parent = known_id(t, k->parent),
		.session = t->session,
		.process = (int32_t)k->process,
		.thread = t->number,
		.depth = k->depth,
		.domain = gt_domain_name((enum gt_domain)GT_OP_DOMAIN(k->op)),
		.operation = dictionary_get(&r->dictionaries[DICTIONARY_OPERATION],
					    reader_text(r, DICTIONARY_OPERATION,
							gt_operation_name(k->op))),
		.kind = gt_operation_kind_name(info ? (enum gt_operation_kind)info->kind
						    : GT_KIND_OTHER),
		.start_ns = dataset_time(r->dataset, k->start_ns),
		.duration_ns = (int64_t)(k->end_ns - k->start_ns),
		.status = GPUTAP_UNKNOWN,
	};
	if (gt_call_status(k->op, k->ret, k->args, &code)) {
		call.status = code;
		if (gt_status_failed((enum gt_domain)GT_OP_DOMAIN(k->op), code))
			call.error = gt_status_name((enum gt_domain)GT_OP_DOMAIN(k->op), code);
	}
	copy_out(s->out, &call, sizeof call);
	return 1;
}

int gputap_capture_next_call(struct gputap_capture_cursor *cursor, struct gputap_capture_call *call)
{
	return run_step(cursor, &table_calls, call, step_call);
}

/* Activities ------------------------------------------------------------------------- */

static int64_t known_time(const struct reader *r, uint64_t ns)
{
	return dataset_time(r->dataset, ns);
}

static int step_activity(void *data)
{
	struct step *s = data;
	struct gputap_capture_cursor *c = s->cursor;
	struct reader *r = c->reader;
	struct gputap_capture_activity activity;
	const struct thread_number *caller;
	struct activity_place place;
	const struct gt_item *k;
	const void *row;
	int32_t name;
	bool timed;
	int status = next_row(c, &row);

	if (status <= 0)
		return status;
	k = row;
	caller = activity_caller(&c->values, r, c->rows.thread, k);
	place = activity_place(&c->values, r, k);
	name = activity_name(&c->values, r, k);
	timed = k->start_ns && k->end_ns >= k->start_ns;
	activity = (struct gputap_capture_activity){
		.call = known_id(caller, k->id),
		.session = c->rows.thread->session,
		.process = (int32_t)k->process,
		.thread = caller->number,
		.device = place.device,
		.queue = place.queue,
		.kind = gt_device_op_name(k->device_op),
		.name = name < 0 ? NULL : dictionary_get(&r->dictionaries[DICTIONARY_NAME], name),
		.start_ns = timed ? known_time(r, k->start_ns) : GPUTAP_UNKNOWN,
		.duration_ns = timed ? (int64_t)(k->end_ns - k->start_ns) : GPUTAP_UNKNOWN,
		.queued_ns = known_time(r, k->queued_ns),
		.submitted_ns = known_time(r, k->submitted_ns),
		.call_start_ns = known_time(r, k->call_start_ns),
		.bytes = !k->bytes              ? GPUTAP_UNKNOWN
			 : k->bytes < INT64_MAX ? (int64_t)k->bytes
						: INT64_MAX,
		.status = k->status,
	};
	for (unsigned i = 0; i < 3; i++) {
		activity.global[i] = k->global[i];
		activity.local[i] = gt_item_endpoints(k) ? 0 : k->local[i];
	}
	copy_out(s->out, &activity, sizeof activity);
	return 1;
}

int gputap_capture_next_activity(struct gputap_capture_cursor *cursor,
				 struct gputap_capture_activity *activity)
{
	return run_step(cursor, &table_activities, activity, step_activity);
}

/* Ranges ----------------------------------------------------------------------------- */

static int step_range(void *data)
{
	struct step *s = data;
	const struct reader *r = s->cursor->reader;
	const struct range_row *row;
	struct gputap_capture_range range;
	const void *found;
	int status = next_row(s->cursor, &found);

	if (status <= 0)
		return status;
	row = found;
	range = (struct gputap_capture_range){
		.id = row->id,
		.parent = row->parent,
		.session = row->session,
		.process = row->process,
		.thread = row->thread == INT32_MIN ? -1 : row->thread,
		.kind = dictionary_get(&r->dictionaries[DICTIONARY_KIND], row->kind),
		.name = dictionary_get(&r->dictionaries[DICTIONARY_RANGE], row->name),
		.start_ns = row->start_ns,
		.duration_ns = row->duration_ns,
	};
	copy_out(s->out, &range, sizeof range);
	return 1;
}

int gputap_capture_next_range(struct gputap_capture_cursor *cursor,
			      struct gputap_capture_range *range)
{
	return run_step(cursor, &table_ranges, range, step_range);
}
