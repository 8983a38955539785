/* SPDX-License-Identifier: MIT */
/* See report_html.h. The page consists of cli/page/page.css, cli/page/page.js, and data in JSON. */
#include "cli/report_html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"
#include "config.h"
#include "page.h"
#include "util/error.h"

enum {
	BINS = 2000,
	ROWS_MOST = 100,
	SLICES_MOST = 60000,
	RANGES_MOST = 8000,
	MEMORY_PARTS = 1000,
	PAUSES_MOST = 2000,
};

void report_html_init_picture(struct picture *p)
{
	*p = (struct picture){.bins = BINS,
			      .rows_most = ROWS_MOST,
			      .slices_most = SLICES_MOST,
			      .ranges_most = RANGES_MOST,
			      .memory = true};
}

/* JSON ----------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
	fputc('"', out);
	ui_put_as(out, gt_put_page_json, text);
	fputc('"', out);
}

static void put_key(FILE *out, const char *key, const char *value)
{
	fprintf(out, "\"%s\":", key);
	put_text(out, value);
	fputc(',', out);
}

/* Timeline ------------------------------------------------------------------------- */

/* Print the busy share of each bin in thousandths. */
static void put_bins(FILE *out, const struct picture *p, const char *key, const uint64_t *bins)
{
	double part = (double)(p->end_ns - p->start_ns) / (double)p->bins;

	fprintf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < p->bins; i++) {
		double share = part > 0 ? (double)bins[i] / part * 1000 : 0;

		/* show shares above 0 as at least 1 */
		fprintf(out, "%s%.0f", i ? "," : "",
			share > 1000           ? 1000
			: bins[i] && share < 1 ? 1
					       : share);
	}
	fputc(']', out);
}

static void put_slice(FILE *out, const struct picture *p, const struct picture_slice *s, bool first)
{
	fprintf(out, "%s[%" PRIu64 ",%" PRIu64 ",%u,%u,%u", first ? "" : ",",
		s->start_ns - p->zero_ns, s->end_ns - s->start_ns, s->name, s->activity, s->depth);
	if (s->colour)
		fprintf(out, ",\"#%06x\"", s->colour & 0xffffff);
	fputc(']', out);
}

/* Print the slices of a row. The list is sorted by row. */
static void put_slices(FILE *out, const struct picture *p, const struct picture_slices *list,
		       uint32_t row)
{
	size_t low = 0, high = list->count, first;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->list[middle].row < row)
			low = middle + 1;
		else
			high = middle;
	}
	fputs(",\"slices\":[", out);
	for (first = low; low < list->count && list->list[low].row == row; low++)
		put_slice(out, p, &list->list[low], low == first);
	fputc(']', out);
}

/* Print the first, the highest and the last point in each of MEMORY_PARTS parts of the time. */
static void put_points(FILE *out, const struct picture *p, const struct picture_row *row)
{
	size_t part = row->point_count / MEMORY_PARTS + 1;
	uint64_t most = 0;

	fputs(",\"points\":[", out);
	for (size_t i = 0; i < row->point_count; i += part) {
		size_t end = i + part < row->point_count ? i + part : row->point_count, high = i;

		for (size_t k = i; k < end; k++)
			if (row->points[k].in_use > row->points[high].in_use)
				high = k;
		if (row->points[high].in_use > most)
			most = row->points[high].in_use;
		for (size_t k = i; k < end; k++)
			if (k == i || k == high || k == end - 1)
				fprintf(out, "%s%" PRId64 ",%" PRIu64, k ? "," : "",
					(int64_t)(row->points[k].ns - p->zero_ns),
					row->points[k].in_use);
	}
	fprintf(out, "],\"most\":%" PRIu64, most);
}

static int compare_lengths(const void *a, const void *b)
{
	const struct picture_pause *x = a, *y = b;
	uint64_t left = x->end_ns - x->start_ns, right = y->end_ns - y->start_ns;

	return (left > right) - (left < right);
}

/* Return the length of the shortest among the PAUSES_MOST longest pauses. */
static uint64_t find_shortest(const struct picture_pauses *set)
{
	struct picture_pause *sorted;
	uint64_t shortest;

	if (set->count <= PAUSES_MOST)
		return 0;
	sorted = allocate_list(set->count, sizeof *sorted);
	memcpy(sorted, set->list, set->count * sizeof *sorted);
	qsort(sorted, set->count, sizeof *sorted, compare_lengths);
	shortest = sorted[set->count - PAUSES_MOST].end_ns -
		   sorted[set->count - PAUSES_MOST].start_ns + 1;
	free(sorted);
	return shortest;
}

