/* SPDX-License-Identifier: MIT */
/* See remote_unwind.h. */
#include "collector/remote_unwind.h"

#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "record/record.h"

enum {
	MADE_MOST = 64, /* maximum consecutive frames of code generated at run time */
	CODE_BYTES = 7, /* longest call instruction that is recognised */
	CALL_DIRECT = 0xe8,
	CALL_DIRECT_BYTES = 5,
};
/* maximum size of a frame whose size no rule gives */
static const uintptr_t GUESS_BYTES = 1 << 20, SCAN_BYTES = 16384;

struct walk {
	struct gt_remote_modules *modules;
	struct gt_remote_memory *memory;
	struct gt_remote_registers at;
	bool exact; /* true if pc was interrupted, false if pc is a return address */
};

enum next { NEXT_FRAME, NEXT_NONE, NEXT_LOST };

/* Guessing ---------------------------------------------------------------------------------- */

enum call { CALL_NONE, CALL_UNKNOWN, CALL_OF_FUNCTION };

/* Say if a call instruction ends at @pc, and if it calls @function; 0: any. */
static enum call find_call(struct gt_remote_modules *modules, uintptr_t pc, uintptr_t function)
{
	uint8_t code[CODE_BYTES];
	int32_t distance;

	if (!gt_remote_modules_code(modules, pc, code, sizeof code))
		return CALL_NONE;
	if (code[CODE_BYTES - CALL_DIRECT_BYTES] == CALL_DIRECT) {
		memcpy(&distance, code + CODE_BYTES - sizeof distance, sizeof distance);
		if (!function || pc + (uintptr_t)(intptr_t)distance == function)
			return CALL_OF_FUNCTION;
		/* a call through the linkage table, or of another function */
		return gt_remote_modules_function(modules, pc + (uintptr_t)(intptr_t)distance)
			       ? CALL_NONE
			       : CALL_UNKNOWN;
	}
	/* call *register, call *memory: ff /2 */
	for (unsigned bytes = 2; bytes <= CODE_BYTES; bytes++)
		if (code[CODE_BYTES - bytes] == 0xff &&
		    (code[CODE_BYTES - bytes + 1] >> 3 & 7) == 2)
			return CALL_UNKNOWN;
	return CALL_NONE;
}

static bool is_frame_pointer(uintptr_t bp, uintptr_t at)
{
	return bp <= 1 || (bp > at && bp - at < GUESS_BYTES && bp % 8 == 0);
}

/* Find the frame's return address on the stack. Set *at to its place. */
static bool scan(const struct walk *w, bool only_sure, uintptr_t *at)
{
	const uintptr_t function = gt_remote_modules_function(w->modules, w->at.pc - !w->exact);
	uintptr_t last = 0, word;

	if (!function)
		return false;
	for (uintptr_t p = w->at.sp & ~(uintptr_t)7; p < w->at.sp + SCAN_BYTES; p += 8) {
		enum call call;

		if (!gt_remote_word(w->memory, p, &word))
			return false;
		call = word > GT_REMOTE_PAGE && gt_remote_modules_find(w->modules, word)
			       ? find_call(w->modules, word, function)
			       : CALL_NONE;
		*at = p;
		if (call == CALL_OF_FUNCTION)
			return true;
		if (call == CALL_UNKNOWN && !only_sure && is_frame_pointer(last, p))
			return true;
		last = word;
	}
	return false;
}

/* Find the frame pointer of a function that has set it, from the return address above it.
 * @offset: distance from the frame pointer to the caller's frame. */
static bool guess_pointer(struct walk *w, int32_t offset)
{
	uintptr_t at;

	if (!scan(w, true, &at) && !scan(w, false, &at))
		return false;
	w->at.bp = at + sizeof at - (uintptr_t)(intptr_t)offset;
	w->at.has_bp = true;
	return true;
}

/* Step out of code that was interrupted and has no rule: an entry of a linkage table, whose rule is
 * an expression, has pushed nothing or one word. */
static bool step_by_call(struct walk *w)
{
	uintptr_t pc;

	for (unsigned i = 0; i < 3; i++) {
		if (!gt_remote_word(w->memory, w->at.sp + i * sizeof pc, &pc))
			return false;
		if (find_call(w->modules, pc, 0) == CALL_NONE)
			continue;
		w->at.sp += (i + 1) * sizeof pc;
		w->at.pc = pc;
		return true;
	}
	return false;
}

/* Steps ------------------------------------------------------------------------------------- */

