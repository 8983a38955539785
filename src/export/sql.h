/* SPDX-License-Identifier: MIT */
/* What the exporters to SQLite (RPD, rocpd) share: the first failure, which is kept while rows go
 * on being made and lead nowhere; passes over the capture that stop by it; the text of SQL that
 * ends a file, with its metadata. */
#ifndef GPUTAP_EXPORT_SQL_H
#define GPUTAP_EXPORT_SQL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "export/bulk.h"
#include "export/passes.h"
#include "export/view.h"

/* Return: *status, which is now a failure. */
int gt_sql_no_memory(int *status);
void gt_sql_note(int *status, int other);

/* A pass of @step; see gt_pass_run(). Return: what failed first, a row or the reading. */
int gt_sql_pass(struct gt_view *view, unsigned number, const struct gt_export_options *options,
		bool (*step)(void *exporter, unsigned pass, const struct gt_item *item),
		void *exporter, const int *status);

struct gt_sql {
	sqlite3_str *out;
	int *status;          /* the exporter's */
	const char *metadata; /* name of the table */
	char *text;           /* room for a text of text_bytes, cleaned */
	size_t text_bytes;    /* longer ones are cut */
	/* what the file's readers bear; as gt_put_utf8() */
	char *(*clean)(char *p, const char *text, size_t bytes);
};

/* What %Q makes of a text is safe. */
void gt_sql_put(struct gt_sql *s, const char *format, ...);
/* , 'text', cleaned. NULL: an empty one. */
void gt_sql_put_text(struct gt_sql *s, const char *text);
void gt_sql_put_metadata(struct gt_sql *s, const char *tag, const char *value);
/* Who made the capture, and what its times are .. */
void gt_sql_put_version(struct gt_sql *s, const struct gt_view *view);
/* .. how it became this file, and whether it is whole .. */
void gt_sql_put_export(struct gt_sql *s, const struct gt_view *view,
		       const struct gt_export_options *options);
/* .. and how much there was. @untimed: work without a row. */
void gt_sql_put_counts(struct gt_sql *s, const struct gt_view *view, uint64_t untimed);
/* The text is carried out and the file is whole, unless something has failed. @db: NULL then. */
int gt_sql_finish(struct gt_sql *s, struct gt_bulk **db);

#endif
