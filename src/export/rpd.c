/* SPDX-License-Identifier: MIT */
/* Writes RPD files (.rpd): a SQLite database that rocmProfileData's tools read. The database suits
 * readers of schema 3. It also suits readers of schema 2, because text ids of names and arguments
 * come from one sequence and arguments are in both text tables.
 *
 * There are two passes over the capture. The first pass writes calls. The row of a call is the
 * first row of its run plus the index of the call in that run (struct gt_row_run). The second pass
 * writes GPU activities; it needs only a few kilobytes of memory to find the row of any call. An
 * activity whose call is not in the capture gets a separate call row, because RPD's tools delete
 * activities without a call. Rows are written as b-tree pages (bulk.h). Index entries are written
 * in the same way, after an external sort (sorter.h). SQLite creates the empty tables at the start
 * and fills small tables at the end.
 *
 * Names and arguments are sanitised (no quotes, backslashes, control characters, invalid UTF-8),
 * because RPD's tools print them into JSON without escaping. Times are CLOCK_BOOTTIME ns. */
#include "export/rpd.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/text.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/rpd_schema.h"
#include "export/sql.h"
#include "util/error.h"

enum {
	SMALL_CAPTURE = 8 << 20,
	TEXT_ROWS_BYTES = 16 << 20, /* memory of sorters */
	TEXT_PACKED_BYTES = 32 << 20,
	LINK_PACKED_BYTES = 8 << 20,
};

static bool step_rpd(void *exporter, unsigned pass, const struct gt_item *item)
{
	struct rpd *r = exporter;

	if (pass == 0 && item->kind == GT_RECORD_CALL && gt_mark_of(item->op))
		gt_rpd_add_mark(r, item);
	else if (pass == 0 && item->kind == GT_RECORD_CALL)
		gt_rpd_add_call(r, item);
	else if (pass == 0 && item->kind == GT_RECORD_EXTERNAL)
		gt_rpd_add_external(r, item);
	else if (pass == 1 && item->kind == GT_RECORD_DEVICE)
		gt_rpd_add_activity(r, item);
	else if (pass == 1 && item->kind == GT_RECORD_CALL)
		gt_rpd_step_copy(r, item);
	/* gt_bulk_finish() reports failures of the database */
	return !r->status && !gt_bulk_status(r->db);
}

static void put_all_metadata(struct rpd *r, struct gt_sql *sql,
			     const struct gt_view_options *options)
{
	const struct gt_session_info *session = gt_capture_session(r->view.capture);
	char command[4096];

	gt_sql_put_metadata(sql, "gpu_stride", "1000");
	gt_sql_put_metadata(sql, "pid_stride", "10000000");
	gt_sql_put_metadata(sql, "schema_version", "3");
	gt_sql_put_version(sql, &r->view);
	gt_sql_put_metadata(sql, "gputap::hostname", session->hostname);
	gt_sql_put_metadata(sql, "gputap::boot_id", session->boot_id);
	gt_sql_put_metadata(sql, "gputap::command",
			    gt_view_command(session->command, command, sizeof command));
	gt_sql_put_export(sql, &r->view, options);
	gt_sql_put_counts(sql, &r->view, r->untimed);
}

static void put_own_tables(struct rpd *r, struct gt_sql *sql)
{
	const struct gt_capture *c = r->view.capture;
	char line[4096];

	for (size_t i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_process_info *p = gt_capture_process(c, (uint32_t)i);

		gt_sql_put(sql, "INSERT INTO gputap_process VALUES (%llu, %u, %u",
			   (unsigned long long)gt_view_pid(&r->view, (uint32_t)i), p->fork_count,
			   p->ppid);
		gt_sql_put_text(sql, p->exe);
		gt_sql_put_text(sql, gt_view_command(p->argv, line, sizeof line));
		gt_sql_put(sql, ", %lld, nullif(%lld, 0));", (long long)p->start_ns,
			   (long long)p->end_ns);
	}
	for (uint32_t i = 0; i < r->view.thread_count; i++) {
		gt_sql_put(sql, "INSERT INTO gputap_thread VALUES (%llu, %llu",
			   (unsigned long long)r->view.threads[i]->pid,
			   (unsigned long long)r->view.threads[i]->tid);
		gt_sql_put_text(sql, r->view.threads[i]->name);
		gt_sql_put(sql, ");");
	}
	for (uint32_t i = 0; i < r->view.queue_count; i++) {
		const struct gt_view_queue *q = r->view.queues[i];
		const struct rpd_queue *own = q->own;

		gt_sql_put(sql, "INSERT INTO gputap_queue VALUES (%lld, %u, %llu, %Q",
			   q->device == UINT32_MAX ? -1LL : (long long)q->device, q->stream,
			   (unsigned long long)q->pid, own ? own->handle : "0x0");
		gt_sql_put_text(sql, gt_view_device_label(&r->view, q->device, line, sizeof line));
		gt_sql_put(sql, ");");
	}
}

