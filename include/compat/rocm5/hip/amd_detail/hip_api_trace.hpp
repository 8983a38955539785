/* SPDX-License-Identifier: MIT */
/* HIP's function tables as in ROCm 7.2, for HIP before 6.1, which lacks this header. This folder is
 * last in the include path, so that the header of a newer HIP takes precedence. */
#ifndef GPUTAP_COMPAT_ROCM5_HIP_API_TRACE_HPP
#define GPUTAP_COMPAT_ROCM5_HIP_API_TRACE_HPP

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/hip/types.h>

#define HIP_API_TABLE_STEP_VERSION           0
#define HIP_COMPILER_API_TABLE_STEP_VERSION  0
#define HIP_RUNTIME_API_TABLE_STEP_VERSION   18
#define HIP_COMPILER_API_TABLE_MAJOR_VERSION 0
#define HIP_RUNTIME_API_TABLE_MAJOR_VERSION  0

#include <rocprofiler-sdk/hip/details/compiler_table.h>
#include <rocprofiler-sdk/hip/details/runtime_table.h>

#endif
