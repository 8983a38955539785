/* SPDX-License-Identifier: MIT */
/* The program's objects, as far as device work needs them, by their handles, and what waits and
 * runs in them. No lock is for all:
 *
 *   table of objects   looked up without a lock; a bucket's own lock for what comes and goes
 *   queue              its lock: work in flight, events of ours that are free
 *   list               no lock: a program uses a list in one thread at a time
 *   context, device    its lock: events of ours; the clock
 *
 * A queue's lock is held while the driver is asked about events, never while a tool is notified.
 * Order: queue, context, nodes. Nodes are never unmapped, and one of an object is used for objects
 * of its kind only: who holds a pointer to one that the program has destroyed meanwhile finds an
 * object, if another one. */
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
	GT_LZ_IMAGE,
	GT_LZ_KINDS
};

struct gt_lz_lock {
	_Atomic uint32_t holder; /* process that holds it, + 1; 0: nobody */
};

struct gt_lz_object {
	struct gt_lz_object *_Atomic next; /* in its bucket; among the free ones */
	const void *_Atomic handle;
	enum gt_lz_kind kind;
};

/* Nodes that are no objects, kept by one owner. */
struct gt_lz_node {
	struct gt_lz_node *next;
};
struct gt_lz_stock {
	struct gt_lz_node *free;
};

/* An event of ours. */
struct gt_lz_own {
	struct gt_lz_own *next; /* free ones */
	void *event;
	struct gt_lz_own_pool *pool;
	uint32_t index;
};

struct gt_lz_own_pool {
	struct gt_lz_own_pool *next;
	void *pool;
	uint32_t size, made;           /* events that it can have, and has */
	struct lz_kernel_times *times; /* one for each of its events; NULL: not asked for yet */
};

struct gt_lz_context {
	struct gt_lz_object object;
	const struct gt_table *table;
	struct gt_lz_lock lock; /* for what is below */
	struct gt_lz_own *free;
	struct gt_lz_own_pool *pools; /* events are made of the first one */
	uint32_t unmade;              /* so many more, without another pool */
};

/* Where the device's clock was, and when (CLOCK_BOOTTIME). */
struct gt_lz_anchor {
	uint64_t ticks, ns;
};

/* The clock: level_zero_clock.c. Ticks that are `known` count on where the device's wrap. */
struct gt_lz_device {
	struct gt_lz_object object;
	const struct gt_table *table;
	uint64_t number, hz;
	uint32_t bits, kernel_bits;
	struct gt_lz_lock lock;    /* for what is below */
	struct gt_lz_anchor known; /* ns 0: not read yet */
	struct gt_lz_anchor host;  /* host ticks, and when: of the first reading */
	uint64_t pause_ns;
	_Atomic uint64_t next_ticks; /* of the host, when it is to be read; 0: rate not known */
	uint64_t next_ns;
};

/* A run's times of a list, copied by the device before the next run. */
struct gt_lz_readback {
	struct gt_lz_readback *next; /* of its list */
	void *list;                  /* of ours, closed */
	struct lz_kernel_times *times;
	struct gt_lz_own *done; /* signalled when they are there */
	_Atomic uint32_t users; /* items */
};

/* Work in flight. */
struct gt_lz_item {
	struct gt_lz_item *next;
	struct gt_work *work;
	void *event;                   /* that says when it is done; NULL: there is none */
	struct gt_lz_event *program;   /* it is this one of the program's */
	struct gt_lz_own *own;         /* it is ours, and of no list */
	struct lz_kernel_times *times; /* they will be there; NULL: the event has them */
	struct gt_lz_readback *readback;
	uint64_t sequence;
	const void *list; /* handle of the regular list that it is of */
	uint32_t ordinal; /* of its entry there */
	bool dirty;       /* the event may tell of what signalled it before */
};

