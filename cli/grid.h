/* SPDX-License-Identifier: MIT */
/* A table of results, filled once and printed as text, CSV or JSON. A column's key is its name in
 * JSON, CSV and --sort and never changes; its title is for people. Text fits the width of a
 * terminal, or COLUMNS if that is set: columns of high rank are dropped first, and are named below
 * the table, then the last column is cut. Output to a pipe is not cut. */
#ifndef GPUTAP_CLI_GRID_H
#define GPUTAP_CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/json.h"

enum grid_type {
	GRID_TEXT,
	GRID_COUNT, /* whole number */
	GRID_SIGNED,
	GRID_ID, /* pid, device: a number that identifies */
	GRID_NS, /* duration */
	GRID_BYTES,
	GRID_RATE,  /* bytes per second */
	GRID_SHARE, /* fraction of 1 */
	/* text of several lines, ended by '\n': an array in JSON; in the last column each has a
	 * separate line */
	GRID_LINES,
};

enum grid_show {
	GRID_ALWAYS,
	GRID_IF_ANY,     /* in text only if a row has a value other than 0 */
	GRID_IF_DIFFER,  /* in text only when rows differ */
	GRID_DATA,       /* never in text */
	GRID_FOR_PEOPLE, /* only in text */
	GRID_FOR_PEOPLE_IF_ANY,
};

struct grid_column {
	const char *key, *title;
	enum grid_type type;
	enum grid_show show;
	unsigned rank; /* 0 stays; the highest is dropped first if the terminal is narrow */
	bool bad;      /* true if a value in it deserves attention */
};

struct grid_cell {
	enum { CELL_NONE = 0, CELL_TEXT, CELL_COUNT, CELL_SIGNED, CELL_REAL } has;
	union {
		const char *text; /* the grid's text, or outlives the grid */
		uint64_t count;
		int64_t integer;
		double real;
	};
	enum { CELL_PLAIN = 0, CELL_BAD, CELL_GOOD } tone; /* its colour on a terminal */
};

struct grid {
	const char *name;    /* key in JSON, word for --table */
	const char *heading; /* text, may be "" */
	const char *none;    /* text for an empty table; NULL: "none" */
	const struct grid_column *columns;
	unsigned column_count;
	uint64_t always;  /* bit per column: always shown in text, regardless of `show` */
	size_t usual_top; /* rows in text without --top; 0: all */
	/* true if its last column has sentences: they continue on further lines, and are not cut */
	bool sentences;
	/* true if its rows are only the most interesting ones: no "and 12 more" */
	bool selection;
	const char *note; /* a sentence below it, for people; NULL: none */
	struct grid_cell *cells;
	size_t row_count, row_room;
	char **owned;
	size_t owned_count, owned_room;
};

void grid_init(struct grid *g, const char *name, const struct grid_column *columns,
	       unsigned column_count);
void grid_fini(struct grid *g);
/* Add a row with all cells empty; fill them from left to right. */
struct grid_cell *grid_row(struct grid *g);
/* Return text that lives as long as the grid. */
const char *grid_keep(struct grid *g, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline struct grid_cell cell_text(const char *text)
{
	return (struct grid_cell){.has = text ? CELL_TEXT : CELL_NONE, .text = text};
}
static inline struct grid_cell cell_count(uint64_t count)
{
	return (struct grid_cell){.has = CELL_COUNT, .count = count};
}
static inline struct grid_cell cell_signed(int64_t integer)
{
	return (struct grid_cell){.has = CELL_SIGNED, .integer = integer};
}
static inline struct grid_cell cell_real(double real)
{
	return (struct grid_cell){.has = CELL_REAL, .real = real};
}
static inline struct grid_cell cell_none(void)
{
	return (struct grid_cell){.has = CELL_NONE};
}

/* Return a column with that key or title; -1: not found. */
int grid_column(const struct grid *g, const char *name);
/* Sort numbers largest first and texts alphabetically; @reverse: the other way. Equal rows keep
 * their order. */
void grid_sort(struct grid *g, unsigned column, bool reverse);

/* @top: most rows to print, 0: all. */
void grid_print_text(const struct grid *g, FILE *out, size_t top);
void grid_print_csv(const struct grid *g, FILE *out, size_t top, bool name_column);
void grid_print_json(const struct grid *g, struct json *j, size_t top);

#endif
