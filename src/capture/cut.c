/* SPDX-License-Identifier: MIT */
/* See cut.h. Blocks outside the scope are not read. A first pass over the other blocks reads all
 * GPU activities, to find the calls that launched them. A second pass reads all rows thread by
 * thread, in order:
 *
 *   row --decoded, as the ring had it--> does it count? is it needed? --> encoded again
 *
 * A record that starts a range is held until a row in the range is written. If no row is written,
 * the start is dropped together with the end of the range. */
#include "capture/cut.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/call_set.h"
#include "capture/checksum.h"
#include "capture/counts.h"
#include "capture/cursor.h"
#include "capture/reader.h"
#include "capture/scope.h"
#include "capture/writer.h"
#include "clock/line.h"
#include "record/operation.h"
#include "util/error.h"
#include "util/grow.h"

enum {
	CONTEXT_ALL = GT_CONTEXT_ROW | GT_CONTEXT_RANGE,
	DEPTHS = 256,
	STACKS = 64,          /* maximum number of rows of stacks that wait for their call */
	FLUSH_BYTES = 4 << 20 /* flush after this many bytes of metadata */
};

/* A record that starts a range or pushes an external id, and whose end was not read yet. */
struct begun {
	uint64_t *record;
	uint32_t words;
	uint16_t kind; /* BEGUN_RANGE, or BEGUN_EXTERNAL + the stack */
	bool is_written;
};

enum { BEGUN_RANGE, BEGUN_EXTERNAL };

/* State of a device at the start of the scope. */
struct edge {
	uint64_t idle_from; /* latest end of an activity before the scope; 0: none was read */
	/* true if the device has activities that count: then the whole gap at the scope's start is
	 * reported */
	bool counts;
};

struct cutter {
	const struct gt_capture *c;
	size_t session;
	struct gt_cut *cut;
	struct gt_capture_writer *writer;
	struct gt_call_set launches; /* launching calls of activities that count */
	/* process_counts: one entry per process of the session */
	struct gt_counts written, *process_counts;
	uint64_t begin_ns, end_ns; /* time range of the records that count */
	uint64_t activity_from;    /* launch time of the first activity that counts, or earlier */
	struct edge *edges; /* indexed by device index; the last entry is for unknown devices */
	uint64_t passed, total;
	struct block_reader reader;
	struct gt_decoder decoder;
	struct gt_shared_texts texts; /* texts of the current item */
	uint64_t record[UINT16_MAX + 1];
	/* state of the current thread */
	struct gt_stream *stream;
	const struct gt_clock_lines *host;
	uint32_t process, ordinal;
	uint8_t context;        /* context of the written rows */
	uint8_t source_context; /* context of the rows being read */
	/* true if a call of that depth was written, so that its enclosing call is needed */
	bool has_inner[DEPTHS];
	uint64_t newest_start; /* latest start of a call that counts */
	struct begun *begun;
	size_t begun_count, begun_room;
	/* rows of stacks that wait for their call; calls that were written */
	uint64_t stacks[STACKS][3], called[STACKS];
	unsigned stack_count, called_count;
};

static int no_memory(void)
{
	return gt_error(-ENOMEM, "cannot store part of a capture");
}

/* Items ------------------------------------------------------------------------------------ */

static uint64_t convert(const struct gt_clock_lines *lines, uint64_t stamp)
{
	return gt_clock_line_convert(gt_clock_lines_find(lines, stamp), stamp);
}

static uint64_t device_ns(const struct gt_device_clock *clock, uint64_t stamp)
{
	return stamp && clock ? convert(gt_device_clock_lines(clock), stamp) : stamp;
}

static void begin_item(const struct cutter *k, const struct gt_row *row, struct gt_item *item)
{
	*item = (struct gt_item){.kind = (enum gt_record_kind)row->shape->item.kind,
				 .op = row->shape->item.op,
				 .payload_bytes = row->shape->item.payload_bytes,
				 .depth = (uint8_t)row->shape->item.detail,
				 .context = k->source_context,
				 .process = k->process,
				 .ordinal = k->ordinal};
}

