/* SPDX-License-Identifier: MIT */
/* See host_samples.h. */
#include "analysis/tables/host_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

/* Longest time before the first and after the last sample of a gap. */
static const uint64_t AROUND_NS = 50000000;
static const uint64_t CELL_NS = 50000, CELLS_MOST = 1 << 20;

/* Busy time of a process's devices, in cells of equal length. */
struct busy {
	uint32_t process;
	uint64_t start_ns, cell_ns;
	size_t cells;
	uint32_t *ns; /* capped to the length of a cell */
};

struct reader {
	struct host_samples *s;
	/* for each span: end of the last call before it, start of the first call after it; 0:
	 * none */
	uint64_t *before, *after;
	struct busy *busy;
	size_t busy_count;
};

/* Reading spans ----------------------------------------------------------------------------- */

static int compare_spans(const void *a, const void *b)
{
	const struct host_samples_span *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int no_memory(void)
{
	return gt_error(-ENOMEM, "cannot store the samples of the host");
}

static int add_span(struct host_samples *s, const struct gt_item *item)
{
	struct host_samples_span *more =
		gt_grow(s->spans, s->span_count, &s->span_room, sizeof *more);

	if (!more)
		return no_memory();
	s->spans = more;
	s->spans[s->span_count++] = (struct host_samples_span){
		.process = item->process,
		.ordinal = item->ordinal,
		.stack = (uint32_t)item->args[0],
		.state = item->args[1] < GT_HOST_STATE_COUNT ? (enum gt_host_state)item->args[1]
							     : GT_HOST_STATE_UNKNOWN,
		.start_ns = item->start_ns,
		.end_ns = item->end_ns,
		.samples = item->args[2],
	};
	return 0;
}

typedef int each_fn(struct reader *r, const struct gt_item *item);

static int read_items(struct reader *r, const struct gt_capture *c, bool hosts, each_fn *each)
{
	struct gt_cursor *cursor;
	const struct gt_item *item;
	int rc = gt_cursor_create(c, &cursor), more;

	if (rc)
		return rc;
	gt_cursor_take_all(cursor);
	gt_cursor_take_context(cursor);
	if (hosts)
		gt_cursor_take_host(cursor);
	while ((more = gt_cursor_next(cursor, &item)) > 0 && !rc)
		rc = each(r, item);
	gt_cursor_destroy(cursor);
	return rc ? rc : more;
}

static int take_sample(struct reader *r, const struct gt_item *item)
{
	/* args[3]: 1 in a call, at a snapshot */
	if (item->kind != GT_RECORD_HOST || item->push != GT_HOST_SAMPLE || !item->args[0] ||
	    item->args[3] == 1)
		return 0;
	return add_span(r->s, item);
}

/* Calls and activities ---------------------------------------------------------------------- */

/* Return the index of the thread's first span that starts at @ns or later. *begin, *end: the
 * thread's spans. */
static size_t find_span(const struct host_samples *s, uint32_t process, uint32_t ordinal,
			uint64_t ns)
{
	const struct host_samples_span key = {.process = process,
					      .ordinal = ordinal,
					      .start_ns = ns};
	size_t low = 0, high = s->span_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare_spans(&s->spans[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct host_samples *s, size_t i, uint32_t process, uint32_t ordinal)
{
	return i < s->span_count && s->spans[i].process == process &&
	       s->spans[i].ordinal == ordinal;
}

static void note_call(struct reader *r, const struct gt_item *call)
{
	size_t next = find_span(r->s, call->process, call->ordinal, call->start_ns);

	if (is_of(r->s, next, call->process, call->ordinal) && call->end_ns > r->before[next])
		r->before[next] = call->end_ns;
	if (next && is_of(r->s, next - 1, call->process, call->ordinal) &&
	    (!r->after[next - 1] || call->start_ns < r->after[next - 1]))
		r->after[next - 1] = call->start_ns;
}

static void note_activity(struct reader *r, const struct gt_item *item)
{
	struct busy *b = NULL;

	for (size_t i = 0; i < r->busy_count && !b; i++)
		if (r->busy[i].process == item->process)
			b = &r->busy[i];
	if (!b || item->end_ns <= item->start_ns || item->end_ns <= b->start_ns)
		return;
	for (uint64_t at = item->start_ns > b->start_ns ? item->start_ns : b->start_ns;
	     at < item->end_ns;) {
		const uint64_t cell = (at - b->start_ns) / b->cell_ns,
			       end = b->start_ns + (cell + 1) * b->cell_ns,
			       to = end < item->end_ns ? end : item->end_ns;

		if (cell >= b->cells)
			return;
		b->ns[cell] += (uint32_t)(to - at);
		if (b->ns[cell] > b->cell_ns)
			b->ns[cell] = (uint32_t)b->cell_ns;
		at = to;
	}
}

static int take_record(struct reader *r, const struct gt_item *item)
{
	if (item->kind == GT_RECORD_CALL && !item->depth)
		note_call(r, item);
	else if (item->kind == GT_RECORD_DEVICE && item->start_ns)
		note_activity(r, item);
	return 0;
}

/* Times ------------------------------------------------------------------------------------- */

static uint64_t subtract_to(uint64_t at, uint64_t ns)
{
	return at > ns ? at - ns : 0;
}

/* Extend the spans to the calls around them, and to each other. */
static void extend_spans(struct reader *r)
{
	struct host_samples *s = r->s;

	for (size_t i = 0; i < s->span_count; i++) {
		struct host_samples_span *x = &s->spans[i];
		const bool is_last = !is_of(s, i + 1, x->process, x->ordinal);
		struct host_samples_span *next = is_last ? NULL : x + 1;
		const uint64_t least = subtract_to(x->start_ns, AROUND_NS),
			       most = x->end_ns + AROUND_NS;

		/* the first span of a gap; others are extended with their predecessor */
		if (r->before[i])
			x->start_ns = r->before[i] < least ? least : r->before[i];
		if (next && (!r->after[i] || r->after[i] > next->start_ns))
			x->end_ns = next->start_ns = x->end_ns + (next->start_ns - x->end_ns) / 2;
		else if (r->after[i])
			x->end_ns = r->after[i] > most ? most : r->after[i];
	}
}

static uint64_t busy_of(const struct busy *b, uint64_t start_ns, uint64_t end_ns)
{
	double ns = 0;

	for (uint64_t at = start_ns > b->start_ns ? start_ns : b->start_ns; at < end_ns;) {
		const uint64_t cell = (at - b->start_ns) / b->cell_ns,
			       end = b->start_ns + (cell + 1) * b->cell_ns,
			       to = end < end_ns ? end : end_ns;

		if (cell >= b->cells)
			break;
		ns += (double)b->ns[cell] * (double)(to - at) / (double)b->cell_ns;
		at = to;
	}
	return (uint64_t)ns;
}

static void measure_spans(struct reader *r)
{
	size_t k = 0;

	for (size_t i = 0; i < r->s->span_count; i++) {
		struct host_samples_span *x = &r->s->spans[i];
		uint64_t busy;

		while (k < r->busy_count && r->busy[k].process != x->process)
			k++;
		x->ns = x->end_ns > x->start_ns ? x->end_ns - x->start_ns : 0;
		busy = k < r->busy_count ? busy_of(&r->busy[k], x->start_ns, x->end_ns) : 0;
		x->ns -= busy < x->ns ? busy : x->ns;
	}
}

static int make_busy(struct reader *r)
{
	const struct host_samples *s = r->s;
	uint64_t end_ns;
	size_t last;

	r->busy = calloc(s->span_count, sizeof *r->busy);
	if (!r->busy)
		return no_memory();
	for (size_t i = 0; i < s->span_count; i = last) {
		struct busy *b = &r->busy[r->busy_count++];

		*b = (struct busy){.process = s->spans[i].process, .start_ns = UINT64_MAX};
		end_ns = 0;
		for (last = i; last < s->span_count && s->spans[last].process == b->process;
		     last++) {
			b->start_ns = s->spans[last].start_ns < b->start_ns
					      ? s->spans[last].start_ns
					      : b->start_ns;
			end_ns = s->spans[last].end_ns > end_ns ? s->spans[last].end_ns : end_ns;
		}
		b->start_ns = subtract_to(b->start_ns, AROUND_NS);
		end_ns += AROUND_NS;
		b->cell_ns = (end_ns - b->start_ns) / CELLS_MOST + 1;
		b->cell_ns = b->cell_ns < CELL_NS ? CELL_NS : b->cell_ns;
		b->cells = (size_t)((end_ns - b->start_ns) / b->cell_ns) + 1;
		b->ns = calloc(b->cells, sizeof *b->ns);
		if (!b->ns)
			return no_memory();
	}
	return 0;
}

/* Rows -------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
	const struct host_samples_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return (x->state > y->state) - (x->state < y->state);
}

static int compare_rows(const void *a, const void *b)
{
	const struct host_samples_row *x = a, *y = b;

	return x->ns != y->ns ? x->ns < y->ns ? 1 : -1 : compare_keys(a, b);
}

static int sum_rows(struct host_samples *s)
{
	size_t kept = 0;

	s->rows = calloc(s->span_count, sizeof *s->rows);
	if (!s->rows)
		return no_memory();
	for (size_t i = 0; i < s->span_count; i++)
		s->rows[i] = (struct host_samples_row){s->spans[i].process, s->spans[i].stack,
						       s->spans[i].state, s->spans[i].ns,
						       s->spans[i].samples};
	qsort(s->rows, s->span_count, sizeof *s->rows, compare_keys);
	for (size_t i = 0; i < s->span_count; i++) {
		if (kept && !compare_keys(&s->rows[kept - 1], &s->rows[i])) {
			s->rows[kept - 1].ns += s->rows[i].ns;
			s->rows[kept - 1].samples += s->rows[i].samples;
			continue;
		}
		s->rows[kept++] = s->rows[i];
	}
	s->row_count = kept;
	qsort(s->rows, kept, sizeof *s->rows, compare_rows);
	return 0;
}

/* Interface --------------------------------------------------------------------------------- */

int host_samples_read(struct host_samples *s, const struct gt_capture *c)
{
	struct reader r = {.s = s};
	int rc;

	*s = (struct host_samples){.spans = NULL};
	rc = read_items(&r, c, true, take_sample);
	if (rc || !s->span_count)
		return rc;
	qsort(s->spans, s->span_count, sizeof *s->spans, compare_spans);
	r.before = calloc(s->span_count, sizeof *r.before);
	r.after = calloc(s->span_count, sizeof *r.after);
	rc = r.before && r.after ? make_busy(&r) : no_memory();
	if (!rc)
		rc = read_items(&r, c, false, take_record);
	if (!rc) {
		extend_spans(&r);
		measure_spans(&r);
		rc = sum_rows(s);
	}
	for (size_t i = 0; i < r.busy_count; i++)
		free(r.busy[i].ns);
	free(r.busy);
	free(r.before);
	free(r.after);
	return rc;
}

void host_samples_fini(struct host_samples *s)
{
	free(s->spans);
	free(s->rows);
	*s = (struct host_samples){.spans = NULL};
}

const struct host_samples_span *host_samples_find(const struct host_samples *s, uint32_t process,
						  uint32_t ordinal, uint64_t start_ns,
						  uint64_t end_ns, uint64_t *ns)
{
	/* few different stacks are in one gap; further ones are not compared */
	enum { MOST = 64 };
	const struct host_samples_span *found[MOST];
	uint64_t sums[MOST];
	unsigned count = 0, best = 0;
	size_t i = find_span(s, process, ordinal, start_ns);

	if (i && is_of(s, i - 1, process, ordinal) && s->spans[i - 1].end_ns > start_ns)
		i--;
	for (; is_of(s, i, process, ordinal) && s->spans[i].start_ns < end_ns; i++) {
		const struct host_samples_span *x = &s->spans[i];
		const uint64_t from = x->start_ns > start_ns ? x->start_ns : start_ns,
			       to = x->end_ns < end_ns ? x->end_ns : end_ns;
		unsigned k = 0;

		while (k < count && found[k]->stack != x->stack)
			k++;
		if (to <= from || k == MOST)
			continue;
		if (k == count) {
			found[count] = x;
			sums[count++] = 0;
		}
		sums[k] += to - from;
		best = sums[k] > sums[best] ? k : best;
	}
	*ns = count ? sums[best] : 0;
	return count ? found[best] : NULL;
}
