/* SPDX-License-Identifier: MIT */
/* Tables `events`, `windows`, `counts` and `losses`. */
#include "dataset/table_reader.h"
#include "record/operation.h"

/* Events --------------------------------------------------------------------------- */

struct event_row {
	int32_t session, process, kind, domain;
	int64_t time_ns, value;
	const char *text;
};

static bool build_event(struct reader *r, size_t i, void *out)
{
	const struct gt_event_info *e = gt_capture_event(r->dataset->capture, i);
	struct event_row *row = out;

	if (!reader_has_process(r, e->process))
		return false;
	*row = (struct event_row){
		.session = reader_session_of(r, e->process),
		.process = (int32_t)e->process,
		.kind = reader_text(r, DICTIONARY_KIND, gt_event_code_name(e->code)),
		.domain = e->domain == GT_DOMAIN_NONE
				  ? -1
				  : reader_text(r, DICTIONARY_DOMAIN, gt_domain_name(e->domain)),
		.time_ns = dataset_time(r->dataset, e->time_ns),
		.value = (int64_t)e->value,
		.text = e->text,
	};
	return true;
}

#define E(field, type, unit, null, text) \
	COLUMN_MEMBER(struct event_row, field, type, unit, null, text)

static const struct column event_columns[] = {
	E(session, COLUMN_I32, "", false, "number of the session"),
	E(process, COLUMN_I32, "", false, "number of the process"),
	COLUMN_TEXTS(struct event_row, kind, DICTIONARY_KIND, false,
		     "such as loss, clock, not traced, device fault"),
	COLUMN_TEXTS(struct event_row, domain, DICTIONARY_DOMAIN, true, "API concerned"),
	E(time_ns, COLUMN_I64, "ns", true, "time, since 1970"),
	E(value, COLUMN_I64, "", false, "a number whose meaning depends on the kind"),
	E(text, COLUMN_TEXT, "", true, "details"),
};

static int next_events(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most, gt_capture_event_count(r->dataset->capture),
				   build_event);
}

const struct table table_events = {
	.name = "events",
	.text = "what gputap reported about the recording",
	.columns = event_columns,
	.column_count = sizeof event_columns / sizeof *event_columns,
	.row_bytes = sizeof(struct event_row),
	.next = next_events,
};

/* Windows -------------------------------------------------------------------------- */

struct window_row {
	int32_t session, process, reason, end_reason;
	bool is_recorded;
	int64_t start_ns, duration_ns;
};

static bool build_window(struct reader *r, size_t i, void *out)
{
	const struct gt_window_info *w = gt_capture_window_at(r->dataset->capture, i);
	struct window_row *row = out;

	if (!reader_has_process(r, w->process))
		return false;
	*row = (struct window_row){
		.session = reader_session_of(r, w->process),
		.process = (int32_t)w->process,
		.reason = reader_text(r, DICTIONARY_OTHER, gt_window_why_name(w->why)),
		.end_reason = reader_text(r, DICTIONARY_OTHER, gt_window_why_name(w->end_why)),
		.is_recorded = w->recorded,
		.start_ns = dataset_time(r->dataset, w->from_ns),
		.duration_ns = w->to_ns > w->from_ns ? (int64_t)(w->to_ns - w->from_ns) : 0,
	};
	return true;
}

#define W(field, type, unit, null, text) \
	COLUMN_MEMBER(struct window_row, field, type, unit, null, text)

static const struct column window_columns[] = {
	W(session, COLUMN_I32, "", false, "number of the session"),
	W(process, COLUMN_I32, "", false, "number of the process"),
	W(is_recorded, COLUMN_BOOL, "", false, "true: recorded; false: paused"),
	W(start_ns, COLUMN_I64, "ns", true, "start, since 1970"),
	W(duration_ns, COLUMN_I64, "ns", false, "duration"),
	COLUMN_TEXTS(struct window_row, reason, DICTIONARY_OTHER, false, "reason for its start"),
	COLUMN_TEXTS(struct window_row, end_reason, DICTIONARY_OTHER, false, "reason for its end"),
};

static int next_windows(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most, gt_capture_window_count(r->dataset->capture),
				   build_window);
}

const struct table table_windows = {
	.name = "windows",
	.text = "times in which a process was recorded or paused; none: always recorded",
	.columns = window_columns,
	.column_count = sizeof window_columns / sizeof *window_columns,
	.row_bytes = sizeof(struct window_row),
	.next = next_windows,
};

/* Counts --------------------------------------------------------------------------- */

struct count_row {
	int32_t session, process, kind, domain, reason;
	int64_t seen, recorded, lost, evicted, records;
};

enum { CELLS = GT_CLASS_COUNT * GT_DOMAIN_COUNT };

