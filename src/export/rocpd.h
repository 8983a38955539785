/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files of the rocpd exporter: the database under construction. rocpd.c
 * describes its structure. rocpd_rows.c writes calls and GPU activities, rocpd_info.c the small
 * tables of processes, threads and agents. */
#ifndef GPUTAP_EXPORT_ROCPD_H
#define GPUTAP_EXPORT_ROCPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/model/memory_use.h"
#include "analysis/model/ranges.h"
#include "analysis/model/view.h"
#include "export/bulk.h"
#include "export/sql.h"

enum {
	/* Id of ''. A dispatch without a region must refer to this text; otherwise the view of
	 * dispatches omits it. */
	ROCPD_EMPTY_TEXT = 1,
	ROCPD_GUID_BYTES = 36,
	/* maximum length of an argument, so that a row stays below GT_BULK_ROW_BYTES */
	ROCPD_VALUE_BYTES = 3600,
	ROCPD_TEXT_ROOM = 65536,
	ROCPD_COMMAND_BYTES = 16384, /* maximum length of a text in the small tables */
};

/* A kernel, as referenced by its dispatches. */
struct rocpd_kernel {
	/* name: string id; symbol: number of GT_OBJECT_KERNEL_SYMBOL, 0: none */
	uint32_t process, name, symbol;
	/* kind of an activity that is not a kernel; NULL for kernels */
	const char *text;
};

/* External id of a thread's calls from the call with number `seq` on. External ids change
 * rarely. */
struct rocpd_external {
	uint32_t process, ordinal;
	uint64_t seq, value;
};

struct rocpd_track {
	uint32_t thread; /* index of the thread in the view */
	int64_t name;
};

/* An allocation or free. The size of a free is known only after all calls. */
struct rocpd_allocation {
	const struct gt_view_thread *thread;
	uint64_t start_ns, end_ns, address, bytes;
	int64_t event;
	bool is_free, is_virtual;
};

struct rocpd {
	struct gt_view view;
	struct gt_bulk *db;
	struct gt_bulk_tree *event, *arg, *region, *sample, *dispatch, *copy, *allocate;
	struct gt_bulk_row row;
	uint32_t machine_count;
	/* uuid: suffix of the table names */
	char guid[ROCPD_GUID_BYTES + 1], uuid[ROCPD_GUID_BYTES + 2];
	int64_t next_event, next_arg, next_region, next_sample, next_dispatch, next_copy,
		next_allocate;

	/* two hashes of a text -> index in name_text; the id is one more */
	struct gt_map names;
	char **name_text;
	size_t name_count, name_capacity;
	/* process, string or symbol -> index in kernels; the id is one more */
	struct gt_map kernel_map;
	struct rocpd_kernel *kernels;
	size_t kernel_count, kernel_capacity;
	struct gt_map track_map;
	struct rocpd_track *tracks;
	size_t track_count, track_capacity;
	struct gt_ranges ranges; /* open ranges of the program */
	struct rocpd_external *externals;
	size_t external_count, external_capacity;
	struct rocpd_allocation *allocations; /* rows whose size is not known yet */
	size_t allocation_count, allocation_capacity;
	struct gt_memory_use memory;

	int64_t category[GT_DOMAIN_COUNT], dispatch_category, copy_category, allocation_category,
		scratch_category, marker_category;
	int64_t copy_names[GT_DEVICE_OP_COUNT];
	char *text;       /* ROCPD_TEXT_ROOM bytes */
	uint64_t untimed; /* number of GPU activities without times, which are not written */
	int status;
};

/* Store the first failure in rocpd.status. Later rows are still built but not written. */
static inline int gt_rocpd_no_memory(struct rocpd *r)
{
	return gt_sql_no_memory(&r->status);
}

static inline void gt_rocpd_note(struct rocpd *r, int status)
{
	gt_sql_note(&r->status, status);
}

/* Return the id of a name in rocpd_string. Each distinct name is stored once. */
int64_t gt_rocpd_name(struct rocpd *r, const char *name);

/* Order of calls: add all calls and external ids, call gt_rocpd_settle_calls(), then add all GPU
 * activities. */
void gt_rocpd_add_call(struct rocpd *r, const struct gt_item *item);
void gt_rocpd_add_external(struct rocpd *r, const struct gt_item *item);
void gt_rocpd_settle_calls(struct rocpd *r);
void gt_rocpd_add_activity(struct rocpd *r, const struct gt_item *activity);

/* Return ids of rows in the small tables. */
int64_t gt_rocpd_node_id(const struct rocpd *r, uint32_t process);
int64_t gt_rocpd_thread_id(const struct gt_view_thread *thread);
int64_t gt_rocpd_host_agent(const struct rocpd *r, uint32_t process);
/* Return the id of a device's agent. @device: UINT32_MAX: unknown device */
int64_t gt_rocpd_agent(const struct rocpd *r, uint32_t device);

/* Append the small tables, the views and SQLite's sequence counters, as SQL. */
void gt_rocpd_put_info(struct rocpd *r, struct gt_sql *sql, const struct gt_view_options *options);
/* Return SQL text with the file's ids inserted. The caller frees the text. Return NULL if out of
 * memory. */
char *gt_rocpd_schema(const struct rocpd *r, const char *text);
/* Free the pieces of rows that rocpd_rows.c keeps per operation. Call before gt_view_fini(). */
void gt_rocpd_free_arguments(struct rocpd *r);

#endif
