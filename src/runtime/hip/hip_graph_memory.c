/* SPDX-License-Identifier: MIT */
/* Allocates memory for graphs' nodes with mmap(), because this code runs in HIP calls, which must
 * neither take malloc()'s locks nor change errno. Nodes that a launch in a submit order shares with
 * its graph are reference-counted, because the launch's packets may be matched after the graph was
 * destroyed. */
#include <errno.h>
#include <sys/mman.h>

#include "runtime/hip/hip_graph.h"
#include "runtime/hip/hip_order.h"

void *gt_hip_alloc(size_t bytes)
{
	int saved = errno;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

void gt_hip_free(const void *p, size_t bytes)
{
	int saved = errno;

	if (p)
		munmap((void *)(uintptr_t)p, bytes);
	errno = saved;
}

void gt_hip_shared_nodes_put(struct gt_hip_shared_nodes *n)
{
	if (n && atomic_fetch_sub_explicit(&n->users, 1, memory_order_acq_rel) == 1)
		gt_hip_free(n, n->bytes);
}
