/* SPDX-License-Identifier: MIT */
/* Serves the client, another user of CUPTI in the process (torch.profiler's Kineto, Triton's Proton
 * and others).
 *
 *   client ─► taps of libcupti's exports (cupti_share.c) ─► its requests (cupti_client.c)
 *                                                             │
 *   CUPTI ─► the session's subscriber and buffers (cupti_session.c, cupti_buffers.c)
 *                 ├─► our device records
 *                 └─► client: its callbacks, its own buffers with its own records
 *
 * CUPTI allows one subscriber and one pair of buffer functions. A later registration of the pair
 * replaces the earlier pair. Subscriber and pair therefore always belong to gputap's CUPTI session,
 * and the session gives the client exactly the data that CUPTI would give it. At most one client
 * exists at a time, as in CUPTI.
 *
 * The client's turn lasts from its first enabled kind to its flush after the last disabled kind.
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

/* Return the real function if @function is a tap of a libcupti function, otherwise @function itself
 * (cupti_attach.c). */
void *gt_cupti_real(void *function);

/* Return a sentence about a profiler in this process that uses CUPTI in a way that cannot be
 * shared, or NULL. Thread: any. Reads /proc/self/maps. */
const char *gt_cupti_client_other(void);

/* State of the tool that has subscribed to CUPTI before gputap was attached (cupti_holder.c). */
enum gt_cupti_holder {
	GT_CUPTI_HOLDER_UNKNOWN, /* not a tool that gputap knows */
	GT_CUPTI_HOLDER_BUSY,
	GT_CUPTI_HOLDER_IDLE, /* subscribed, but nothing is enabled */
};
/* Thread: any, without a lock; calls dlopen() and functions of libtorch. */
enum gt_cupti_holder gt_cupti_client_holder(void);

/* Return the handle of libtorch's subscription, found in the data of the libcupti that is mapped at
 * @base; NULL if there is not exactly one candidate. */
void *gt_cupti_client_find_handle(uint64_t base);

/* Treat the tool that had subscribed before CUPTI was finalised as the client, with whatever handle
 * it uses. Its callback is not known and is not called. */
void gt_cupti_client_adopt(void);

/* Return true if the client uses more of CUPTI than a subscription. */
bool gt_cupti_client_busy(void);

/* Request a buffer from the client, if the client wants records now. Return false if the session
 * must supply a buffer. */
bool gt_cupti_client_request(uint8_t **buffer, size_t *bytes, size_t *records);

/* Return true if the client has given this buffer to CUPTI and CUPTI has not returned it yet. */
bool gt_cupti_client_has_buffer(const uint8_t *buffer);

/**
 * gt_cupti_client_complete() - deliver the client's part of a completed buffer
 * The session has already read the buffer. Records in a client's buffer may be changed and moved
 * here. A buffer of the session stays unchanged.
 * Return: true if the buffer is the client's and was returned to the client, false if the buffer is
 *         the session's.
 */
bool gt_cupti_client_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t valid);

/* Hold back calls to the client. Used around the session's flush at the end of the process: the
 * client may be gone, or interrupted in any state, so it must not be called. The client gets its
 * records if the client itself flushes CUPTI later. */
void gt_cupti_client_hold(bool hold);

/* Report that CUPTI dropped @count records. The session has read the number from CUPTI. */
void gt_cupti_client_dropped(size_t count);

/* Pass each callback of the session on to the client. */
void gt_cupti_client_callback(int domain, uint32_t id, const void *data);

/* Return true if the client prevents the session from disabling the kind or callback, or from
 * finalising CUPTI. */
bool gt_cupti_client_needs_kind(uint32_t kind);
bool gt_cupti_client_needs_callback(int domain, uint32_t id);
bool gt_cupti_client_present(void);

/* cupti_share.c */
/* Decide again whether clients are served that were not served in an earlier recording session. */
void gt_cupti_share_renew(void);
/* Serve clients of the session's library from now on, also while no session wants CUPTI. */
void gt_cupti_share_serve(void);

/* For cupti_share.c ------------------------------------------------------------------------ */

/* Return the client's subscriber handle. */
void *gt_cupti_client_handle(void);
/* Return true if the handle is the client's. */
bool gt_cupti_client_is_handle(const void *subscriber);

/* Set CUPTI's function for walking records. Call before the client requests any record. */
void gt_cupti_client_walk_by(cuptiActivityGetNextRecord_fn *next);

/* Subscribe the client. Return false if a subscriber already exists. */
bool gt_cupti_client_subscribe(cupti_callback_fn *callback, void *user);
void gt_cupti_client_unsubscribe(void);
bool gt_cupti_client_subscribed(void);
/* Enable or disable one callback id. UINT32_MAX means all ids of the domain. */
void gt_cupti_client_set_callback(int domain, uint32_t id, bool on);
bool gt_cupti_client_has_callback(int domain, uint32_t id);

/* Register the client's buffer functions. NULL pointers unregister the functions. */
void gt_cupti_client_register(cupti_request_fn *request, cupti_complete_fn *complete);
/* Set the client's clock. NULL selects CUPTI's default, CLOCK_REALTIME. */
void gt_cupti_client_set_clock(cupti_time_fn *clock);
uint64_t gt_cupti_client_time(void);

/* Return true if the next enabled kind would start the client's turn. The caller must first flush
 * CUPTI, so that no buffer of the session is half full. */
bool gt_cupti_client_begins(void);
/* Add or remove a kind of the client. @context: NULL for all contexts. @owned: true if the session
 * has enabled the kind. */
void gt_cupti_client_add_kind(void *context, uint32_t kind, bool owned);
void gt_cupti_client_remove_kind(void *context, uint32_t kind, bool owned);
/* Enable or disable the records of one function's calls. @kind: CUPTI_KIND_DRIVER or _RUNTIME. */
void gt_cupti_client_set_function(uint32_t kind, uint32_t id, bool on);
/* Mark the start or end of the client's flush, which delivers all of the client's records. If no
 * kind of the client is enabled afterwards, the client's turn ends. */
void gt_cupti_client_begin_flush(void);
void gt_cupti_client_end_flush(void);
size_t gt_cupti_client_take_dropped(void);
/* Forget the client after it has finalised CUPTI. */
void gt_cupti_client_forget(void);

/* cupti_client_records.c: the client's share of a buffer ------------------------------------ */

/* State of one kind of records during the client's turn. */
struct gt_cupti_span {
	bool asked; /* true if the client enabled the kind in this turn */
	/* true if gputap enabled the kind before the client did, so launches before `first` are not
	 * the client's */
	bool after;
	/* true if gputap keeps the kind enabled after the client disables it, so launches after
	 * `last` are not the client's */
	bool before;
	uint32_t last; /* correlation of the last launch before the client disabled the kind */
};

struct gt_cupti_turn {
	struct gt_cupti_span kinds[CUPTI_KIND_COUNT];
	uint32_t first; /* correlation of the first launch in the turn; 0 before the first launch */
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
