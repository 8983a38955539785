/* SPDX-License-Identifier: MIT */
/* GPU activities and objects that tools are notified of: the functions that runtimes call.
 *
 * Steps of an activity:
 *
 *   gt_activity_take()   in the thread that will submit it, inside the call that causes it
 *   gt_activity_enter()  ENTER; chooses the contexts that will be notified to its end
 *   (it is submitted)
 *   gt_activity_exit()   EXIT
 *   gt_activity_done()   in any thread that learns how it ended, also before EXIT
 *   gt_tool_deliver()    COMPLETE, in a gputap thread that holds no lock
 *
 * Activities are in a pool that grows if a system call is allowed (gt_activity_take() with @grow)
 * and is never freed. */
#ifndef GPUTAP_TOOL_TOOL_ACTIVITY_H
#define GPUTAP_TOOL_TOOL_ACTIVITY_H

#include "tool/tool.h"
#include "tool/tool_stock.h"

enum { GT_TOOL_SUBSCRIBERS = 16 }; /* of one activity; further contexts are only counted */

struct gt_activity {
	struct gt_tool_entry entry;
	_Atomic uint32_t state;
	/* process that submitted it: the child of a fork does not have its parent's activities */
	_Atomic uint32_t epoch;
	/* one bit for the place of each context to be notified of its end; 0: none remains */
	_Atomic uint64_t waited_for;
	bool dispatch; /* numbered in the series of dispatches */
	bool api;      /* caused by a HIP call, not by a call that HIP makes */
	uint32_t count;
	uint32_t entering; /* number of subscribers[] for which ENTER has started */
	struct gt_correlation *shared;
	uint64_t began, entered; /* ns: before and after ENTER */
	/* ns: after it was submitted, if the runtime's folder needs it */
	uint64_t left;
	uint64_t done_start, done_end; /* as the helper reported it; EXIT may follow */
	int32_t done_status;
	struct gputap_activity activity;
	struct gt_tool_subscriber subscribers[GT_TOOL_SUBSCRIBERS];
};

/* Mark the start or the end of a callback, possibly within a call. Calls that the callback makes
 * are then notified, and not taken for the runtime's.
 * Return: the previous value. */
bool gt_tool_calling(bool calling);

/* Return a bit for each type of activity of the domain that an active context wants. One load. */
static inline uint64_t gt_tool_activity_asked(enum gt_domain domain)
{
	return atomic_load_explicit(&gt_tool_activity_types[domain], memory_order_relaxed);
}

/**
 * gt_activity_take() - take an activity that this thread is about to submit
 * @grow: the pool may grow, with an occasional system call
 * Return: activity with the open call's correlation, thread and external ids; NULL: no memory,
 *         counted.
 */
struct gt_activity *gt_activity_take(enum gt_domain domain, bool grow);
/* Set the open call as the cause, in the call that really submits, if this thread took the
 * activity. A HIP call that is its cause already remains. */
void gt_activity_submitting(struct gt_activity *p);
/* Return an activity that tools are not notified of. */
void gt_activity_give(struct gt_activity *p);

/**
 * gt_activity_enter() - notify of ENTER
 * The caller has filled in p->dispatch and p->activity, except for size, phase, number and the
 * fields that take() sets.
 * Return: false: no context wants it; it was returned to the pool.
 */
bool gt_activity_enter(struct gt_activity *p);
/* Notify of EXIT after it was submitted. */
void gt_activity_exit(struct gt_activity *p);
/* Call this instead of gt_activity_exit() if a callback left ENTER or EXIT through a jump or an
 * exception, and the activity is submitted anyway. Contexts that got ENTER get COMPLETE. */
void gt_activity_left(struct gt_activity *p);
/* Count an activity that was submitted without notifications because a callback took too long. Its
 * memory is abandoned. */
void gt_activity_abandon(void);
/* End an activity without COMPLETE, after EXIT: the runtime refused it, or its end cannot be
 * observed (@counted). */
void gt_activity_drop(struct gt_activity *p, bool counted);

/**
 * gt_activity_done() - record that an activity has completed
 * @start, @end: ns; 0: not known
 */
void gt_activity_done(struct gt_activity *p, int32_t status, uint64_t start, uint64_t end);

/* Convert times of a runtime whose time stamps are host ticks. Call start() before the first one,
 * so that a conversion exists. ns(0) is 0. */
void gt_tool_ticks_start(void);
uint64_t gt_tool_ticks_ns(uint64_t ticks);

/* Notify of COMPLETE for all completed activities. Return their number. */
uint32_t gt_tool_deliver(void);
/* Return true if an activity waits for COMPLETE. */
bool gt_tool_has_done(void);

/* Return the number of activities that tools were not notified of, or not to their end. */
uint64_t gt_tool_activity_lost(void);

/* Return the number of this process's activities that a place must still be notified of. */
uint64_t gt_tool_activity_open(uint32_t place);
/* Forget a place in all activities: its context was destroyed. */
void gt_tool_activity_forget(uint32_t place);

/* Register a function of a runtime's folder that finds completed activities. It is called when a
 * tool flushes or stops, and at the end of the process. */
void gt_tool_activity_looks(void (*look)(void));
/* Wait briefly, when a tool flushes or stops, until the helpers have notified of the activities
 * that have completed. Does not wait inside a callback that the helpers may wait for. */
void gt_tool_activity_settle(void);
/* Wait until no activity of the place is open, or until @deadline (CLOCK_MONOTONIC ns). In a
 * callback that the helpers may wait for, check once. Return the number of open activities. */
uint64_t gt_tool_activity_drain(uint32_t place, uint64_t deadline);

/* End all notifications when the process ends: COMPLETE for completed activities, UNLOAD for
 * objects, retirement for the remaining calls. Runs once; it is the last notification. */
void gt_tool_activity_end(void);

/* Objects (tool_object.c) ------------------------------------------------------ */

struct gt_tool_object;

/* Return a permanent copy of a text; NULL: no memory. */
const char *gt_tool_text(const char *text, size_t bytes);

/**
 * gt_tool_object_add() - add an object that exists from now on
 * @o:      without size, phase and replayed; copied
 * @parent: loaded before it, unloaded together with it; NULL: none, then gt_tool_object_loaded()
 *         has to follow
 * Return: NULL: no memory, tools will not be notified of it.
 * Thread: any. It calls no callback, so the caller may hold a lock of the runtime.
 */
struct gt_tool_object *gt_tool_object_add(const struct gputap_object *o,
					  struct gt_tool_object *parent);
/* Notify of LOAD for the object and its children. NULL is allowed, here and below. */
void gt_tool_object_loaded(struct gt_tool_object *object);
/* Notify of UNLOAD for the object and its children. */
void gt_tool_object_unload(struct gt_tool_object *object);
/* Unload all remaining objects, last to first. Tools are not notified of later loads. */
void gt_tool_objects_end(void);

#endif
