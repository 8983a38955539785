/* SPDX-License-Identifier: MIT */
/* Follows queues that the program created before gputap was there. */
#ifndef GPUTAP_RUNTIME_HSA_ADOPT_H
#define GPUTAP_RUNTIME_HSA_ADOPT_H

#include <stdbool.h>

/* Adopt each queue of the program when it is used next. Call while all functions that take a queue
 * are tapped, and no thread is inside one of the runtime's own functions for indices
 * (gt_late_wait_for_threads()). */
void gt_hsa_adopt_begin(void);
/* Return true after gt_hsa_adopt_begin(). */
bool gt_hsa_adopts(void);
/* Name adopted queues to which the program has submitted packets in memory. */
void gt_hsa_adopt_finish(void);
/* Give adopted queues back to the program, and adopt no more. Threads of the program that use such
 * a queue wait meanwhile. If a thread gets no processor in three attempts, the queues stay
 * followed. */
void gt_hsa_adopt_end(void);

#endif