static int32_t class_text(struct reader *r, unsigned class)
{
	return reader_text(r, DICTIONARY_KIND, class == GT_CLASS_CALL ? "call" : "activity");
}

/* Entry @i: class and domain of a process. */
static bool build_count(struct reader *r, size_t i, void *out)
{
	const uint32_t process = (uint32_t)(i / CELLS);
	const unsigned class = (unsigned)(i % CELLS) / GT_DOMAIN_COUNT,
		       domain = i % GT_DOMAIN_COUNT;
	const struct gt_counts *n = gt_capture_counts(r->dataset->capture, process);
	struct count_row *row = out;
	uint64_t lost = 0;

	if (!n || !n->seen[class][domain] || !reader_has_process(r, process))
		return false;
	for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
		lost += n->dropped[why][class][domain];
	*row = (struct count_row){
		.session = reader_session_of(r, process),
		.process = (int32_t)process,
		.kind = class_text(r, class),
		.domain = reader_text(r, DICTIONARY_DOMAIN, gt_domain_name((enum gt_domain)domain)),
		.seen = (int64_t)n->seen[class][domain],
		.recorded = (int64_t)n->recorded[class][domain],
		.lost = (int64_t)lost,
		.evicted = (int64_t)n->evicted[class][domain],
	};
	return true;
}

#define C(field, type, unit, null, text) \
	COLUMN_MEMBER(struct count_row, field, type, unit, null, text)

static const struct column count_columns[] = {
	C(session, COLUMN_I32, "", false, "number of the session"),
	C(process, COLUMN_I32, "", false, "number of the process"),
	COLUMN_TEXTS(struct count_row, kind, DICTIONARY_KIND, false, "call or activity"),
	COLUMN_TEXTS(struct count_row, domain, DICTIONARY_DOMAIN, false, "API"),
	C(seen, COLUMN_I64, "", false, "records that gputap saw: recorded + lost + evicted"),
	C(recorded, COLUMN_I64, "", false, "records in the capture"),
	C(lost, COLUMN_I64, "", false, "records that gputap could not record: table losses"),
	C(evicted, COLUMN_I64, "", false, "records that left a flight recorder's window"),
};

static int next_counts(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most,
				   gt_capture_process_count(r->dataset->capture) * CELLS,
				   build_count);
}

const struct table table_counts = {
	.name = "counts",
	.text = "numbers of records by process and API",
	.columns = count_columns,
	.column_count = sizeof count_columns / sizeof *count_columns,
	.row_bytes = sizeof(struct count_row),
	.next = next_counts,
};

/* Losses --------------------------------------------------------------------------- */

/* Entry @i: reason, class and domain of a process. */
static bool build_loss(struct reader *r, size_t i, void *out)
{
	const uint32_t process = (uint32_t)(i / (CELLS * GT_DROP_REASON_COUNT));
	const unsigned why = (unsigned)(i / CELLS) % GT_DROP_REASON_COUNT,
		       class = (unsigned)(i % CELLS) / GT_DOMAIN_COUNT,
		       domain = i % GT_DOMAIN_COUNT;
	const struct gt_counts *n = gt_capture_counts(r->dataset->capture, process);
	struct count_row *row = out;

	if (!n || !n->dropped[why][class][domain] || !reader_has_process(r, process))
		return false;
	*row = (struct count_row){
		.session = reader_session_of(r, process),
		.process = (int32_t)process,
		.kind = class_text(r, class),
		.domain = reader_text(r, DICTIONARY_DOMAIN, gt_domain_name((enum gt_domain)domain)),
		.reason = reader_text(r, DICTIONARY_OTHER,
				      gt_drop_reason_name((enum gt_drop_reason)why)),
		.records = (int64_t)n->dropped[why][class][domain],
	};
	return true;
}

static const struct column loss_columns[] = {
	C(session, COLUMN_I32, "", false, "number of the session"),
	C(process, COLUMN_I32, "", false, "number of the process"),
	COLUMN_TEXTS(struct count_row, kind, DICTIONARY_KIND, false, "call or activity"),
	COLUMN_TEXTS(struct count_row, domain, DICTIONARY_DOMAIN, false, "API"),
	COLUMN_TEXTS(struct count_row, reason, DICTIONARY_OTHER, false,
		     "such as ring full, output full, unfinished"),
	C(records, COLUMN_I64, "", false, "number of lost records"),
};

static int next_losses(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most,
				   gt_capture_process_count(r->dataset->capture) * CELLS *
					   GT_DROP_REASON_COUNT,
				   build_loss);
}

const struct table table_losses = {
	.name = "losses",
	.text = "lost records by reason",
	.columns = loss_columns,
	.column_count = sizeof loss_columns / sizeof *loss_columns,
	.row_bytes = sizeof(struct count_row),
	.next = next_losses,
};
