/* SPDX-License-Identifier: MIT */
/* Device work and objects that tools are notified of: the functions that runtimes call.
 *
 * A work item, in order:
 *
 *   gt_activity_take()   in the thread that will submit it, inside the call that causes it
 *   gt_activity_enter()  ENTER: contexts that ask for it subscribe, to its end
 *   .. it is submitted ..
 *   gt_activity_exit()   EXIT
 *   gt_activity_done()   in any thread that learns how it ended, also before EXIT
 *   gt_tool_deliver()     COMPLETE, in a thread of gputap's that holds no lock
 *
 * Items lie in a pool that grows where a system call is allowed (gt_activity_take() with @grow)
 * and is never given back. */
#ifndef GPUTAP_TOOL_TOOL_ACTIVITY_H
#define GPUTAP_TOOL_TOOL_ACTIVITY_H

#include "tool/tool.h"
#include "tool/tool_stock.h"

enum { GT_TOOL_SUBSCRIBERS = 16 }; /* of one item; further contexts are counted only */

struct gt_activity {
	struct gt_tool_entry entry;
	_Atomic uint32_t state;
	/* process that it was submitted in: a fork's child has no such work */
	_Atomic uint32_t epoch;
	/* bit per place of the contexts that will be notified of its end; 0: of none any more */
	_Atomic uint64_t waited_for;
	bool dispatch; /* one of those that are numbered together */
	bool api;      /* the call that causes it is one of HIP's, not what HIP calls */
	uint32_t count;
	uint32_t entering; /* so many of subscribers[] had ENTER, or are having it just now */
	struct gt_correlation *shared;
	uint64_t began, entered; /* ns: before and after ENTER */
	/* ns: after it was submitted, where the runtime's activity needs it */
	uint64_t left;
	uint64_t done_start, done_end; /* as the helper says; EXIT may still come */
	int32_t done_status;
	struct gputap_activity activity;
	struct gt_tool_subscriber subscribers[GT_TOOL_SUBSCRIBERS];
};

/* A callback begins or has ended, maybe in the middle of a call: what it calls is notified,
 * and not taken for the runtime's own.
 * Return: what it was before. */
bool gt_tool_calling(bool calling);

/* Bit per type of work that an active context asks of the domain. One load. */
static inline uint64_t gt_tool_activity_asked(enum gt_domain domain)
{
	return atomic_load_explicit(&gt_tool_activity_types[domain], memory_order_relaxed);
}

/**
 * gt_activity_take() - this thread is about to submit work of that domain
 * @grow: memory may be taken for it (a system call now and then)
 * Return: with the open call's correlation, thread and external ids; NULL: no memory, counted.
 */
struct gt_activity *gt_activity_take(enum gt_domain domain, bool grow);
/* It is in the thread that took it, and in the call that really submits: that one causes it,
 * unless it was one of HIP's already. */
void gt_activity_submitting(struct gt_activity *p);
/* It was no work that tools are notified of. */
void gt_activity_give(struct gt_activity *p);

/**
 * gt_activity_enter() - notify of ENTER
 * p->activity is filled in but for what take() knows, size, phase and number; p->dispatch is set.
 * Return: false: nobody asks for it; it was given back.
 */
bool gt_activity_enter(struct gt_activity *p);
/* After it was submitted. */
void gt_activity_exit(struct gt_activity *p);
/* Instead of gt_activity_exit(), when a callback was left by a jump or an exception at ENTER
 * or EXIT and the work is submitted all the same: who had ENTER gets COMPLETE. */
void gt_activity_left(struct gt_activity *p);
/* A callback has not come back for so long that the work was submitted without the item:
 * counted. It is left as it is. */
void gt_activity_abandon(void);
/* The runtime refused, or it cannot be followed to its end (@counted): no COMPLETE.
 * After EXIT. */
void gt_activity_drop(struct gt_activity *p, bool counted);

/**
 * gt_activity_done() - it has completed
 * @start, @end: ns; 0: not known
 */
void gt_activity_done(struct gt_activity *p, int32_t status, uint64_t start, uint64_t end);

/* Times for it of a runtime whose stamps are host ticks. start(): before the first of them, so that
 * there is something to convert by. ns(0) is 0. */
void gt_tool_ticks_start(void);
uint64_t gt_tool_ticks_ns(uint64_t ticks);

/* COMPLETE of all that are done. Return: how many. */
uint32_t gt_tool_deliver(void);
/* Is there something to deliver? */
bool gt_tool_has_done(void);

/* Work that tools were not notified of, or not to its end, so far. */
uint64_t gt_tool_activity_lost(void);

/* How many items of this process a context's place is still to be notified of. */
uint64_t gt_tool_activity_open(uint32_t place);
/* The place's context is no more: nobody is. */
void gt_tool_activity_forget(uint32_t place);

/* A runtime's activity has this called when a tool flushes or stops, and at the end, to see what
 * has completed by then. */
void gt_tool_activity_looks(void (*look)(void));
/* A tool flushes or stops: wait a moment for the helpers to notify of what has completed by now.
 * Does not wait inside a callback that the helpers may wait for. */
void gt_tool_activity_settle(void);
/* .. until nothing of the place is open, or until @deadline (CLOCK_MONOTONIC ns). In a callback
 * that the helpers may wait for: look once. Return: how much is open. */
uint64_t gt_tool_activity_drain(uint32_t place, uint64_t deadline);

/* The process ends: COMPLETE for what is done, UNLOAD for objects, retirement for the rest.
 * Once; tools are notified of nothing after it. */
void gt_tool_activity_end(void);

/* Objects (tool_object.c) ------------------------------------------------------ */

struct gt_tool_object;

/* Text that stays. NULL: no memory. */
const char *gt_tool_text(const char *text, size_t bytes);

/**
 * gt_tool_object_add() - it is there from now on
 * @o:      without size, phase and replayed; copied
 * @parent: loaded before it, unloaded together with it; NULL: none, then gt_tool_object_loaded()
 *         has to follow
 * Return: NULL: no memory, tools will not be notified of it.
 * Thread: any; calls no callback, so the caller may hold a lock of the runtime's.
 */
struct gt_tool_object *gt_tool_object_add(const struct gputap_object *o,
					  struct gt_tool_object *parent);
/* LOAD of it and of its children. NULL is all right, here and below. */
void gt_tool_object_loaded(struct gt_tool_object *object);
/* It and its children go. */
void gt_tool_object_unload(struct gt_tool_object *object);
/* All that are left, last to first; tools are not notified of what is loaded later. */
void gt_tool_objects_end(void);

#endif
