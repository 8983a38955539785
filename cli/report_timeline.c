/* SPDX-License-Identifier: MIT */
/* See report_timeline.h. A row consists of a label, a share and a bar of columns:
 *
 *                     0 ms          50            100
 *   device 0: NVIDIA H100
 *     queue 2    87%  ▁▂██████▇····▁████████
 *   train, pid 7
 *     ranges          [step      ]    [step  ]
 *     main 7     98%  ██▇▇▒▒▒▒▓▓▓▓▓▁▁·····████
 *
 * In UTF-8, the height of a column is its share of busy time in eighths; elsewhere, a digit shows
 * tenths. A column in which calls mostly wait is shaded. An empty column that was mostly not
 * recorded is a slash. */
#include "cli/report_timeline.h"

#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables/recorded_text.h"
#include "analysis/tables/retained.h"
#include "cli/json.h"
#include "cli/picture.h"
#include "cli/ui.h"
#include "config.h"
#include "util/error.h"

enum {
	ROOM_MOST = 200,
	LABEL_ROOM = 16,
	BAR_AT = 2 + LABEL_ROOM + 6, /* indent, label, and " 100% " */
	ROWS_MOST = 24,              /* largest number of rows for queues, and for threads */
	RANGE_ROWS_SHOWN = 3,
	RANGES_MOST = 1 << 14,
	GLYPH_BYTES = 8,
	PAUSE_WHYS = 4,
	TICK_ROOM = 12 /* smallest distance between numbers on the axis, in columns */
};

struct canvas {
	const struct picture *picture;
	const struct ui_colors *colors;
	FILE *out;
	unsigned columns;
	bool utf8;
};

/* The axis ------------------------------------------------------------------------- */

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit units[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
};

/* Return 1, 2 or 5 times a power of ten, such that numbers are at least TICK_ROOM columns apart. */
static uint64_t choose_step(uint64_t length_ns, unsigned columns)
{
	uint64_t least = (uint64_t)((__uint128_t)length_ns * TICK_ROOM / columns), step = 1;
	static const unsigned factors[] = {2, 5, 10};
	unsigned i = 0;
	uint64_t power = 1;

	while (step < least && power < UINT64_MAX / 100) {
		step = power * factors[i];
		if (++i == 3) {
			i = 0;
			power *= 10;
		}
	}
	return step;
}

static unsigned column_of(const struct canvas *v, uint64_t ns)
{
	const struct picture *p = v->picture;
	uint64_t length = p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 1;
	unsigned column = (unsigned)((__uint128_t)(ns - p->start_ns) * v->columns / length);

	return column < v->columns ? column : v->columns - 1;
}

/* Print a time in the unit of the step, with the decimals that the step needs. */
static int print_tick(char *text, size_t size, uint64_t at_ns, uint64_t step_ns,
		      const struct unit *unit, bool first)
{
	unsigned decimals = 0;

	for (uint64_t rest = step_ns; rest % unit->ns && decimals < 3; rest *= 10)
		decimals++;
	return snprintf(text, size, "%.*f%s%s", (int)decimals, (double)at_ns / (double)unit->ns,
			first ? " " : "", first ? unit->name : "");
}

static void print_axis(const struct canvas *v)
{
	const struct picture *p = v->picture;
	const uint64_t length = p->end_ns - p->start_ns, from = p->start_ns - p->zero_ns;
	const uint64_t step = choose_step(length ? length : 1, v->columns);
	uint64_t at = from / step * step;
	const struct unit *unit = &units[0];
	char line[ROOM_MOST + 1], text[48];
	unsigned until = 0;
	bool first = true;

	for (unsigned i = 1; i < sizeof units / sizeof *units; i++)
		if (p->end_ns - p->zero_ns >= 2 * units[i].ns && step >= units[i].ns / 1000)
			unit = &units[i];
	memset(line, ' ', v->columns);
	for (bool more = at == from || !__builtin_add_overflow(at, step, &at);
	     more && at - from <= length; more = !__builtin_add_overflow(at, step, &at)) {
		unsigned column = column_of(v, p->zero_ns + at);
		unsigned n = (unsigned)print_tick(text, sizeof text, at, step, unit, first);

		if (column < until || column + 1 + n > v->columns)
			continue;
		line[column] = '|';
		memcpy(line + column + 1, text, n);
		until = column + n + 2;
		first = false;
	}
	line[v->columns] = '\0';
	for (unsigned i = v->columns; i && line[i - 1] == ' '; i--)
		line[i - 1] = '\0';
	fprintf(v->out, "%*s%s%s%s\n", BAR_AT, "", v->colors->dim, line, v->colors->reset);
}

