/* SPDX-License-Identifier: MIT */
/* Table `memory`: allocations and frees in the order of time, with the bytes in use afterwards.
 * Each session is computed by itself, so that its rows do not depend on which sessions are read. */
#include <errno.h>

#include "analysis/model/memory_use.h"
#include "dataset/table_reader.h"
#include "record/operation.h"
#include "util/error.h"

struct memory_row {
	int64_t time_ns, address, bytes, in_use, order;
	int32_t session, process, thread, device;
	int32_t kind, domain, memory; /* texts */
	int32_t pad;
};

struct memory {
	struct gt_cursor *cursor;
	struct gt_memory_use use; /* of one session */
	int32_t session;
	int64_t order; /* number of the next row */
	struct thread_number thread;
	bool has_thread;
	struct sorter rows;
};

static int compare_changes(const void *a, const void *b)
{
	const struct memory_row *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void add_change(void *to, const struct gt_memory_change *change, uint64_t in_use)
{
	struct reader *r = to;
	struct memory *own = r->own;
	struct memory_row row = {
		.time_ns = dataset_time(r->dataset, change->ns),
		.address = (int64_t)change->address,
		.bytes =
			change->is_free && !change->bytes ? GPUTAP_UNKNOWN : (int64_t)change->bytes,
		.in_use = (int64_t)in_use,
		.order = own->order++,
		.session = reader_session_of(r, change->process),
		.process = (int32_t)change->process,
		.thread = change->tag ? (int32_t)change->tag - 1 : INT32_MIN,
		.device = change->device == GT_MEMORY_NO_DEVICE ? INT32_MIN : change->device,
		.kind = reader_text(r, DICTIONARY_KIND, change->is_free ? "free" : "allocation"),
		.domain = reader_text(r, DICTIONARY_DOMAIN,
				      gt_domain_name((enum gt_domain)change->domain)),
		.memory = reader_text(r, DICTIONARY_OTHER,
				      gt_memory_name((enum gt_memory)change->memory)),
	};

	if (!change->is_retain)
		sorter_add(&own->rows, &row);
}

static void note_call(struct reader *r, const struct gt_item *call)
{
	struct memory *own = r->own;

	if (!own->has_thread || own->thread.process != call->process ||
	    own->thread.ordinal != call->ordinal) {
		own->thread = dataset_find_thread(r->dataset, call->process, call->ordinal);
		own->has_thread = true;
	}
	gt_memory_use_note(&own->use, call, (uint32_t)(own->thread.number + 1));
}

/* Add the rows of the session whose calls have been read. */
static int end_session(struct reader *r)
{
	struct memory *own = r->own;
	int status;

	if (own->use.is_full)
		return gt_error(-ENOSPC, "too many allocations for table memory: select some with "
					 "an expression");
	status = gt_memory_use_settle(&own->use, add_change, r);
	gt_memory_use_fini(&own->use);
	own->use = (struct gt_memory_use){.capture = r->dataset->capture};
	return status;
}

static int step_memory(struct reader *r, const struct gt_item *call)
{
	struct memory *own = r->own;
	const int32_t session = reader_session_of(r, call->process);
	int status = 0;

	if (session != own->session) /* sessions follow each other */
		status = end_session(r);
	own->session = session;
	if (!status)
		note_call(r, call);
	return status;
}

static int open_memory(struct reader *r)
{
	struct memory *own = r->own;
	const struct gt_item *item;
	int status;

	own->rows =
		(struct sorter){.row_bytes = sizeof(struct memory_row), .compare = compare_changes};
	own->use.capture = r->dataset->capture;
	status = reader_open_cursor(r, &own->cursor);
	while (!status && (status = gt_cursor_next(own->cursor, &item)) > 0)
		status = item->kind == GT_RECORD_CALL ? step_memory(r, item) : 0;
	return status ? status : end_session(r);
}

static int next_memory(struct reader *r, struct rows *rows, size_t most)
{
	struct memory *own = r->own;

	return reader_next_sorted(r, rows, most, &own->rows);
}

static void close_memory(struct reader *r)
{
	struct memory *own = r->own;

	gt_cursor_destroy(own->cursor);
	gt_memory_use_fini(&own->use);
	sorter_fini(&own->rows);
}

#define M(field, type, unit, null, text) \
	COLUMN_MEMBER(struct memory_row, field, type, unit, null, text)
#define TEXTS(field, kind, null, text) COLUMN_TEXTS(struct memory_row, field, kind, null, text)

static const struct column columns[] = {
	M(session, COLUMN_I32, "", false, "number of the session"),
	M(process, COLUMN_I32, "", false, "number of the process"),
	M(thread, COLUMN_I32, "", true, "thread that made the call"),
	M(time_ns, COLUMN_I64, "ns", false, "end of an allocating or start of a freeing call"),
	TEXTS(kind, DICTIONARY_KIND, false, "allocation or free"),
	TEXTS(domain, DICTIONARY_DOMAIN, false, "API"),
	TEXTS(memory, DICTIONARY_OTHER, false, "such as device, host, shared, pool"),
	M(device, COLUMN_I32, "", true, "number of the device, if the runtime reported it"),
	M(address, COLUMN_I64, "", false, "address or handle"),
	M(bytes, COLUMN_I64, "bytes", true, "bytes allocated or freed"),
	M(in_use, COLUMN_I64, "bytes", false,
	  "bytes in use afterwards in this session, API, kind of memory and device"),
};

const struct table table_memory = {
	.name = "memory",
	.text = "allocations and frees of memory",
	.columns = columns,
	.column_count = sizeof columns / sizeof *columns,
	.row_bytes = sizeof(struct memory_row),
	.own_bytes = sizeof(struct memory),
	.open = open_memory,
	.next = next_memory,
	.close = close_memory,
};
