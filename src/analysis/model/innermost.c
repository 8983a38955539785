/* SPDX-License-Identifier: MIT */
/* See innermost.h. */
#include "analysis/model/innermost.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/model/ranges.h"
#include "record/operation.h"
#include "util/error.h"
#include "util/grow.h"

static int compare_threads(const struct gt_innermost_range *r, uint32_t process, uint32_t ordinal)
{
	if (r->process != process)
		return r->process < process ? -1 : 1;
	return (r->ordinal > ordinal) - (r->ordinal < ordinal);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct gt_innermost_range *x = a, *y = b;
	int threads = compare_threads(x, y->process, y->ordinal);

	if (threads)
		return threads;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->last < y->last) - (x->last > y->last); /* outer range first */
}

int gt_innermost_add(struct gt_innermost *m, uint32_t process, uint32_t ordinal, uint64_t first,
		     uint64_t last)
{
	struct gt_innermost_range *ranges;

	if (!first || last < first)
		return 0;
	ranges = gt_grow(m->ranges, m->count, &m->room, sizeof *ranges);
	if (!ranges)
		return gt_error(-ENOMEM, "cannot store the ranges of the program");
	m->ranges = ranges;
	ranges[m->count++] = (struct gt_innermost_range){.first = first,
							 .last = last,
							 .process = process,
							 .ordinal = ordinal};
	return 0;
}

void gt_innermost_sort(struct gt_innermost *m)
{
	size_t open = SIZE_MAX;

	if (m->count)
		qsort(m->ranges, m->count, sizeof *m->ranges, compare_ranges);
	for (size_t i = 0; i < m->count; i++) {
		struct gt_innermost_range *r = &m->ranges[i];

		while (open != SIZE_MAX &&
		       (compare_threads(&m->ranges[open], r->process, r->ordinal) ||
			m->ranges[open].last < r->first))
			open = m->ranges[open].around;
		r->around = open;
		open = i;
	}
}

/* Return true if exactly the first @n ranges start at the call or before it. */
static bool is_position(const struct gt_innermost *m, size_t n, uint32_t process, uint32_t ordinal,
			uint64_t id)
{
	const struct gt_innermost_range *r = m->ranges;

	return n && n <= m->count && !compare_threads(&r[n - 1], process, ordinal) &&
	       r[n - 1].first <= id &&
	       (n == m->count || compare_threads(&r[n], process, ordinal) || r[n].first > id);
}

static size_t find_position(const struct gt_innermost *m, uint32_t process, uint32_t ordinal,
			    uint64_t id)
{
	size_t low = 0, high = m->count;

	while (low < high) { /* find the first range that starts after the call */
		size_t middle = low + (high - low) / 2;
		const struct gt_innermost_range *r = &m->ranges[middle];
		int threads = compare_threads(r, process, ordinal);

		if (threads < 0 || (!threads && r->first <= id))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t gt_innermost_find(struct gt_innermost *m, uint32_t process, uint32_t ordinal, uint64_t id)
{
	/* calls are usually looked up in order */
	if (!is_position(m, m->last, process, ordinal, id)) {
		m->last++;
		if (!is_position(m, m->last, process, ordinal, id))
			m->last = find_position(m, process, ordinal, id);
	}
	if (!m->last || compare_threads(&m->ranges[m->last - 1], process, ordinal))
		return 0;
	for (size_t i = m->last - 1; i != SIZE_MAX; i = m->ranges[i].around)
		if (m->ranges[i].last >= id)
			return m->ranges[i].first;
	return 0;
}

static bool has_whole_ranges(enum gt_domain domain)
{
	for (uint32_t n = 0; gt_domain_traits[domain].marks && n < gt_operation_count(domain); n++)
		if (gt_mark_of(GT_OP(domain, n, 0)) == GT_MARK_RANGE)
			return true;
	return false;
}

static bool has_recorded(const struct gt_capture *c, enum gt_domain domain)
{
	for (uint32_t i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_counts *counts = gt_capture_counts(c, i);

		if (counts && counts->seen[GT_CLASS_CALL][domain])
			return true;
	}
	return false;
}

static int read_ranges(struct gt_innermost *m, struct gt_cursor *cursor)
{
	const struct gt_item *item;
	int status;

	while ((status = gt_cursor_next(cursor, &item)) > 0) {
		if (item->kind != GT_RECORD_CALL || gt_mark_of(item->op) != GT_MARK_RANGE)
			continue;
		status = gt_innermost_add(m, item->process, item->ordinal, item->id, item->ret);
		if (status)
			break;
	}
	return status;
}

int gt_innermost_read(struct gt_innermost *m, const struct gt_capture *c)
{
	struct gt_cursor *cursor;
	bool any = false;
	int status;

	for (unsigned d = 0; d < GT_DOMAIN_COUNT && !any; d++)
		any = has_whole_ranges((enum gt_domain)d) && has_recorded(c, (enum gt_domain)d);
	if (!any)
		return 0;
	status = gt_cursor_create(c, &cursor);
	if (status)
		return status;
	status = read_ranges(m, cursor);
	gt_cursor_destroy(cursor);
	gt_innermost_sort(m);
	return status;
}

void gt_innermost_fini(struct gt_innermost *m)
{
	free(m->ranges);
	*m = (struct gt_innermost){0};
}
