/* SPDX-License-Identifier: MIT */
/* Lists the Level Zero libraries that are interposed: drivers, identified through the functions
 * that fill in their tables. The loader and its layers export functions with the same names, and
 * additional functions by which gputap recognises them. Neither the loader nor its layers are
 * interposed. Included by runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_INTERPOSED_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_INTERPOSED_H

static inline bool gt_wants_level_zero(struct gt_arming *a, const struct gt_elf *o,
				       const struct gt_symbols *s)
{
	(void)a;
	(void)o;
	return !gt_symbol_find(s,
			       "zelLoaderGetVersion") && /* layers; from 1.9 on also the loader */
	       !gt_symbol_find(s, "zelLoaderGetVersions");
}

/* Has the form of GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_LEVEL_ZERO(X) \
	X(level_zero_parts, "zeGetDriverProcAddrTable", NULL, NULL, gt_wants_level_zero, true)

#endif