/* Where work completes: a queue, or an immediate list, which is one, too. */
struct gt_lz_queue {
	struct gt_lz_object object;
	struct gt_lz_queue *next; /* of all that there were; stays */
	struct gt_lz_lock lock;   /* for what is below */
	const struct gt_table *table;
	const void *context; /* handle */
	struct gt_lz_device *device;
	uint64_t number; /* of the queue as an object */
	bool synchronous;
	struct gt_lz_item *first, *last;
	struct gt_lz_stock items;
	struct gt_lz_own *own;      /* free ones */
	_Atomic uint64_t submitted; /* sequence of the last item */
	_Atomic uint32_t count;
	uint32_t look;
};

/* A command of a regular list. */
struct gt_lz_entry {
	struct gt_lz_entry *next;
	struct gt_work_what what;
	void *event;
	struct gt_lz_event *program; /* it is this one of the program's */
	struct gt_lz_own *own;
	struct lz_kernel_times *times; /* as of an item */
	bool dirty;                    /* as of an item */
	uint64_t id;                   /* of a mutable list; 0: it has none */
};

struct gt_lz_list {
	struct gt_lz_object object;
	const struct gt_table *table;
	const void *context; /* handle */
	struct gt_lz_device *device;
	struct gt_lz_queue *queue; /* it is immediate */
	uint32_t ordinal;          /* of its queue group */
	struct gt_lz_entry *first, *last;
	struct gt_lz_stock entries;
	struct gt_lz_own *own; /* free ones */
	uint64_t next_id;      /* of the command that is appended next, if the program has asked */
	struct gt_lz_readback *readbacks;
	uint32_t readback_count;
	/* queue of the last run, if that may not be done */
	struct gt_lz_queue *ran;
	bool in_order;
	_Atomic bool captures; /* its commands go into a graph, as the program has asked */
	bool fresh;            /* it was run in the call that is open */
	bool unseen;           /* work of its last run is not followed: it may be under way */
	bool named;            /* that times of it are not known */
};

/* Pools that are made with times, and their events. */
struct gt_lz_pool {
	struct gt_lz_object object;
	bool counter_based;
	bool wants_times; /* the program has requested them, and may read them */
};

struct gt_lz_event {
	struct gt_lz_object object;
	bool counter_based; /* used again without a reset */
	bool wants_times;   /* as of its pool */
	/* signalled by a command since the host reset it: it may tell of that one */
	_Atomic bool used;
	_Atomic bool named;                /* that times of it are not known */
	_Atomic uint32_t in_flight;        /* items that have it */
	_Atomic uint32_t entries;          /* of lists, that have it */
	struct gt_lz_queue *_Atomic queue; /* that signals it */
	/* several commands of this list have it: it may tell of any of them */
	const struct gt_lz_list *_Atomic shared;
};

struct gt_lz_kernel {
	struct gt_lz_object object;
	uint32_t name, group[3];
	uint32_t symbol, group_bytes, private_bytes;
	bool unwanted; /* `--kernels` says so */
};

struct gt_lz_fence {
	struct gt_lz_object object;
	struct gt_lz_queue *queue;
	uint64_t until; /* sequence */
};

struct gt_lz_image {
	struct gt_lz_object object;
	uint64_t texels;
	uint32_t bits; /* of a texel; 0: not known */
};

void gt_lz_lock(struct gt_lz_lock *lock);
bool gt_lz_try_lock(struct gt_lz_lock *lock);
void gt_lz_unlock(struct gt_lz_lock *lock);

/* NULL: there is none, or no memory. */
void *gt_lz_find(enum gt_lz_kind kind, const void *handle);
void *gt_lz_add(enum gt_lz_kind kind, const void *handle); /* the one that is there, or zeroed */
void gt_lz_remove(enum gt_lz_kind kind, const void *handle);
struct gt_lz_queue *gt_lz_queues(void);

/* Zeroed; all are of one size. @stock: its owner's lock is held; NULL: of nobody. */
void *gt_lz_take(struct gt_lz_stock *stock);
void gt_lz_give(struct gt_lz_stock *stock, void *node);
void gt_lz_stock_end(struct gt_lz_stock *stock);

