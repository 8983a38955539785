/* SPDX-License-Identifier: MIT */
/* Writes ROCm 7 rocpd files (.rocpd): the SQLite database that rocprofiler-sdk writes and its rocpd
 * tools read.
 *
 * One pass over the capture reads calls, and a second pass reads GPU activities. Rows for records
 * are written as b-tree pages (bulk.h). All other tables are small and written with SQL at the end:
 * nodes, processes, threads, agents, queues, kernels, texts.
 *
 * Requirements of the readers:
 *  - Every row has the guid of the file.
 *  - A dispatch has an event, an agent, a queue, a kernel, a thread and a region name (the empty
 *    one).
 *  - A copy has both agents, including the host's.
 *  - In an event, stack_id is the call, parent_stack_id the enclosing call, correlation_id the id
 *    that the user pushed.
 *  - rocpd_string is UNIQUE, so it contains only names; arguments are stored in their own rows.
 *  - Ids of processes and threads are pid and tid; with several sessions, the numbers of
 *    gt_view_pid().
 *
 * The guid is the id of the first session, so that two exports of a capture are identical and are
 * not mistaken for two ranks. */
#include "export/rocpd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/text.h"
#include "export/export.h"
#include "export/formats.h"
#include "export/rocpd_schema.h"
#include "util/error.h"

enum { SMALL_CAPTURE = 8 << 20 };

static bool step_rocpd(void *exporter, unsigned pass, const struct gt_item *item)
{
	struct rocpd *r = exporter;

	if (pass == 0 && item->kind == GT_RECORD_CALL)
		gt_rocpd_add_call(r, item);
	else if (pass == 0 && item->kind == GT_RECORD_EXTERNAL)
		gt_rocpd_add_external(r, item);
	else if (pass == 1 && item->kind == GT_RECORD_DEVICE)
		gt_rocpd_add_activity(r, item);
	/* gt_bulk_finish() reports failures of the database */
	return !r->status && !gt_bulk_status(r->db);
}

