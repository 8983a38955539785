/* SPDX-License-Identifier: MIT */
/* Arguments of HIP's operations, in one struct for each operation, named like the operation. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_API_ARGS_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_API_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hip/types.h>

ROCPROFILER_EXTERN_C_INIT

typedef struct rocprofiler_hip_api_no_args {
	char empty;
} rocprofiler_hip_api_no_args;

typedef union rocprofiler_hip_api_retval_t {
	ROCPROFILER_CXX_CODE(rocprofiler_hip_api_retval_t() = default;
			     ~rocprofiler_hip_api_retval_t() = default;)
	uint64_t uint64_t_retval;
	int int_retval;
	const char *const_charp_retval;
	void **voidpp_retval;
#ifndef GPUTAP_ROCPROFILER_NO_HIP
	hipError_t hipError_t_retval;
	hipChannelFormatDesc hipChannelFormatDesc_retval;
#endif
	uint64_t words[3];
} rocprofiler_hip_api_retval_t;

typedef union rocprofiler_hip_api_args_t {
	ROCPROFILER_CXX_CODE(rocprofiler_hip_api_args_t() = default;
			     ~rocprofiler_hip_api_args_t() = default;)
	uint64_t words[11];
#ifndef GPUTAP_ROCPROFILER_NO_HIP
#include <rocprofiler-sdk/hip/details/compiler_args.h>
#include <rocprofiler-sdk/hip/details/runtime_args.h>
#endif
} rocprofiler_hip_api_args_t;

ROCPROFILER_EXTERN_C_FINI

#endif
