/* SPDX-License-Identifier: MIT */
/* Table `idle`: why devices were idle. analysis/idle/ finds the parts of the gaps; they are sorted
 * by device and time before the first row. */
#include "analysis/idle/idle_read.h"
#include "analysis/tables/retained.h"
#include "dataset/table_reader.h"
#include "record/operation.h"

struct idle_part_row {
	int64_t start_ns, duration_ns, gap_start_ns, gap_duration_ns;
	int64_t previous, next; /* ids of calls */
	int32_t session, process, thread, device;
	int32_t cause, operation, range, after, before, behind, wait; /* texts */
	int32_t previous_operation, previous_line, next_operation, next_line;
	int32_t pad;
};

/* Memory of each sort. Readers of tables promise less memory than a report takes. */
enum { SORT_BYTES = 8 << 20 };

struct idle_table {
	struct sorter parts;
};

/* Sorted by device and start, as idle_read() returns the parts. */
static int compare_parts(const void *a, const void *b)
{
	const struct idle_part_row *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int64_t id_of(const struct thread_number *thread, uint64_t id)
{
	return id ? dataset_id(thread, id) : INT64_MIN;
}

static int32_t number_operation(struct reader *r, uint32_t op)
{
	return op ? reader_text(r, DICTIONARY_OPERATION, gt_operation_name(op)) : -1;
}

static void add_part(void *to, const struct gt_idle_part *part)
{
	struct reader *r = to;
	struct idle_table *own = r->own;
	const struct thread_number t =
		dataset_find_thread(r->dataset, part->process, part->ordinal);
	struct idle_part_row row = {
		.start_ns = dataset_time(r->dataset, part->start_ns),
		.duration_ns = (int64_t)(part->end_ns - part->start_ns),
		.gap_start_ns = dataset_time(r->dataset, part->gap_start_ns),
		.gap_duration_ns = (int64_t)(part->gap_end_ns - part->gap_start_ns),
		.session = t.session,
		.process = (int32_t)part->process,
		.thread = part->ordinal && t.number >= 0 ? t.number : INT32_MIN,
		.device = part->device == UINT32_MAX ? INT32_MIN : (int32_t)part->device,
		.cause = reader_text(r, DICTIONARY_KIND, gt_idle_cause_name(part->cause)),
		.operation = number_operation(r, part->op),
		.range = reader_text(r, DICTIONARY_RANGE, part->range),
		.after = reader_text(r, DICTIONARY_NAME, part->after),
		.before = reader_text(r, DICTIONARY_NAME, part->before),
		.behind = reader_text(r, DICTIONARY_NAME, part->behind),
		.wait = reader_text(r, DICTIONARY_OTHER, part->wait),
		.previous = id_of(&t, part->previous.id),
		.next = id_of(&t, part->next.id),
		.previous_operation = number_operation(r, part->previous.op),
		.previous_line = reader_text(r, DICTIONARY_OTHER, part->previous.line),
		.next_operation = number_operation(r, part->next.op),
		.next_line = reader_text(r, DICTIONARY_OTHER, part->next.line),
	};

	if (reader_has_session(r, (uint32_t)row.session))
		sorter_add(&own->parts, &row);
}

static int open_idle(struct reader *r)
{
	struct idle_table *own = r->own;
	const struct idle_reading reading = {.capture = r->dataset->capture,
					     .all = true,
					     .wants = r->where ? reader_wants : NULL,
					     .wants_data = r,
					     .packed_most = SORT_BYTES,
					     .each = add_part,
					     .to = r};
	int status = 0;

	own->parts = (struct sorter){.row_bytes = sizeof(struct idle_part_row),
				     .compare = compare_parts,
				     .packed_most = SORT_BYTES};
	if (retained_is_part(r->dataset->capture))
		return 0; /* the records around the gaps are missing */
	status = reader_select(r);
	return status ? status : idle_read(&reading);
}

static int next_idle(struct reader *r, struct rows *rows, size_t most)
{
	struct idle_table *own = r->own;

	return reader_next_sorted(r, rows, most, &own->parts);
}

static void close_idle(struct reader *r)
{
	struct idle_table *own = r->own;

	sorter_fini(&own->parts);
}

#define I(field, type, unit, null, text) \
	COLUMN_MEMBER(struct idle_part_row, field, type, unit, null, text)
#define TEXTS(field, kind, null, text) COLUMN_TEXTS(struct idle_part_row, field, kind, null, text)

static const struct column columns[] = {
	I(session, COLUMN_I32, "", false, "session of the activity that ended the gap"),
	I(process, COLUMN_I32, "", false, "process of that activity"),
	I(thread, COLUMN_I32, "", true, "thread that launched that activity"),
	I(device, COLUMN_I32, "", true, "number of the device"),
	I(start_ns, COLUMN_I64, "ns", false, "start of the part, since 1970"),
	I(duration_ns, COLUMN_I64, "ns", false, "duration of the part"),
	TEXTS(cause, DICTIONARY_KIND, false,
	      "such as host_lock, synchronising, launching, copying"),
	TEXTS(operation, DICTIONARY_OPERATION, true, "call in progress on that thread"),
	TEXTS(range, DICTIONARY_RANGE, true, "innermost range of the program on that thread"),
	I(gap_start_ns, COLUMN_I64, "ns", false, "start of the gap, since 1970"),
	I(gap_duration_ns, COLUMN_I64, "ns", false, "duration of the gap"),
	TEXTS(after, DICTIONARY_NAME, true, "activity that ended at the gap's start"),
	TEXTS(before, DICTIONARY_NAME, true, "activity that started at the gap's end"),
	TEXTS(behind, DICTIONARY_NAME, true, "cause 'blocked': activity that the queue waited for"),
	TEXTS(wait, DICTIONARY_OTHER, true,
	      "file, pipe or holder of a lock that the thread waited for"),
	I(previous, COLUMN_I64, "", true, "id of the thread's outermost call before the part"),
	TEXTS(previous_operation, DICTIONARY_OPERATION, true, "operation of that call"),
	TEXTS(previous_line, DICTIONARY_OTHER, true, "line of the program that made it"),
	I(next, COLUMN_I64, "", true,
	  "id of the outermost call that contains the part or comes after it"),
	TEXTS(next_operation, DICTIONARY_OPERATION, true, "operation of that call"),
	TEXTS(next_line, DICTIONARY_OTHER, true, "line of the program that made it"),
};

const struct table table_idle = {
	.name = "idle",
	.text = "gaps between a device's activities, in parts with one cause each",
	.columns = columns,
	.column_count = sizeof columns / sizeof *columns,
	.row_bytes = sizeof(struct idle_part_row),
	.own_bytes = sizeof(struct idle_table),
	.open = open_idle,
	.next = next_idle,
	.close = close_idle,
};
