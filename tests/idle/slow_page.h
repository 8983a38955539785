/* SPDX-License-Identifier: MIT */
/* Memory whose first access takes PROVOKED_MS. A runtime's call that reads or writes this memory
 * becomes slow. Only one such memory can exist at a time. */
#ifndef GPUTAP_TESTS_IDLE_SLOW_PAGE_H
#define GPUTAP_TESTS_IDLE_SLOW_PAGE_H

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/idle/stamps.h"

static char *slow_memory;
static size_t slow_bytes;
static volatile uint64_t slow_from, slow_to;

static UNUSED void end_slow_access(int number, siginfo_t *info, void *context)
{
	char *address = (char *)info->si_addr;

	(void)context;
	if (!slow_memory || address < slow_memory || address >= slow_memory + slow_bytes) {
		signal(number, SIG_DFL); /* repeats the access, which then ends the program */
		return;
	}
	slow_from = now_ns();
	sleep_ms(PROVOKED_MS);
	mprotect(slow_memory, slow_bytes, PROT_READ | PROT_WRITE);
	slow_to = now_ns();
}

/* Call this before the runtime is opened. A handler that the runtime then installs runs first and
 * passes other faults on to this handler. */
static UNUSED void catch_slow_accesses(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = end_slow_access;
	action.sa_flags = SA_SIGINFO | SA_NODEFER;
	EXPECT(!sigaction(SIGSEGV, &action, NULL));
}

/* Return a copy of @content that is slow to read or write. */
static UNUSED void *make_slow(const void *content, size_t bytes)
{
	if (slow_memory)
		munmap(slow_memory, slow_bytes);
	slow_bytes = (bytes + 4095) / 4096 * 4096;
	slow_memory = (char *)mmap(NULL, slow_bytes, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(slow_memory != MAP_FAILED);
	if (content)
		memcpy(slow_memory, content, bytes);
	slow_from = slow_to = 0;
	mprotect(slow_memory, slow_bytes, PROT_NONE);
	return slow_memory;
}

/* Check that the call was slow, which proves that it accessed the memory. */
static UNUSED void say_slow(const char *cause)
{
	EXPECT(slow_to);
	say_stamps(cause, slow_from, slow_to);
}

#endif
