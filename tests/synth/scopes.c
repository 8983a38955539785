/* SPDX-License-Identifier: MIT */
/* scopes FILE SEED COUNT: for COUNT random time ranges of a capture, compares a cursor that skips
 * blocks with a cursor that reads all blocks, and with the whole capture. Prints the share of the
 * file that was read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "record/operation.h"
#include "util/error.h"

enum { SPANS_MOST = 3 };

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below ? random_state % below : 0;
}

static struct gt_cursor *begin(struct gt_capture *c, const struct gt_scope *slice)
{
	struct gt_cursor *k;

	if (gt_capture_set_scope(c, slice) || gt_cursor_create(c, &k)) {
		gt_error_print(stderr);
		exit(1);
	}
	return k;
}

static bool is_same(const struct gt_item *a, const struct gt_item *b)
{
	return a->kind == b->kind && a->op == b->op && a->id == b->id && a->parent == b->parent &&
	       a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->depth == b->depth &&
	       a->process == b->process && a->ordinal == b->ordinal && a->ret == b->ret &&
	       !memcmp(a->external, b->external, sizeof a->external) &&
	       a->payload_bytes == b->payload_bytes &&
	       (a->kind != GT_RECORD_DEVICE || a->bytes == b->bytes);
}

static bool is_in(const struct gt_scope *slice, const struct gt_item *item)
{
	const struct gt_operation_info *info =
		item->kind == GT_RECORD_CALL ? gt_operation(item->op) : NULL;

	if (item->kind == GT_RECORD_EXTERNAL || (item->kind == GT_RECORD_DEVICE && !item->start_ns))
		return true;
	if (info && info->mark && info->mark != GT_MARK_INSTANT && info->mark != GT_MARK_RANGE)
		return true;
	for (size_t i = 0; i < slice->count; i++)
		if (item->start_ns <= slice->spans[i].to_ns &&
		    slice->spans[i].from_ns <=
			    (item->end_ns > item->start_ns ? item->end_ns : item->start_ns))
			return true;
	return false;
}

static void fail(const char *what, const struct gt_scope *slice, const struct gt_item *item)
{
	fprintf(stderr, "%s: item %" PRIx64 " of process %" PRIu32 " at %" PRIu64 " ns, slice",
		what, item->id, item->process, item->start_ns);
	for (size_t i = 0; i < slice->count; i++)
		fprintf(stderr, " %" PRIu64 "..%" PRIu64, slice->spans[i].from_ns,
			slice->spans[i].to_ns);
	fputc('\n', stderr);
	exit(1);
}

/* Return the number of items. */
static uint64_t compare(struct gt_capture *c, const struct gt_scope *slice, uint64_t *bytes)
{
	struct gt_scope all = *slice;
	struct gt_cursor *some, *every, *whole;
	const struct gt_item *a, *b, *w;
	uint64_t count = 0, wanted = 0;
	int more;

	all.read_all = true;
	some = begin(c, slice);
	every = begin(c, &all);
	for (;; count++) {
		more = gt_cursor_next(some, &a);
		if (gt_cursor_next(every, &b) != more)
			fail("one ends before the other", slice, more ? a : b);
		if (more <= 0)
			break;
		if (!is_same(a, b))
			fail("differs", slice, a);
		if (!is_in(slice, a))
			fail("not asked for", slice, a);
	}
	*bytes = gt_cursor_bytes_read(some);
	gt_cursor_destroy(some);
	gt_cursor_destroy(every);
	whole = begin(c, NULL);
	while (gt_cursor_next(whole, &w) > 0)
		wanted += is_in(slice, w);
	gt_cursor_destroy(whole);
	if (wanted != count) {
		fprintf(stderr, "%" PRIu64 " items instead of %" PRIu64 "\n", count, wanted);
		exit(1);
	}
	return count;
}

int main(int argc, char **argv)
{
	struct gt_time_range spans[SPANS_MOST];
	struct gt_scope slice = {.spans = spans};
	uint64_t begin_ns, length, at, bytes;
	struct gt_capture *c;

	if (argc != 4 || gt_capture_open(argv[1], &c)) {
		gt_error_print(stderr);
		return 2;
	}
	random_state = strtoull(argv[2], NULL, 0) * 7919 + 88172645463325252;
	begin_ns = gt_capture_session(c)->start_ns;
	length = gt_capture_last_call_ns(c, 0) - begin_ns;
	for (int i = 0; i < atoi(argv[3]); i++) {
		slice.count = 1 + draw(SPANS_MOST);
		at = begin_ns + draw(length);
		for (size_t n = 0; n < slice.count; n++) {
			spans[n].from_ns = at;
			spans[n].to_ns = at += draw(length >> (1 + draw(14)));
			at += 1 + draw(length / 4);
		}
		uint64_t items = compare(c, &slice, &bytes);
		printf("%" PRIu64 " items, %" PRIu64 " bytes\n", items, bytes);
	}
	gt_capture_close(c);
	return 0;
}
