/* SPDX-License-Identifier: MIT */
/* Records NVTX ranges and marks.
 *
 * The open ranges of a thread are on a stack in separate memory, which the thread's first push
 * maps:
 *
 *   | depth, texts_used | open[RANGES]: domain, message, .. | texts: messages, payloads |
 *
 * NVTX has a stack for each domain in each thread. gputap keeps a single stack per thread: a pop
 * ends the innermost range of its domain. If that range is not on top, its entry stays until the
 * ranges above it have ended. The range is then recorded as a started and ended range, because
 * pushed ranges of a thread nest.
 *
 * As with torch's ranges (runtime/torch/torch_ranges.c), a range takes a number from its thread
 * when it begins. At its end, the range is written as one record with the number of the last call
 * that the thread has begun by then. A range that begins and ends within a pause of the program is
 * not recorded; a range that begins or ends outside of the pause is recorded. Starts, ends and
 * marks become records immediately. A start in a pause is not recorded; an end in a pause is
 * recorded.
 * Locking: none, except for the first range of the process. */
#include "runtime/nvtx/nvtx_ranges.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/external.h"
#include "core/range_window.h"
#include "core/recording.h"
#include "core/table.h"
#include "generated/nvtx_taps.h"
#include "generated/nvtx_wraps.h"
#include "record/shared_text.h"
#include "runtime/nvtx/nvtx_text.h"
#include "runtime/range_ids.h"

enum { RANGES = 250, TEXTS_BYTES = 65536, OPERATIONS = 10 };
enum { SHARED_BYTES = 24 }; /* shorter texts are stored in each record */
enum {
	ARGUMENTS = 6,
	ARG_MESSAGE = 0,
	ARG_DOMAIN,
	ARG_CATEGORY,
	ARG_CATEGORY_NAME,
	ARG_COLOR,
	ARG_PAYLOAD
};

struct open_range {
	/* the domain, message and payload of the range; their texts are in `texts` or interned */
	struct gt_nvtx_said said;
	uint64_t start, id;    /* id is 0 if not recorded */
	uint32_t epoch;        /* epoch of the process in which the range began */
	uint32_t pauses;       /* gt_pauses of the pause in which the range began, or 0 */
	uint32_t texts_before; /* value of texts_used before the range */
	uint32_t level;        /* number of enclosing ranges in the range's domain */
	bool ended;            /* true if ended before the ranges above */
	bool pushed;           /* true if vendors' plug-ins were notified */
	/* true for the last range of the recording window (core/range_window.h) */
	bool is_last;
};

struct open_ranges {
	uint32_t depth; /* number of entries in `open` */
	/* number of ranges that were pushed while `open` was full, and are not kept */
	uint32_t beyond;
	uint32_t texts_used;
	struct open_range open[RANGES];
	char texts[TEXTS_BYTES];
};

static_assert((int)GT_NVTX_INDEX_COUNT == (int)OPERATIONS, "each operation has one tap");

static _Thread_local struct open_ranges *mine __attribute__((tls_model("initial-exec")));

/* Real function of each tap of the table. A tap needs one, but none of these taps calls it. */
static uint64_t nothing(void)
{
	return 0;
}

static void register_table(void)
{
	static const void *real[OPERATIONS];
	static void *taps[OPERATIONS];

	for (int i = 0; i < OPERATIONS; i++)
		real[i] = (const void *)(uintptr_t)nothing;
	gt_table_register(&gt_nvtx_tables[0], real, sizeof real, taps);
}

bool gt_nvtx_is_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!gt_recording.session)
		return false;
	pthread_once(&once, register_table);
	return true;
}

static void release_ranges(struct gt_thread *t)
{
	(void)t;
	if (mine)
		munmap(mine, sizeof *mine);
	mine = NULL;
}

/* Map memory for this thread's ranges. Return NULL on failure. A thread that records nothing gets
 * no memory, because the memory would never be freed. */
static __attribute__((cold, noinline)) struct open_ranges *map_ranges(void)
{
	int saved = errno;
	struct open_ranges *r = MAP_FAILED;

	if (gt_nvtx_is_ready() && gt_thread_get())
		r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	errno = saved;
	if (r == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&gt_thread_hooks.ends[GT_THREAD_END_NVTX], release_ranges,
			      memory_order_release);
	return mine = r;
}

static bool is_recorded(uint32_t operation)
{
	return gt_tap_services(&gt_nvtx_taps[0][operation]) & GT_SERVICE_STREAM;
}

/* Records ---------------------------------------------------------------------- */

static size_t padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

struct call {
	uint32_t operation;
	uint64_t start, end, id, returned;
	uint64_t first; /* for operations without a range description, the argument */
};

