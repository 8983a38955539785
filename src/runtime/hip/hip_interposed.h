/* SPDX-License-Identifier: MIT */
/* Which libraries of HIP are interposed: one that exports __hipRegisterFatBinary, whatever its
 * file is called. Left alone: one that offers its tables to tools (it calls
 * rocprofiler_register_library_api_table, as ROCm 6 and later do: the registration takes them).
 * And one that exports hiprtcCompileProgram: HIP's functions that compile are in a library of
 * their own (libhiprtc) since ROCm 6. Included by runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_HIP_INTERPOSED_H
#define GPUTAP_RUNTIME_HIP_INTERPOSED_H

/* As GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_HIP(X)                                                                  \
	X(hip, "__hipRegisterFatBinary", "hiprtcCompileProgram", NULL, gt_wants_unregistered, \
	  true)                                                                               \
	X(hip_compiler, "__hipRegisterFatBinary", NULL, NULL, gt_wants_unregistered, true)

#endif
