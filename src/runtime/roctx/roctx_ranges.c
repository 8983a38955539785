/* SPDX-License-Identifier: MIT */
/* Records ROCTx ranges that cross pauses of recording, and finds the ranges of --from and --to.
 *
 * A push and its pop are two calls, and either may be in a pause. The open ranges of a thread are a
 * stack in separate memory, which its first push maps:
 *
 *   | depth, texts_used | open[RANGES]: recorded or start time | texts: their messages |
 *
 *   pushed        popped                records
 *   recorded      recorded              each in its tap
 *   recorded      in a pause            the pop, here
 *   in a pause    recorded              the push, here, before the pop: with its time and number
 *   in a pause    in another pause      both, here
 *   in a pause    in the same pause     none
 *
 * A range that is started in a pause is not recorded, except the range with which a recording
 * window starts. The stop of a range is also recorded in a pause.
 * Locking: none. Never here: allocation after a thread's first push. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/range_window.h"
#include "core/recording.h"
#include "generated/roctx_taps.h"
#include "generated/roctx_wraps.h"
#include "runtime/range_ids.h"

enum { RANGES = 250, TEXTS_BYTES = 32768, NAME_MAX_BYTES = 1024 };

struct open_range {
	uint64_t start, id;    /* id 0: the range did not begin in a pause */
	const char *message;   /* in `texts`; NULL: no message, or no room for the message */
	uint32_t epoch;        /* process in which the range began */
	uint32_t pauses;       /* value of gt_pauses when the range began */
	uint32_t texts_before; /* texts_used before the range began */
	int level;
	bool recorded;
	bool is_last; /* true if the range ends the recording window: core/range_window.h */
};

struct open_ranges {
	uint32_t depth;  /* number of entries in `open` */
	uint32_t beyond; /* number of ranges pushed while `open` was full, which are not stored */
	uint32_t texts_used;
	struct open_range open[RANGES];
	char texts[TEXTS_BYTES];
};

static _Thread_local struct open_ranges *mine __attribute__((tls_model("initial-exec")));

static void release_ranges(struct gt_thread *t)
{
	(void)t;
	if (mine)
		munmap(mine, sizeof *mine);
	mine = NULL;
}

/* Map the stack of a thread. Return NULL on failure. A thread that records nothing gets no memory,
 * which would never be freed. */
static __attribute__((cold, noinline)) struct open_ranges *map_ranges(void)
{
	int saved = errno;
	struct open_ranges *r = MAP_FAILED;

	if (gt_recording.session && gt_thread_get())
		r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	errno = saved;
	if (r == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&gt_thread_hooks.ends[GT_THREAD_END_ROCTX], release_ranges,
			      memory_order_release);
	return mine = r;
}

/* Records ---------------------------------------------------------------------- */

/* Return the thread's state if the session wants a record that the tap does not write; otherwise
 * NULL. */
