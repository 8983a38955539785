/* SPDX-License-Identifier: MIT */
/* The program's objects, as far as device work needs them, by their handles. One lock for all: it
 * is held for the look at a table or the questions to a driver about its events, never while a tool
 * is notified. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_OBJECTS_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_OBJECTS_H

#include "core/emit.h"
#include "core/tap.h"
#include "generated/level_zero_taps.h"
#include "generated/level_zero_wraps.h"
#include "runtime/level_zero/level_zero_abi.h"
#include "runtime/work.h"

/* A driver's function behind all taps. */
#define GT_LZ(table, name) \
	((gt_level_zero_##name##_fn *)(table)->taps[GT_LEVEL_ZERO_INDEX_##name].real)

enum gt_lz_kind {
	GT_LZ_CONTEXT,
	GT_LZ_DEVICE,
	GT_LZ_QUEUE,
	GT_LZ_LIST,
	GT_LZ_POOL,
	GT_LZ_EVENT,
	GT_LZ_KERNEL,
	GT_LZ_FENCE,
	GT_LZ_KINDS
};

struct gt_lz_object {
	struct gt_lz_object *next; /* in its bucket; among the free ones */
	enum gt_lz_kind kind;
	const void *handle;
};

/* An event of ours. */
struct gt_lz_own {
	struct gt_lz_own *next; /* free ones of its context */
	void *event;
};

struct gt_lz_own_pool {
	struct gt_lz_own_pool *next;
	void *pool;
};

struct gt_lz_context {
	struct gt_lz_object object;
	const struct gt_table *table;
	struct gt_lz_own *free;
	struct gt_lz_own_pool *pools;
};

/* The clock: level_zero_clock.c. Ticks that are `known` count on where the device's wrap. */
struct gt_lz_device {
	struct gt_lz_object object;
	const struct gt_table *table;
	uint64_t number, hz;
	uint32_t bits, kernel_bits;
	uint64_t known_ticks, known_ns; /* of CLOCK_BOOTTIME; 0: not read yet */
	uint64_t next_ns, pause_ns;
};

/* Work in flight. */
struct gt_lz_item {
	struct gt_lz_item *next;
	struct gt_work *work;
	void *event;           /* that it signals; NULL: none that has its times */
	struct gt_lz_own *own; /* it is ours, and of no list */
	uint64_t sequence;
	const void *list; /* regular list that it is of */
	bool dirty;       /* its event may tell of the list's run before */
};

/* Where work completes: a queue, or an immediate list, which is one, too. */
struct gt_lz_queue {
	struct gt_lz_object object;
	struct gt_lz_queue *next; /* of all */
	const struct gt_table *table;
	const void *context; /* handle */
	struct gt_lz_device *device;
	uint64_t number; /* of the queue as an object */
	struct gt_lz_item *first, *last;
	uint64_t submitted; /* sequence of the last item */
	uint32_t count, look;
};

/* A command of a regular list. */
struct gt_lz_entry {
	struct gt_lz_entry *next;
	struct gt_work_what what;
	void *event;
	struct gt_lz_own *own;
};

struct gt_lz_list {
	struct gt_lz_object object;
	const struct gt_table *table;
	const void *context; /* handle */
	struct gt_lz_device *device;
	bool immediate; /* it is a queue, too: one has its handle */
	struct gt_lz_entry *first, *last;
	/* handle of the queue of the last run, if that may not be done */
	const void *ran;
};

/* Pools that are made with times, and their events. */
struct gt_lz_pool {
	struct gt_lz_object object;
	bool counter_based;
};

struct gt_lz_event {
	struct gt_lz_object object;
	bool counter_based; /* used again without a reset */
	uint32_t in_flight; /* items that have it */
};

struct gt_lz_kernel {
	struct gt_lz_object object;
	uint32_t name, group[3];
	bool unwanted; /* `--kernels` says so */
};

struct gt_lz_fence {
	struct gt_lz_object object;
	const void *queue; /* handle */
	uint64_t until;    /* sequence */
};

void gt_lz_lock(void);
void gt_lz_unlock(void);

/* With the lock held. NULL: there is none, or no memory. */
void *gt_lz_find(enum gt_lz_kind kind, const void *handle);
void *gt_lz_add(enum gt_lz_kind kind, const void *handle); /* the one that is there, or zeroed */
void gt_lz_remove(enum gt_lz_kind kind, const void *handle);
struct gt_lz_queue *gt_lz_queues(void);
/* Zeroed; all are of one size. */
void *gt_lz_take(void);
void gt_lz_give(void *node);
/* One item more (1) or less (-1) has @event; nothing for ours and NULL. */
void gt_lz_use_event(const void *event, int by);

/* An event of ours that is not signalled. */
struct gt_lz_own *gt_lz_own_take(const struct gt_table *table, const void *context);
void gt_lz_own_give(const void *context, struct gt_lz_own *own);
void gt_lz_context_end(const void *context);

/* level_zero_clock.c. With the lock held. */
struct gt_lz_device *gt_lz_device(const struct gt_table *table, struct gt_thread *t, void *handle);
void gt_lz_clock_read(struct gt_lz_device *d, struct gt_thread *t);
/* A kernel's stamp of the past, in ns of the device's clock; *boottime: in CLOCK_BOOTTIME. */
uint64_t gt_lz_clock_ns(const struct gt_lz_device *d, uint64_t stamp, uint64_t *boottime);

/* level_zero_harvest.c. Without the lock. */
/* @until: the program knows that what has this sequence, or a lower one, is done */
void gt_lz_harvest(const void *queue, uint64_t until);
void gt_lz_harvest_all(void);
/* The program is about to reset, destroy or use again its event. */
void gt_lz_event_detach(const void *event);
/* A list's events are about to be signalled again. */
void gt_lz_list_prepare(struct gt_lz_list *list);
/* The list's commands are gone. */
void gt_lz_list_empty(struct gt_lz_list *list);

#endif
