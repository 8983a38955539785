/* SPDX-License-Identifier: MIT */
/* Helpers for the exporters to SQLite (RPD, rocpd): storage of the first failure, after which rows
 * are built but not written; passes over the capture that stop on a failure; the SQL text with
 * metadata that completes a file. */
#ifndef GPUTAP_EXPORT_SQL_H
#define GPUTAP_EXPORT_SQL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/passes.h"
#include "analysis/model/view.h"
#include "export/bulk.h"

/* Record a lack of memory, unless a failure is stored already. Return *status. */
int gt_sql_no_memory(int *status);
void gt_sql_note(int *status, int other);

/* Run a pass of @step; see gt_pass_run(). Return the first failure of a row or of the reader. */
int gt_sql_pass(struct gt_view *view, unsigned number, const struct gt_view_options *options,
		bool (*step)(void *exporter, unsigned pass, const struct gt_item *item),
		void *exporter, const int *status);

struct gt_sql {
	sqlite3_str *out;
	int *status;          /* status of the exporter */
	const char *metadata; /* name of the metadata table */
	char *text;           /* room for a cleaned text of text_bytes */
	size_t text_bytes;    /* longer texts are truncated */
	/* makes text acceptable to the file's readers; same contract as gt_put_utf8() */
	char *(*clean)(char *p, const char *text, size_t bytes);
};

/* Append formatted SQL. %Q escapes its text. */
void gt_sql_put(struct gt_sql *s, const char *format, ...);
/* Append , 'text', cleaned. NULL: append an empty text. */
void gt_sql_put_text(struct gt_sql *s, const char *text);
void gt_sql_put_metadata(struct gt_sql *s, const char *tag, const char *value);
/* Append the versions that created the capture, and the meaning of its times. */
void gt_sql_put_version(struct gt_sql *s, const struct gt_view *view);
/* Append the export options, and whether the export is complete. */
void gt_sql_put_export(struct gt_sql *s, const struct gt_view *view,
		       const struct gt_view_options *options);
/* Append the capture's counts. @untimed: number of activities without a row. */
void gt_sql_put_counts(struct gt_sql *s, const struct gt_view *view, uint64_t untimed);
/* Run the SQL text and complete the file, unless a failure is stored. Sets *db to NULL. */
int gt_sql_finish(struct gt_sql *s, struct gt_bulk **db);

#endif
