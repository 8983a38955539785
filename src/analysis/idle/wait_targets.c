/* SPDX-License-Identifier: MIT */
#include "analysis/idle/wait_targets.h"

enum row_kind {
	ROW_CALL,     /* number: call to which the handle refers from this time on */
	ROW_RECORD,   /* number: record to which this event refers from this time on */
	ROW_RECORDED, /* number: record that takes over the stream's reference */
	ROW_WAIT,     /* number: number of the wait */
};

struct wait_targets_row {
	uint64_t handle, at, number;
	uint32_t process;
	uint16_t is_stream, kind;
};

/* Maps a record to the call that it refers to, followed by the waits for the record. */
struct record_row {
	uint64_t record;
	uint64_t number; /* number of the call or of the wait */
	uint32_t process, is_wait;
};

static int compare_rows(const void *a, const void *b)
{
	const struct wait_targets_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->is_stream != y->is_stream)
		return x->is_stream < y->is_stream ? -1 : 1;
	if (x->handle != y->handle)
		return x->handle < y->handle ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int compare_records(const void *a, const void *b)
{
	const struct record_row *x = a, *y = b;

	if (x->record != y->record)
		return x->record < y->record ? -1 : 1;
	if (x->is_wait != y->is_wait)
		return x->is_wait < y->is_wait ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

void wait_targets_init(struct wait_targets *a)
{
	*a = (struct wait_targets){.rows = {.row_bytes = sizeof(struct wait_targets_row),
					    .compare = compare_rows},
				   .records = {.row_bytes = sizeof(struct record_row),
					       .compare = compare_records}};
}

static void add_row(struct wait_targets *a, const struct wait_handle *handle, uint64_t at,
		    enum row_kind kind, uint64_t number)
{
	struct wait_targets_row row = {.handle = handle->handle,
				       .at = at,
				       .number = number,
				       .process = handle->process,
				       .is_stream = handle->is_stream,
				       .kind = (uint16_t)kind};

	sorter_add(&a->rows, &row);
}

void wait_targets_add_call(struct wait_targets *a, const struct wait_handle *handle, uint64_t at,
			   uint64_t id)
{
	add_row(a, handle, at, ROW_CALL, id);
}

void wait_targets_add_record(struct wait_targets *a, const struct wait_handle *event,
			     const struct wait_handle *stream, uint64_t at)
{
	add_row(a, event, at, ROW_RECORD, a->record_count);
	add_row(a, stream, at, ROW_RECORDED, a->record_count++);
}

void wait_targets_add_wait(struct wait_targets *a, const struct wait_handle *handle, uint64_t at,
			   uint64_t wait)
{
	a->any = true;
	add_row(a, handle, at, ROW_WAIT, wait);
}

static void add_record_row(struct wait_targets *a, const struct wait_targets_row *row,
			   uint64_t record, uint64_t number)
{
	struct record_row r = {.record = record,
			       .number = number,
			       .process = row->process,
			       .is_wait = row->kind == ROW_WAIT};

	sorter_add(&a->records, &r);
}

static int find_of_records(struct wait_targets *a,
			   void (*found)(void *to, uint64_t wait, uint32_t process, uint64_t id),
			   void *to)
{
	const void *next;
	uint64_t id = 0;
	int rc;

	while ((rc = sorter_next(&a->records, &next)) > 0) {
		const struct record_row *r = next;

		if (r->is_wait)
			found(to, r->number, r->process, id);
		else
			id = r->number;
	}
	return rc;
}

int wait_targets_find(struct wait_targets *a,
		      void (*found)(void *to, uint64_t wait, uint32_t process, uint64_t id),
		      void *to)
{
	const struct wait_targets_row nothing = {.kind = ROW_CALL};
	struct wait_targets_row last = nothing; /* current reference of the handle */
	const void *next;
	int rc = 0;

	while (a->any && (rc = sorter_next(&a->rows, &next)) > 0) {
		const struct wait_targets_row *row = next;

		if (row->process != last.process || row->is_stream != last.is_stream ||
		    row->handle != last.handle)
			last = nothing;
		if (row->kind == ROW_RECORDED)
			add_record_row(a, row, row->number, last.number);
		else if (row->kind != ROW_WAIT)
			last = *row;
		else if (last.kind == ROW_RECORD)
			add_record_row(a, row, last.number, row->number);
		else
			found(to, row->number, row->process, last.number);
	}
	return rc ? rc : find_of_records(a, found, to);
}

void wait_targets_fini(struct wait_targets *a)
{
	sorter_fini(&a->rows);
	sorter_fini(&a->records);
}
