/* SPDX-License-Identifier: MIT */
/* Attaching to a process that was started without gputap.
 *
 *   gputap attach PID ─► thread in the process: dlopen(libgputap.so.0), gputap_attach(folder)
 *       gt_recording_attach()     join the session: a segment, a new epoch
 *       mapped libraries          interposed (runtime/mapped.h)
 *       gt_late.attach()          of every runtime: what interposition does not reach
 *   end of the session ─► gt_late.finish(), then, with recording off, gt_late.detach(), in gputap's
 *                         thread that follows the session
 *
 * The capture names what a runtime cannot give to a late tracer: gt_late_missing(). */
#ifndef GPUTAP_CORE_LATE_H
#define GPUTAP_CORE_LATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/domain.h"
#include "util/provided.h"

/* Hooks of a runtime. Each may be NULL. A process may be attached to and detached from repeatedly,
 * so both hooks are called several times, never at the same time. */
struct gt_late {
	const char *name; /* of the runtime, for debugging */
	/* Take over what the runtime has handed out before, and start what the session needs.
	 * Called in a thread of gputap without any lock. May block. */
	void (*attach)(void);
	/* Record what is complete and not recorded yet. Called before detach(), in the same thread,
	 * while the collector still reads records. */
	void (*finish)(void);
	/* Give back what costs the program time. Taps already call straight through. Called in a
	 * thread of gputap without any lock. */
	void (*detach)(void);
};
GT_INTERFACE(gt_late);

/* Notified of gt_late_missing(). */
struct gt_late_listener {
	void (*missing)(enum gt_domain domain, const char *what);
};
GT_INTERFACE(gt_late_listener);

/* Return true if this process was started without gputap, and a session has attached to it or it
 * has opened a tool, now or earlier. */
extern _Atomic bool gt_late_came __attribute__((visibility("hidden")));
static inline bool gt_is_late(void)
{
	return atomic_load_explicit(&gt_late_came, memory_order_relaxed);
}

/* From now on, gt_is_late() returns true. */
void gt_late_begin(void);
/* Call all hooks. */
void gt_late_attach_all(void);
/* Call all hooks, if the process is attached to. Called when the session has ended: first
 * gt_late_finish_all(), then, after gt_recording_stop(), gt_late_detach_all(). */
void gt_late_finish_all(void);
void gt_late_detach_all(void);

/**
 * gt_late_wait_for_threads() - wait until every other thread has left the code that it is executing
 * A thread counts as gone on if it has been seen blocked in a system call, or has run for a
 * millisecond. Code of a few instructions without system calls, such as a function that was reached
 * through an entry before a tap replaced the entry, is then no longer executed by any thread.
 * @most_ns: how long to wait
 * Return: false if a thread did not get a processor in time, or /proc cannot be read.
 * Thread: any; makes system calls.
 */
bool gt_late_wait_for_threads(uint64_t most_ns);

/**
 * gt_late_missing() - name what a runtime cannot give because gputap came late: in the capture, and
 *                     to tools
 * @what: a phrase with the object and the reason: "times of queue 0x55..: created without
 *        profiling". Reports show each text once
 * Thread: any, without the dynamic linker's lock.
 */
void gt_late_missing(enum gt_domain domain, const char *what);

#endif
