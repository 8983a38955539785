/* SPDX-License-Identifier: MIT */
/* What plain HSA programs look for first. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;

/* For hsa_iterate_agents(): the first GPU becomes `gpu`. */
static hsa_status_t find_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	(void)data;
	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	gpu = agent;
	return HSA_STATUS_INFO_BREAK;
}

/* For hsa_amd_agent_iterate_memory_pools(): the first becomes `pool`. */
static hsa_status_t first_pool(hsa_amd_memory_pool_t p, void *data)
{
	(void)data;
	pool = p;
	return HSA_STATUS_INFO_BREAK;
}
