/* SPDX-License-Identifier: MIT */
/* Internals of a cursor, which cursor.c and cursor_next.c share. */
#ifndef GPUTAP_CAPTURE_CURSOR_H
#define GPUTAP_CAPTURE_CURSOR_H

#include "capture/reader.h"
#include "capture/shared_texts.h"
#include "capture/scope.h"
#include "clock/line.h"

/* Decode the next items to k->item. Return their number, 0 at the end, or negative errno with a
 * cause. */
typedef int gt_cursor_fill_fn(struct gt_cursor *k);
gt_cursor_fill_fn gt_cursor_fill_any, gt_cursor_fill_v3;

/* Parts of a stream next to the piece that a cursor reads, see pieces.c. */
enum gt_cursor_margin {
	GT_MARGIN_NONE,
	GT_MARGIN_BEFORE, /* skip rows up to the end of an outermost call of the previous piece */
	GT_MARGIN_AFTER,  /* return rows of the next piece, up to the end of an outermost call */
};

/* Return 1 if a call was open at the start of block @block: the last call before it, in the blocks
 * from @first on, is not an outermost call. Return 0 or negative errno otherwise. Uses the cursor's
 * reader and decoder. */
int gt_cursor_is_call_open(struct gt_cursor *k, size_t first, size_t block);

/* Replace the operation of a call or GPU activity of a relayed domain with the operation that the
 * item names. */
void gt_item_relay(struct gt_item *item);

enum {
	GROUP_NODES = 1 << 18,
	GROUP_WORDS = 1 << 21, /* 16 MiB of arguments and payload */
	/* maximum number of external ids in a stack; deeper ids are only counted */
	STACK_MAX = 256,
	/* maximum number of changes to external stacks inside one outermost call */
	LOG_MAX = 1024,
	QUEUE_CACHE = 64,
	DEVICE_CACHE = 8,
	/* number of items decoded at once; these items and their words stay in the first-level
	 * cache */
	ITEMS = 32,
	ITEM_WORDS = 512, /* a row that starts before this limit may exceed it */
};

struct waiting_item {
	uint64_t start, end, id, parent;
	uint64_t external[GT_EXTERNAL_STACK_COUNT];
	struct gt_item_head item;
	size_t words;        /* index into group_words */
	uint32_t payload_at; /* as in gt_decode_shape */
	uint8_t context;
};

struct external {
	uint64_t time, top;
	uint32_t stack;
};

/* A device of the stream, and the lines of its last stamps. An activity may run long after it was
 * queued, so stamps of queueing and stamps of running have separate lines. */
struct device_stamps {
	uint32_t ref;                       /* GT_DEVICE_REF() */
	const struct gt_clock_lines *lines; /* NULL: unused entry */
	const struct gt_clock_line *queued, *running;
};

struct gt_cursor {
	gt_cursor_fill_fn *fill;
	const struct gt_capture *capture;
	int filled, taken; /* number of decoded, and number of returned entries of `item` */
	int unasked;       /* number of entries of `item` to return without checking filters */
	int status;        /* status of the block: 1 if more rows may follow; see cursor_next.c */
	uint32_t process;  /* process of the stream */
	/* stream, stream_end: index of the next stream, and index after the last stream; block:
	 * index of the next block in the capture */
	size_t stream, stream_end, block;
	size_t block_end; /* index after the last block of the stream */
	uint64_t passed;  /* bytes of stream blocks passed */
	bool in_block;
	bool in_piece;     /* true if the cursor reads a piece of a stream */
	bool has_overflow; /* true if a group went out before its outermost call, in this piece */
	enum gt_cursor_margin margin;
	size_t piece_first, piece_end; /* indexes of the piece's blocks */
	bool relayed;                  /* true if the capture has records of a `relayed` domain */
	bool has_shared;               /* true if the capture may have texts that calls share */
	bool takes_all;                /* true: ignore filters */
	gt_item_filter_fn *wants;      /* filter of this cursor; NULL: the capture's filter */
	void *wants_data;
	bool takes_context;  /* true: also return rows that are present only as context */
	uint8_t context;     /* context of the current rows: GT_CONTEXT_.. */
	bool takes_marks;    /* true: skip blocks without marks */
	struct scope *scope; /* NULL: everything */
	uint64_t read;       /* bytes of stream blocks read */
	/* true: return GT_RECORD_STACK as items, with the stack's number in `ret` */
	bool only_stacks;
	bool takes_host; /* true: also return GT_RECORD_HOST */
	struct block_reader reader;

	const struct gt_clock_lines *host_lines; /* lines of the stream's session */
	const struct gt_clock_line *host;        /* line of the last timestamp */
	struct device_stamps *device; /* of the last activity; NULL: none in this stream yet */
	struct device_stamps devices[DEVICE_CACHE]; /* indexed by the device's number */
	/* cache of the process's queues, indexed by number */
	const struct gt_object_info *queues[QUEUE_CACHE];

	struct waiting_item *group; /* in order of arrival */
	/* output order; while the group is incomplete, a stack of the calls whose parent is
	 * unknown */
	uint32_t *order;
	uint64_t *group_words;
	size_t group_room, order_room, word_room, group_count, word_count, open_count, group_next;
	bool going_out;

	uint64_t stack[GT_EXTERNAL_STACK_COUNT][STACK_MAX];
	size_t depth[GT_EXTERNAL_STACK_COUNT];
	/* tops of the external stacks before the first entry of the log */
	uint64_t base[GT_EXTERNAL_STACK_COUNT];
	struct external log[LOG_MAX];
	size_t log_count;

	struct gt_item item[ITEMS];
	uint64_t words[ITEM_WORDS + GT_DECODE_OUT]; /* arguments of the items */
	struct gt_shared_texts texts;
	struct gt_decoder decoder;
};

#endif
