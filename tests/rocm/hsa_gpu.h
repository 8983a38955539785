/* SPDX-License-Identifier: MIT */
/* Looks up the objects that plain HSA programs need first. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;

/* Callback of hsa_iterate_agents(): store the first GPU in `gpu`. */
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

/* Callback of hsa_amd_agent_iterate_memory_pools(): store the first pool in `pool`. */
static hsa_status_t first_pool(hsa_amd_memory_pool_t p, void *data)
{
	(void)data;
	pool = p;
	return HSA_STATUS_INFO_BREAK;
}
