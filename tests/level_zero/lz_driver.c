/* SPDX-License-Identifier: MIT */
/* A Level Zero driver for tests: one device whose kernels are functions of this file, run by one
 * thread for each queue and each immediate list. At exit it writes to the file that LZ_COUNTS names
 * how often each function was called, and how many commands of each kind ran.
 *
 *   LZ_HZ, LZ_BITS   rate of the device clock and valid bits of kernel stamps: 12500000, 32
 *   LZ_WRAP_MS       time after the driver's start at which the clock's low bits become 0
 *   LZ_BUSY_US       time that each kernel takes: 0
 *   LZ_FAULT         "lost": waits return that the device is lost; "clock": kernels end before they
 *                    start; "names": the driver has a function for every name; "entries": its table
 *                    of
 *                    fences has two unknown entries; "tables": the driver refuses requests
 *                    for tables of tools, sysman and some others
 *   LZ_LATEST        the latest known version of tables, as 1.LZ_LATEST
 *   LZ_OLD           the clock rate is always reported as ns per tick
 *   LZ_HANDLES       handles begin with pointers to tables of their own (DDI handles, 2025),
 *                    and the driver reports this; "read-only": these tables are read-only;
 *                    "strange": they lead to functions that are in no other table
 *
 * Built against Debian's libze-dev, for its loader 1.8. With -DSMALL the driver has none of the
 * tables that "tables" names above, with -DTOMORROW it has an unknown table. */
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define EXPORT   __attribute__((visibility("default")))
#define EVENTS   8 /* number of events that a command waits for */
#define COMMANDS 4096

enum { MAPPED_TIMES = 8 }; /* a pool flag that has no name in the headers of loader 1.8 */

/* Call counts ------------------------------------------------------------------- */

struct count {
	const char *name;
	_Atomic long calls;
	struct count *next;
	atomic_flag listed;
};

static struct count *_Atomic counts;
static _Atomic long kinds[8];

static void count_call(struct count *c)
{
	if (!atomic_flag_test_and_set(&c->listed)) {
		c->next = atomic_load(&counts);
		while (!atomic_compare_exchange_weak(&counts, &c->next, c))
			;
	}
	atomic_fetch_add(&c->calls, 1);
}

#define CALLED()                                                                  \
	do {                                                                      \
		static struct count here = {__func__, 0, NULL, ATOMIC_FLAG_INIT}; \
		count_call(&here);                                                \
	} while (0)

/* The clock --------------------------------------------------------------------- */

static uint64_t hz, bits, offset, busy_ns;

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static uint64_t host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t ticks(void)
{
	return (uint64_t)((__uint128_t)host_ns() * hz / 1000000000u) + offset;
}

