/* SPDX-License-Identifier: MIT */
#include "cli/grid.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/lookup.h"
#include "cli/ui.h"

enum { COLUMNS_MOST = 64, GAP = 2, INDENT = 2, NARROWEST_LAST = 32, NARROWEST_TEXT = 16 };

void grid_init(struct grid *g, const char *name, const struct grid_column *columns,
	       unsigned column_count)
{
	assert(column_count <= COLUMNS_MOST);
	*g = (struct grid){.name = name,
			   .heading = "",
			   .columns = columns,
			   .column_count = column_count};
}

void grid_fini(struct grid *g)
{
	for (size_t i = 0; i < g->owned_count; i++)
		free(g->owned[i]);
	free(g->owned);
	free(g->cells);
	*g = (struct grid){0};
}

struct grid_cell *grid_row(struct grid *g)
{
	GROW_LIST(g->cells, (g->row_count + 1) * g->column_count - 1, g->cell_room);
	return g->cells + g->row_count++ * g->column_count;
}

const char *grid_keep(struct grid *g, const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = allocate_list((size_t)(n > 0 ? n : 0) + 1, 1);
	va_start(args, format);
	vsnprintf(text, (size_t)(n > 0 ? n : 0) + 1, format, args);
	va_end(args);
	GROW_LIST(g->owned, g->owned_count, g->owned_room);
	g->owned[g->owned_count++] = text;
	return text;
}

/* Sorting ---------------------------------------------------------------------- */

int grid_column(const struct grid *g, const char *name)
{
	for (unsigned c = 0; c < g->column_count; c++)
		if (!strcmp(g->columns[c].key, name) || !strcmp(g->columns[c].title, name))
			return (int)c;
	return -1;
}

/* Compare cells. Return a negative number if @a goes first. Cells without a value go last. */
static int compare_cells(const struct grid_cell *a, const struct grid_cell *b)
{
	if (a->has != b->has)
		return a->has == CELL_NONE ? 1 : b->has == CELL_NONE ? -1 : 0;
	switch (a->has) {
	case CELL_TEXT: return strcmp(a->text, b->text);
	case CELL_COUNT: return (a->count < b->count) - (a->count > b->count);
	case CELL_SIGNED: return (a->integer < b->integer) - (a->integer > b->integer);
	case CELL_REAL: return (a->real < b->real) - (a->real > b->real);
	default: return 0;
	}
}

struct sort_order {
	const struct grid *grid;
	unsigned column;
	bool reverse;
};

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct sort_order *order = data;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct grid_cell *x =
		order->grid->cells + i * order->grid->column_count + order->column;
	const struct grid_cell *y =
		order->grid->cells + j * order->grid->column_count + order->column;
	int c = compare_cells(x, y);

	if (c && order->reverse && x->has && y->has)
		c = -c;
	return c ? c : (i > j) - (i < j);
}

void grid_sort(struct grid *g, unsigned column, bool reverse)
{
	struct sort_order order = {g, column, reverse};
	size_t row_bytes = g->column_count * sizeof *g->cells;
	struct grid_cell *sorted;
	size_t *rows;

	if (g->row_count < 2)
		return;
	rows = allocate_list(g->row_count, sizeof *rows);
	sorted = allocate_list(g->cell_room, sizeof *sorted);
	for (size_t i = 0; i < g->row_count; i++)
		rows[i] = i;
	qsort_r(rows, g->row_count, sizeof *rows, compare_rows, &order);
	for (size_t i = 0; i < g->row_count; i++)
		memcpy(sorted + i * g->column_count, g->cells + rows[i] * g->column_count,
		       row_bytes);
	free(rows);
	free(g->cells);
	g->cells = sorted;
}

/* Text ------------------------------------------------------------------------- */

static const char *cell_show(const struct grid_column *column, const struct grid_cell *cell,
			     char *buffer, size_t size)
{
	if (cell->has == CELL_NONE || (column->bad && cell->has == CELL_COUNT && !cell->count))
		return "-";
	switch (column->type) {
	case GRID_LINES:
	case GRID_TEXT: return cell->text;
	case GRID_NS: return show_duration(cell->count);
	case GRID_BYTES: return show_bytes(cell->count);
	case GRID_COUNT: return show_count(cell->count);
	case GRID_ID: snprintf(buffer, size, "%" PRIu64, cell->count); break;
	case GRID_SIGNED: snprintf(buffer, size, "%" PRId64, cell->integer); break;
	case GRID_RATE: return show_rate(cell->real);
	case GRID_SHARE: snprintf(buffer, size, "%.1f%%", cell->real * 100); break;
	}
	return buffer;
}

