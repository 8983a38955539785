/* SPDX-License-Identifier: MIT */
/* A tool's function is called for a packet, in the middle of the packet loop, and may not come
 * back: it throws an exception or jumps through us, or it waits for ever. It must not keep the
 * queue. (No cleanup of the compiler's: that needs libgcc_s in every program.)
 *
 * Steps:
 *   1. The thread at work in the ring writes `current`, puts a guard with a new number on its
 *      stack, and stores the number into `running` (release). It calls the tool.
 *   2. Whoever exchanges that number in `running` for 0 (acquire, release) is at work in the ring
 *      from then on. One of three does:
 *      - the thread of step 1, when the function has come back;
 *      - the same thread further up in its stack, when it rings again: the guard shows that the
 *        function was left;
 *      - the helper after PATIENCE_NS, also if the function only takes that long.
 *   3. The latter two copy `current` to `interrupted`. The packet loop goes on with that packet
 *      where step 1 was, and clears it. */
#ifndef GPUTAP_RUNTIME_HSA_CALLBACKS_H
#define GPUTAP_RUNTIME_HSA_CALLBACKS_H

#include "runtime/hsa/hsa_ring.h"
#include "runtime/hsa/hsa_runtime.h"
#include "tool/tool_work.h"

struct gt_hsa_callbacks;

/* On the stack of the thread at work in a ring while a tool's function is called. */
struct gt_hsa_callback_guard {
	struct gt_hsa_callbacks *callbacks; /* NULL: the function has come back */
	uint64_t number;
};

/* What the function is called for. */
struct gt_hsa_callback {
	struct gt_work_item *item;
	const volatile struct gt_hsa_callback_guard *guard;
	bool enter;    /* ENTER: the packet has not been handed on. Else EXIT, it has: */
	bool followed; /* to its end */
	bool left;     /* the function is known not to come back */
};

struct gt_hsa_callbacks {
	/* whoever is at work in the ring */
	struct gt_hsa_callback current;     /* constant while `running` */
	struct gt_hsa_callback interrupted; /* item NULL: none */
	uint64_t count;
	_Atomic uint64_t running; /* its number; 0: none */
	/* the helper: `running`, and when it saw that first */
	uint64_t seen, seen_since;
};

/* ENTER is called for *item. *item: NULL: no tool asks for it. False: the ring is not this
 * thread's any more. */
bool gt_hsa_callbacks_enter(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			    struct gt_work_item **item);
/* EXIT; then the item is the harvester's, if it is followed. False: as above. */
bool gt_hsa_callbacks_exit(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			   struct gt_work_item *item, bool followed);

/* Step 3 for a function that was called for ENTER, of the packet that comes next. Return: its
 * item; NULL: the packet goes without. */
struct gt_work_item *gt_hsa_callbacks_resume_enter(struct gt_hsa_callbacks *c);
/* Step 3 for EXIT: the packet has been handed on. */
void gt_hsa_callbacks_resume_exit(struct gt_hsa_callbacks *c);

/* Step 2, for the thread whose frames begin at @frame and to which the ring seems to belong. True:
 * it does. */
bool gt_hsa_callbacks_were_left(struct gt_hsa_callbacks *c, const void *frame);
/* Step 2, by the helper. True: the ring is the helper's. */
bool gt_hsa_callbacks_take_over(struct gt_hsa_callbacks *c);

#endif