static void make_call(struct cutter *k, const struct gt_row *row, struct gt_item *item)
{
	const uint32_t payload_at = row->shape->payload_at;

	begin_item(k, row, item);
	item->id = row->id;
	item->start_ns = convert(k->host, row->start);
	item->end_ns = convert(k->host, row->end);
	if (item->end_ns < item->start_ns)
		item->end_ns = item->start_ns;
	item->ret = row->words[0];
	item->args = payload_at ? row->words + 1 : NULL;
	item->payload = payload_at ? (const uint8_t *)(row->words + payload_at) : NULL;
	gt_shared_texts_put(&k->texts, k->c, item, 1); /* out of memory counts as missing texts */
	gt_item_relay(item);
}

static void make_activity(const struct cutter *k, const struct gt_row *row, struct gt_item *item)
{
	struct gt_record_device d;
	const struct gt_device_clock *clock;

	memcpy(&d, &row->head, sizeof row->head);
	memcpy((uint64_t *)&d + 1, row->words, sizeof d - sizeof row->head);
	begin_item(k, row, item);
	clock = gt_device_clock_find(k->c, k->process, GT_DEVICE_REF_NUMBER(item->op));
	item->depth = 0;
	item->id = d.id;
	item->device_op = (enum gt_device_op)row->shape->item.detail;
	item->status = (int32_t)d.status;
	item->name = d.name;
	item->queue = (uint32_t)d.queue ? gt_capture_object_find(k->c, k->process, GT_OBJECT_QUEUE,
								 (uint32_t)d.queue)
					: NULL;
	item->graph = (uint32_t)(d.queue >> 32);
	item->call_start_ns = d.call_start ? convert(k->host, d.call_start) : 0;
	item->queued_ns = device_ns(clock, d.queued);
	item->submitted_ns = device_ns(clock, d.submitted);
	item->start_ns = device_ns(clock, d.start);
	item->end_ns = device_ns(clock, d.end);
	item->bytes = d.bytes;
	memcpy(item->object, d.object, sizeof item->object);
	memcpy(item->global, d.global, sizeof item->global);
	memcpy(item->local, d.local, sizeof item->local);
	item->ordinal_in_graph = d.ordinal;
	item->replay = d.replay;
	gt_item_relay(item);
}

/* Writing rows ----------------------------------------------------------------------------- */

/* Restore the form that the row had in the ring. Return the number of words. */
static uint32_t restore_record(struct cutter *k, const struct gt_row *row)
{
	uint64_t *r = k->record;

	*r++ = row->head;
	if (row->shape->item.kind == GT_RECORD_CALL) {
		*r++ = row->start;
		*r++ = row->end;
		*r++ = row->id;
	}
	memcpy(r, row->words, gt_row_count(row) * sizeof *r);
	return (uint32_t)(row->head & 0xffff);
}

static int put_record(struct cutter *k, const uint64_t *record, uint32_t words, uint8_t context)
{
	const uint64_t change[3] = {3 | GT_RECORD_CONTEXT << 16 | (uint64_t)context << 24};
	int status = 0;

	if (!k->stream) {
		const struct session *s = k->c->sessions[k->session];
		uint32_t own = 0;

		for (size_t i = 0; i < s->process_count; i++)
			if (s->processes[i].process == k->process)
				own = s->processes[i].index;
		status = gt_capture_stream_create(k->writer, own, k->ordinal, &k->stream);
		k->context = 0;
	}
	if (!status && context != k->context)
		status = gt_capture_write_records(k->stream, change, sizeof change, NULL);
	k->context = context;
	if (!status)
		status = gt_capture_write_records(k->stream, record, words * sizeof *record,
						  &k->written);
	return status;
}

/* Write the starts of all open ranges before a row. Starts already written come first in the
 * list. */
static int put_begun(struct cutter *k)
{
	size_t i = k->begun_count;
	int status = 0;

	while (i && !k->begun[i - 1].is_written)
		i--;
	for (; i < k->begun_count && !status; i++) {
		struct begun *b = &k->begun[i];

		status = put_record(k, b->record, b->words, CONTEXT_ALL);
		b->is_written = true;
		k->cut->context += b->kind == BEGUN_RANGE;
	}
	return status;
}

