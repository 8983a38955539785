/* SPDX-License-Identifier: MIT */
/* Finds agents, which are the nodes of the kernel driver's topology. The topology is read from the
 * driver's files or, if no files exist, from the driver's library, which a software GPU provides in
 * place of a driver. If neither exists, the CPU is the only node. HSA itself is not queried,
 * because it may be in the middle of its initialisation.
 *
 * An agent's id is its node's number + 1. gputap reports the node to which each of HSA's GPU
 * handles belongs. For other handles, HSA is queried once it is in use. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk.h"

enum { AGENTS = 64, NAME_BYTES = 64, HANDLES = 64, POOLS = 256, QUEUES = 256 };

#define TOPOLOGY          "/sys/class/kfd/kfd/topology/nodes"
#define TOPOLOGY_VARIABLE "GPUTAP_ROCPROFILER_TOPOLOGY" /* names another folder, in tests */

static struct agent {
	rocprofiler_agent_v0_t info;
	char name[NAME_BYTES], product[NAME_BYTES];
} agents[AGENTS];
static unsigned agent_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Table that maps HSA's handles to agents. */
static struct {
	uint64_t handle, agent;
} known[HANDLES];
static _Atomic int known_count;

/* ABI of the driver's library: the members of a node's properties that this file uses. */
struct thunk_system {
	uint32_t nodes, oem, timestamp, serial;
	uint64_t reserved[4];
};
struct thunk_node {
	uint32_t cpu_cores, fcompute_cores, memory_banks, caches, io_links, ccompute_id_low,
		fcompute_id_low, capability;
	uint32_t max_waves_per_simd, lds_kb, gds_kb, wave_size, shader_banks, arrays, cu_per_array,
		simd_per_cu, max_slots_scratch;
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
	uint8_t rest[1024]; /* for the additional members of newer versions */
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

static struct agent *add_agent(uint32_t node, bool gpu)
{
	struct agent *a = &agents[agent_count];
	rocprofiler_agent_v0_t *i = &a->info;
	int of_type = 0;

	for (unsigned k = 0; k < agent_count; k++)
		of_type += agents[k].info.type ==
			   (gpu ? ROCPROFILER_AGENT_TYPE_GPU : ROCPROFILER_AGENT_TYPE_CPU);
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
	uint32_t v = a->info.gfx_target_version, major = v / 10000, minor = v / 100 % 100,
		 stepping = v % 100;

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

struct agent_property {
	const char *name;
	size_t offset;
};
#define PROPERTY(text, member)                                 \
	{                                                      \
		text, offsetof(rocprofiler_agent_v0_t, member) \
	}
static const struct agent_property properties[] = {
	PROPERTY("cpu_cores_count", cpu_cores_count),
	PROPERTY("simd_count", simd_count),
	PROPERTY("mem_banks_count", mem_banks_count),
	PROPERTY("caches_count", caches_count),
	PROPERTY("io_links_count", io_links_count),
	PROPERTY("cpu_core_id_base", cpu_core_id_base),
	PROPERTY("simd_id_base", simd_id_base),
	PROPERTY("max_waves_per_simd", max_waves_per_simd),
	PROPERTY("lds_size_in_kb", lds_size_in_kb),
	PROPERTY("gds_size_in_kb", gds_size_in_kb),
	PROPERTY("num_gws", num_gws),
	PROPERTY("wave_front_size", wave_front_size),
	PROPERTY("num_xcc", num_xcc),
	PROPERTY("array_count", array_count),
	PROPERTY("simd_arrays_per_engine", simd_arrays_per_engine),
	PROPERTY("cu_per_simd_array", cu_per_simd_array),
	PROPERTY("simd_per_cu", simd_per_cu),
	PROPERTY("max_slots_scratch_cu", max_slots_scratch_cu),
	PROPERTY("gfx_target_version", gfx_target_version),
	PROPERTY("location_id", location_id),
	PROPERTY("domain", domain),
	PROPERTY("drm_render_minor", drm_render_minor),
	PROPERTY("num_sdma_engines", num_sdma_engines),
	PROPERTY("num_sdma_xgmi_engines", num_sdma_xgmi_engines),
	PROPERTY("num_sdma_queues_per_engine", num_sdma_queues_per_engine),
	PROPERTY("num_cp_queues", num_cp_queues),
	PROPERTY("max_engine_clk_ccompute", max_engine_clk_ccompute),
	PROPERTY("max_engine_clk_fcompute", max_engine_clk_fcompute),
	PROPERTY("capability", capability),
	PROPERTY("fw_version", fw_version),
	PROPERTY("sdma_fw_version", sdma_fw_version),
};

static bool add_from_files(uint32_t node)
{
	const char *topology = getenv(TOPOLOGY_VARIABLE);
	rocprofiler_agent_v0_t read = {0};
	char folder[256], path[300], name[64];
	unsigned long long value;
	struct agent *a;
	FILE *f;

	snprintf(folder, sizeof folder, "%s/%u", topology ? topology : TOPOLOGY, node);
	snprintf(path, sizeof path, "%s/properties", folder);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fscanf(f, "%63s %llu", name, &value) == 2) {
		for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
			if (!strcmp(name, properties[i].name))
				*(uint32_t *)(void *)((char *)&read + properties[i].offset) =
					(uint32_t)value;
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
	add_agent(node, read.simd_count != 0);
	if (a->info.type == ROCPROFILER_AGENT_TYPE_GPU) {
		a->info.num_shader_banks =
			a->info.simd_arrays_per_engine
				? a->info.array_count / a->info.simd_arrays_per_engine
				: a->info.array_count;
		name_gpu(a);
	} else {
		snprintf(a->name, sizeof a->name, "%s", cpu_name());
		snprintf(a->product, sizeof a->product, "%s", cpu_name());
	}
	sdk_node_files(folder, &a->info);
	return true;
}

/* The driver's library ------------------------------------------------------------------ */

static void add_from_thunk(void *library, uint32_t node, const struct thunk_node *t)
{
	struct agent *a = add_agent(node, t->fcompute_cores != 0);
	rocprofiler_agent_v0_t *i = &a->info;

	i->mem_banks_count = t->memory_banks;
	i->caches_count = t->caches;
	i->io_links_count = t->io_links;
	i->cpu_core_id_base = t->ccompute_id_low;
	i->simd_id_base = t->fcompute_id_low;
	memcpy(&i->capability, &t->capability, sizeof t->capability);
	sdk_node_thunk(library, node,
		       i->type == ROCPROFILER_AGENT_TYPE_GPU ? t->fcompute_id_low
							     : t->ccompute_id_low,
		       i);
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
	i->gfx_target_version =
		t->engine.major * 10000u + t->engine.minor * 100u + t->engine.stepping;
	if (i->type == ROCPROFILER_AGENT_TYPE_GPU) {
		for (int k = 0; k < NAME_BYTES - 1 && t->marketing_name[k]; k++)
			a->product[k] =
				t->marketing_name[k] < 128 ? (char)t->marketing_name[k] : '?';
		name_gpu(a);
	} else {
		snprintf(a->name, sizeof a->name, "%s", cpu_name());
		snprintf(a->product, sizeof a->product, "%s", cpu_name());
	}
}

static void look_in_thunk(void)
{
	void *handle = dlopen("libhsakmt.so.1", RTLD_LAZY | RTLD_LOCAL);
	int (*open_driver)(void), (*system_of)(struct thunk_system *),
		(*node_of)(uint32_t, struct thunk_node *), (*release)(void), (*close_driver)(void);
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
					add_from_thunk(handle, n, &node);
			}
		close_driver();
	}
	dlclose(handle);
}

