/* SPDX-License-Identifier: MIT */
/* Writes ranges and marks of a program (ROCTx) in Perfetto, on tracks "ranges" under the thread's
 * track, next to its calls.
 *
 *   row 0      ranges that are pushed and popped: they nest, so each end is written when it is
 *              read; marks as instants; whole ranges (torch's operators): their records come after
 *              the records inside them, and readers sort by time
 *   row 1 on   ranges that are started and stopped, on the thread that started them: they may
 *              overlap, so each is written when both ends are known, in a row where it overlaps
 *              no other range (track_rows.h)
 *
 * Times count from the start of the trace, because ends may come with another thread's records. A
 * range that was never ended ends with the last event of any thread. Ranges are rare compared with
 * calls, so texts are written in full each time. */
#include <errno.h>
#include <stdlib.h>

#include "export/perfetto.h"
#include "util/error.h"

struct gt_pf_ranges {
	struct gt_track_rows rows; /* track rows from 1 on */
	struct gt_pf_sequence *row;
	unsigned row_count;
	uint32_t depth; /* number of ranges pushed and not popped */
};

void gt_pf_ranges_fini(struct gt_pf_ranges *r)
{
	if (!r)
		return;
	gt_track_rows_fini(&r->rows);
	for (unsigned i = 0; i < r->row_count; i++)
		gt_pf_sequence_fini(&r->row[i]);
	free(r->row);
	free(r);
}

