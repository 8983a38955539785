/* SPDX-License-Identifier: MIT */
/* Records the ranges that a framework or the program marks with gputap_range_begin() and
 * gputap_range_end().
 *
 * The open ranges of a thread are on a stack in separate memory, which the thread's first range
 * maps:
 *
 *   | depth | words_used | open[RANGES]: name, start, id, .. | words[WORDS]: shapes |
 *
 * A range takes a number from its thread when it begins, like a call. At its end, the range is
 * written as one record with the number of the last call that the thread has begun by then. A
 * reader thus finds the range's contents by numbers, not by times. A range is not an open call, so
 * calls of a runtime within a range count as made by the program (core/thread.h).
 *
 * Pauses of the program (gt_contexts_pause()): a range is recorded, from its start to its end,
 * unless it begins and ends in the same pause. Calls before and after a pause are therefore inside
 * such a range.
 *
 * Ranges and marks of NVTX belong to a separate domain (runtime/nvtx).
 * Locking: none, except for the first range of the process.
 * Never here: allocation beyond a thread's first range, formatting. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/external.h"
#include "core/range_window.h"
#include "core/recording.h"
#include "core/table.h"
#include "generated/ranges_taps.h"
#include "generated/ranges_wraps.h"
#include "runtime/attach_missing.h"
#include "runtime/module.h"
#include "runtime/range_ids.h"
#include "gputap/gputap.h"

enum { RANGES = 250, WORDS = 2048, NAME_MAX_BYTES = 1024, OPERATIONS = 6 };

struct torch_range {
	const char *name;
	uint64_t start, id; /* id is 0 if not recorded */
	uint64_t key;
	int64_t sequence;
	uint32_t epoch;  /* epoch of the process in which the range began */
	uint32_t pauses; /* gt_pauses of the pause in which the range began, or 0 */
	uint16_t words;
	uint8_t op;   /* number of the range's operation, from its kind */
	bool has_key; /* true if gputap_range_begin() began the range */
	bool pushed;  /* true if vendors' plug-ins were notified */
	bool is_last; /* true for the last range of the recording window (core/range_window.h) */
};

struct gt_torch_ranges {
	/* number of open ranges, including those beyond RANGES, which are not kept */
	uint32_t depth;
	uint32_t words_used;
	struct torch_range open[RANGES];
	int64_t words[WORDS];
};

static const uint8_t operation_of_kind[] = {
	[GPUTAP_RANGE_USER] = GT_RANGES_range_user,
	[GPUTAP_RANGE_OPERATOR] = GT_RANGES_range_operator,
	[GPUTAP_RANGE_BACKWARD] = GT_RANGES_range_backward,
};
static_assert((int)GT_RANGES_INDEX_range_operator == GT_RANGES_range_operator &&
		      (int)GT_RANGES_INDEX_range_backward == GT_RANGES_range_backward &&
		      (int)GT_RANGES_INDEX_range_user == GT_RANGES_range_user,
	      "the index of a tap is its operation's number");
static_assert((int)GT_RANGES_INDEX_COUNT == (int)OPERATIONS, "one tap each");

/* Real function of each tap of the table. A tap needs one, but none of these taps calls it. */
static uint64_t nothing(const char *name, int64_t sequence, const int64_t *shapes, uint32_t words)
{
	(void)name, (void)sequence, (void)shapes, (void)words;
	return 0;
}

static void register_table(void)
{
	static const void *real[OPERATIONS];
	static void *taps[OPERATIONS];

	for (int i = 0; i < OPERATIONS; i++)
		real[i] = (const void *)(uintptr_t)nothing;
	gt_table_register(&gt_ranges_tables[0], real, sizeof real, taps);
}

static bool is_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!gt_recording.session)
		return false;
	pthread_once(&once, register_table);
	return true;
}

static void release_ranges(struct gt_thread *t)
{
	if (t->ranges)
		munmap(t->ranges, sizeof *t->ranges);
	t->ranges = NULL;
}

static __attribute__((cold, noinline)) struct gt_torch_ranges *map_ranges(struct gt_thread *t)
{
	int saved = errno;
	struct gt_torch_ranges *r;

	if (!is_ready())
		return NULL;
	r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (r == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&gt_thread_hooks.ends[GT_THREAD_END_RANGES], release_ranges,
			      memory_order_release);
	return t->ranges = r;
}