/* Print pauses as lists of [start, length, reason]. Return the number of omitted pauses. */
static uint64_t put_pauses(FILE *out, const struct picture *p)
{
	uint64_t left_out = 0;

	fputs("\"pauses\":[", out);
	for (uint32_t i = 0; i < p->pauses_count; i++) {
		const struct picture_pauses *set = &p->pauses[i];
		uint64_t shortest = find_shortest(set);
		bool any = false;

		fputs(i ? ",[" : "[", out);
		for (size_t k = 0; k < set->count; k++) {
			const struct picture_pause *one = &set->list[k];
			uint64_t length = one->end_ns - one->start_ns;

			if (length < shortest) {
				left_out++;
				continue;
			}
			fprintf(out, "%s[%" PRId64 ",%" PRIu64 ",%u]", any ? "," : "",
				(int64_t)(one->start_ns - p->zero_ns), length, one->why);
			any = true;
		}
		fputc(']', out);
	}
	fputs("],", out);
	return left_out;
}

static void put_row(FILE *out, const struct picture *p, uint32_t number)
{
	const struct picture_row *row = &p->rows[number];

	fputc('{', out);
	put_key(out, "kind", picture_kind_name(row->kind));
	put_key(out, "group", row->group);
	put_key(out, "label", row->label);
	fprintf(out, "\"count\":%" PRIu64 ",\"busy\":%" PRIu64 ",\"wait\":%" PRIu64, row->count,
		row->busy_ns, row->wait_ns);
	if (row->busy)
		put_bins(out, p, "bins", row->busy);
	if (row->wait)
		put_bins(out, p, "waits", row->wait);
	if (picture_pauses_of(p, row))
		fprintf(out, ",\"known\":%" PRIu64 ",\"pauses\":%u", row->known_ns, row->pauses);
	if (row->kind == PICTURE_MEMORY)
		put_points(out, p, row);
	else if (row->kind != PICTURE_DEVICE)
		put_slices(out, p, row->kind == PICTURE_RANGES ? &p->ranges : &p->slices, number);
	fputc('}', out);
}

static void put_note(FILE *out, bool *any, const char *text)
{
	fputs(*any ? "," : "", out);
	put_text(out, text);
	*any = true;
}

/* Print sentences about records that are omitted, or that are not drawn individually. */
static void put_notes(FILE *out, const struct picture *p, uint64_t pauses_left_out)
{
	char text[512];
	bool any = false;

	fputs("\"notes\":[", out);
	if (p->slices.left_out) {
		snprintf(text, sizeof text,
			 "%s calls and GPU activities of %s or more are drawn individually; the "
			 "other %s appear only in the shading of their rows, which includes all "
			 "calls and activities.",
			 show_count(p->slices.count), show_duration(p->slices.shortest_ns),
			 show_count(p->slices.left_out));
		put_note(out, &any, text);
	}
	if (p->ranges.left_out) {
		snprintf(text, sizeof text,
			 "%s shorter or more deeply nested ranges are not shown.",
			 show_count(p->ranges.left_out));
		put_note(out, &any, text);
	}
	if (p->queues_left_out || p->threads_left_out) {
		snprintf(text, sizeof text,
			 "%s queues and %s threads with less time are not shown.",
			 show_count(p->queues_left_out), show_count(p->threads_left_out));
		put_note(out, &any, text);
	}
	if (p->untimed) {
		snprintf(text, sizeof text, "%s GPU activities without times are not shown.",
			 show_count(p->untimed));
		put_note(out, &any, text);
	}
	if (pauses_left_out) {
		snprintf(text, sizeof text,
			 "%s short pauses of recording are not shaded, but shares exclude them.",
			 show_count(pauses_left_out));
		put_note(out, &any, text);
	}
	fputs("]", out);
}

static void put_timeline(FILE *out, const struct picture *p)
{
	uint32_t *order = allocate_list(p->row_count + 1, sizeof *order);

	picture_order(p, order);
	fprintf(out, "\"time\":{\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",",
		p->row_count ? p->start_ns - p->zero_ns : 0,
		p->row_count ? p->end_ns - p->zero_ns : 0);
	put_notes(out, p, put_pauses(out, p));
	fputs(",\"names\":[", out);
	for (uint32_t i = 0; i < p->texts.count; i++) {
		fputs(i ? "," : "", out);
		put_text(out, texts_get(&p->texts, i));
	}
	fputs("],\"rows\":[", out);
	for (size_t i = 0; i < p->row_count; i++) {
		fputs(i ? ",\n" : "", out);
		put_row(out, p, order[i]);
	}
	fputs("]},\n", out);
	free(order);
}

