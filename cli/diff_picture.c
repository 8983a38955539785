/* SPDX-License-Identifier: MIT */
/* Draws the result of gputap diff as one SVG file without scripts, fonts or links. Each row has a
 * bar for the change of its total. All tables share one axis, and both directions have the same
 * scale:
 *
 *                         less time | more time         change  ratio
 *                     -2 ms    -1 ms  0   +1 ms
 *        name  verdict    :      :    |=====:         +1.23 ms  +5.1% */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/diff.h"
#include "cli/ui.h"

enum {
	WIDTH = 960,
	ROW = 20,
	LINE = 18,
	NAME_ROOM = 46, /* number of characters for names */
	VERDICTS = 345,
	LEFT = 410, /* position of the plot */
	RIGHT = 785,
	NUMBERS = 885,
	RATIOS = 950,
	MOST_TICKS = 6,
	SENTENCE_ROOM = 110,
	SIDE_ROOM = 120,
	USUAL_TOP = 15, /* default number of rows in a table */
};
#define MORE_COLOR  "#c8402f"
#define LESS_COLOR  "#2f8f4e"
#define NOISE_COLOR "#b0b0b0"
#define SOFT_COLOR  "#606060"

/* The axis, from `low_ns` (0 or less) to `high_ns`. */
struct axis {
	double low_ns, high_ns, step_ns;
};

static void put_text(FILE *out, const char *text, unsigned most)
{
	unsigned width = 0;
	uint32_t c;

	for (size_t bytes; *text; text += bytes) {
		char one[GT_TEXT_ROOM(4)];

		bytes = text_next(text, &c);
		if (++width > most) {
			fputs("..", out);
			return;
		}
		fwrite(one, 1, (size_t)(gt_put_page(one, text, bytes) - one), out);
	}
}

static bool is_noise(const struct diff_pair *pair)
{
	return diff_total_is_noise(pair) || pair->verdict == DIFF_NOISE ||
	       pair->verdict == DIFF_UNSURE || pair->verdict == DIFF_TOO_FEW ||
	       pair->verdict == DIFF_RENAMED;
}

static bool is_shown(const struct diff_pair *pair)
{
	const double least = is_noise(pair) ? 0.0005 * pair->total_ns[DIFF_BASELINE] : 0;

	return pair->table != DIFF_TOTALS && pair->table != DIFF_DEVICES &&
	       pair->table != DIFF_IDLE && fabs(diff_added_ns(pair)) > least;
}

static const char *color_of(const struct diff_pair *pair)
{
	if (is_noise(pair))
		return NOISE_COLOR;
	return diff_added_ns(pair) > 0 ? MORE_COLOR : LESS_COLOR;
}

/* The axis ---------------------------------------------------------------------------- */

static double place_of(const struct axis *axis, double ns)
{
	return LEFT + (ns - axis->low_ns) / (axis->high_ns - axis->low_ns) * (RIGHT - LEFT);
}

/* Return 1, 2 or 5 times a power of ten. At most MOST_TICKS steps of this size cover @range. */
static double choose_step(double range)
{
	static const double factors[] = {1, 2, 5, 10};
	double power = pow(10, floor(log10(range / MOST_TICKS)));

	for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
		if (range / (power * factors[i]) <= MOST_TICKS)
			return power * factors[i];
	return power * 10;
}

/* Return an axis for these changes. Its ends are ticks. */
static struct axis fit_axis(double low_ns, double high_ns)
{
	struct axis axis = {fmin(low_ns, 0), fmax(high_ns, 0), 1};

	if (axis.high_ns - axis.low_ns < 1)
		axis.high_ns = axis.low_ns + 1;
	axis.step_ns = choose_step(axis.high_ns - axis.low_ns);
	axis.low_ns = floor(axis.low_ns / axis.step_ns) * axis.step_ns;
	axis.high_ns = ceil(axis.high_ns / axis.step_ns) * axis.step_ns;
	return axis;
}

static void format_tick(char *text, size_t size, double ns, double step_ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	unsigned u = 0;

	if (fabs(ns) < step_ns / 2) {
		snprintf(text, size, "0");
		return;
	}
	while (u < 3 && step_ns < units[u].ns * 0.1)
		u++;
	snprintf(text, size, "%+.10g %s", round(ns / units[u].ns * 1e6) / 1e6, units[u].unit);
}