static bool cell_empty(const struct grid_cell *cell)
{
	return cell->has == CELL_NONE || (cell->has == CELL_COUNT && !cell->count) ||
	       (cell->has == CELL_TEXT && !*cell->text);
}

static bool is_for_people(const struct grid_column *column)
{
	return column->show == GRID_FOR_PEOPLE || column->show == GRID_FOR_PEOPLE_IF_ANY;
}

static bool column_shown(const struct grid *g, unsigned c, size_t rows)
{
	const struct grid_cell *first = g->cells + c;

	enum grid_show show = g->always >> c & 1 ? GRID_ALWAYS : g->columns[c].show;

	if (show == GRID_ALWAYS || show == GRID_FOR_PEOPLE)
		return true;
	if (show == GRID_DATA)
		return false;
	for (size_t r = 0; r < rows; r++) {
		const struct grid_cell *cell = g->cells + r * g->column_count + c;
		if (show == GRID_IF_DIFFER ? compare_cells(first, cell) != 0 : !cell_empty(cell))
			return true;
	}
	return false;
}

/* Return the total width if the last column has its smallest width. */
static unsigned width_of(const unsigned *width, unsigned last)
{
	unsigned sum = INDENT;

	for (unsigned c = 0; c < last; c++)
		sum += width[c] ? width[c] + GAP : 0;
	return sum + (width[last] < NARROWEST_LAST ? width[last] : NARROWEST_LAST);
}

/* Shorten the texts in middle columns that are always shown. This is done before columns are
 * dropped. */
static void narrow_texts(const struct grid *g, unsigned last, unsigned room, unsigned *width)
{
	for (unsigned c = 0; c < last; c++) {
		const unsigned sum = width_of(width, last);
		const unsigned least = text_width(grid_title(g, c)) > NARROWEST_TEXT
					       ? text_width(grid_title(g, c))
					       : NARROWEST_TEXT;

		if (g->columns[c].type != GRID_TEXT || g->columns[c].show != GRID_ALWAYS ||
		    g->columns[c].rank || width[c] <= least || sum <= room)
			continue;
		width[c] = sum - room < width[c] - least ? width[c] - (sum - room) : least;
	}
}

/* Choose the columns and their widths. The last visible column takes the remaining width. Return
 * its index. */
static unsigned lay_out(const struct grid *g, size_t rows, unsigned room, unsigned *width)
{
	char buffer[64];
	unsigned last = 0, sum;

	for (unsigned c = 0; c < g->column_count; c++) {
		width[c] = !column_shown(g, c, rows) ? 0
			   : *grid_title(g, c)       ? text_width(grid_title(g, c))
						     : 1;
		for (size_t r = 0; width[c] && r < rows; r++) {
			unsigned w = text_width(cell_show(&g->columns[c],
							  g->cells + r * g->column_count + c,
							  buffer, sizeof buffer));
			width[c] = w > width[c] ? w : width[c];
		}
		last = width[c] ? c : last;
	}
	narrow_texts(g, last, room, width);
	for (;;) {
		unsigned worst = last;

		sum = INDENT;
		for (unsigned c = 0; c < last; c++)
			if (width[c]) {
				sum += width[c] + GAP;
				if (g->columns[c].rank &&
				    g->columns[c].rank >= g->columns[worst].rank)
					worst = c;
			}
		if (width_of(width, last) <= room || !g->columns[worst].rank)
			break;
		width[worst] = 0;
		while (last && !width[last]) /* the last column may be the first to be dropped */
			last--;
	}
	if (sum + width[last] > room)
		width[last] = room > sum + 2 ? room - sum : 2;
	return last;
}

