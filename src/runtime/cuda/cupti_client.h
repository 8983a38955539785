/* SPDX-License-Identifier: MIT */
/* The client: another user of CUPTI in the process (torch.profiler's Kineto, Triton's Proton and
 * others).
 *
 *   client ─► taps of libcupti's exports (cupti_share.c) ─► its requests (cupti_client.c)
 *                                                             │
 *   CUPTI ─► the session's subscriber and buffers (cupti_session.c, cupti_buffers.c)
 *                 ├─► our device records
 *                 └─► client: its callbacks, its own buffers with its own records
 *
 * CUPTI allows one subscriber and one pair of functions for buffers; a later registration of the
 * pair replaces the earlier one. So both always belong to gputap's CUPTI session, and the client
 * gets from the session what it would get from CUPTI. There is one client at a time, as CUPTI
 * allows.
 *
 * Locking: one mutex of cupti_client.c, never held while CUPTI or the client is called. */
#ifndef GPUTAP_RUNTIME_CUPTI_CLIENT_H
#define GPUTAP_RUNTIME_CUPTI_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/cuda/cupti_abi.h"

/* For the CUPTI session ------------------------------------------------------------------- */

/* Return the real function if @function, of libcupti, is a tap; else @function itself.
 * (cupti_attach.c) */
void *gt_cupti_real(void *function);

/* Return a sentence about a profiler of this program that uses CUPTI in a way that cannot be
 * shared; NULL: none. Thread: any; reads /proc/self/maps. */
const char *gt_cupti_client_other(void);

/* Request a buffer from the client, if its records are wanted now. Return false if the session must
 * supply its own. */
bool gt_cupti_client_request(uint8_t **buffer, size_t *bytes, size_t *records);

/* Return true if the client has given CUPTI this buffer, and it has not come back yet. */
bool gt_cupti_client_has_buffer(const uint8_t *buffer);

/**
 * gt_cupti_client_complete() - deliver the client's part of a completed buffer
 * The session has read the client's buffer already: its records may be changed and moved here. A
 * buffer of the session stays unchanged.
 * Return: true if the buffer is the client's, and has gone back to it; false if it is the
 * session's.
 */
bool gt_cupti_client_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t valid);

/* Hold back calls to the client. Used around the session's flush at the end of the process: the
 * client may be gone already, or interrupted in any state, so it must not be called. It gets its
 * records if it flushes CUPTI itself later. */
void gt_cupti_client_hold(bool hold);

/* Report that CUPTI dropped @count records, as the session has read from CUPTI. */
void gt_cupti_client_dropped(size_t count);

/* Pass on each callback that the session gets. */
void gt_cupti_client_callback(int domain, uint32_t id, const void *data);

/* Return false if the session may disable this, and finalise CUPTI. */
bool gt_cupti_client_needs_kind(uint32_t kind);
bool gt_cupti_client_needs_callback(int domain, uint32_t id);
bool gt_cupti_client_present(void);

/* For cupti_share.c ------------------------------------------------------------------------ */

/* Return the client's subscriber handle. */
void *gt_cupti_client_handle(void);

/* Set CUPTI's function for walking records. Call before the client requests any. */
void gt_cupti_client_walk_by(cuptiActivityGetNextRecord_fn *next);

/* Return false if there is a subscriber already. */
bool gt_cupti_client_subscribe(cupti_callback_fn *callback, void *user);
void gt_cupti_client_unsubscribe(void);
bool gt_cupti_client_subscribed(void);
/* Switch one id; UINT32_MAX: all of the domain. */
void gt_cupti_client_set_callback(int domain, uint32_t id, bool on);
bool gt_cupti_client_has_callback(int domain, uint32_t id);

/* NULL, NULL: unregister. */
void gt_cupti_client_register(cupti_request_fn *request, cupti_complete_fn *complete);
/* NULL: CUPTI's default, CLOCK_REALTIME. */
void gt_cupti_client_set_clock(cupti_time_fn *clock);
uint64_t gt_cupti_client_time(void);

/* Return true if this one would start the client's turn: CUPTI must be flushed first, so that no
 * buffer of the session is half full. */
bool gt_cupti_client_begins(void);
/* @context: NULL: for all. @owned: the session has enabled the kind. */
void gt_cupti_client_add_kind(void *context, uint32_t kind, bool owned);
void gt_cupti_client_remove_kind(void *context, uint32_t kind, bool owned);
/* Switch the records of one function's calls. @kind: CUPTI_KIND_DRIVER or _RUNTIME. */
void gt_cupti_client_set_function(uint32_t kind, uint32_t id, bool on);
/* Enclose the client's flush: it gets all of its records. If the client has nothing enabled after
 * that, its turn ends. */
void gt_cupti_client_begin_flush(void);
void gt_cupti_client_end_flush(void);
size_t gt_cupti_client_take_dropped(void);
/* Forget the client, which has finalised CUPTI. */
void gt_cupti_client_forget(void);

/* cupti_client_records.c: the client's share of a buffer ------------------------------------ */

/* A kind of records, in the client's turn. */
struct gt_cupti_span {
	bool asked; /* true if the client enabled it in this turn */
	/* true if gputap had enabled it before the client did: launches before `first` are not the
	 * client's */
	bool after;
	/* true if gputap keeps it enabled after the client: launches after `last` are not the
	 * client's */
	bool before;
	uint32_t last; /* correlation of the last launch before the client disabled it */
};

struct gt_cupti_turn {
	struct gt_cupti_span kinds[CUPTI_KIND_COUNT];
	uint32_t first; /* correlation of the first launch in it; 0: there was none */
	/* client's time = time_to + (ticks - time_from) * time_rate */
	bool convert;
	uint64_t time_from, time_to;
	double time_rate;
};

/**
 * gt_cupti_client_filter() - keep only the client's records, with times in the client's unit
 * @next: CUPTI's function that walks records
 * Return: the remaining valid bytes, from the start of the buffer.
 */
size_t gt_cupti_client_filter(const struct gt_cupti_turn *turn, cuptiActivityGetNextRecord_fn *next,
			      uint8_t *buffer, size_t valid);
/* Return the number of the client's records. */
size_t gt_cupti_client_count(const struct gt_cupti_turn *turn, cuptiActivityGetNextRecord_fn *next,
			     uint8_t *buffer, size_t valid);
/* Return the size of the longest part of @valid bytes of whole records that fits into @room. */
size_t gt_cupti_client_fit(cuptiActivityGetNextRecord_fn *next, uint8_t *buffer, size_t valid,
			   size_t room);

#endif
