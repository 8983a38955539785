/* SPDX-License-Identifier: MIT */
/* Prints a capture as JSON, for tests: the counts that the capture reports, and the counts of its
 * items. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "util/error.h"

struct tally {
	uint64_t calls, device;
};

static uint64_t sum(const uint64_t counts[GT_CLASS_COUNT][GT_DOMAIN_COUNT], int class)
{
	uint64_t n = 0;

	for (int d = 0; d < GT_DOMAIN_COUNT; d++)
		n += counts[class][d];
	return n;
}

static void print_class(const struct gt_counts *c, int class)
{
	printf("{\"seen\": %llu, \"recorded\": %llu, \"evicted\": %llu, \"dropped\": {",
	       (unsigned long long)sum(c->seen, class), (unsigned long long)sum(c->recorded, class),
	       (unsigned long long)sum(c->evicted, class));
	for (int why = 0, n = 0; why < GT_DROP_REASON_COUNT; why++) {
		static const char *const names[] = {"full",     "nested",     "pool", "runtime",
						    "too_long", "unfinished", "torn", "output"};
		uint64_t lost = sum(c->dropped[why], class);

		if (lost)
			printf("%s\"%s\": %llu", n++ ? ", " : "", names[why],
			       (unsigned long long)lost);
	}
	printf("}}");
}

static void print_process(const struct gt_capture *c, uint32_t i, const struct tally *t)
{
	const struct gt_process_info *p = gt_capture_process(c, i);
	const struct gt_counts *counts = gt_capture_counts(c, i);
	size_t threads = 0;

	for (size_t k = 0; k < gt_capture_thread_count(c); k++)
		threads += gt_capture_thread(c, k)->process == i;
	printf("%s\n  {\"pid\": %u, \"ppid\": %u, \"forks\": %u, \"wait_status\": %d, \"ended\": "
	       "%s, \"proper_end\": %s, "
	       "\"runtimes\": %llu, \"children_lost\": %u, \"threads\": %zu, \"calls\": %llu, "
	       "\"device\": %llu",
	       i ? "," : "", p->pid, p->ppid, p->fork_count, p->wait_status,
	       p->ended ? "true" : "false", p->proper_end ? "true" : "false",
	       (unsigned long long)p->runtimes, p->children_lost, threads,
	       (unsigned long long)t->calls, (unsigned long long)t->device);
	if (counts) {
		printf(", \"count_calls\": ");
		print_class(counts, GT_CLASS_CALL);
		printf(", \"count_device\": ");
		print_class(counts, GT_CLASS_DEVICE);
	}
	printf("}");
}

int main(int argc, char **argv)
{
	static const char *const ends[] = {"complete", "incomplete", "cut"};
	const struct gt_capture_health *h;
	const struct gt_item *item;
	struct gt_cursor *cursor;
	struct gt_capture *c;
	struct tally *tallies;
	size_t count;
	int status;

	if (argc != 2 || gt_capture_open(argv[1], &c) || gt_cursor_create(c, &cursor)) {
		gt_error_print(stderr);
		return 1;
	}
	h = gt_capture_health(c);
	count = gt_capture_process_count(c);
	tallies = calloc(count + 1, sizeof *tallies);
	while ((status = gt_cursor_next(cursor, &item)) == 1) {
		if (item->process >= count)
			continue;
		tallies[item->process].calls += item->kind == GT_RECORD_CALL;
		tallies[item->process].device += item->kind == GT_RECORD_DEVICE;
	}
	printf("{\"end\": \"%s\", \"bad_blocks\": %llu, \"status\": %d, \"processes\": [",
	       ends[h->end], (unsigned long long)h->bad_blocks, status);
	for (uint32_t i = 0; i < count; i++)
		print_process(c, i, &tallies[i]);
	printf("]}\n");
	gt_cursor_destroy(cursor);
	gt_capture_close(c);
	free(tallies);
	return status < 0;
}