static void put_axis(FILE *out, const struct axis *axis, unsigned y, unsigned bottom)
{
	const double zero = place_of(axis, 0);
	const int ticks = (int)lround((axis->high_ns - axis->low_ns) / axis->step_ns);
	char text[64];

	if (zero - LEFT > 60)
		fprintf(out,
			"<text x=\"%.1f\" y=\"%u\" text-anchor=\"end\" fill=\"" SOFT_COLOR
			"\">&#8592; less time</text>\n",
			zero - 6, y + 12);
	if (RIGHT - zero > 60)
		fprintf(out,
			"<text x=\"%.1f\" y=\"%u\" fill=\"" SOFT_COLOR
			"\">more time &#8594;</text>\n",
			zero + 6, y + 12);
	fprintf(out,
		"<text x=\"%d\" y=\"%u\" text-anchor=\"end\" fill=\"" SOFT_COLOR
		"\">change</text><text x=\"%d\" y=\"%u\" text-anchor=\"end\" fill=\"" SOFT_COLOR
		"\">ratio</text>\n",
		NUMBERS, y + 28, RATIOS, y + 28);
	for (int i = 0; i <= ticks; i++) {
		double ns = axis->low_ns + i * axis->step_ns, x = place_of(axis, ns);

		format_tick(text, sizeof text, ns, axis->step_ns);
		fprintf(out,
			"<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%u\" y2=\"%u\" stroke=\"%s\"/>"
			"<text class=\"tick\" x=\"%.1f\" y=\"%u\" text-anchor=\"middle\" "
			"fill=\"" SOFT_COLOR "\">%s</text>\n",
			x, x, y + 33, bottom, fabs(ns) < axis->step_ns / 2 ? "#404040" : "#e4e4e4",
			x, y + 28, text);
	}
}

/* Rows --------------------------------------------------------------------------------- */

static void put_bar(FILE *out, const struct axis *axis, const struct diff_pair *pair, unsigned y)
{
	double change = diff_added_ns(pair), zero = place_of(axis, 0), end = place_of(axis, change);
	char ratio[32] = "";

	if (diff_total_is_noise(pair))
		snprintf(ratio, sizeof ratio, "noise");
	else if (pair->verdict != DIFF_NEW && pair->verdict != DIFF_GONE &&
		 pair->total_ns[DIFF_BASELINE] > 0)
		diff_put_change(ratio, sizeof ratio, diff_change_of_total(pair));
	fprintf(out, "<text x=\"10\" y=\"%u\">", y + 14);
	put_text(out, pair->name, NAME_ROOM);
	fprintf(out, "<title>");
	put_text(out, pair->name, UINT32_MAX);
	fprintf(out, "</title></text><text x=\"%d\" y=\"%u\" fill=\"" SOFT_COLOR "\">%s</text>",
		VERDICTS, y + 14, diff_verdict_name(pair->verdict));
	fprintf(out,
		"<rect class=\"bar\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" "
		"fill=\"%s\"/><text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s%s</text>"
		"<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>\n",
		fmin(zero, end), y + 3, fmax(fabs(end - zero), 0.5), ROW - 6, color_of(pair),
		NUMBERS, y + 14, change < 0 ? "-" : "+", show_duration(diff_whole_ns(change)),
		RATIOS, y + 14, ratio);
}

/* Return the number of rows to draw for a table. Extend @low_ns and @high_ns to include their
 * changes. */
static size_t count_rows(const struct diff_result *result, enum diff_table table, size_t top,
			 double *low_ns, double *high_ns)
{
	size_t rows = 0;

	for (size_t i = 0; i < result->pair_count; i++) {
		const struct diff_pair *pair = &result->pairs[i];

		if (pair->table != table || !is_shown(pair) || (top && rows == top))
			continue;
		*low_ns = fmin(*low_ns, diff_added_ns(pair));
		*high_ns = fmax(*high_ns, diff_added_ns(pair));
		rows++;
	}
	return rows;
}

static unsigned put_table(const struct diff_result *result, const struct axis *axis,
			  enum diff_table table, size_t rows, unsigned y, FILE *out)
{
	size_t done = 0;

	if (!rows)
		return y;
	fprintf(out, "<text x=\"10\" y=\"%u\" font-weight=\"bold\">%s</text>\n", y + 16,
		diff_table_names[table]);
	y += ROW + 2;
	for (size_t i = 0; i < result->pair_count && done < rows; i++) {
		if (result->pairs[i].table != table || !is_shown(&result->pairs[i]))
			continue;
		put_bar(out, axis, &result->pairs[i], y);
		y += ROW;
		done++;
	}
	return y + 6;
}

