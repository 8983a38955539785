/* SPDX-License-Identifier: MIT */
/* A machine's decoded instructions, by address. Each page covers 1 KiB of code; an entry is filled
 * when its instruction is first reached.
 *
 * Only the machine's thread accesses its pages. Other threads report unloaded code:
 * soft_isa_forget() adds the range to a list of recent ranges with a separate lock. A machine drops
 * its pages in these ranges when its next dispatch starts. */
#ifndef SOFT_AMDGPU_ISA_CODE_H
#define SOFT_AMDGPU_ISA_CODE_H

#include "soft/amdgpu/isa/isa_wave.h"

#define CODE_PAGE_BYTES 1024
#define CODE_PAGE_STEPS (CODE_PAGE_BYTES / 4)
#define CODE_BUCKETS    64

struct code_page {
	struct code_page *next;
	uint64_t address;
	struct soft_step steps[CODE_PAGE_STEPS];
};

struct code {
	struct code_page *buckets[CODE_BUCKETS];
	uint64_t forgotten; /* number of ranges in the list that this machine has processed */
};

/* Return the page that contains @address, creating it if necessary. NULL: out of memory. */
struct code_page *soft_code_page(struct code *code, uint64_t address);
/* Drop pages that other threads have reported as unloaded. */
void soft_code_refresh(struct code *code);
void soft_code_clear(struct code *code);

#endif
