/* SPDX-License-Identifier: MIT */
/* Lists the HIP libraries that are interposed: a library that exports __hipRegisterFatBinary, under
 * any file name, and a library that exports hiprtcCompileProgram, because HIP's compiler functions
 * are in a separate library (libhiprtc) since ROCm 6. A library that offers its tables to tools is
 * not interposed. Such a library (ROCm 6 and later) calls rocprofiler_register_library_api_table(),
 * and gputap attaches through this registration. Included by runtime/arm.h. */
#ifndef GPUTAP_RUNTIME_HIP_INTERPOSED_H
#define GPUTAP_RUNTIME_HIP_INTERPOSED_H

/* Has the form of GT_INTERPOSED in generated/interposed.h. */
#define GT_INTERPOSED_HIP(X)                                                                  \
	X(hip, "__hipRegisterFatBinary", "hiprtcCompileProgram", NULL, gt_wants_unregistered, \
	  true)                                                                               \
	X(hip_compiler, "__hipRegisterFatBinary", NULL, NULL, gt_wants_unregistered, true)

#endif