static int begin_range(struct cutter *k, const uint64_t *record, uint32_t words, uint16_t kind,
		       bool is_written)
{
	struct begun *more = gt_grow(k->begun, k->begun_count, &k->begun_room, sizeof *more), *b;

	if (!more)
		return no_memory();
	k->begun = more;
	b = &more[k->begun_count];
	*b = (struct begun){malloc(words * sizeof *record), words, kind, is_written};
	if (!b->record)
		return no_memory();
	memcpy(b->record, record, words * sizeof *record);
	k->begun_count++;
	return 0;
}

/* Return the last open entry of that kind; NULL: no such entry. */
static struct begun *find_begun(const struct cutter *k, uint16_t kind)
{
	for (size_t i = k->begun_count; i-- > 0;)
		if (k->begun[i].kind == kind)
			return &k->begun[i];
	return NULL;
}

static void remove_begun(struct cutter *k, struct begun *b)
{
	free(b->record);
	memmove(b, b + 1, (size_t)(k->begun + --k->begun_count - b) * sizeof *b);
}

/* Write the stacks of a call. A stack comes before the row of its call, or after the row if the
 * call is a slow one. */
static int put_stacks(struct cutter *k, uint64_t id)
{
	int status = 0;

	for (unsigned i = 0; i < STACKS && !status; i++)
		if (k->stacks[i][0] && k->stacks[i][1] == id) {
			status = put_record(k, k->stacks[i], 3, k->context);
			k->stacks[i][0] = 0;
		}
	k->called[k->called_count++ % STACKS] = id;
	return status;
}

static int take_stack(struct cutter *k, const struct gt_row *row)
{
	const uint32_t words = restore_record(k, row);

	if (words != 3)
		return 0;
	for (unsigned i = 0; i < STACKS; i++)
		if (k->called[i] == row->words[0])
			return put_record(k, k->record, words, k->context);
	memcpy(k->stacks[k->stack_count++ % STACKS], k->record, sizeof k->stacks[0]);
	return 0;
}

/* States of threads are kept for the time of the cut, and for all of it if another filter selects
 * the records. */
static int take_host(struct cutter *k, const struct gt_row *row)
{
	if (k->cut->is_time && (convert(k->host, row->words[1]) < k->activity_from ||
				convert(k->host, row->words[0]) > k->cut->to_ns))
		return 0;
	return put_record(k, k->record, restore_record(k, row), k->context);
}

static void note_time(struct cutter *k, const struct gt_item *item)
{
	if (item->start_ns && item->start_ns < k->begin_ns)
		k->begin_ns = item->start_ns;
	if (item->end_ns > k->end_ns)
		k->end_ns = item->end_ns;
}

/* Write a row and the ranges around it. @counts: true if the call or activity counts; @range: true
 * if the range counts */
static int put_row(struct cutter *k, const struct gt_row *row, const struct gt_item *item,
		   bool counts, bool range)
{
	const uint32_t words = restore_record(k, row);
	const uint8_t context = (counts ? 0 : GT_CONTEXT_ROW) | (range ? 0 : GT_CONTEXT_RANGE);
	/* the range context does not apply to operations without a mark */
	const bool marks = item->kind == GT_RECORD_CALL && gt_operation(item->op) &&
			   gt_operation(item->op)->mark;
	int status = counts || item->kind == GT_RECORD_CALL ? put_begun(k) : 0;

	if (!status && item->kind == GT_RECORD_CALL)
		status = put_stacks(k, item->id);
	if (!status)
		status = put_record(k, k->record, words,
				    marks    ? context
				    : counts ? 0
					     : CONTEXT_ALL);
	if (counts || range)
		k->cut->kept++;
	else
		k->cut->context++;
	if (counts)
		note_time(k, item);
	return status;
}

/* Needed calls ---------------------------------------------------------------------------- */

