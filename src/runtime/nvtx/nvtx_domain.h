/* SPDX-License-Identifier: MIT */
/* NVTX's domains: what a handle of one points to, and what is known in one: names of categories,
 * layouts of payloads. The handle NULL is the default domain. */
#ifndef GPUTAP_NVTX_DOMAIN_H
#define GPUTAP_NVTX_DOMAIN_H

#include <stdatomic.h>
#include <stdint.h>

#include <wchar.h>

struct gt_nvtx_category {
	struct gt_nvtx_category *next;
	uint32_t id;
	const char *_Atomic name;
};

struct gt_nvtx_schema;

struct gt_nvtx_domain {
	const char *name; /* NULL: of the default one */
	struct gt_nvtx_domain *next;
	_Atomic(struct gt_nvtx_category *) categories;
	_Atomic(struct gt_nvtx_schema *) schemas;
	_Atomic uint64_t newest_schema;
};

/* The one of that name, the same each time; stays. NULL: no memory, or the domain is XLA's, whose
 * ranges slow the program, and the session does not name NVTX: an event says that they are left
 * out. Callers that get NULL make no ranges of that domain. */
struct gt_nvtx_domain *gt_nvtx_domain_create(const char *name);
/* What a program's handle means. */
struct gt_nvtx_domain *gt_nvtx_domain_of(void *handle);
void gt_nvtx_category_name(struct gt_nvtx_domain *domain, uint32_t id, const char *name);
/* NULL: it has none. */
const char *gt_nvtx_category_find(struct gt_nvtx_domain *domain, uint32_t id);

#endif
