/* SPDX-License-Identifier: MIT */
/* Declares the objects of the program that are needed to record GPU activities. Objects are looked
 * up by handle; queues contain their pending activities. No lock is global:
 *
 *   table of objects   looked up without a lock; a bucket's own lock for insertion and removal
 *   queue              own lock, for activities in flight and free gputap events
 *   list               no lock, because a program uses a list in one thread at a time
 *   context, device    own lock, for gputap's events or the clock
 *
 * A queue's lock is held while the driver is queried about events, never while a tool is notified.
 * Lock order: queue, context, nodes. Nodes are never unmapped, and an object's node is only reused
 * for objects of the same kind. If a thread has a pointer to an object that the program has
 * meanwhile destroyed, the pointer therefore still refers to an object of that kind, possibly
 * another one. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_OBJECTS_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_OBJECTS_H

#include "core/emit.h"
#include "core/tap.h"
#include "generated/level_zero_taps.h"
#include "generated/level_zero_wraps.h"
#include "runtime/level_zero/level_zero_abi.h"
#include "runtime/activity_token.h"

/* The driver's own function, below all taps. */
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
	GT_LZ_MISSING, /* an object of another kind that the capture names as incomplete */
	GT_LZ_KINDS
};

struct gt_lz_lock {
	_Atomic uint32_t holder; /* id of the process that holds the lock, plus 1; 0 if free */
};

/* The record that describes an object to the reader of the capture (gt_lz_describe()). */
struct gt_lz_description {
	_Atomic bool written;          /* false while recording is off */
	struct gt_fork_replay *replay; /* only in a program that gputap was attached to */
};

struct gt_lz_object {
	/* next object in the bucket or in the list of free objects */
	struct gt_lz_object *_Atomic next;
	const void *_Atomic handle;
	enum gt_lz_kind kind;
};

/* A node that is not an object and has a single owner. */
struct gt_lz_node {
	struct gt_lz_node *next;
};
struct gt_lz_stock {
	struct gt_lz_node *free;
};

/* A gputap event. */
struct gt_lz_own {
	struct gt_lz_own *next; /* next free event */
	void *event;
	struct gt_lz_own_pool *pool;
	uint32_t index;
};

struct gt_lz_own_pool {
	struct gt_lz_own_pool *next;
	void *pool;
	uint32_t size, made; /* number of events that fit; number of events created */
	/* array with one element per event; NULL before the first request */
	struct lz_kernel_times *times;
};

struct gt_lz_context {
	struct gt_lz_object object;
	const struct gt_table *table;
	struct gt_lz_lock lock; /* protects the members below */
	struct gt_lz_own *free;
	struct gt_lz_own_pool *pools; /* new events are created in the first pool */
	uint32_t unmade; /* number of events that can be created without another pool */
};

/* A value of the device's clock and the corresponding time (CLOCK_BOOTTIME). */
struct gt_lz_anchor {
	uint64_t ticks, ns;
};

/* A device with its clock (level_zero_clock.c). The ticks of `known` keep counting when the
 * device's counter wraps. */
struct gt_lz_device {
	struct gt_lz_object object;
	const struct gt_table *table;
	struct gt_lz_description description;
	uint64_t number, hz;
	uint32_t bits, kernel_bits;
	struct gt_lz_lock lock;    /* protects the members below */
	_Atomic uint32_t epoch;    /* process or session whose records contain a reading */
	struct gt_lz_anchor known; /* ns is 0 before the first reading */
	struct gt_lz_anchor host;  /* host ticks and time of the first reading */
	uint64_t pause_ns;
	_Atomic uint64_t next_ticks; /* host ticks of the next reading; 0 if the rate is unknown */
	uint64_t next_ns;
};

/* Times of one run of a list. The device copies them here before the next run. */
struct gt_lz_readback {
	struct gt_lz_readback *next; /* next readback of the list */
	void *list;                  /* a closed gputap list */
	struct lz_kernel_times *times;
	struct gt_lz_own *done; /* signalled once the times are copied */
	_Atomic uint32_t users; /* number of pending activities that use the readback */
};

