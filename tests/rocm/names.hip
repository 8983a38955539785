/* SPDX-License-Identifier: MIT */
/* Name a thread, a device (before it has a queue, with HIP's number) and a stream, and launch a
 * kernel. "agent": name the device with HSA's handle instead. */
#include <hip/hip_runtime.h>
#include <hsa/hsa.h>

#include "compat/roctx/roctx.h"

__global__ void nothing()
{
}

static hsa_status_t name_gpu(hsa_agent_t agent, void *)
{
	hsa_device_type_t type;

	if (hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) == HSA_STATUS_SUCCESS &&
	    type == HSA_DEVICE_TYPE_GPU)
		roctxNameHsaAgent("agent of ours", (const struct hsa_agent_s *)&agent);
	return HSA_STATUS_SUCCESS;
}

int main(int argc, char **)
{
	hipStream_t streams[2];

	roctxNameOsThread("first name");
	roctxNameOsThread("the launching thread with a long name");
	if (hipSetDevice(0) != hipSuccess)
		return 1;
	if (argc > 1)
		hsa_iterate_agents(name_gpu, nullptr);
	else
		roctxNameHipDevice("card of ours", 0);
	for (int i = 0; i < 2; i++)
		if (hipStreamCreate(&streams[i]) != hipSuccess)
			return 1;
	roctxNameHipStream("compute", (const struct ihipStream_t *)streams[1]);
	nothing<<<1, 64, 0, streams[1]>>>();
	return hipDeviceSynchronize() != hipSuccess;
}
