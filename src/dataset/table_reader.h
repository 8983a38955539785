/* SPDX-License-Identifier: MIT */
/* Reads the rows of a table: the interface between the tables (table_calls.c and so on) and their
 * consumers (arrow_batch.c, record_cursor.c).
 *
 *   struct table ── open(), next(), close() ──► struct rows ──► a fill function for each column
 *
 * Rows of calls and activities are items of a gt_cursor. Rows of other tables are structs, from
 * whose members columns are filled. */
#ifndef GPUTAP_DATASET_TABLE_READER_H
#define GPUTAP_DATASET_TABLE_READER_H

#include "analysis/base/sorter.h"
#include "analysis/tables/summary.h"
#include "dataset/dataset.h"
#include "dataset/dictionary.h"

enum { ROWS_MOST = 64 };

/* Distinct texts, by the kind of text. Columns of one kind share a dictionary. */
enum dictionary_kind {
	DICTIONARY_DOMAIN,
	DICTIONARY_OPERATION,
	DICTIONARY_KIND,
	DICTIONARY_ERROR,
	DICTIONARY_NAME,
	DICTIONARY_RANGE,
	DICTIONARY_OTHER,
	DICTIONARY_COUNT
};

enum column_type { COLUMN_BOOL, COLUMN_I16, COLUMN_I32, COLUMN_I64, COLUMN_TEXT, COLUMN_LIST };

struct operation; /* call_operations.h */

/* Consecutive rows. They stay valid until the next call of table.next(). */
struct rows {
	const void *row[ROWS_MOST];
	/* calls: operation of each row; activities: not set */
	const struct operation *operation[ROWS_MOST];
	const struct thread_number *thread; /* calls, activities: thread that wrote the records */
	size_t count;
};

/* Values of a column in the batch that is being filled. */
struct column_data {
	void *values;
	uint8_t *valid; /* bitmap of rows that have a value, cleared at first; NULL: all have one */
	size_t at;      /* next row */
	/* COLUMN_TEXT, COLUMN_LIST: `values` are offsets (int32_t) into these bytes or elements */
	char *bytes;
	size_t byte_count, byte_room;
};

struct reader;

/* Fill a column for @rows, from out->at on. */
typedef void fill_fn(struct reader *r, struct column_data *out, const struct rows *rows);

/* INT64_MIN, INT32_MIN, INT16_MIN, NULL, or a negative number of a text mean "no value" in members
 * of rows. */
struct column {
	const char *name, *unit, *text;
	enum column_type type;
	/* dictionary: enum dictionary_kind + 1; 0: none. A column with a dictionary has the type
	 * COLUMN_I32 */
	uint8_t dictionary;
	bool nullable, on_request;
	size_t member; /* offset of the value in the row, if fill is NULL */
	fill_fn *fill;
};

struct table {
	const char *name, *text;
	const struct column *columns;
	size_t column_count;
	size_t row_bytes; /* 0: rows are items */
	/* size of r->own, the state of the table, which is zeroed at first */
	size_t own_bytes;
	/* Prepare reading; may be NULL. All functions return 0 or negative errno with a cause, and
	 * may call memory_ran_out(). */
	int (*open)(struct reader *r);
	/* Get up to @most rows. Return 1, 0 at the end, or negative errno with a cause. */
	int (*next)(struct reader *r, struct rows *rows, size_t most);
	void (*close)(struct reader *r); /* may be NULL; called even if open() failed */
	/* calls, activities: parts of the table are runs of streams */
	bool is_partitioned;
};

/* All tables, in the order of gputap_capture_table_at(). */
extern const struct table *const tables[];
const struct table *table_find(const char *name);
extern const struct table table_sessions, table_processes, table_threads, table_devices,
	table_queues, table_calls, table_activities, table_ranges, table_idle, table_waits,
	table_memory, table_events, table_windows, table_counts, table_losses, table_stacks,
	table_frames, table_open_calls, table_dependencies;

/* Records that match an expression. Empty if zero-initialised. */
struct selection {
	struct summary summary;
	struct summary_reading *reading; /* NULL: all records match */
};

