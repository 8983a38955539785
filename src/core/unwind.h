/* SPDX-License-Identifier: MIT */
/* Unwinds a thread's own call stack, with the tables that compilers generate for exceptions
 * (.eh_frame), or with frame pointers for code that has none.
 *
 *   pc ─► rule {where the caller's frame starts, where its rbp is} ─► return address ─► ..
 *          └─ from the thread's cache, else from the module's .eh_frame (unwind_tables.c)
 *
 * Memory read: the tables of mapped modules, and the stack between its pointer and its end. If the
 * stack is not the thread's own (a coroutine's, a signal handler's), the kernel copies a piece of
 * it, which is read instead: a wrong pointer does not fault.
 * Locking: none; each thread has an area. Never here: allocation, locks (except with a C library
 * older than 2.35: dl_iterate_phdr()), errno changed; system calls only for a thread's first stack
 * and for stacks that are not its own. */
#ifndef GPUTAP_CORE_UNWIND_H
#define GPUTAP_CORE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum { GT_UNWIND_MOST = 128, GT_UNWIND_RULES = 512, GT_UNWIND_COPY = 16384 };

/* How to get from a frame to its caller. */
enum gt_unwind_kind {
	GT_UNWIND_UNKNOWN = 0, /* not in the tables: use the frame pointer, if it leads anywhere */
	GT_UNWIND_BY_SP,       /* the caller's frame starts at rsp + offset */
	GT_UNWIND_BY_BP,       /* .. at rbp + offset */
	GT_UNWIND_BY_SLOT,     /* .. at the address stored at rbp + offset */
	GT_UNWIND_SIGNAL,      /* called from the kernel: a ucontext_t is at rsp */
	GT_UNWIND_LAST,        /* the outermost frame */
};
enum gt_unwind_saved {
	GT_UNWIND_SAME = 0, /* rbp is unchanged since the call */
	GT_UNWIND_AT_FRAME, /* it is stored at the caller's frame + offset */
	GT_UNWIND_AT_BP,    /* .. at rbp + offset */
};
struct gt_unwind_rule {
	uintptr_t pc;
	int32_t offset;
	int16_t saved_offset;
	uint8_t kind, saved;
};

/* A module of the process, where the dynamic linker has mapped it. */
struct gt_unwind_object {
	uintptr_t start, end; /* mapped range */
	uintptr_t base;       /* added to the addresses in its file */
	const void *table;    /* .eh_frame_hdr; NULL: none */
	const char *path;     /* "" for the program itself */
	const void *dynamic;  /* its dynamic section; NULL: none */
};

/* Call once, before the other functions. */
void gt_unwind_init(void);

/* Return false if @pc is in no module. */
bool gt_unwind_find_object(uintptr_t pc, struct gt_unwind_object *object);

/* Find the rule at @pc in the tables of its object; UNKNOWN if they have none that is
 * understood. */
void gt_unwind_find_rule(const struct gt_unwind_object *object, uintptr_t pc,
			 struct gt_unwind_rule *rule);

/* Buffers of one thread; zeroed initially. */
struct gt_unwind_area {
	uintptr_t low, high; /* bounds of the thread's own stack; 0: not known yet */
	bool looked;
	uint32_t generation; /* generation of the contents of `rules` */
	struct gt_unwind_rule rules[GT_UNWIND_RULES];
	uint8_t copy[GT_UNWIND_COPY];
};

enum gt_unwind_end {
	GT_UNWIND_WHOLE = 0, /* complete to the first function */
	GT_UNWIND_CUT,       /* GT_UNWIND_MOST frames, and there are more */
	GT_UNWIND_BROKEN,    /* neither tables nor frame pointers lead further */
};

/**
 * gt_unwind() - get the calling thread's return addresses, innermost first
 * @area:       the calling thread's area
 * @generation: a number that changes when a module has been unmapped
 * @pcs:        receives at most GT_UNWIND_MOST, from the caller of this function on
 * @count:      receives their number
 * Return: why it ended.
 */
enum gt_unwind_end gt_unwind(struct gt_unwind_area *area, uint32_t generation, uintptr_t *pcs,
			     unsigned *count);

#endif
