/* SPDX-License-Identifier: MIT */
/* See hsa_agent.h.
 *
 * ROCr itself translates a device's counter into its system clock
 * (hsa_amd_profiling_get_dispatch_time() returns system time), which currently is CLOCK_BOOTTIME on
 * Linux. gputap does not rely on that. From time to time gputap reads the system clock between two
 * host times, and the reader of the capture determines which clock it is (clock/).
 *
 * Entries are never freed. An agent's handle stays the same for the lifetime of the runtime. */
#include "runtime/hsa/hsa_agent.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock/clock.h"
#include "core/recording.h"
#include "runtime/rocm.h"

enum { READINGS = 6 };
/* Tolerance when a reading of the runtime's clock must lie between two readings of the host's
 * clock. */
#define SAME_NS UINT64_C(100000)

static struct gt_hsa_agent agents[GT_HSA_AGENTS_MAX];
static _Atomic uint32_t agent_count;

static bool get_info(const struct gt_hsa_agent *a, enum gt_hsa_agent_info what, void *value)
{
	gt_hsa_core_hsa_agent_get_info_fn *info = GT_HSA_CORE(a->runtime, hsa_agent_get_info);

	return info && info(a->handle, what, value) == GT_HSA_SUCCESS;
}

static void add_number(struct gt_text *text, const char *key, const struct gt_hsa_agent *a,
		       enum gt_hsa_agent_info what)
{
	uint32_t value = 0;

	if (get_info(a, what, &value))
		gt_text_add_number(text, key, value);
}

static void add_pci(struct gt_text *text, struct gt_hsa_agent *a)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t bdf = 0, domain = 0;
	char *pci = a->pci;

	if (!get_info(a, GT_HSA_AGENT_BDFID, &bdf))
		return;
	get_info(a, GT_HSA_AGENT_PCI_DOMAIN, &domain);
	for (int i = 0; i < 4; i++)
		pci[i] = digits[domain >> (12 - 4 * i) & 15];
	pci[4] = ':';
	pci[5] = digits[bdf >> 12 & 15];
	pci[6] = digits[bdf >> 8 & 15];
	pci[7] = ':';
	pci[8] = digits[bdf >> 3 >> 4 & 1];
	pci[9] = digits[bdf >> 3 & 15];
	pci[10] = '.';
	pci[11] = digits[bdf & 7];
	gt_text_add_bytes(text, "pci", pci, 12);
}

/* Device names that the program assigned to agents that gputap does not know yet. */
enum { NAMES_MAX = 16 };
static struct given {
	uint64_t handle;
	char pci[16], name[104];
} given[NAMES_MAX];
static uint32_t given_count;

static bool is_name_for(const struct given *g, const struct gt_hsa_agent *a)
{
	return g->pci[0] ? strcmp(g->pci, a->pci) == 0 : g->handle == a->handle;
}

static void give_name(struct gt_hsa_agent *a, struct gt_thread *t)
{
	struct given mine = {0};

	gt_core_lock();
	for (uint32_t i = 0; i < given_count; i++)
		if (is_name_for(&given[i], a))
			mine = given[i];
	gt_core_unlock();
	if (mine.name[0])
		gt_fork_replay_label(t, a->replay, mine.name);
}

/* Store a name, which replaces an earlier name of the same device. */
static void keep_name(const struct given *new)
{
	uint32_t i = 0;

	gt_core_lock();
	while (i < given_count &&
	       (given[i].handle != new->handle || strcmp(given[i].pci, new->pci) != 0))
		i++;
	if (i < NAMES_MAX) {
		given[i] = *new;
		given_count = i == given_count ? i + 1 : given_count;
	}
	gt_core_unlock();
}

static void name_agent(struct gt_thread *t, uint64_t handle, const char *pci, const char *name)
{
	struct given new = {.handle = handle};

	snprintf(new.pci, sizeof new.pci, "%s", pci ? pci : "");
	snprintf(new.name, sizeof new.name, "%s", name);
	keep_name(&new);
	for (uint32_t i = 0; i < atomic_load_explicit(&agent_count, memory_order_acquire); i++)
		if (agents[i].replay && is_name_for(&new, &agents[i]))
			gt_fork_replay_label(t, agents[i].replay, new.name);
}

/* Add the agent's tool object. The next gt_hsa_notify_agents() notifies tools of it. */
static void add_tool_object(struct gt_hsa_agent *a, const char *name, uint64_t node)
{
	const struct gputap_object o = {
		.domain = GPUTAP_DOMAIN_HSA_CORE,
		.type = GPUTAP_OBJECT_DEVICE,
		.number = a->number,
		.handle = a->handle,
		.device_handle = a->handle,
		.name = gt_tool_text(name, strlen(name)),
		.storage_file = -1,
		.node = node,
	};

	a->object = gt_tool_object_add(&o, NULL);
	atomic_store_explicit(&a->unnotified, 1, memory_order_release);
}

