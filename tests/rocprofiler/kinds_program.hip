/* SPDX-License-Identifier: MIT */
/* Streams, allocations and ranges, for tests/rocprofiler/kinds.c. */
#include <hip/hip_runtime.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <roctx.h>
#include <stdio.h>
#include <string.h>
#include <thread>

__global__ void fill(int *at)
{
	at[threadIdx.x] = 1;
}

static hsa_amd_memory_pool_t pool;

static hsa_status_t take_pool(hsa_amd_memory_pool_t found, void *)
{
	bool allowed = false;

	hsa_amd_memory_pool_get_info(found, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
				     &allowed);
	if (!allowed)
		return HSA_STATUS_SUCCESS;
	pool = found;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t take_agent(hsa_agent_t agent, void *)
{
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	return type == HSA_DEVICE_TYPE_GPU
		       ? hsa_amd_agent_iterate_memory_pools(agent, take_pool, nullptr)
		       : HSA_STATUS_SUCCESS;
}

static int work(void)
{
	hipStream_t first, second;
	int *device, *big;

	if (hipMalloc(&device, 12345) || hipStreamCreate(&first) ||
	    hipStreamCreateWithFlags(&second, hipStreamNonBlocking))
		return 1;
	fprintf(stderr, "streams are there\n");
	hipLaunchKernelGGL(fill, dim3(1), dim3(64), 0, first, device);
	hipMemsetAsync(device, 0, 256, second);
	hipStreamSynchronize(nullptr);
	hipStreamDestroy(first);
	if (hipStreamCreate(&first) || hipStreamDestroy(first) || hipStreamDestroy(second) ||
	    hipFree(device))
		return 1;
	fprintf(stderr, "streams are gone\n");
	hsa_init();
	hsa_iterate_agents(take_agent, nullptr);
	fprintf(stderr, "directly\n");
	if (hsa_amd_memory_pool_allocate(pool, 54321, 0, reinterpret_cast<void **>(&big)) ||
	    hsa_amd_memory_pool_free(big))
		return 1;
	hsa_shut_down();
	return 0;
}

int main(int argc, char **argv)
{
	char name[16] = "inner";

	if (argc > 1 && !strcmp(argv[1], "ranges")) {
		roctxMarkA("mark");
		roctxRangePushA("outer");
		roctxRangePushA(name);
		strcpy(name, "gone");
		roctxRangePop();
		roctx_range_id_t id = roctxRangeStartA("everywhere");
		std::thread([=] { roctxRangeStop(id); }).join();
		roctxRangePop();
		roctxRangePop(); /* one too many */
		return 0;
	}
	return work();
}
