/* SPDX-License-Identifier: MIT */
/* Declarations for the files of the rocpd exporter: the database under construction. rocpd.c
 * describes its structure, rocpd_rows.c has calls and GPU activities, rocpd_info.c the small tables
 * of processes, threads and agents. */
#ifndef GPUTAP_EXPORT_ROCPD_H
#define GPUTAP_EXPORT_ROCPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/bulk.h"
#include "export/map.h"
#include "export/memory_use.h"
#include "export/ranges.h"
#include "export/sql.h"
#include "export/view.h"

enum {
	/* id of '': a dispatch without a region must refer to it, or its view loses the dispatch */
	ROCPD_EMPTY_TEXT = 1,
	ROCPD_GUID_BYTES = 36,
	/* limit for an argument, so that a row stays below GT_BULK_ROW_BYTES */
	ROCPD_VALUE_BYTES = 3600,
	ROCPD_TEXT_ROOM = 65536,
	ROCPD_COMMAND_BYTES = 16384, /* limit for a text in the small tables */
};

/* A kernel, as its dispatches refer to it. */
struct rocpd_kernel {
	uint32_t process, name, symbol; /* string, number of GT_OBJECT_KERNEL_SYMBOL; 0: none */
	const char *text;               /* kind of an activity that is not a kernel; else NULL */
};

/* External ids of a thread's calls change rarely: the value from this call on. */
struct rocpd_external {
	uint32_t process, ordinal;
	uint64_t seq, value;
};

struct rocpd_track {
	uint32_t thread; /* thread index of the view */
	int64_t name;
};

/* Bytes of a free are known after all calls. */
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

	/* two hashes of a text -> index into name_text; its id is one more */
	struct gt_map names;
	char **name_text;
	size_t name_count, name_capacity;
	struct gt_map kernel_map; /* process, string or symbol -> index; its id is one more */
	struct rocpd_kernel *kernels;
	size_t kernel_count, kernel_capacity;
	struct gt_map track_map;
	struct rocpd_track *tracks;
	size_t track_count, track_capacity;
	struct gt_ranges ranges; /* open ranges of the program */
	struct rocpd_external *externals;
	size_t external_count, external_capacity;
	struct rocpd_allocation *allocations; /* rows whose bytes are not known yet */
	size_t allocation_count, allocation_capacity;
	struct gt_memory_use memory;

	int64_t category[GT_DOMAIN_COUNT], dispatch_category, copy_category, allocation_category,
		scratch_category, marker_category;
	int64_t copy_names[GT_DEVICE_OP_COUNT];
	char *text;       /* ROCPD_TEXT_ROOM */
	uint64_t untimed; /* GPU activities without times: not written */
	int status;
};

/* The first failure is kept in rocpd.status; later rows are still made but not written. */
static inline int gt_rocpd_no_memory(struct rocpd *r)
{
	return gt_sql_no_memory(&r->status);
}

static inline void gt_rocpd_note(struct rocpd *r, int status)
{
	gt_sql_note(&r->status, status);
}

/* Return the id of a name in rocpd_string, which has each once. */
int64_t gt_rocpd_name(struct rocpd *r, const char *name);

/* Add all calls and external ids, then call the next function, then add all GPU activities. */
void gt_rocpd_add_call(struct rocpd *r, const struct gt_item *item);
void gt_rocpd_add_external(struct rocpd *r, const struct gt_item *item);
void gt_rocpd_settle_calls(struct rocpd *r);
void gt_rocpd_add_work(struct rocpd *r, const struct gt_item *work);

/* Return ids in the small tables. */
int64_t gt_rocpd_node_id(const struct rocpd *r, uint32_t process);
int64_t gt_rocpd_thread_id(const struct gt_view_thread *thread);
int64_t gt_rocpd_host_agent(const struct rocpd *r, uint32_t process);
/* UINT32_MAX: an unknown one */
int64_t gt_rocpd_agent(const struct rocpd *r, uint32_t device);

/* Append the small tables, the views and SQLite's counters, as SQL. */
void gt_rocpd_put_info(struct rocpd *r, struct gt_sql *sql,
		       const struct gt_export_options *options);
/* Return SQL text with the file's ids inserted; free() it. NULL: no memory. */
char *gt_rocpd_schema(const struct rocpd *r, const char *text);

#endif