/* Return true if a call inside a call of this depth was written. Forget deeper calls, because the
 * next call of this depth does not enclose them. */
static bool take_inner(struct cutter *k, unsigned depth)
{
	bool has = false;

	for (unsigned d = depth + 1; d < DEPTHS; d++) {
		has |= k->has_inner[d];
		k->has_inner[d] = false;
	}
	return has;
}

static bool is_needed(struct cutter *k, const struct gt_row *row, const struct gt_item *item,
		      const struct gt_operation_info *info)
{
	if (gt_call_set_has(&k->launches, k->process, item->id))
		return true;
	if (info && info->mark == GT_MARK_RANGE)
		return k->newest_start >= row->start && k->newest_start;
	if (info && (info->mark == GT_MARK_START || info->mark == GT_MARK_STOP))
		return true; /* the other end of the range may be in another thread */
	if (k->cut->is_time && item->end_ns >= k->activity_from && item->start_ns <= k->cut->to_ns)
		return true;
	/* these calls show how the processes of a job relate to each other */
	return info && info->joins;
}

static int take_mark(struct cutter *k, const struct gt_row *row, const struct gt_item *item,
		     bool counts, bool range, bool needed)
{
	const struct gt_operation_info *info = gt_operation(item->op);
	const bool pops = info->mark == GT_MARK_POP;
	struct begun *b = pops ? find_begun(k, BEGUN_RANGE) : NULL;
	bool writes = counts || range || needed || (b && b->is_written);
	int status = 0;

	if (writes)
		status = put_row(k, row, item, counts, range);
	b = pops ? find_begun(k, BEGUN_RANGE) : NULL;
	if (b)
		remove_begun(k, b);
	if (!status && info->mark == GT_MARK_PUSH) {
		const uint32_t words = restore_record(k, row);

		status = begin_range(k, k->record, words, BEGUN_RANGE, writes);
	}
	return status;
}

static int take_call(struct cutter *k, const struct gt_row *row)
{
	const unsigned depth = row->shape->item.detail & 0xff;
	const struct gt_operation_info *info;
	bool counts, range = false, needed;
	struct gt_item item;
	int status = 0;

	make_call(k, row, &item);
	info = gt_operation(item.op);
	counts = k->cut->wants(k->cut->data, &item, &range);
	/* a range without an end counts if its start counts */
	range |= counts && info && (info->mark == GT_MARK_PUSH || info->mark == GT_MARK_START);
	needed = take_inner(k, depth) || is_needed(k, row, &item, info);
	if (info && (info->mark == GT_MARK_PUSH || info->mark == GT_MARK_POP))
		status = take_mark(k, row, &item, counts, range, needed);
	else if (counts || range || needed)
		status = put_row(k, row, &item, counts, range);
	if (counts || needed)
		k->has_inner[depth] = true;
	if ((counts || needed) && row->start > k->newest_start)
		k->newest_start = row->start;
	return status;
}

static void note_edge(struct cutter *k, const struct gt_item *item, bool counts)
{
	const struct gt_object_info *device =
		gt_capture_object_find(k->c, k->process, GT_OBJECT_DEVICE,
				       GT_DEVICE_REF_NUMBER(item->op));
	const size_t count = gt_capture_device_count(k->c);
	struct edge *edge =
		&k->edges[device && device->device_index < count ? device->device_index : count];

	edge->counts |= counts;
	if (item->start_ns && item->start_ns < k->cut->from_ns && item->end_ns > edge->idle_from &&
	    item->device_op != GT_DEVICE_MARKER && item->device_op != GT_DEVICE_BARRIER &&
	    item->device_op != GT_DEVICE_SCRATCH)
		edge->idle_from = item->end_ns;
}

/* Add the call of an activity that counts. Extend activity_from to the call's start. */
static int note_launch(struct cutter *k, const struct gt_row *row)
{
	struct gt_item item;
	bool range;

	make_activity(k, row, &item);
	if (!k->cut->wants(k->cut->data, &item, &range)) {
		note_edge(k, &item, false);
		return 0;
	}
	note_edge(k, &item, true);
	if (item.call_start_ns && item.call_start_ns < k->activity_from)
		k->activity_from = item.call_start_ns;
	return item.id ? gt_call_set_add(&k->launches, k->process, item.id) : 0;
}