/* An activity in flight. */
struct gt_lz_activity {
	struct gt_lz_activity *next;
	struct gt_activity *activity;
	/* event that is signalled when the activity is done; NULL if none */
	void *event;
	struct gt_lz_event *program; /* program event behind `event`, or NULL */
	/* gputap event behind `event` if it belongs to no list, otherwise NULL */
	struct gt_lz_own *own;
	struct lz_kernel_times *times; /* receives the times; NULL if the event has them */
	struct gt_lz_readback *readback;
	uint64_t sequence;
	const void *list; /* handle of the activity's regular list */
	uint32_t ordinal; /* index of the activity's entry in that list */
	bool dirty;       /* true if the event may have been signalled earlier */
	bool untimed;     /* true if the event shows the end of the activity, without times */
};

/* An object in which activities complete: a queue, or an immediate list, which is also a queue. */
struct gt_lz_queue {
	struct gt_lz_object object;
	struct gt_lz_queue *next; /* list of all queues ever used; constant */
	struct gt_lz_lock lock;   /* protects the members below */
	const struct gt_table *table;
	const void *context; /* handle of the context */
	struct gt_lz_device *device;
	uint64_t number; /* number of the queue's object */
	struct gt_lz_description description;
	bool immediate; /* true for the queue of an immediate list */
	bool synchronous;
	struct gt_lz_activity *first, *last;
	struct gt_lz_stock items;
	struct gt_lz_own *own;      /* free gputap events */
	_Atomic uint64_t submitted; /* sequence number of the last pending activity */
	_Atomic uint32_t count;
	uint32_t look;
};

/* A command of a regular list. */
struct gt_lz_entry {
	struct gt_lz_entry *next;
	struct gt_activity_info what;
	void *event;
	struct gt_lz_event *program; /* program event behind `event`, or NULL */
	struct gt_lz_own *own;
	struct lz_kernel_times *times; /* as in struct gt_lz_activity */
	bool dirty;                    /* as in struct gt_lz_activity */
	uint64_t id;                   /* id in a mutable list, or 0 */
};

struct gt_lz_list {
	struct gt_lz_object object;
	const struct gt_table *table;
	const void *context; /* handle of the context */
	struct gt_lz_device *device;
	struct gt_lz_queue *queue; /* the list's queue if the list is immediate, otherwise NULL */
	uint32_t ordinal;          /* ordinal of the list's queue group */
	struct gt_lz_entry *first, *last;
	struct gt_lz_stock entries;
	struct gt_lz_own *own; /* free gputap events */
	uint64_t next_id;      /* id for the next command, if the program has requested an id */
	struct gt_lz_readback *readbacks;
	uint32_t readback_count;
	/* queue of the last run, if that run may be unfinished */
	struct gt_lz_queue *ran;
	bool in_order;
	_Atomic bool
		captures; /* true while the program captures the list's commands into a graph */
	bool fresh;       /* true if the list was run in the open call */
	/* true if the last run may still be running activities that are not followed */
	bool unseen;
	bool named;              /* true once reported that the list's times are unknown */
	_Atomic uint8_t earlier; /* enum gt_lz_earlier */
};

/* Commands of a regular list that were appended while gputap was not attached. */
enum gt_lz_earlier {
	GT_LZ_EARLIER_NONE,
	GT_LZ_EARLIER_PERHAPS, /* the list was open when gputap met it */
	GT_LZ_EARLIER_CERTAIN
};

/* A pool created with times, and its events. */
struct gt_lz_pool {
	struct gt_lz_object object;
	bool counter_based;
	bool wants_times; /* true if the program has requested times, and may read them */
};

