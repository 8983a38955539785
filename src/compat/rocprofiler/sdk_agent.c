/* SPDX-License-Identifier: MIT */
/* Agents: the nodes of the kernel driver's topology, from the driver's files; else from its library, which a software GPU has in
 * the place of a driver; else one, the CPU. HSA itself is not asked: it may be in the middle of its initialisation.
 *
 * An agent's id is its node's number + 1. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk.h"

enum { AGENTS = 64, NAME_BYTES = 64, HANDLES = 64 };

#define TOPOLOGY "/sys/class/kfd/kfd/topology/nodes"

static struct agent {
	rocprofiler_agent_v0_t info;
	char name[NAME_BYTES], product[NAME_BYTES];
} agents[AGENTS];
static unsigned agent_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* GPUs that gputap has told of, in the order of their numbers. */
static struct {
	uint64_t number;
	_Atomic uint64_t handle; /* HSA's */
} gpus[HANDLES];
static _Atomic int gpu_count;

/* Of the driver's library: the part of a node's properties that is used; it is ABI. */
struct thunk_system {
	uint32_t nodes, oem, timestamp, serial;
	uint64_t reserved[4];
};
struct thunk_node {
	uint32_t cpu_cores, fcompute_cores, memory_banks, caches, io_links, ccompute_id_low, fcompute_id_low, capability;
	uint32_t max_waves_per_simd, lds_kb, gds_kb, wave_size, shader_banks, arrays, cu_per_array, simd_per_cu, max_slots_scratch;
	union {
		struct {
			uint32_t ucode : 10, major : 6, minor : 8, stepping : 8;
		};
		uint32_t value;
	} engine;
	uint16_t vendor, device;
	uint32_t location;
	uint64_t local_memory;
	uint32_t max_clock_ccompute, max_clock_fcompute;
	int32_t drm_render_minor;
	uint16_t marketing_name[64];
	uint8_t amd_name[64];
	uint8_t rest[1024]; /* newer versions have more */
};

static const char *cpu_name(void)
{
	static char name[NAME_BYTES];
	FILE *f = name[0] ? NULL : fopen("/proc/cpuinfo", "re");
	char line[256];

	while (f && !name[0] && fgets(line, sizeof line, f))
		if (!strncmp(line, "model name", 10) && strchr(line, ':'))
			snprintf(name, sizeof name, "%.*s", NAME_BYTES - 1, strchr(line, ':') + 2);
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return name[0] ? name : "CPU";
}

static struct agent *add(uint32_t node, bool gpu)
{
	struct agent *a = &agents[agent_count];
	rocprofiler_agent_v0_t *i = &a->info;
	int of_type = 0;

	for (unsigned k = 0; k < agent_count; k++)
		of_type += agents[k].info.type == (gpu ? ROCPROFILER_AGENT_TYPE_GPU : ROCPROFILER_AGENT_TYPE_CPU);
	i->size = sizeof *i;
	i->id.handle = node + 1;
	i->type = gpu ? ROCPROFILER_AGENT_TYPE_GPU : ROCPROFILER_AGENT_TYPE_CPU;
	i->node_id = node;
	i->logical_node_id = (int32_t)agent_count;
	i->logical_node_type_id = of_type;
	i->name = a->name;
	i->product_name = a->product;
	i->model_name = "";
	i->vendor_name = gpu ? "AMD" : "CPU";
	i->runtime_visibility.hsa = 1;
	i->runtime_visibility.hip = gpu;
	agent_count++;
	return a;
}

static void name_gpu(struct agent *a)
{
	uint32_t v = a->info.gfx_target_version, major = v / 10000, minor = v / 100 % 100, stepping = v % 100;

	snprintf(a->name, sizeof a->name, "gfx%u%x%x", major, minor, stepping);
	if (!a->product[0])
		snprintf(a->product, sizeof a->product, "%s", a->name);
	a->info.workgroup_max_size = 1024;
	a->info.workgroup_max_dim = (rocprofiler_dim3_t){1024, 1024, 1024};
	a->info.grid_max_size = UINT32_MAX;
	a->info.grid_max_dim = (rocprofiler_dim3_t){UINT32_MAX, UINT32_MAX, UINT32_MAX};
	if (a->info.simd_per_cu)
		a->info.cu_count = a->info.simd_count / a->info.simd_per_cu;
	a->info.max_waves_per_cu = a->info.max_waves_per_simd * a->info.simd_per_cu;
	if (a->info.num_shader_banks)
		a->info.cu_per_engine = a->info.cu_count / a->info.num_shader_banks;
}

/* The driver's files ------------------------------------------------------------------ */

