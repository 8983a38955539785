/* SPDX-License-Identifier: MIT */
/* Functions shared by programs on plain HSA: see hsa_program.h. */
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <string.h>

#include "hsa_program.h"

const char *hsa_status_name(hsa_status_t status)
{
	const char *text = "?";

	hsa_status_string(status, &text);
	return text;
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;
	uint32_t flags = 0;

	MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment == HSA_AMD_SEGMENT_GLOBAL)
		MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
						  &flags));
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		((struct hsa_program *)data)->host = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_gpu_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;

	MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment == HSA_AMD_SEGMENT_GLOBAL)
		((struct hsa_program *)data)->device = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
	struct hsa_program *p = data;
	hsa_device_type_t type;

	MUST(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && !p->gpus++)
		p->gpu = agent;
	if (type == HSA_DEVICE_TYPE_CPU) {
		p->cpu = agent;
		MUST(hsa_amd_agent_iterate_memory_pools(agent, on_pool, p));
	}
	return HSA_STATUS_SUCCESS;
}

void hsa_program_start(struct hsa_program *p)
{
	memset(p, 0, sizeof *p);
	MUST(hsa_init());
	MUST(hsa_iterate_agents(on_agent, p));
	if (!p->gpus) {
		printf("no GPU\n");
		exit(1);
	}
	MUST(hsa_amd_agent_iterate_memory_pools(p->gpu, on_gpu_pool, p));
}

void hsa_program_load(struct hsa_program *p, const char *file)
{
	hsa_code_object_reader_t reader;
	FILE *f = fopen(file, "rb");
	char *bytes;
	long size;

	if (!f) {
		perror(file);
		exit(1);
	}
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	bytes = malloc((size_t)size);
	if (fread(bytes, 1, (size_t)size, f) != (size_t)size)
		exit(1);
	fclose(f);
	MUST(hsa_code_object_reader_create_from_memory(bytes, (size_t)size, &reader));
	MUST(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				       NULL, &p->code));
	MUST(hsa_executable_load_agent_code_object(p->code, p->gpu, reader, NULL, NULL));
	MUST(hsa_executable_freeze(p->code, NULL));
	MUST(hsa_code_object_reader_destroy(reader));
	free(bytes);
}

uint64_t hsa_program_kernel(struct hsa_program *p, const char *name)
{
	hsa_executable_symbol_t symbol;
	char full[128];
	uint64_t object;

	snprintf(full, sizeof full, "%s.kd", name);
	MUST(hsa_executable_get_symbol_by_name(p->code, full, &p->gpu, &symbol));
	MUST(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					    &object));
	return object;
}

void *hsa_program_memory(struct hsa_program *p, size_t bytes)
{
	void *memory;

	MUST(hsa_amd_memory_pool_allocate(p->host, bytes, 0, &memory));
	MUST(hsa_amd_agents_allow_access(1, &p->gpu, NULL, memory));
	memset(memory, 0, bytes);
	return memory;
}

hsa_queue_t *hsa_program_queue(struct hsa_program *p, uint32_t packets,
			       void (*on_error)(hsa_status_t, hsa_queue_t *, void *), void *data)
{
	hsa_queue_t *queue;

	MUST(hsa_queue_create(p->gpu, packets, HSA_QUEUE_TYPE_MULTI, on_error, data, 0, 0, &queue));
	return queue;
}

hsa_signal_t hsa_program_signal(int64_t value)
{
	hsa_signal_t signal;

	MUST(hsa_signal_create(value, 0, NULL, &signal));
	return signal;
}

/* ThreadSanitizer does not recognise the order that ROCr's atomics establish, so the atomics are
 * repeated here and below. */
void hsa_program_wait(hsa_signal_t signal)
{
	hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
				  HSA_WAIT_STATE_BLOCKED);
	__atomic_load_n((int64_t *)&((amd_signal_t *)signal.handle)->value, __ATOMIC_ACQUIRE);
}

void hsa_program_put(hsa_queue_t *queue, const void *packet, uint16_t header)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;
	uint32_t first;

	while (index - __atomic_load_n(&((amd_queue_t *)queue)->read_dispatch_id,
				       __ATOMIC_ACQUIRE) >=
	       queue->size)
		;
	memcpy(slot + 4, (const char *)packet + 4, 60);
	memcpy(&first, packet, 4);
	__atomic_store_n((uint32_t *)slot, (first & 0xffff0000u) | header, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

hsa_kernel_dispatch_packet_t hsa_program_dispatch(uint64_t kernel, void *arguments, uint32_t grid,
						  uint16_t group, hsa_signal_t done)
{
	return (hsa_kernel_dispatch_packet_t){
		.setup = 1,
		.workgroup_size_x = group,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = grid,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.kernel_object = kernel,
		.kernarg_address = arguments,
		.completion_signal = done,
	};
}
