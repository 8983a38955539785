/* SPDX-License-Identifier: MIT */
/* HIP's types. They come from HIP's header, version 5.2 or later. Types that the header's version
 * lacks are declared here, but not defined. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_TYPES_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_TYPES_H

#if defined(GPUTAP_ROCPROFILER_OPAQUE) || !defined(__has_include)
#define GPUTAP_ROCPROFILER_NO_HIP /* argument unions get their size, but no members */
#elif !__has_include(<hip/hip_runtime_api.h>)
#define GPUTAP_ROCPROFILER_NO_HIP
#else
#if !defined(__HIP_PLATFORM_AMD__) && !defined(__HIP_PLATFORM_NVIDIA__)
#define __HIP_PLATFORM_AMD__ 1
#endif
#include <hip/hip_runtime_api.h>
#if __has_include(<hip/hip_deprecated.h>)
#include <hip/hip_deprecated.h>
#endif
#if __has_include(<hip/amd_detail/amd_hip_gl_interop.h>)
#include <hip/amd_detail/amd_hip_gl_interop.h>
#endif

#if HIP_VERSION < 50300000
typedef struct hipUserObject *hipUserObject_t;
typedef unsigned int hipGraphMemAttributeType;
#endif
#if HIP_VERSION < 50500000
typedef struct hipExternalSemaphoreWaitNodeParams hipExternalSemaphoreWaitNodeParams;
typedef struct hipExternalSemaphoreSignalNodeParams hipExternalSemaphoreSignalNodeParams;
typedef struct hipMemAllocNodeParams hipMemAllocNodeParams;
typedef struct hipFunctionLaunchParams hipFunctionLaunchParams;
#endif
#if HIP_VERSION < 60000000
typedef struct hipDeviceProp_tR0000 hipDeviceProp_tR0000;
typedef struct hipDeviceProp_tR0600 hipDeviceProp_tR0600;
typedef struct hipExternalMemoryMipmappedArrayDesc hipExternalMemoryMipmappedArrayDesc;
#endif
#if HIP_VERSION < 60100000
typedef struct hipGraphNodeParams hipGraphNodeParams;
typedef struct HIP_MEMSET_NODE_PARAMS HIP_MEMSET_NODE_PARAMS;
#endif
#if HIP_VERSION < 60200000
typedef struct hipGraphInstantiateParams hipGraphInstantiateParams;
typedef struct hipGraphEdgeData hipGraphEdgeData;
typedef int hipDriverProcAddressQueryResult;
typedef int hipLaunchAttributeID;
typedef union hipLaunchAttributeValue hipLaunchAttributeValue;
#endif
#if HIP_VERSION < 60400000
typedef union hipStreamBatchMemOpParams hipStreamBatchMemOpParams;
typedef struct hipBatchMemOpNodeParams hipBatchMemOpNodeParams;
typedef int hipJitInputType;
typedef struct hipLinkState *hipLinkState_t;
#endif
#if HIP_VERSION < 70000000
typedef struct hipLaunchConfig hipLaunchConfig_t;
typedef struct HIP_LAUNCH_CONFIG HIP_LAUNCH_CONFIG;
typedef int hipMemRangeHandleType;
#endif
#if HIP_VERSION >= 70000000
typedef hipMemsetParams HIP_MEMSET_NODE_PARAMS;
#endif
#if HIP_VERSION < 70100000
typedef struct hipMemcpyAttributes hipMemcpyAttributes;
typedef struct hipMemcpy3DBatchOp hipMemcpy3DBatchOp;
typedef struct hipMemcpy3DPeerParms hipMemcpy3DPeerParms;
typedef int hipDriverEntryPointQueryResult;
#endif
#if HIP_VERSION < 70200000
typedef struct hipLibrary *hipLibrary_t;
typedef struct hipKernel *hipKernel_t;
typedef int hipLibraryOption;
#endif
#endif

#endif