static void write_agent(struct gt_hsa_agent *a, struct gt_thread *t)
{
	struct gt_text text = {0};
	char name[65] = "", product[65] = "", vendor[65] = "", uuid[65] = "";
	uint32_t node = 0;

	get_info(a, GT_HSA_AGENT_NAME, name);
	get_info(a, GT_HSA_AGENT_PRODUCT_NAME, product);
	get_info(a, GT_HSA_AGENT_VENDOR_NAME, vendor);
	get_info(a, GT_HSA_AGENT_UUID, uuid);
	gt_text_add(&text, "name", product[0] ? product : name);
	gt_text_add(&text, "vendor", vendor);
	if (uuid[0])
		gt_text_add(&text, "uuid", uuid);
	add_pci(&text, a);
	gt_text_add(&text, "type", a->gpu ? "gpu" : "cpu");
	gt_text_add(&text, "isa", name);
	add_number(&text, "compute_units", a, GT_HSA_AGENT_COMPUTE_UNITS);
	add_number(&text, "simds_per_compute_unit", a, GT_HSA_AGENT_SIMDS_PER_CU);
	add_number(&text, "waves_per_compute_unit", a, GT_HSA_AGENT_MAX_WAVES_PER_CU);
	add_number(&text, "shader_engines", a, GT_HSA_AGENT_SHADER_ENGINES);
	add_number(&text, "wavefront", a, GT_HSA_AGENT_WAVEFRONT_SIZE);
	add_number(&text, "max_clock_mhz", a, GT_HSA_AGENT_MAX_CLOCK_MHZ);
	add_number(&text, "chip", a, GT_HSA_AGENT_CHIP_ID);
	add_number(&text, "node", a, GT_HSA_AGENT_DRIVER_NODE);
	add_tool_object(a, product[0] ? product : name,
			get_info(a, GT_HSA_AGENT_DRIVER_NODE, &node) ? (uint64_t)node + 1 : 0);
	a->replay = gt_fork_replay_add(t,
				       &(struct gt_object){GT_OBJECT_DEVICE, GT_DOMAIN_HSA_CORE,
							   a->number, a->handle, 0, false},
				       &text);
	give_name(a, t);
}

static struct gt_hsa_agent *find_agent(const struct gt_hsa_runtime *runtime, uint64_t handle)
{
	uint32_t n = atomic_load_explicit(&agent_count, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		if (agents[i].handle == handle && agents[i].runtime == runtime)
			return &agents[i];
	return NULL;
}

static struct gt_hsa_agent *add_agent(struct gt_hsa_runtime *runtime, uint64_t handle)
{
	struct gt_hsa_agent *a;
	uint32_t n, device = GT_HSA_DEVICE_CPU;

