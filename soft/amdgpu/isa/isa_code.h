/* SPDX-License-Identifier: MIT */
/* Decoded instructions of a machine, by address: pages of 1 KiB of code, filled when an
 * instruction is first reached.
 *
 * A machine's pages belong to its thread. Other threads say what code is gone
 * (soft_isa_forget()) in a list of the last ranges, under a lock of its own; a machine drops its
 * pages of them when its next dispatch begins. */
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
	uint64_t forgotten; /* how many ranges of the list have been taken notice of */
};

/* The page that holds @address, made when there is none. NULL: no memory. */
struct code_page *soft_code_page(struct code *code, uint64_t address);
/* Drops what other threads have said is gone. */
void soft_code_refresh(struct code *code);
void soft_code_clear(struct code *code);

#endif
