/* SPDX-License-Identifier: MIT */
/* The guest: another user of CUPTI in the process (torch.profiler's Kineto, Triton's Proton, ..).
 *
 *   guest ─► taps of libcupti's exports (cupti_share.c) ─► what it asked for (cupti_guest.c)
 *                                                             │
 *   CUPTI ─► the owner's subscriber and buffers (cupti_owner.c, cupti_buffers.c)
 *                 ├─► our device records
 *                 └─► guest: its callbacks, its own buffers with its own records
 *
 * CUPTI has one subscriber and one pair of functions for buffers; whoever comes last takes the
 * latter away from the one before. So both are the owner's, always, and the guest gets from the
 * owner what it would get from CUPTI. There is one guest at a time, as CUPTI has it.
 *
 * Locking: one mutex of cupti_guest.c, never held while CUPTI or the guest is called. */
#ifndef GPUTAP_RUNTIME_CUPTI_GUEST_H
#define GPUTAP_RUNTIME_CUPTI_GUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/cuda/cupti_abi.h"

/* For the owner ---------------------------------------------------------------------------- */

/* The real function where @function, of libcupti, is a tap; else @function itself.
 * (cupti_attach.c) */
void *gt_cupti_real(void *function);

/* What is around this program that uses CUPTI in a way that cannot be shared, as a sentence; NULL:
 * nothing. Thread: any; reads /proc/self/maps. */
const char *gt_cupti_guest_other(void);

/* A buffer of the guest's, if its records are wanted now. False: the owner gives one of its own. */
bool gt_cupti_guest_request(uint8_t **buffer, size_t *bytes, size_t *records);

/* Has the guest given CUPTI this buffer, which has not come back yet? */
bool gt_cupti_guest_has_buffer(const uint8_t *buffer);

/**
 * gt_cupti_guest_complete() - the guest's part of a buffer that came back
 * The owner has read the guest's: its records may be changed and moved here. One of the owner's
 * stays as it is.
 * Return: true: the buffer is the guest's, and has gone back to it. False: the owner's.
 */
bool gt_cupti_guest_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			     size_t valid);

/* Around a flush of the owner's at the process's end: the guest may be gone already, or stand in
 * the middle of something, and is not called. It gets its records if it flushes CUPTI itself
 * later. */
void gt_cupti_guest_hold(bool hold);

/* CUPTI dropped @count records, and the owner has asked for that count. */
void gt_cupti_guest_dropped(size_t count);

/* From the owner's callback, for each. */
void gt_cupti_guest_callback(int domain, uint32_t id, const void *data);

/* May the owner switch this off, and finalise CUPTI? */
bool gt_cupti_guest_needs_kind(uint32_t kind);
bool gt_cupti_guest_needs_callback(int domain, uint32_t id);
bool gt_cupti_guest_present(void);

/* For cupti_share.c ------------------------------------------------------------------------ */

/* What the guest gets for a handle. */
void *gt_cupti_guest_handle(void);

/* CUPTI's function by which records are walked: before the guest asks for any. */
void gt_cupti_guest_walk_by(cuptiActivityGetNextRecord_fn *next);

/* False: there is one. */
bool gt_cupti_guest_subscribe(cupti_callback_fn *callback, void *user);
void gt_cupti_guest_unsubscribe(void);
bool gt_cupti_guest_subscribed(void);
/* One id; UINT32_MAX: all of the domain. */
void gt_cupti_guest_set_callback(int domain, uint32_t id, bool on);
bool gt_cupti_guest_has_callback(int domain, uint32_t id);

/* NULL, NULL: none any more. */
void gt_cupti_guest_register(cupti_request_fn *request, cupti_complete_fn *complete);
/* NULL: CUPTI's own, CLOCK_REALTIME. */
void gt_cupti_guest_set_clock(cupti_time_fn *clock);
uint64_t gt_cupti_guest_time(void);

/* True: with this one the guest's turn would begin: CUPTI is to be flushed before, so that no
 * buffer of the owner's is half full. */
bool gt_cupti_guest_begins(void);
/* @context: NULL: for all. @owned: the owner has the kind on. */
void gt_cupti_guest_add_kind(void *context, uint32_t kind, bool owned);
void gt_cupti_guest_remove_kind(void *context, uint32_t kind, bool owned);
/* A record for each call of one function. @kind: CUPTI_KIND_DRIVER or _RUNTIME. */
void gt_cupti_guest_set_function(uint32_t kind, uint32_t id, bool on);
/* Around a flush of the guest's: it gets all that is its. If nothing of its is on behind that, its
 * turn ends. */
void gt_cupti_guest_begin_flush(void);
void gt_cupti_guest_end_flush(void);
size_t gt_cupti_guest_take_dropped(void);
/* It has finalised CUPTI: nothing of it is left. */
void gt_cupti_guest_forget(void);

/* cupti_guest_records.c: what is the guest's of a buffer ----------------------------------- */

/* Of one kind, in the guest's turn. */
struct gt_cupti_span {
	bool asked;    /* it was switched on in this turn */
	bool after;    /* by the guest alone since it began: what was launched before is not its */
	bool before;   /* it ended for the guest alone: what was launched after is not its */
	uint32_t last; /* correlation of the last launch before that */
};

struct gt_cupti_turn {
	struct gt_cupti_span kinds[CUPTI_KIND_COUNT];
	uint32_t first; /* correlation of the first launch in it; 0: there was none */
	/* guest's time = time_to + (ticks - time_from) * time_rate */
	bool convert;
	uint64_t time_from, time_to;
	double time_rate;
};

/**
 * gt_cupti_guest_filter() - leave the guest's records, in the guest's unit of time
 * @next: CUPTI's function that walks records
 * Return: valid bytes that are left, from the buffer's begin.
 */
size_t gt_cupti_guest_filter(const struct gt_cupti_turn *turn, cuptiActivityGetNextRecord_fn *next,
			     uint8_t *buffer, size_t valid);
/* How many records are the guest's. */
size_t gt_cupti_guest_count(const struct gt_cupti_turn *turn, cuptiActivityGetNextRecord_fn *next,
			    uint8_t *buffer, size_t valid);
/* The longest part of @valid bytes of whole records that fits into @room. */
size_t gt_cupti_guest_fit(cuptiActivityGetNextRecord_fn *next, uint8_t *buffer, size_t valid,
			  size_t room);

#endif