/* The head ----------------------------------------------------------------------------- */

/* The sides of one capture differ only in their expressions. */
static unsigned put_side(FILE *out, const struct diff_side *side, const char *name, unsigned y)
{
	fprintf(out,
		"<text x=\"10\" y=\"%u\" fill=\"" SOFT_COLOR "\">%s</text><text x=\"80\" "
		"y=\"%u\" fill=\"" SOFT_COLOR "\">",
		y, name, y);
	put_text(out, side->runs[0].paths[0], side->expression ? SIDE_ROOM / 2 : SIDE_ROOM);
	if (side->run_count > 1)
		fprintf(out, " and %zu more run%s", side->run_count - 1,
			side->run_count == 2 ? "" : "s");
	if (side->expression) {
		fputs(", where ", out);
		put_text(out, side->expression, SIDE_ROOM / 2);
	}
	fputs("</text>\n", out);
	return y + LINE;
}

/* Print the summary of the result in lines, starting at @y. @out: NULL to print nothing. Return the
 * y after the last line. */
static unsigned put_sentence(const struct diff_result *result, FILE *out, unsigned y)
{
	char text[DIFF_TEXT], *line = text;

	diff_describe(result, text, sizeof text);
	while (*line) {
		size_t bytes = strlen(line);

		if (bytes > SENTENCE_ROOM) {
			bytes = SENTENCE_ROOM;
			while (bytes && line[bytes] != ' ')
				bytes--;
			bytes = bytes ? bytes : strlen(line);
		}
		if (line[bytes])
			line[bytes++] = '\0';
		if (out) {
			fprintf(out,
				"<text x=\"10\" y=\"%u\" font-size=\"15\" "
				"font-weight=\"bold\">",
				y);
			put_text(out, line, UINT32_MAX);
			fputs("</text>\n", out);
		}
		line += bytes;
		y += LINE + 2;
	}
	return y;
}

static unsigned put_legend(const struct diff_result *result, FILE *out, unsigned y)
{
	static const struct {
		unsigned x;
		const char *color, *text;
	} entries[] = {{440, MORE_COLOR, "more time"},
		       {540, LESS_COLOR, "less time"},
		       {635, NOISE_COLOR, "within noise, unsure, too few values"}};

	fprintf(out, "<text x=\"10\" y=\"%u\" fill=\"" SOFT_COLOR "\">Bars: change of total time",
		y);
	if (result->per_unit) {
		fputs(" per '", out);
		put_text(out, result->unit, 30);
		fputs("'", out);
	} else {
		fputs(" per run", out);
	}
	fputs("</text>\n", out);
	for (unsigned i = 0; i < sizeof entries / sizeof *entries; i++)
		fprintf(out,
			"<rect x=\"%u\" y=\"%u\" width=\"10\" height=\"10\" fill=\"%s\"/>"
			"<text x=\"%u\" y=\"%u\" fill=\"" SOFT_COLOR "\">%s</text>\n",
			entries[i].x, y - 9, entries[i].color, entries[i].x + 15, y,
			entries[i].text);
	return y + 8;
}

void diff_print_picture(const struct diff_result *result, const struct diff_options *options,
			FILE *out)
{
	const size_t top = options->top >= 0 ? (size_t)options->top : USUAL_TOP;
	size_t rows[DIFF_TABLE_COUNT], all = 0;
	double low_ns = 0, high_ns = 0;
	unsigned y = 24, height = put_sentence(result, NULL, y) + 2 * LINE + 8 + 34 + 12;
	struct axis axis;

	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++) {
		rows[t] = 0;
		if (options->tables && !(options->tables >> t & 1))
			continue;
		rows[t] = count_rows(result, (enum diff_table)t, top, &low_ns, &high_ns);
		height += rows[t] ? (unsigned)rows[t] * ROW + ROW + 8 : 0;
		all += rows[t];
	}
	axis = fit_axis(low_ns, high_ns);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		WIDTH, height, WIDTH, height);
	y = put_sentence(result, out, y);
	y = put_side(out, &result->sides[DIFF_BASELINE], "baseline", y);
	y = put_side(out, &result->sides[DIFF_CANDIDATE], "candidate", y);
	y = put_legend(result, out, y);
	if (all)
		put_axis(out, &axis, y, height - 8);
	y += 34;
	for (unsigned t = 0; t < DIFF_TABLE_COUNT; t++)
		y = put_table(result, &axis, (enum diff_table)t, rows[t], y, out);
	fputs("</svg>\n", out);
}
