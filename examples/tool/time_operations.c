/* SPDX-License-Identifier: MIT */
/* Print how often each operation was called, and how long its calls took, as a table on stderr when
 * the program ends.
 *
 * The calls arrive as records through a buffer. The program's threads need only a few ns more for
 * each call, and a gputap thread adds up the records.
 * LD_PRELOAD=libgputap.so.0 GPUTAP_TOOLS=./time_operations.so program */
#include <gputap/tool.h>

#include <stdio.h>
#include <stdlib.h>

enum { DOMAINS = 16, OPERATIONS = 1024 };

static struct gputap_context *context;
static struct gputap_buffer *buffer;

static struct row {
	enum gputap_domain domain;
	uint32_t operation;
	uint64_t calls, ns, longest;
} rows[DOMAINS][OPERATIONS];

/* Add up the records. Only one thread calls this function, so no lock is needed. */
static void add_up(struct gputap_buffer *from, const struct gputap_record *records, size_t count,
		   uint64_t lost, void *user)
{
	(void)from, (void)lost, (void)user;
	for (size_t i = 0; i < count; i++) {
		const struct gputap_record_call *call = records[i].payload;
		struct row *r;

		if (records[i].kind != GPUTAP_RECORD_CALL || call->operation >= OPERATIONS)
			continue;
		r = &rows[call->domain][call->operation];
		r->domain = call->domain;
		r->operation = call->operation;
		r->calls++;
		r->ns += call->end - call->start;
		if (call->end - call->start > r->longest)
			r->longest = call->end - call->start;
	}
}

static int record(enum gputap_domain domain, const char *name, void *user)
{
	(void)name, (void)user;
	gputap_context_buffer(context, domain, NULL, 0, 0, 0, buffer);
	return 0;
}

static int start(void *user)
{
	struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_buffer_opts room = {.size = sizeof room, .fn = add_up};
	int rc = gputap_buffer_create(&room, &buffer);

	(void)user;
	if (rc == 0)
		rc = gputap_context_create(&opts, &context);
	if (rc == 0)
		rc = gputap_domains_iterate(record, NULL);
	return rc ? rc : gputap_context_start(context);
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

static void finish(void *user)
{
	struct row *all = &rows[0][0];

	(void)user;
	gputap_context_stop(context);
	gputap_buffer_destroy(buffer); /* delivers the remaining records */
	qsort(all, DOMAINS * OPERATIONS, sizeof *all, by_time);
	fprintf(stderr, "%-44s %10s %12s %12s %12s\n", "operation", "calls", "total us", "mean us",
		"longest us");
	for (size_t i = 0; i < DOMAINS * OPERATIONS && all[i].calls; i++)
		fprintf(stderr, "%-44s %10lu %12.1f %12.2f %12.1f\n",
			gputap_operation_name(all[i].domain, all[i].operation),
			(unsigned long)all[i].calls, (double)all[i].ns / 1e3,
			(double)all[i].ns / 1e3 / (double)all[i].calls,
			(double)all[i].longest / 1e3);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "time_operations",
						.start = start,
						.finish = finish};

	(void)version;
	return &tool;
}
