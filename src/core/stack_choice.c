/* SPDX-License-Identifier: MIT */
/* Selects the calls whose stacks the session records, and allocates the memory for stacks. */
#include "core/stack_choice.h"

#include <sys/mman.h>

#include "core/stacks.h"
#include "record/operation.h"

extern struct gt_unloads gputap_attach_unloads __attribute__((visibility("default")));
struct gt_unloads gputap_attach_unloads = {.magic = GT_UNLOADS_MAGIC};

struct gt_stacks_chosen gt_stacks;

void gt_stacks_init(const struct gt_session *session)
{
	void *p;

	gt_stacks.wanted = session->stacks;
	gt_stacks.slow_ns = session->stacks_slow_ns;
	if (gt_stacks.shared) { /* of a former session: forget what its capture contains */
		madvise(gt_stacks.shared, sizeof *gt_stacks.shared, MADV_DONTNEED);
		return;
	}
	if (!session->stacks)
		return;
	p = mmap(NULL, sizeof *gt_stacks.shared, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return;
	if (madvise(p, sizeof *gt_stacks.shared, MADV_WIPEONFORK) != 0) {
		munmap(p, sizeof *gt_stacks.shared); /* before Linux 4.14 */
		return;
	}
	gt_unwind_init();
	if (!gt_unwind_find_object((uintptr_t)gt_stacks_init, &gt_stacks.own))
		gt_stacks.own.start = gt_stacks.own.end = 0;
	gt_stacks.shared = p;
}

uint32_t gt_stacks_services(uint32_t op)
{
	const struct gt_operation_info *info = gt_stacks.shared ? gt_operation(op) : NULL;
	uint32_t services = 0;

	if (!info || gt_domain_traits[GT_OP_DOMAIN(op)].relayed)
		return 0;
	if (gt_stacks.wanted & GT_STACKS_LAUNCHES &&
	    (info->kind == GT_KIND_LAUNCH || info->kind == GT_KIND_COPY ||
	     info->kind == GT_KIND_SET))
		services |= GT_SERVICE_STACK;
	if (gt_stacks.wanted & GT_STACKS_SLOW && !info->mark)
		services |= GT_SERVICE_SLOW;
	return services;
}

bool gt_stacks_is_slow(uint64_t ns)
{
	return ns >= gt_stacks.slow_ns;
}
