/* SPDX-License-Identifier: MIT */
/* Detects torch's first operator if a program opens libtorch_cpu.so itself. When the library is
 * mapped and before anything is bound to it, libgputap-audit.so places functions of libgputap.so in
 * front of two of libtorch's functions.
 *
 *   gputap_attach_ranges ─► front[i].function   gputap's function: looks once, then continues with
 *                     └──► front[i].real       the real function, written by the audit library;
 *                                              NULL: libtorch was not mapped, or was mapped
 *                                              before gputap
 *
 * Contains offsets from the object's own address, like struct gt_attach
 * (runtime/interposition.h). */
#ifndef GPUTAP_RUNTIME_TORCH_FRONTS_H
#define GPUTAP_RUNTIME_TORCH_FRONTS_H

#include <stdint.h>

#define GT_TORCH_FRONTS_MAGIC UINT64_C(0x31304e4f52465447) /* "GTFRON01" */

/* at::getStepCallbacksUnlessEmpty(RecordScope), the first call of each operator, and
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