struct gt_lz_event {
	struct gt_lz_object object;
	bool counter_based; /* true if the event can be reused without a reset */
	bool wants_times;   /* value of wants_times in the event's pool */
	bool untimed;       /* true if the event has no times (level_zero_late.c) */
	bool hidden;        /* true if the host cannot query the event either */
	/* true if a command may have signalled the event since its last reset on the host, so that
	 * the event's state may be due to that command */
	_Atomic bool used;
	_Atomic bool named;         /* true once reported that the event's times are unknown */
	_Atomic uint32_t in_flight; /* number of pending activities that use the event */
	_Atomic uint32_t entries;   /* number of list entries that use the event */
	struct gt_lz_queue *_Atomic queue; /* queue that signals the event */
	/* list with several commands that use the event, so that the event's state may be due to
	 * any of these commands */
	const struct gt_lz_list *_Atomic shared;
};

struct gt_lz_kernel {
	struct gt_lz_object object;
	uint32_t name, group[3];
	uint32_t symbol, group_bytes, private_bytes;
	bool unwanted;          /* true if `--kernels` does not select the kernel */
	_Atomic uint32_t epoch; /* process or session for which `unwanted` was determined */
	struct gt_lz_description description;
};

struct gt_lz_fence {
	struct gt_lz_object object;
	struct gt_lz_queue *queue;
	/* when the fence is signalled, pending activities up to this sequence number are done */
	uint64_t until;
};

struct gt_lz_image {
	struct gt_lz_object object;
	uint64_t texels;
	uint32_t bits; /* bits per texel; 0 if unknown */
};

void gt_lz_lock(struct gt_lz_lock *lock);
bool gt_lz_try_lock(struct gt_lz_lock *lock);
void gt_lz_unlock(struct gt_lz_lock *lock);

/* Return the object, or NULL if no such object exists. */
void *gt_lz_find(enum gt_lz_kind kind, const void *handle);
/* Return the existing object or a new, zeroed object. Return NULL if out of memory. */
void *gt_lz_add(enum gt_lz_kind kind, const void *handle);
/* The same; a new object is filled in by @fill(object, @data) before other threads can find it. */
void *gt_lz_add_filled(enum gt_lz_kind kind, const void *handle,
		       void (*fill)(void *object, const void *data), const void *data);
void gt_lz_remove(enum gt_lz_kind kind, const void *handle);
struct gt_lz_queue *gt_lz_queues(void);

/* Write an object's record. In a program that gputap was attached to, later sessions get the record
 * as well, and nothing is written while no session records. */
void gt_lz_describe(struct gt_lz_description *d, const struct gt_object *object,
		    const struct gt_text *text);

static inline bool gt_lz_is_described(const struct gt_lz_description *d)
{
	return atomic_load_explicit(&d->written, memory_order_acquire);
}

/* Return a zeroed node; all nodes have the same size. @stock: a stock whose owner's lock is held,
 * or NULL for a node without owner. */
void *gt_lz_take(struct gt_lz_stock *stock);
void gt_lz_give(struct gt_lz_stock *stock, void *node);
void gt_lz_stock_end(struct gt_lz_stock *stock);

/* level_zero_own.c. Return a gputap event that is not signalled, if possible from the owner's list
 * @free. */
struct gt_lz_own *gt_lz_own_take(const struct gt_table *table, const void *context,
				 struct gt_lz_own **free);
void gt_lz_own_give(const struct gt_table *table, struct gt_lz_own **free, struct gt_lz_own *own);
/* Create in advance the events that a launch will need soon. Call after the program has waited. */
void gt_lz_owns_prepare(void);
/* Release the events of an owner that no longer needs them. */
void gt_lz_owns_end(const void *context, struct gt_lz_own **free);
/* Return memory into which the device can write the event's times, or NULL if out of memory. */
struct lz_kernel_times *gt_lz_own_times(const struct gt_table *table, const void *context,
					const struct gt_lz_own *own);
/* Allocate memory that is visible to device and host. */
void *gt_lz_host_memory(const struct gt_table *table, const void *context, size_t bytes);
void gt_lz_context_end(const void *context);

