/* SPDX-License-Identifier: MIT */
/* The answer of gputap diff as a picture: an SVG by itself, without scripts, fonts or links. A bar
 * for each row, by what it adds to the change of its table:
 *
 *        name | verdict        faster  <====|====>  slower        +12.3 ms  +5.1% */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff.h"
#include "cli/ui.h"

enum {
	WIDTH = 960,
	ROW = 20,
	NAME_ROOM = 46, /* columns */
	MIDDLE = 590,   /* where nothing has changed */
	REACH = 170,    /* of the longest bar, each side */
	NUMBERS = 950,
	USUAL_TOP = 15, /* rows of a table */
};

static void put_text(FILE *out, const char *text, unsigned most)
{
	unsigned width = 0;
	uint32_t c;

	for (size_t bytes; *text; text += bytes) {
		char one[GT_TEXT_ROOM(4)];

		bytes = ui_utf8(text, &c);
		if (++width > most) {
			fputs("..", out);
			return;
		}
		fwrite(one, 1, (size_t)(gt_put_page(one, text, bytes) - one), out);
	}
}

static bool is_shown(const struct diff_pair *pair)
{
	return pair->table != DIFF_TOTALS && pair->table != DIFF_DEVICES &&
	       pair->table != DIFF_IDLE && pair->total_ns[0] != pair->total_ns[1];
}

static const char *color_of(const struct diff_pair *pair)
{
	double change = pair->total_ns[1] - pair->total_ns[0];

	if (pair->verdict == DIFF_SAME || pair->verdict == DIFF_UNSURE ||
	    pair->verdict == DIFF_TOO_FEW)
		return "#b0b0b0"; /* no more than noise */
	return change > 0 ? "#c8402f" : "#2f8f4e";
}

static void put_bar(FILE *out, const struct diff_pair *pair, double most, unsigned y)
{
	double change = pair->total_ns[1] - pair->total_ns[0];
	double length = most > 0 ? fabs(change) / most * REACH : 0;
	char each[64] = " ";

	if (pair->verdict != DIFF_NEW && pair->verdict != DIFF_GONE)
		diff_put_change(each + 1, sizeof each - 1, diff_change_of(pair));
	fprintf(out, "<text x=\"10\" y=\"%u\">", y + 14);
	put_text(out, pair->name, NAME_ROOM);
	fprintf(out, "<title>");
	put_text(out, pair->name, UINT32_MAX);
	fprintf(out, "</title></text><text x=\"350\" y=\"%u\" fill=\"#606060\">%s</text>", y + 14,
		diff_verdict_name(pair->verdict));
	fprintf(out,
		"<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
		"<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s%s%s</text>\n",
		change < 0 ? MIDDLE - length : MIDDLE, y + 3, fmax(length, 0.5), ROW - 6,
		color_of(pair), NUMBERS, y + 14, change < 0 ? "-" : "+",
		ui_duration(diff_whole_ns(change)), each);
}

/* How many rows of a table are drawn; *most: the longest bar. */
static size_t count_rows(const struct diff_result *result, enum diff_table table, size_t top,
			 double *most)
{
	size_t rows = 0;

	*most = 0;
	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		if (pair->table != table || !is_shown(pair) || (top && rows == top))
			continue;
		*most = fmax(*most, fabs(pair->total_ns[1] - pair->total_ns[0]));
		rows++;
	}
	return rows;
}

static unsigned put_table(const struct diff_result *result, enum diff_table table, size_t top,
			  unsigned y, FILE *out)
{
	double most;
	size_t rows = count_rows(result, table, top, &most), done = 0;

	if (!rows)
		return y;
	fprintf(out, "<text x=\"10\" y=\"%u\" font-weight=\"bold\">%s</text>\n", y + 18,
		diff_table_names[table]);
	y += ROW + 4;
	for (size_t i = 0; i < result->pair_count && done < rows; i++) {
		if (result->pairs[i].table != table || !is_shown(&result->pairs[i]))
			continue;
		put_bar(out, &result->pairs[i], most, y);
		y += ROW;
		done++;
	}
	fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%u\" y2=\"%u\" stroke=\"#404040\"/>\n", MIDDLE,
		MIDDLE, y - (unsigned)rows * ROW, y);
	return y + 8;
}

/* Of slices of one capture the expression tells them apart. */
static void put_side(FILE *out, const struct diff_side *side)
{
	put_text(out, side->runs[0].paths[0], side->expression ? 30 : 60);
	if (!side->expression)
		return;
	fputs(", ", out);
	put_text(out, side->expression, 40);
}

void diff_print_picture(const struct diff_result *result, const struct diff_options *options,
			FILE *out)
{
	size_t top = options->top >= 0 ? (size_t)options->top : USUAL_TOP;
	unsigned y = 64;
	char text[512];
	double most;

	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++) {
		size_t rows = count_rows(result, (enum diff_table)t, top, &most);

		y += rows ? (unsigned)rows * ROW + ROW + 12 : 0;
	}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		WIDTH, y, WIDTH, y);
	diff_describe(result, text, sizeof text);
	fputs("<text x=\"10\" y=\"22\" font-size=\"15\" font-weight=\"bold\">", out);
	put_text(out, text, 110);
	fputs("</text>\n<text x=\"10\" y=\"42\" fill=\"#606060\">", out);
	put_side(out, &result->sides[0]);
	fputs(" &#8594; ", out);
	put_side(out, &result->sides[1]);
	fputs("; grey: no more than noise</text>\n", out);
	y = 56;
	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++)
		y = put_table(result, (enum diff_table)t, top, y, out);
	fputs("</svg>\n", out);
}
