/* SPDX-License-Identifier: MIT */
/* level_zero_cost WHAT [ROUNDS]: measures the cost of Level Zero calls through gputap, with the
 * driver that ZE_ENABLE_ALT_DRIVERS names. bench/run.py uses the software driver, which executes no
 * kernels and runs all commands in the submitting thread.
 *
 *   calls      under `gputap run`: a recorded call without and with four arguments
 *   callback   under `gputap run --domains roctx`: a call with an empty callback of a tool
 *   pti        like callback, with an empty callback of PTI's API; ROUNDS: path of libpti_callback
 *   launches   under `gputap run`: a launch on an immediate list, with an event for each launch,
 *              and in a regular list; including the necessary resets, runs and waits
 *   threads    like launches, in four threads at once, each with its own lists
 *   layer      without gputap: a call with the loader's tracing layer (ZE_ENABLE_TRACING_LAYER=1)
 *
 * This program acts as the loader: it gets the driver's tables through the functions that the
 * dynamic linker finds (with taps) and through the functions in the driver's file (bare). Both are
 * interleaved in one process. Without gputap both are bare, which shows the noise.
 *
 * Prints "key value unit" lines. *_ratio: relative to the floor (two time stamps around the call
 * and a 64-byte record). *_over: ns in addition to the bare call. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <link.h>
#include <pthread.h>
#include <pti/pti_callback.h>
#include <pti/pti_driver_levelzero_api_ids.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gputap/tool.h"
#include "level_zero_module.h"
#include "measure.h"

enum {
	CALLS = 20000,
	TRIALS = 101,
	FLOOR_WORDS = 1 << 17,
	LAUNCHES = 2000,
	BATCH = 100,
	THREADS = 4
};

struct tables {
	ze_global_dditable_t global;
	ze_driver_dditable_t driver;
	ze_device_dditable_t device;
	ze_context_dditable_t context;
	ze_command_queue_dditable_t queue;
	ze_command_list_dditable_t list;
	ze_event_pool_dditable_t pool;
	ze_event_dditable_t event;
	ze_module_dditable_t module;
	ze_kernel_dditable_t kernel;
};

static struct tables bare, tapped;
static ze_driver_handle_t driver;
static ze_device_handle_t device;

static void fail(const char *what, ze_result_t status)
{
	fprintf(stderr, "level_zero_cost: %s: 0x%x\n", what, (unsigned)status);
	exit(1);
}

#define DO(call)                              \
	do {                                  \
		ze_result_t status_ = call;   \
		if (status_)                  \
			fail(#call, status_); \
	} while (0)

/* The driver's tables ------------------------------------------------------------ */

static const void *map_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *file;

	if (fd < 0 || fstat(fd, &st))
		fail(path, 0);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED)
		fail(path, 0);
	close(fd);
	return file;
}

/* Find an export in the library's file, because interposition changes only the exports in
 * memory. */
static void *find_in_file(void *library, const char *name)
{
	static const char *file;
	const Elf64_Ehdr *head;
	const Elf64_Shdr *sections;
	struct link_map *map;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		fail(dlerror(), 0);
	if (!file)
		file = map_file(map->l_name);
	head = (const void *)file;
	sections = (const void *)(file + head->e_shoff);
	for (unsigned i = 0; i < head->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)(file + sections[i].sh_offset);
		const char *names = file + sections[sections[i].sh_link].sh_offset;

		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		for (size_t n = 0; n < sections[i].sh_size / sizeof *symbols; n++)
			if (!strcmp(names + symbols[n].st_name, name))
				return (void *)(map->l_addr + symbols[n].st_value);
	}
	fail(name, 0);
	return NULL;
}

static void fill(void *library, bool in_file, const char *name, void *table)
{
	ze_result_t (*get)(ze_api_version_t, void *);

	*(void **)&get = in_file ? find_in_file(library, name) : dlsym(library, name);
	if (!get || get(ZE_API_VERSION_1_3, table))
		fail(name, 0);
}

