/* SPDX-License-Identifier: MIT */
/* Calls a tool's function for a packet, in the middle of the packet loop. The function may never
 * return: it may throw an exception, jump out of the loop, or wait forever. A function that does
 * not return must not block the queue. (The compiler's cleanup attribute would require libgcc_s in
 * every program.)
 *
 * Steps:
 *   1. The ring's worker writes `current`, puts a guard with a new number on its stack, stores the
 *      number into `running` (release), and calls the tool.
 *   2. The thread that exchanges that number in `running` for 0 (acquire, release) is the ring's
 *      worker from then on. This thread is one of three:
 *      - the thread of step 1, when the function has returned;
 *      - the same thread in an outer stack frame, when it rings the doorbell again and the guard
 *        shows that the function was left;
 *      - the helper after PATIENCE_NS, even if the function only takes longer than that.
 *   3. In the last two cases, the thread copies `current` to `interrupted`. The packet loop
 *      continues with that packet at the point of step 1, and clears `interrupted`. */
#ifndef GPUTAP_RUNTIME_HSA_CALLBACKS_H
#define GPUTAP_RUNTIME_HSA_CALLBACKS_H

#include "runtime/hsa/hsa_ring.h"
#include "runtime/hsa/hsa_runtime.h"
#include "tool/tool_activity.h"

struct gt_hsa_callbacks;

/* Guard on the stack of the ring's worker during a call of a tool's function. */
struct gt_hsa_callback_guard {
	struct gt_hsa_callbacks *callbacks; /* NULL once the function has returned */
	uint64_t number;
};

/* Callback for which a tool's function is called. */
struct gt_hsa_callback {
	struct gt_tool_activity *tool_activity;
	const volatile struct gt_hsa_callback_guard *guard;
	bool enter;    /* true for ENTER (the packet is not handed on yet); false for EXIT */
	bool followed; /* true if the packet is followed until it completes */
	bool left;     /* true if the function is known not to return */
};

struct gt_hsa_callbacks {
	/* Writer: the ring's worker. */
	struct gt_hsa_callback current;     /* constant while `running` is not 0 */
	struct gt_hsa_callback interrupted; /* tool_activity: NULL if none was interrupted */
	uint64_t count;
	_Atomic uint64_t running; /* number of the running callback; 0: none */
	/* Used by the helper: a value of `running`, and the time at which the helper first saw that
	 * value. */
	uint64_t seen, seen_since;
};

/* Call the tools' ENTER callback for *tool_activity. Set *tool_activity to NULL if no tool wants
 * the activity. Return false if this thread is no longer the ring's worker. */
bool gt_hsa_callbacks_enter(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			    struct gt_tool_activity **tool_activity);
/* Call the tools' EXIT callback. If the tool activity is followed, it belongs to the harvester
 * afterwards. Return false if this thread is no longer the ring's worker. */
bool gt_hsa_callbacks_exit(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			   struct gt_tool_activity *tool_activity, bool followed);

/* Do step 3 for the next packet, whose ENTER callback was interrupted. Return its tool activity, or
 * NULL: the packet continues without a tool activity. */
struct gt_tool_activity *gt_hsa_callbacks_resume_enter(struct gt_hsa_callbacks *c);
/* Do step 3 after an interrupted EXIT callback, when the packet is already on the device. */
void gt_hsa_callbacks_resume_exit(struct gt_hsa_callbacks *c);

/* Do step 2 in a thread that seems to be the ring's worker and whose frames start at @frame. Return
 * true if the thread is the worker now. */
bool gt_hsa_callbacks_were_left(struct gt_hsa_callbacks *c, const void *frame);
/* Do step 2 in the helper. Return true if the helper is the ring's worker now. */
bool gt_hsa_callbacks_take_over(struct gt_hsa_callbacks *c);

#endif
