/* SPDX-License-Identifier: MIT */
/* A tool's function is called for a packet, in the middle of the packet loop, and may not return:
 * it may throw an exception or jump out of it, or wait forever. It must not block the queue. (The
 * compiler's cleanup attribute is not used: it needs libgcc_s in every program.)
 *
 * Steps:
 *   1. The thread at work in the ring writes `current`, puts a guard with a new number on its
 *      stack, and stores the number into `running` (release). It calls the tool.
 *   2. The thread that exchanges that number in `running` for 0 (acquire, release) is at work in
 *      the ring from then on. It is one of three:
 *      - the thread of step 1, when the function has returned;
 *      - the same thread further up in its stack, when it rings again: the guard shows that the
 *        function was left;
 *      - the helper after PATIENCE_NS, also if the function only takes that long.
 *   3. The latter two copy `current` to `interrupted`. The packet loop continues with that packet
 *      where step 1 was, and clears it. */
#ifndef GPUTAP_RUNTIME_HSA_CALLBACKS_H
#define GPUTAP_RUNTIME_HSA_CALLBACKS_H

#include "runtime/hsa/hsa_ring.h"
#include "runtime/hsa/hsa_runtime.h"
#include "tool/tool_activity.h"

struct gt_hsa_callbacks;

/* Guard on the stack of the thread at work in a ring while a tool's function is called. */
struct gt_hsa_callback_guard {
	struct gt_hsa_callbacks *callbacks; /* NULL: the function has returned */
	uint64_t number;
};

/* The callback that a tool's function is called for. */
struct gt_hsa_callback {
	struct gt_activity *item;
	const volatile struct gt_hsa_callback_guard *guard;
	bool enter;    /* ENTER: the packet has not been handed on yet. Else EXIT: it has */
	bool followed; /* followed to its end */
	bool left;     /* the function is known not to return */
};

struct gt_hsa_callbacks {
	/* written in the thread at work in the ring */
	struct gt_hsa_callback current;     /* constant while `running` */
	struct gt_hsa_callback interrupted; /* item NULL: none */
	uint64_t count;
	_Atomic uint64_t running; /* its number; 0: none */
	/* the helper's: `running`, and the time it first saw that value */
	uint64_t seen, seen_since;
};

/* Call ENTER for *item. *item becomes NULL if no tool wants it. Return false if the ring no longer
 * belongs to this thread. */
bool gt_hsa_callbacks_enter(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			    struct gt_activity **item);
/* Call EXIT; after that the item belongs to the harvester, if it is followed. Return false as
 * above. */
bool gt_hsa_callbacks_exit(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			   struct gt_activity *item, bool followed);

/* Do step 3 after a function called for ENTER, of the next packet. Return its item, or NULL: the
 * packet continues without one. */
struct gt_activity *gt_hsa_callbacks_resume_enter(struct gt_hsa_callbacks *c);
/* Do step 3 after EXIT: the packet has been handed on. */
void gt_hsa_callbacks_resume_exit(struct gt_hsa_callbacks *c);

/* Do step 2 for the thread whose frames start at @frame and that seems to own the ring. Return true
 * if it does. */
bool gt_hsa_callbacks_were_left(struct gt_hsa_callbacks *c, const void *frame);
/* Do step 2, in the helper. Return true if the helper now owns the ring. */
bool gt_hsa_callbacks_take_over(struct gt_hsa_callbacks *c);

#endif