static void fill_all(void *library, bool in_file, struct tables *t)
{
	fill(library, in_file, "zeGetGlobalProcAddrTable", &t->global);
	fill(library, in_file, "zeGetDriverProcAddrTable", &t->driver);
	fill(library, in_file, "zeGetDeviceProcAddrTable", &t->device);
	fill(library, in_file, "zeGetContextProcAddrTable", &t->context);
	fill(library, in_file, "zeGetCommandQueueProcAddrTable", &t->queue);
	fill(library, in_file, "zeGetCommandListProcAddrTable", &t->list);
	fill(library, in_file, "zeGetEventPoolProcAddrTable", &t->pool);
	fill(library, in_file, "zeGetEventProcAddrTable", &t->event);
	fill(library, in_file, "zeGetModuleProcAddrTable", &t->module);
	fill(library, in_file, "zeGetKernelProcAddrTable", &t->kernel);
}

static void open_driver(void)
{
	const char *path = getenv("ZE_ENABLE_ALT_DRIVERS");
	void *library = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
	uint32_t count = 1;

	if (!library)
		fail(path ? dlerror() : "ZE_ENABLE_ALT_DRIVERS is not set", 0);
	fill_all(library, true, &bare);
	fill_all(library, false, &tapped);
	DO(tapped.global.pfnInit(0));
	DO(tapped.driver.pfnGet(&count, &driver));
	DO(tapped.device.pfnGet(driver, &count, &device));
}

static ze_context_handle_t make_context(const struct tables *t)
{
	ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_context_handle_t context;

	DO(t->context.pfnCreate(driver, &desc, &context));
	return context;
}

/* Calls -------------------------------------------------------------------------- */

typedef ze_result_t (*one_argument)(ze_context_handle_t);
typedef ze_result_t (*four_arguments)(ze_context_handle_t, ze_device_handle_t, void *, size_t);

static ze_context_handle_t context;
static uint64_t floor_at, *floor_data;

static void write_floor(uint64_t start, ze_result_t ret, uint64_t a, uint64_t b, uint64_t c,
			uint64_t d)
{
	uint64_t *r = &floor_data[floor_at % FLOOR_WORDS];

	r[0] = 42;
	r[1] = start;
	r[2] = __rdtsc();
	r[3] = (uint64_t)ret;
	r[4] = a;
	r[5] = b;
	r[6] = c;
	r[7] = d;
	__atomic_store_n(&floor_at, floor_at + 8, __ATOMIC_RELEASE);
}

__attribute__((noinline)) static ze_result_t floor_one(ze_context_handle_t c)
{
	uint64_t start = __rdtsc();
	ze_result_t ret = bare.context.pfnGetStatus(c);

	write_floor(start, ret, (uintptr_t)c, 0, 0, 0);
	return ret;
}

__attribute__((noinline)) static ze_result_t floor_four(ze_context_handle_t c, ze_device_handle_t d,
							void *p, size_t n)
{
	uint64_t start = __rdtsc();
	ze_result_t ret = bare.context.pfnMakeMemoryResident(c, d, p, n);

	write_floor(start, ret, (uintptr_t)c, (uintptr_t)d, (uintptr_t)p, n);
	return ret;
}

struct function {
	one_argument one;
	four_arguments four;
};

static double one_trial(struct function f)
{
	uint64_t start = bench_now_ns();

	if (f.one)
		for (int i = 0; i < CALLS; i++)
			f.one(context);
	else
		for (int i = 0; i < CALLS; i++)
			f.four(context, device, &floor_at, (size_t)i);
	return (double)(bench_now_ns() - start) / CALLS;
}

static void print(const char *key, const char *what, double value, const char *unit)
{
	char name[96];

	snprintf(name, sizeof name, "level_zero_%s%s", key, what);
	bench_print(name, value, unit);
}