/* Return true if frame pointers lead from @bp on to code of a module. */
static bool leads_to_code(const struct walk *w, uintptr_t bp)
{
	uintptr_t next, pc;

	for (int i = 0; i < MADE_MOST; i++) {
		if (!gt_remote_word(w->memory, bp, &next) ||
		    !gt_remote_word(w->memory, bp + sizeof next, &pc))
			return false;
		if (gt_remote_modules_find(w->modules, pc))
			return true;
		if (pc < GT_REMOTE_PAGE || next <= bp || next - bp > GUESS_BYTES)
			return false;
		bp = next;
	}
	return false;
}

static bool step_by_pointer(struct walk *w)
{
	const uintptr_t bp = w->at.bp;

	if (!w->at.has_bp || bp < w->at.sp || bp - w->at.sp > GUESS_BYTES || bp % 8 ||
	    !leads_to_code(w, bp))
		return false;
	w->at.sp = bp + 2 * sizeof bp;
	return gt_remote_word(w->memory, bp, &w->at.bp) &&
	       gt_remote_word(w->memory, bp + sizeof bp, &w->at.pc);
}

#if defined(__x86_64__)
static bool step_by_signal(struct walk *w)
{
	const uintptr_t registers = w->at.sp + offsetof(ucontext_t, uc_mcontext.gregs);

	w->exact = w->at.has_bp = true;
	return gt_remote_word(w->memory, registers + REG_RIP * sizeof registers, &w->at.pc) &&
	       gt_remote_word(w->memory, registers + REG_RSP * sizeof registers, &w->at.sp) &&
	       gt_remote_word(w->memory, registers + REG_RBP * sizeof registers, &w->at.bp);
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
	const uintptr_t offset = (uintptr_t)(intptr_t)rule->offset;
	uintptr_t frame;

	if ((rule->kind != GT_UNWIND_BY_SP || rule->saved == GT_UNWIND_AT_BP) && !w->at.has_bp &&
	    !guess_pointer(w, rule->kind == GT_UNWIND_BY_BP ? rule->offset : 16))
		return false;
	if (rule->kind == GT_UNWIND_BY_SP)
		frame = w->at.sp + offset;
	else if (rule->kind == GT_UNWIND_BY_BP)
		frame = w->at.bp + offset;
	else if (!gt_remote_word(w->memory, w->at.bp + offset, &frame))
		return false;
	if (frame <= w->at.sp || frame % 8 ||
	    !gt_remote_word(w->memory, frame - sizeof frame, &w->at.pc))
		return false;
	if (rule->saved) {
		if (!gt_remote_word(w->memory,
				    (rule->saved == GT_UNWIND_AT_FRAME ? frame : w->at.bp) +
					    (uintptr_t)(intptr_t)rule->saved_offset,
				    &w->at.bp))
			return false;
		w->at.has_bp = true;
	}
	w->at.sp = frame;
	return true;
}

static enum next step(struct walk *w)
{
	const struct gt_unwind_rule rule =
		*gt_remote_modules_rule(w->modules, w->at.pc - !w->exact, w->exact);
	const bool was_exact = w->exact;
	bool done;

	w->exact = false;
	switch (rule.kind) {
	case GT_UNWIND_LAST: return NEXT_NONE;
	case GT_UNWIND_SIGNAL: done = step_by_signal(w); break;
	case GT_UNWIND_UNKNOWN: done = (was_exact && step_by_call(w)) || step_by_pointer(w); break;
	default: done = step_by_rule(w, &rule); break;
	}
	if (!done)
		return NEXT_LOST;
	return w->at.pc ? NEXT_FRAME : NEXT_NONE;
}

unsigned gt_remote_unwind(struct gt_remote_modules *modules, struct gt_remote_memory *memory,
			  const struct gt_remote_registers *registers, uintptr_t *pcs,
			  unsigned *count)
{
	struct walk w = {.modules = modules, .memory = memory, .at = *registers, .exact = true};

	*count = 0;
	for (;;) {
		enum next next;

		if (*count == GT_REMOTE_FRAMES)
			return GT_FRAMES_CUT;
		/* an address inside the call instruction, so that its line and function are
		 * found */
		pcs[(*count)++] = w.at.pc - !w.exact;
		next = step(&w);
		if (next != NEXT_FRAME)
			return next == NEXT_NONE ? GT_FRAMES_WHOLE : GT_FRAMES_BROKEN;
	}
}
