/* SPDX-License-Identifier: MIT */
/* Reads one run of a side in one pass. Uses the summary of reports, which adds records to rows.
 * Rows of different runs belong together if they have the same key:
 *
 *   table, device, rank, name       names of kernels are demangled in all runtimes
 *
 * Keys contain no clock, pid or handle. The runs of both sides are read at the same time, so this
 * file has no shared state. */
#include "analysis/compare/diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/diff_units.h"
#include "analysis/query/filter.h"
#include "analysis/query/filter_nothing.h"
#include "analysis/tables/retained.h"
#include "analysis/tables/selection.h"
#include "analysis/tables/summary.h"
#include "util/error.h"

#define MOST_LOAD 0.95
enum { UNIT_SLOTS = 4096 }; /* largest number of occurrences of a range for which times are kept */

struct reading {
	struct summary_observer observer; /* must be the first member */
	struct diff_run *run;
	struct summary *s;
	const struct gt_capture *capture;
	unsigned by;
	uint32_t *row_of_group[SUMMARY_CLASS_COUNT]; /* row + 1; 0: not known yet */
	uint32_t group_room[SUMMARY_CLASS_COUNT];
	uint32_t *row_of_operator; /* row + 1, indexed by name */
	uint32_t operator_room;
	uint32_t *row_of_idle; /* row + 1, indexed by row of idle time and cause */
	uint32_t idle_room;
	struct diff_units units;
	/* slot + 1 of each unit (occurrence of the range); 0: the unit is empty so far */
	uint32_t *slots;
	uint64_t units_seen;
};

/* Rows --------------------------------------------------------------------------------- */

static uint32_t find_row(struct diff_run *run, enum diff_table table, const char *name,
			 uint32_t device, uint32_t rank)
{
	size_t size = strlen(name) + 64;
	char *key = allocate_list(size, 1);
	uint32_t row;

	snprintf(key, size, "%c%" PRIx32 " %" PRIx32 " %s", 'A' + (int)table, device, rank, name);
	row = texts_put(&run->keys, key);
	free(key);
	if (row < run->row_count)
		return row;
	GROW_LIST(run->rows, run->row_count, run->row_room);
	run->rows[run->row_count] = (struct diff_row){
		.table = table,
		.name = texts_put(&run->names, name),
		.device = device,
		.rank = rank,
	};
	return run->row_count++;
}

static enum diff_table table_of(enum summary_class class)
{
	switch (class) {
	case SUMMARY_CALLS: return DIFF_OPERATIONS;
	case SUMMARY_RANGES: return DIFF_RANGES;
	case SUMMARY_KERNELS: return DIFF_KERNELS;
	case SUMMARY_COPIES: return DIFF_COPIES;
	default: return DIFF_OTHER;
	}
}

/* Return the name of a range, preceded by its NVTX domain and category. Owner: caller. */
static char *full_name(const struct summary *s, const struct summary_group *g)
{
	const char *name = texts_get(&s->names, g->name), *scope = "", *category = "";
	char *text;

	if (g->scope && g->scope != LOOKUP_NONE)
		scope = texts_get(&s->names, g->scope);
	if (g->category && g->category != LOOKUP_NONE)
		category = texts_get(&s->names, g->category);
	if (asprintf(&text, "%s%s%s%s%s", scope, *scope ? "/" : "", category, *category ? "/" : "",
		     name) < 0)
		text = NULL;
	return text;
}

static uint32_t row_of_group(struct reading *r, enum summary_class class, uint32_t group)
{
	const struct summary_group *g = &r->s->groups[class].rows[group];
	uint32_t rank = LOOKUP_NONE, row;
	char *name;

	GROW_LIST(r->row_of_group[class], group, r->group_room[class]);
	if (r->row_of_group[class][group])
		return r->row_of_group[class][group] - 1;
	if (g->place != LOOKUP_NONE)
		rank = r->s->places[g->place].rank;
	name = full_name(r->s, g);
	row = find_row(r->run, table_of(class), name ? name : "",
		       r->by & DIFF_BY_DEVICE ? g->device : LOOKUP_NONE, rank);
	free(name);
	r->row_of_group[class][group] = row + 1;
	return row;
}

