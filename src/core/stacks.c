/* SPDX-License-Identifier: MIT */
/* See stacks.h. */
#include "core/stacks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "core/emit.h"
#include "core/stack_choice.h"
#include "core/unwind.h"

enum { PROBES = 64, STACKS = GT_STACKS_MOST };

/* Hashes are odd. UNWRITTEN(hash) marks a stack that has a number but could not be written for lack
 * of room. */
#define UNWRITTEN(hash) ((hash) & ~UINT64_C(1))

/* Buffers of a thread. */
struct area {
	/* stack position of the function that uses the area; 0: none. A jump out of a signal
	 * handler may have abandoned the area */
	uintptr_t user;
	uintptr_t pcs[GT_UNWIND_MOST];
	struct gt_python_frame python[GT_PYTHON_MOST];
	struct gt_unwind_area unwind;
};

static _Thread_local struct area *thread_area __attribute__((tls_model("initial-exec")));

static void release_area(struct gt_thread *t)
{
	struct area *area = thread_area;

	(void)t;
	thread_area = NULL;
	if (area)
		munmap(area, sizeof *area);
}

static struct area *make_area(void)
{
	int saved = errno;
	void *p = mmap(NULL, sizeof(struct area), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	atomic_store_explicit(&gt_thread_hooks.ends[GT_THREAD_END_STACKS], release_area,
			      memory_order_release);
	thread_area = p == MAP_FAILED ? NULL : p;
	return thread_area;
}

/* Find or assign the number of @hash. Set *is_new if the stack must be written. Return 0 if the
 * table is full. */
static uint32_t find_number(uint64_t hash, bool *is_new)
{
	uint32_t at = (uint32_t)(hash >> (64 - GT_STACKS_BITS));

	*is_new = false;
	for (unsigned i = 0; i < PROBES; i++, at = (at + 1) % STACKS) {
		uint64_t there =
			atomic_load_explicit(&gt_stacks.shared->hashes[at], memory_order_relaxed);

		if ((!there || there == UNWRITTEN(hash)) &&
		    atomic_compare_exchange_strong_explicit(&gt_stacks.shared->hashes[at], &there,
							    hash, memory_order_relaxed,
							    memory_order_relaxed)) {
			*is_new = true;
			return at + 1;
		}
		if (there == hash)
			return at + 1;
	}
	return 0;
}

/* The parts of a stack from which its hash is computed. */
struct stack {
	const uintptr_t *pcs;
	unsigned count;
	const struct gt_python_frame *python;
	unsigned python_count;
	enum gt_unwind_end end;
	uint32_t generation;
};

static bool write_frames(struct gt_thread *t, uint32_t number, const struct stack *s)
{
	const size_t size =
		sizeof(struct gt_record_frames) + (s->count + s->python_count) * sizeof(uint64_t);
	uint64_t python[GT_PYTHON_MOST];
	struct gt_record_frames *f;
	enum gt_drop_reason why;

	/* first, because this function writes records */
	for (unsigned i = 0; i < s->python_count; i++)
		python[i] = GT_PYTHON_FRAME(gt_python_number(&gt_stacks.shared->codes, t,
							     &s->python[i]),
					    s->python[i].offset, s->python[i].is_entry);
	f = gt_ring_try(t, size, &why);
	if (!f)
		return false;
	f->head = (struct gt_record){(uint16_t)(size / 8), GT_RECORD_FRAMES,
				     s->end == GT_UNWIND_WHOLE ? GT_FRAMES_WHOLE
				     : s->end == GT_UNWIND_CUT ? GT_FRAMES_CUT
							       : GT_FRAMES_BROKEN,
				     number};
	f->generation = s->generation;
	f->native = (uint16_t)s->count;
	f->python = (uint16_t)s->python_count;
	for (unsigned i = 0; i < s->count; i++)
		f->frames[i] = s->pcs[i];
	memcpy(f->frames + s->count, python, s->python_count * sizeof *python);
	gt_ring_commit(t, size);
	return true;
}

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
	return ((hash << 7 | hash >> 57) ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t hash_stack(const struct stack *s)
{
	uint64_t hash = mix(s->generation, (uint64_t)s->end);

	for (unsigned i = 0; i < s->count; i++)
		hash = mix(hash, s->pcs[i]);
	for (unsigned i = 0; i < s->python_count; i++) {
		hash = mix(hash, s->python[i].code ^ s->python[i].identity);
		hash = mix(hash, s->python[i].offset);
	}
	hash ^= hash >> 29;
	hash *= UINT64_C(0xbf58476d1ce4e5b9);
	return hash | 1;
}

static __attribute__((noinline, cold)) void say_full(struct gt_thread *t)
{
	if (!atomic_exchange(&gt_stacks.shared->is_full, 1))
		gt_event_write(t, GT_EVENT_STACKS, GT_DOMAIN_NONE, STACKS,
			       "too many different stacks: further new stacks are not recorded");
}

/* Return the stack's number; 0: none. Write the stack to this process's records first if needed. */
static uint32_t number_stack(struct gt_thread *t, const struct stack *s, bool *has_met_python)
{
	const uint64_t hash = hash_stack(s);
	uint32_t number;
	bool is_new;

	number = find_number(hash, &is_new);
	if (gt_unlikely(!number))
		say_full(t);
	if (gt_likely(!is_new))
		return number;
	*has_met_python =
		gt_stack_code_note(&gt_stacks.shared->modules, t, s->generation, s->pcs, s->count);
	if (!*has_met_python && write_frames(t, number, s))
		return number;
	/* The next equal stack retries with the same number, because another thread may have used
	 * the number already. */
	atomic_store_explicit(&gt_stacks.shared->hashes[number - 1], UNWRITTEN(hash),
			      memory_order_relaxed);
	return 0;
}

static uint32_t take_stack(struct gt_thread *t, struct area *area)
{
	struct stack s = {.pcs = area->pcs, .python = area->python};
	bool has_met_python = false;
	uint32_t number;

	s.generation = atomic_load_explicit(&gputap_attach_unloads.count, memory_order_relaxed);
	s.end = gt_unwind(&area->unwind, s.generation, area->pcs, &s.count);
	while (s.count && *s.pcs >= gt_stacks.own.start && *s.pcs < gt_stacks.own.end) {
		s.pcs++;
		s.count--;
	}
	s.python_count = gt_python_walk(area->python);
	number = number_stack(t, &s, &has_met_python);
	if (gt_unlikely(has_met_python)) {
		s.python_count = gt_python_walk(area->python);
		number = number_stack(t, &s, &has_met_python);
	}
	return number;
}

void gt_stacks_write(struct gt_thread *t, uint32_t op, uint64_t id, uint32_t number)
{
	struct gt_record_stack *s;
	enum gt_drop_reason why;

	s = gt_ring_try(t, sizeof *s, &why);
	if (!s)
		return;
	s->head = (struct gt_record){sizeof *s / 8, GT_RECORD_STACK, 0,
				     GT_OP(GT_OP_DOMAIN(op), GT_OP_NUMBER(op), 0)};
	s->id = id;
	s->number = number;
	gt_ring_commit(t, sizeof *s);
}

/* @id: call to which the stack record refers; 0: the caller writes the record */
static uint32_t number_call(struct gt_thread *t, uint32_t op, uint64_t id)
{
	struct area *area = thread_area ? thread_area : make_area();
	/* If no call is open, open one: otherwise a jump out of a signal handler would go unnoticed
	 * and leave the thread in the middle of a record (core/thread.c). */
	const bool is_open = t->depth != 0;
	uint32_t number;

	if (gt_unlikely(!area || area->user > GT_HERE() || !gt_stacks.shared))
		return 0;
	area->user = GT_HERE();
	if (!is_open)
		gt_call_open(t);
	/* orders memory accesses with respect to this thread's signal handlers */
	__asm__ volatile("" ::: "memory");
	number = take_stack(t, area);
	if (number && id)
		gt_stacks_write(t, op, id, number);
	__asm__ volatile("" ::: "memory");
	if (!is_open)
		t->depth = 0;
	area->user = 0;
	return number;
}

void gt_stacks_take(struct gt_thread *t, uint32_t op, uint64_t id)
{
	number_call(t, op, id);
}

uint32_t gt_stacks_number(struct gt_thread *t)
{
	return number_call(t, 0, 0);
}

/* Return the id that this thread's next call will get; 0: the call is not recorded. */
static uint64_t next_call(struct gt_thread **t, enum gt_domain domain)
{
	*t = gt_domain_traits[domain].outermost ? gt_thread_api() : gt_thread_call(domain);
	return *t ? (*t)->next_id : 0;
}

void gt_stacks_enter(struct gt_stacks_call *call, const struct gt_table *table, uint32_t op,
		     uint32_t services)
{
	struct gt_thread *t;

	call->start_ns = 0;
	call->id = next_call(&t, table->domain);
	if (!call->id)
		return;
	if (services & GT_SERVICE_STACK)
		gt_stacks_take(t, op, call->id);
	else if (services & GT_SERVICE_SLOW)
		call->start_ns = gt_ticks_boottime();
}

void gt_stacks_leave(const struct gt_stacks_call *call, uint32_t op)
{
	struct gt_thread *t;

	if (!call->start_ns || !gt_stacks_is_slow(gt_ticks_boottime() - call->start_ns))
		return;
	t = gt_thread_own();
	/* the ids differ in the child of a fork, or if the call was not recorded after all */
	if (t && GT_ID_ORDINAL(call->id) == GT_ID_ORDINAL(t->next_id) && call->id < t->next_id)
		gt_stacks_take(t, op, call->id);
}