struct reader {
	struct dataset *dataset;
	const struct table *table;
	char *where;                          /* owned; NULL: all records */
	uint32_t first_session, last_session; /* sessions whose rows are read */
	size_t first_stream, stream_count;    /* streams of these sessions and this part */
	bool is_empty;                        /* true if this part has no rows */
	/* true if the column is filled, for tables whose columns have a price; index: column */
	bool *wants;
	struct selection selection;
	struct dictionary dictionaries[DICTIONARY_COUNT];
	void *own;        /* state of the table */
	char *rows;       /* ROWS_MOST rows of table->row_bytes */
	size_t next_row;  /* tables that are lists: index of the next entry */
	unsigned is_busy; /* atomic: 1 while a thread reads */
	int status;       /* result of the last step: 0 after the end, or an error */
	bool is_open;
};

/**
 * reader_create() - create a reader; reading begins with reader_next()
 * @options: checked, without columns; NULL: the whole table
 * @wants: see struct reader; taken over
 * Return: 0 or negative errno with a cause.
 */
int reader_create(const struct gputap_capture *capture, const struct table *table,
		  const struct gputap_capture_stream_options *options, bool *wants,
		  struct reader **out);
void reader_destroy(struct reader *r);
/* Get the next rows, at most @most. Return 1, 0 at the end, or negative errno with a cause. May
 * call memory_ran_out(). */
int reader_next(struct reader *r, struct rows *rows, size_t most);
/* Run @step for the only thread that uses the reader, guarded against the end of memory. Return its
 * result; -EBUSY with a cause if another thread uses the reader. */
int reader_run(struct reader *r, int (*step)(void *data), void *data);

/* Create a cursor over the reader's part of the records, restricted to the blocks that its
 * expression needs. Return 0 or negative errno with a cause. */
int reader_open_cursor(struct reader *r, struct gt_cursor **out);
/* Prepare the reader's expression for reader_wants(). Called by reader_open_cursor(). Return 0 or
 * negative errno with a cause. */
int reader_select(struct reader *r);
/* A gt_item_filter_fn: return true if the reader's expression matches the item. */
bool reader_wants(void *reader, const struct gt_item *item);

static inline bool reader_has_session(const struct reader *r, uint32_t session)
{
	return session >= r->first_session && session <= r->last_session;
}
/* Return true if the rows of a process are read. */
static inline bool reader_has_process(const struct reader *r, uint32_t process)
{
	const struct gt_process_info *p = gt_capture_process(r->dataset->capture, process);

	return p && reader_has_session(r, p->session);
}
static inline int32_t reader_session_of(const struct reader *r, uint32_t process)
{
	const struct gt_process_info *p = gt_capture_process(r->dataset->capture, process);

	return p ? (int32_t)p->session : INT32_MIN;
}

/* Implements table.next() for tables whose rows are entries of a list: call @build for each entry
 * until there are @most rows. @build: fills a zeroed row; returns false to leave out the entry */
int reader_next_entries(struct reader *r, struct rows *rows, size_t most, size_t entry_count,
			bool (*build)(struct reader *r, size_t entry, void *row));

/* Implements table.next() for tables whose rows were sorted. */
int reader_next_sorted(struct reader *r, struct rows *rows, size_t most, struct sorter *sorted);

/* Return the number of a text in a dictionary; -1 for NULL. */
static inline int32_t reader_text(struct reader *r, enum dictionary_kind kind, const char *text)
{
	return text ? dictionary_put(&r->dictionaries[kind], text) : -1;
}

#define COLUMN_MEMBER(row_type, field, column_type, column_unit, null, description)               \
	{                                                                                         \
		.name = #field, .type = (column_type), .unit = (column_unit), .nullable = (null), \
		.member = offsetof(row_type, field), .text = (description)                        \
	}
#define COLUMN_TEXTS(row_type, field, kind, null, description)                                 \
	{                                                                                      \
		.name = #field, .type = COLUMN_I32, .unit = "", .dictionary = (kind) + 1,      \
		.nullable = (null), .member = offsetof(row_type, field), .text = (description) \
	}

#endif
