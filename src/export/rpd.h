/* SPDX-License-Identifier: MIT */
/* Declarations shared by the files of the RPD exporter: the database under construction. rpd.c
 * describes its structure. rpd_text.c writes names and arguments, rpd_rows.c calls and GPU
 * activities, rpd_copies.c copies, with data from both. */
#ifndef GPUTAP_EXPORT_RPD_H
#define GPUTAP_EXPORT_RPD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/map.h"
#include "analysis/base/rowmap.h"
#include "analysis/base/sorter.h"
#include "analysis/model/ranges.h"
#include "analysis/model/view.h"
#include "export/bulk.h"
#include "export/sql.h"

enum {
	/* id of '' in both text tables, required by RPD's importer */
	RPD_EMPTY_TEXT = 1,
	RPD_ARGS_SLOTS = 1 << 14, /* size of the cache of argument texts */
	RPD_ARGS_KEY_BYTES = 240, /* longer keys are not cached */
	RPD_ARGS_ROOM = 16384,    /* maximum length of one text */
	RPD_HEX_BYTES = 19,
};

/* Flags of a call's row, 4 bits per row. */
enum {
	RPD_CALL_THERE = GT_ROW_THERE,
	RPD_CALL_BLOCKS = 2, /* the call blocked until its copy was complete */
	/* Same bit as RPD_CALL_BLOCKS, for domains whose activities are recorded in a lower-level
	 * domain: the call itself describes the copy. */
	RPD_CALL_TELLS_COPY = 2,
	RPD_CALL_HAS_KERNEL = 4,
	RPD_CALL_HAS_COPY = 8,
};

/* Data that the exporter keeps per queue, in gt_view_queue.own. */
struct rpd_queue {
	char handle[RPD_HEX_BYTES];
};

/* Key: a call's operation, result, arguments and payload, byte for byte. Value: id of their
 * text. */
struct rpd_args_slot {
	int64_t id;
	uint32_t bytes;
	uint8_t key[RPD_ARGS_KEY_BYTES];
};

/* Entry of an index over rows of rocpd_api: a row, and the id of the row that refers to it. */
struct rpd_link {
	int64_t api, id;
};

struct rpd {
	struct gt_view view;
	struct gt_ranges ranges;
	struct gt_bulk *db;
	struct gt_bulk_tree *string, *ustring, *api, *copyapi, *kernelapi, *op, *api_ops;
	struct gt_bulk_tree *ops_by_op;
	char folder[PATH_MAX]; /* of the output file */
	/* entries of indexes, to be sorted */
	struct sorter texts_sorted, links_sorted, kernels_sorted, copies_sorted;
	struct gt_bulk_row row;
	struct gt_map functions; /* process, host function -> id of the kernel's name */
	struct gt_map texts;     /* two hashes of a name -> index into text_ids */
	int64_t *text_ids;
	size_t text_count, text_capacity;
	int64_t next_string, next_op;
	struct gt_rowmap calls; /* rows of rocpd_api */
	/* process, call id -> row - first_unseen, for calls that are not in the capture */
	struct gt_map unseen;
	int64_t first_unseen;
	/* copies of which only the call or only the activity has been read (rpd_copies.c) */
	struct rpd_copy *copies;
	size_t copy_count, copy_capacity;
	struct rpd_args_slot *args;
	/* slightly more than RPD_ARGS_ROOM bytes, and as many again for the sanitised copy */
	char *text;
	int64_t domain_ids[GT_DOMAIN_COUNT], type_ids[GT_DEVICE_OP_COUNT], marker_id, unseen_id;
	uint64_t untimed; /* number of GPU activities without times, which are not written */
	int status;
};

/* Store the first failure in rpd.status. Later rows are still built but not written. */
static inline int gt_rpd_no_memory(struct rpd *r)
{
	return gt_sql_no_memory(&r->status);
}

static inline void gt_rpd_note(struct rpd *r, int status)
{
	gt_sql_note(&r->status, status);
}

/* Add a text: a name to rocpd_string, an argument to both text tables. */
void gt_rpd_add_text(struct rpd *r, int64_t id, const char *text, size_t bytes, bool argument);
/* Return the id of a name. Each distinct name is written once. */
int64_t gt_rpd_name(struct rpd *r, const char *name);
/* Return the id of the text of a call's arguments. */
int64_t gt_rpd_args(struct rpd *r, const struct gt_item *item,
		    const struct gt_view_operation *operation);

/* Set RPD_CALL_.. flags of a row of rocpd_api. */
static inline void gt_rpd_set_flags(struct rpd *r, int64_t row, unsigned flags)
{
	if (gt_rowmap_set(&r->calls, row, flags))
		gt_rpd_no_memory(r);
}

/* Add an entry to an index over rows of rocpd_api. */
static inline void gt_rpd_add_link(struct rpd *r, struct sorter *index, int64_t api, int64_t id)
{
	gt_rpd_note(r, sorter_add(index, &(struct rpd_link){api, id}));
}

/* Order of calls: add all calls and external ids; call gt_rpd_close_markers() and
 * gt_rpd_settle_calls(); then add all GPU activities and, interleaved with them, pass all calls
 * again to gt_rpd_step_copy(). */
void gt_rpd_add_call(struct rpd *r, const struct gt_item *item);
void gt_rpd_add_external(struct rpd *r, const struct gt_item *item);
/* Add a call of an operation with gt_mark_of(), instead of gt_rpd_add_call(). */
void gt_rpd_add_mark(struct rpd *r, const struct gt_item *call);
void gt_rpd_close_markers(struct rpd *r);
void gt_rpd_settle_calls(struct rpd *r);
void gt_rpd_step_copy(struct rpd *r, const struct gt_item *call);
void gt_rpd_add_activity(struct rpd *r, const struct gt_item *activity);
/* Add a call that copies, or a copying activity. @api: row of the call. gt_rpd_copies_rest() writes
 * unmatched calls and activities. */
void gt_rpd_copy_called(struct rpd *r, const struct gt_item *call, int64_t api, bool blocks);
void gt_rpd_count_copy(struct rpd *r, const struct gt_item *activity, int64_t api, uint64_t stream,
		       const struct gt_view_queue *queue);
void gt_rpd_copies_rest(struct rpd *r);
/* Return the name that RPD uses for @op. */
const char *gt_rpd_type_name(enum gt_device_op op);

#endif
