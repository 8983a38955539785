/* SPDX-License-Identifier: MIT */
/* Agents as records name them, and the clock that their stamps are in.
 *
 * ROCr translates a device's counter into its system clock itself
 * (hsa_amd_profiling_get_dispatch_time() gives system time), which is CLOCK_BOOTTIME on Linux
 * today. Nothing is assumed: that clock is read between two host stamps now and then, and what
 * it is comes out when the capture is read (clock/).
 *
 * Entries are never freed; an agent's handle is the same for as long as the runtime lives. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "clock/clock.h"
#include "core/recording.h"
#include "runtime/hsa/hsa_activity.h"
#include "runtime/names.h"

enum { READINGS = 6 };

static struct gt_hsa_agent agents[GT_HSA_AGENTS_MAX];
static _Atomic uint32_t agent_count;

void *gt_hsa_alloc(size_t bytes)
{
	int saved = errno;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

void gt_hsa_free(void *p, size_t bytes)
{
	int saved = errno;

	if (p)
		munmap(p, bytes);
	errno = saved;
}

uint64_t gt_hsa_boottime_ns(void)
{
	return gt_ticks_boottime();
}

static bool get(const struct gt_hsa_agent *a, enum gt_hsa_agent_info what, void *value)
{
	gt_hsa_core_hsa_agent_get_info_fn *info = GT_HSA_CORE(a->runtime, hsa_agent_get_info);

	return info && info(a->handle, what, value) == GT_HSA_SUCCESS;
}

static void add_number(struct gt_text *text, const char *key, const struct gt_hsa_agent *a,
		       enum gt_hsa_agent_info what)
{
	uint32_t value = 0;

	if (get(a, what, &value))
		gt_text_add_number(text, key, value);
}

static void add_pci(struct gt_text *text, struct gt_hsa_agent *a)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t bdf = 0, domain = 0;
	char *pci = a->pci;

	if (!get(a, GT_HSA_AGENT_BDFID, &bdf))
		return;
	get(a, GT_HSA_AGENT_PCI_DOMAIN, &domain);
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

/* Names that the program gave, for agents that are met later. */
enum { NAMES_MAX = 16 };
static struct given {
	uint64_t handle;
	char pci[16], name[104];
} given[NAMES_MAX];
static uint32_t given_count;

static bool is_for(const struct given *g, const struct gt_hsa_agent *a)
{
	return g->pci[0] ? strcmp(g->pci, a->pci) == 0 : g->handle == a->handle;
}

static void give_name(struct gt_hsa_agent *a, struct gt_thread *t)
{
	struct given mine = {0};

	gt_core_lock();
	for (uint32_t i = 0; i < given_count; i++)
		if (is_for(&given[i], a))
			mine = given[i];
	gt_core_unlock();
	if (mine.name[0])
		gt_fork_replay_label(t, a->kept, mine.name);
}

/* Again: in the place of the former one. */
static void note_name(const struct given *new)
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

void gt_hsa_name_agent(struct gt_thread *t, uint64_t handle, const char *pci, const char *name)
{
	struct given new = {.handle = handle};

	snprintf(new.pci, sizeof new.pci, "%s", pci ? pci : "");
	snprintf(new.name, sizeof new.name, "%s", name);
	note_name(&new);
	for (uint32_t i = 0; i < atomic_load_explicit(&agent_count, memory_order_acquire); i++)
		if (agents[i].kept && is_for(&new, &agents[i]))
			gt_fork_replay_label(t, agents[i].kept, new.name);
}

static void write_agent(struct gt_hsa_agent *a, struct gt_thread *t)
{
	struct gt_text text = {0};
	char name[65] = "", product[65] = "", vendor[65] = "", uuid[65] = "";
	uint32_t node = 0;

	get(a, GT_HSA_AGENT_NAME, name);
	get(a, GT_HSA_AGENT_PRODUCT_NAME, product);
	get(a, GT_HSA_AGENT_VENDOR_NAME, vendor);
	get(a, GT_HSA_AGENT_UUID, uuid);
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
	gt_hsa_told_agent(a, product[0] ? product : name,
			  get(a, GT_HSA_AGENT_DRIVER_NODE, &node) ? (uint64_t)node + 1 : 0);
	a->kept = gt_fork_replay_add(t,
				     &(struct gt_object){GT_OBJECT_DEVICE, GT_DOMAIN_HSA_CORE,
							 a->number, a->handle, 0, false},
				     &text);
	give_name(a, t);
}

static struct gt_hsa_agent *find(const struct gt_hsa_runtime *runtime, uint64_t handle)
{
	uint32_t n = atomic_load_explicit(&agent_count, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		if (agents[i].handle == handle && agents[i].runtime == runtime)
			return &agents[i];
	return NULL;
}

static struct gt_hsa_agent *add(struct gt_hsa_runtime *runtime, uint64_t handle)
{
	struct gt_hsa_agent *a;
	uint32_t n, device = GT_HSA_DEVICE_CPU;

	gt_core_lock();
	a = find(runtime, handle);
	n = atomic_load_explicit(&agent_count, memory_order_relaxed);
	if (!a && n < GT_HSA_AGENTS_MAX) {
		a = &agents[n];
		a->runtime = runtime;
		a->handle = handle;
		gt_hsa_helper_clock(a);
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
	struct gt_hsa_agent *a = find(runtime, handle);

	if (!a && !(a = add(runtime, handle)))
		return NULL;
	if (gt_unlikely(a->gpu &&
			atomic_load_explicit(&a->written, memory_order_acquire) != t->epoch)) {
		if (!a->kept)
			write_agent(a, t);
		if (gt_fork_replay_write(t, a->kept))
			atomic_store_explicit(&a->written, t->epoch, memory_order_release);
		gt_hsa_agent_clock(a, t);
	}
	return a;
}

struct gt_hsa_agent *gt_hsa_agent_at(uint32_t i)
{
	return i < atomic_load_explicit(&agent_count, memory_order_acquire) ? &agents[i] : NULL;
}

/* The tightest of some readings: the first one in a while finds cold caches, and any may be
 * interrupted. */
void gt_hsa_agent_clock(struct gt_hsa_agent *a, struct gt_thread *t)
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
	gt_hsa_told_clock(a);
}