static void add_to_unit(struct reading *r, struct diff_row *row,
			const struct summary_observed *what)
{
	uint32_t unit = diff_units_find(&r->units, what->thread, what->place), slot;

	if (unit == LOOKUP_NONE)
		return;
	row->in_units++;
	if (!r->slots[unit])
		r->slots[unit] = (uint32_t)++r->units_seen;
	slot = r->slots[unit] - 1;
	if (slot >= UNIT_SLOTS)
		return;
	if (!row->of_units) {
		row->of_units = allocate_list(UNIT_SLOTS, sizeof *row->of_units);
		row->counts_of_units = allocate_list(UNIT_SLOTS, sizeof *row->counts_of_units);
	}
	row->of_units[slot] += (float)what->duration_ns;
	row->counts_of_units[slot]++;
}

/* Return a number that sizes of launches in any order have in common. */
static uint64_t hash_size(const struct gt_item *kernel)
{
	uint64_t hash = 0;

	for (unsigned i = 0; i < 3; i++)
		hash = lookup_mix(hash + ((uint64_t)kernel->global[i] << 32 | kernel->local[i]));
	return hash;
}

static void observe(struct summary_observer *observer, const struct summary_observed *what)
{
	struct reading *r = (struct reading *)observer;
	uint32_t at = row_of_group(r, what->class, what->group); /* may move the rows */
	struct diff_row *row = &r->run->rows[at];

	diff_series_add(&row->series, (double)what->duration_ns);
	if (what->class == SUMMARY_KERNELS)
		row->sizes += hash_size(what->item);
	if (r->units.count)
		add_to_unit(r, row, what);
}

static void observe_operator(void *data, uint32_t name, uint64_t duration_ns)
{
	struct reading *r = data;
	uint32_t row;

	GROW_LIST(r->row_of_operator, name, r->operator_room);
	if (!r->row_of_operator[name])
		r->row_of_operator[name] =
			find_row(r->run, DIFF_GPU_BY_RANGE, texts_get(&r->s->names, name),
				 LOOKUP_NONE, LOOKUP_NONE) +
			1;
	row = r->row_of_operator[name] - 1;
	diff_series_add(&r->run->rows[row].series, (double)duration_ns);
}

/* Return the row of a cause of idle time. @at: row in idle.rows. */
static uint32_t row_of_idle(struct reading *r, uint32_t at, enum gt_idle_cause cause)
{
	const struct idle_owner *owner = &r->s->idle.rows[at].owner;
	const uint32_t rank =
		owner->place == LOOKUP_NONE ? LOOKUP_NONE : r->s->places[owner->place].rank;
	const uint32_t number = at * GT_IDLE_COUNT + cause;
	uint32_t *row;
	char name[256];

	GROW_LIST(r->row_of_idle, number, r->idle_room);
	row = &r->row_of_idle[number];
	if (!*row) {
		snprintf(name, sizeof name, "device %" PRIu32 ": %s", owner->device,
			 gt_idle_cause_text(cause));
		*row = find_row(r->run, DIFF_IDLE, name, LOOKUP_NONE, rank) + 1;
	}
	return *row - 1;
}

/* Observe the time that one gap has of one cause. */
static void observe_idle(void *data, uint32_t at, enum gt_idle_cause cause, uint64_t ns)
{
	struct reading *r = data;
	const uint32_t row = row_of_idle(r, at, cause);

	diff_series_add(&r->run->rows[row].series, (double)ns);
}

/* Rows that are added after the last record
 * ------------------------------------------------------- */

static void add_groups(struct reading *r)
{
	for (unsigned c = 0; c < SUMMARY_CLASS_COUNT; c++)
		for (uint32_t i = 0; i < r->s->groups[c].count; i++) {
			const struct summary_group *g = &r->s->groups[c].rows[i];
			uint32_t row = row_of_group(r, (enum summary_class)c, i);

			r->run->rows[row].count += g->count;
			r->run->rows[row].total_ns += g->times.total;
		}
}

static void add_operators(struct reading *r)
{
	const struct gpu_by_range *o = &r->s->gpu_by_range;

	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t row;

		if (o->rows[i].name == LOOKUP_NONE || !o->rows[i].self_ns)
			continue;
		row = find_row(r->run, DIFF_GPU_BY_RANGE, texts_get(&r->s->names, o->rows[i].name),
			       LOOKUP_NONE, LOOKUP_NONE);
		r->run->rows[row].count += o->rows[i].activity;
		r->run->rows[row].total_ns += o->rows[i].self_ns;
	}
}

/* Return the ordinal of a graph in its process, from 1. Numbers of objects differ between runs. */
static uint32_t ordinal_of_graph(const struct graphs *g, uint32_t at)
{
	uint32_t ordinal = 1;

	for (uint32_t i = 0; i < g->count; i++)
		ordinal += g->rows[i].process == g->rows[at].process &&
			   g->rows[i].number < g->rows[at].number;
	return ordinal;
}

