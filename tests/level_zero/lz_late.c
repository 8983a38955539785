/* SPDX-License-Identifier: MIT */
/* A Level Zero program to which gputap attaches while it runs: lz_late LIBGPUTAP [FOLDER]
 *
 * Creates contexts, kernels, lists, queues, events and memory on the first device of each driver,
 * then obeys the lines on its standard input, and answers each with a line. With FOLDER, it first
 * attaches to the session in that folder, and opens Level Zero's loader only then.
 *
 *   attach FOLDER          open LIBGPUTAP, call gputap_attach(FOLDER), and answer the result
 *   immediate WHICH N HOW  N kernels and copies on an immediate list, which is old or new (WHICH)
 *                          HOW: bare: without events; timed, plain: with events created at the
 *                          start, with or without times, which it waits for and resets; fresh: with
 *                          events created now, without times
 *   run WHICH N            N runs of a regular list with a kernel and a copy, on the old queue
 *                          WHICH: old: closed at the start; reset: the same list, recorded again;
 *                          new; open: an old list with a kernel, which gets another kernel
 *   again N                N more runs of the list that "run reset" has recorded
 *   append                 record the list of "run reset" again, without a run
 *   launch N               N kernels on the old immediate list, without a wait
 *   directions N           N copies from plain host memory to old device memory, and back
 *   named N                N events, created with a function that the program looked up earlier
 *   remake                 create the kernels again
 *   events                 create the event without times again
 *   start, join            start threads that launch kernels on old lists; end them
 *   counts                 answer the calls since the last "counts", except those of threads
 *   value                  answer how often the kernels ran
 *   quit */
#include <dlfcn.h>
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(X) \
	X(zeCommandListAppendBarrier) X(zeCommandListAppendLaunchKernel) \
	X(zeCommandListAppendMemoryCopy) X(zeCommandListClose) X(zeCommandListCreate) \
	X(zeCommandListCreateImmediate) X(zeCommandListDestroy) X(zeCommandListReset) \
	X(zeCommandQueueCreate) X(zeCommandQueueExecuteCommandLists) X(zeCommandQueueSynchronize) \
	X(zeContextCreate) X(zeDeviceGet) X(zeDriverGet) X(zeDriverGetExtensionFunctionAddress) \
	X(zeEventCreate) X(zeEventDestroy) \
	X(zeEventHostReset) X(zeEventHostSynchronize) X(zeEventPoolCreate) X(zeEventPoolDestroy) \
	X(zeInit) X(zeKernelCreate) X(zeKernelDestroy) X(zeKernelSetArgumentValue) \
	X(zeKernelSetGroupSize) X(zeMemAllocDevice) X(zeMemAllocShared) X(zeModuleCreate)
/* clang-format on */

enum {
#define X(name) INDEX_##name,
	FUNCTIONS(X)
#undef X
		INDEX_COUNT
};
static const char *const names[] = {
#define X(name) #name,
	FUNCTIONS(X)
#undef X
};

/* Functions in memory that belongs to no object. */
static struct {
#define X(name) __typeof__(&name) name##_;
	FUNCTIONS(X)
#undef X
} * ze;

enum { DRIVERS = 2, COUNT = 256, GROUP = 32, THREADS = 4 };

struct worker {
	ze_command_list_handle_t list;
	ze_kernel_handle_t kernel;
	ze_event_handle_t event;
	int *numbers;
	long launches;
	pthread_t thread;
};

/* A function without an entry in a table, in memory that belongs to no object. */
static ze_result_t (**by_name)(void *, void *, const void *, ze_event_handle_t *);

static struct side {
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	ze_command_list_handle_t immediate, closed, open;
	ze_command_queue_handle_t queue;
	ze_event_pool_handle_t pools[2];
	ze_event_handle_t timed, plain;
	int *numbers, *on_device;
	struct worker workers[THREADS];
} sides[DRIVERS];
static uint32_t side_count = DRIVERS;
static _Atomic long counts[INDEX_COUNT];
static _Atomic int stopped;
static __thread int is_worker;

static void check(ze_result_t status, const char *what)
{
	if (status == ZE_RESULT_SUCCESS)
		return;
	printf("%s: 0x%x\n", what, status);
	exit(1);
}