static int take_activity(struct cutter *k, const struct gt_row *row)
{
	struct gt_item item;
	bool range = false, counts;

	make_activity(k, row, &item);
	counts = k->cut->wants(k->cut->data, &item, &range);
	if (!counts &&
	    (!k->cut->is_time || item.end_ns < k->activity_from || item.start_ns > k->cut->to_ns))
		return 0;
	return put_row(k, row, &item, counts, false);
}

static int take_external(struct cutter *k, const struct gt_row *row)
{
	const uint16_t kind = (uint16_t)(BEGUN_EXTERNAL + (row->shape->item.op & 0xff));
	const uint32_t words = restore_record(k, row);
	struct begun *b;
	int status = 0;

	if (row->shape->item.detail)
		return begin_range(k, k->record, words, kind, false);
	b = find_begun(k, kind);
	if (b && b->is_written)
		status = put_record(k, k->record, words, CONTEXT_ALL);
	if (b)
		remove_begun(k, b);
	return status;
}

static int take_row(struct cutter *k, const struct gt_row *row, bool launches)
{
	switch (row->shape->item.kind) {
	case GT_RECORD_CALL: return launches ? 0 : take_call(k, row);
	case GT_RECORD_DEVICE: return launches ? note_launch(k, row) : take_activity(k, row);
	case GT_RECORD_EXTERNAL: return launches ? 0 : take_external(k, row);
	case GT_RECORD_STACK: return launches ? 0 : take_stack(k, row);
	case GT_RECORD_HOST: return launches ? 0 : take_host(k, row);
	default: return 0;
	}
}

/* Threads ----------------------------------------------------------------------------------- */

/* Return 0, even for a damaged block, or negative errno with a cause. */
static int read_block(struct cutter *k, struct stream_block *b, bool launches)
{
	struct gt_file_stream base = gt_block_base(b);
	uint8_t context = 0; /* context of the source's rows */
	const uint8_t *payload;
	struct gt_row row;
	int status = gt_block_read(&k->reader, k->c, b, &payload), done = 0;

	if (status)
		return status == -EBADMSG ? 0 : status;
	gt_decoder_begin(&k->decoder, &base, payload, b->raw_bytes);
	while (!done && (status = gt_decoder_next(&k->decoder, &row)) > 0) {
		if (row.shape->item.kind == GT_RECORD_CONTEXT)
			context = row.shape->item.detail & CONTEXT_ALL;
		k->source_context = context;
		done = take_row(k, &row, launches);
	}
	if (done)
		return done;
	if (status == -EBADMSG)
		gt_block_bad(k->c, b);
	return status == -ENOMEM ? no_memory() : 0;
}

static void end_thread(struct cutter *k)
{
	while (k->begun_count)
		free(k->begun[--k->begun_count].record);
	gt_capture_stream_destroy(k->stream);
	k->stream = NULL;
}

static void begin_thread(struct cutter *k, const struct ring_stream *s)
{
	k->process = s->process;
	k->ordinal = s->ordinal;
	k->host = gt_host_clock_lines(gt_session_of(k->c, s->process)->host);
	k->context = 0;
	k->newest_start = 0;
	memset(k->has_inner, 0, sizeof k->has_inner);
	memset(k->stacks, 0, sizeof k->stacks);
	memset(k->called, 0, sizeof k->called);
	memset(&k->written, 0, sizeof k->written);
}

