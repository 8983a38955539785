/* SPDX-License-Identifier: MIT */
/* Reads records from completed buffers. The plug-in's pu1GetNextRecord() iterates, but a record's
 * address, length and contents are all checked before use. Invalid records are counted by reason
 * and omitted. A single invalid field is counted and omitted from its record. */
#include <math.h>
#include <string.h>

#include "plugin/plugin_parts.h"

#define BYTES_MOST (UINT64_C(1) << 48) /* larger than any memory */
enum { STREAMS_MOST = 65536 };

static bool is_call_kind(uint32_t kind)
{
	return kind == PU1_KIND_PRIVATEUSE1_RUNTIME || kind == PU1_KIND_PRIVATEUSE1_DRIVER;
}

/* Return true if records of this kind are GPU activities, each of which was caused by a call. */
static bool is_activity_kind(uint32_t kind)
{
	return kind == PU1_KIND_CONCURRENT_KERNEL || kind == PU1_KIND_GPU_MEMCPY ||
	       kind == PU1_KIND_GPU_MEMSET;
}

/* Take the next completed buffer. Return false if no buffer is left. */
static bool begin_buffer(struct gt_plugin *p, struct gt_plugin_reader *r)
{
	struct gt_plugin_buffer *b;

	while ((b = gt_plugin_buffer_next(p, r)) != NULL && !gt_plugin_buffer_is_whole(b)) {
		gt_plugin_count(r, GPUTAP_PLUGIN_OVERRUN);
		gt_plugin_buffer_release(p, r, b);
	}
	r->reading = b;
	r->record = NULL;
	gt_plugin_life(p, &r->life_first_ns, &r->life_last_ns);
	return b != NULL;
}

static void end_buffer(struct gt_plugin *p, struct gt_plugin_reader *r)
{
	gt_plugin_buffer_release(p, r, r->reading);
	r->reading = NULL;
}

enum step { STEP_RECORD, STEP_SKIP, STEP_OVER };

/* Copy the next record out of the buffer. */
static enum step copy_record(const struct gt_plugin *p, struct gt_plugin_reader *reader,
			     pu1ActivityRecord *out)
{
	const struct gt_plugin_buffer *b = reader->reading;
	const pu1ActivityRecord *r = reader->record;
	const uint8_t *at;
	pu1Result result = p->calls.next(b->data, b->valid, &r);
	uint32_t size;

	if (result == PU1_END)
		return STEP_OVER;
	at = (const uint8_t *)r;
	if (result != PU1_SUCCESS || !r || (reader->record && r <= reader->record)) {
		gt_plugin_count(reader, GPUTAP_PLUGIN_BAD_WALK);
		return STEP_OVER;
	}
	if (at < b->data || at > b->data + b->valid || (uintptr_t)at % 8 ||
	    (reader->record && at < (const uint8_t *)reader->record + PU1_RECORD_SIZE_LEAST)) {
		gt_plugin_count(reader, GPUTAP_PLUGIN_BAD_PLACE);
		return STEP_OVER; /* continuing would read memory outside the buffer */
	}
	if ((size_t)(b->data + b->valid - at) < PU1_RECORD_SIZE_LEAST) {
		gt_plugin_count(reader, GPUTAP_PLUGIN_BAD_SIZE);
		return STEP_OVER;
	}
	reader->record = r;
	size = r->size;
	if (size < PU1_RECORD_SIZE_LEAST || size > (size_t)(b->data + b->valid - at)) {
		gt_plugin_count(reader, GPUTAP_PLUGIN_BAD_SIZE);
		return STEP_SKIP;
	}
	if (size >= sizeof *out) {
		memcpy(out, r, sizeof *out);
	} else {
		memset(out, 0, sizeof *out);
		memcpy(out, r, size);
	}
	return STEP_RECORD;
}

static bool is_known_device(const struct gt_plugin *p, struct gt_plugin_reader *reader,
			    int32_t device)
{
	if (device < 0)
		return false;
	if (reader->device_count >= 0 && device >= reader->device_count &&
	    p->calls.rows.device_count)
		reader->device_count = p->calls.rows.device_count();
	return device < (reader->device_count < 0 ? GT_PLUGIN_DEVICES_MOST : reader->device_count);
}

static bool is_known_stream(const struct gt_plugin *p, struct gt_plugin_reader *reader,
			    int32_t device, int32_t stream)
{
	pu1DeviceRow row = {.size = sizeof row};

	if (stream < 1)
		return false;
	if (reader->device_count < 0 || device >= GT_PLUGIN_DEVICES_MOST || !p->calls.rows.device)
		/* streams must be ordinals, because each becomes a row */
		return stream <= STREAMS_MOST;
	if ((uint32_t)stream > reader->stream_counts[device] &&
	    p->calls.rows.device(device, &row) == PU1_SUCCESS)
		reader->stream_counts[device] = row.stream_count;
	return (uint32_t)stream <= reader->stream_counts[device];
}

/* Return true if another reader of the plug-in requests that kind. It is then not the plug-in's
 * fault that this reader gets such records. */