#define DO(name, ...)                                               \
	do {                                                        \
		if (!is_worker)                                     \
			atomic_fetch_add(&counts[INDEX_##name], 1); \
		check(ze->name##_(__VA_ARGS__), #name);             \
	} while (0)

static ze_event_handle_t make_event(struct side *s, ze_event_pool_flags_t flags,
				    ze_event_pool_handle_t *pool)
{
	ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				     .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags,
				     .count = 1};
	ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
	ze_event_handle_t event;

	DO(zeEventPoolCreate, s->context, &desc, 0, NULL, pool);
	DO(zeEventCreate, *pool, &event_desc, &event);
	return event;
}

static ze_command_list_handle_t make_immediate(struct side *s)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
	ze_command_list_handle_t list;

	DO(zeCommandListCreateImmediate, s->context, s->device, &desc, &list);
	return list;
}

static ze_command_list_handle_t make_regular(struct side *s)
{
	ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
	ze_command_list_handle_t list;

	DO(zeCommandListCreate, s->context, s->device, &desc, &list);
	return list;
}

static ze_kernel_handle_t make_kernel(struct side *s, int *numbers)
{
	ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "increase"};
	ze_kernel_handle_t kernel;

	DO(zeKernelCreate, s->module, &desc, &kernel);
	DO(zeKernelSetGroupSize, kernel, GROUP, 1, 1);
	DO(zeKernelSetArgumentValue, kernel, 0, sizeof numbers, &numbers);
	return kernel;
}

static int *make_numbers(struct side *s)
{
	ze_device_mem_alloc_desc_t dd = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_host_mem_alloc_desc_t hd = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	int *numbers;

	DO(zeMemAllocShared, s->context, &dd, &hd, COUNT * sizeof *numbers, 64, s->device,
	   (void **)&numbers);
	memset(numbers, 0, COUNT * sizeof *numbers);
	return numbers;
}

static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
		   ze_event_handle_t event)
{
	const ze_group_count_t groups = {COUNT / GROUP, 1, 1};

	DO(zeCommandListAppendLaunchKernel, list, kernel, &groups, event, 0, NULL);
}

static void append(struct side *s, ze_command_list_handle_t list)
{
	launch(list, s->kernel, NULL);
	DO(zeCommandListAppendMemoryCopy, list, s->on_device, s->numbers, COUNT * sizeof(int), NULL,
	   0, NULL);
}

static void create(struct side *s, ze_driver_handle_t driver)
{
	static const char source[] = "// OpenCL C\n__kernel void increase(__global int *numbers)"
				     "{ numbers[get_global_id(0)]++; }";
	ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				   .format = ZE_MODULE_FORMAT_NATIVE,
				   .inputSize = sizeof source - 1,
				   .pInputModule = (const uint8_t *)source};
	ze_device_mem_alloc_desc_t dd = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
	ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_event_pool_handle_t pool;
	uint32_t one = 1;

	DO(zeDeviceGet, driver, &one, &s->device);
	DO(zeContextCreate, driver, &context, &s->context);
	DO(zeModuleCreate, s->context, s->device, &module, &s->module, NULL);
	s->numbers = make_numbers(s);
	DO(zeMemAllocDevice, s->context, &dd, COUNT * sizeof(int), 64, s->device,
	   (void **)&s->on_device);
	s->kernel = make_kernel(s, s->numbers);
	s->immediate = make_immediate(s);
	DO(zeCommandQueueCreate, s->context, s->device, &queue, &s->queue);
	s->timed = make_event(s, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, &s->pools[0]);
	s->plain = make_event(s, 0, &s->pools[1]);
	s->closed = make_regular(s);
	append(s, s->closed);
	DO(zeCommandListClose, s->closed);
	s->open = make_regular(s);
	launch(s->open, s->kernel, NULL);
	for (struct worker *w = s->workers; w < s->workers + THREADS; w++) {
		w->list = make_immediate(s);
		w->event = make_event(s, 0, &pool);
		w->numbers = make_numbers(s);
		w->kernel = make_kernel(s, w->numbers);
	}
}