static int read_thread(struct cutter *k, const struct ring_stream *s, bool launches)
{
	const struct scope *scope = k->c->scope;
	int status = 0;

	begin_thread(k, s);
	for (size_t i = s->first; i < s->first + s->count && !status; i++) {
		struct stream_block *b = &k->c->blocks[i];

		k->passed += (uint64_t)b->head_bytes + b->stored_bytes;
		if ((launches && !(b->flags & GT_BLOCK_DEVICE)) ||
		    (scope && !scope->read_all && !gt_scope_has_block(k->c, scope, b)))
			continue;
		status = read_block(k, b, launches);
		k->cut->bytes_read += (uint64_t)b->head_bytes + b->stored_bytes;
		if (k->cut->progress)
			k->cut->progress(k->cut->progress_data, k->passed, k->total);
	}
	end_thread(k);
	if (!status && !launches)
		gt_counts_sum(&k->process_counts[s->process -
						 k->c->sessions[k->session]->public.first_process],
			      &k->written);
	return status;
}

/* Widen the time range, because activities that delayed those in the scope may themselves have been
 * delayed by earlier activities. Moreover, the gap in which the scope starts belongs to the
 * activity that ends the gap. */
static void widen_time(struct cutter *k)
{
	uint64_t before =
		k->cut->from_ns > k->activity_from ? k->cut->from_ns - k->activity_from : 0;

	k->activity_from = k->activity_from > before ? k->activity_from - before : 0;
	for (size_t i = 0; i <= gt_capture_device_count(k->c); i++)
		if (k->edges[i].counts && k->edges[i].idle_from &&
		    k->edges[i].idle_from < k->activity_from)
			k->activity_from = k->edges[i].idle_from;
}

static int read_threads(struct cutter *k, bool launches)
{
	int status = 0;

	for (size_t i = 0; i < k->c->stream_count && !status; i++)
		if (k->c->processes[k->c->streams[i].process].session == k->session &&
		    gt_scope_has_process(k->c->scope, k->c->streams[i].process))
			status = read_thread(k, &k->c->streams[i], launches);
	return status;
}

/* Metadata ----------------------------------------------------------------------------------- */

static bool is_copied(const struct gt_scan_block *b)
{
	switch (b->head.type) {
	case GT_BLOCK_STREAM:
	case GT_BLOCK_COUNTS:
	case GT_BLOCK_END:
	case GT_BLOCK_SECTION:
	case GT_BLOCK_INDEX:
	case GT_BLOCK_SUMMARY:
	case GT_BLOCK_KEPT: return false;
	default: return !(b->head.flags & GT_BLOCK_ZSTD);
	}
}

struct copying {
	struct gt_scan scan;
	struct gt_scan_block block;
	uint8_t payload[GT_FILE_PAYLOAD_MAX];
};

static int copy_block(struct cutter *k, struct copying *m)
{
	const struct gt_file_block *h = &m->block.head;
	int status =
		gt_scan_read(m->scan.fd, m->payload, h->stored_bytes, m->block.at + h->head_bytes);

	if (status && status != -ENODATA)
		return gt_error(status, "cannot read a capture");
	if (status || gt_crc32c(0, m->payload, h->stored_bytes) != h->payload_crc)
		return 0; /* skip the block, as readers do */
	status = gt_writer_append_block(k->writer, h->type, h->process, h->ordinal, m->payload,
					h->stored_bytes);
	if (!status && k->writer->main.out_bytes > FLUSH_BYTES)
		status = gt_capture_flush(k->writer);
	return status;
}

static int copy_metadata(struct cutter *k)
{
	const struct session *s = k->c->sessions[k->session];
	const struct capture_file *file = &k->c->files[s->file];
	struct copying *m = malloc(sizeof *m);
	struct gt_index_info index;
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), status;

	if (!m || fd < 0)
		status = m ? gt_error(-errno, "cannot open capture %s", file->path) : no_memory();
	else
		status = gt_scan_init(&m->scan, fd, file->path);
	if (!status) {
		gt_scan_take_index(&m->scan, &index);
		while (!status && (status = gt_scan_next(&m->scan, &m->block)) > 0)
			status = gt_scan_section(&m->block) == s->section && is_copied(&m->block)
					 ? copy_block(k, m)
					 : 0;
		gt_scan_end(&m->scan);
	}
	if (fd >= 0)
		close(fd);
	free(m);
	return status ? status : gt_capture_flush(k->writer);
}

