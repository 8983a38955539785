/* SPDX-License-Identifier: MIT */
/* Internals of a cursor: shared by cursor.c and cursor_next.c. */
#ifndef GPUTAP_CAPTURE_CURSOR_H
#define GPUTAP_CAPTURE_CURSOR_H

#include "capture/reader.h"
#include "capture/shared_texts.h"
#include "capture/slice.h"
#include "clock/line.h"

/* Decode the next items to k->item. Return how many, 0 at the end, negative errno with a cause. */
typedef int gt_cursor_fill_fn(struct gt_cursor *k);
gt_cursor_fill_fn gt_cursor_fill_any, gt_cursor_fill_v3;

/* Rewrite a call or GPU activity of a relayed domain as the operation named in it. */
void gt_item_relay(struct gt_item *item);

enum {
	GROUP_NODES = 1 << 18,
	GROUP_WORDS = 1 << 21, /* 16 MiB of arguments and payload */
	STACK_MAX = 256,       /* external ids; deeper ones are only counted */
	LOG_MAX = 1024,        /* changes of external stacks inside one outermost call */
	QUEUE_CACHE = 64,
	/* decoded at once: they and their words stay in the first-level cache */
	ITEMS = 32,
	ITEM_WORDS = 512, /* a row that starts before this limit may exceed it */
};

struct waiting_item {
	uint64_t start, end, id, parent;
	uint64_t external[GT_EXTERNAL_STACK_COUNT];
	struct gt_item_head item;
	size_t words;        /* index into group_words */
	uint32_t payload_at; /* as in the shape */
	uint8_t context;
};

struct external {
	uint64_t time, top;
	uint32_t stack;
};

struct gt_cursor {
	gt_cursor_fill_fn *fill;
	const struct gt_capture *capture;
	int filled, taken;    /* counts of entries in `item` */
	int unasked;          /* entries of `item` to be returned without checking filters */
	int status;           /* status of the block: 1 if there may be more; see cursor_next.c */
	uint32_t process;     /* process of the stream */
	size_t stream, block; /* block: the next one, of the capture's */
	size_t block_end;     /* end of the stream */
	uint64_t passed;      /* bytes of stream blocks passed */
	bool in_block;
	bool relayed;        /* the capture has records of a domain that is `relayed` */
	bool has_shared;     /* the capture may have texts that calls share */
	bool takes_all;      /* ignores the capture's filter */
	bool takes_context;  /* returns rows that do not count also */
	uint8_t context;     /* context of the current rows: GT_CONTEXT_.. */
	bool takes_marks;    /* skips blocks without marks */
	struct slice *slice; /* NULL: everything */
	uint64_t read;       /* bytes of stream blocks read */
	bool only_stacks;    /* return GT_RECORD_STACK as items; `ret` is the stack's number */
	struct block_reader reader;

	const struct gt_clock_lines *host_lines; /* lines of the stream's session */
	const struct gt_clock_line *host;        /* line of the last time stamp */
	const struct gt_clock_line *queued, *running;
	const struct gt_clock_lines *device_lines;
	uint32_t device_ref; /* the device that those lines belong to */
	bool device_set;
	/* cache of this process's queues, by number */
	const struct gt_object_info *queues[QUEUE_CACHE];

	struct waiting_item *group; /* in order of arrival */
	uint32_t *order; /* order of output; before that `open`: arrived, parent not known yet */
	uint64_t *group_words;
	size_t group_room, word_room, group_count, word_count, open_count, group_next;
	bool going_out;

	uint64_t stack[GT_EXTERNAL_STACK_COUNT][STACK_MAX];
	size_t depth[GT_EXTERNAL_STACK_COUNT];
	uint64_t base[GT_EXTERNAL_STACK_COUNT]; /* tops before the first entry of the log */
	struct external log[LOG_MAX];
	size_t log_count;

	struct gt_item item[ITEMS];
	uint64_t words[ITEM_WORDS + GT_DECODE_OUT]; /* the items' arguments */
	struct gt_shared_texts texts;
	struct gt_decoder decoder;
};

#endif