static void measure(const char *key, struct function real, struct function least,
		    struct function mine)
{
	double over[3][TRIALS], ratio[3][TRIALS], alone = bench_least_busy(NULL);
	size_t count[3] = {0};

	one_trial(mine);
	for (int i = 0; i < TRIALS; i++) {
		double before = bench_busy(), a = one_trial(real), b = one_trial(least),
		       c = one_trial(mine);
		enum bench_core kind = bench_alone(before, bench_busy(), alone);

		ratio[kind][count[kind]] = c / b;
		over[kind][count[kind]++] = c - a;
	}
	for (enum bench_core kind = BENCH_ALONE; kind <= BENCH_SHARED; kind++) {
		const char *shared = kind == BENCH_SHARED ? "_shared" : "";
		char name[64];

		if (count[kind] < 5)
			continue;
		snprintf(name, sizeof name, "%s%s", key, shared);
		print(name, "_over", bench_median(over[kind], count[kind]), "ns");
		print(name, "_ratio", bench_median(ratio[kind], count[kind]), "x");
	}
}

static void measure_calls(void)
{
	context = make_context(&tapped);
	floor_data = aligned_alloc(64, FLOOR_WORDS * 8);
	memset(floor_data, 1, FLOOR_WORDS * 8);
	measure("call", (struct function){.one = bare.context.pfnGetStatus},
		(struct function){.one = floor_one},
		(struct function){.one = tapped.context.pfnGetStatus});
	measure("call_4", (struct function){.four = bare.context.pfnMakeMemoryResident},
		(struct function){.four = floor_four},
		(struct function){.four = tapped.context.pfnMakeMemoryResident});
}

static void empty(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)call, (void)data, (void)user;
}

static void measure_notified(const char *key)
{
	context = make_context(&tapped);
	floor_data = aligned_alloc(64, FLOOR_WORDS * 8);
	memset(floor_data, 1, FLOOR_WORDS * 8);
	measure(key, (struct function){.one = bare.context.pfnGetStatus},
		(struct function){.one = floor_one},
		(struct function){.one = tapped.context.pfnGetStatus});
}

static void measure_callback(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *tool;

	if (gputap_context_create(&opts, &tool) ||
	    gputap_context_calls(tool, GPUTAP_DOMAIN_LEVEL_ZERO, NULL, 0, 0, empty, NULL))
		fail("no tool", 0);
	open_driver();
	gputap_context_start(tool);
	measure_notified("callback");
}

static void pti_empty(void *user, pti_callback_domain domain, pti_api_group_id group, uint32_t id,
		      void *data)
{
	(void)user, (void)domain, (void)group, (void)id, (void)data;
}

static void measure_pti(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	__typeof__(&ptiCallbackSubscribe) subscribe =
		library ? dlsym(library, "ptiCallbackSubscribe_proposed") : NULL;
	__typeof__(&ptiCallbackEnable) enable =
		library ? dlsym(library, "ptiCallbackEnable") : NULL;
	pti_callback_subscriber subscriber;

	if (!subscribe || !enable || subscribe(&subscriber, pti_empty, NULL) ||
	    enable(1, subscriber, PTI_API_GROUP_LEVELZERO, zeContextGetStatus_id))
		fail("no libpti_callback", 0);
	open_driver();
	measure_notified("pti_callback");
}

/* The loader's tracing layer ------------------------------------------------------ */

static void layer_callback(ze_context_get_status_params_t *params, ze_result_t status, void *user,
			   void **instance)
{
	(void)params, (void)status, (void)user, (void)instance;
}

static void load_function(void *library, const char *name, void *out)
{
	void *function = dlsym(library, name);

	if (!function)
		fail(name, 0);
	memcpy(out, &function, sizeof function);
}

#define LOADED(name) __typeof__(&name) name##_
#define LOAD(name)   load_function(loader, #name, &name##_)