static bool is_for_another(const struct gt_plugin *p, const struct gt_plugin_reader *reader,
			   uint32_t kind)
{
	const struct gt_plugin_reader *other =
		&p->readers[reader->who == GT_PLUGIN_SESSION ? GT_PLUGIN_STREAM
							     : GT_PLUGIN_SESSION];

	return (reader->who == GT_PLUGIN_SESSION && reader->reading->late) ||
	       other->enabled >> kind & 1;
}

/* Return the reason to omit a record; GPUTAP_PLUGIN_COUNT_COUNT if the record is kept;
 * GPUTAP_PLUGIN_RECORDS if the record is not meant for this reader. */
static enum gputap_plugin_count fault_of(const struct gt_plugin *p, struct gt_plugin_reader *reader,
					 const pu1ActivityRecord *r)
{
	if (!r->kind || r->kind >= PU1_KIND_COUNT)
		return GPUTAP_PLUGIN_BAD_KIND;
	if (!(reader->enabled >> r->kind & 1))
		return is_for_another(p, reader, r->kind) ? GPUTAP_PLUGIN_RECORDS
							  : GPUTAP_PLUGIN_BAD_KIND;
	if (!r->start_time || r->end_time < r->start_time)
		return GPUTAP_PLUGIN_BAD_TIME;
	if (is_call_kind(r->kind))
		return GPUTAP_PLUGIN_COUNT_COUNT;
	if (!is_known_device(p, reader, r->device_id))
		return GPUTAP_PLUGIN_BAD_DEVICE;
	if (r->kind == PU1_KIND_COUNTER)
		return r->counter_id && isfinite(r->value) ? GPUTAP_PLUGIN_COUNT_COUNT
							   : GPUTAP_PLUGIN_BAD_COUNTER;
	/* without a stream, the call waited for the whole device */
	if (r->kind == PU1_KIND_SYNCHRONIZATION && !r->stream_id)
		return GPUTAP_PLUGIN_COUNT_COUNT;
	return is_known_stream(p, reader, r->device_id, r->stream_id) ? GPUTAP_PLUGIN_COUNT_COUNT
								      : GPUTAP_PLUGIN_BAD_STREAM;
}

static bool set_times(const struct gt_plugin *p, const struct gt_plugin_reader *reader,
		      const pu1ActivityRecord *r, struct gputap_plugin_record *out)
{
	bool real = is_call_kind(r->kind);

	if (reader->who == GT_PLUGIN_STREAM && !real) { /* times stay on the plug-in's clock */
		out->start = r->start_time;
		out->end = r->end_time;
		return true;
	}

	out->start = real ? r->start_time : gt_plugin_real_time(p, r->device_id, r->start_time);
	out->end = real ? r->end_time : gt_plugin_real_time(p, r->device_id, r->end_time);
	return out->start >= reader->life_first_ns && out->end <= reader->life_last_ns &&
	       out->end >= out->start;
}

/* Return true if the record ended before this session began. */
static bool is_of_earlier_session(const struct gt_plugin_reader *reader,
				  const struct gputap_plugin_record *record)
{
	return reader->who == GT_PLUGIN_SESSION && reader->reading->late &&
	       record->end < reader->begun_ns;
}

/* Return the number of readable bytes at a text, up to the end of the buffer that contains the
 * text. */
static size_t room_at(const struct gt_plugin_reader *reader, const char *text)
{
	const struct gt_plugin_buffer *b = reader->reading;
	const uint8_t *at = (const uint8_t *)text;

	return at >= b->data && at < b->data + b->bytes ? (size_t)(b->data + b->bytes - at)
							: SIZE_MAX;
}

/* Return a permanent copy of the text; for a stream, a copy that is valid until the next record.
 * @lines: true for metadata */
static const char *make_text(struct gt_plugin_reader *reader, const char *text, bool lines,
			     enum gt_plugin_text *how)
{
	size_t room = room_at(reader, text),
	       most = lines ? GT_PLUGIN_LINES_BYTES : GT_PLUGIN_NAME_BYTES;
	char *own = lines ? reader->lines : reader->name;

	if (reader->who == GT_PLUGIN_SESSION)
		return (lines ? gt_plugin_lines : gt_plugin_name)(text, room, how);
	if (!own || !text) {
		*how = GT_TEXT_NONE;
		return lines ? "" : "unnamed";
	}
	*how = gt_plugin_mend(own, most, text, strnlen(text, room < most ? room : most - 1), lines);
	if (!lines && !*own) {
		*how = GT_TEXT_NONE;
		return "unnamed";
	}
	return own;
}

