/* SPDX-License-Identifier: MIT */
/* See top_print.h. */
#include "cli/top_print.h"

#include <stdlib.h>
#include <string.h>

#include "cli/grid.h"
#include "cli/ui.h"

const char *const top_order_names[] = {"time", "count", "mean", "name", NULL};

static uint64_t per_second(uint64_t value, uint64_t ns)
{
	return ns ? (uint64_t)((__uint128_t)value * 1000000000 / ns) : 0;
}

static const struct grid_column device_columns[] = {
	{"device", "device", GRID_ID, GRID_ALWAYS, 0, false},
	{"busy", "busy", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"all_busy", "since start", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"activities_per_s", "activities/s", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"activities", "activities", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"name", "device name", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column row_columns[] = {
	{"share", "share", GRID_SHARE, GRID_ALWAYS, 0, false},
	{"count_per_s", "per s", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"mean_ns", "mean", GRID_NS, GRID_ALWAYS, 0, false},
	{"all_count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"all_ns", "total", GRID_NS, GRID_ALWAYS, 0, false},
	{"name", "name", GRID_TEXT, GRID_ALWAYS, 0, false},
};

static const struct grid_column copy_columns[] = {
	{"bytes_per_s", "bytes/s", GRID_RATE, GRID_ALWAYS, 0, false},
	{"count_per_s", "per s", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"mean_ns", "mean", GRID_NS, GRID_ALWAYS, 0, false},
	{"all_count", "count", GRID_COUNT, GRID_ALWAYS, 0, false},
	{"all_bytes", "bytes", GRID_BYTES, GRID_ALWAYS, 0, false},
	{"name", "kind", GRID_TEXT, GRID_ALWAYS, 0, false},
};

#define INIT_GRID(g, name, columns) grid_init(g, name, columns, sizeof(columns) / sizeof *(columns))

/* Return the busy share of the recorded time. If almost nothing of the interval was recorded, the
 * share is not known. */
static struct grid_cell share_of(uint64_t busy_ns, uint64_t length_ns, uint64_t paused_ns)
{
	uint64_t known_ns = length_ns > paused_ns ? length_ns - paused_ns : 0;
	double share = known_ns ? (double)busy_ns / (double)known_ns : 0;

	if (paused_ns && known_ns < length_ns / 16)
		return cell_none();
	return cell_real(share > 1 ? 1 : share);
}

static void make_devices(const struct top_view *v, struct grid *g)
{
	uint64_t window = v->to_ns - v->from_ns;

	INIT_GRID(g, "devices", device_columns);
	g->heading = "Devices";
	for (uint32_t i = 0; i < v->sums->device_count; i++) {
		const struct top_device *d = &v->sums->devices[i];
		struct grid_cell *cell;

		if (!d->name)
			continue;
		cell = grid_row(g);
		*cell++ = cell_count(i);
		*cell++ = share_of(top_device_busy(d, v->from_ns, v->to_ns), window,
				   v->session->paused_ns);
		*cell++ =
			share_of(top_device_all_busy(d), v->elapsed_ns, v->session->all_paused_ns);
		*cell++ = cell_count(per_second(d->activity, v->interval_ns));
		*cell++ = cell_count(d->all_activity);
		*cell++ = cell_text(d->name);
	}
}

struct ordered_row {
	const struct top_row *row;
	const char *name;
	enum top_order order;
};

static uint64_t mean_of(const struct top_row *r)
{
	return r->count ? r->ns / r->count : r->all_count ? r->all_ns / r->all_count : 0;
}

static int compare_numbers(uint64_t x, uint64_t y)
{
	return (x < y) - (x > y); /* sort larger values first */
}

static int compare_rows(const void *a, const void *b)
{
	const struct ordered_row *x = a, *y = b;
	int order = 0;

	switch (x->order) {
	case TOP_BY_COUNT: order = compare_numbers(x->row->count, y->row->count); break;
	case TOP_BY_MEAN: order = compare_numbers(mean_of(x->row), mean_of(y->row)); break;
	case TOP_BY_NAME: break;
	default:
		order = compare_numbers(x->row->ns, y->row->ns);
		order = order ? order : compare_numbers(x->row->all_ns, y->row->all_ns);
	}
	return order ? order : strcmp(x->name, y->name);
}

static void put_row(const struct top_view *v, struct grid *g, const struct ordered_row *o,
		    uint64_t sum_ns, bool copies)
{
	struct grid_cell *cell = grid_row(g);

	if (copies)
		*cell++ = cell_real((double)per_second(o->row->bytes, v->interval_ns));
	else
		*cell++ = cell_real(sum_ns ? (double)o->row->ns / (double)sum_ns : 0);
	*cell++ = cell_count(per_second(o->row->count, v->interval_ns));
	*cell++ = cell_count(mean_of(o->row));
	*cell++ = cell_count(o->row->all_count);
	*cell++ = cell_count(copies ? o->row->all_bytes : o->row->all_ns);
	*cell++ = cell_text(o->name);
}

static void make_rows(const struct top_view *v, struct grid *g, const struct top_rows *rows,
		      bool copies)
{
	struct ordered_row *sorted = allocate_list(rows->count ? rows->count : 1, sizeof *sorted);
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < rows->count; i++) {
		sum_ns += rows->rows[i].ns;
		sorted[i] = (struct ordered_row){&rows->rows[i],
						 texts_get(&v->sums->names, rows->rows[i].name),
						 v->order};
	}
	qsort(sorted, rows->count, sizeof *sorted, compare_rows);
	for (uint32_t i = 0; i < rows->count; i++)
		put_row(v, g, &sorted[i], sum_ns, copies);
	free(sorted);
}

enum { TABLES = 4, STUCK_ROWS = 4 };

static void make_table(const struct top_view *v, int table, struct grid *g)
{
	switch (table) {
	case 0: make_devices(v, g); return;
	case 1:
		INIT_GRID(g, "kernels", row_columns);
		g->heading = "Kernels";
		make_rows(v, g, &v->sums->kernels, false);
		return;
	case 2:
		INIT_GRID(g, "copies", copy_columns);
		g->heading = "Copies";
		make_rows(v, g, &v->sums->copies, true);
		return;
	default:
		INIT_GRID(g, "calls", row_columns);
		g->heading = "Calls";
		make_rows(v, g, &v->sums->calls, false);
	}
}

/* Print a line such as "paused by delay, starts in 12.0 s, 4.01 s; 1 process, 0 ended". */
static void print_state(const struct top_view *v, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	const struct top_sums *s = v->sums;
	bool paused = !strcmp(v->state, "paused");

	fprintf(out, "\n%s%s%s", paused ? c->yellow : c->green, v->state, c->reset);
	if (paused) /* the reason "paused" is printed as the option --paused */
		fprintf(out, " (by %s)",
			strcmp(v->session->why, "paused") ? v->session->why : "--paused");
	if (paused && v->session->starts_in_ns)
		fprintf(out, ", starts in %s", show_duration(v->session->starts_in_ns));
	fprintf(out, "%s, %s; %u process%s, %u ended\n", v->held ? " (view paused)" : "",
		show_duration(v->elapsed_ns), s->processes, s->processes == 1 ? "" : "es",
		s->ended);
}

static void print_head(const struct top_view *v, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	const struct top_sums *s = v->sums;
	unsigned room = ui_room(out), used;

	fputs(c->bold, out);
	used = ui_put_end(out, v->session->path, room / 2);
	fprintf(out, "%s  ", c->reset);
	if (s->command && used + 2 < room)
		ui_put(out, s->command, room - used - 2);
	print_state(v, out);
	fprintf(out, "%s calls/s, %s activities/s; ",
		show_count(per_second(s->call_count, v->interval_ns)),
		show_count(per_second(s->activity, v->interval_ns)));
	fprintf(out, "%s%s lost%s\n", s->dropped ? c->red : "", show_count(s->dropped), c->reset);
}

void top_print_text(const struct top_view *v, FILE *out)
{
	print_head(v, out);
	stuck_list_print_text(v->stuck, out, false, STUCK_ROWS);
	for (int i = 0; i < TABLES; i++) {
		struct grid g;

		make_table(v, i, &g);
		g.selection = true;
		if (g.row_count) {
			fputc('\n', out);
			grid_print_text(&g, out, v->rows);
		}
		grid_fini(&g);
	}
}

void top_print_json(const struct top_view *v, FILE *out)
{
	const struct top_sums *s = v->sums;
	struct json j = {.out = out};

	json_object(&j, NULL);
	json_string(&j, "format", "gputap-top");
	json_count(&j, "version", 1);
	json_string(&j, "path", v->session->path);
	json_string(&j, "command", s->command);
	json_string(&j, "state", v->state);
	json_string(&j, "why", v->session->is_paused ? v->session->why : NULL);
	json_count(&j, "elapsed_ns", v->elapsed_ns);
	json_count(&j, "interval_ns", v->interval_ns);
	json_count(&j, "processes", s->processes);
	json_count(&j, "processes_ended", s->ended);
	json_count(&j, "calls_per_s", per_second(s->call_count, v->interval_ns));
	json_count(&j, "activities_per_s", per_second(s->activity, v->interval_ns));
	json_count(&j, "calls_seen", s->all_call_count);
	json_count(&j, "activities_seen", s->all_activity);
	json_count(&j, "dropped", s->dropped);
	for (int i = 0; i < TABLES; i++) {
		struct grid g;

		make_table(v, i, &g);
		grid_print_json(&g, &j, v->rows);
		grid_fini(&g);
	}
	stuck_list_print_json(v->stuck, &j);
	json_close(&j);
}