/* 1.8 can wait for an immediate list only with an event. */
static void wait_for_list(struct side *s, ze_command_list_handle_t list)
{
	ze_event_pool_handle_t pool;
	ze_event_handle_t event = make_event(s, 0, &pool);

	DO(zeCommandListAppendBarrier, list, event, 0, NULL);
	DO(zeEventHostSynchronize, event, UINT64_MAX);
	DO(zeEventDestroy, event);
	DO(zeEventPoolDestroy, pool);
}

static void run_immediate(struct side *s, const char *which, int n, const char *how)
{
	int is_new = !strcmp(which, "new"), is_fresh = !strcmp(how, "fresh");
	ze_command_list_handle_t list = is_new ? make_immediate(s) : s->immediate;
	ze_event_pool_handle_t pool;
	ze_event_handle_t event = !strcmp(how, "timed")   ? s->timed
				  : !strcmp(how, "plain") ? s->plain
				  : is_fresh              ? make_event(s, 0, &pool)
							  : NULL;

	for (int i = 0; i < n; i++) {
		launch(list, s->kernel, event);
		if (event) {
			DO(zeEventHostSynchronize, event, UINT64_MAX);
			DO(zeEventHostReset, event);
		}
		DO(zeCommandListAppendMemoryCopy, list, s->on_device, s->numbers,
		   COUNT * sizeof(int), NULL, 0, NULL);
		wait_for_list(s, list);
	}
	if (is_new)
		DO(zeCommandListDestroy, list);
	if (is_fresh) {
		DO(zeEventDestroy, event);
		DO(zeEventPoolDestroy, pool);
	}
}

/* desc has the layout of struct ze_event_counter_based_desc_t of newer headers. */
static void create_by_name(int n)
{
	struct {
		uint32_t type;
		const void *next;
		uint32_t flags, signal, wait;
	} desc = {.flags = 4};
	ze_event_handle_t event;

	for (int i = 0; i < n; i++) {
		check((*by_name)(sides[0].context, sides[0].device, &desc, &event), "by name");
		DO(zeEventDestroy, event);
	}
}

static void execute(struct side *s, ze_command_list_handle_t list, int n)
{
	for (int i = 0; i < n; i++) {
		DO(zeCommandQueueExecuteCommandLists, s->queue, 1, &list, NULL);
		DO(zeCommandQueueSynchronize, s->queue, UINT64_MAX);
	}
}

static void append_again(struct side *s)
{
	DO(zeCommandListReset, s->closed);
	append(s, s->closed);
	DO(zeCommandListClose, s->closed);
}

static void run_regular(struct side *s, const char *which, int n)
{
	ze_command_list_handle_t list;

	if (!strcmp(which, "old")) {
		execute(s, s->closed, n);
	} else if (!strcmp(which, "reset")) {
		append_again(s);
		execute(s, s->closed, n);
	} else if (!strcmp(which, "open")) {
		launch(s->open, s->kernel, NULL);
		DO(zeCommandListClose, s->open);
		execute(s, s->open, n);
	} else {
		list = make_regular(s);
		append(s, list);
		DO(zeCommandListClose, list);
		execute(s, list, n);
		DO(zeCommandListDestroy, list);
	}
}

static void run_directions(struct side *s, int n)
{
	int *plain = calloc(COUNT, sizeof *plain);

	for (int i = 0; i < n; i++) {
		DO(zeCommandListAppendMemoryCopy, s->immediate, s->on_device, plain,
		   COUNT * sizeof(int), NULL, 0, NULL);
		DO(zeCommandListAppendMemoryCopy, s->immediate, plain, s->on_device,
		   COUNT * sizeof(int), NULL, 0, NULL);
	}
	wait_for_list(s, s->immediate);
	free(plain);
}

static void *launch_until_stopped(void *data)
{
	struct worker *w = data;

	is_worker = 1;
	while (!stopped) {
		launch(w->list, w->kernel, w->event);
		DO(zeEventHostSynchronize, w->event, UINT64_MAX);
		DO(zeEventHostReset, w->event);
		w->launches++;
	}
	return NULL;
}