/* Bars ----------------------------------------------------------------------------- */

/* Return the time of a column since the picture's start. */
static uint64_t edge_ns(const struct canvas *v, unsigned column)
{
	const struct picture *p = v->picture;
	__uint128_t length = p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 1;

	return (uint64_t)((length * column + v->columns - 1) / v->columns);
}

static uint64_t bin_ns(const struct canvas *v, unsigned column)
{
	return edge_ns(v, column + 1) - edge_ns(v, column);
}

static uint64_t paused_ns(const struct canvas *v, const struct picture_row *row, unsigned column)
{
	const struct picture *p = v->picture;

	return picture_paused_ns(p, row, p->start_ns + edge_ns(v, column),
				 p->start_ns + edge_ns(v, column + 1));
}

/* Return true if the row was not recorded for most of the column's time. */
static bool is_paused(const struct canvas *v, const struct picture_row *row, unsigned column)
{
	return 2 * paused_ns(v, row, column) > bin_ns(v, column);
}

static const char *paused_glyph(const struct canvas *v)
{
	return v->utf8 ? "╱" : "/";
}

static const char *glyph_of(const struct canvas *v, double busy, double wait)
{
	static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇"};
	static const char *const shades[] = {"░", "▒", "▓"};
	static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
	bool waits = wait * 2 > busy;

	if (busy <= 0)
		return v->utf8 ? "·" : ".";
	if (waits && v->utf8)
		return shades[wait < 1 / 3. ? 0 : wait < 2 / 3. ? 1 : 2];
	if (waits)
		return wait < 0.5 ? "w" : "W";
	if (busy >= 0.99)
		return v->utf8 ? "█" : "#";
	return v->utf8 ? eighths[(int)(busy * 7)] : digits[(int)(busy * 10)];
}

static const char *color_of(const struct canvas *v, const struct picture_row *row, double busy,
			    double wait)
{
	if (busy <= 0)
		return v->colors->dim;
	if (row->kind != PICTURE_THREAD)
		return v->colors->green;
	return wait * 2 > busy ? v->colors->yellow : v->colors->cyan;
}

static void print_bar(const struct canvas *v, const struct picture_row *row)
{
	const char *color = "";

	for (unsigned i = 0; i < v->columns; i++) {
		double length = (double)(bin_ns(v, i) ? bin_ns(v, i) : 1);
		double busy = (double)row->busy[i] / length;
		double wait = row->wait ? (double)row->wait[i] / length : 0;
		const char *wanted = color_of(v, row, busy, wait);

		if (wanted != color)
			fprintf(v->out, "%s%s", v->colors->reset, wanted);
		color = wanted;
		fputs(!row->busy[i] && is_paused(v, row, i) ? paused_glyph(v)
							    : glyph_of(v, busy, wait),
		      v->out);
	}
	fprintf(v->out, "%s\n", v->colors->reset);
}

/* Ranges --------------------------------------------------------------------------- */

struct range_cells {
	char glyph[ROOM_MOST][GLYPH_BYTES]; /* "": second column of a double-width character */
};

static void put_name(struct range_cells *cells, const char *name, unsigned from, unsigned to)
{
	uint32_t character;
	char one[GLYPH_BYTES];

	while (*name && from < to) {
		size_t bytes = text_next(name, &character);
		unsigned width;

		snprintf(one, sizeof one, "%.*s", (int)(bytes < sizeof one ? bytes : 1), name);
		if (gt_text_is_control(character))
			strcpy(one, "?");
		width = text_width(one);
		if (!width || from + width > to)
			return;
		strcpy(cells->glyph[from], one);
		for (unsigned i = 1; i < width; i++)
			cells->glyph[from + i][0] = '\0';
		from += width;
		name += bytes;
	}
}

/* Put a range. Ranges of a row are passed in order of their start. */
static void put_range(const struct canvas *v, struct range_cells *cells,
		      const struct picture_slice *s)
{
	unsigned from = column_of(v, s->start_ns);
	unsigned to = column_of(v, s->end_ns > s->start_ns ? s->end_ns - 1 : s->end_ns);

	if (from == to) { /* shorter than a column; ':' represents several ranges */
		strcpy(cells->glyph[from], strcmp(cells->glyph[from], " ") ? ":" : "|");
		return;
	}
	for (unsigned i = from + 1; i < to; i++)
		strcpy(cells->glyph[i], "-");
	strcpy(cells->glyph[from], "[");
	strcpy(cells->glyph[to], "]");
	put_name(cells, texts_get(&v->picture->texts, s->name), from + 1, to);
}