static void set_texts(const struct gt_plugin *p, struct gt_plugin_reader *reader,
		      const pu1ActivityRecord *r, struct gputap_plugin_record *out)
{
	enum gt_plugin_text how;
	const char *name = r->name;
	pu1CounterRow row = {.size = sizeof row};

	if (r->kind == PU1_KIND_COUNTER && p->calls.counters.counter &&
	    p->calls.counters.counter(r->counter_id, &row) == PU1_SUCCESS)
		name = row.name;
	out->name = make_text(reader, name, false, &how);
	if (how != GT_TEXT_GOOD)
		gt_plugin_count(reader, how == GT_TEXT_NONE ? GPUTAP_PLUGIN_NO_NAME
							    : GPUTAP_PLUGIN_BAD_NAME);
	out->metadata = "";
	if (!r->metadata)
		return;
	out->metadata = make_text(reader, r->metadata, true, &how);
	if (how == GT_TEXT_MENDED)
		gt_plugin_count(reader, GPUTAP_PLUGIN_BAD_NAME);
}

static void set_graph(const struct gt_plugin *p, struct gt_plugin_reader *reader,
		      const pu1ActivityRecord *r, struct gputap_plugin_record *out)
{
	pu1GraphRow row = {.size = sizeof row};

	if (!r->graph_id)
		return;
	if (p->calls.graphs.graph && (p->calls.graphs.graph(r->graph_id, &row) != PU1_SUCCESS ||
				      (row.node_count && r->graph_node >= row.node_count))) {
		gt_plugin_count(reader, GPUTAP_PLUGIN_BAD_GRAPH);
		return;
	}
	out->graph = r->graph_id;
	out->replay = r->graph_replay;
	out->node = r->graph_node;
}

static bool take_record(const struct gt_plugin *p, uint32_t index, struct gt_plugin_reader *reader,
			const pu1ActivityRecord *r, struct gputap_plugin_record *out)
{
	enum gputap_plugin_count fault = fault_of(p, reader, r);

	if (fault == GPUTAP_PLUGIN_COUNT_COUNT && !set_times(p, reader, r, out))
		fault = GPUTAP_PLUGIN_BAD_TIME;
	if (fault == GPUTAP_PLUGIN_COUNT_COUNT && r->kind == PU1_KIND_COUNTER &&
	    p->calls.counters.count && r->counter_id > p->calls.counters.count())
		fault = GPUTAP_PLUGIN_BAD_COUNTER;
	if (fault == GPUTAP_PLUGIN_COUNT_COUNT && is_of_earlier_session(reader, out))
		/* a stream always has buffers, and the session may have begun while one of them was
		 * being filled */
		fault = reader->reading->streamed ? GPUTAP_PLUGIN_RECORDS : GPUTAP_PLUGIN_LATE;
	if (fault == GPUTAP_PLUGIN_RECORDS)
		return false;
	if (fault != GPUTAP_PLUGIN_COUNT_COUNT) {
		gt_plugin_count(reader, fault);
		return false;
	}
	out->plugin = index;
	out->kind = r->kind;
	out->correlation = r->correlation_id;
	out->external = r->external_id;
	out->user_range = r->user_id;
	out->device = is_call_kind(r->kind) ? -1 : r->device_id;
	out->stream = is_call_kind(r->kind) || r->kind == PU1_KIND_COUNTER ? 0 : r->stream_id;
	out->bytes = r->bytes <= BYTES_MOST ? r->bytes : 0;
	if (out->bytes != r->bytes)
		gt_plugin_count(reader, GPUTAP_PLUGIN_BAD_BYTES);
	memcpy(out->grid, r->grid, sizeof out->grid);
	memcpy(out->block, r->block, sizeof out->block);
	out->thread_id = r->thread_id;
	out->copy_direction = r->copy_direction;
	out->graph = 0;
	out->replay = out->node = 0;
	out->counter = r->counter_id;
	out->status = r->status;
	out->value = r->value;
	set_texts(p, reader, r, out);
	set_graph(p, reader, r, out);
	if (is_activity_kind(r->kind) && !r->correlation_id)
		gt_plugin_count(reader, GPUTAP_PLUGIN_NO_CORRELATION);
	return true;
}

bool gt_plugin_next(struct gt_plugin *p, uint32_t index, struct gt_plugin_reader *reader,
		    struct gputap_plugin_record *out)
{
	pu1ActivityRecord r;

	while (reader->reading || begin_buffer(p, reader)) {
		switch (copy_record(p, reader, &r)) {
		case STEP_OVER: end_buffer(p, reader); break;
		case STEP_RECORD:
			if (take_record(p, index, reader, &r, out))
				return true;
			break;
		case STEP_SKIP: break;
		}
	}
	return false;
}

void gt_plugin_retire(struct gt_plugin *p, struct gt_plugin_reader *reader)
{
	pu1ActivityRecord r;
	enum step step;

	if (reader->reading)
		end_buffer(p, reader); /* the caller did not read the rest of the buffer */
	while (begin_buffer(p, reader)) {
		/* skip a stream's buffers, because the stream has read their records */
		while (reader->reading->late && !reader->reading->streamed &&
		       (step = copy_record(p, reader, &r)) != STEP_OVER)
			if (step == STEP_RECORD)
				gt_plugin_count(reader, GPUTAP_PLUGIN_LATE);
		end_buffer(p, reader);
	}
}
