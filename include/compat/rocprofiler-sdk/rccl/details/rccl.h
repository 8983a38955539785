/* SPDX-License-Identifier: MIT */
/* RCCL's types. They come from RCCL's header if it is available. Otherwise this file defines the
 * types that the arguments of RCCL's functions need. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_DETAILS_RCCL_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_DETAILS_RCCL_H

#include <rocprofiler-sdk/hip/types.h>

#ifndef GPUTAP_ROCPROFILER_NO_HIP
#if __has_include(<rccl/rccl.h>)
#include <rccl/rccl.h>
#else
#define NCCL_UNIQUE_ID_BYTES 128

typedef struct ncclComm *ncclComm_t;
typedef struct ncclConfig_v21700 ncclConfig_t;
typedef struct {
	char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
	ncclSuccess = 0,
	ncclUnhandledCudaError = 1,
	ncclSystemError = 2,
	ncclInternalError = 3,
	ncclInvalidArgument = 4,
	ncclInvalidUsage = 5,
	ncclRemoteError = 6,
	ncclInProgress = 7,
	ncclNumResults = 8
} ncclResult_t;

typedef enum {
	ncclSum = 0,
	ncclProd = 1,
	ncclMax = 2,
	ncclMin = 3,
	ncclAvg = 4,
	ncclNumOps = 5,
	ncclMaxRedOp = 0x7fffffff
} ncclRedOp_t;

typedef enum {
	ncclInt8 = 0,
	ncclUint8 = 1,
	ncclInt32 = 2,
	ncclUint32 = 3,
	ncclInt64 = 4,
	ncclUint64 = 5,
	ncclFloat16 = 6,
	ncclFloat32 = 7,
	ncclFloat64 = 8,
	ncclBfloat16 = 9,
	ncclFp8E4M3 = 10,
	ncclFp8E5M2 = 11,
	ncclNumTypes = 12
} ncclDataType_t;

typedef enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 } ncclScalarResidence_t;
#endif
#endif

#endif
