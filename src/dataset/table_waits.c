/* SPDX-License-Identifier: MIT */
/* Table `waits`: times in which a rank waited for another. analysis/tables/rank_sums.h matches the
 * collective calls and messages of all ranks. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/tables/rank_sums.h"
#include "dataset/activity_values.h"
#include "dataset/range_tops.h"
#include "record/operation.h"

struct wait_row {
	int64_t start_ns, duration_ns;
	int32_t session, process, rank, for_process, for_rank;
	int32_t operation, kind; /* texts */
	bool on_device;
	uint8_t pad[3];
};

struct waits {
	struct gt_cursor *cursor;
	struct timeline_pool pool;
	struct ranks ranks;
	struct activity_values values;
	struct sorter rows;
};

static int compare_waits(const void *a, const void *b)
{
	const struct wait_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int32_t rank_of(const struct reader *r, uint32_t process)
{
	const struct gt_process_info *p = gt_capture_process(r->dataset->capture, process);

	return p && p->rank.rank >= 0 ? p->rank.rank : INT32_MIN;
}

static void add_wait(void *to, const struct ranks_wait *wait)
{
	struct reader *r = to;
	struct waits *own = r->own;
	struct wait_row row = {
		.start_ns = dataset_time(r->dataset, wait->start_ns),
		.duration_ns = (int64_t)(wait->end_ns - wait->start_ns),
		.session = reader_session_of(r, wait->process),
		.process = (int32_t)wait->process,
		.rank = rank_of(r, wait->process),
		.for_process = (int32_t)wait->for_process,
		.for_rank = rank_of(r, wait->for_process),
		.operation =
			wait->op ? reader_text(r, DICTIONARY_OPERATION, gt_operation_name(wait->op))
				 : -1,
		.kind = reader_text(r, DICTIONARY_KIND, wait->op ? "collective" : "message"),
		.on_device = wait->on_device,
	};

	if (reader_has_process(r, wait->process))
		sorter_add(&own->rows, &row);
}

/* Ranks of different hosts can have the same number, so the host's text is part of the key. */
static void add_processes(struct reader *r)
{
	const struct gt_capture *c = r->dataset->capture;
	struct waits *own = r->own;

	for (uint32_t i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_process_info *p = gt_capture_process(c, i);
		const struct gt_capture_session *s = gt_capture_session_at(c, p->session);

		ranks_add_process(&own->ranks, i,
				  p->rank.rank < 0 ? LOOKUP_NONE : (uint32_t)p->rank.rank,
				  (uint32_t)reader_text(r, DICTIONARY_OTHER,
							s->info.hostname ? s->info.hostname : ""));
	}
}

static int step_waits(struct reader *r, const struct gt_item *item)
{
	struct waits *own = r->own;
	int32_t name;

	if (item->kind == GT_RECORD_CALL) {
		ranks_add_call(&own->ranks, item, false);
	} else if (item->kind == GT_RECORD_DEVICE && item->device_op == GT_DEVICE_KERNEL &&
		   item->name) {
		name = activity_name(&own->values, r, item);
		ranks_add_kernel(&own->ranks, item, (uint32_t)name,
				 dictionary_get(&r->dictionaries[DICTIONARY_NAME], name), false);
	}
	return 0;
}

static int read_waits(struct reader *r)
{
	struct waits *own = r->own;
	const struct gt_item *item;
	int status;

	status = gt_cursor_create(r->dataset->capture, &own->cursor);
	while (!status && (status = gt_cursor_next(own->cursor, &item)) > 0)
		status = step_waits(r, item);
	return status;
}

static int open_waits(struct reader *r)
{
	struct waits *own = r->own;
	int status = activity_values_init(&own->values, r);

	own->rows = (struct sorter){.row_bytes = sizeof(struct wait_row), .compare = compare_waits};
	own->ranks.capture = r->dataset->capture;
	own->ranks.pool = &own->pool;
	own->ranks.each = add_wait;
	own->ranks.to = r;
	if (status)
		return status;
	add_processes(r);
	if (own->ranks.count < 2)
		return 0; /* one rank waits for nobody */
	status = read_waits(r);
	return status ? status : ranks_finish(&own->ranks);
}

static int next_waits(struct reader *r, struct rows *rows, size_t most)
{
	struct waits *own = r->own;

	return reader_next_sorted(r, rows, most, &own->rows);
}

static void close_waits(struct reader *r)
{
	struct waits *own = r->own;

	gt_cursor_destroy(own->cursor);
	ranks_fini(&own->ranks);
	activity_values_fini(&own->values);
	sorter_fini(&own->rows);
}

#define W(field, type, unit, null, text) \
	COLUMN_MEMBER(struct wait_row, field, type, unit, null, text)

static const struct column columns[] = {
	W(session, COLUMN_I32, "", false, "session of the waiting process"),
	W(process, COLUMN_I32, "", false, "process that waited"),
	W(rank, COLUMN_I32, "", true, "rank of that process"),
	W(for_process, COLUMN_I32, "", false, "process that it waited for"),
	W(for_rank, COLUMN_I32, "", true, "rank of that process"),
	W(start_ns, COLUMN_I64, "ns", false, "start of the wait, since 1970"),
	W(duration_ns, COLUMN_I64, "ns", false, "duration"),
	COLUMN_TEXTS(struct wait_row, kind, DICTIONARY_KIND, false, "collective or message"),
	COLUMN_TEXTS(struct wait_row, operation, DICTIONARY_OPERATION, true, "collective call"),
	W(on_device, COLUMN_BOOL, "", false, "true: a kernel waited on the device"),
};

const struct table table_waits = {
	.name = "waits",
	.text = "times in which a rank waited for another rank",
	.columns = columns,
	.column_count = sizeof columns / sizeof *columns,
	.row_bytes = sizeof(struct wait_row),
	.own_bytes = sizeof(struct waits),
	.open = open_waits,
	.next = next_waits,
	.close = close_waits,
};
