/* SPDX-License-Identifier: MIT */
/* Libraries of HIP that are interposed: one that exports __hipRegisterFatBinary, under any file
 * name, and one that exports hiprtcCompileProgram: HIP's functions that compile are in a separate
 * library (libhiprtc) since ROCm 6. A library that offers its tables to tools is left alone (it
 * calls rocprofiler_register_library_api_table, as ROCm 6 and later do: the registration takes the
 * tables). Included by runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_HIP_INTERPOSED_H
#define GPUTAP_RUNTIME_HIP_INTERPOSED_H

/* Same form as GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_HIP(X)                                                                  \
	X(hip, "__hipRegisterFatBinary", "hiprtcCompileProgram", NULL, gt_wants_unregistered, \
	  true)                                                                               \
	X(hip_compiler, "__hipRegisterFatBinary", NULL, NULL, gt_wants_unregistered, true)

#endif