/* List the columns that only a wider terminal shows. */
static void print_left_out(const struct grid *g, size_t rows, const unsigned *width, FILE *out)
{
	const struct ui_colors *colors = ui_colors(out);
	const char *titles[COLUMNS_MOST];
	unsigned count = 0, at;

	for (unsigned c = 0; c < g->column_count; c++)
		if (!width[c] && column_shown(g, c, rows))
			titles[count++] = grid_title(g, c);
	if (!count)
		return;
	fprintf(out, "%*s%s", INDENT, "", colors->dim);
	at = ui_wrapf(out, INDENT, INDENT, "columns that do not fit:");
	for (unsigned i = 0; i < count; i++)
		at = ui_wrapf(out, at, INDENT, " %s%s", titles[i], i + 1 < count ? "," : "");
	fprintf(out, "%s\n", colors->reset);
}

static void put_spaces(FILE *out, unsigned n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* @spaces: number of spaces to print before the text, delayed so that no line ends in spaces. */
static void put_cell(FILE *out, const char *text, unsigned width, bool left, bool last,
		     unsigned *spaces, const char *color, const char *reset)
{
	unsigned w = text_width(text), pad = w < width ? width - w : 0;

	if (*text) {
		put_spaces(out, *spaces + (left ? 0 : pad));
		fputs(color, out);
		if (left && *text == '/')
			ui_put_end(out, text, width);
		else
			ui_put(out, text, last && !left && w > width ? w : width);
		fputs(reset, out);
		*spaces = GAP + (left ? pad : 0);
	} else {
		*spaces += width + GAP;
	}
}

static unsigned last_column_at(const struct grid *g, const unsigned *width)
{
	unsigned at = INDENT;

	for (unsigned c = 0; c + 1 < g->column_count; c++)
		at += width[c] ? width[c] + GAP : 0;
	return at;
}

/* Print a function of a stack. If its name is too long, shorten it and keep its place (" at
 * file:line", " in module"). */
static void put_function(FILE *out, char *line, unsigned width)
{
	enum { NAME_LEAST = 8 };
	char *place = strstr(line, " at "), *next;

	if (!place)
		place = strstr(line, " in ");
	while (place && ((next = strstr(place + 1, " at ")) || (next = strstr(place + 1, " in "))))
		place = next;
	if (!place || text_width(line) <= width || text_width(place) + NAME_LEAST > width) {
		ui_put(out, line, width);
		return;
	}
	width -= text_width(place);
	next = strdup(place);
	*place = '\0';
	ui_put(out, line, width);
	ui_put(out, next ? next : "", UINT32_MAX);
	free(next);
}

/* Print the last cell of a row, which contains several lines. */
static void put_lines(const struct grid *g, const unsigned *width, unsigned spaces,
		      const char *text, FILE *out)
{
	unsigned at = last_column_at(g, width);
	char *line = strdup(text), *rest = line, *one;

	for (; (one = strsep(&rest, "\n")); spaces = at + GAP) {
		put_spaces(out, spaces);
		put_function(out, one, width[g->column_count - 1] - (spaces > at ? GAP : 0));
		if (rest)
			fputc('\n', out);
	}
	free(line);
}

/* Print the last cell of a row in as many lines as it needs. @spaces: number of delayed spaces
 * before the cell. */
static void put_sentence(const struct grid *g, const unsigned *width, unsigned spaces,
			 const char *text, FILE *out)
{
	unsigned at = last_column_at(g, width);

	if (*text)
		put_spaces(out, spaces);
	ui_wrap(out, at, at, text);
}

static const char *cell_color(const struct grid *g, unsigned column, const struct grid_cell *cell,
			      const struct ui_colors *colors)
{
	if (cell->tone == CELL_BAD || (g->columns[column].bad && !cell_empty(cell)))
		return colors->red;
	return cell->tone == CELL_GOOD ? colors->green : "";
}

static void print_note(const struct grid *g, FILE *out)
{
	if (!g->note)
		return;
	put_spaces(out, INDENT);
	ui_wrap(out, INDENT, INDENT, g->note);
	fputc('\n', out);
}

void grid_print_text(const struct grid *g, FILE *out, size_t top)
{
	const struct ui_colors *colors = ui_colors(out);
	size_t rows = top && top < g->row_count ? top : g->row_count;
	unsigned room = ui_room(out), width[COLUMNS_MOST] = {0}, last, spaces = INDENT;
	char buffer[64];

	if (*g->heading) {
		fputs(colors->bold, out);
		ui_wrap(out, 0, INDENT, g->heading);
		fprintf(out, "%s\n", colors->reset);
	}
	if (!rows) {
		fprintf(out, "%*s%s\n", INDENT, "", g->none ? g->none : "none");
		print_note(g, out);
		return;
	}
	last = lay_out(g, rows, room, width);
	for (unsigned c = 0; c <= last; c++)
		if (width[c])
			put_cell(out, grid_title(g, c), width[c],
				 g->columns[c].type == GRID_TEXT ||
					 g->columns[c].type == GRID_LINES,
				 c == last, &spaces, colors->dim, colors->reset);
	fputc('\n', out);
	for (size_t r = 0; r < rows; r++) {
		spaces = INDENT;
		for (unsigned c = 0; c <= last; c++) {
			const struct grid_cell *cell = g->cells + r * g->column_count + c;
			const char *color = cell_color(g, c, cell, colors);
			if (g->sentences && c == last && c + 1 == g->column_count &&
			    cell->has == CELL_TEXT)
				put_sentence(g, width, spaces, cell->text, out);
			else if (g->columns[c].type == GRID_LINES && c + 1 == g->column_count)
				put_lines(g, width, spaces, cell->text, out);
			else if (width[c])
				put_cell(out,
					 cell_show(&g->columns[c], cell, buffer, sizeof buffer),
					 width[c], g->columns[c].type == GRID_TEXT, c == last,
					 &spaces, color, *color ? colors->reset : "");
		}
		fputc('\n', out);
	}
	if (rows < g->row_count && !g->selection) {
		put_spaces(out, INDENT);
		fprintf(out, "%s.. and %s more (--top 0 shows all)%s\n", colors->dim,
			show_count(g->row_count - rows), colors->reset);
	}
	print_left_out(g, rows, width, out);
	print_note(g, out);
}

/* CSV and JSON ------------------------------------------------------------------- */

void grid_print_csv(const struct grid *g, FILE *out, size_t top, bool name_column)
{
	size_t rows = top && top < g->row_count ? top : g->row_count;

	const char *comma = "";

	fputs(name_column ? "table," : "", out);
	for (unsigned c = 0; c < g->column_count; c++) {
		if (is_for_people(&g->columns[c]))
			continue;
		fprintf(out, "%s%s", comma, g->columns[c].key);
		comma = ",";
	}
	fputc('\n', out);
	for (size_t r = 0; r < rows; r++) {
		if (name_column)
			fprintf(out, "%s,", g->name);
		comma = "";
		for (unsigned c = 0; c < g->column_count; c++) {
			const struct grid_cell *cell = g->cells + r * g->column_count + c;
			if (is_for_people(&g->columns[c]))
				continue;
			fputs(comma, out);
			comma = ",";
			if (cell->has == CELL_TEXT)
				ui_put_as(out, gt_put_csv, cell->text);
			else if (cell->has == CELL_COUNT)
				fprintf(out, "%" PRIu64, cell->count);
			else if (cell->has == CELL_SIGNED)
				fprintf(out, "%" PRId64, cell->integer);
			else if (cell->has == CELL_REAL && isfinite(cell->real))
				fprintf(out, "%.6g", cell->real);
		}
		fputc('\n', out);
	}
}

static void put_json_lines(struct json *j, const char *key, const char *text)
{
	char *line = strdup(text), *rest = line, *one;

	json_array(j, key);
	while ((one = strsep(&rest, "\n")))
		json_string(j, NULL, one);
	json_close(j);
	free(line);
}

void grid_print_json(const struct grid *g, struct json *j, size_t top)
{
	size_t rows = top && top < g->row_count ? top : g->row_count;

	json_array(j, g->name);
	for (size_t r = 0; r < rows; r++) {
		json_object(j, NULL);
		for (unsigned c = 0; c < g->column_count; c++) {
			const struct grid_cell *cell = g->cells + r * g->column_count + c;
			const char *key = g->columns[c].key;
			if (is_for_people(&g->columns[c]))
				continue;
			if (g->columns[c].type == GRID_LINES && cell->has == CELL_TEXT) {
				put_json_lines(j, key, cell->text);
				continue;
			}
			switch (cell->has) {
			case CELL_NONE: json_null(j, key); break;
			case CELL_TEXT: json_string(j, key, cell->text); break;
			case CELL_COUNT: json_count(j, key, cell->count); break;
			case CELL_SIGNED: json_integer(j, key, cell->integer); break;
			case CELL_REAL: json_number(j, key, cell->real); break;
			}
		}
		json_close(j);
	}
	json_close(j);
}
