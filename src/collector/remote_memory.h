/* SPDX-License-Identifier: MIT */
/* Reads the memory of another process in whole pages, which are kept for one look at the process.
 * Reads use process_vm_readv(), which neither stops the process nor faults in it. */
#ifndef GPUTAP_COLLECTOR_REMOTE_MEMORY_H
#define GPUTAP_COLLECTOR_REMOTE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_REMOTE_PAGE = 4096, GT_REMOTE_PAGES = 64, GT_REMOTE_STACK_BYTES = 65536 };

struct gt_remote_memory {
	uint32_t pid;
	int error; /* errno of the last failed read */
	/* address of the page at each index; 1: none */
	uintptr_t at[GT_REMOTE_PAGES];
	uint8_t pages[GT_REMOTE_PAGES][GT_REMOTE_PAGE];
	/* a copy of the stack, so that it stays as it was when the thread runs again */
	uintptr_t stack_at;
	size_t stack_bytes;
	uint8_t stack[GT_REMOTE_STACK_BYTES];
};

/* Begin a look at a process: forget all pages. */
void gt_remote_begin(struct gt_remote_memory *m, uint32_t pid);

/* Copy the memory from @sp on, at most GT_REMOTE_STACK_BYTES, as far as it is mapped. */
void gt_remote_fetch_stack(struct gt_remote_memory *m, uintptr_t sp);

/* Read @bytes. Return false if they are not mapped, or the process is not readable. */
bool gt_remote_read(struct gt_remote_memory *m, uintptr_t at, void *to, size_t bytes);

static inline bool gt_remote_word(struct gt_remote_memory *m, uintptr_t at, uintptr_t *word)
{
	return gt_remote_read(m, at, word, sizeof *word);
}

/* Read without keeping pages, for large copies. */
bool gt_remote_copy(uint32_t pid, uintptr_t at, void *to, size_t bytes);

#endif