/* Write counts. Records that are not in the cut count as evicted. */
static int put_counts(struct cutter *k)
{
	const struct session *s = k->c->sessions[k->session];
	int status = 0;

	for (size_t i = 0; i < s->process_count && !status; i++) {
		const uint32_t process = s->processes[i].process;
		const struct gt_counts *here =
			&k->process_counts[process - s->public.first_process];
		struct gt_counts counts;

		if (!k->c->sums[process])
			continue;
		counts = *gt_capture_counts(k->c, process);
		gt_counts_keep(&counts, here->recorded);
		status = gt_capture_write_counts(k->writer, s->processes[i].index, &counts);
	}
	return status;
}

static int put_kept(struct cutter *k)
{
	const struct gt_capture_session *s = &k->c->sessions[k->session]->public;
	struct gt_retained kept = s->kept;

	kept.is_kept = kept.is_cut = kept.is_thinned = true;
	kept.is_whole_time = k->cut->is_time;
	kept.text = k->cut->text;
	if (k->cut->is_time && k->activity_from < k->begin_ns)
		k->begin_ns =
			k->activity_from > s->info.start_ns ? k->activity_from : s->info.start_ns;
	if (s->kept.is_kept && s->kept.begin_ns + (uint64_t)s->shift_ns > k->begin_ns)
		/* records before the retained window are incomplete */
		k->begin_ns = s->kept.begin_ns + (uint64_t)s->shift_ns;
	kept.begin_ns = k->begin_ns < k->end_ns ? k->begin_ns - (uint64_t)s->shift_ns : 0;
	kept.end_ns = k->begin_ns < k->end_ns ? k->end_ns - (uint64_t)s->shift_ns : 0;
	return gt_writer_put_retained(k->writer, &kept);
}

static int begin_file(struct cutter *k, const char *path)
{
	int status = gt_writer_create(path, &k->writer);

	if (status)
		return status;
	k->writer->main.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (k->writer->main.fd < 0)
		return gt_error(-errno, "cannot write %s", path);
	for (size_t i = 0; i < k->c->block_count; i++)
		if (k->c->processes[k->c->blocks[i].process].session == k->session) {
			const struct stream_block *b = &k->c->blocks[i];

			k->total += (uint64_t)b->head_bytes + b->stored_bytes;
			if (b->flags & GT_BLOCK_ZSTD && !k->writer->zstd)
				k->writer->zstd = ZSTD_createCCtx();
		}
	k->total *= 2;
	return gt_writer_put_header(k->writer, NULL);
}

int gt_capture_cut(const struct gt_capture *c, size_t session, const char *path, struct gt_cut *cut)
{
	const struct gt_capture_session *s = &c->sessions[session]->public;
	struct cutter *k = calloc(1, sizeof *k);
	int status;

	if (!k)
		return no_memory();
	*k = (struct cutter){.c = c,
			     .session = session,
			     .cut = cut,
			     .begin_ns = UINT64_MAX,
			     .activity_from = cut->from_ns};
	k->process_counts = calloc(s->process_count + 1, sizeof *k->process_counts);
	gt_decoder_init(&k->decoder);
	k->edges = calloc(gt_capture_device_count(c) + 1, sizeof *k->edges);
	status = k->process_counts && k->edges ? begin_file(k, path) : no_memory();
	if (!status)
		status = copy_metadata(k);
	if (!status)
		status = read_threads(k, true);
	if (!status)
		widen_time(k);
	if (!status)
		status = read_threads(k, false);
	if (!status)
		status = put_counts(k);
	if (!status)
		status = put_kept(k);
	if (!status)
		status = gt_capture_writer_finish(k->writer,
						  s->health.end == GT_CAPTURE_COMPLETE &&
							  gt_capture_is_whole(&s->health));
	else
		gt_capture_writer_destroy(k->writer);
	gt_decoder_fini(&k->decoder);
	gt_shared_texts_fini(&k->texts);
	gt_block_reader_fini(&k->reader);
	gt_call_set_fini(&k->launches);
	free(k->begun);
	free(k->process_counts);
	free(k->edges);
	free(k);
	return status;
}
