/* SPDX-License-Identifier: MIT */
/* See unwind.h. Memory that is read as the stack:
 *
 *   the thread's own     between the stack pointer and the end of the stack, in place. The end is
 *                        read once from /proc/self/maps. Above the frames of a thread is the C
 *                        library's descriptor of the thread (pthread_self()); above the frames of
 *                        main() is the mapping's end
 *   any other            a piece copied with process_vm_readv() from the stack pointer on
 *
 * Each frame lies above the previous frame. A signal handler's frame may lead from another stack to
 * the thread's own. */
#include "core/unwind.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/own_maps.h"

enum {
	REGIONS_MOST = 4,
	MADE_MOST = 64, /* maximum consecutive frames of code generated at run time */
	LEAST_CODE = 4096,
};
/* Limit of the first thread's stack. The stack grows, and the kernel keeps this much space free of
 * mappings. */
static const uintptr_t MAIN_BYTES = 64 << 20;
/* Maximum distance between two frames that are linked only by a frame pointer. */
static const uintptr_t GUESS_BYTES = 1 << 20;

struct walk {
	struct gt_unwind_area *area;
	uintptr_t pc, sp, bp;
	/* readable memory: `bytes` bytes from `low` on; the data is at address + `moved` */
	uintptr_t low, bytes, moved;
	/* frame pointers up to this address are known to lead to the code of a module */
	uintptr_t led;
	unsigned regions;
	bool exact; /* true if pc was interrupted, false if pc is a return address */
};

/* End of the thread's stack ----------------------------------------------------------------- */

static __attribute__((noinline, cold)) void find_stack(struct gt_unwind_area *area, uintptr_t sp)
{
	const uintptr_t self = (uintptr_t)pthread_self();
	struct gt_own_map map;
	char name[sizeof "[stack]"];

	area->looked = true;
	if (!gt_own_map_find(sp, &map, name, sizeof name))
		return;
	if (!strcmp(name, "[stack]")) {
		area->high = map.high;
		area->low = map.high - MAIN_BYTES < map.low ? map.high - MAIN_BYTES : map.low;
	} else if (self > sp && self <= map.high) {
		area->high = self;
		area->low = map.low;
	}
	/* otherwise sp is in a coroutine's stack; a later call, outside the coroutine, finds the
	 * thread's own */
	area->looked = area->high != 0;
}

/* Reading ----------------------------------------------------------------------------------- */

static uintptr_t copy_piece(struct walk *w)
{
	struct iovec to = {w->area->copy, GT_UNWIND_COPY}, from = {(void *)w->sp, GT_UNWIND_COPY};
	long n = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1UL, &from, 1UL, 0UL);

	if (n > 0)
		return (uintptr_t)n;
	/* the stack ends before GT_UNWIND_COPY bytes, so a read of several pages returns one page,
	 * or nothing */
	for (size_t bytes = 4096 - (w->sp & 4095); bytes <= GT_UNWIND_COPY; bytes += 4096) {
		long more;

		to.iov_len = from.iov_len = bytes;
		more = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1UL, &from, 1UL,
			       0UL);
		if (more <= 0)
			break;
		n = more;
	}
	return n > 0 ? (uintptr_t)n : 0;
}

/* Enter another stack: make the memory at the stack pointer readable. Return false on failure, or
 * after REGIONS_MOST stacks. */
static bool enter_region(struct walk *w)
{
	const struct gt_unwind_area *area = w->area;

	if (w->regions++ == REGIONS_MOST)
		return false;
	w->low = w->sp;
	w->moved = w->led = 0;
	if (w->sp >= area->low && w->sp < area->high) {
		w->bytes = area->high - w->sp;
		return true;
	}
	w->bytes = copy_piece(w);
	w->moved = (uintptr_t)area->copy - w->low;
	return w->bytes != 0;
}

/* Read a word, hidden from sanitizers, which would report reads of other frames' variables. */
static inline uint64_t load_word(uintptr_t at)
{
	uint64_t word;

#if defined(__x86_64__)
	__asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(at) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("ldr %0, [%1]" : "=r"(word) : "r"(at) : "memory");
#else
	memcpy(&word, (const void *)at, sizeof word);
#endif
	return word;
}

static inline bool load(const struct walk *w, uintptr_t at, uintptr_t *word)
{
	if (at - w->low >= w->bytes || w->bytes - (at - w->low) < sizeof *word || at % 8)
		return false;
	*word = load_word(at + w->moved);
	return true;
}

/* Steps ------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void make_rule(const struct walk *w, uintptr_t pc,
						struct gt_unwind_rule *slot)
{
	struct gt_unwind_object object;

	if (!gt_unwind_find_object(pc, &object)) {
		/* do not cache: the address may contain different generated code the next time */
		*slot = (struct gt_unwind_rule){0};
		return;
	}
	gt_unwind_find_rule(&object, pc, slot);
	/* a function that is returned to but was never called, such as a coroutine's first
	 * function */
	if (slot->kind == GT_UNWIND_UNKNOWN && !w->exact) {
		gt_unwind_find_rule(&object, pc + 1, slot);
		slot->pc = pc;
	}
}

static inline const struct gt_unwind_rule *get_rule(const struct walk *w)
{
	/* look up the call instruction itself, because it may be the last instruction of a function
	 * that does not return */
	const uintptr_t pc = w->pc - !w->exact;
	struct gt_unwind_rule *slot = &w->area->rules[(pc ^ pc >> 9 ^ pc >> 18) % GT_UNWIND_RULES];

	if (__builtin_expect(slot->pc != pc, 0))
		make_rule(w, pc, slot);
	return slot;
}