static uint32_t row_of_graph(struct reading *r, uint32_t at)
{
	const struct graphs_row *graph = &r->s->graphs.rows[at];
	uint32_t rank = LOOKUP_NONE, ordinal = ordinal_of_graph(&r->s->graphs, at);
	char name[64];

	if (r->by & DIFF_BY_RANK)
		rank = r->s->processes[graph->process].rank;
	if (graph->nodes)
		snprintf(name, sizeof name, "graph %" PRIu32 " (%" PRIu64 " nodes)", ordinal,
			 graph->nodes);
	else
		snprintf(name, sizeof name, "graph %" PRIu32, ordinal);
	return find_row(r->run, DIFF_GRAPHS, name, LOOKUP_NONE, rank);
}

static void add_graphs(struct reading *r)
{
	const struct graphs *g = &r->s->graphs;
	uint32_t *rows = allocate_list(g->count + 1, sizeof *rows);

	for (uint32_t i = 0; i < g->count; i++)
		rows[i] = row_of_graph(r, i);
	for (uint32_t i = 0; i < g->launch_count; i++) {
		const struct graphs_launch *launch = &g->launches[i];
		struct diff_row *row = &r->run->rows[rows[launch->row]];

		row->count++;
		if (!launch->start_ns)
			continue;
		row->total_ns += launch->end_ns - launch->start_ns;
		diff_series_add(&row->series, (double)(launch->end_ns - launch->start_ns));
	}
	free(rows);
}

/* Add a value to a row that consists of one number. */
static void add_value(struct reading *r, enum diff_table table, const char *name, uint32_t rank,
		      uint64_t ns, uint64_t count)
{
	uint32_t row = find_row(r->run, table, name, LOOKUP_NONE, rank);

	r->run->rows[row].count += count;
	r->run->rows[row].total_ns += ns;
}

/* Sum the gaps that were ended by activities matching the filter. Activities that the filter
 * excludes may run within such a gap. */
static struct idle_sum sum_idle(const struct idle *idle, uint32_t device)
{
	struct idle_sum sum = {0};

	for (uint32_t i = 0; i < idle->row_count; i++) {
		if (idle->rows[i].owner.device != device)
			continue;
		sum.ns += idle->rows[i].all.ns;
		sum.gaps += idle->rows[i].all.gaps;
	}
	return sum;
}

static void add_devices(struct reading *r)
{
	char name[256];

	for (uint32_t i = 0; i < r->s->track_count; i++) {
		const struct summary_track *t = &r->s->tracks[i];
		struct idle_sum idle = sum_idle(&r->s->idle, t->device);

		if (!t->all.any)
			continue;
		snprintf(name, sizeof name, "device %" PRIu32 ": busy", t->device);
		add_value(r, DIFF_DEVICES, name, LOOKUP_NONE, t->all.busy_ns, t->count);
		if (r->s->is_part) /* the device's state between these activities is not known */
			continue;
		snprintf(name, sizeof name, "device %" PRIu32 ": idle", t->device);
		add_value(r, DIFF_DEVICES, name, LOOKUP_NONE, idle.ns, idle.gaps);
	}
}

/* Add idle time by cause and, with --by rank, by rank. */
static void add_idle(struct reading *r)
{
	const struct idle *idle = &r->s->idle;

	for (uint32_t i = 0; i < idle->row_count; i++)
		for (int cause = 0; cause < GT_IDLE_COUNT; cause++) {
			const struct idle_sum *sum = &idle->rows[i].sums[cause];
			uint32_t row;

			if (!sum->ns)
				continue;
			row = row_of_idle(r, i, (enum gt_idle_cause)cause);
			r->run->rows[row].count += sum->gaps;
			r->run->rows[row].total_ns += sum->ns;
		}
}

