/* SPDX-License-Identifier: MIT */
/* Selects the OpenCL libraries to interpose: those that export clGetPlatformIDs. Exceptions are a
 * layer-capable loader (it contains the text OPENCL_LAYERS, and gputap attaches to it as a layer),
 * a layer, and a driver below such a loader. In a layer-capable loader, the auditor changes only
 * clGetPlatformIDs, because the loader loads no layer if there are no drivers
 * (opencl/attach_first.c). In a driver below such a loader, the auditor also changes only this
 * function, to report a program that calls it without the loader (opencl/attach_direct.c). Included
 * by runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_OPENCL_INTERPOSED_H
#define GPUTAP_RUNTIME_OPENCL_INTERPOSED_H

#define GT_OPENCL_LAYERS "OPENCL_LAYERS"

/* true if a layer-capable loader was seen; the audit library and libgputap.so each have their own
 * flag */
static bool gt_opencl_loader_seen;

static inline bool gt_wants_opencl(struct gt_arming *a, const struct gt_elf *o,
				   const struct gt_symbols *s)
{
	if (gt_symbol_find(s, "clInitLayer"))
		return false;
	if (gt_elf_contains(o, GT_OPENCL_LAYERS, sizeof GT_OPENCL_LAYERS - 1)) {
		gt_opencl_loader_seen = true;
		return a->alone;
	}
	return !(gt_opencl_loader_seen && gt_symbol_find(s, "clIcdGetPlatformIDsKHR"));
}

static inline bool gt_wants_opencl_first(struct gt_arming *a, const struct gt_elf *o,
					 const struct gt_symbols *s)
{
	return !a->relocated && !a->alone && !gt_symbol_find(s, "clInitLayer") &&
	       gt_elf_contains(o, GT_OPENCL_LAYERS, sizeof GT_OPENCL_LAYERS - 1);
}

/* Return true for a driver that gt_wants_opencl() leaves to the loader. Returns false without an
 * auditor, because libraries are then examined too late. */
static inline bool gt_wants_opencl_direct(struct gt_arming *a, const struct gt_elf *o,
					  const struct gt_symbols *s)
{
	return !a->relocated && gt_opencl_loader_seen && !gt_wants_opencl(a, o, s) &&
	       gt_symbol_find(s, "clIcdGetPlatformIDsKHR");
}

/* Same form as GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_OPENCL(X)                                                       \
	X(opencl, "clGetPlatformIDs", NULL, NULL, gt_wants_opencl, false)             \
	X(opencl_first, "clGetPlatformIDs", NULL, NULL, gt_wants_opencl_first, false) \
	X(opencl_direct, "clGetPlatformIDs", NULL, NULL, gt_wants_opencl_direct, true)

#endif
