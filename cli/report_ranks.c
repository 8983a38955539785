/* SPDX-License-Identifier: MIT */
/* Tables that compare ranks, show the differences between ranks, and show which ranks waited for
 * which other ranks. */
#include "cli/report_ranks.h"

#include <stdlib.h>

#include "cli/ui.h"

const struct grid_column report_rank_columns[REPORT_RANK_COLUMNS] = {
	{"rank", "rank", GRID_ID, GRID_ALWAYS, 0, false},
	{"caused_ns", "others waited", GRID_NS, GRID_ALWAYS, 0, false},
	{"last", "last in", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"compared", "of", GRID_COUNT, GRID_ALWAYS, 1, false},
	{"wait_ns", "waited", GRID_NS, GRID_ALWAYS, 0, false},
	{"device_wait_ns", "GPU time", GRID_NS, GRID_IF_ANY, 0, false},
	{"message_wait_ns", "for messages", GRID_NS, GRID_IF_ANY, 0, false},
	{"messages", "messages", GRID_COUNT, GRID_DATA, 0, false},
	{"collective_ns", "collectives", GRID_NS, GRID_ALWAYS, 1, false},
	{"collectives", "collective calls", GRID_COUNT, GRID_DATA, 0, false},
	{"call_ns", "in calls", GRID_NS, GRID_ALWAYS, 2, false},
	{"busy_ns", "busy", GRID_NS, GRID_IF_ANY, 0, false},
	{"idle_ns", "idle", GRID_NS, GRID_IF_ANY, 1, false},
	{"activities", "activities", GRID_COUNT, GRID_DATA, 0, false},
	{"kernel_ns", "in kernels of collectives", GRID_NS, GRID_IF_ANY, 0, false},
	{"kernels", "kernels of collectives", GRID_COUNT, GRID_DATA, 0, false},
	{"steps", "steps", GRID_COUNT, GRID_IF_ANY, 3, false},
	{"wall_ns", "wall", GRID_NS, GRID_ALWAYS, 4, false},
	{"processes", "processes", GRID_COUNT, GRID_DATA, 0, false},
	{"host", "host", GRID_TEXT, GRID_ALWAYS, 0, false},
};

const struct grid_column report_rank_spread_columns[REPORT_RANK_SPREAD_COLUMNS] = {
	{"min_ns", "min", GRID_NS, GRID_ALWAYS, 0, false},
	{"min_rank", "of rank", GRID_ID, GRID_ALWAYS, 0, false},
	{"p50_ns", "median", GRID_NS, GRID_ALWAYS, 0, false},
	{"max_ns", "max", GRID_NS, GRID_ALWAYS, 0, false},
	{"max_rank", "of rank", GRID_ID, GRID_ALWAYS, 0, false},
	{"what", "what", GRID_TEXT, GRID_ALWAYS, 0, false},
};

const struct grid_column report_rank_wait_columns[REPORT_RANK_WAIT_COLUMNS] = {
	{"wait_ns", "waited", GRID_NS, GRID_ALWAYS, 0, false},
	{"device_wait_ns", "GPU time", GRID_NS, GRID_IF_ANY, 0, false},
	{"message_wait_ns", "for messages", GRID_NS, GRID_IF_ANY, 0, false},
	{"calls", "calls", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"rank", "rank", GRID_ID, GRID_ALWAYS, 0, false},
	{"for_rank", "for rank", GRID_ID, GRID_ALWAYS, 0, false},
};

static uint64_t idle_ns(const struct ranks_row *row)
{
	return timeline_idle_ns(&row->busy);
}

/* Return a text such as ": 20 of 30 kernels of collectives are not compared", with the reason; "":
 * all are compared. */
static const char *describe_left_out(struct grid *g, const struct ranks *r)
{
	uint64_t left = r->kernels - r->compared_kernels;

	if (r->count < 2)
		return "";
	if (left)
		return grid_keep(g, "; %s of %s kernels of collectives cannot be compared%s",
				 show_count(left), show_count(r->kernels),
				 r->unlinked_kernels
					 ? ", because the calls that launched them were not "
					   "recorded (NCCL: gputap run -d nccl,cuda_driver)"
				 : r->graph_kernels == left ? ", because graphs launched them"
							    : "");
	if (r->is_unsure)
		return "; earlier calls are missing, so later calls are ambiguous and not compared";
	return "";
}