static void add_totals(struct reading *r)
{
	const struct summary *s = r->s;
	uint64_t call_ns = 0, activity_ns[SUMMARY_CLASS_COUNT] = {0};
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;
	bool is_part = s->filter || gt_capture_is_filtered(r->capture);

	for (uint32_t i = 0; i < s->file_count; i++) {
		is_part |= *s->files[i].retained_text != '\0';
		begin_ns = s->files[i].start_ns < begin_ns ? s->files[i].start_ns : begin_ns;
		end_ns = s->files[i].end_ns > end_ns ? s->files[i].end_ns : end_ns;
		r->run->records += s->files[i].records;
		r->run->untraced += s->files[i].untraced;
	}
	r->run->wall_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
	for (uint32_t i = 0; i < s->process_count; i++) {
		const struct summary_process *p = &s->processes[i];
		call_ns += p->call_ns;
		if (p->rank == LOOKUP_NONE)
			continue;
		add_value(r, DIFF_RANKS, "in calls", p->rank, p->call_ns, p->calls);
		add_value(r, DIFF_RANKS, "GPU activities", p->rank, p->device_ns, p->device_count);
	}
	for (unsigned c = 0; c < SUMMARY_CLASS_COUNT; c++)
		for (uint32_t i = 0; i < s->groups[c].count; i++)
			activity_ns[c] += s->groups[c].rows[i].times.total;
	if (!is_part) /* meaningless for a part of the run */
		add_value(r, DIFF_TOTALS, "from start to end", LOOKUP_NONE, r->run->wall_ns, 0);
	if (call_ns)
		add_value(r, DIFF_TOTALS, "in calls", LOOKUP_NONE, call_ns, 0);
	if (activity_ns[SUMMARY_KERNELS])
		add_value(r, DIFF_TOTALS, "kernels", LOOKUP_NONE, activity_ns[SUMMARY_KERNELS], 0);
	if (activity_ns[SUMMARY_COPIES])
		add_value(r, DIFF_TOTALS, "copies", LOOKUP_NONE, activity_ns[SUMMARY_COPIES], 0);
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Find the median and its confidence bounds, based on order statistics. */
static void sum_up(struct diff_row *row, bool keep_series)
{
	uint32_t n = row->series.sample_count, low, high;
	float sorted[DIFF_SAMPLE];

	if (!n)
		return;
	memcpy(sorted, row->series.sample, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, compare_floats);
	low = (uint32_t)fmax(0, floor(n / 2.0 - 0.98 * sqrt(n)));
	high = (uint32_t)fmin(n - 1, ceil(n / 2.0 + 0.98 * sqrt(n)));
	row->median = diff_series_median(&row->series);
	row->median_low = (double)sorted[low];
	row->median_high = (double)sorted[high];
	row->median_variance = diff_variance_of_median(&row->series);
	if (!keep_series) {
		free(row->series.sample);
		row->series.sample = NULL;
		row->series.sample_count = row->series.sample_room = 0;
	}
}

/* The command ------------------------------------------------------------------------- */

static char *copy_text(const char *text)
{
	return strdup(text ? text : "");
}

/* Describe the recorded part like the head of a report. Owner: caller. */
static char *copy_part(const struct summary *s)
{
	char text[RETAINED_TEXT + 32] = "";

	for (uint32_t i = 0; i < s->file_count && !*text; i++) {
		const struct summary_file *f = &s->files[i];

		if (*f->recorded_text)
			snprintf(text, sizeof text, "Recorded: %s.", f->recorded_text);
		else if (*f->retained_text)
			snprintf(text, sizeof text, "Retained: %s.", f->retained_text);
	}
	return copy_text(text);
}

static char *name_devices(const struct summary *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < s->device_count; i++)
		if (s->devices[i].name)
			fprintf(out, "%s%s", ftell(out) ? ", " : "", s->devices[i].name);
	fclose(out);
	return text;
}

static bool is_on_gpus(const struct reading *r)
{
	const struct summary *s = r->s;

	for (uint32_t i = 0; i < s->track_count; i++) {
		const struct gt_object_info *device =
			gt_capture_device(r->capture, s->tracks[i].device);
		const char *type = device ? gt_object_value(device, "type") : NULL,
			   *name = device ? gt_object_value(device, "name") : NULL;

		/* 'gputap soft' runs the kernels of CUDA and Level Zero on processors */
		if (!type || strcmp(type, "gpu") != 0 || (name && strstr(name, "gputap software")))
			return false;
	}
	return true;
}

/* Note the load of the busiest host. A thread that becomes ready waits only if other programs use
 * all processors, and then for those in the queue. */
static void read_load(struct diff_run *run, const struct gt_machine_load *load)
{
	const double others = gt_machine_load_of_others(load), most = fmin(others, MOST_LOAD);

	if (!(others > run->others))
		return;
	run->others = others;
	run->busy = pow(most, fmax(1, load->processors));
	run->wait_ns = DIFF_WAIT_NS * run->busy / (1 - most);
}