/* Tables --------------------------------------------------------------------------- */

static const char *const types[] = {
	[GRID_TEXT] = "text", [GRID_COUNT] = "count", [GRID_SIGNED] = "signed",
	[GRID_ID] = "id",     [GRID_NS] = "ns",       [GRID_BYTES] = "bytes",
	[GRID_RATE] = "rate", [GRID_SHARE] = "share", [GRID_LINES] = "lines",
};
static_assert(sizeof types / sizeof *types == GRID_LINES + 1, "page.js knows them all");

static const char *const shows[] = {
	[GRID_ALWAYS] = "always", [GRID_IF_ANY] = "any",        [GRID_IF_DIFFER] = "differ",
	[GRID_DATA] = "data",     [GRID_FOR_PEOPLE] = "always", [GRID_FOR_PEOPLE_IF_ANY] = "any",
};

static void put_columns(FILE *out, const struct grid *g)
{
	fputs("\"columns\":[", out);
	for (unsigned i = 0; i < g->column_count; i++) {
		const struct grid_column *c = &g->columns[i];

		fputs(i ? ",{" : "{", out);
		put_key(out, "key", c->key);
		put_key(out, "title", *grid_title(g, i) ? grid_title(g, i) : c->key);
		put_key(out, "show", g->always >> i & 1 ? "always" : shows[c->show]);
		put_key(out, "type", types[c->type]);
		fprintf(out, "\"bad\":%s}", c->bad ? "true" : "false");
	}
	fputs("],", out);
}

static void put_cell(FILE *out, const struct grid_cell *cell)
{
	switch (cell->has) {
	case CELL_NONE: fputs("null", out); break;
	case CELL_TEXT: put_text(out, cell->text); break;
	case CELL_COUNT: fprintf(out, "%" PRIu64, cell->count); break;
	case CELL_SIGNED: fprintf(out, "%" PRId64, cell->integer); break;
	case CELL_REAL: fprintf(out, "%.6g", cell->real); break;
	}
}

static void put_table(FILE *out, const struct grid *g, size_t most)
{
	size_t rows = g->row_count < most ? g->row_count : most;

	fputc('{', out);
	put_key(out, "name", g->name);
	put_key(out, "heading", g->heading ? g->heading : "");
	put_key(out, "note", g->note ? g->note : "");
	put_columns(out, g);
	fprintf(out, "\"total\":%zu,\"rows\":[", g->row_count);
	for (size_t r = 0; r < rows; r++) {
		fputs(r ? ",\n[" : "[", out);
		for (unsigned c = 0; c < g->column_count; c++) {
			fputs(c ? "," : "", out);
			put_cell(out, &g->cells[r * g->column_count + c]);
		}
		fputc(']', out);
	}
	fputs("]}", out);
}

static void put_tables(FILE *out, const struct report_page *page)
{
	bool any = false;
	struct grid g;

	fputs("\"tables\":[", out);
	for (unsigned i = 0; page->table(page->data, i, &g); i++) {
		if (g.row_count) {
			fputs(any ? ",\n" : "", out);
			put_table(out, &g, page->top ? page->top : HTML_ROWS_MOST);
			any = true;
		}
		grid_fini(&g);
	}
	fputs("]}\n", out);
}

/* File ----------------------------------------------------------------------------- */

int report_html_write(const struct report_page *page, FILE *out)
{
	int status;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src '" PAGE_CSS_HASH "'; script-src '" PAGE_JS_HASH "'; base-uri 'none'; "
	      "form-action 'none'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"generator\" content=\"gputap " GPUTAP_VERSION "\">\n<title>",
	      out);
	ui_put_as(out, gt_put_page, page->title);
	fputs("</title>\n<style>", out);
	fputs(page_css, out);
	fputs("</style>\n</head>\n<body>\n<main id=\"main\"></main>\n<noscript><p>This page draws "
	      "its tables and timeline with a script. Without scripts, use gputap "
	      "report.</p></noscript>\n<script type=\"application/json\" id=\"data\">{",
	      out);
	put_key(out, "title", page->title);
	put_key(out, "head", page->head);
	put_key(out, "overview", page->overview);
	put_timeline(out, page->picture);
	put_tables(out, page);
	fputs("</script>\n<script>", out);
	fputs(page_js, out);
	fputs("</script>\n</body>\n</html>\n", out);
	status = ui_flush(out);
	return status ? gt_error(status, "cannot write the page") : 0;
}