struct property {
	const char *name;
	size_t offset;
};
#define PROPERTY(text, member) {text, offsetof(rocprofiler_agent_v0_t, member)}
static const struct property properties[] = {
	PROPERTY("cpu_cores_count", cpu_cores_count), PROPERTY("simd_count", simd_count), PROPERTY("mem_banks_count", mem_banks_count),
	PROPERTY("caches_count", caches_count), PROPERTY("io_links_count", io_links_count),
	PROPERTY("cpu_core_id_base", cpu_core_id_base), PROPERTY("simd_id_base", simd_id_base),
	PROPERTY("max_waves_per_simd", max_waves_per_simd), PROPERTY("lds_size_in_kb", lds_size_in_kb),
	PROPERTY("gds_size_in_kb", gds_size_in_kb), PROPERTY("num_gws", num_gws), PROPERTY("wave_front_size", wave_front_size),
	PROPERTY("num_xcc", num_xcc), PROPERTY("array_count", array_count),
	PROPERTY("simd_arrays_per_engine", simd_arrays_per_engine), PROPERTY("cu_per_simd_array", cu_per_simd_array),
	PROPERTY("simd_per_cu", simd_per_cu), PROPERTY("max_slots_scratch_cu", max_slots_scratch_cu),
	PROPERTY("gfx_target_version", gfx_target_version), PROPERTY("location_id", location_id), PROPERTY("domain", domain),
	PROPERTY("drm_render_minor", drm_render_minor), PROPERTY("num_sdma_engines", num_sdma_engines),
	PROPERTY("num_sdma_xgmi_engines", num_sdma_xgmi_engines), PROPERTY("num_sdma_queues_per_engine", num_sdma_queues_per_engine),
	PROPERTY("num_cp_queues", num_cp_queues), PROPERTY("max_engine_clk_ccompute", max_engine_clk_ccompute),
	PROPERTY("max_engine_clk_fcompute", max_engine_clk_fcompute),
};

static bool add_from_files(uint32_t node)
{
	rocprofiler_agent_v0_t read = {0};
	char path[128], name[64];
	unsigned long long value;
	struct agent *a;
	FILE *f;

	snprintf(path, sizeof path, TOPOLOGY "/%u/properties", node);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fscanf(f, "%63s %llu", name, &value) == 2) {
		for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
			if (!strcmp(name, properties[i].name))
				*(uint32_t *)(void *)((char *)&read + properties[i].offset) = (uint32_t)value;
		if (!strcmp(name, "vendor_id"))
			read.vendor_id = (uint16_t)value;
		if (!strcmp(name, "device_id"))
			read.device_id = (uint16_t)value;
		if (!strcmp(name, "local_mem_size"))
			read.local_mem_size = value;
		if (!strcmp(name, "hive_id"))
			read.hive_id = value;
		if (!strcmp(name, "unique_id"))
			memcpy(read.uuid.bytes, &value, sizeof value);
	}
	fclose(f);
	a = &agents[agent_count];
	a->info = read;
	add(node, read.simd_count != 0);
	if (a->info.type == ROCPROFILER_AGENT_TYPE_GPU) {
		a->info.num_shader_banks =
			a->info.simd_arrays_per_engine ? a->info.array_count / a->info.simd_arrays_per_engine : a->info.array_count;
		name_gpu(a);
	} else {
		snprintf(a->name, sizeof a->name, "%s", cpu_name());
		snprintf(a->product, sizeof a->product, "%s", cpu_name());
	}
	return true;
}

/* The driver's library ------------------------------------------------------------------ */

static void add_from_thunk(uint32_t node, const struct thunk_node *t)
{
	struct agent *a = add(node, t->fcompute_cores != 0);
	rocprofiler_agent_v0_t *i = &a->info;

	i->cpu_cores_count = t->cpu_cores;
	i->simd_count = t->fcompute_cores;
	i->max_waves_per_simd = t->max_waves_per_simd;
	i->lds_size_in_kb = t->lds_kb;
	i->gds_size_in_kb = t->gds_kb;
	i->wave_front_size = t->wave_size;
	i->num_shader_banks = t->shader_banks;
	i->array_count = t->arrays;
	i->cu_per_simd_array = t->cu_per_array;
	i->simd_per_cu = t->simd_per_cu;
	i->max_slots_scratch_cu = t->max_slots_scratch;
	i->vendor_id = t->vendor;
	i->device_id = t->device;
	i->location_id = t->location;
	i->local_mem_size = t->local_memory;
	i->max_engine_clk_ccompute = t->max_clock_ccompute;
	i->max_engine_clk_fcompute = t->max_clock_fcompute;
	i->drm_render_minor = t->drm_render_minor > 0 ? (uint32_t)t->drm_render_minor : 0;
	i->gfx_target_version = t->engine.major * 10000u + t->engine.minor * 100u + t->engine.stepping;
	if (i->type == ROCPROFILER_AGENT_TYPE_GPU) {
		for (int k = 0; k < NAME_BYTES - 1 && t->marketing_name[k]; k++)
			a->product[k] = t->marketing_name[k] < 128 ? (char)t->marketing_name[k] : '?';
		name_gpu(a);
	} else {
		snprintf(a->name, sizeof a->name, "%s", cpu_name());
		snprintf(a->product, sizeof a->product, "%s", cpu_name());
	}
}