static void read_heads(struct reading *r)
{
	const struct gt_capture_session *session = gt_capture_session_at(r->capture, 0);
	struct capture_selection selection;
	char text[SELECTION_LINE];
	struct summary *s = r->s;

	r->run->health = s->health;
	r->run->matched = s->matched + s->matched_ranges;
	if (summary_holds_for_nothing(s))
		filter_explain_nothing(s->filter, r->run->why_nothing);
	r->run->dropped = summary_dropped(s);
	if (!s->file_count)
		return;
	selection_read(session->info.options, &selection);
	selection_describe(&selection, text, sizeof text);
	r->run->selection = copy_text(text);
	r->run->devices = name_devices(s);
	r->run->on_gpus = is_on_gpus(r);
	memcpy(r->run->uuid, session->uuid, sizeof r->run->uuid);
	r->run->part = copy_part(s);
	r->run->command = copy_text(s->files[0].command);
	r->run->host = copy_text(s->files[0].host);
	r->run->start_unix_ns = s->files[0].realtime_ns;
	for (size_t i = 0; i < gt_capture_session_count(r->capture); i++)
		read_load(r->run, &gt_capture_session_at(r->capture, i)->load);
}

static int read_rows(struct reading *r, const char *unit, bool keep_series)
{
	int rc = unit ? diff_units_read(&r->units, r->capture, unit) : 0;

	if (rc)
		return rc;
	r->slots = allocate_list(r->units.count + 1, sizeof *r->slots);
	rc = summary_add(r->s, r->capture);
	rc = rc ? rc : summary_finish(r->s);
	if (rc)
		return rc;
	read_heads(r);
	add_groups(r);
	add_operators(r);
	add_graphs(r);
	add_devices(r);
	add_idle(r);
	add_totals(r);
	r->run->units = r->units_seen;
	r->run->unit_slots = (uint32_t)(r->units_seen < UNIT_SLOTS ? r->units_seen : UNIT_SLOTS);
	for (uint32_t i = 0; i < r->run->row_count; i++)
		sum_up(&r->run->rows[i], keep_series);
	return 0;
}

static void choose_keys(struct summary *s, unsigned by)
{
	for (unsigned c = 0; c < SUMMARY_CLASS_COUNT; c++) {
		s->keys[c] = SUMMARY_NAME;
		if (by & DIFF_BY_DEVICE && c >= SUMMARY_KERNELS)
			s->keys[c] |= SUMMARY_DEVICE;
	}
	s->place_keys = by & DIFF_BY_RANK ? SUMMARY_RANK : 0;
}

int diff_read_run(struct diff_run *run, const struct diff_options *options, const char *where,
		  const char *unit, bool keep_series, struct progress progress)
{
	struct summary s = {.progress = progress, .mangled = options->mangled};
	struct reading r = {.observer = {observe}, .run = run, .s = &s, .by = options->by};
	struct filter_error error;
	struct gt_capture *capture;
	int rc = gt_capture_open_several(run->paths, run->path_count, &capture);

	if (rc)
		goto out;
	r.capture = capture;
	s.observer = &r.observer;
	s.gpu_by_range.each = observe_operator;
	s.gpu_by_range.each_data = &r;
	s.idle.each_sum = observe_idle;
	s.idle.sums_to = &r;
	choose_keys(&s, options->by);
	if (where) /* the parts of the expression have been checked */
		s.filter = filter_create(where, summary_texts, &s, &error);
	rc = where && !s.filter ? -EINVAL : read_rows(&r, unit, keep_series);
	filter_destroy(s.filter);
	summary_fini(&s);
	gt_capture_close(capture);
	for (unsigned c = 0; c < SUMMARY_CLASS_COUNT; c++)
		free(r.row_of_group[c]);
	free(r.row_of_operator);
	free(r.row_of_idle);
	free(r.slots);
	diff_units_fini(&r.units);
out:
	if (rc) {
		run->error = copy_text(gt_error_text());
		gt_error_clear();
	}
	return rc;
}

void diff_run_fini(struct diff_run *run)
{
	for (uint32_t i = 0; i < run->row_count; i++) {
		diff_series_fini(&run->rows[i].series);
		free(run->rows[i].of_units);
		free(run->rows[i].counts_of_units);
	}
	free(run->rows);
	free(run->paths);
	free(run->command);
	free(run->host);
	free(run->devices);
	free(run->selection);
	free(run->part);
	free(run->error);
	texts_fini(&run->keys);
	texts_fini(&run->names);
	*run = (struct diff_run){0};
}
