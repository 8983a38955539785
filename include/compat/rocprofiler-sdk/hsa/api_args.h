/* SPDX-License-Identifier: MIT */
/* Arguments of HSA's operations, in one struct for each operation, named like the operation. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_API_ARGS_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_API_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/hsa/types.h>

ROCPROFILER_EXTERN_C_INIT

typedef struct rocprofiler_hsa_api_no_args {
	char empty;
} rocprofiler_hsa_api_no_args;

typedef union rocprofiler_hsa_api_retval_t {
	uint64_t uint64_t_retval;
	uint32_t uint32_t_retval;
#ifndef GPUTAP_ROCPROFILER_NO_HSA
	hsa_signal_value_t hsa_signal_value_t_retval;
	hsa_status_t hsa_status_t_retval;
#endif
} rocprofiler_hsa_api_retval_t;

typedef union rocprofiler_hsa_api_args_t {
	uint64_t words[24];
#ifndef GPUTAP_ROCPROFILER_NO_HSA
#include <rocprofiler-sdk/hsa/details/core_args.h>
#include <rocprofiler-sdk/hsa/details/amd_ext_args.h>
#include <rocprofiler-sdk/hsa/details/image_ext_args.h>
#include <rocprofiler-sdk/hsa/details/finalize_ext_args.h>
#endif
} rocprofiler_hsa_api_args_t;

ROCPROFILER_EXTERN_C_FINI

#endif