static struct gt_thread *get_recording(uint32_t operation)
{
	if (!gt_session_asks(GT_OP(GT_DOMAIN_ROCTX, operation, 0)) ||
	    atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		return NULL;
	return gt_thread_get();
}

struct late_call {
	uint32_t operation;
	uint64_t at, id, returned;
	bool has_argument;
	uint64_t argument;
	const char *message; /* text of the argument; NULL: the argument is not a text */
};

static void write_call(struct gt_thread *t, const struct late_call *c)
{
	const unsigned nargs = c->has_argument && gt_tap_options.record_args;
	const struct gt_blob blob = gt_blob_string(0, nargs && c->message, c->message);
	size_t bytes =
		sizeof(struct gt_record_call) + nargs * sizeof(uint64_t) + gt_blob_bytes(blob);
	uint64_t head = bytes / 8 | (uint64_t)GT_RECORD_CALL << 16 |
			(uint64_t)GT_OP(GT_DOMAIN_ROCTX, c->operation, nargs) << 32;
	struct gt_record_call *w;

	gt_count(&t->slot->domains[GT_DOMAIN_ROCTX].seen[GT_CLASS_CALL]);
	w = gt_ring_reserve(t, bytes, GT_CLASS_CALL, GT_DOMAIN_ROCTX);
	if (!w)
		return;
	memcpy(&w->head, &head, sizeof head);
	w->start = w->end = c->at;
	w->id = c->id;
	w->ret = c->returned;
	if (nargs) {
		w->args[0] = c->argument;
		gt_blob_put(w->args + 1, blob);
	}
	gt_ring_commit(t, bytes);
}

/* Pushed ranges ------------------------------------------------------------------ */

static const char *keep_text(struct open_ranges *r, const char *text)
{
	size_t bytes = text ? strnlen(text, NAME_MAX_BYTES) : 0;
	char *at = r->texts + r->texts_used;

	if (!text || bytes >= TEXTS_BYTES - r->texts_used)
		return NULL;
	memcpy(at, text, bytes);
	at[bytes] = '\0';
	r->texts_used += (uint32_t)bytes + 1;
	return at;
}

/* Begin a range in a pause. The range takes a number now, so that calls after the pause are inside
 * the range. The range is counted when it is written. */
static __attribute__((cold, noinline)) void begin_in_pause(struct open_ranges *r,
							   struct open_range *o,
							   const char *message)
{
	uint32_t pauses = atomic_load_explicit(&gt_pauses, memory_order_relaxed);
	struct gt_thread *t = pauses & 1 ? get_recording(GT_ROCTX_roctxRangePushA) : NULL;

	if (!t)
		return;
	o->pauses = pauses;
	o->epoch = t->epoch;
	o->id = gt_range_take_number(t);
	o->start = gt_ticks();
	o->message = keep_text(r, message);
}

int gt_roctx_wrap_roctxRangePushA(const struct gt_call *call, const char *message)
{
	int level = ((gt_roctx_roctxRangePushA_fn *)call->tap->real)(message);
	struct open_ranges *r = mine ? mine : map_ranges();
	struct open_range *o;

	if (gt_unlikely(!r))
		return level;
	if (gt_unlikely(r->depth >= RANGES)) {
		r->beyond++;
		return level;
	}
	o = &r->open[r->depth++];
	*o = (struct open_range){
		.epoch = gt_thread.epoch,
		.texts_before = r->texts_used,
		.level = level,
		.recorded = call->id != 0,
	};
	if (!o->recorded)
		begin_in_pause(r, o, message);
	o->is_last = gt_range_note(message);
	return level;
}

/* Write the push of a range. Return true if the push is in the capture, or will be counted as
 * lost. */
static bool write_push(const struct open_range *o)
{
	struct gt_thread *t;

	/* Either the range began in a fork's parent, which records the push, or the pause of the
	 * push continues. */
	if (!o->id || atomic_load_explicit(&gt_pauses, memory_order_relaxed) == o->pauses)
		return o->recorded;
	t = get_recording(GT_ROCTX_roctxRangePushA);
	if (!t || t->epoch != o->epoch)
		return false;
	write_call(t, &(struct late_call){.operation = GT_ROCTX_roctxRangePushA,
					  .at = o->start,
					  .id = o->id,
					  .returned = (uint64_t)(int64_t)o->level,
					  .has_argument = true,
					  .argument = (uintptr_t)o->message,
					  .message = o->message});
	return true;
}

static void write_pop(const struct open_range *o, int level)
{
	struct gt_thread *t = get_recording(GT_ROCTX_roctxRangePop);

	if (t && t->epoch == o->epoch)
		write_call(t, &(struct late_call){.operation = GT_ROCTX_roctxRangePop,
						  .at = gt_ticks(),
						  .id = gt_range_take_number(t),
						  .returned = (uint64_t)(int64_t)level});
}

int gt_roctx_wrap_roctxRangePop(const struct gt_call *call)
{
	int level = ((gt_roctx_roctxRangePop_fn *)call->tap->real)();
	struct open_ranges *r = mine;
	const struct open_range *o;

	if (gt_unlikely(!r || (!r->depth && !r->beyond)))
		return level;
	if (gt_unlikely(r->beyond)) {
		r->beyond--;
		return level;
	}
	o = &r->open[--r->depth];
	r->texts_used = o->texts_before;
	if (gt_unlikely(!o->recorded || !call->id) && write_push(o) && !call->id)
		write_pop(o, level);
	if (gt_unlikely(o->is_last))
		gt_range_window_end();
	return level;
}

/* Started ranges ------------------------------------------------------------------- */

/* Id of the started range whose stop ends the recording window; 0: none. */
static _Atomic uint64_t last_started;

uint64_t gt_roctx_wrap_roctxRangeStartA(const struct gt_call *call, const char *message)
{
	uint64_t range = ((gt_roctx_roctxRangeStartA_fn *)call->tap->real)(message),
		 at = call->id ? 0 : gt_ticks();
	struct gt_thread *t;

	if (gt_unlikely(gt_range_note(message)))
		atomic_store_explicit(&last_started, range, memory_order_relaxed);
	/* The recording window has just started. */
	if (gt_unlikely(!call->id && gt_tap_services(call->tap) & GT_SERVICE_STREAM)) {
		t = get_recording(GT_ROCTX_roctxRangeStartA);
		if (t)
			write_call(t, &(struct late_call){.operation = GT_ROCTX_roctxRangeStartA,
							  .at = at,
							  .id = gt_range_take_number(t),
							  .returned = range,
							  .has_argument = true,
							  .argument = (uintptr_t)message,
							  .message = message});
	}
	return range;
}

void gt_roctx_wrap_roctxRangeStop(const struct gt_call *call, uint64_t range)
{
	struct gt_thread *t = NULL;

	((gt_roctx_roctxRangeStop_fn *)call->tap->real)(range);
	if (gt_unlikely(!call->id))
		t = get_recording(GT_ROCTX_roctxRangeStop);
	if (gt_unlikely(t != NULL))
		write_call(t, &(struct late_call){.operation = GT_ROCTX_roctxRangeStop,
						  .at = gt_ticks(),
						  .id = gt_range_take_number(t),
						  .has_argument = true,
						  .argument = range});
	if (gt_unlikely(range &&
			range == atomic_load_explicit(&last_started, memory_order_relaxed)) &&
	    atomic_exchange_explicit(&last_started, 0, memory_order_relaxed) == range)
		gt_range_window_end();
}
