/* SPDX-License-Identifier: MIT */
/* HIP's tables of functions as ROCm 7.2 has them, for compilers whose HIP has no such header
 * (before 6.1). It stands behind all other folders of the include path: a HIP that has its own
 * is never hidden. */
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