/* Texts of a record, written as payloads of argument, address and length. */
struct texts {
	unsigned count;
	struct gt_blob list[ARGUMENTS];
	/* string numbers of interned texts, which are recorded only once */
	uint32_t numbers[ARGUMENTS];
};

static void add_text(struct texts *x, uint32_t arg, const char *text, size_t bytes)
{
	if (text)
		x->list[x->count++] = (struct gt_blob){text, arg, bytes};
}

/* Add an interned text: the characters of a short text, otherwise the text's number. */
static void add_kept(struct gt_thread *t, struct texts *x, unsigned arg, struct gt_range_text *kept,
		     size_t bytes)
{
	uint32_t number = bytes < SHARED_BYTES ? 0 : gt_range_text_number(t, kept);

	if (!number) {
		add_text(x, arg, kept->text, bytes);
		return;
	}
	x->numbers[arg] = number;
	add_text(x, arg | GT_PAYLOAD_SHARED << 16, (const char *)&x->numbers[arg], sizeof number);
}

static void write_record(struct gt_thread *t, const struct call *c, const uint64_t *args,
			 unsigned nargs, const struct texts *x)
{
	size_t bytes = sizeof(struct gt_record_call) + nargs * sizeof *args;
	struct gt_record_call *w;
	uint64_t head, *p;

	for (unsigned i = 0; i < x->count; i++)
		bytes += sizeof(struct gt_payload) + padded(x->list[i].bytes);
	head = bytes / 8 | (uint64_t)GT_RECORD_CALL << 16 |
	       (uint64_t)GT_OP(GT_DOMAIN_NVTX, c->operation, nargs) << 32;
	w = gt_ring_reserve(t, bytes, GT_CLASS_CALL, GT_DOMAIN_NVTX);
	if (!w)
		return;
	memcpy(&w->head, &head, sizeof head);
	w->start = c->start;
	w->end = c->end;
	w->id = c->id;
	w->ret = c->returned;
	memcpy(w->args, args, nargs * sizeof *args);
	p = w->args + nargs;
	for (unsigned i = 0; i < x->count; i++) {
		gt_value_put(p, x->list[i].arg, x->list[i].data, x->list[i].bytes);
		p += (sizeof(struct gt_payload) + padded(x->list[i].bytes)) / 8;
	}
	gt_ring_commit(t, bytes);
}

/* Write a range, the start of a range, or a mark. */
static void write_said(struct gt_thread *t, const struct call *c, const struct gt_nvtx_said *said)
{
	const char *message = said->message ? said->message : "(no name)",
		   *category = gt_nvtx_category_find(said->domain, said->category);
	struct texts x = {0};
	uint64_t args[ARGUMENTS] = {
		(uintptr_t)message, (uintptr_t)said->domain->name,
		said->category,     (uintptr_t)category,
		said->color,        (uintptr_t)said->payload,
	};

	if (said->message_kept)
		add_kept(t, &x, ARG_MESSAGE, said->message_kept, strlen(message));
	else
		add_text(&x, ARG_MESSAGE, message, strnlen(message, GT_NVTX_TEXT_BYTES));
	if (said->domain->name)
		add_text(&x, ARG_DOMAIN, said->domain->name, strlen(said->domain->name));
	if (category)
		add_text(&x, ARG_CATEGORY_NAME, category, strlen(category));
	if (said->payload_kept)
		add_kept(t, &x, ARG_PAYLOAD, said->payload_kept, said->payload_bytes);
	else
		add_text(&x, ARG_PAYLOAD, said->payload, said->payload_bytes);
	write_record(t, c, args, ARGUMENTS, &x);
}

/* Return the thread's state if a record must be written now, else NULL. */
static struct gt_thread *get_recording(uint32_t operation, bool in_pause)
{
	if (!gt_nvtx_is_ready())
		return NULL;
	if (!is_recorded(operation) &&
	    !(in_pause && gt_session_asks(GT_OP(GT_DOMAIN_NVTX, operation, ARGUMENTS)) &&
	      !atomic_load_explicit(&gt_recording.off, memory_order_relaxed)))
		return NULL;
	return gt_thread_get();
}

static struct call begin_point(struct gt_thread *t, uint32_t operation)
{
	uint64_t id = gt_range_take_id(t, GT_DOMAIN_NVTX, operation), now = gt_ticks();

	return (struct call){.operation = operation, .start = now, .end = now, .id = id};
}

/* Starts, ends and marks -------------------------------------------------------- */

static uint64_t next_number(void)
{
	static _Atomic uint64_t newest;

	return 1 + atomic_fetch_add_explicit(&newest, 1, memory_order_relaxed);
}

