/* SPDX-License-Identifier: MIT */
/* Helpers for the exporters to SQLite: see sql.h. */
#include "export/sql.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "util/error.h"

int gt_sql_no_memory(int *status)
{
	if (!*status)
		*status = gt_error(-ENOMEM, "cannot export");
	return *status;
}

void gt_sql_note(int *status, int other)
{
	if (other && !*status)
		*status = other;
}

int gt_sql_pass(struct gt_view *view, unsigned number, const struct gt_view_options *options,
		bool (*step)(void *exporter, unsigned pass, const struct gt_item *item),
		void *exporter, const int *status)
{
	int read = gt_pass_run(view, number, options, step, exporter);

	return *status ? *status : read;
}

void gt_sql_put(struct gt_sql *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sqlite3_str_vappendf(s->out, format, args);
	va_end(args);
	if (sqlite3_str_errcode(s->out))
		gt_sql_no_memory(s->status);
}

void gt_sql_put_text(struct gt_sql *s, const char *text)
{
	size_t bytes = text ? strlen(text) : 0;

	*s->clean(s->text, text ? text : "", bytes < s->text_bytes ? bytes : s->text_bytes) = '\0';
	gt_sql_put(s, ", %Q", s->text);
}

void gt_sql_put_metadata(struct gt_sql *s, const char *tag, const char *value)
{
	gt_sql_put(s, "INSERT INTO \"%s\" (tag, value) VALUES (%Q", s->metadata, tag);
	gt_sql_put_text(s, value);
	gt_sql_put(s, ");");
}

static void put_count(struct gt_sql *s, const char *tag, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	gt_sql_put_metadata(s, tag, text);
}

void gt_sql_put_version(struct gt_sql *s, const struct gt_view *view)
{
	gt_sql_put_metadata(s, "gputap::version",
			    gt_capture_session(view->capture)->gputap_version);
	gt_sql_put_metadata(s, "gputap::clock", "CLOCK_BOOTTIME");
}

void gt_sql_put_export(struct gt_sql *s, const struct gt_view *view,
		       const struct gt_view_options *options)
{
	bool complete = gt_capture_health(view->capture)->end == GT_CAPTURE_COMPLETE;

	gt_sql_put_metadata(s, "gputap::exported_by", options->command_line);
	gt_sql_put_metadata(s, "gputap::complete", complete ? "yes" : "no");
}

void gt_sql_put_counts(struct gt_sql *s, const struct gt_view *view, uint64_t untimed)
{
	struct gt_view_counts calls = gt_view_counts(view, GT_CLASS_CALL),
			      activity = gt_view_counts(view, GT_CLASS_DEVICE);

	put_count(s, "gputap::calls_seen", calls.seen);
	put_count(s, "gputap::calls_dropped", calls.dropped);
	put_count(s, "gputap::ops_seen", activity.seen);
	put_count(s, "gputap::ops_dropped", activity.dropped);
	put_count(s, "gputap::ops_without_times", untimed);
}

int gt_sql_finish(struct gt_sql *s, struct gt_bulk **db)
{
	char *text = sqlite3_str_finish(s->out);
	int status;

	s->out = NULL;
	if (!text)
		gt_sql_no_memory(s->status);
	status = *s->status;
	if (!status) {
		status = gt_bulk_finish(*db, text);
		*db = NULL;
	}
	sqlite3_free(text);
	return status;
}
