/* SPDX-License-Identifier: MIT */
/* Detection of torch's first operator where a program opens libtorch_cpu.so itself: when the
 * library is mapped and before anything is bound to it, libgputap-audit.so puts libgputap.so's
 * functions in front of two of libtorch's own.
 *
 *   gputap_attach_ranges ─► front[i].function   ours: looks once, then continues with
 *                     └──► front[i].real       the real one; the audit library writes it. NULL:
 *                                              no libtorch was mapped, or only before us
 *
 * Offsets from the object's own address, as in struct gt_attach (runtime/interposition.h). */
#ifndef GPUTAP_RUNTIME_TORCH_FRONTS_H
#define GPUTAP_RUNTIME_TORCH_FRONTS_H

#include <stdint.h>

#define GT_TORCH_FRONTS_MAGIC UINT64_C(0x31304e4f52465447) /* "GTFRON01" */

/* at::getStepCallbacksUnlessEmpty(RecordScope), which each operator calls first, and
 * at::RecordFunction::RecordFunction(RecordScope), a range of C++ code. */
enum { GT_TORCH_FRONTS = 2 };
static const char *const gt_torch_front_names[GT_TORCH_FRONTS] = {
	"_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE",
	"_ZN2at14RecordFunctionC1ENS_11RecordScopeE"};

struct gt_torch_fronts {
	uint64_t magic;
	struct {
		int32_t function, real;
	} front[GT_TORCH_FRONTS];
};

#endif