/* Id of the started range whose end is the end of the recording window (core/range_window.h), or
 * 0. */
static _Atomic uint64_t last_started;

uint64_t gt_nvtx_start(const struct gt_nvtx_said *said)
{
	uint64_t id = next_number();
	const bool is_last = gt_range_note(said->message);
	struct gt_thread *t = get_recording(GT_NVTX_nvtxRangeStart, false);

	if (gt_unlikely(is_last))
		atomic_store_explicit(&last_started, id, memory_order_relaxed);
	if (t) {
		struct call c = begin_point(t, GT_NVTX_nvtxRangeStart);

		c.returned = id;
		write_said(t, &c, said);
	}
	return id;
}

void gt_nvtx_end(uint64_t id, const struct gt_nvtx_said *said)
{
	struct gt_thread *t = get_recording(GT_NVTX_nvtxRangeEnd, true);
	const uint64_t args[2] = {id, said ? (uintptr_t)said->payload : 0};
	struct texts x = {0};
	struct call c;

	if (t) {
		c = begin_point(t, GT_NVTX_nvtxRangeEnd);
		if (said)
			add_text(&x, 1, said->payload, said->payload_bytes);
		write_record(t, &c, args, 2, &x);
	}
	if (gt_unlikely(id && id == atomic_load_explicit(&last_started, memory_order_relaxed)) &&
	    atomic_exchange_explicit(&last_started, 0, memory_order_relaxed) == id)
		gt_range_window_end();
}

void gt_nvtx_mark(const struct gt_nvtx_said *said)
{
	struct gt_thread *t = get_recording(GT_NVTX_nvtxMark, false);

	if (t) {
		struct call c = begin_point(t, GT_NVTX_nvtxMark);

		write_said(t, &c, said);
	}
}

/* Ranges of a thread ----------------------------------------------------------- */

/* Copy the program's text for the lifetime of the open range. If the room is insufficient, intern
 * the text. */
static const char *keep_text(struct open_ranges *r, const char *text, size_t bytes)
{
	char *at = r->texts + r->texts_used;
	const struct gt_range_text *kept;

	if (bytes >= TEXTS_BYTES - r->texts_used) {
		kept = gt_nvtx_keep(text);
		return kept ? kept->text : NULL;
	}
	memcpy(at, text, bytes);
	at[bytes] = '\0';
	r->texts_used += (uint32_t)bytes + 1;
	return at;
}

static uint32_t next_level(const struct open_ranges *r, const struct gt_nvtx_domain *domain)
{
	for (uint32_t i = r->depth; i-- > 0;)
		if (r->open[i].said.domain == domain && !r->open[i].ended)
			return r->open[i].level + 1;
	return 0;
}

/* Begin a range in a pause. The range takes its number now, so that calls after the pause are
 * inside it, and is counted when it is written. */
static __attribute__((cold, noinline)) void begin_in_pause(struct open_range *o)
{
	uint32_t pauses = atomic_load_explicit(&gt_pauses, memory_order_relaxed);
	struct gt_thread *t;

	if (!(pauses & 1) || !gt_session_asks(GT_OP(GT_DOMAIN_NVTX, GT_NVTX_nvtxRange, ARGUMENTS)))
		return;
	t = gt_thread_get();
	if (!t)
		return;
	o->pauses = pauses;
	o->epoch = t->epoch;
	o->id = gt_range_take_number(t);
	o->start = gt_ticks();
}

static void begin_recorded(struct open_range *o)
{
	struct gt_thread *t = gt_thread_get();

	if (!t)
		return;
	o->epoch = t->epoch;
	o->id = gt_range_take_id(t, GT_DOMAIN_NVTX, GT_NVTX_nvtxRange);
	gt_range_fetch_ring(t);
	if (gt_unlikely(atomic_load_explicit(&gt_push_hooks.push, memory_order_relaxed) != NULL)) {
		o->pushed = true;
		gt_push_notify(GT_PUSHED_RANGE, o->id);
	}
	o->start = gt_ticks();
}

int gt_nvtx_push(const struct gt_nvtx_said *said)
{
	struct open_ranges *r = mine ? mine : map_ranges();
	struct open_range *o;

	if (!r)
		return 0;
	if (r->depth >= RANGES)
		return (int)(RANGES + r->beyond++);
	o = &r->open[r->depth];
	*o = (struct open_range){
		.said = *said,
		.texts_before = r->texts_used,
		.level = next_level(r, said->domain),
		.is_last = gt_range_note(said->message),
	};
	if (said->message && !said->message_kept)
		o->said.message =
			keep_text(r, said->message, strnlen(said->message, GT_NVTX_TEXT_BYTES));
	if (said->payload && !said->payload_kept)
		o->said.payload = keep_text(r, said->payload, said->payload_bytes);
	r->depth++;
	if (gt_likely(is_recorded(GT_NVTX_nvtxRange)))
		begin_recorded(o);
	else
		begin_in_pause(o);
	return (int)o->level;
}

