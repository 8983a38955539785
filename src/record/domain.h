/* SPDX-License-Identifier: MIT */
/* Domains: one API of a runtime each. The numbers stand in captures and in the
 * shared-memory records: they never change and are never used again.
 * tests/golden/operations.txt freezes them together with the operations. */
#ifndef GPUTAP_RECORD_DOMAIN_H
#define GPUTAP_RECORD_DOMAIN_H

/* X(number, C suffix, name, what it is) */
#define GT_DOMAINS(X)                                                   \
	X(1, OPENCL, "opencl", "OpenCL host API")                       \
	X(2, HIP, "hip", "HIP runtime API")                             \
	X(3, HIP_COMPILER, "hip_compiler", "HIP compiler support API")  \
	X(4, HSA_CORE, "hsa_core", "HSA core API")                      \
	X(5, HSA_AMD_EXT, "hsa_amd_ext", "HSA AMD extensions")          \
	X(6, LEVEL_ZERO, "level_zero", "Level Zero API")                \
	X(7, CUDA_RUNTIME, "cuda_runtime", "CUDA runtime API")          \
	X(8, CUDA_DRIVER, "cuda_driver", "CUDA driver API")             \
	X(9, ROCTX, "roctx", "ROCTx annotations")                       \
	X(10, REFDEV, "refdev", "reference accelerator")                \
	X(11, HSA_IMAGE_EXT, "hsa_image_ext", "HSA image extension")    \
	X(12, HSA_FINALIZE_EXT, "hsa_finalize_ext", "HSA finalizer extension") \
	X(13, RCCL, "rccl", "RCCL collectives")

enum gt_domain {
	GT_DOMAIN_NONE = 0,
#define X(number, suffix, name, text) GT_DOMAIN_##suffix = number,
	GT_DOMAINS(X)
#undef X
	GT_DOMAIN_COUNT = 16, /* room in every per-domain array; raising it changes the ring layout version */
};

#endif
