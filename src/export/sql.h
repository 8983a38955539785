/* SPDX-License-Identifier: MIT */
/* Helpers for the exporters to SQLite (RPD, rocpd): the first failure, which is stored while later
 * rows are made but not written; passes over the capture, which stop on it; the SQL text that ends
 * a file, with its metadata. */
#ifndef GPUTAP_EXPORT_SQL_H
#define GPUTAP_EXPORT_SQL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "export/bulk.h"
#include "export/passes.h"
#include "export/view.h"

/* Return *status, which is now a failure. */
int gt_sql_no_memory(int *status);
void gt_sql_note(int *status, int other);

/* Run a pass of @step; see gt_pass_run(). Return the first failure, of a row or of reading. */
int gt_sql_pass(struct gt_view *view, unsigned number, const struct gt_export_options *options,
		bool (*step)(void *exporter, unsigned pass, const struct gt_item *item),
		void *exporter, const int *status);

struct gt_sql {
	sqlite3_str *out;
	int *status;          /* the exporter's */
	const char *metadata; /* name of the table */
	char *text;           /* room for a text of text_bytes, cleaned */
	size_t text_bytes;    /* longer ones are cut */
	/* makes text acceptable to the file's readers; as gt_put_utf8() */
	char *(*clean)(char *p, const char *text, size_t bytes);
};

/* Append formatted SQL. Texts for %Q are escaped. */
void gt_sql_put(struct gt_sql *s, const char *format, ...);
/* Append , 'text', cleaned. NULL: an empty one. */
void gt_sql_put_text(struct gt_sql *s, const char *text);
void gt_sql_put_metadata(struct gt_sql *s, const char *tag, const char *value);
/* Append the versions that made the capture, and the meaning of its times. */
void gt_sql_put_version(struct gt_sql *s, const struct gt_view *view);
/* Append how it was exported, and whether it is complete. */
void gt_sql_put_export(struct gt_sql *s, const struct gt_view *view,
		       const struct gt_export_options *options);
/* Append its amounts. @untimed: activities without a row. */
void gt_sql_put_counts(struct gt_sql *s, const struct gt_view *view, uint64_t untimed);
/* Run the text and complete the file, unless something has failed. *db is NULL afterwards. */
int gt_sql_finish(struct gt_sql *s, struct gt_bulk **db);

#endif
