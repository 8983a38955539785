/* SPDX-License-Identifier: MIT */
/* A table of results, filled once and printed as text, CSV or JSON. The key of a column is its name
 * in JSON, CSV and --sort, and never changes. Its title is for text. Text fits the width of the
 * terminal, or COLUMNS if it is set. If the table is too wide, columns of high rank are dropped and
 * named below the table, and then the last column is cut. Output to a pipe is not cut. */
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
	GRID_ID, /* an identifying number, such as a pid or a device */
	GRID_NS, /* duration */
	GRID_BYTES,
	GRID_RATE,  /* bytes per second */
	GRID_SHARE, /* fraction of 1 */
	/* text of several lines, each ended by '
	 * '. In JSON, an array. In the last column of a text table, printed line by line */
	GRID_LINES,
};

enum grid_show {
	GRID_ALWAYS,
	GRID_IF_ANY,     /* shown in text only if some row has a non-zero value */
	GRID_IF_DIFFER,  /* shown in text only if rows have different values */
	GRID_DATA,       /* never shown in text */
	GRID_FOR_PEOPLE, /* shown only in text */
	GRID_FOR_PEOPLE_IF_ANY,
};

struct grid_column {
	const char *key, *title;
	enum grid_type type;
	enum grid_show show;
	/* 0: never dropped; on a narrow terminal, the highest rank is dropped first */
	unsigned rank;
	/* true if a value in this column deserves attention */
	bool bad;
};

struct grid_cell {
	enum { CELL_NONE = 0, CELL_TEXT, CELL_COUNT, CELL_SIGNED, CELL_REAL } has;
	union {
		const char *text; /* lives as long as the grid */
		uint64_t count;
		int64_t integer;
		double real;
	};
	enum { CELL_PLAIN = 0, CELL_BAD, CELL_GOOD } tone; /* colour of the cell on a terminal */
};

struct grid {
	const char *name;    /* key in JSON, and word for --table */
	const char *heading; /* heading in text, may be "" */
	const char *none;    /* text printed for an empty table; NULL: "none" */
	const struct grid_column *columns;
	unsigned column_count;
	uint64_t always; /* one bit per column that is always shown in text, regardless of `show` */
	/* new title of column `retitled`; NULL: no column is retitled */
	const char *other_title;
	unsigned retitled;
	size_t usual_top; /* number of rows in text without --top; 0: all */
	/* true if the last column contains sentences, which are wrapped instead of cut */
	bool sentences;
	/* true if the rows are only the most interesting ones, so "and 12 more" is not printed */
	bool selection;
	const char *note; /* a sentence below the table in text; NULL: none */
	struct grid_cell *cells;
	size_t row_count, cell_room;
	char **owned;
	size_t owned_count, owned_room;
};

void grid_init(struct grid *g, const char *name, const struct grid_column *columns,
	       unsigned column_count);
void grid_fini(struct grid *g);
/* Add a row of empty cells. The caller fills them in from left to right. */
struct grid_cell *grid_row(struct grid *g);
/* Return a formatted text that lives as long as the grid. */
const char *grid_keep(struct grid *g, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline const char *grid_title(const struct grid *g, unsigned column)
{
	return g->other_title && column == g->retitled ? g->other_title : g->columns[column].title;
}

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

/* Return the column with this key or title; -1: not found. */
int grid_column(const struct grid *g, const char *name);
/* Sort the rows: numbers largest first, texts alphabetically. @reverse: reverse the order. Equal
 * rows keep their order. */
void grid_sort(struct grid *g, unsigned column, bool reverse);

/* Print the table. @top: largest number of rows to print, 0: all. */
void grid_print_text(const struct grid *g, FILE *out, size_t top);
void grid_print_csv(const struct grid *g, FILE *out, size_t top, bool name_column);
void grid_print_json(const struct grid *g, struct json *j, size_t top);

#endif
