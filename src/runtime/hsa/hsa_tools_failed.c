/* SPDX-License-Identifier: MIT */
/* Part of libgputap-audit.so: finds out which tool libraries of the user HSA's runtime could not
 * load.
 *
 *   HSA_TOOLS_LIB: libgputap.so <the user's> libgputap-audit.so
 *
 * The runtime maps the audit library for this purpose, in addition to libgputap.so and not as an
 * auditor, and calls OnLoad() of each library in turn. The last library gets the names of all
 * libraries that failed. libgputap.so, the first one, cannot be listed again at the end, because
 * ROCr 6 opens each library once. */
#include <stdbool.h>
#include <stdint.h>

#include "record/domain.h"
#include "runtime/interposition.h"

#pragma weak gputap_attach_tools_failed

__attribute__((visibility("default"))) bool OnLoad(void *tables, uint64_t runtime_version,
						   uint64_t failed_count,
						   const char *const *failed_names);

bool OnLoad(void *tables, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
	(void)tables;
	(void)runtime_version;
	if (gputap_attach_tools_failed)
		gputap_attach_tools_failed(GT_DOMAIN_HSA_CORE, failed_count, failed_names);
	return true;
}
