/* SPDX-License-Identifier: MIT */
/* Looks up ids and names of functions in a table that gen/emit_pti.py generates. */
#include "pti.h"

enum { OPERATIONS = 1024 };

/* Index of each domain's table, for PTI_OPERATION(). */
enum {
	IN_LEVEL_ZERO,
	IN_LEVEL_ZERO_TOOLS,
	IN_LEVEL_ZERO_SYSMAN,
	IN_LEVEL_ZERO_RUNTIME,
	IN_OPENCL,
	IN_UNIFIED_RUNTIME
};

const uint32_t pti_domains[PTI_DOMAINS] = {
	[IN_LEVEL_ZERO] = GPUTAP_DOMAIN_LEVEL_ZERO,
	[IN_LEVEL_ZERO_TOOLS] = GPUTAP_DOMAIN_LEVEL_ZERO_TOOLS,
	[IN_LEVEL_ZERO_SYSMAN] = GPUTAP_DOMAIN_LEVEL_ZERO_SYSMAN,
	[IN_LEVEL_ZERO_RUNTIME] = GPUTAP_DOMAIN_LEVEL_ZERO_RUNTIME,
	[IN_OPENCL] = GPUTAP_DOMAIN_OPENCL,
	[IN_UNIFIED_RUNTIME] = GPUTAP_DOMAIN_UNIFIED_RUNTIME,
};

static const struct pti_operation operations[PTI_DOMAINS][OPERATIONS] = {
#define PTI_OPERATION(domain, number, id, appended, parent, kernel, kernels, made, made_at, room, \
		      came)                                                                       \
	[IN_##domain][number] = {id,           PTI_APPENDED_##appended,                           \
				 PTI_##parent, kernel,                                            \
				 kernels,      PTI_##made,                                        \
				 made_at,      room,                                              \
				 came},
#include "generated/pti_operations.inc"
#undef PTI_OPERATION
};

static _Atomic(const char *) names[PTI_DOMAINS][OPERATIONS];

static unsigned place_of(uint32_t domain)
{
	switch (domain) {
	case GPUTAP_DOMAIN_LEVEL_ZERO: return IN_LEVEL_ZERO;
	case GPUTAP_DOMAIN_LEVEL_ZERO_TOOLS: return IN_LEVEL_ZERO_TOOLS;
	case GPUTAP_DOMAIN_LEVEL_ZERO_SYSMAN: return IN_LEVEL_ZERO_SYSMAN;
	case GPUTAP_DOMAIN_LEVEL_ZERO_RUNTIME: return IN_LEVEL_ZERO_RUNTIME;
	case GPUTAP_DOMAIN_UNIFIED_RUNTIME: return IN_UNIFIED_RUNTIME;
	default: return IN_OPENCL;
	}
}

uint32_t pti_group_of(uint32_t domain)
{
	switch (domain) {
	case GPUTAP_DOMAIN_OPENCL: return PTI_OPENCL;
	case GPUTAP_DOMAIN_UNIFIED_RUNTIME: return PTI_SYCL;
	default: return PTI_LEVEL_ZERO;
	}
}

const struct pti_operation *pti_operation_of(uint32_t domain, uint32_t operation)
{
	return &operations[place_of(domain)][operation % OPERATIONS];
}

const char *pti_operation_name(uint32_t domain, uint32_t operation)
{
	_Atomic(const char *) *known = &names[place_of(domain)][operation % OPERATIONS];
	const char *name = atomic_load_explicit(known, memory_order_acquire);

	if (!name) {
		name = gputap_operation_name(domain, operation);
		atomic_store_explicit(known, name, memory_order_release);
	}
	return name;
}

bool pti_operation_find(uint32_t group, uint32_t id, uint32_t *domain, uint32_t *operation)
{
	for (unsigned d = 0; id && d < PTI_DOMAINS; d++)
		for (uint32_t n = 0; pti_group_of(pti_domains[d]) == group && n < OPERATIONS; n++)
			if (operations[d][n].id == id) {
				*domain = pti_domains[d];
				*operation = n;
				return true;
			}
	return false;
}

int pti_operations_each(int (*fn)(uint32_t, uint32_t, const struct pti_operation *, void *),
			void *user)
{
	int rc = 0;

	for (unsigned d = 0; d < PTI_DOMAINS; d++)
		for (uint32_t n = 0; rc == 0 && n < OPERATIONS; n++)
			if (operations[d][n].id)
				rc = fn(pti_domains[d], n, &operations[d][n], user);
	return rc;
}
