/* SPDX-License-Identifier: MIT */
/* Finds kernels by the address in dispatch packets (hsa_code.c). */
#ifndef GPUTAP_RUNTIME_HSA_CODE_H
#define GPUTAP_RUNTIME_HSA_CODE_H

#include <stdbool.h>

#include "runtime/graph_nodes.h"
#include "runtime/hsa/hsa_runtime.h"

struct gt_hsa_kernel {
	struct gt_hsa_kernel *next;
	_Atomic uint64_t object; /* address of the kernel's descriptor; 0: unloaded */
	struct gt_kernel_info info;
	uint64_t executable;
	uint64_t symbol;  /* number of the kernel symbol object */
	const char *text; /* kernel name, for tools; NULL: none */
	uint32_t kernarg_bytes;
	bool internal; /* true for a kernel of the runtime that neither copies nor fills */
	struct gt_fork_replay *replay;
};

enum { GT_HSA_KERNEL_BUCKET_BITS = 12 };
extern _Atomic(struct gt_hsa_kernel *) gt_hsa_kernel_buckets[1 << GT_HSA_KERNEL_BUCKET_BITS]
	__attribute__((visibility("hidden")));

static inline _Atomic(struct gt_hsa_kernel *) *gt_hsa_kernel_bucket(uint64_t object)
{
	return &gt_hsa_kernel_buckets[object * UINT64_C(0x9e3779b97f4a7c15) >>
				      (64 - GT_HSA_KERNEL_BUCKET_BITS)];
}

/* Find a kernel, lock-free. Return NULL if none of the code objects whose loading was observed
 * contains the kernel. */
static inline const struct gt_hsa_kernel *gt_hsa_kernel_find(uint64_t object)
{
	struct gt_hsa_kernel *k =
		atomic_load_explicit(gt_hsa_kernel_bucket(object), memory_order_acquire);

	while (k && atomic_load_explicit(&k->object, memory_order_acquire) != object)
		k = k->next;
	return k;
}

/* Add the kernels of all code objects that the runtime has loaded. Return false if the runtime
 * cannot list them. */
bool gt_hsa_code_find_loaded(struct gt_hsa_runtime *r);

#endif