/* Begin a range in a pause. The range takes its number now, so that calls after the pause are
 * inside it, and is counted when it is written. */
static __attribute__((cold, noinline)) void begin_in_pause(struct torch_range *o)
{
	uint32_t pauses = atomic_load_explicit(&gt_pauses, memory_order_relaxed);
	struct gt_thread *t;

	if (!(pauses & 1) || !gt_session_asks(GT_OP(GT_DOMAIN_RANGES, o->op, 4)))
		return;
	t = gt_thread_get();
	if (!t)
		return;
	o->pauses = pauses;
	o->epoch = t->epoch;
	o->id = gt_range_take_number(t);
	o->start = gt_ticks();
}

/* Return false if the options are invalid or request a feature that this version does not have. */
static bool are_options_valid(const struct gputap_range_opts *o)
{
	if (o->size < sizeof *o || o->kind >= sizeof operation_of_kind || o->reserved ||
	    (o->shape_count && !o->shapes))
		return false;
	for (size_t i = sizeof *o; i < o->size; i++)
		if (((const char *)o)[i])
			return false;
	return true;
}

/* Begin a range. @opts must be valid. */
static inline __attribute__((always_inline)) int begin_range(const char *name, bool has_key,
							     uint64_t key,
							     const struct gputap_range_opts *opts)
{
	uint8_t op = operation_of_kind[opts->kind];
	uint32_t words = opts->shape_count;
	struct gt_thread *t = &gt_thread;
	struct gt_torch_ranges *r = t->ranges;
	struct torch_range *o;

	if (gt_unlikely(!r)) {
		r = map_ranges(t);
		if (!r)
			return gt_recording.session ? -ENOMEM : -ENOTCONN;
	}
	if (gt_unlikely(r->depth >= RANGES)) {
		r->depth++;
		return -ENOSPC;
	}
	o = &r->open[r->depth];
	o->name = name;
	o->key = key;
	o->has_key = has_key;
	o->sequence = opts->has_sequence ? opts->sequence : -1;
	o->op = op;
	o->pushed = false;
	o->is_last = gt_range_note(name);
	o->words = 0;
	o->id = 0;
	o->pauses = 0;
	if (gt_unlikely(words) && words <= WORDS - r->words_used) {
		memcpy(r->words + r->words_used, opts->shapes, words * sizeof *opts->shapes);
		o->words = (uint16_t)words;
		r->words_used += words;
	}
	r->depth++;
	if (gt_likely(gt_tap_services(&gt_ranges_taps[0][op]) & GT_SERVICE_STREAM)) {
		t = gt_thread_get();
		if (gt_likely(t != NULL)) {
			o->epoch = t->epoch;
			o->id = gt_range_take_id(t, GT_DOMAIN_RANGES, op);
			gt_range_fetch_ring(t);
			if (gt_unlikely(atomic_load_explicit(&gt_push_hooks.push,
							     memory_order_relaxed) != NULL)) {
				o->pushed = true;
				gt_push_notify(GT_PUSHED_RANGE, o->id);
			}
			o->start = gt_ticks();
		}
	} else {
		begin_in_pause(o);
	}
	return 0;
}

int gputap_range_begin(const char *name, uint64_t key, const struct gputap_range_opts *opts)
{
	static const struct gputap_range_opts defaults = {.size = sizeof defaults};

	if (gt_unlikely(!name || (opts && !are_options_valid(opts))))
		return -EINVAL;
	return begin_range(name, true, key, opts ? opts : &defaults);
}

int gputap_range_push(const char *name)
{
	if (gt_unlikely(!name))
		return -EINVAL;
	return begin_range(name, false, 0,
			   &(const struct gputap_range_opts){.kind = GPUTAP_RANGE_USER});
}

