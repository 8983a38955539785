/* SPDX-License-Identifier: MIT */
/* Table `open_calls`. */
#include "dataset/table_reader.h"
#include "record/operation.h"

struct open_row {
	int32_t session, process, thread, domain, operation, state;
	int64_t id, start_ns, seen_ns, duration_ns, communicator, sequence;
	int32_t peer;
	const char *waits_for;
};

static int64_t known_number(uint64_t n)
{
	return n ? (int64_t)n : INT64_MIN;
}

static bool build_open_call(struct reader *r, size_t i, void *out)
{
	size_t count;
	const struct gt_open_call_info *o = gt_capture_open_calls(r->dataset->capture, &count) + i;
	struct thread_number thread;
	struct open_row *row = out;

	if (!reader_has_process(r, o->process))
		return false;
	thread = dataset_find_thread(r->dataset, o->process, o->ordinal);
	*row = (struct open_row){
		.session = reader_session_of(r, o->process),
		.process = (int32_t)o->process,
		.thread = thread.number >= 0 ? (int32_t)thread.number : INT32_MIN,
		.id = dataset_id(&thread, o->id),
		.domain = reader_text(r, DICTIONARY_DOMAIN,
				      gt_domain_name((enum gt_domain)GT_OP_DOMAIN(o->op))),
		.operation = reader_text(r, DICTIONARY_OPERATION, gt_operation_name(o->op)),
		.start_ns = o->start_ns ? dataset_time(r->dataset, o->start_ns) : INT64_MIN,
		.seen_ns = dataset_time(r->dataset, o->seen_ns),
		.duration_ns = o->start_ns && o->seen_ns >= o->start_ns
				       ? (int64_t)(o->seen_ns - o->start_ns)
				       : INT64_MIN,
		.communicator = known_number(o->communicator),
		.sequence = known_number(o->sequence),
		.peer = o->peer ? (int32_t)(o->peer - 1) : INT32_MIN,
		.state = reader_text(r, DICTIONARY_OTHER,
				     o->state == GT_HOST_STATE_UNKNOWN
					     ? NULL
					     : gt_host_state_name(o->state)),
		.waits_for = *o->text ? o->text : NULL,
	};
	return true;
}

#define O(field, type, unit, null, text) \
	COLUMN_MEMBER(struct open_row, field, type, unit, null, text)

static const struct column open_columns[] = {
	O(session, COLUMN_I32, "", false, "number of the session"),
	O(process, COLUMN_I32, "", false, "number of the process"),
	O(thread, COLUMN_I32, "", true, "number of the thread"),
	O(id, COLUMN_I64, "", false, "id of the call"),
	COLUMN_TEXTS(struct open_row, domain, DICTIONARY_DOMAIN, false, "API"),
	COLUMN_TEXTS(struct open_row, operation, DICTIONARY_OPERATION, false, "function"),
	O(start_ns, COLUMN_I64, "ns", true, "start, since 1970"),
	O(seen_ns, COLUMN_I64, "ns", false, "time at which the call was last seen open"),
	O(duration_ns, COLUMN_I64, "ns", true, "time from start_ns to seen_ns"),
	O(communicator, COLUMN_I64, "", true, "collectives and messages: handle"),
	O(sequence, COLUMN_I64, "", true,
	  "collectives: number of the call on the communicator in this process"),
	O(peer, COLUMN_I32, "", true, "other rank of a message, or root of a collective"),
	COLUMN_TEXTS(struct open_row, state, DICTIONARY_OTHER, true,
		     "state of the thread, such as computing or lock"),
	O(waits_for, COLUMN_TEXT, "", true, "file, pipe or holder of the lock"),
};

static int next_open_calls(struct reader *r, struct rows *rows, size_t most)
{
	size_t count;

	gt_capture_open_calls(r->dataset->capture, &count);
	return reader_next_entries(r, rows, most, count, build_open_call);
}

const struct table table_open_calls = {
	.name = "open_calls",
	.text = "calls that had not returned at a snapshot, or at the end of their process",
	.columns = open_columns,
	.column_count = sizeof open_columns / sizeof *open_columns,
	.row_bytes = sizeof(struct open_row),
	.next = next_open_calls,
};