static void look_in_thunk(void)
{
	void *handle = dlopen("libhsakmt.so.1", RTLD_LAZY | RTLD_LOCAL);
	int (*open_driver)(void), (*system_of)(struct thunk_system *), (*node_of)(uint32_t, struct thunk_node *), (*release)(void),
		(*close_driver)(void);
	struct thunk_system system = {0};
	static struct thunk_node node;

	if (!handle)
		return;
	*(void **)&open_driver = dlsym(handle, "hsaKmtOpenKFD");
	*(void **)&system_of = dlsym(handle, "hsaKmtAcquireSystemProperties");
	*(void **)&node_of = dlsym(handle, "hsaKmtGetNodeProperties");
	*(void **)&release = dlsym(handle, "hsaKmtReleaseSystemProperties");
	*(void **)&close_driver = dlsym(handle, "hsaKmtCloseKFD");
	if (open_driver && system_of && node_of && close_driver && open_driver() <= 1) {
		if (system_of(&system) == 0)
			for (uint32_t n = 0; n < system.nodes && agent_count < AGENTS; n++) {
				memset(&node, 0, sizeof node);
				if (node_of(n, &node) == 0)
					add_from_thunk(n, &node);
			}
		close_driver();
	}
	dlclose(handle);
}

static void look(void)
{
	for (uint32_t n = 0; n < AGENTS && add_from_files(n); n++)
		;
	if (!agent_count)
		look_in_thunk();
	if (!agent_count) {
		struct agent *a = add(0, false);

		a->info.cpu_cores_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
		snprintf(a->name, sizeof a->name, "%s", cpu_name());
		snprintf(a->product, sizeof a->product, "%s", cpu_name());
	}
}

void sdk_agents_init(void)
{
	pthread_once(&once, look);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_query_available_agents(rocprofiler_agent_version_t version,
								   rocprofiler_query_available_agents_cb_t callback, size_t agent_size,
								   void *user_data)
{
	const void *list[AGENTS];

	if (version != ROCPROFILER_AGENT_INFO_VERSION_0)
		return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
	if (agent_size > sizeof(rocprofiler_agent_v0_t))
		return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
	pthread_once(&once, look);
	for (unsigned i = 0; i < agent_count; i++)
		list[i] = &agents[i].info;
	return callback(version, list, agent_count, user_data);
}

/* HSA's handles -------------------------------------------------------------------------- */

void sdk_on_device(const struct gputap_object *object)
{
	int at;

	sdk_lock();
	at = atomic_load(&gpu_count);
	for (int i = 0; i < at; i++)
		if (gpus[i].number == object->number)
			goto out;
	if (at == HANDLES)
		goto out;
	for (; at > 0 && gpus[at - 1].number > object->number; at--) {
		gpus[at].number = gpus[at - 1].number;
		atomic_store(&gpus[at].handle, atomic_load(&gpus[at - 1].handle));
	}
	gpus[at].number = object->number;
	atomic_store(&gpus[at].handle, object->handle);
	atomic_fetch_add(&gpu_count, 1);
out:
	sdk_unlock();
}

/* NEEDSWORK: gputap does not say which node a device is: its GPUs are taken to be in the order of nodes, and what is none of them
 * is taken for the first CPU. */
rocprofiler_agent_id_t sdk_agent_of(uint64_t hsa_handle)
{
	rocprofiler_agent_type_t type = ROCPROFILER_AGENT_TYPE_CPU;
	int of_type = 0;

	if (!hsa_handle)
		return (rocprofiler_agent_id_t){0};
	pthread_once(&once, look);
	for (int i = 0; i < atomic_load_explicit(&gpu_count, memory_order_acquire); i++)
		if (atomic_load_explicit(&gpus[i].handle, memory_order_relaxed) == hsa_handle) {
			type = ROCPROFILER_AGENT_TYPE_GPU;
			of_type = i;
			break;
		}
	for (unsigned i = 0; i < agent_count; i++)
		if (agents[i].info.type == type && agents[i].info.logical_node_type_id == of_type)
			return agents[i].info.id;
	return (rocprofiler_agent_id_t){0};
}
