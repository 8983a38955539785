/* SPDX-License-Identifier: MIT */
/* The names of ROCr 6 that rocprofiler-sdk's hsa-memory-allocation uses, in a function that it does
 * not call. */
#include <hsa/hsa_ext_amd.h>

#if HSA_AMD_INTERFACE_VERSION_MAJOR == 1 && HSA_AMD_INTERFACE_VERSION_MINOR < 4
#define HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED ((hsa_system_info_t)0x205)
typedef struct hsa_amd_vmem_alloc_handle_s {
	uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;
typedef enum { MEMORY_TYPE_NONE, MEMORY_TYPE_PINNED } hsa_amd_memory_type_t;
extern "C" hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size,
						   hsa_amd_memory_type_t type, uint64_t flags,
						   hsa_amd_vmem_alloc_handle_t *memory_handle);
extern "C" hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory_handle);
#endif