/* Write the indexes of both text tables in one pass. */
static int index_texts(struct rpd *r)
{
	struct gt_bulk_tree *by_string = gt_bulk_tree(r->db, "rocpd_string_by_string");
	struct gt_bulk_tree *by_ustring = gt_bulk_tree(r->db, "rocpd_ustring_by_string");
	const void *row;
	int status;

	if (!by_string || !by_ustring)
		return -ENOENT;
	while ((status = sorter_next(&r->texts_sorted, &row)) > 0) {
		const struct sorter_text *text = row;

		gt_bulk_begin(&r->row);
		gt_bulk_text(&r->row, text->text, text->bytes);
		gt_bulk_int(&r->row, (int64_t)(text->number >> 1));
		gt_bulk_add(by_string, 0, &r->row);
		if (text->number & 1)
			gt_bulk_add(by_ustring, 0, &r->row);
	}
	return status;
}

static int index_links(struct rpd *r, struct sorter *sorted, const char *index)
{
	struct gt_bulk_tree *tree = gt_bulk_tree(r->db, index);
	const void *row;
	int status;

	if (!tree)
		return -ENOENT;
	while ((status = sorter_next(sorted, &row)) > 0) {
		const struct rpd_link *link = row;

		gt_bulk_begin(&r->row);
		gt_bulk_int(&r->row, link->api);
		gt_bulk_int(&r->row, link->id);
		gt_bulk_add(tree, 0, &r->row);
	}
	return status;
}

static int write_indexes(struct rpd *r)
{
	int status = index_texts(r);

	if (!status)
		status = index_links(r, &r->links_sorted, "rocpd_api_ops_by_api");
	if (!status) /* SQLite's names for the primary key indexes of these tables */
		status = index_links(r, &r->kernels_sorted, "sqlite_autoindex_rocpd_kernelapi_1");
	if (!status)
		status = index_links(r, &r->copies_sorted, "sqlite_autoindex_rocpd_copyapi_1");
	return status;
}

/* Complete the file with the parts that SQLite itself must write. */
static int finish_rpd(struct rpd *r, const struct gt_view_options *options)
{
	struct gt_sql sql = {.out = sqlite3_str_new(NULL),
			     .status = &r->status,
			     .metadata = "rocpd_metadata",
			     .text = r->text,
			     .text_bytes = RPD_ARGS_ROOM,
			     .clean = gt_put_harmless};

	gt_sql_put(&sql, "BEGIN;");
	put_all_metadata(r, &sql, options);
	put_own_tables(r, &sql);
	gt_sql_put(&sql, "%s", rpd_views);
	/* Rows added later get ids after the exported ones. */
	gt_sql_put(&sql,
		   "INSERT INTO sqlite_sequence VALUES ('rocpd_string', %lld), ('rocpd_ustring', "
		   "%lld), ('rocpd_api', %lld), "
		   "('rocpd_op', %lld), ('rocpd_api_ops', %lld);",
		   r->next_string - 1, r->next_string - 1, r->calls.next_row - 1, r->next_op - 1,
		   r->next_op - 1);
	gt_sql_put(&sql, "COMMIT;");
	return gt_sql_finish(&sql, &r->db);
}

static int compare_links(const void *a, const void *b)
{
	const struct rpd_link *x = a, *y = b;

	return (x->api > y->api) - (x->api < y->api);
}

/* Rows that do not fit in memory are written next to the output file, where free space is most
 * likely. */
