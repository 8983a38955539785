/* SPDX-License-Identifier: MIT */
/* Rules to get from a frame of a call stack to its caller, from the tables that compilers generate
 * for exceptions (.eh_frame). Used in the traced process (core/unwind.h) and, for stacks of other
 * processes, in the collector (collector/remote_unwind.h).
 * Never here: allocation, locks, system calls. */
#ifndef GPUTAP_UNWIND_UNWIND_RULES_H
#define GPUTAP_UNWIND_UNWIND_RULES_H

#include <stdint.h>

/* Ways to get from a frame to its caller. */
enum gt_unwind_kind {
	GT_UNWIND_UNKNOWN = 0, /* no rule found: use the frame pointer, if it leads to code */
	GT_UNWIND_BY_SP,       /* the caller's frame starts at rsp + offset */
	GT_UNWIND_BY_BP,       /* the caller's frame starts at rbp + offset */
	GT_UNWIND_BY_SLOT,     /* the caller's frame starts at the address stored at rbp + offset */
	GT_UNWIND_SIGNAL,      /* the kernel called the frame: a ucontext_t is at rsp */
	GT_UNWIND_LAST,        /* the outermost frame */
};
enum gt_unwind_saved {
	GT_UNWIND_SAME = 0, /* rbp is unchanged since the call */
	GT_UNWIND_AT_FRAME, /* rbp is stored at the caller's frame + offset */
	GT_UNWIND_AT_BP,    /* rbp is stored at rbp + offset */
};
struct gt_unwind_rule {
	uintptr_t pc;
	int32_t offset;
	int16_t saved_offset;
	uint8_t kind, saved;
};

/* A module of the process, as the dynamic linker has mapped it. */
struct gt_unwind_object {
	uintptr_t start, end; /* mapped range */
	uintptr_t base;       /* load address: added to the addresses in the module's file */
	const void *table;    /* .eh_frame_hdr; NULL: no table */
	const char *path;     /* "" for the program itself */
	const void *dynamic;  /* dynamic section; NULL: none */
};

/* Find the rule for @pc in the tables of @object; UNKNOWN if the tables contain no supported
 * rule. */
void gt_unwind_find_rule(const struct gt_unwind_object *object, uintptr_t pc,
			 struct gt_unwind_rule *rule);

/* Return the first address of the function around @pc; 0: not known. */
uintptr_t gt_unwind_find_function(const struct gt_unwind_object *object, uintptr_t pc);

#endif
