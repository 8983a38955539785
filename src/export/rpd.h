/* SPDX-License-Identifier: MIT */
/* What the files of the RPD exporter share: the database in the making. rpd.c says how it goes
 * together, rpd_text.c has names and arguments, rpd_rows.c calls and device work, rpd_copies.c
 * what both say of copies. */
#ifndef GPUTAP_EXPORT_RPD_H
#define GPUTAP_EXPORT_RPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export/bulk.h"
#include "export/map.h"
#include "export/ranges.h"
#include "export/rowmap.h"
#include "export/sorter.h"
#include "export/sql.h"
#include "export/view.h"

enum {
	/* id of '' in both text tables: RPD's importer looks for it there */
	RPD_EMPTY_TEXT = 1,
	RPD_ARGS_SLOTS = 1 << 14, /* of the cache of argument texts */
	RPD_ARGS_KEY_BYTES = 240, /* longer ones are not kept */
	RPD_ARGS_ROOM = 16384,    /* for one text before it is cut */
	RPD_HEX_BYTES = 19,
};

/* What is remembered of a call's row, 4 bits each. */
enum {
	RPD_CALL_THERE = GT_ROW_THERE,
	RPD_CALL_BLOCKS = 2, /* the program waited for its copy */
	/* the same bit, of a domain whose work comes out of one beneath it: the call says itself
	 * what it copies */
	RPD_CALL_TELLS_COPY = 2,
	RPD_CALL_HAS_KERNEL = 4,
	RPD_CALL_HAS_COPY = 8,
};

/* The view's `own` of a queue. */
struct rpd_queue {
	char handle[RPD_HEX_BYTES];
};

/* A call's operation, result, arguments and payload as they are, and the id of their text. */
struct rpd_args_slot {
	int64_t id;
	uint32_t bytes;
	uint8_t key[RPD_ARGS_KEY_BYTES];
};

struct rpd {
	struct gt_view view;
	struct gt_ranges ranges;
	struct gt_bulk *db;
	struct gt_bulk_tree *string, *ustring, *api, *copyapi, *kernelapi, *op, *api_ops;
	struct gt_bulk_tree *ops_by_op;
	/* become indexes */
	struct gt_sorter *texts_sorted, *links_sorted, *kernels_sorted, *copies_sorted;
	struct gt_bulk_row row;
	struct gt_map functions; /* process, function of the host -> id of the kernel's name */
	struct gt_map texts;     /* two hashes of a name -> index into text_ids */
	int64_t *text_ids;
	size_t text_count, text_capacity;
	int64_t next_string, next_op;
	struct gt_rowmap calls; /* rows of rocpd_api */
	/* process, call id -> row - first_unseen, for calls that are not in the capture */
	struct gt_map unseen;
	int64_t first_unseen;
	/* whose call or work was met and the other was not: rpd_copies.c */
	struct rpd_copy *copies;
	size_t copy_count, copy_capacity;
	struct rpd_args_slot *args;
	char *text; /* RPD_ARGS_ROOM and some, and again for the clean copy */
	int64_t domain_ids[GT_DOMAIN_COUNT], type_ids[GT_DEVICE_OP_COUNT], marker_id, unseen_id;
	uint64_t untimed; /* device work without times: has no row */
	int status;
};

/* A first failure is kept in rpd.status; rows go on being made and lead nowhere. */
static inline int gt_rpd_no_memory(struct rpd *r)
{
	return gt_sql_no_memory(&r->status);
}

static inline void gt_rpd_note(struct rpd *r, int status)
{
	gt_sql_note(&r->status, status);
}

/* Names stand in rocpd_string, arguments in both text tables. */
void gt_rpd_add_text(struct rpd *r, int64_t id, const char *text, size_t bytes, bool argument);
/* Id of a name; names are few and written once. */
int64_t gt_rpd_name(struct rpd *r, const char *name);
/* Id of a call's arguments as text. */
int64_t gt_rpd_args(struct rpd *r, const struct gt_item *item,
		    const struct gt_view_operation *operation);

/* RPD_CALL_.., of a row of rocpd_api. */
static inline void gt_rpd_set_flags(struct rpd *r, int64_t row, unsigned flags)
{
	if (gt_rowmap_set(&r->calls, row, flags))
		gt_rpd_no_memory(r);
}

/* An entry of an index by rows of rocpd_api. */
static inline void gt_rpd_add_link(struct rpd *r, struct gt_sorter *index, int64_t api, int64_t id)
{
	uint64_t big = __builtin_bswap64((uint64_t)api);

	gt_rpd_note(r, gt_sorter_add(index, &big, sizeof big, (uint64_t)id));
}

/* First all calls and external ids, then the next two, then all device work and, among it, the
 * calls once more to gt_rpd_step_copy(). */
void gt_rpd_add_call(struct rpd *r, const struct gt_item *item);
void gt_rpd_add_external(struct rpd *r, const struct gt_item *item);
/* instead of gt_rpd_add_call(): what gt_mark_of() knows */
void gt_rpd_add_mark(struct rpd *r, const struct gt_item *call);
void gt_rpd_close_markers(struct rpd *r);
void gt_rpd_settle_calls(struct rpd *r);
void gt_rpd_step_copy(struct rpd *r, const struct gt_item *call);
void gt_rpd_add_work(struct rpd *r, const struct gt_item *work);
/* A call that copies and says what, and work that copies; @api: the call's row. Then those that
 * stayed alone. */
void gt_rpd_copy_called(struct rpd *r, const struct gt_item *call, int64_t api, bool blocks);
void gt_rpd_copy_worked(struct rpd *r, const struct gt_item *work, int64_t api, uint64_t stream,
			const struct gt_view_queue *queue);
void gt_rpd_copies_rest(struct rpd *r);
/* RPD's word for it. */
const char *gt_rpd_type_name(enum gt_device_op op);

#endif