/* Derive a UUID of version 8 (custom format) from the id of the first session. */
static void choose_guid(struct rocpd *r)
{
	const struct gt_capture_session *session = gt_capture_session_at(r->view.capture, 0);
	uint8_t id[16];
	size_t n = 0;

	memcpy(id, session->uuid, sizeof id);
	id[6] = (uint8_t)(0x80 | (id[6] & 0x0f));
	id[8] = (uint8_t)(0x80 | (id[8] & 0x3f));
	for (unsigned i = 0; i < sizeof id; i++)
		n += (size_t)snprintf(r->guid + n, sizeof r->guid - n, "%s%02x",
				      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
	snprintf(r->uuid, sizeof r->uuid, "_%s", r->guid);
	for (char *p = r->uuid; *p; p++)
		if (*p == '-')
			*p = '_';
}

static struct gt_bulk_tree *find_tree(struct rocpd *r, const char *name)
{
	char full[128];

	snprintf(full, sizeof full, "%s%s", name, r->uuid);
	return gt_bulk_tree(r->db, full);
}

static int open_rocpd_file(struct rocpd *r, const char *path)
{
	struct {
		struct gt_bulk_tree **tree;
		const char *name;
		int64_t *next;
	} trees[] = {
		{&r->event, "rocpd_event", &r->next_event},
		{&r->arg, "rocpd_arg", &r->next_arg},
		{&r->region, "rocpd_region", &r->next_region},
		{&r->sample, "rocpd_sample", &r->next_sample},
		{&r->dispatch, "rocpd_kernel_dispatch", &r->next_dispatch},
		{&r->copy, "rocpd_memory_copy", &r->next_copy},
		{&r->allocate, "rocpd_memory_allocate", &r->next_allocate},
	};
	static const char *const copies[GT_DEVICE_OP_COUNT] = {
		[GT_DEVICE_READ] = "MEMORY_COPY_DEVICE_TO_HOST",
		[GT_DEVICE_WRITE] = "MEMORY_COPY_HOST_TO_DEVICE",
		[GT_DEVICE_COPY] = "MEMORY_COPY_DEVICE_TO_DEVICE",
		[GT_DEVICE_MAP] = "MEMORY_COPY_MAP",
		[GT_DEVICE_UNMAP] = "MEMORY_COPY_UNMAP",
		[GT_DEVICE_MIGRATE] = "MEMORY_COPY_MIGRATE",
	};
	bool small = gt_capture_health(r->view.capture)->bytes < SMALL_CAPTURE;
	char *schema;
	int status;

	choose_guid(r);
	for (size_t i = 0; i < gt_capture_session_count(r->view.capture); i++) {
		uint32_t machine = gt_capture_session_at(r->view.capture, i)->machine;

		r->machine_count = machine >= r->machine_count ? machine + 1 : r->machine_count;
	}
	schema = gt_rocpd_schema(r, rocpd_tables);
	if (!schema)
		return gt_rocpd_no_memory(r);
	status = gt_bulk_create(path, schema, small ? GT_BULK_MIN_PAGE : GT_BULK_MAX_PAGE, &r->db);
	free(schema);
	for (size_t i = 0; i < sizeof trees / sizeof *trees && !status; i++) {
		*trees[i].next = 1;
		*trees[i].tree = find_tree(r, trees[i].name);
		status = *trees[i].tree ? 0 : -ENOENT;
	}
	if (status)
		return status;
	gt_rocpd_name(r, ""); /* creates ROCPD_EMPTY_TEXT */
	r->dispatch_category = gt_rocpd_name(r, "KERNEL_DISPATCH");
	r->copy_category = gt_rocpd_name(r, "MEMORY_COPY");
	r->allocation_category = gt_rocpd_name(r, "MEMORY_ALLOCATION");
	r->scratch_category = gt_rocpd_name(r, "SCRATCH_MEMORY");
	r->marker_category = gt_rocpd_name(r, "MARKER_CORE_RANGE_API");
	for (unsigned i = 0; i < GT_DEVICE_OP_COUNT; i++)
		r->copy_names[i] = copies[i] ? gt_rocpd_name(r, copies[i]) : ROCPD_EMPTY_TEXT;
	return r->status;
}

/* Set SQLite's counters, so that rows added later get ids after the exported ones. */
static void put_sequences(struct rocpd *r, struct gt_sql *sql)
{
	const struct {
		const char *name;
		int64_t last;
	} tables[] = {
		{"event", r->next_event - 1},
		{"arg", r->next_arg - 1},
		{"region", r->next_region - 1},
		{"sample", r->next_sample - 1},
		{"kernel_dispatch", r->next_dispatch - 1},
		{"memory_copy", r->next_copy - 1},
		{"memory_allocate", r->next_allocate - 1},
	};

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		gt_sql_put(sql, "INSERT INTO sqlite_sequence VALUES ('rocpd_%s%s', %lld);",
			   tables[i].name, r->uuid, (long long)tables[i].last);
}

static int finish_rocpd(struct rocpd *r, const struct gt_view_options *options)
{
	char metadata[64];
	struct gt_sql sql = {.out = sqlite3_str_new(NULL),
			     .status = &r->status,
			     .metadata = metadata,
			     .text = r->text,
			     .text_bytes = ROCPD_COMMAND_BYTES,
			     .clean = gt_put_utf8};

	snprintf(metadata, sizeof metadata, "rocpd_metadata%s", r->uuid);
	gt_sql_put(&sql, "BEGIN;");
	gt_rocpd_put_info(r, &sql, options);
	put_sequences(r, &sql);
	for (size_t i = 0; i < sizeof rocpd_table_names / sizeof *rocpd_table_names; i++)
		gt_sql_put(&sql, "CREATE VIEW %s AS SELECT * FROM \"%s%s\";", rocpd_table_names[i],
			   rocpd_table_names[i], r->uuid);
	gt_sql_put(&sql, "%s", rocpd_views);
	gt_sql_put(&sql, "COMMIT;");
	return gt_sql_finish(&sql, &r->db);
}

static int write_rocpd(const struct gt_capture *c, const char *path,
		       const struct gt_view_options *options)
{
	struct rocpd *r = calloc(1, sizeof *r);
	int status;

	if (!r)
		return gt_error(-ENOMEM, "cannot export");
	status = gt_view_init(&r->view, c, options);
	r->text = malloc(ROCPD_TEXT_ROOM);
	if (!status && !r->text)
		status = gt_rocpd_no_memory(r);
	if (!status)
		status = open_rocpd_file(r, path);
	if (!status && options->jobs > 1)
		gt_bulk_use_thread(r->db);
	if (!status)
		status = gt_sql_pass(&r->view, 0, options, step_rocpd, r, &r->status);
	if (r->view.capture)
		gt_rocpd_settle_calls(r);
	if (!status && !(status = r->status))
		status = gt_sql_pass(&r->view, 1, options, step_rocpd, r, &r->status);
	if (!status)
		status = finish_rocpd(r, options);
	gt_bulk_destroy(r->db);
	gt_rocpd_free_arguments(r);
	gt_view_fini(&r->view);
	for (size_t i = 0; i < r->name_count; i++)
		free(r->name_text[i]);
	gt_map_fini(&r->names);
	gt_map_fini(&r->kernel_map);
	gt_map_fini(&r->track_map);
	free(r->name_text);
	free(r->kernels);
	free(r->tracks);
	free(r->externals);
	free(r->text);
	free(r);
	return status;
}

static const char *const extensions[] = {".rocpd", NULL};

const struct gt_exporter gt_exporter_rocpd = {
	.name = "rocpd",
	.extensions = extensions,
	.text = "ROCm 7's rocpd tables, for rocprofiler-sdk's tools",
	.write = write_rocpd,
};
