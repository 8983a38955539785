/* SPDX-License-Identifier: MIT */
/* Arguments of RCCL's operations, in one struct for each operation, named like the operation. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_API_ARGS_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_API_ARGS_H

#include <stdint.h>

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/rccl/details/rccl.h>

ROCPROFILER_EXTERN_C_INIT

typedef struct rocprofiler_rccl_api_no_args {
	char empty;
} rocprofiler_rccl_api_no_args;

typedef union rocprofiler_rccl_api_retval_t {
	uint64_t uint64_t_retval;
	int32_t int32_t_retval;
	int32_t ncclResult_t_retval;
	const char *const_charp_retval;
} rocprofiler_rccl_api_retval_t;

typedef union rocprofiler_rccl_api_args_t {
	uint64_t words[19];
#ifndef GPUTAP_ROCPROFILER_NO_HIP
#include <rocprofiler-sdk/rccl/details/api_args.h>
#endif
} rocprofiler_rccl_api_args_t;

ROCPROFILER_EXTERN_C_FINI

#endif