static void begin_row(struct gt_pf *x, const struct gt_view_thread *t, struct gt_pf_sequence *s,
		      unsigned row)
{
	uint64_t key = gt_pf_thread_key(t),
		 track = gt_pf_track(x, GT_PF_TRACKS_RANGES, t->pid, (uint64_t)row << 40 | key);
	char *p, *packet, *mark;

	gt_pf_sequence_begin(x, s, CLOCK_ZERO, track);
	p = gt_pf_packet_open(x, s, &packet);
	p = gt_pb_open(p, PACKET_TRACK, &mark);
	p = gt_pb_u64(p, TRACK_UUID, track);
	p = gt_pb_u64(p, TRACK_PARENT, gt_pf_track(x, GT_PF_TRACKS_THREAD, t->pid, key));
	/* All rows have one name, so that the reader shows them as rows of one track. */
	p = gt_pf_put_text(p, TRACK_NAME, "ranges");
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

/* Return a row's sequence, and create it if necessary. Return NULL with a cause if out of
 * memory. */
static struct gt_pf_sequence *get_row(struct gt_pf *x, struct gt_view_thread *t, unsigned row)
{
	struct gt_pf_sequence *s = t->own ? t->own : gt_pf_thread_begin(x, t), *more;

	if (s && !s->ranges && !(s->ranges = calloc(1, sizeof *s->ranges)))
		goto no_memory;
	if (!s || row < s->ranges->row_count)
		return s ? &s->ranges->row[row] : NULL;
	more = realloc(s->ranges->row, (row + 1) * sizeof *more);
	if (!more)
		goto no_memory;
	s->ranges->row = more;
	for (; s->ranges->row_count <= row; s->ranges->row_count++) {
		more[s->ranges->row_count] = (struct gt_pf_sequence){.last_ns = 0};
		begin_row(x, t, &more[s->ranges->row_count], s->ranges->row_count);
	}
	return &more[row];

no_memory:
	gt_error(-ENOMEM, "cannot export");
	return NULL;
}

/* Write the range's number. Activities submitted in the range have the same number, as
 * "external_id" and in their flow. */
static char *put_annotation_number(struct gt_pf *x, char *p, const struct gt_item *call)
{
	uint64_t number =
		gt_view_correlation(&x->view,
				    gt_view_thread(&x->view, call->process, call->ordinal),
				    call->id);

	p = gt_pb_fixed64(p, EVENT_FLOW, number);
	return gt_pf_annotate_named(p, "external_id", number);
}

static char *annotate_real(char *p, const char *name, double value)
{
	uint64_t word;
	char *mark;

	memcpy(&word, &value, sizeof word);
	p = gt_pb_open(p, EVENT_ANNOTATION, &mark);
	p = gt_pf_put_text(p, ANNOTATION_NAME_TEXT, name);
	p = gt_pb_fixed64(p, ANNOTATION_DOUBLE, word);
	gt_pb_close(p, mark);
	return p;
}

static char *annotate_words(char *p, const char *name, const struct gt_range_words *words)
{
	size_t bytes = words->bytes < TEXT_MAX ? words->bytes : TEXT_MAX;
	char text[TEXT_MAX + 1];

	if (!words->text)
		return p;
	memcpy(text, words->text, bytes);
	text[bytes] = '\0';
	if (!gt_range_is_number(words))
		return gt_pf_annotate_named_text(p, name, text);
	/* Integers of 64 bits stay exact; negative numbers are read back as negative. */
	if (strpbrk(text, ".e") || bytes > 19)
		return annotate_real(p, name, strtod(text, NULL));
	return gt_pf_annotate_named_signed(p, name, strtoll(text, NULL, 10));
}

static char *put_detail(char *p, const struct gt_range_detail *detail)
{
	char text[1024];

	if (detail->sequence)
		p = gt_pf_annotate_named(p, "sequence", detail->sequence);
	if (detail->shapes) {
		gt_range_shapes(detail, text, sizeof text);
		p = gt_pf_annotate_named_text(p, "shapes", text);
	}
	p = annotate_words(p, "domain", &detail->scope);
	p = annotate_words(p, "category", &detail->category);
	p = annotate_words(p, "payload", &detail->payload);
	if (detail->colour)
		p = gt_pf_annotate_named_text(p, "color", gt_range_colour(detail, text));
	return p;
}

/* Write a begin, end or instant event. @range: range that begins; otherwise NULL */
static void write_event(struct gt_pf *x, const struct gt_pf_sequence *s, uint64_t ns, uint64_t type,
			const struct gt_range *range)
{
	char *packet, *mark, *p = gt_pb_open(gt_out_room(&x->out), TRACE_PACKET, &packet);

	p = gt_pb_put(p, &s->head);
	p = gt_pb_u64(p, PACKET_TIMESTAMP, ns > x->zero ? ns - x->zero : 0);
	p = gt_pb_open(p, PACKET_TRACK_EVENT, &mark);
	p = gt_pb_u64(p, EVENT_TYPE, type);
	if (range) {
		p = gt_pb_text(p, EVENT_CATEGORY_TEXT, gt_range_category(range));
		p = gt_pf_put_text(p, EVENT_NAME_TEXT, range->name);
		if (range->whole)
			p = put_annotation_number(x, p, range->whole);
		p = put_detail(p, &range->detail);
	}
	gt_pb_close(p, mark);
	gt_pf_packet_close(x, p, packet);
}

/* Return the row for a range. Nested ranges share row 0. Return NULL with a cause on error. */
static struct gt_pf_sequence *place_range(struct gt_pf *x, struct gt_view_thread *t,
					  const struct gt_range *range)
{
	struct gt_pf_sequence *s = get_row(x, t, 0);
	int row;

	if (!s || range->whole)
		return s;
	s = t->own;
	s->ranges->rows.budget = &x->view.rows_budget;
	row = gt_track_rows_place(&s->ranges->rows, range->start_ns, range->end_ns);
	if (row < 0) {
		gt_error(row, "export");
		return NULL;
	}
	return get_row(x, t, 1 + (unsigned)row);
}

static int write_range(struct gt_pf *x, const struct gt_range *range)
{
	struct gt_view_thread *t = gt_view_thread_find(&x->view, range->process, range->ordinal);
	struct gt_pf_sequence *s = t ? place_range(x, t, range) : NULL;

	if (!s)
		return -ENOMEM;
	write_event(x, s, range->start_ns, TYPE_BEGIN, range);
	write_event(x, s, range->end_ns, TYPE_END, NULL);
	return 0;
}

static int step_ranges(struct gt_pf *x, const struct gt_item *call)
{
	struct gt_range range;
	int status = gt_ranges_step(&x->ranges, call, &range);

	return status > 0 ? write_range(x, &range) : status;
}

int gt_pf_mark(struct gt_pf *x, struct gt_view_thread *t, const struct gt_item *call)
{
	enum gt_range_mark mark = gt_mark_of(call->op);
	struct gt_pf_sequence *s, *row;
	char text[TEXT_MAX + 1];
	const char *message;
	size_t bytes;

	if (call->end_ns > x->ranges.last_ns)
		x->ranges.last_ns = call->end_ns;
	if (mark == GT_MARK_START || mark == GT_MARK_STOP || mark == GT_MARK_RANGE)
		return step_ranges(x, call);
	row = get_row(x, t, 0);
	if (!row)
		return -ENOMEM;
	s = t->own;
	/* A pop without a push belongs to a range that was pushed before the recording. */
	if (mark == GT_MARK_POP) {
		if (s->ranges->depth) {
			s->ranges->depth--;
			write_event(x, row, call->end_ns, TYPE_END, NULL);
		}
		return 0;
	}
	bytes = gt_mark_text(call, &message);
	bytes = bytes < TEXT_MAX ? bytes : TEXT_MAX;
	memcpy(text, message, bytes);
	text[bytes] = '\0';
	write_event(x, row, call->start_ns, mark == GT_MARK_PUSH ? TYPE_BEGIN : TYPE_INSTANT,
		    &(struct gt_range){.op = call->op,
				       .name = text,
				       .detail = gt_range_detail(call)});
	s->ranges->depth += mark == GT_MARK_PUSH;
	return 0;
}

int gt_pf_ranges_end(struct gt_pf *x)
{
	struct gt_range range;
	int status = 0;

	while (!status && gt_ranges_rest(&x->ranges, &range))
		status = write_range(x, &range);
	for (uint32_t i = 0; i < x->view.thread_count; i++) {
		struct gt_pf_sequence *s = x->view.threads[i]->own;

		for (; s && s->ranges && s->ranges->depth; s->ranges->depth--)
			write_event(x, &s->ranges->row[0], x->ranges.last_ns, TYPE_END, NULL);
	}
	return status;
}
