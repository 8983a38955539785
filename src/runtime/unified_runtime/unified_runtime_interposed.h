/* SPDX-License-Identifier: MIT */
/* Lists the Unified Runtime libraries that are interposed: adapters, identified through the
 * functions that fill in their tables. The loader exports functions with the same names and the API
 * itself; it is not interposed. Included by runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_UNIFIED_RUNTIME_INTERPOSED_H
#define GPUTAP_RUNTIME_UNIFIED_RUNTIME_INTERPOSED_H

static inline bool gt_wants_unified_runtime(struct gt_arming *a, const struct gt_elf *o,
					    const struct gt_symbols *s)
{
	(void)a;
	(void)o;
	(void)s;
	return true;
}

/* Has the form of GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_UNIFIED_RUNTIME(X)                                            \
	X(unified_runtime_parts, "urGetAdapterProcAddrTable", NULL, "urLoaderInit", \
	  gt_wants_unified_runtime, true)

#endif
