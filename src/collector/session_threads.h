/* SPDX-License-Identifier: MIT */
/* The command of the control socket that reports threads without progress:
 *
 *   threads [least_ms=N] [stacks=yes]
 *                          a line of words for each process, then one for each of its threads that
 *                          has neither started nor ended a call for N ms, default 1000:
 *     process=INDEX pid= rank=(-1: none) size= exe= ended=yes|no unseen=yes|no
 *       busy=(threads with progress)
 *       activity_ns=(since the last GPU activity was read; "": none)
 *       pending=(GPU activities that have not completed)
 *     thread=ORDINAL process=INDEX tid= name=
 *       calls=NAME,NAME,..(open calls, outermost first; "": none) domain=(of the first)
 *       for_ns=(since the start of the first; "": not known)
 *       communicator= sequence= peer= bytes=(of the innermost collective or message; 0: none)
 *       last=NAME last_ns=(since the last call returned; "": none has)
 *     with stacks=yes, for each thread after its line:
 *     stack=whole|cut|broken|(number of an error) and lines of gt_thread_stack_put()
 *
 * Runs in the collector, which reads the rings for it. */
#ifndef GPUTAP_COLLECTOR_SESSION_THREADS_H
#define GPUTAP_COLLECTOR_SESSION_THREADS_H

#include "collector/control.h"
#include "collector/drain_state.h"

/* @d must stay valid. */
void gt_session_threads_offer(struct gt_drain *d, struct gt_control *control);

#endif