static uint64_t mask(void)
{
	return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/* Objects ------------------------------------------------------------------------ */

enum kind { KERNEL, COPY, FILL, BARRIER, SIGNAL, WAIT, RESET, QUERY };
static const char *const kind_names[] = {"kernels", "copies", "fills",  "barriers",
					 "signals", "waits",  "resets", "queries"};

/* Start of a DDI handle; the tables are NULL if handles have none. */
struct handle {
	void **core, **tools, **sysman, **runtime;
};
static struct handle leads;

struct _ze_event_handle_t {
	struct handle handle;
	bool done, timed;
	ze_kernel_timestamp_result_t times;
};

struct _ze_event_pool_handle_t {
	struct handle handle;
	bool timed;
};

struct _ze_kernel_handle_t {
	struct handle handle;
	char name[64];
	uint32_t group[3];
	uint64_t argument[4];
};

struct _ze_image_handle_t {
	size_t row, bytes; /* with four bytes per texel */
	char *memory;
};

struct command {
	enum kind kind;
	struct _ze_event_handle_t *signal, *wait[EVENTS], **queried;
	uint32_t waits, queries;
	struct _ze_kernel_handle_t kernel; /* queried events, read when the command was appended */
	uint32_t groups[3];
	void *to;
	const void *from;
	size_t bytes, pattern_bytes;
	char pattern[16];
};

/* A thread that runs commands in order. */
struct runner {
	pthread_t thread;
	struct command queue[COMMANDS];
	unsigned long first, end;
	bool over;
};

struct _ze_command_list_handle_t {
	struct handle handle;
	struct runner *runner; /* the runner of an immediate list */
	bool synchronous, captured;
	uint32_t count;
	struct command *commands; /* commands of a regular or captured list */
};

struct _ze_command_queue_handle_t {
	struct handle handle;
	struct runner *runner;
};

struct _ze_fence_handle_t {
	struct handle handle;
	struct runner *runner;
	unsigned long until;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct handle driver, device, context;

/* Kernels --------------------------------------------------------------------------- */

static void run_kernel(const struct _ze_kernel_handle_t *k, const uint32_t *groups)
{
	uint64_t until = host_ns() + busy_ns;
	float *values = (float *)(uintptr_t)k->argument[0];
	float by;
	uint32_t n = (uint32_t)k->argument[2];

	memcpy(&by, &k->argument[1], sizeof by);
	for (uint64_t i = 0; i < (uint64_t)groups[0] * k->group[0] && i < n; i++)
		values[i] = strcmp(k->name, "add") == 0 ? values[i] + by : values[i] * by;
	while (host_ns() < until)
		;
}

static bool has_fault(const char *name)
{
	const char *fault = getenv("LZ_FAULT");

	return fault && strcmp(fault, name) == 0;
}

static void run_command(struct command *c)
{
	ze_kernel_timestamp_data_t t = {ticks() & mask(), 0};

	switch (c->kind) {
	case KERNEL: run_kernel(&c->kernel, c->groups); break;
	case COPY: memcpy(c->to, c->from, c->bytes); break;
	case FILL:
		for (size_t i = 0; i < c->bytes; i++)
			((char *)c->to)[i] = c->pattern[i % c->pattern_bytes];
		break;
	default: break;
	}
	t.kernelEnd = (has_fault("clock") ? t.kernelStart - 1000 : ticks()) & mask();
	atomic_fetch_add(&kinds[c->kind], 1);
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; c->kind == QUERY && i < c->queries; i++)
		((ze_kernel_timestamp_result_t *)c->to)[i] = c->queried[i]->times;
	if (c->signal && c->kind != RESET) {
		if (c->signal->timed)
			c->signal->times.global = c->signal->times.context = t;
		c->signal->done = true;
	} else if (c->signal) {
		c->signal->done = false;
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static bool all_done(const struct command *c)
{
	for (uint32_t i = 0; i < c->waits; i++)
		if (!c->wait[i]->done)
			return false;
	return true;
}

static void *run(void *argument)
{
	struct runner *r = argument;

	pthread_mutex_lock(&lock);
	for (;;) {
		struct command *c = &r->queue[r->first % COMMANDS];

		while ((r->first == r->end && !r->over) || (r->first < r->end && !all_done(c)))
			pthread_cond_wait(&changed, &lock);
		if (r->first == r->end)
			break;
		pthread_mutex_unlock(&lock);
		run_command(c);
		pthread_mutex_lock(&lock);
		r->first++;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static struct runner *start_runner(void)
{
	struct runner *r = calloc(1, sizeof *r);

	pthread_create(&r->thread, NULL, run, r);
	return r;
}

static void end_runner(struct runner *r)
{
	pthread_mutex_lock(&lock);
	r->over = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(r->thread, NULL);
	free(r);
}

static void submit(struct runner *r, const struct command *c)
{
	pthread_mutex_lock(&lock);
	while (r->end - r->first >= COMMANDS)
		pthread_cond_wait(&changed, &lock);
	r->queue[r->end++ % COMMANDS] = *c;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static bool timed_out(uint64_t timeout, uint64_t begun)
{
	return timeout != UINT64_MAX && host_ns() - begun >= timeout;
}

static ze_result_t wait_for_runner(const struct runner *r, unsigned long until, uint64_t timeout)
{
	uint64_t begun = host_ns();
	bool done;

	pthread_mutex_lock(&lock);
	while (!(done = r->first >= until) && !timed_out(timeout, begun)) {
		pthread_mutex_unlock(&lock);
		nanosleep(&(struct timespec){0, 20000}, NULL);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t append(struct _ze_command_list_handle_t *l, struct command *c,
			  struct _ze_event_handle_t *signal, uint32_t waits,
			  struct _ze_event_handle_t **wait)
{
	if (!l)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	if (waits > EVENTS || (waits && !wait))
		return ZE_RESULT_ERROR_INVALID_SIZE;
	c->signal = signal;
	c->waits = waits;
	for (uint32_t i = 0; i < waits; i++)
		c->wait[i] = wait[i];
	if (l->captured && signal)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT; /* not used in these tests */
	if (l->runner && !l->captured) {
		submit(l->runner, c);
		return l->synchronous ? wait_for_runner(l->runner, l->runner->end, UINT64_MAX)
				      : ZE_RESULT_SUCCESS;
	}
	l->commands = realloc(l->commands, (l->count + 1) * sizeof *c);
	l->commands[l->count++] = *c;
	return ZE_RESULT_SUCCESS;
}

/* The API --------------------------------------------------------------------------- */

static ze_result_t zeInit_(ze_init_flags_t flags)
{
	(void)flags;
	CALLED();
	return ZE_RESULT_SUCCESS;
}

static void *new_handle(size_t bytes)
{
	struct handle *h = calloc(1, bytes);

	*h = leads;
	return h;
}

static ze_result_t get_one(uint32_t *count, void **out, void *handle)
{
	if (out && *count)
		*out = handle;
	*count = 1;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeDriverGet_(uint32_t *count, ze_driver_handle_t *drivers)
{
	CALLED();
	return get_one(count, (void **)drivers, &driver);
}

static ze_result_t zeDriverGetApiVersion_(ze_driver_handle_t d, ze_api_version_t *version)
{
	(void)d;
	CALLED();
	*version = ZE_API_VERSION_1_3;
	return ZE_RESULT_SUCCESS;
}

/* Declared as in newer headers. */
enum { DDI_HANDLES_PROPERTIES = 0x20027, DDI_HANDLES = 1 };
struct chained {
	uint32_t type;
	void *next;
	uint32_t flags;
};

static ze_context_handle_t zeDriverGetDefaultContext_(ze_driver_handle_t d)
{
	(void)d;
	CALLED();
	return (ze_context_handle_t)&context;
}

static ze_result_t zeDriverGetProperties_(ze_driver_handle_t d, ze_driver_properties_t *p)
{
	(void)d;
	CALLED();
	p->driverVersion = 1;
	for (struct chained *c = p->pNext; c; c = c->next)
		if (c->type == DDI_HANDLES_PROPERTIES)
			c->flags = leads.core ? DDI_HANDLES : 0;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeDriverGetExtensionProperties_(ze_driver_handle_t d, uint32_t *count,
						   ze_driver_extension_properties_t *p)
{
	(void)d;
	(void)p;
	CALLED();
	*count = 0;
	return ZE_RESULT_SUCCESS;
}

/* Graphs: captured commands stay in their list, which serves as the graph. */

static ze_result_t zeCommandListBeginGraphCaptureExt_(ze_command_list_handle_t l, const void *next)
{
	(void)next;
	CALLED();
	l->captured = true;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandListEndGraphCaptureExt_(ze_command_list_handle_t l, const void *next,
						    void **graph)
{
	(void)next;
	CALLED();
	l->captured = false;
	*graph = l;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandListAppendGraphExt_(ze_command_list_handle_t l, void *graph,
						const void *next, ze_event_handle_t signal,
						uint32_t waits, ze_event_handle_t *wait)
{
	const struct _ze_command_list_handle_t *captured = graph;
	struct command last = {.kind = BARRIER};

	(void)next;
	CALLED();
	for (uint32_t i = 0; i < captured->count; i++)
		submit(l->runner, &captured->commands[i]);
	return append(l, &last, signal, waits, wait);
}

static void *graph_function(const char *name)
{
	return strcmp(name, "zeCommandListBeginGraphCaptureExt") == 0
		       ? (void *)zeCommandListBeginGraphCaptureExt_
	       : strcmp(name, "zeCommandListEndGraphCaptureExt") == 0
		       ? (void *)zeCommandListEndGraphCaptureExt_
	       : strcmp(name, "zeCommandListAppendGraphExt") == 0
		       ? (void *)zeCommandListAppendGraphExt_
		       : NULL;
}

static ze_result_t zeDriverGetExtensionFunctionAddress_(ze_driver_handle_t d, const char *name,
							void **function)
{
	(void)d;
	CALLED();
	*function = graph_function(name);
	if (*function)
		return ZE_RESULT_SUCCESS;
	if (!has_fault("names"))
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*function = (void *)host_ns;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeDeviceGet_(ze_driver_handle_t d, uint32_t *count, ze_device_handle_t *devices)
{
	(void)d;
	CALLED();
	return get_one(count, (void **)devices, &device);
}

static ze_result_t zeDeviceGetProperties_(ze_device_handle_t d, ze_device_properties_t *p)
{
	ze_structure_type_t type = p->stype;

	(void)d;
	CALLED();
	p->type = ZE_DEVICE_TYPE_GPU;
	p->vendorId = 0x1234;
	p->timerResolution = type == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 && !getenv("LZ_OLD")
				     ? hz
				     : 1000000000u / hz;
	p->timestampValidBits = (uint32_t)bits;
	p->kernelTimestampValidBits = (uint32_t)bits;
	memcpy(p->uuid.id, "gputap's tests", 15);
	strcpy(p->name, "lz test device");
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeDeviceGetGlobalTimestamps_(ze_device_handle_t d, uint64_t *host, uint64_t *dev)
{
	(void)d;
	CALLED();
	*host = host_ns();
	*dev = ticks() & mask();
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeContextCreate_(ze_driver_handle_t d, const ze_context_desc_t *desc,
				    ze_context_handle_t *out)
{
	(void)d;
	(void)desc;
	CALLED();
	*out = (ze_context_handle_t)&context;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeContextDestroy_(ze_context_handle_t c)
{
	(void)c;
	CALLED();
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandQueueCreate_(ze_context_handle_t c, ze_device_handle_t d,
					 const ze_command_queue_desc_t *desc,
					 ze_command_queue_handle_t *out)
{
	(void)c;
	(void)d;
	(void)desc;
	CALLED();
	*out = new_handle(sizeof **out);
	(*out)->runner = start_runner();
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandQueueDestroy_(ze_command_queue_handle_t q)
{
	CALLED();
	end_runner(q->runner);
	free(q);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandQueueExecuteCommandLists_(ze_command_queue_handle_t q, uint32_t count,
						      ze_command_list_handle_t *lists,
						      ze_fence_handle_t fence)
{
	CALLED();
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < lists[i]->count; k++)
			submit(q->runner, &lists[i]->commands[k]);
	if (fence) {
		fence->runner = q->runner;
		fence->until = q->runner->end;
	}
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandQueueSynchronize_(ze_command_queue_handle_t q, uint64_t timeout)
{
	CALLED();
	if (has_fault("lost"))
		return ZE_RESULT_ERROR_DEVICE_LOST;
	return wait_for_runner(q->runner, q->runner->end, timeout);
}

static ze_result_t create_list(struct runner *runner, bool synchronous,
			       ze_command_list_handle_t *out)
{
	*out = new_handle(sizeof **out);
	(*out)->runner = runner;
	(*out)->synchronous = synchronous;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandListCreate_(ze_context_handle_t c, ze_device_handle_t d,
					const ze_command_list_desc_t *desc,
					ze_command_list_handle_t *out)
{
	(void)c;
	(void)d;
	(void)desc;
	CALLED();
	return create_list(NULL, false, out);
}

static ze_result_t zeCommandListCreateImmediate_(ze_context_handle_t c, ze_device_handle_t d,
						 const ze_command_queue_desc_t *desc,
						 ze_command_list_handle_t *out)
{
	(void)c;
	(void)d;
	CALLED();
	return create_list(start_runner(), desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, out);
}

static ze_result_t zeCommandListDestroy_(ze_command_list_handle_t l)
{
	CALLED();
	if (l->runner)
		end_runner(l->runner);
	free(l->commands);
	free(l);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandListClose_(ze_command_list_handle_t l)
{
	(void)l;
	CALLED();
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandListReset_(ze_command_list_handle_t l)
{
	CALLED();
	l->count = 0;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeCommandListAppendLaunchKernel_(ze_command_list_handle_t l,
						    ze_kernel_handle_t k,
						    const ze_group_count_t *groups,
						    ze_event_handle_t signal, uint32_t waits,
						    ze_event_handle_t *wait)
{
	struct command c = {.kind = KERNEL};

	CALLED();
	if (!k)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	c.kernel = *k;
	c.groups[0] = groups->groupCountX;
	c.groups[1] = groups->groupCountY;
	c.groups[2] = groups->groupCountZ;
	return append(l, &c, signal, waits, wait);
}

/* Reads the counts when the command is appended, not when it runs. */
static ze_result_t zeCommandListAppendLaunchMultipleKernelsIndirect_(
	ze_command_list_handle_t l, uint32_t most, ze_kernel_handle_t *kernels,
	const uint32_t *count, const ze_group_count_t *groups, ze_event_handle_t signal,
	uint32_t waits, ze_event_handle_t *wait)
{
	ze_result_t status = ZE_RESULT_SUCCESS;

	CALLED();
	for (uint32_t i = 0; i < most && i < *count && !status; i++) {
		struct command c = {.kind = KERNEL,
				    .kernel = *kernels[i],
				    .groups = {groups[i].groupCountX, groups[i].groupCountY,
					       groups[i].groupCountZ}};
		bool last = i + 1 == most || i + 1 == *count;

		status = append(l, &c, last ? signal : NULL, i ? 0 : waits, wait);
	}
	return status;
}

static ze_result_t zeCommandListAppendMemoryCopy_(ze_command_list_handle_t l, void *to,
						  const void *from, size_t bytes,
						  ze_event_handle_t signal, uint32_t waits,
						  ze_event_handle_t *wait)
{
	struct command c = {.kind = COPY, .to = to, .from = from, .bytes = bytes};

	CALLED();
	return append(l, &c, signal, waits, wait);
}

static ze_result_t zeCommandListAppendMemoryFill_(ze_command_list_handle_t l, void *to,
						  const void *pattern, size_t pattern_bytes,
						  size_t bytes, ze_event_handle_t signal,
						  uint32_t waits, ze_event_handle_t *wait)
{
	struct command c = {.kind = FILL, .to = to, .bytes = bytes, .pattern_bytes = pattern_bytes};

	CALLED();
	if (pattern_bytes > sizeof c.pattern)
		return ZE_RESULT_ERROR_INVALID_SIZE;
	memcpy(c.pattern, pattern, pattern_bytes);
	return append(l, &c, signal, waits, wait);
}

static ze_result_t zeCommandListAppendBarrier_(ze_command_list_handle_t l, ze_event_handle_t signal,
					       uint32_t waits, ze_event_handle_t *wait)
{
	struct command c = {.kind = BARRIER};

	CALLED();
	return append(l, &c, signal, waits, wait);
}

static ze_result_t zeCommandListAppendSignalEvent_(ze_command_list_handle_t l, ze_event_handle_t e)
{
	struct command c = {.kind = SIGNAL};

	CALLED();
	return append(l, &c, e, 0, NULL);
}

static ze_result_t zeCommandListAppendWaitOnEvents_(ze_command_list_handle_t l, uint32_t count,
						    ze_event_handle_t *events)
{
	struct command c = {.kind = WAIT};

	CALLED();
	return append(l, &c, NULL, count, events);
}

static ze_result_t zeCommandListAppendEventReset_(ze_command_list_handle_t l, ze_event_handle_t e)
{
	struct command c = {.kind = RESET};

	CALLED();
	return append(l, &c, e, 0, NULL);
}

static ze_result_t zeCommandListAppendQueryKernelTimestamps_(
	ze_command_list_handle_t l, uint32_t count, ze_event_handle_t *events, void *out,
	const size_t *offsets, ze_event_handle_t signal, uint32_t waits, ze_event_handle_t *wait)
{
	struct command c = {.kind = QUERY, .to = out, .queries = count};

	CALLED();
	if (offsets)
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	c.queried = malloc(count * sizeof *events); /* allocated until the process ends */
	memcpy(c.queried, events, count * sizeof *events);
	return append(l, &c, signal, waits, wait);
}

static ze_result_t zeEventPoolCreate_(ze_context_handle_t c, const ze_event_pool_desc_t *desc,
				      uint32_t count, ze_device_handle_t *devices,
				      ze_event_pool_handle_t *out)
{
	(void)c;
	(void)count;
	(void)devices;
	CALLED();
	if (desc->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP && desc->flags & MAPPED_TIMES)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	*out = new_handle(sizeof **out);
	(*out)->timed = desc->flags & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | MAPPED_TIMES);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeEventPoolDestroy_(ze_event_pool_handle_t p)
{
	CALLED();
	free(p);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeEventCreate_(ze_event_pool_handle_t p, const ze_event_desc_t *desc,
				  ze_event_handle_t *out)
{
	(void)desc;
	CALLED();
	*out = new_handle(sizeof **out);
	(*out)->timed = p->timed;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeEventDestroy_(ze_event_handle_t e)
{
	CALLED();
	free(e);
	return ZE_RESULT_SUCCESS;
}

static bool event_done(struct _ze_event_handle_t *e)
{
	bool done;

	pthread_mutex_lock(&lock);
	done = e->done;
	pthread_mutex_unlock(&lock);
	return done;
}

static ze_result_t set_event(struct _ze_event_handle_t *e, bool done)
{
	pthread_mutex_lock(&lock);
	e->done = done;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeEventHostSynchronize_(ze_event_handle_t e, uint64_t timeout)
{
	uint64_t begun = host_ns();

	CALLED();
	if (has_fault("lost"))
		return ZE_RESULT_ERROR_DEVICE_LOST;
	while (!event_done(e)) {
		if (timed_out(timeout, begun))
			return ZE_RESULT_NOT_READY;
		nanosleep(&(struct timespec){0, 20000}, NULL);
	}
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeEventQueryStatus_(ze_event_handle_t e)
{
	CALLED();
	if (!e)
		return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
	return event_done(e) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

static ze_result_t zeEventHostSignal_(ze_event_handle_t e)
{
	CALLED();
	return set_event(e, true);
}

static ze_result_t zeEventHostReset_(ze_event_handle_t e)
{
	CALLED();
	return set_event(e, false); /* keeps the times, as real devices do */
}

static ze_result_t zeEventQueryKernelTimestamp_(ze_event_handle_t e,
						ze_kernel_timestamp_result_t *out)
{
	CALLED();
	if (!event_done(e))
		return ZE_RESULT_NOT_READY;
	*out = e->times;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeFenceCreate_(ze_command_queue_handle_t q, const ze_fence_desc_t *desc,
				  ze_fence_handle_t *out)
{
	(void)desc;
	CALLED();
	*out = new_handle(sizeof **out);
	(*out)->runner = q->runner;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeFenceDestroy_(ze_fence_handle_t f)
{
	CALLED();
	free(f);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeFenceHostSynchronize_(ze_fence_handle_t f, uint64_t timeout)
{
	CALLED();
	return wait_for_runner(f->runner, f->until, timeout);
}

static ze_result_t allocate(size_t bytes, void **out)
{
	if (!bytes)
		return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
	*out = aligned_alloc(64, (bytes + 63) / 64 * 64);
	return *out ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t zeMemAllocShared_(ze_context_handle_t c, const ze_device_mem_alloc_desc_t *dd,
				     const ze_host_mem_alloc_desc_t *hd, size_t bytes,
				     size_t alignment, ze_device_handle_t d, void **out)
{
	(void)c;
	(void)dd;
	(void)hd;
	(void)alignment;
	(void)d;
	CALLED();
	return allocate(bytes, out);
}

static ze_result_t zeMemAllocDevice_(ze_context_handle_t c, const ze_device_mem_alloc_desc_t *desc,
				     size_t bytes, size_t alignment, ze_device_handle_t d,
				     void **out)
{
	(void)c;
	(void)desc;
	(void)alignment;
	(void)d;
	CALLED();
	return allocate(bytes, out);
}

static ze_result_t zeMemAllocHost_(ze_context_handle_t c, const ze_host_mem_alloc_desc_t *desc,
				   size_t bytes, size_t alignment, void **out)
{
	(void)c;
	(void)desc;
	(void)alignment;
	CALLED();
	return allocate(bytes, out);
}

static ze_result_t zeImageCreate_(ze_context_handle_t c, ze_device_handle_t d,
				  const ze_image_desc_t *desc, ze_image_handle_t *out)
{
	(void)c;
	(void)d;
	CALLED();
	if (desc->format.layout != ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8 || desc->type != ZE_IMAGE_TYPE_2D)
		return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
	*out = calloc(1, sizeof **out);
	(*out)->row = desc->width * 4;
	(*out)->bytes = (*out)->row * desc->height;
	(*out)->memory = calloc(1, (*out)->bytes);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeImageDestroy_(ze_image_handle_t image)
{
	CALLED();
	free(image->memory);
	free(image);
	return ZE_RESULT_SUCCESS;
}

/* Return a region's size in bytes; only its first row counts. */
static size_t image_bytes(const struct _ze_image_handle_t *image, const ze_image_region_t *r)
{
	return r ? r->width * 4 : image->bytes;
}

static char *image_place(const struct _ze_image_handle_t *image, const ze_image_region_t *r)
{
	return image->memory + (r ? r->originY * image->row + r->originX * 4 : 0);
}

static ze_result_t zeCommandListAppendImageCopyRegion_(ze_command_list_handle_t l,
						       ze_image_handle_t to, ze_image_handle_t from,
						       const ze_image_region_t *to_region,
						       const ze_image_region_t *from_region,
						       ze_event_handle_t signal, uint32_t waits,
						       ze_event_handle_t *wait)
{
	struct command c = {.kind = COPY,
			    .to = image_place(to, to_region),
			    .from = image_place(from, from_region),
			    .bytes = image_bytes(to, to_region)};

	CALLED();
	return append(l, &c, signal, waits, wait);
}

static ze_result_t zeCommandListAppendImageCopyFromMemory_(ze_command_list_handle_t l,
							   ze_image_handle_t to, const void *from,
							   const ze_image_region_t *region,
							   ze_event_handle_t signal, uint32_t waits,
							   ze_event_handle_t *wait)
{
	struct command c = {.kind = COPY,
			    .to = image_place(to, region),
			    .from = from,
			    .bytes = image_bytes(to, region)};

	CALLED();
	return append(l, &c, signal, waits, wait);
}

static ze_result_t zeCommandListAppendImageCopyToMemory_(ze_command_list_handle_t l, void *to,
							 ze_image_handle_t from,
							 const ze_image_region_t *region,
							 ze_event_handle_t signal, uint32_t waits,
							 ze_event_handle_t *wait)
{
	struct command c = {.kind = COPY,
			    .to = to,
			    .from = image_place(from, region),
			    .bytes = image_bytes(from, region)};

	CALLED();
	return append(l, &c, signal, waits, wait);
}

static ze_result_t zeMemFree_(ze_context_handle_t c, void *memory)
{
	(void)c;
	CALLED();
	free(memory);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeModuleCreate_(ze_context_handle_t c, ze_device_handle_t d,
				   const ze_module_desc_t *desc, ze_module_handle_t *out,
				   ze_module_build_log_handle_t *build_log)
{
	(void)c;
	(void)d;
	(void)desc;
	(void)build_log;
	CALLED();
	*out = new_handle(sizeof(struct handle));
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeModuleDestroy_(ze_module_handle_t m)
{
	CALLED();
	free(m);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeKernelCreate_(ze_module_handle_t m, const ze_kernel_desc_t *desc,
				   ze_kernel_handle_t *out)
{
	(void)m;
	CALLED();
	if (strcmp(desc->pKernelName, "add") != 0 && strcmp(desc->pKernelName, "scale") != 0)
		return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
	*out = new_handle(sizeof **out);
	strcpy((*out)->name, desc->pKernelName);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeKernelDestroy_(ze_kernel_handle_t k)
{
	CALLED();
	free(k);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeKernelSetGroupSize_(ze_kernel_handle_t k, uint32_t x, uint32_t y, uint32_t z)
{
	CALLED();
	k->group[0] = x;
	k->group[1] = y;
	k->group[2] = z;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeKernelSetArgumentValue_(ze_kernel_handle_t k, uint32_t index, size_t bytes,
					     const void *value)
{
	CALLED();
	if (index >= 4 || bytes > 8)
		return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
	memcpy(&k->argument[index], value, bytes);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeKernelGetProperties_(ze_kernel_handle_t k, ze_kernel_properties_t *p)
{
	CALLED();
	p->maxSubgroupSize = 32;
	p->requiredSubgroupSize = strcmp(k->name, "add") == 0 ? 8 : 0;
	p->localMemSize = 128;
	p->privateMemSize = 64;
	return ZE_RESULT_SUCCESS;
}

static ze_result_t zeKernelGetName_(ze_kernel_handle_t k, size_t *bytes, char *name)
{
	CALLED();
	if (name)
		strcpy(name, k->name);
	*bytes = strlen(k->name) + 1;
	return ZE_RESULT_SUCCESS;
}

/* Tables ------------------------------------------------------------------------------ */

/* Tables of newer loaders are longer. */
static void fill_newer(const char *function, ze_api_version_t version, void **t)
{
	enum { DEFAULT_CONTEXT = 8 };

	if (version >= (ze_api_version_t)ZE_MAKE_VERSION(1, 14) &&
	    strcmp(function, "zeGetDriverProcAddrTable") == 0)
		t[DEFAULT_CONTEXT] = (void *)zeDriverGetDefaultContext_;
}

/* Fill entries that no loader has, because this driver's tables are longer. */
static void fill_unknown(const char *function, void **t)
{
	if (has_fault("entries") && strcmp(function, "zeGetFenceProcAddrTable") == 0)
		t[10] = t[20] = (void *)zeDriverGetDefaultContext_;
}

static bool knows(ze_api_version_t version)
{
	uint64_t latest = number_of("LZ_LATEST", 1 << 15);

	return version <= (ze_api_version_t)ZE_MAKE_VERSION(1, latest);
}

#define FILL(function, type, ...)                                    \
	__attribute__((unused)) static void fill_##function(void *t) \
	{                                                            \
		*(type *)t = (type){__VA_ARGS__};                    \
	}
#define TABLE_IF(says_no, function, type, ...)                          \
	FILL(function, type, __VA_ARGS__)                               \
	EXPORT ze_result_t function(ze_api_version_t version, type *t); \
	ze_result_t function(ze_api_version_t version, type *t)         \
	{                                                               \
		if (!t)                                                 \
			return ZE_RESULT_ERROR_INVALID_NULL_POINTER;    \
		if (says_no || !knows(version))                         \
			return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;     \
		fill_##function(t);                                     \
		fill_newer(#function, version, (void **)t);             \
		fill_unknown(#function, (void **)t);                    \
		return ZE_RESULT_SUCCESS;                               \
	}
#define TABLE(function, type, ...) TABLE_IF(false, function, type, __VA_ARGS__)
#ifdef SMALL
#define EMPTY(function, type) FILL(function, type, NULL)
#else
#define EMPTY(function, type) TABLE_IF(has_fault("tables"), function, type, NULL)
#endif

TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t, .pfnInit = zeInit_)
TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t, .pfnGet = zeDriverGet_,
      .pfnGetApiVersion = zeDriverGetApiVersion_, .pfnGetProperties = zeDriverGetProperties_,
      .pfnGetExtensionProperties = zeDriverGetExtensionProperties_,
      .pfnGetExtensionFunctionAddress = zeDriverGetExtensionFunctionAddress_)
TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t, .pfnGet = zeDeviceGet_,
      .pfnGetProperties = zeDeviceGetProperties_,
      .pfnGetGlobalTimestamps = zeDeviceGetGlobalTimestamps_)
TABLE(zeGetContextProcAddrTable, ze_context_dditable_t, .pfnCreate = zeContextCreate_,
      .pfnDestroy = zeContextDestroy_)
TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t,
      .pfnCreate = zeCommandQueueCreate_, .pfnDestroy = zeCommandQueueDestroy_,
      .pfnExecuteCommandLists = zeCommandQueueExecuteCommandLists_,
      .pfnSynchronize = zeCommandQueueSynchronize_)
TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t, .pfnCreate = zeCommandListCreate_,
      .pfnCreateImmediate = zeCommandListCreateImmediate_, .pfnDestroy = zeCommandListDestroy_,
      .pfnClose = zeCommandListClose_, .pfnReset = zeCommandListReset_,
      .pfnAppendLaunchKernel = zeCommandListAppendLaunchKernel_,
      .pfnAppendLaunchMultipleKernelsIndirect = zeCommandListAppendLaunchMultipleKernelsIndirect_,
      .pfnAppendMemoryCopy = zeCommandListAppendMemoryCopy_,
      .pfnAppendMemoryFill = zeCommandListAppendMemoryFill_,
      .pfnAppendImageCopyRegion = zeCommandListAppendImageCopyRegion_,
      .pfnAppendImageCopyFromMemory = zeCommandListAppendImageCopyFromMemory_,
      .pfnAppendImageCopyToMemory = zeCommandListAppendImageCopyToMemory_,
      .pfnAppendBarrier = zeCommandListAppendBarrier_,
      .pfnAppendSignalEvent = zeCommandListAppendSignalEvent_,
      .pfnAppendWaitOnEvents = zeCommandListAppendWaitOnEvents_,
      .pfnAppendEventReset = zeCommandListAppendEventReset_,
      .pfnAppendQueryKernelTimestamps = zeCommandListAppendQueryKernelTimestamps_)
TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t, .pfnCreate = zeEventPoolCreate_,
      .pfnDestroy = zeEventPoolDestroy_)
TABLE(zeGetEventProcAddrTable, ze_event_dditable_t, .pfnCreate = zeEventCreate_,
      .pfnDestroy = zeEventDestroy_, .pfnHostSynchronize = zeEventHostSynchronize_,
      .pfnQueryStatus = zeEventQueryStatus_, .pfnHostSignal = zeEventHostSignal_,
      .pfnHostReset = zeEventHostReset_, .pfnQueryKernelTimestamp = zeEventQueryKernelTimestamp_)
TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t, .pfnCreate = zeFenceCreate_,
      .pfnDestroy = zeFenceDestroy_, .pfnHostSynchronize = zeFenceHostSynchronize_)
TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t, .pfnAllocShared = zeMemAllocShared_,
      .pfnAllocDevice = zeMemAllocDevice_, .pfnAllocHost = zeMemAllocHost_, .pfnFree = zeMemFree_)
TABLE(zeGetImageProcAddrTable, ze_image_dditable_t, .pfnCreate = zeImageCreate_,
      .pfnDestroy = zeImageDestroy_)
TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t, .pfnCreate = zeModuleCreate_,
      .pfnDestroy = zeModuleDestroy_)
TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t, .pfnCreate = zeKernelCreate_,
      .pfnDestroy = zeKernelDestroy_, .pfnSetGroupSize = zeKernelSetGroupSize_,
      .pfnSetArgumentValue = zeKernelSetArgumentValue_, .pfnGetName = zeKernelGetName_,
      .pfnGetProperties = zeKernelGetProperties_)

/* Tables that the loader requires. */
EMPTY(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
EMPTY(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
EMPTY(zetGetDeviceProcAddrTable, zet_device_dditable_t)
EMPTY(zetGetContextProcAddrTable, zet_context_dditable_t)
EMPTY(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)
EMPTY(zetGetModuleProcAddrTable, zet_module_dditable_t)
EMPTY(zetGetKernelProcAddrTable, zet_kernel_dditable_t)
EMPTY(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t)
EMPTY(zetGetMetricProcAddrTable, zet_metric_dditable_t)
EMPTY(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t)
EMPTY(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)
EMPTY(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)
EMPTY(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)
EMPTY(zetGetDebugProcAddrTable, zet_debug_dditable_t)
EMPTY(zesGetDriverProcAddrTable, zes_driver_dditable_t)
EMPTY(zesGetDeviceProcAddrTable, zes_device_dditable_t)
EMPTY(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)
EMPTY(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)
EMPTY(zesGetPowerProcAddrTable, zes_power_dditable_t)
EMPTY(zesGetEngineProcAddrTable, zes_engine_dditable_t)
EMPTY(zesGetStandbyProcAddrTable, zes_standby_dditable_t)
EMPTY(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)
EMPTY(zesGetMemoryProcAddrTable, zes_memory_dditable_t)
EMPTY(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)
EMPTY(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t)
EMPTY(zesGetPsuProcAddrTable, zes_psu_dditable_t)
EMPTY(zesGetFanProcAddrTable, zes_fan_dditable_t)
EMPTY(zesGetLedProcAddrTable, zes_led_dditable_t)
EMPTY(zesGetRasProcAddrTable, zes_ras_dditable_t)
EMPTY(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)

/* Takes doubles. */
static ze_result_t zesFrequencyOcSetVoltageTarget_(zes_freq_handle_t f, double voltage, double off)
{
	(void)f;
	CALLED();
	return voltage == 1.25 && off == -0.5 ? ZE_RESULT_SUCCESS
					      : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

TABLE(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t,
      .pfnOcSetVoltageTarget = zesFrequencyOcSetVoltageTarget_)

#ifdef TOMORROW
TABLE(zeGetTomorrowProcAddrTable, ze_fence_dditable_t, .pfnCreate = zeFenceCreate_)
#endif

/* Tables that DDI handles point to, as in loader 1.32, but longer than its tables. */
enum { TABLES = 40, ENTRIES = 128 };
static void *core_tables[TABLES];
static void *handle_tables[TABLES][ENTRIES] __attribute__((aligned(1 << 16)));

static void add_table(unsigned place, const char *function, void (*fill)(void *))
{
	fill(handle_tables[place]);
	fill_newer(function, (ze_api_version_t)ZE_MAKE_VERSION(1, 15), handle_tables[place]);
	core_tables[place] = handle_tables[place];
}

static void make_tables(const char *how)
{
	enum { VERSION = ZE_MAKE_VERSION(1, 15), VALID = 1 };

	core_tables[0] = (void *)(uintptr_t)(VERSION | (uint64_t)VALID << 32);
#define ADD(place, name) \
	add_table(place, "zeGet" #name "ProcAddrTable", fill_zeGet##name##ProcAddrTable)
	ADD(5, Global);
	ADD(6, Driver);
	ADD(8, Device);
	ADD(10, Context);
	ADD(11, CommandQueue);
	ADD(12, CommandList);
	ADD(14, Image);
	ADD(16, Mem);
	ADD(18, Fence);
	ADD(19, EventPool);
	ADD(20, Event);
	ADD(22, Module);
	ADD(23, ModuleBuildLog);
	ADD(24, Kernel);
	ADD(26, Sampler);
	ADD(27, PhysicalMem);
	ADD(28, VirtualMem);
#undef ADD
	for (unsigned i = 0; strcmp(how, "strange") == 0 && i < TABLES; i++)
		for (unsigned k = 0; k < ENTRIES; k++)
			if (handle_tables[i][k])
				handle_tables[i][k] = (void *)host_ns;
	if (strcmp(how, "read-only") == 0)
		mprotect(handle_tables, sizeof handle_tables, PROT_READ);
	leads.core = core_tables;
	driver = device = context = leads;
}

__attribute__((constructor)) static void begin(void)
{
	uint64_t wrap_ms;

	if (getenv("LZ_HANDLES"))
		make_tables(getenv("LZ_HANDLES"));
	hz = number_of("LZ_HZ", 12500000);
	bits = number_of("LZ_BITS", 32);
	busy_ns = 1000 * number_of("LZ_BUSY_US", 0);
	wrap_ms = number_of("LZ_WRAP_MS", 0);
	if (wrap_ms)
		offset = -(ticks() + wrap_ms * hz / 1000);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("LZ_COUNTS");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	for (const struct count *c = atomic_load(&counts); c; c = c->next)
		fprintf(f, "%.*s %ld\n", (int)strlen(c->name) - 1, c->name, atomic_load(&c->calls));
	for (unsigned i = 0; i < sizeof kind_names / sizeof *kind_names; i++)
		fprintf(f, "%s %ld\n", kind_names[i], atomic_load(&kinds[i]));
	fclose(f);
}