static void print_ranges(const struct canvas *v, size_t row)
{
	const struct picture_slices *ranges = &v->picture->ranges;
	struct range_cells cells;
	unsigned blanks = 0; /* number of pending spaces, printed only before other characters */

	for (unsigned i = 0; i < v->columns; i++)
		strcpy(cells.glyph[i], " ");
	for (size_t i = 0; i < ranges->count; i++)
		if (ranges->list[i].row == row)
			put_range(v, &cells, &ranges->list[i]);
	for (unsigned i = 0; i < v->columns; i++) {
		bool blank = !strcmp(cells.glyph[i], " ");

		if (blank && !is_paused(v, &v->picture->rows[row], i)) {
			blanks++;
			continue;
		}
		fprintf(v->out, "%*s", (int)blanks, "");
		blanks = 0;
		if (blank)
			fprintf(v->out, "%s%s%s", v->colors->dim, paused_glyph(v),
				v->colors->reset);
		else
			fputs(cells.glyph[i], v->out);
	}
	fputc('\n', v->out);
}

/* Rows ----------------------------------------------------------------------------- */

static void print_group(const struct canvas *v, const struct picture_row *row, const char **last)
{
	if (*last && !strcmp(*last, row->group))
		return;
	*last = row->group;
	fputs(v->colors->bold, v->out);
	ui_put(v->out, row->group, BAR_AT + v->columns);
	fprintf(v->out, "%s\n", v->colors->reset);
}

static void print_row(const struct canvas *v, const struct picture_row *row)
{
	unsigned used = 2;
	char share[16] = "";

	fputs("  ", v->out);
	used += ui_put(v->out, row->kind == PICTURE_RANGES ? "ranges" : row->label, LABEL_ROOM);
	if (row->kind != PICTURE_RANGES && row->known_ns)
		snprintf(share, sizeof share, "%.0f%%",
			 100. * (double)row->busy_ns / (double)row->known_ns);
	fprintf(v->out, "%*s%4s ", (int)(BAR_AT - 5 - used), "", share);
	if (row->kind == PICTURE_RANGES)
		print_ranges(v, (size_t)(row - v->picture->rows));
	else
		print_bar(v, row);
}

static void print_rows(const struct canvas *v)
{
	const struct picture *p = v->picture;
	uint32_t *order = allocate_list(p->row_count, sizeof *order);
	const char *group = NULL;

	picture_order(p, order);
	for (size_t i = 0; i < p->row_count; i++) {
		const struct picture_row *row = &p->rows[order[i]];

		if (row->kind == PICTURE_RANGES && row->depth >= RANGE_ROWS_SHOWN)
			continue;
		print_group(v, row, &group);
		print_row(v, row);
	}
	free(order);
}

/* Legend ----------------------------------------------------------------------------------- */

static bool has_kind(const struct picture *p, enum picture_kind kind)
{
	for (size_t i = 0; i < p->row_count; i++)
		if (p->rows[i].kind == kind)
			return true;
	return false;
}

static void print_sentence(const struct canvas *v, const char *text)
{
	fputs("  ", v->out);
	ui_wrap(v->out, 2, 2, text);
	fputc('\n', v->out);
}

static void print_left_out(const struct canvas *v)
{
	const struct picture *p = v->picture;
	char text[256];

	if (p->queues_left_out || p->threads_left_out) {
		snprintf(text, sizeof text,
			 "Not shown: %s queue%s and %s thread%s that were busy for less time.",
			 show_count(p->queues_left_out), p->queues_left_out == 1 ? "" : "s",
			 show_count(p->threads_left_out), p->threads_left_out == 1 ? "" : "s");
		print_sentence(v, text);
	}
	if (p->ranges.left_out) {
		snprintf(text, sizeof text, "Not shown: %s shorter ranges.",
			 show_count(p->ranges.left_out));
		print_sentence(v, text);
	}
	if (p->untimed) {
		snprintf(text, sizeof text, "Not shown: %s GPU activit%s without times.",
			 show_count(p->untimed), p->untimed == 1 ? "y" : "ies");
		print_sentence(v, text);
	}
}

/* Return true for pauses that are long enough to be visible in a column. */
static bool is_seen(const struct canvas *v, const struct picture_pauses *pauses)
{
	const struct picture *p = v->picture;
	uint64_t sum = 0;

	for (size_t i = 0; i < pauses->count; i++)
		sum += pauses->list[i].end_ns - pauses->list[i].start_ns;
	return 2 * sum > (p->end_ns - p->start_ns) / v->columns;
}