/* Return how long other ranks waited for messages of the rank in @row; LOOKUP_NONE: of all
 * ranks. */
static uint64_t sum_messages(const struct ranks *r, uint32_t row)
{
	uint64_t ns = 0;

	for (size_t i = 0; r->pairs && i < (size_t)r->count * r->count; i++)
		if (row == LOOKUP_NONE || i % r->count == row)
			ns += r->pairs[i].message_wait_ns;
	return ns;
}

/* Return text such as ", 2.01 s of it for messages, and was the last to arrive in 812 of 1,000
 * collective calls". */
static const char *describe_what_for(struct grid *g, const struct ranks *r, uint32_t row)
{
	const struct ranks_row *late = &r->rows[row];
	uint64_t ns = sum_messages(r, row);
	bool some = ns >= late->caused_ns / 100 && ns;
	const char *messages =
		some ? grid_keep(g, ", %s of it for messages", show_duration(ns)) : "";

	if (!late->compared)
		return messages;
	return grid_keep(g, "%s%s the last to arrive in %s of %s collective call%s", messages,
			 some ? ", and was" : ", as", show_count(late->last),
			 show_count(late->compared), late->compared == 1 ? "" : "s");
}

/* Return text such as "rank 3 on node1 made others wait 12.4 s, as the last one in 812 of 1,000
 * collective calls". */
static const char *describe_straggler(struct grid *g, const struct summary *s)
{
	uint32_t row = ranks_straggler(&s->ranks);
	const struct ranks_row *late = row == LOOKUP_NONE ? NULL : &s->ranks.rows[row];

	if (!late)
		return grid_keep(g, "Ranks%s%s",
				 s->ranks.calls ? ": none made others wait in a collective call"
						: "",
				 describe_left_out(g, &s->ranks));
	return grid_keep(g, "Ranks: rank %u on %.64s made others wait longest: %s in all%s%s",
			 late->rank, texts_get(&s->names, late->host),
			 show_duration(late->caused_ns), describe_what_for(g, &s->ranks, row),
			 describe_left_out(g, &s->ranks));
}

/* Put the sentences on ranks that keep others waiting in front of @text. */
static const char *add_hung(struct grid *g, const struct summary *s, const char *text)
{
	const char *all = "";

	for (size_t i = 0; i < s->ranks.hung.count; i++)
		all = grid_keep(g, "%s%s ", all, s->ranks.hung.sentences[i]);
	return *all ? grid_keep(g, "%s%s", all, text) : text;
}

void report_make_ranks(struct grid *g, const struct summary *s)
{
	const struct ranks *r = &s->ranks;

	for (uint32_t i = 0; i < r->count && r->count > 1; i++) {
		const struct ranks_row *row = &r->rows[i];
		struct grid_cell *cell = grid_row(g);
		bool calls = row->collectives > 0, known = row->compared || row->messages;

		*cell++ = cell_count(row->rank);
		*cell++ = known ? cell_count(row->caused_ns) : cell_none();
		*cell++ = row->compared ? cell_count(row->last) : cell_none();
		*cell++ = row->compared ? cell_count(row->compared) : cell_none();
		*cell++ = known ? cell_count(row->wait_ns) : cell_none();
		*cell++ = row->device_wait_ns ? cell_count(row->device_wait_ns) : cell_none();
		*cell++ = row->messages ? cell_count(row->message_wait_ns) : cell_none();
		*cell++ = cell_count(row->messages);
		*cell++ = calls ? cell_count(row->collective_ns) : cell_none();
		*cell++ = cell_count(row->collectives);
		*cell++ = cell_count(row->call_ns);
		*cell++ = row->activity ? cell_count(row->busy.busy_ns) : cell_none();
		*cell++ = row->activity ? cell_count(idle_ns(row)) : cell_none();
		*cell++ = cell_count(row->activity);
		*cell++ = row->kernels ? cell_count(row->kernel_ns) : cell_none();
		*cell++ = cell_count(row->kernels);
		*cell++ = row->steps ? cell_count(row->steps) : cell_none();
		*cell++ = row->end_ns > row->start_ns && row->start_ns
				  ? cell_count(row->end_ns - row->start_ns)
				  : cell_none();
		*cell++ = cell_count(row->processes);
		*cell++ = cell_text(texts_get(&s->names, row->host));
	}
	grid_sort(g, 0, true);
	if (ranks_straggler(r) != LOOKUP_NONE)
		grid_sort(g, (unsigned)grid_column(g, "caused_ns"), false);
	g->heading = add_hung(g, s, describe_straggler(g, s));
}

