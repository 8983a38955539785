/* SPDX-License-Identifier: MIT */
/* Where libtorch_cpu.so is opened by a program, its first operator finds us: libgputap-audit.so
 * puts functions of libgputap.so's in front of two of libtorch's own, when it is mapped and before
 * anything is bound to it.
 *
 *   gputap_attach_torch ─► front[i].function   ours: looks once, then goes on to
 *                     └──► front[i].real       the real one; written by the audit library. NULL:
 *                                              no libtorch was mapped, or only before us
 *
 * Offsets from the object's own address, as in struct gt_attach (runtime/interposition.h). */
#ifndef GPUTAP_RUNTIME_TORCH_FRONTS_H
#define GPUTAP_RUNTIME_TORCH_FRONTS_H

#include <stdint.h>

#define GT_TORCH_FRONTS_MAGIC UINT64_C(0x31304e4f52465447) /* "GTFRON01" */

/* at::getStepCallbacksUnlessEmpty(RecordScope), which each operator begins with, and
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