/* Return true if frame pointers lead from @bp on, through unknown code, to code of a module. Code
 * from a JIT compiler may be called by other code from the JIT compiler. A word that is not a frame
 * pointer can lead anywhere, but seldom leads to code. */
static bool leads_to_code(struct walk *w, uintptr_t bp)
{
	struct gt_unwind_object object;
	uintptr_t next, pc;

	for (int i = 0; i < MADE_MOST; i++) {
		if (!load(w, bp, &next) || !load(w, bp + sizeof next, &pc) || pc < LEAST_CODE ||
		    pc - w->low < w->bytes)
			return false;
		if (gt_unwind_find_object(pc, &object)) {
			w->led = bp;
			return true;
		}
		if (next <= bp || next - bp > GUESS_BYTES)
			return false;
		bp = next;
	}
	return false;
}

/* Step using the frame pointer. On all known machines, a frame starts with the caller's frame
 * pointer and the return address. */
static bool step_by_pointer(struct walk *w)
{
	uintptr_t bp, pc, sp = w->bp + 2 * sizeof(uintptr_t);

	if (w->bp < w->sp || sp - w->sp > GUESS_BYTES || !load(w, w->bp, &bp) ||
	    !load(w, w->bp + sizeof bp, &pc))
		return false;
	/* known code may use the frame pointer register for anything */
	if (w->bp > w->led && !leads_to_code(w, w->bp))
		return false;
	w->sp = sp;
	w->bp = bp;
	w->pc = pc;
	return true;
}

#if defined(__x86_64__)
/* Step out of a signal handler: the kernel's frame contains the interrupted registers. */
static bool step_by_signal(struct walk *w)
{
	const uintptr_t registers = w->sp + offsetof(ucontext_t, uc_mcontext.gregs);
	uintptr_t pc, sp, bp;

	if (!load(w, registers + REG_RIP * sizeof pc, &pc) ||
	    !load(w, registers + REG_RSP * sizeof sp, &sp) ||
	    !load(w, registers + REG_RBP * sizeof bp, &bp))
		return false;
	w->pc = pc;
	w->sp = sp;
	w->bp = bp;
	w->exact = true;
	return (sp - w->low < w->bytes && sp > registers) || enter_region(w);
}
#else
static bool step_by_signal(struct walk *w)
{
	(void)w;
	return false;
}
#endif

static bool step_by_rule(struct walk *w, const struct gt_unwind_rule *rule)
{
	uintptr_t frame, pc, bp = w->bp;

	if (rule->kind == GT_UNWIND_BY_SP)
		frame = w->sp + (uintptr_t)(intptr_t)rule->offset;
	else if (rule->kind == GT_UNWIND_BY_BP)
		frame = w->bp + (uintptr_t)(intptr_t)rule->offset;
	else if (!load(w, w->bp + (uintptr_t)(intptr_t)rule->offset, &frame))
		return false;
	if (frame <= w->sp || !load(w, frame - sizeof pc, &pc))
		return false;
	if (rule->saved && !load(w,
				 (rule->saved == GT_UNWIND_AT_FRAME ? frame : w->bp) +
					 (uintptr_t)(intptr_t)rule->saved_offset,
				 &bp))
		return false;
	w->sp = frame;
	w->bp = bp;
	w->pc = pc;
	return true;
}

enum next { NEXT_FRAME, NEXT_NONE, NEXT_LOST };

static enum next step(struct walk *w)
{
	const struct gt_unwind_rule *rule = get_rule(w);
	bool done;

	w->exact = false;
	switch (rule->kind) {
	case GT_UNWIND_LAST: return NEXT_NONE;
	case GT_UNWIND_SIGNAL: return step_by_signal(w) ? NEXT_FRAME : NEXT_LOST;
	case GT_UNWIND_UNKNOWN: done = step_by_pointer(w); break;
	default: done = step_by_rule(w, rule); break;
	}
	if (!done)
		return NEXT_LOST;
	return w->pc ? NEXT_FRAME : NEXT_NONE;
}

static inline void begin(struct walk *w)
{
#if defined(__x86_64__)
	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
			 : "=r"(w->pc), "=r"(w->sp), "=r"(w->bp));
	w->exact = true;
#else
	w->pc = (uintptr_t)__builtin_return_address(0);
	w->sp = w->bp = (uintptr_t)__builtin_frame_address(0);
	w->exact = false;
#endif
}

static enum gt_unwind_end walk_frames(struct walk *w, uintptr_t *pcs, unsigned *count)
{
	for (;;) {
		enum next next = step(w);

		if (next == NEXT_NONE)
			return GT_UNWIND_WHOLE;
		if (next == NEXT_LOST)
			return GT_UNWIND_BROKEN;
		if (*count == GT_UNWIND_MOST)
			return GT_UNWIND_CUT;
		/* an address inside the call instruction, so that its line and function are
		 * found */
		pcs[(*count)++] = w->pc - !w->exact;
	}
}

enum gt_unwind_end __attribute__((noinline))
gt_unwind(struct gt_unwind_area *area, uint32_t generation, uintptr_t *pcs, unsigned *count)
{
	struct walk w = {.area = area};
	enum gt_unwind_end end = GT_UNWIND_BROKEN;
	int saved = errno;

	*count = 0;
	begin(&w);
	if (__builtin_expect(!area->looked, 0))
		find_stack(area, w.sp);
	if (__builtin_expect(area->generation != generation, 0)) {
		memset(area->rules, 0, sizeof area->rules);
		area->generation = generation;
	}
	if (enter_region(&w))
		end = walk_frames(&w, pcs, count);
	errno = saved;
	return end;
}