static void init_sorters(struct rpd *r, const char *path)
{
	const struct sorter links = {.own.folder = r->folder,
				     .row_bytes = sizeof(struct rpd_link),
				     .compare = compare_links,
				     .packed_most = LINK_PACKED_BYTES};
	const char *slash = strrchr(path, '/');

	snprintf(r->folder, sizeof r->folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	r->texts_sorted = (struct sorter){.own.folder = r->folder,
					  .rows_most = TEXT_ROWS_BYTES,
					  .packed_most = TEXT_PACKED_BYTES};
	r->links_sorted = r->kernels_sorted = r->copies_sorted = links;
}

static int open_rpd_file(struct rpd *r, const char *path)
{
	struct {
		struct gt_bulk_tree **tree;
		const char *name;
	} trees[] = {
		{&r->string, "rocpd_string"},
		{&r->ustring, "rocpd_ustring"},
		{&r->api, "rocpd_api"},
		{&r->copyapi, "rocpd_copyapi"},
		{&r->kernelapi, "rocpd_kernelapi"},
		{&r->op, "rocpd_op"},
		{&r->api_ops, "rocpd_api_ops"},
		{&r->ops_by_op, "rocpd_api_ops_by_op"},
	};
	bool small = gt_capture_health(r->view.capture)->bytes < SMALL_CAPTURE;
	int status = gt_bulk_create(path, rpd_tables, small ? GT_BULK_MIN_PAGE : GT_BULK_MAX_PAGE,
				    &r->db);

	if (status)
		return status;
	for (size_t i = 0; i < sizeof trees / sizeof *trees; i++)
		if (!(*trees[i].tree = gt_bulk_tree(r->db, trees[i].name)))
			return -ENOENT;
	r->next_string = r->calls.next_row = r->next_op = 1;
	gt_rpd_name(r, ""); /* creates RPD_EMPTY_TEXT */
	for (unsigned i = 0; i < GT_DEVICE_OP_COUNT; i++)
		r->type_ids[i] = gt_rpd_name(r, gt_rpd_type_name(i));
	r->marker_id = gt_rpd_name(r, "UserMarker");
	r->unseen_id = gt_rpd_name(r, "(call not recorded)");
	return r->status;
}

static int write_rpd(const struct gt_capture *c, const char *path,
		     const struct gt_view_options *options)
{
	struct rpd *r = calloc(1, sizeof *r);
	int status;

	if (!r)
		return gt_error(-ENOMEM, "cannot export");
	status = gt_view_init(&r->view, c, options);
	r->args = calloc(RPD_ARGS_SLOTS, sizeof *r->args);
	r->text = malloc(RPD_ARGS_ROOM * 3 + 8192);
	if (!status && (!r->args || !r->text))
		status = gt_rpd_no_memory(r);
	init_sorters(r, path);
	if (!status)
		status = open_rpd_file(r, path);
	if (!status && options->jobs > 1)
		gt_bulk_use_thread(r->db);
	if (!status)
		status = gt_sql_pass(&r->view, 0, options, step_rpd, r, &r->status);
	if (r->view.capture)
		gt_rpd_close_markers(r);
	if (!status) {
		gt_rpd_settle_calls(r);
		status = gt_sql_pass(&r->view, 1, options, step_rpd, r, &r->status);
	}
	if (!status) {
		gt_rpd_copies_rest(r);
		status = write_indexes(r);
	}
	if (!status)
		status = finish_rpd(r, options);
	gt_bulk_destroy(r->db);
	sorter_fini(&r->texts_sorted);
	sorter_fini(&r->links_sorted);
	sorter_fini(&r->kernels_sorted);
	sorter_fini(&r->copies_sorted);
	gt_view_fini(&r->view);
	gt_map_fini(&r->texts);
	gt_map_fini(&r->functions);
	gt_map_fini(&r->unseen);
	free(r->text_ids);
	free(r->copies);
	gt_rowmap_fini(&r->calls);
	free(r->args);
	free(r->text);
	free(r);
	return status;
}

static const char *const extensions[] = {".rpd", NULL};

const struct gt_exporter gt_exporter_rpd = {
	.name = "rpd",
	.extensions = extensions,
	.text = "rocmProfileData's SQLite tables",
	.write = write_rpd,
};