/* Put the last element of @whys. Omit the words before its colon if they equal those of the
 * previous element. */
static size_t put_why(const struct picture *p, char *text, size_t size, const uint32_t *whys,
		      unsigned count)
{
	const char *why = texts_get(&p->texts, whys[count - 1]), *colon = strstr(why, ": ");
	const char *previous = count > 1 ? texts_get(&p->texts, whys[count - 2]) : NULL;
	size_t same = colon ? (size_t)(colon + 2 - why) : 0;

	if (previous && same && !strncmp(why, previous, same))
		return (size_t)snprintf(text, size, ", %s", why + same);
	return (size_t)snprintf(text, size, "%s%s", previous ? "; " : "", why);
}

/* Print "╱: not recorded: --delay, gputap stop" and the like. */
static void print_pauses_legend(const struct canvas *v)
{
	const struct picture *p = v->picture;
	char text[512];
	size_t n = (size_t)snprintf(text, sizeof text, "%s: ", paused_glyph(v));
	uint32_t whys[PAUSE_WHYS];
	unsigned count = 0;

	for (uint32_t i = 0; i < p->pauses_count; i++)
		for (size_t k = 0;
		     is_seen(v, &p->pauses[i]) && k < p->pauses[i].count && count < PAUSE_WHYS;
		     k++) {
			unsigned seen = 0;

			while (seen < count && whys[seen] != p->pauses[i].list[k].why)
				seen++;
			if (seen < count)
				continue;
			whys[count++] = p->pauses[i].list[k].why;
			n += put_why(p, text + n, sizeof text - n, whys, count);
		}
	if (!count)
		return;
	snprintf(text + n, sizeof text - n, ". Percentages are of the recorded time.");
	print_sentence(v, text);
}

static void print_legend(const struct canvas *v)
{
	const struct picture *p = v->picture;
	char text[128];

	snprintf(text, sizeof text, "A column is %s. %s",
		 show_duration((p->end_ns - p->start_ns) / v->columns),
		 v->utf8 ? "▁ to ▇: partly busy, █: busy throughout, ·: not busy."
			 : "0 to 9: tenths busy, #: busy throughout, .: not busy.");
	fputc('\n', v->out);
	print_sentence(v, text);
	if (has_kind(p, PICTURE_THREAD))
		print_sentence(v,
			       v->utf8 ? "Threads are busy in calls; ░▒▓: mostly waiting there."
				       : "Threads are busy in calls; w, W: mostly waiting there.");
	if (has_kind(p, PICTURE_RANGES))
		print_sentence(v, "Ranges shorter than a column: |, several: ':'.");
	if (v->picture->pauses_count)
		print_pauses_legend(v);
}

/* Printing ------------------------------------------------------------------------- */

static unsigned choose_columns(FILE *out)
{
	unsigned room = ui_room(out);

	room = room > ROOM_MOST ? ROOM_MOST : room;
	return room < BAR_AT + 20 ? 20 : room - BAR_AT;
}

static void print_session(const struct canvas *v, const struct gt_capture *c,
			  const struct gt_capture_session *session)
{
	char recorded[RECORDED_TEXT], kept[RETAINED_TEXT], text[RETAINED_TEXT + 16];

	fputs(v->colors->bold, v->out);
	ui_put(v->out, session->path, BAR_AT + v->columns);
	fprintf(v->out, "%s\n", v->colors->reset);
	if (recorded_text(c, session, recorded)) {
		snprintf(text, sizeof text, "Recorded: %s.", recorded);
		print_sentence(v, text);
	}
	if (retained_text(c, session, kept)) {
		snprintf(text, sizeof text, "Retained: %s.", kept);
		print_sentence(v, text);
	}
}

static void print_head(const struct canvas *v, const struct report_timeline *t,
		       const struct gt_capture *c)
{
	const struct picture *p = v->picture;
	char text[1024];

	for (size_t i = 0; i < gt_capture_session_count(c); i++)
		print_session(v, c, gt_capture_session_at(c, i));
	if (t->where) {
		snprintf(text, sizeof text, "Only where %s.", t->where);
		print_sentence(v, text);
	}
	if (!p->row_count) {
		print_sentence(v, t->where ? "No matching record has a time."
					   : "No record has a time.");
		return;
	}
	snprintf(text, sizeof text, "%s, from %s to %s after the start of the capture.",
		 show_duration(p->end_ns - p->start_ns), show_duration(p->start_ns - p->zero_ns),
		 show_duration(p->end_ns - p->zero_ns));
	print_sentence(v, text);
	fputc('\n', v->out);
}