static void measure_layer(void)
{
	LOADED(zeInit);
	LOADED(zeContextGetStatus);
	LOADED(zelTracerCreate);
	LOADED(zelTracerSetEnabled);
	LOADED(zelTracerContextGetStatusRegisterCallback);
	zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_DESC};
	void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
	zel_tracer_handle_t tracer;

	if (!loader)
		fail(dlerror(), 0);
	LOAD(zeInit);
	LOAD(zeContextGetStatus);
	LOAD(zelTracerCreate);
	LOAD(zelTracerSetEnabled);
	LOAD(zelTracerContextGetStatusRegisterCallback);
	DO(zeInit_(0));
	open_driver();
	context = make_context(&bare);
	floor_data = aligned_alloc(64, FLOOR_WORDS * 8);
	memset(floor_data, 1, FLOOR_WORDS * 8);
	DO(zelTracerCreate_(&desc, &tracer));
	DO(zelTracerSetEnabled_(tracer, 1));
	measure("layer_no_callback", (struct function){.one = bare.context.pfnGetStatus},
		(struct function){.one = floor_one}, (struct function){.one = zeContextGetStatus_});
	DO(zelTracerSetEnabled_(tracer, 0));
	DO(zelTracerContextGetStatusRegisterCallback_(tracer, ZEL_REGISTER_PROLOGUE,
						      layer_callback));
	DO(zelTracerContextGetStatusRegisterCallback_(tracer, ZEL_REGISTER_EPILOGUE,
						      layer_callback));
	DO(zelTracerSetEnabled_(tracer, 1));
	measure("layer_callback", (struct function){.one = bare.context.pfnGetStatus},
		(struct function){.one = floor_one}, (struct function){.one = zeContextGetStatus_});
}

/* Launches ------------------------------------------------------------------------ */

enum way { IMMEDIATE, EVENTS, REGULAR, WAYS };
static const char *const way_names[WAYS] = {"immediate", "events", "regular"};

struct side {
	const struct tables *t;
	ze_context_handle_t context;
	ze_kernel_handle_t kernel;
	ze_command_list_handle_t immediate, regular;
	ze_command_queue_handle_t queue;
	ze_event_pool_handle_t pool;
	ze_event_handle_t events[BATCH];
};

static void make_events(struct side *s)
{
	ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				     .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
				     .count = BATCH};

	DO(s->t->pool.pfnCreate(s->context, &desc, 1, &device, &s->pool));
	for (uint32_t i = 0; i < BATCH; i++) {
		ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = i};

		DO(s->t->event.pfnCreate(s->pool, &event, &s->events[i]));
	}
}

static void make_side(struct side *s, const struct tables *t)
{
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
	ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
	ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				   .format = ZE_MODULE_FORMAT_IL_SPIRV,
				   .inputSize = sizeof module_words,
				   .pInputModule = (const uint8_t *)module_words};
	ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "none"};
	ze_module_handle_t built;

	s->t = t;
	s->context = make_context(t);
	DO(t->module.pfnCreate(s->context, device, &module, &built, NULL));
	DO(t->kernel.pfnCreate(built, &kernel, &s->kernel));
	DO(t->kernel.pfnSetGroupSize(s->kernel, 1, 1, 1));
	DO(t->queue.pfnCreate(s->context, device, &queue, &s->queue));
	DO(t->list.pfnCreateImmediate(s->context, device, &queue, &s->immediate));
	DO(t->list.pfnCreate(s->context, device, &list, &s->regular));
	make_events(s);
}

static void launch_batch(const struct side *s, enum way way)
{
	const ze_group_count_t groups = {1, 1, 1};
	const struct tables *t = s->t;
	ze_command_list_handle_t list = way == REGULAR ? s->regular : s->immediate;

	for (int i = 0; i < BATCH; i++)
		DO(t->list.pfnAppendLaunchKernel(
			list, s->kernel, &groups,
			way == EVENTS || (way == IMMEDIATE && i == BATCH - 1) ? s->events[i] : NULL,
			0, NULL));
	if (way == REGULAR) {
		DO(t->list.pfnClose(list));
		DO(t->queue.pfnExecuteCommandLists(s->queue, 1, &list, NULL));
		DO(t->queue.pfnSynchronize(s->queue, UINT64_MAX));
		DO(t->list.pfnReset(list));
		return;
	}
	DO(t->event.pfnHostSynchronize(s->events[BATCH - 1], UINT64_MAX));
	for (int i = way == EVENTS ? 0 : BATCH - 1; i < BATCH; i++)
		DO(t->event.pfnHostReset(s->events[i]));
}