/* level_zero_clock.c. */
struct gt_lz_device *gt_lz_device(const struct gt_table *table, void *handle);
/* Read the clock if a reading is due. */
void gt_lz_clock_read(struct gt_lz_device *d, struct gt_thread *t);
struct gt_lz_anchor gt_lz_clock_anchor(struct gt_lz_device *d);
/* Convert a kernel's past time stamp to ns of the device's clock. *boottime receives the time in
 * CLOCK_BOOTTIME. */
uint64_t gt_lz_clock_ns(const struct gt_lz_device *d, struct gt_lz_anchor known, uint64_t stamp,
			uint64_t *boottime);

static inline uint64_t gt_lz_submitted_to(const struct gt_lz_queue *queue)
{
	return atomic_load_explicit(&queue->submitted, memory_order_relaxed);
}

/* level_zero_add.c */
/* Return true if gputap can follow this driver's activities. */
bool gt_lz_can_follow(const struct gt_table *table);
/* Add a queue, or the queue of an immediate list, like @like, and describe it. */
struct gt_lz_queue *gt_lz_queue_add(const void *handle, const struct gt_lz_queue *like);
struct gt_lz_list *gt_lz_list_add(const void *handle, const struct gt_lz_list *like);
/* Write the queue's object if no records contain it because recording was off. */
void gt_lz_queue_describe(struct gt_lz_queue *queue);
/* Set the kernel's name and write its object. @name: NUL-terminated */
void gt_lz_kernel_name(const struct gt_table *table, struct gt_lz_kernel *k, const char *name);

/* level_zero_harvest.c. Call without locks held. */
/* Append the pending activity to the queue. */
void gt_lz_push(struct gt_lz_queue *queue, const struct gt_lz_activity *pending);
/* Harvest a queue. @until: sequence number up to which the program knows that pending activities
 * are done. */
void gt_lz_harvest(struct gt_lz_queue *queue, uint64_t until);
void gt_lz_harvest_all(void);
/* Detach a program event that will be reset, destroyed or reused.
 * @list: immediate list whose next command changes the event; NULL if no command does
 * @ask: true if the event has not changed yet, so its state is that of the activity that uses it */
void gt_lz_event_detach(struct gt_lz_event *event, const struct gt_lz_list *list, bool ask);

/* level_zero_graphs.c. Return true if the list's commands now go into a graph instead of to the
 * device. */
bool gt_lz_is_captured(const struct gt_lz_list *list);
/* Note that the program captures the list's commands into a graph. */
void gt_lz_note_capture(struct gt_lz_list *list);

/* level_zero_memory.c. Return the kind of copy: read, write, or copy. */
enum gt_device_op gt_lz_copy_op(const struct gt_call *call, void *list, const void *to,
				const void *from);
enum gt_device_op gt_lz_image_op(const struct gt_call *call, void *list, const void *memory,
				 bool to_image);

/* level_zero_images.c. Return the number of bytes in a copy of @region, or of the whole image if
 * @region is NULL. Return 0 if unknown. */
uint64_t gt_lz_image_bytes(const void *image, const void *region);

/* level_zero_runs.c */
/* Report the reason in an event, once per list. @queue: number of the queue, or 0. */
void gt_lz_list_name(struct gt_lz_list *list, uint64_t queue, const char *why);
/* Copy times within the list, before the next command of @list resets, or signals again, an event
 * that the list's commands use. */
void gt_lz_list_keep_times(struct gt_lz_list *list, struct gt_lz_event *event);
/* Set the event that a mutable list's command uses from now on. @program: the program's event with
 * times, or NULL. */
void gt_lz_entry_set_event(struct gt_lz_list *list, struct gt_lz_entry *e,
			   struct gt_lz_event *program, void *event);
/* Remove the list's commands. */
void gt_lz_list_empty(struct gt_lz_list *list);

#endif