/* Distribution of one measure over the ranks. */
struct measure {
	const char *what;
	uint64_t (*get)(const struct ranks_row *row);
	bool (*is_known)(const struct ranks_row *row);
};

static uint64_t get_caused(const struct ranks_row *row)
{
	return row->caused_ns;
}

static uint64_t get_wait(const struct ranks_row *row)
{
	return row->wait_ns;
}

static uint64_t get_collective(const struct ranks_row *row)
{
	return row->collective_ns;
}

static uint64_t get_calls(const struct ranks_row *row)
{
	return row->call_ns;
}

static uint64_t get_busy(const struct ranks_row *row)
{
	return row->busy.busy_ns;
}

static uint64_t get_kernels(const struct ranks_row *row)
{
	return row->kernel_ns;
}

static bool has_kernels(const struct ranks_row *row)
{
	return row->kernels > 0;
}

static bool is_compared(const struct ranks_row *row)
{
	return row->compared || row->messages;
}

static bool is_collective(const struct ranks_row *row)
{
	return row->collectives > 0;
}

static bool is_any(const struct ranks_row *row)
{
	return row->processes > 0;
}

static bool is_working(const struct ranks_row *row)
{
	return row->activity > 0;
}

static const struct measure measures[] = {
	{"others waited for it", get_caused, is_compared},
	{"waited for others", get_wait, is_compared},
	{"in collective calls", get_collective, is_collective},
	{"in calls", get_calls, is_any},
	{"in kernels of collectives", get_kernels, has_kernels},
	{"devices busy", get_busy, is_working},
	{"devices idle between activities", idle_ns, is_working},
};

struct value {
	uint64_t ns;
	uint32_t rank;
};

static int compare_values(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

void report_make_rank_spread(struct grid *g, const struct summary *s)
{
	const struct ranks *r = &s->ranks;
	struct value *values = allocate_list(r->count, sizeof *values);

	for (size_t m = 0; m < sizeof measures / sizeof *measures && r->count > 1; m++) {
		struct grid_cell *cell;
		size_t n = 0;

		for (uint32_t i = 0; i < r->count; i++)
			if (measures[m].is_known(&r->rows[i]))
				values[n++] = (struct value){measures[m].get(&r->rows[i]),
							     r->rows[i].rank};
		if (!n)
			continue;
		qsort(values, n, sizeof *values, compare_values);
		cell = grid_row(g);
		*cell++ = cell_count(values[0].ns);
		*cell++ = cell_count(values[0].rank);
		*cell++ = cell_count(values[(n - 1) / 2].ns);
		*cell++ = cell_count(values[n - 1].ns);
		*cell++ = cell_count(values[n - 1].rank);
		*cell++ = cell_text(measures[m].what);
	}
	free(values);
}

void report_make_rank_waits(struct grid *g, const struct summary *s)
{
	const struct ranks *r = &s->ranks;

	for (size_t i = 0; r->pairs && i < (size_t)r->count * r->count; i++) {
		const struct ranks_pair *pair = &r->pairs[i];
		struct grid_cell *cell;

		if (!pair->calls)
			continue;
		cell = grid_row(g);
		*cell++ = cell_count(pair->wait_ns);
		*cell++ = pair->device_wait_ns ? cell_count(pair->device_wait_ns) : cell_none();
		*cell++ = pair->message_wait_ns ? cell_count(pair->message_wait_ns) : cell_none();
		*cell++ = cell_count(pair->calls);
		*cell++ = cell_count(r->rows[i / r->count].rank);
		*cell++ = cell_count(r->rows[i % r->count].rank);
	}
	grid_sort(g, 0, false);
	g->heading = grid_keep(g, "Waits for other ranks in collective calls%s%s",
			       sum_messages(r, LOOKUP_NONE) ? " and for messages" : "",
			       describe_left_out(g, r));
}