static void print_text(const struct report_timeline *t, const struct gt_capture *c,
		       const struct picture *p, unsigned columns, FILE *out)
{
	struct canvas v = {.picture = p,
			   .colors = ui_colors(out),
			   .out = out,
			   .columns = columns,
			   .utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8")};

	print_head(&v, t, c);
	if (!p->row_count)
		return;
	print_axis(&v);
	print_rows(&v);
	print_legend(&v);
	print_left_out(&v);
}

static void print_json_bins(struct json *j, const char *key, const uint64_t *bins, size_t count)
{
	json_array(j, key);
	for (size_t i = 0; i < count; i++)
		json_count(j, NULL, bins[i]);
	json_close(j);
}

static void print_json_ranges(struct json *j, const struct picture *p, size_t row)
{
	json_array(j, "ranges");
	for (size_t i = 0; i < p->ranges.count; i++) {
		const struct picture_slice *s = &p->ranges.list[i];

		if (s->row != row)
			continue;
		json_object(j, NULL);
		json_string(j, "name", texts_get(&p->texts, s->name));
		json_count(j, "start_ns", s->start_ns - p->zero_ns);
		json_count(j, "end_ns", s->end_ns - p->zero_ns);
		json_close(j);
	}
	json_close(j);
}

static void print_json_pauses(struct json *j, const struct picture *p,
			      const struct picture_row *row)
{
	const struct picture_pauses *pauses = picture_pauses_of(p, row);

	json_array(j, "unrecorded");
	for (size_t i = 0; pauses && i < pauses->count; i++) {
		json_object(j, NULL);
		json_string(j, "why", texts_get(&p->texts, pauses->list[i].why));
		json_count(j, "start_ns", pauses->list[i].start_ns - p->zero_ns);
		json_count(j, "end_ns", pauses->list[i].end_ns - p->zero_ns);
		json_close(j);
	}
	json_close(j);
}

static void print_json_row(struct json *j, const struct picture *p, size_t i)
{
	const struct picture_row *row = &p->rows[i];

	json_object(j, NULL);
	json_string(j, "kind", picture_kind_name(row->kind));
	json_string(j, "group", row->group);
	json_string(j, "label", row->label);
	json_count(j, "count", row->count);
	if (row->kind == PICTURE_RANGES) {
		json_count(j, "depth", row->depth);
		print_json_ranges(j, p, i);
	} else {
		json_count(j, "busy_ns", row->busy_ns);
		print_json_bins(j, "busy", row->busy, p->bins);
	}
	json_count(j, "unrecorded_ns", picture_paused_ns(p, row, p->start_ns, p->end_ns));
	print_json_pauses(j, p, row);
	if (row->wait) {
		json_count(j, "wait_ns", row->wait_ns);
		print_json_bins(j, "wait", row->wait, p->bins);
	}
	json_close(j);
}

static void print_json(const struct report_timeline *t, const struct picture *p, FILE *out)
{
	struct json j = {.out = out};

	json_object(&j, NULL);
	json_string(&j, "format", "gputap-timeline");
	json_count(&j, "version", 1);
	json_string(&j, "gputap", GPUTAP_VERSION);
	json_string(&j, "where", t->where);
	json_count(&j, "start_ns", p->row_count ? p->start_ns - p->zero_ns : 0);
	json_count(&j, "end_ns", p->row_count ? p->end_ns - p->zero_ns : 0);
	json_count(&j, "columns", p->bins);
	json_count(&j, "queues_left_out", p->queues_left_out);
	json_count(&j, "threads_left_out", p->threads_left_out);
	json_count(&j, "ranges_left_out", p->ranges.left_out);
	json_count(&j, "untimed", p->untimed);
	json_array(&j, "rows");
	for (size_t i = 0; i < p->row_count; i++)
		print_json_row(&j, p, i);
	json_close(&j);
	json_close(&j);
}

int report_timeline_print(const struct report_timeline *t, const struct gt_capture *c, FILE *out)
{
	struct picture p = {.bins = choose_columns(out),
			    .rows_most = ROWS_MOST,
			    .ranges_most = RANGES_MOST,
			    .mangled = t->mangled};
	unsigned columns = (unsigned)p.bins;
	int status = picture_read(&p, c);

	if (!status && t->json)
		print_json(t, &p, out);
	else if (!status)
		print_text(t, c, &p, columns, out);
	picture_fini(&p);
	return status;
}