	gt_core_lock();
	a = find_agent(runtime, handle);
	n = atomic_load_explicit(&agent_count, memory_order_relaxed);
	if (!a && n < GT_HSA_AGENTS_MAX) {
		a = &agents[n];
		a->runtime = runtime;
		a->handle = handle;
		a->before = a->middle = a->now = gt_hsa_read_clocks();
		if (GT_HSA_CORE(runtime, hsa_agent_get_info)(handle, GT_HSA_AGENT_DEVICE,
							     &device) == GT_HSA_SUCCESS)
			a->gpu = device == GT_HSA_DEVICE_GPU;
		a->number = a->gpu ? gt_object_number(GT_OBJECT_DEVICE) : 0;
		atomic_store_explicit(&agent_count, n + 1, memory_order_release);
	}
	gt_core_unlock();
	return a;
}

struct gt_hsa_agent *gt_hsa_agent_get(struct gt_hsa_runtime *runtime, struct gt_thread *t,
				      uint64_t handle)
{
	struct gt_hsa_agent *a = find_agent(runtime, handle);

	if (!a && !(a = add_agent(runtime, handle)))
		return NULL;
	if (gt_unlikely(a->gpu &&
			atomic_load_explicit(&a->written, memory_order_acquire) != t->epoch)) {
		if (!a->replay && !atomic_exchange(&a->claimed, 1))
			write_agent(a, t);
		if (a->replay && gt_fork_replay_write(t, a->replay))
			atomic_store_explicit(&a->written, t->epoch, memory_order_release);
		gt_hsa_agent_read_clock(a, t);
	}
	return a;
}

struct gt_hsa_agent *gt_hsa_agent_at(uint32_t i)
{
	return i < atomic_load_explicit(&agent_count, memory_order_acquire) ? &agents[i] : NULL;
}

/* Measure the current offset from the runtime's clock to CLOCK_BOOTTIME. */
static void compare_clocks(struct gt_hsa_agent *a)
{
	gt_hsa_core_hsa_system_get_info_fn *info = GT_HSA_CORE(a->runtime, hsa_system_get_info);
	uint64_t stamp = 0, hz = 0, before, after, ns;

	if (info(GT_HSA_SYSTEM_TIMESTAMP_FREQUENCY, &hz) != GT_HSA_SUCCESS || !hz)
		return;
	before = gt_hsa_boottime_ns();
	if (info(GT_HSA_SYSTEM_TIMESTAMP, &stamp) != GT_HSA_SUCCESS)
		return;
	after = gt_hsa_boottime_ns();
	ns = hz == UINT64_C(1000000000) ? stamp
					: (uint64_t)((unsigned __int128)stamp * 1000000000u / hz);
	if (ns + SAME_NS >= before && ns <= after + SAME_NS)
		atomic_store_explicit(&a->to_boottime, 0, memory_order_relaxed);
	else
		atomic_store_explicit(&a->to_boottime,
				      (int64_t)(before + (after - before) / 2 - ns),
				      memory_order_relaxed);
	atomic_store_explicit(&a->clock_hz, hz, memory_order_relaxed);
}

uint64_t gt_hsa_agent_to_boottime(const struct gt_hsa_agent *a, uint64_t stamp)
{
	uint64_t hz = atomic_load_explicit(&a->clock_hz, memory_order_relaxed);

	if (!stamp)
		return 0;
	if (gt_unlikely(hz && hz != UINT64_C(1000000000)))
		stamp = (uint64_t)((unsigned __int128)stamp * 1000000000u / hz);
	return stamp + (uint64_t)atomic_load_explicit(&a->to_boottime, memory_order_relaxed);
}

/* Read the clock. The tightest of several readings is used, because the first one after a pause
 * finds cold caches, and any reading may be interrupted. */
void gt_hsa_agent_read_clock(struct gt_hsa_agent *a, struct gt_thread *t)
{
	gt_hsa_core_hsa_system_get_info_fn *info = GT_HSA_CORE(a->runtime, hsa_system_get_info);
	uint64_t best[2] = {0, UINT64_MAX}, at = 0;

	for (int i = 0; i < READINGS; i++) {
		uint64_t stamp = 0, before = gt_ticks(), after;

		if (info(GT_HSA_SYSTEM_TIMESTAMP, &stamp) != GT_HSA_SUCCESS)
			return;
		after = gt_ticks();
		if (after - before >= best[1] - best[0])
			continue;
		best[0] = before;
		best[1] = after;
		at = stamp;
	}
	gt_clock_write(t, (uint32_t)a->number, GT_CLOCK_TIMER, best[0], best[1], at, 0);
	a->clock_read_ns = gt_hsa_boottime_ns();
	compare_clocks(a);
}

void gt_hsa_notify_agents(void)
{
	struct gt_hsa_agent *a;

	for (uint32_t i = 0; (a = gt_hsa_agent_at(i)) != NULL; i++)
		if (gt_unlikely(atomic_load_explicit(&a->unnotified, memory_order_relaxed)) &&
		    atomic_exchange_explicit(&a->unnotified, 0, memory_order_acquire))
			gt_tool_object_loaded(a->object);
}

uint32_t gt_hsa_agent_position(const struct gt_hsa_agent *a)
{
	return (uint32_t)(a - agents);
}

static bool get_rocm_device(uint32_t position, struct gt_rocm_device *device)
{
	uint32_t n = atomic_load_explicit(&agent_count, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		if (!agents[i].gpu || position--)
			continue;
		*device =
			(struct gt_rocm_device){agents[i].number, agents[i].handle, agents[i].pci};
		return true;
	}
	return false;
}

struct meeting {
	struct gt_hsa_runtime *runtime;
	struct gt_thread *t;
};

static int meet_agent(uint64_t handle, void *data)
{
	const struct meeting *m = data;
	uint32_t device = GT_HSA_DEVICE_CPU;

	if (GT_HSA_CORE(m->runtime, hsa_agent_get_info)(handle, GT_HSA_AGENT_DEVICE, &device) ==
		    GT_HSA_SUCCESS &&
	    device == GT_HSA_DEVICE_GPU)
		gt_hsa_agent_get(m->runtime, m->t, handle);
	return GT_HSA_SUCCESS;
}

static void meet_all_agents(struct gt_thread *t)
{
	for (uint32_t i = 0; i < GT_INSTANCES; i++) {
		struct meeting m = {&gt_hsa_runtimes[i], t};

		if (m.runtime->tables && GT_HSA_CORE(m.runtime, hsa_iterate_agents))
			GT_HSA_CORE(m.runtime, hsa_iterate_agents)
		((void *)(uintptr_t)meet_agent, &m);
	}
}

GT_PROVIDE(gt_rocm_devices) = {.get = get_rocm_device, .name = name_agent, .meet = meet_all_agents};

void gt_hsa_wake_helper(struct gt_hsa_agent *a)
{
	int saved = errno;

	if (atomic_exchange_explicit(&a->asleep, 0, memory_order_relaxed))
		syscall(SYS_futex, &a->asleep, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}