static void write_range(struct gt_thread *t, const struct gt_torch_ranges *r,
			const struct torch_range *o, uint64_t end)
{
	const struct gt_blob name = {o->name, 0, strnlen(o->name, NAME_MAX_BYTES)};
	size_t name_bytes = sizeof(struct gt_payload) + ((name.bytes + 7) & ~UINT64_C(7)),
	       bytes = sizeof(struct gt_record_call) + 4 * sizeof(uint64_t) + name_bytes +
		       (o->words ? sizeof(struct gt_payload) + o->words * 8u : 0);
	struct gt_record_call *w = gt_ring_reserve(t, bytes, GT_CLASS_CALL, GT_DOMAIN_RANGES);
	uint64_t head = bytes / 8 | (uint64_t)GT_RECORD_CALL << 16 |
			(uint64_t)GT_OP(GT_DOMAIN_RANGES, o->op, 4) << 32;
	uint64_t *p;

	if (gt_unlikely(!w))
		return;
	memcpy(&w->head, &head, sizeof head);
	w->start = o->start;
	w->end = end;
	w->id = o->id;
	w->ret = t->next_id - 1; /* number of the last call that has begun */
	w->args[0] = (uintptr_t)o->name;
	w->args[1] = (uint64_t)o->sequence;
	w->args[2] = o->words ? (uintptr_t)(r->words + r->words_used) : 0;
	w->args[3] = o->words;
	p = w->args + 4;
	gt_value_put(p, 0, name.data, name.bytes);
	if (gt_unlikely(o->words))
		gt_value_put(p + name_bytes / 8, 2, r->words + r->words_used - o->words,
			     o->words * 8u);
	gt_ring_commit(t, bytes);
}

/* Count a range that began in a pause as seen, unless that pause has not ended. */
static bool count_late(struct gt_thread *t, const struct torch_range *o)
{
	if (atomic_load_explicit(&gt_pauses, memory_order_relaxed) == o->pauses)
		return false;
	gt_count(&t->slot->domains[GT_DOMAIN_RANGES].seen[GT_CLASS_CALL]);
	return true;
}

/* End the innermost range. */
static inline void end_range(struct gt_torch_ranges *r)
{
	const struct torch_range *o = &r->open[r->depth - 1];
	uint64_t end = o->id ? gt_ticks() : 0;
	struct gt_thread *t = o->id ? gt_thread_get() : NULL;

	if (gt_unlikely(o->pushed))
		gt_pop_notify(GT_PUSHED_RANGE);
	/* the range began in the parent of a fork, which records it */
	if (gt_likely(t && t->epoch == o->epoch && (!o->pauses || count_late(t, o))))
		write_range(t, r, o, end);
	r->words_used -= o->words;
	r->depth--;
	if (gt_unlikely(o->is_last))
		gt_range_window_end();
}

static bool is_match(const struct torch_range *o, bool has_key, uint64_t key)
{
	return o->has_key == has_key && o->key == key;
}

static __attribute__((cold, noinline)) int end_outer(struct gt_torch_ranges *r, bool has_key,
						     uint64_t key)
{
	uint32_t depth = r->depth;

	while (depth && !is_match(&r->open[depth - 1], has_key, key))
		depth--;
	if (!depth)
		return -ENODATA;
	while (r->depth >= depth)
		end_range(r);
	return 0;
}

/* End the innermost range with @key, or without a key if @has_key is false. */
static inline __attribute__((always_inline)) int end_match(bool has_key, uint64_t key)
{
	struct gt_torch_ranges *r = gt_thread.ranges;

	if (gt_unlikely(!r || !r->depth))
		return gt_recording.session ? -ENODATA : -ENOTCONN;
	if (gt_unlikely(r->depth > RANGES)) {
		r->depth--;
		return 0;
	}
	if (gt_unlikely(!is_match(&r->open[r->depth - 1], has_key, key)))
		return end_outer(r, has_key, key);
	end_range(r);
	return 0;
}

int gputap_range_end(uint64_t key)
{
	return end_match(true, key);
}

int gputap_range_pop(void)
{
	return end_match(false, 0);
}

int gputap_range_source(const void *function, uint32_t version)
{
	void (*prepare)(void) = atomic_load(&gt_push_hooks.prepare);

	if (!is_ready() || !gt_recording_is_run())
		return -ENOTCONN;
	if (prepare)
		prepare();
	if (function)
		gt_runtime_module_of(GT_DOMAIN_RANGES, function, "observer", version);
	return 0;
}

int gputap_attach_missing(const char *why)
{
	if (!why)
		return -EINVAL;
	if (!is_ready() || !gt_recording_is_run())
		return -ENOTCONN;
	gt_event_write(gt_thread_own(), GT_EVENT_TOOL, GT_DOMAIN_RANGES, 0, why);
	return 0;
}