/* level_zero_own.c. An event of ours that is not signalled, out of @free, the owner's. */
struct gt_lz_own *gt_lz_own_take(const struct gt_table *table, const void *context,
				 struct gt_lz_own **free);
void gt_lz_own_give(const struct gt_table *table, struct gt_lz_own **free, struct gt_lz_own *own);
/* The program has waited: it makes now what a launch would have to make soon. */
void gt_lz_owns_prepare(void);
/* The owner has no more use for them. */
void gt_lz_owns_end(const void *context, struct gt_lz_own **free);
/* Where the device can write the times that go with it. NULL: there is no memory. */
struct lz_kernel_times *gt_lz_own_times(const struct gt_table *table, const void *context,
					const struct gt_lz_own *own);
/* Memory of ours that device and host see. */
void *gt_lz_host_memory(const struct gt_table *table, const void *context, size_t bytes);
void gt_lz_context_end(const void *context);

/* level_zero_clock.c. */
struct gt_lz_device *gt_lz_device(const struct gt_table *table, struct gt_thread *t, void *handle);
/* Reads the clock if it is time to. */
void gt_lz_clock_read(struct gt_lz_device *d, struct gt_thread *t);
struct gt_lz_anchor gt_lz_clock_anchor(struct gt_lz_device *d);
/* A kernel's stamp of the past, in ns of the device's clock; *boottime: in CLOCK_BOOTTIME. */
uint64_t gt_lz_clock_ns(const struct gt_lz_device *d, struct gt_lz_anchor known, uint64_t stamp,
			uint64_t *boottime);

static inline uint64_t gt_lz_submitted_to(const struct gt_lz_queue *queue)
{
	return atomic_load_explicit(&queue->submitted, memory_order_relaxed);
}

/* Work is submitted by a queue or list that is not known: if tools came after it was made, they are
 * notified of that, once. */
void gt_lz_note_unknown(void);

/* level_zero_harvest.c. Without locks held. */
/* The item goes to the queue's last place. */
void gt_lz_push(struct gt_lz_queue *queue, const struct gt_lz_item *item);
/* @until: the program knows that what has this sequence, or a lower one, is done */
void gt_lz_harvest(struct gt_lz_queue *queue, uint64_t until);
void gt_lz_harvest_all(void);
/* The program is about to reset, destroy or use again its event. @list: immediate list whose next
 * command is to do so, NULL: not by a command. @ask: it has not been done yet, so that what the
 * event tells is of the work that has it. */
void gt_lz_event_detach(struct gt_lz_event *event, const struct gt_lz_list *list, bool ask);

/* level_zero_graphs.c. Do the list's commands go into a graph now, instead of to the device? */
bool gt_lz_is_captured(const struct gt_lz_list *list);

/* level_zero_memory.c: read, write, or copy. */
enum gt_device_op gt_lz_copy_op(const void *to, const void *from);
enum gt_device_op gt_lz_image_op(const void *memory, bool to_image);

/* level_zero_images.c. What a copy of @region moves; NULL: of all of it. 0: not known. */
uint64_t gt_lz_image_bytes(const void *image, const void *region);

/* level_zero_runs.c */
/* An event of ours says so, once a list. @queue: its number; 0: none. */
void gt_lz_list_name(struct gt_lz_list *list, uint64_t queue, const char *why);
/* The next command of @list resets, or signals again, an event that commands of it have. */
void gt_lz_list_keep_times(struct gt_lz_list *list, struct gt_lz_event *event);
/* A mutable list's command signals this event from now on. @program: it is the program's, with
 * times; NULL: it is not. */
void gt_lz_entry_set_event(struct gt_lz_list *list, struct gt_lz_entry *e,
			   struct gt_lz_event *program, void *event);
/* The list's commands are gone. */
void gt_lz_list_empty(struct gt_lz_list *list);

#endif
