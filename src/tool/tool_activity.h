/* SPDX-License-Identifier: MIT */
/* Declares the functions with which runtimes report GPU activities and objects to tools.
 *
 * Steps of an activity:
 *
 *   gt_tool_activity_take()   in the submitting thread, inside the call that causes the activity
 *   gt_tool_activity_enter()  ENTER; chooses the contexts that are notified until the end
 *                             (the runtime submits the activity here)
 *   gt_tool_activity_exit()   EXIT
 *   gt_tool_activity_done()   in any thread that learns how it ended, possibly before EXIT
 *   gt_tool_deliver()         COMPLETE, in a gputap thread that holds no lock
 *
 * Activities are allocated from a pool that is never freed. The pool grows only if a system call is
 * allowed (gt_tool_activity_take() with @grow). */
#ifndef GPUTAP_TOOL_TOOL_ACTIVITY_H
#define GPUTAP_TOOL_TOOL_ACTIVITY_H

#include "tool/tool.h"
#include "tool/tool_stock.h"

/* maximum number of contexts notified of one activity; further contexts are only counted */
enum { GT_TOOL_SUBSCRIBERS = 16 };

struct gt_tool_activity {
	struct gt_tool_entry entry;
	_Atomic uint32_t state;
	/* process that submitted the activity; a fork's child ignores its parent's activities */
	_Atomic uint32_t epoch;
	/* one bit for the slot of each context that has yet to be notified of the end; 0 if none
	 * remains */
	_Atomic uint64_t waited_for;
	bool dispatch; /* true if numbered in the series of dispatches */
	bool api;      /* true if caused by a HIP call itself, false if by a call that HIP makes */
	uint32_t count;
	uint32_t entering; /* number of subscribers[] whose ENTER has started */
	struct gt_correlation *shared;
	uint64_t began, entered; /* times before and after the ENTER notifications, ns */
	/* time after the submission, ns, if the runtime's folder needs it */
	uint64_t left;
	uint64_t done_start, done_end; /* as reported by a helper thread; EXIT may still follow */
	int32_t done_status;
	struct gputap_activity activity;
	struct gt_tool_subscriber subscribers[GT_TOOL_SUBSCRIBERS];
};

/* Mark the start or end of a callback, possibly within a call. Calls made by the callback are then
 * notified and are not mistaken for the runtime's calls.
 * Return: the previous value. */
bool gt_tool_calling(bool calling);

/* Return a bit for each activity type of the domain that an active context wants. Costs one
 * load. */
static inline uint64_t gt_tool_activity_asked(enum gt_domain domain)
{
	return atomic_load_explicit(&gt_tool_activity_types[domain], memory_order_relaxed);
}

/**
 * gt_tool_activity_take() - allocate the activity that this thread is about to submit
 * @grow: true if the pool may grow, with an occasional system call
 * Return: activity with the open call's correlation, thread and external ids. NULL if out of
 *         memory; the activity is then counted as lost.
 */
struct gt_tool_activity *gt_tool_activity_take(enum gt_domain domain, bool grow);
/* Set the open call as the cause. Call in the call that actually submits, if this thread took the
 * activity. A HIP call that is already the cause remains the cause. */
void gt_tool_activity_submitting(struct gt_tool_activity *p);
/* Free an activity that tools are not notified of. */
void gt_tool_activity_give(struct gt_tool_activity *p);

/**
 * gt_tool_activity_enter() - notify of ENTER
 * The caller has filled in p->dispatch and p->activity, except for size, phase, number and the
 * fields that take() sets.
 * Return: false if no context wants the activity, which is then back in the pool.
 */
bool gt_tool_activity_enter(struct gt_tool_activity *p);
/* Notify of EXIT after the activity was submitted. */
void gt_tool_activity_exit(struct gt_tool_activity *p);
/* Call instead of gt_tool_activity_exit() if a callback left ENTER or EXIT through a jump or an
 * exception and the activity is submitted anyway. Contexts that got ENTER get COMPLETE. */
void gt_tool_activity_left(struct gt_tool_activity *p);
/* Count an activity that was submitted without notifications because a callback took too long. The
 * activity's memory is abandoned. */
void gt_tool_activity_abandon(void);
/* End an activity after EXIT without COMPLETE, because the runtime refused the activity or its end
 * cannot be observed.
 * @counted: true to count the activity as lost */
void gt_tool_activity_drop(struct gt_tool_activity *p, bool counted);

/**
 * gt_tool_activity_done() - record that an activity has completed
 * @start, @end: ns; 0 if unknown
 */
void gt_tool_activity_done(struct gt_tool_activity *p, int32_t status, uint64_t start,
			   uint64_t end);

/* Convert times of a runtime whose time stamps are host ticks. Call gt_tool_ticks_start() before
 * the first time stamp, so that a conversion exists. gt_tool_ticks_ns(0) is 0. */
void gt_tool_ticks_start(void);
uint64_t gt_tool_ticks_ns(uint64_t ticks);

/* Notify of COMPLETE for all completed activities. Return the number of these activities. */
uint32_t gt_tool_deliver(void);
/* Return true if an activity waits for COMPLETE. */
bool gt_tool_has_done(void);

/* Return the number of activities that tools were not notified of at all or until their end. */
uint64_t gt_tool_activity_lost(void);

/* Return the number of this process's activities that the context in slot @place must still be
 * notified of. */
uint64_t gt_tool_activity_open(uint32_t place);
/* Remove a slot from all activities after its context was destroyed. */
void gt_tool_activity_forget(uint32_t place);

/* Register a runtime's function that finds completed activities. The function runs when a tool
 * flushes or stops, and at the end of the process. */
void gt_tool_activity_looks(void (*look)(void));
/* Wait briefly, when a tool flushes or stops, until the helpers have notified of the completed
 * activities. Return at once inside a callback that the helpers may wait for. */
void gt_tool_activity_settle(void);
/* Wait until no activity of the slot is open, or until @deadline (CLOCK_MONOTONIC ns). Inside a
 * callback that the helpers may wait for, check once. Return the number of open activities. */
uint64_t gt_tool_activity_drain(uint32_t place, uint64_t deadline);

/* Send all final notifications when the process ends: COMPLETE for completed activities, UNLOAD for
 * objects, retirement for the remaining calls. Runs once; nothing is notified afterwards. */
void gt_tool_activity_end(void);

/* Objects (tool_object.c) ------------------------------------------------------ */

struct gt_tool_object;

/* Return a permanent copy of a text, or NULL if out of memory. */
const char *gt_tool_text(const char *text, size_t bytes);

/**
 * gt_tool_object_add() - add a newly created object
 * @o:      object without size, phase and replayed; copied
 * @parent: object that is loaded before this object and unloaded together with it. If NULL, the
 *          caller must call gt_tool_object_loaded() next.
 * Return: the object. NULL if out of memory: tools are not notified of the object.
 * Thread: any. Calls no callback, so the caller may hold a lock of the runtime.
 */
struct gt_tool_object *gt_tool_object_add(const struct gputap_object *o,
					  struct gt_tool_object *parent);
/* Notify of LOAD for the object and its children. All functions below accept NULL. */
void gt_tool_object_loaded(struct gt_tool_object *object);
/* Notify of UNLOAD for the object and its children. */
void gt_tool_object_unload(struct gt_tool_object *object);
/* Unload all remaining objects, last to first. Tools are not notified of later loads. */
void gt_tool_objects_end(void);

#endif