static double launch_block(const struct side *s, enum way way)
{
	uint64_t start = bench_now_ns();

	for (int i = 0; i < LAUNCHES; i += BATCH)
		launch_batch(s, way);
	return (double)(bench_now_ns() - start) / LAUNCHES;
}

struct launcher {
	struct side sides[2]; /* bare, tapped */
	size_t rounds;
	int cpu;
	pthread_barrier_t *barrier;
	double ns[WAYS], over[WAYS];
};

static void meet(const struct launcher *l)
{
	if (l->barrier)
		pthread_barrier_wait(l->barrier);
}

static double launch_together(const struct launcher *l, int side, enum way way)
{
	meet(l);
	return launch_block(&l->sides[side], way);
}

static void *run_launcher(void *argument)
{
	struct launcher *l = argument;
	double *ns = calloc(l->rounds, sizeof *ns), *over = calloc(l->rounds, sizeof *over);

	bench_pin(l->cpu);
	for (enum way way = IMMEDIATE; way < WAYS; way++) {
		for (int i = 0; i < 2; i++)
			launch_together(l, i, way);
		for (size_t n = 0; n < l->rounds; n++) {
			int first = (int)(n % 2);
			double took[2];

			took[first] = launch_together(l, first, way);
			took[1 - first] = launch_together(l, 1 - first, way);
			ns[n] = took[0];
			over[n] = took[1] - took[0];
		}
		l->ns[way] = bench_median(ns, l->rounds);
		l->over[way] = bench_median(over, l->rounds);
	}
	free(ns);
	free(over);
	return NULL;
}

/* Print the means over all threads. */
static void measure_launches(const char *key, int threads, size_t rounds)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	struct launcher *all = calloc((size_t)threads, sizeof *all);
	pthread_t ids[THREADS];
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		all[i].rounds = rounds;
		all[i].cpu = cpus - 1 - i % cpus;
		all[i].barrier = threads > 1 ? &barrier : NULL;
		make_side(&all[i].sides[0], &bare);
		make_side(&all[i].sides[1], &tapped);
	}
	for (int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, run_launcher, &all[i]);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (enum way way = IMMEDIATE; way < WAYS; way++) {
		double ns = 0, over = 0;
		char name[64];

		for (int i = 0; i < threads; i++) {
			ns += all[i].ns[way] / threads;
			over += all[i].over[way] / threads;
		}
		snprintf(name, sizeof name, "%s_%s", key, way_names[way]);
		print(name, "", ns, "ns");
		print(name, "_over", over, "ns");
	}
	free(all);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 0) : 100;

	bench_pin((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	if (!strcmp(what, "callback")) {
		measure_callback();
		return 0;
	}
	if (!strcmp(what, "pti")) {
		measure_pti(argc > 2 ? argv[2] : "libpti_callback.so.1");
		return 0;
	}
	if (!strcmp(what, "layer")) {
		measure_layer();
		return 0;
	}
	if (!rounds ||
	    (strcmp(what, "calls") && strcmp(what, "launches") && strcmp(what, "threads")))
		fail("usage: level_zero_cost calls|callback|pti|launches|threads|layer [ROUNDS]",
		     0);
	open_driver();
	if (what[0] == 'c')
		measure_calls();
	else if (what[0] == 'l')
		measure_launches("launch", 1, rounds);
	else
		measure_launches("launch_4t", THREADS, rounds);
	return 0;
}