static void find_agents(void)
{
	for (uint32_t n = 0; n < AGENTS && add_from_files(n); n++)
		;
	if (!agent_count)
		look_in_thunk();
	if (!agent_count) {
		struct agent *a = add_agent(0, false);

		a->info.cpu_cores_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
		snprintf(a->name, sizeof a->name, "%s", cpu_name());
		snprintf(a->product, sizeof a->product, "%s", cpu_name());
	}
}

void sdk_agents_init(void)
{
	pthread_once(&once, find_agents);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_query_available_agents(
	rocprofiler_agent_version_t version, rocprofiler_query_available_agents_cb_t callback,
	size_t agent_size, void *user_data)
{
	const void *list[AGENTS];

	if (version != ROCPROFILER_AGENT_INFO_VERSION_0)
		return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
	if (agent_size > sizeof(rocprofiler_agent_v0_t))
		return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
	pthread_once(&once, find_agents);
	for (unsigned i = 0; i < agent_count; i++)
		list[i] = &agents[i].info;
	return callback(version, list, agent_count, user_data);
}

/* HSA's handles -------------------------------------------------------------------------- */

static const uint32_t driver_node = 0xa004; /* HSA_AMD_AGENT_INFO_DRIVER_NODE_ID */

static uint64_t agent_of_node(uint64_t node)
{
	pthread_once(&once, find_agents);
	for (unsigned i = 0; i < agent_count; i++)
		if (agents[i].info.node_id == node)
			return agents[i].info.id.handle;
	return 0;
}

static void remember(uint64_t handle, uint64_t agent)
{
	int at;

	sdk_lock();
	at = atomic_load(&known_count);
	for (int i = 0; i < at; i++)
		if (known[i].handle == handle)
			at = HANDLES;
	if (at < HANDLES) {
		known[at].handle = handle;
		known[at].agent = agent;
		atomic_store_explicit(&known_count, at + 1, memory_order_release);
	}
	sdk_unlock();
}

void sdk_on_device(const struct gputap_object *object)
{
	if (object->node)
		remember(object->handle, agent_of_node(object->node - 1));
}

/* Return a function of the mapped runtime, or NULL if there is none. Calls of the function are
 * gputap's own calls. */
static void *hsa_function(const char *name)
{
	static _Atomic(void *) runtime;
	void *handle = atomic_load(&runtime);

	if (!handle) {
		handle = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
		atomic_store(&runtime, handle);
	}
	return handle ? dlsym(handle, name) : NULL;
}

static uint64_t ask_for_node(uint64_t handle)
{
	int (*get_info)(uint64_t, uint32_t, void *);
	uint32_t node = 0;
	int status;

	*(void **)&get_info = hsa_function("hsa_agent_get_info");
	if (!get_info)
		return 0;
	gputap_suppress_begin();
	status = get_info(handle, driver_node, &node);
	gputap_suppress_end();
	return status == 0 ? agent_of_node(node) : 0;
}

rocprofiler_agent_id_t sdk_agent_of(uint64_t hsa_handle)
{
	uint64_t agent;

	if (!hsa_handle)
		return (rocprofiler_agent_id_t){0};
	for (int i = 0; i < atomic_load_explicit(&known_count, memory_order_acquire); i++)
		if (known[i].handle == hsa_handle)
			return (rocprofiler_agent_id_t){known[i].agent};
	agent = ask_for_node(hsa_handle);
	if (agent)
		remember(hsa_handle, agent);
	return (rocprofiler_agent_id_t){agent};
}

/* Regions and pools of memory ------------------------------------------------------------- */

static struct pool {
	uint64_t handle, agent;
} pools[POOLS];
static _Atomic int pool_count;

static int add_pool(uint64_t pool, void *agent)
{
	int at;

	sdk_lock();
	at = atomic_load(&pool_count);
	for (int i = 0; i < at; i++)
		if (pools[i].handle == pool)
			at = POOLS;
	if (at < POOLS) {
		pools[at] = (struct pool){pool, *(const uint64_t *)agent};
		atomic_store_explicit(&pool_count, at + 1, memory_order_release);
	}
	sdk_unlock();
	return 0;
}

typedef int iterate_fn(uint64_t agent, int (*each)(uint64_t, void *), void *data);

static int add_pools(uint64_t hsa_agent, void *data)
{
	uint64_t agent = sdk_agent_of(hsa_agent).handle;
	iterate_fn *const *iterate = data;

	for (int i = 0; i < 2; i++)
		if (iterate[i])
			iterate[i](hsa_agent, add_pool, &agent);
	return 0;
}

static uint64_t find_pool(uint64_t pool)
{
	for (int i = 0; i < atomic_load_explicit(&pool_count, memory_order_acquire); i++)
		if (pools[i].handle == pool)
			return pools[i].agent;
	return 0;
}

rocprofiler_agent_id_t sdk_agent_of_pool(uint64_t pool)
{
	int (*agents_iterate)(int (*each)(uint64_t, void *), void *data);
	iterate_fn *iterate[2];
	uint64_t agent = find_pool(pool);

	*(void **)&agents_iterate = agent ? NULL : hsa_function("hsa_iterate_agents");
	if (agents_iterate) {
		*(void **)&iterate[0] = hsa_function("hsa_amd_agent_iterate_memory_pools");
		*(void **)&iterate[1] = hsa_function("hsa_agent_iterate_regions");
		gputap_suppress_begin();
		agents_iterate(add_pools, iterate);
		gputap_suppress_end();
		agent = find_pool(pool);
	}
	return (rocprofiler_agent_id_t){agent};
}

/* Queues ------------------------------------------------------------------------------------ */

/* A program's queue and the runtime's queue that implements it share one id. */
static struct agent_queue {
	uint64_t handle, number, device;
	uint64_t id; /* the runtime's id of the queue, the last member of hsa_queue_t */
} queues[QUEUES];

enum { ID_AT = 32 };

static uint64_t number_of_queue(const struct gputap_object *queue)
{
	/* copy engines have no queue in memory */
	return queue->handle == queue->device_handle ? UINT64_MAX
						     : *(const uint64_t *)(queue->handle + ID_AT);
}

void sdk_on_queue(const struct gputap_object *object)
{
	struct agent_queue *at = NULL;

	sdk_lock();
	for (int i = QUEUES; i-- > 0;)
		if (queues[i].handle == object->handle ||
		    (!queues[i].handle && !(at && at->handle)))
			at = &queues[i];
	if (at && object->phase == GPUTAP_OBJECT_PHASE_LOAD)
		*at = (struct agent_queue){object->handle, object->number, object->device_handle,
					   number_of_queue(object)};
	else if (at && at->handle == object->handle)
		at->handle = 0;
	sdk_unlock();
}

void sdk_queue_of(uint64_t handle, uint64_t own_id, rocprofiler_queue_id_t *id,
		  rocprofiler_agent_id_t *agent)
{
	struct agent_queue found = {.number = own_id};

	sdk_lock();
	for (int i = 0; i < QUEUES; i++)
		if (queues[i].handle == handle || (queues[i].handle && queues[i].id == own_id))
			found = queues[i];
	sdk_unlock();
	id->handle = found.number;
	*agent = sdk_agent_of(found.device);
}