static void start_threads(void)
{
	stopped = 0;
	for (uint32_t i = 0; i < side_count; i++)
		for (struct worker *w = sides[i].workers; w < sides[i].workers + THREADS; w++)
			pthread_create(&w->thread, NULL, launch_until_stopped, w);
}

/* Answer the number of launches, which the kernels have counted as well. */
static void join_threads(void)
{
	long all = 0;

	stopped = 1;
	for (uint32_t i = 0; i < side_count; i++)
		for (struct worker *w = sides[i].workers; w < sides[i].workers + THREADS; w++) {
			pthread_join(w->thread, NULL);
			if (w->numbers[0] != w->launches || w->numbers[COUNT - 1] != w->launches)
				check(ZE_RESULT_ERROR_UNKNOWN, "numbers");
			all += w->launches;
		}
	printf("%ld\n", all);
}

static int attach(const char *library_path, const char *folder)
{
	void *library = dlopen(library_path, RTLD_NOW);
	int (*attach_to)(const char *) = NULL;

	if (library)
		*(void **)&attach_to = dlsym(library, "gputap_attach");
	return attach_to ? attach_to(folder) : -1;
}

static void print_counts(void)
{
	for (int i = 0; i < INDEX_COUNT; i++) {
		long n = atomic_exchange(&counts[i], 0);

		if (n)
			printf("%s=%ld ", names[i], n);
	}
	puts("");
}

static void obey(const char *line, const char *library)
{
	char word[16] = "", which[256] = "", how[16] = "";
	int n = 0;

	sscanf(line, "%15s %255s %d %15s", word, which, &n, how);
	if (!strcmp(word, "attach"))
		return (void)printf("%d\n", attach(library, which));
	if (!strcmp(word, "counts"))
		return print_counts();
	if (!strcmp(word, "join"))
		return join_threads();
	if (!strcmp(word, "start"))
		start_threads();
	if (!strcmp(word, "named"))
		create_by_name(atoi(which));
	for (uint32_t i = 0; i < side_count; i++) {
		struct side *s = &sides[i];

		if (!strcmp(word, "immediate"))
			run_immediate(s, which, n, how);
		else if (!strcmp(word, "run"))
			run_regular(s, which, n);
		else if (!strcmp(word, "again"))
			execute(s, s->closed, atoi(which));
		else if (!strcmp(word, "append"))
			append_again(s);
		else if (!strcmp(word, "launch"))
			for (int k = 0; k < atoi(which); k++)
				launch(s->immediate, s->kernel, NULL);
		else if (!strcmp(word, "directions"))
			run_directions(s, atoi(which));
		else if (!strcmp(word, "events")) {
			DO(zeEventDestroy, s->plain);
			DO(zeEventPoolDestroy, s->pools[1]);
			s->plain = make_event(s, 0, &s->pools[1]);
		} else if (!strcmp(word, "remake")) {
			DO(zeKernelDestroy, s->kernel);
			s->kernel = make_kernel(s, s->numbers);
		}
	}
	if (!strcmp(word, "value"))
		printf("%d\n", sides[0].numbers[0] == sides[0].numbers[COUNT - 1]
				       ? sides[0].numbers[0]
				       : -1);
	else
		puts("done");
}

int main(int argc, char **argv)
{
	ze_driver_handle_t drivers[DRIVERS];
	char line[512];
	void *loader;

	if (argc > 2 && attach(argv[1], argv[2]))
		check(ZE_RESULT_ERROR_UNKNOWN, "attach");
	loader = dlopen("libze_loader.so.1", RTLD_NOW);
	ze = malloc(sizeof *ze);
#define X(name) *(void **)&ze->name##_ = dlsym(loader, #name);
	FUNCTIONS(X)
#undef X
	DO(zeInit, 0);
	DO(zeDriverGet, &side_count, drivers);
	for (uint32_t i = 0; i < side_count; i++)
		create(&sides[i], drivers[i]);
	by_name = malloc(sizeof *by_name);
	ze->zeDriverGetExtensionFunctionAddress_(drivers[0], "zexCounterBasedEventCreate2",
						 (void **)by_name);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4)) {
		obey(line, argc > 1 ? argv[1] : "");
		fflush(stdout);
	}
	return 0;
}
