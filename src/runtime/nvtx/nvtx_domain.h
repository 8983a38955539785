/* SPDX-License-Identifier: MIT */
/* Maps handles of NVTX domains to domains. A domain contains the names of its categories and the
 * layouts of its payloads. The handle NULL is the default domain. */
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
	const char *name; /* NULL for the default domain */
	struct gt_nvtx_domain *next;
	_Atomic(struct gt_nvtx_category *) categories;
	_Atomic(struct gt_nvtx_schema *) schemas;
	_Atomic uint64_t newest_schema;
};

/* Return the domain with that name. The same name always gives the same domain, which is never
 * freed. Return NULL if out of memory, or if the domain is XLA's and the session does not name
 * NVTX, because XLA's ranges slow the program. An event then reports that XLA's ranges are omitted.
 * Callers that get NULL make no ranges of that domain. */
struct gt_nvtx_domain *gt_nvtx_domain_create(const char *name);
/* Return the domain of a program's handle. */
struct gt_nvtx_domain *gt_nvtx_domain_of(void *handle);
void gt_nvtx_category_name(struct gt_nvtx_domain *domain, uint32_t id, const char *name);
/* Return the category's name, or NULL. */
const char *gt_nvtx_category_find(struct gt_nvtx_domain *domain, uint32_t id);

#endif