/* Count a range that began in a pause as seen, unless that pause has not ended. */
static bool count_late(struct gt_thread *t, const struct open_range *o)
{
	if (atomic_load_explicit(&gt_pauses, memory_order_relaxed) == o->pauses)
		return false;
	gt_count(&t->slot->domains[GT_DOMAIN_NVTX].seen[GT_CLASS_CALL]);
	return true;
}

static void write_whole(struct gt_thread *t, const struct open_range *o, uint64_t end)
{
	write_said(t,
		   &(struct call){.operation = GT_NVTX_nvtxRange,
				  .start = o->start,
				  .end = end,
				  .id = o->id,
				  .returned = t->next_id - 1}, /* the last call that has begun */
		   &o->said);
}

static void write_start_and_end(struct gt_thread *t, const struct open_range *o)
{
	uint64_t number = next_number();

	write_said(t,
		   &(struct call){.operation = GT_NVTX_nvtxRangeStart,
				  .start = o->start,
				  .end = o->start,
				  .id = o->id,
				  .returned = number},
		   &o->said);
	gt_nvtx_end(number, NULL);
}

static void end_range(struct open_range *o, bool on_top)
{
	uint64_t end = o->id ? gt_ticks() : 0;
	struct gt_thread *t = o->id ? gt_thread_get() : NULL;

	if (gt_unlikely(o->pushed))
		gt_pop_notify(GT_PUSHED_RANGE);
	/* the range began in the parent of a fork, which records it */
	if (gt_likely(t && t->epoch == o->epoch && (!o->pauses || count_late(t, o)))) {
		if (gt_likely(on_top))
			write_whole(t, o, end);
		else
			write_start_and_end(t, o);
	}
	o->ended = true;
	if (gt_unlikely(o->is_last))
		gt_range_window_end();
}

/* Add the data that the end of a range has in addition to the start. */
static void add_said(struct gt_nvtx_said *to, const struct gt_nvtx_said *more)
{
	if (more->message) {
		to->message = more->message;
		to->message_kept = more->message_kept;
	}
	if (more->payload) {
		to->payload = more->payload;
		to->payload_bytes = more->payload_bytes;
		to->payload_kept = more->payload_kept;
	}
}

int gt_nvtx_pop(struct gt_nvtx_domain *domain, const struct gt_nvtx_said *said)
{
	struct open_ranges *r = mine;
	uint32_t i = r ? r->depth : 0;
	struct open_range *o;

	if (r && r->beyond)
		return (int)(RANGES + --r->beyond);
	while (i && (r->open[i - 1].said.domain != domain || r->open[i - 1].ended))
		i--;
	if (!i)
		return -1;
	o = &r->open[i - 1];
	if (said)
		add_said(&o->said, said);
	end_range(o, i == r->depth);
	for (; r->depth && r->open[r->depth - 1].ended; r->depth--)
		r->texts_used = r->open[r->depth - 1].texts_before;
	return (int)o->level;
}

/* Locks -------------------------------------------------------------------------- */

void gt_nvtx_count_sync(uint32_t operation, uint64_t handle)
{
	struct gt_thread *t = get_recording(operation, false);

	if (t) {
		struct call c = begin_point(t, operation);

		write_record(t, &c, &handle, 1, &(struct texts){0});
	}
}

uint64_t gt_nvtx_sync_create(const char *name, struct gt_nvtx_domain *domain)
{
	static _Atomic uint64_t newest;
	uint64_t handle = 1 + atomic_fetch_add_explicit(&newest, 1, memory_order_relaxed);
	struct gt_thread *t = get_recording(GT_NVTX_nvtxDomainSyncUserCreate, false);
	const uint64_t args[2] = {(uintptr_t)name, (uintptr_t)domain->name};
	struct texts x = {0};
	struct call c;

	if (!t)
		return handle;
	c = begin_point(t, GT_NVTX_nvtxDomainSyncUserCreate);
	c.returned = handle;
	if (name)
		add_text(&x, 0, name, strnlen(name, GT_NVTX_TEXT_BYTES));
	if (domain->name)
		add_text(&x, 1, domain->name, strlen(domain->name));
	write_record(t, &c, args, 2, &x);
	return handle;
}
