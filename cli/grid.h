/* SPDX-License-Identifier: MIT */
/* A table of results, filled once and shown as text, CSV or JSON. A column's key is its name in
 * JSON, CSV and --sort and never changes; its title is for people. Text fits the width of a
 * terminal, or COLUMNS where that is set: columns of high rank go first, and are named below the
 * table, then the last column is cut. Into a pipe nothing is cut. */
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
	GRID_ID, /* pid, device: a number that is a name */
	GRID_NS, /* duration */
	GRID_BYTES,
	GRID_RATE,  /* bytes per second */
	GRID_SHARE, /* of 1 */
	/* text of several lines, ended by '\n': an array in JSON; each stands in a line of its
	 * own, where it is the last column */
	GRID_LINES,
};

enum grid_show {
	GRID_ALWAYS,
	GRID_IF_ANY,     /* in text only when a row has something other than 0 or nothing */
	GRID_IF_DIFFER,  /* in text only when rows differ */
	GRID_DATA,       /* never in text */
	GRID_FOR_PEOPLE, /* only in text */
};

struct grid_column {
	const char *key, *title;
	enum grid_type type;
	enum grid_show show;
	unsigned rank; /* 0 stays; the highest goes first when the terminal is narrow */
	bool bad;      /* a value in it is something to look at */
};

struct grid_cell {
	enum { CELL_NONE = 0, CELL_TEXT, CELL_COUNT, CELL_SIGNED, CELL_REAL } has;
	union {
		const char *text; /* the grid's or lives longer than it */
		uint64_t count;
		int64_t integer;
		double real;
	};
	enum { CELL_PLAIN = 0, CELL_BAD, CELL_GOOD } tone; /* its colour on a terminal */
};

struct grid {
	const char *name;    /* key in JSON, word for --table */
	const char *heading; /* text, may be "" */
	const char *none;    /* text instead of rows where there are none; NULL: "none" */
	const struct grid_column *columns;
	unsigned column_count;
	uint32_t always;  /* bit per column: shown in text whatever its `show` */
	size_t usual_top; /* rows in text without --top; 0: all */
	/* its last column holds some: they go on in further lines, and are not cut */
	bool sentences;
	/* its rows are only the most interesting ones anyway: no "and 12 more" */
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
/* A new row, all cells empty; fill them from left to right. */
struct grid_cell *grid_row(struct grid *g);
/* Text that lives as long as the grid. */
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

/* Column by key or by title; -1: has none. */
int grid_column(const struct grid *g, const char *name);
/* Numbers: largest first; texts: by alphabet; @reverse: the other way. Rows that are equal keep
 * their order. */
void grid_sort(struct grid *g, unsigned column, bool reverse);

/* @top: at most so many rows, 0: all. */
void grid_print_text(const struct grid *g, FILE *out, size_t top);
void grid_print_csv(const struct grid *g, FILE *out, size_t top, bool name_column);
void grid_print_json(const struct grid *g, struct json *j, size_t top);

#endif
