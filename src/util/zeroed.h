/* SPDX-License-Identifier: MIT */
/* Memory of large tables that most processes never use. A table in .bss counts against the limits
 * of every process that loads the library (RLIMIT_AS, the kernel's commit limit). Such a table is
 * therefore mapped at its first use. */
#ifndef GPUTAP_UTIL_ZEROED_H
#define GPUTAP_UTIL_ZEROED_H

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

/* Map memory of zeros, which takes pages only when touched and is never unmapped. Keeps errno and
 * is safe in a signal handler. Return NULL if out of memory. */
static inline void *gt_zeroed_map(size_t bytes)
{
	int saved = errno;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

#endif
