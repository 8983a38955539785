/* SPDX-License-Identifier: MIT */
/* A thread's own call stack, without asking anybody: by the tables that compilers leave for
 * exceptions (.eh_frame), and where code has none by frame pointers.
 *
 *   pc ─► rule {where the caller's frame begins, where its rbp is} ─► return address ─► ..
 *          └─ of the thread's cache, else of the module's .eh_frame (unwind_tables.c)
 *
 * What is read: the tables of mapped modules, and the stack between its pointer and its end. Of a
 * stack that is not the thread's own (a coroutine's, a signal handler's) a copied piece is read,
 * which the kernel has made: no wrong pointer faults.
 * Locking: none; an area is its thread's. Never here: allocation, locks (but where the C library
 * is older than 2.35: dl_iterate_phdr()), errno changed; system calls only for a thread's first
 * stack and for stacks that are not its own. */
#ifndef GPUTAP_CORE_UNWIND_H
#define GPUTAP_CORE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum { GT_UNWIND_MOST = 128, GT_UNWIND_RULES = 512, GT_UNWIND_COPY = 16384 };

/* How to go on from a frame to its caller. */
enum gt_unwind_kind {
	GT_UNWIND_UNKNOWN = 0, /* the tables say nothing: by the frame pointer, if it leads */
	GT_UNWIND_BY_SP,       /* the caller's frame begins at rsp + offset */
	GT_UNWIND_BY_BP,       /* .. at rbp + offset */
	GT_UNWIND_BY_SLOT,     /* .. where the word at rbp + offset says */
	GT_UNWIND_SIGNAL,      /* the kernel called: a ucontext_t lies at rsp */
	GT_UNWIND_LAST,        /* nobody called */
};
enum gt_unwind_saved {
	GT_UNWIND_SAME = 0, /* rbp is still the caller's */
	GT_UNWIND_AT_FRAME, /* it lies at the caller's frame + offset */
	GT_UNWIND_AT_BP,    /* .. at rbp + offset */
};
struct gt_unwind_rule {
	uintptr_t pc;
	int32_t offset;
	int16_t saved_offset;
	uint8_t kind, saved;
};

/* A module of the process, as the dynamic linker has mapped it. */
struct gt_unwind_object {
	uintptr_t start, end; /* what is mapped of it */
	uintptr_t base;       /* what is added to the addresses of its file */
	const void *table;    /* .eh_frame_hdr; NULL: none */
	const char *path;     /* "" for the program itself */
	const void *dynamic;  /* its dynamic section; NULL: none */
};

/* Once, before the rest. */
void gt_unwind_init(void);

/* Return: false: @pc is in none. */
bool gt_unwind_find_object(uintptr_t pc, struct gt_unwind_object *object);

/* The rule at @pc by the tables of its object; UNKNOWN where they say nothing that is understood.
 */
void gt_unwind_find_rule(const struct gt_unwind_object *object, uintptr_t pc,
			 struct gt_unwind_rule *rule);

/* Of one thread; zeroed at first. */
struct gt_unwind_area {
	uintptr_t low, high; /* of the thread's own stack; 0: not known yet */
	bool looked;
	uint32_t generation; /* of what `rules` hold */
	struct gt_unwind_rule rules[GT_UNWIND_RULES];
	uint8_t copy[GT_UNWIND_COPY];
};

enum gt_unwind_end {
	GT_UNWIND_WHOLE = 0, /* to its first function */
	GT_UNWIND_CUT,       /* GT_UNWIND_MOST frames, and there are more */
	GT_UNWIND_BROKEN,    /* neither tables nor frame pointers lead on */
};

/**
 * gt_unwind() - the calling thread's return addresses, innermost first
 * @area:       the thread's
 * @generation: a number that changes when a module has been unmapped
 * @pcs:        receives at most GT_UNWIND_MOST. From the caller of this function on
 * @count:      receives how many
 * Return: why it ends.
 */
enum gt_unwind_end gt_unwind(struct gt_unwind_area *area, uint32_t generation, uintptr_t *pcs,
			     unsigned *count);

#endif
