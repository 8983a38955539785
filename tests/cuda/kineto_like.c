/* SPDX-License-Identifier: MIT */
/* A program that profiles itself with CUPTI on the software driver, as PyTorch does (Kineto).
 * Prints as JSON the records that it received. The output does not depend on time, so it is the
 * same with and without another CUPTI client.
 *
 *   kineto_like MODULE WORD...      in this order:
 *     clock=ticks|none|boot         the clock given to CUPTI, from the next session on
 *     run=N                         N kernels
 *     profile=N                     a session like Kineto's, with N kernels
 *     api=N                         a session with only DRIVER records
 *     callbacks=N                   callbacks for all driver functions, with N kernels
 *     poor=N                        a session that gives CUPTI no buffer
 *     second                        a second subscriber
 *     graph=N                       a session with N launches of a graph with four kernels
 *     finalize                      cuptiFinalize(); the next session subscribes again
 *     subscribe                     subscribe now, not in the first session
 *     v2=N                          a session that used cuptiSubscribe_v2(), with N kernels
 *     leave=N                       N kernels in a session that is open when the program ends; a
 *                                   later callback of the client aborts the program
 *     flush=N                       like leave, but an exit handler ends the session
 *     slow=N                        a session with a kernel every 20 ms; prints the number of
 *                                   buffers
 *     threads=N                     sessions while three threads launch N kernels each
 *     pause, resume                 pause or resume the recording, with the library that
 *                                   KINETO_LIKE_ROCTX names
 *     fork                          a child that ends at once
 *
 * With -DLINKED it is linked with libcupti.so.13, and calls it while the program is loaded.
 * Otherwise it opens the file that KINETO_LIKE_CUPTI names and looks up its functions. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "soft/cuda/cupti/cupti_api.h"

#define FUNCTIONS(X)                              \
	X(cuptiSubscribe)                         \
	X(cuptiSubscribe_v2)                      \
	X(cuptiUnsubscribe)                       \
	X(cuptiEnableCallback)                    \
	X(cuptiEnableDomain)                      \
	X(cuptiGetCallbackState)                  \
	X(cuptiGetTimestamp)                      \
	X(cuptiFinalize)                          \
	X(cuptiActivityRegisterCallbacks)         \
	X(cuptiActivityRegisterTimestampCallback) \
	X(cuptiActivityEnable)                    \
	X(cuptiActivityDisable)                   \
	X(cuptiActivityFlushAll)                  \
	X(cuptiActivityGetNextRecord)             \
	X(cuptiActivityGetNumDroppedRecords)      \
	X(cuptiActivityPushExternalCorrelationId) \
	X(cuptiActivityPopExternalCorrelationId)  \
	X(cuptiActivityRegisterCallbacks_v2)      \
	X(cuptiActivityEnable_v2)                 \
	X(cuptiActivityDisable_v2)                \
	X(cuptiActivityGetNextRecord_v2)

#ifdef LINKED
#define FUNCTION(name) name
static void open_cupti(void)
{
}
#else
static struct {
#define X(name) __typeof__(name) *name;
	FUNCTIONS(X)
#undef X
} api;
#define FUNCTION(name) api.name

static void open_cupti(void)
{
	const char *named = getenv("KINETO_LIKE_CUPTI");
	void *library = dlopen(named ? named : "libcupti.so.13", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
#define X(name)        *(void **)&api.name = dlsym(library, #name);
	FUNCTIONS(X)
#undef X
}
#endif

static void check(const char *what, int status)
{
	if (status) {
		fprintf(stderr, "%s: %d\n", what, status);
		exit(1);
	}
}
#define CUPTI(name, ...) check(#name, FUNCTION(name)(__VA_ARGS__))
#define CUDA(name, ...)  check(#name, name(__VA_ARGS__))

/* Clocks ------------------------------------------------------------------------------ */

static uint64_t read_ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static uint64_t read_boot(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static CUpti_TimestampCallbackFunc session_clock;

/* Buffers ----------------------------------------------------------------------------- */

enum { BUFFERS = 4096, BUFFER_BYTES = 64 << 10, KINDS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint8_t *bytes;
	size_t valid;
	int is_back;
} buffers[BUFFERS];
static unsigned buffer_count;
static long strangers;
static int is_poor;

static int is_over;

static void be_alive(void)
{
	if (is_over)
		abort();
}

static void request_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
	be_alive();
	*records = 0;
	*size = 0;
	*buffer = NULL;
	pthread_mutex_lock(&lock);
	if (!is_poor && buffer_count < BUFFERS) {
		*size = BUFFER_BYTES;
		*buffer = aligned_alloc(8, BUFFER_BYTES);
		buffers[buffer_count].bytes = *buffer;
		buffers[buffer_count].is_back = 0;
		buffers[buffer_count++].valid = 0;
	}
	pthread_mutex_unlock(&lock);
}

/* Ignore unknown buffers, as Kineto does. */
static void complete_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid)
{
	unsigned i = 0;

	(void)context;
	(void)stream;
	be_alive();
	pthread_mutex_lock(&lock);
	while (i < buffer_count && (buffers[i].bytes != buffer || buffers[i].is_back))
		i++;
	if (i == buffer_count || size != BUFFER_BYTES) {
		strangers++;
	} else {
		buffers[i].is_back = 1;
		buffers[i].valid = valid;
	}
	pthread_mutex_unlock(&lock);
}

/* Records of a session ----------------------------------------------------------------- */

static uint64_t begin_time, end_time;
static long counts[KINDS], outside, unlinked;
static uint8_t *correlations; /* bit 0: has a call, bit 1: has an external id */
enum { CORRELATIONS = 1 << 22 };

static int is_of_device(uint32_t kind)
{
	return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       kind == CUPTI_ACTIVITY_KIND_MEMCPY || kind == CUPTI_ACTIVITY_KIND_MEMSET ||
	       kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
}

static void look_at_time(uint64_t start, uint64_t end)
{
	/* the conversion of some million ticks may be off by a few ticks */
	const uint64_t slack = 20000;

	outside += start + slack < begin_time || end > end_time + slack || end < start;
}

static void look_at_call(const CUpti_Activity *record)
{
	const CUpti_ActivityAPI *call = (const void *)record;
	const CUpti_ActivityExternalCorrelation *external = (const void *)record;

	if (record->kind == CUPTI_ACTIVITY_KIND_DRIVER ||
	    record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
		look_at_time(call->start, call->end);
		correlations[call->correlationId % CORRELATIONS] |= 1;
	}
	if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
		correlations[external->correlationId % CORRELATIONS] |= 2;
}

static void look_at_work(const CUpti_Activity *record, int linked)
{
	const CUpti_ActivityKernel13 *kernel = (const void *)record;

	if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		return;
	look_at_time(kernel->start, kernel->end);
	unlinked += (correlations[kernel->correlationId % CORRELATIONS] & linked) != linked ||
		    !kernel->name || !strstr(kernel->name, "add_numbers");
}

static void walk(int pass, int linked)
{
	for (unsigned i = 0; i < buffer_count; i++) {
		CUpti_Activity *record = NULL;

		if (!buffers[i].is_back)
			continue;
		while (FUNCTION(cuptiActivityGetNextRecord)(buffers[i].bytes, buffers[i].valid,
							    &record) == CUPTI_SUCCESS) {
			if (pass == 0)
				counts[record->kind % KINDS]++;
			if (pass == 0)
				look_at_call(record);
			else
				look_at_work(record, linked);
		}
	}
}

static void print_session(const char *name, int linked)
{
	long still_out = 0, device = 0;
	size_t dropped = 0;

	memset(counts, 0, sizeof counts);
	memset(correlations, 0, CORRELATIONS);
	outside = unlinked = 0;
	walk(0, linked);
	walk(1, linked);
	for (unsigned i = 0; i < buffer_count; i++) {
		still_out += !buffers[i].is_back;
		if (buffers[i].is_back)
			free(buffers[i].bytes);
	}
	buffer_count = 0;
	CUPTI(cuptiActivityGetNumDroppedRecords, NULL, 0, &dropped);
	for (uint32_t kind = 0; kind < KINDS; kind++)
		device += is_of_device(kind) ? counts[kind] : 0;
	printf("{\"session\": \"%s\", \"kernels\": %ld, \"work\": %ld, \"driver\": %ld, "
	       "\"external\": %ld, \"unlinked\": %ld, \"outside\": %ld, \"strangers\": %ld, "
	       "\"kept\": %ld, \"dropped\": %zu}\n",
	       name, counts[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL], device,
	       counts[CUPTI_ACTIVITY_KIND_DRIVER], counts[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION],
	       unlinked, outside, strangers, still_out, dropped);
}

/* The program ------------------------------------------------------------------------- */

static CUfunction add_numbers;
static CUdeviceptr numbers;
static CUpti_SubscriberHandle subscriber;
static long contexts_seen, launches_seen, others_seen, calls_seen;

static void run(long kernels, int external)
{
	unsigned count = 4, add = 1;
	void *arguments[] = {&numbers, &count, &add};

	for (long i = 0; i < kernels; i++) {
		uint64_t last;

		if (external)
			CUPTI(cuptiActivityPushExternalCorrelationId, 1, (uint64_t)i + 1);
		CUDA(cuLaunchKernel, add_numbers, 1, 1, 1, 4, 1, 1, 0, NULL, arguments, NULL);
		if (external)
			CUPTI(cuptiActivityPopExternalCorrelationId, 1, &last);
	}
	CUDA(cuCtxSynchronize, );
}

static CUgraphExec graph;
static CUstream stream;
enum { GRAPH_KERNELS = 4 };

static void make_graph(void)
{
	unsigned count = 4, add = 1;
	void *arguments[] = {&numbers, &count, &add};
	CUgraph built;

	CUDA(cuStreamCreate, &stream, 1);
	CUDA(cuStreamBeginCapture_v2, stream, 0);
	for (int i = 0; i < GRAPH_KERNELS; i++)
		CUDA(cuLaunchKernel, add_numbers, 1, 1, 1, 4, 1, 1, 0, stream, arguments, NULL);
	CUDA(cuStreamEndCapture, stream, &built);
	CUDA(cuGraphInstantiateWithFlags, &graph, built, 0);
	CUDA(cuGraphDestroy, built);
}

static void run_graph(long launches, int external)
{
	(void)external;
	for (long i = 0; i < launches; i++)
		CUDA(cuGraphLaunch, graph, stream);
	CUDA(cuCtxSynchronize, );
}

static long buffers_taken;

static void run_slowly(long kernels, int external)
{
	for (long i = 0; i < kernels; i++) {
		run(1, external);
		usleep(20000);
	}
	buffers_taken = buffer_count;
}

static void control_recording(const char *function)
{
	void *library = dlopen(getenv("KINETO_LIKE_ROCTX"), RTLD_NOW);
	int (*control)(uint64_t) = NULL;

	if (library)
		*(void **)&control = dlsym(library, function);
	if (!control)
		exit(3);
	control(0);
}

static void fork_child(void)
{
	int status;

	if (fork() == 0)
		_exit(0);
	wait(&status);
	check("child", status);
}

static void call_back(void *user, int domain, CUpti_CallbackId id, const void *data)
{
	const CUpti_CallbackData *call = data;

	(void)id;
	if (user != &subscriber) {
		strangers++;
	} else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		contexts_seen++;
	} else if (domain != CUPTI_CB_DOMAIN_DRIVER_API) {
		others_seen++;
	} else if (!strstr(call->functionName, "cuLaunchKernel")) {
		calls_seen += call->callbackSite == CUPTI_API_ENTER;
	} else {
		/* CUPTI keeps a word between ENTER and EXIT for each subscriber */
		if (call->callbackSite == CUPTI_API_ENTER)
			*call->correlationData = 4711;
		else
			launches_seen += *call->correlationData == 4711;
	}
}

static void subscribe(void)
{
	if (subscriber)
		return;
	CUPTI(cuptiSubscribe, &subscriber, call_back, &subscriber);
	CUPTI(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, 2);
}

static const int kineto_kinds[] = {
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
	CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_DRIVER,
};
enum { KINETO_KINDS = sizeof kineto_kinds / sizeof *kineto_kinds };

typedef void run_fn(long kernels, int external);

static void begin_session(long kernels, const int *kinds, int kind_count, int external, run_fn *fn)
{
	subscribe();
	CUPTI(cuptiActivityRegisterCallbacks, request_buffer, complete_buffer);
	if (session_clock)
		CUPTI(cuptiActivityRegisterTimestampCallback, session_clock);
	for (int i = 0; i < kind_count; i++)
		CUPTI(cuptiActivityEnable, kinds[i]);
	CUPTI(cuptiGetTimestamp, &begin_time);
	fn(kernels, external);
	CUPTI(cuptiGetTimestamp, &end_time);
}

static void profile(const char *name, long kernels, const int *kinds, int kind_count, int external,
		    run_fn *fn)
{
	begin_session(kernels, kinds, kind_count, external, fn);
	for (int i = 0; i < kind_count; i++)
		CUPTI(cuptiActivityDisable, kinds[i]);
	run(3, 0); /* kernels outside of the session */
	CUPTI(cuptiActivityFlushAll, 1);
	print_session(name, external ? 3 : 1);
}

static void go_away(void)
{
	is_over = 1;
}

/* Written as in NVIDIA's samples. */
static void flush_at_exit(void)
{
	CUPTI(cuptiActivityFlushAll, 1);
	print_session("flush", 3);
}

enum { THREADS = 3, SESSIONS = 10 };

static CUcontext context;

static void *run_in_thread(void *kernels)
{
	CUDA(cuCtxSetCurrent, context);
	run(*(long *)kernels, 0);
	return NULL;
}

static void profile_threads(long kernels)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		check("pthread_create", pthread_create(&threads[i], NULL, run_in_thread, &kernels));
	for (int i = 0; i < SESSIONS; i++) {
		begin_session(5, kineto_kinds, KINETO_KINDS, 1, run);
		for (int k = 0; k < KINETO_KINDS; k++)
			CUPTI(cuptiActivityDisable, kineto_kinds[k]);
		CUPTI(cuptiActivityFlushAll, 1);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("{\"sessions\": %d, \"strangers\": %ld}\n", SESSIONS, strangers);
}

static void watch(long kernels)
{
	uint32_t on[3] = {7, 7, 7};
	CUstream made;

	subscribe();
	launches_seen = calls_seen = 0;
	CUPTI(cuptiEnableDomain, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	CUPTI(cuptiGetCallbackState, &on[0], subscriber, CUPTI_CB_DOMAIN_DRIVER_API, 307);
	run(kernels, 0);
	CUDA(cuStreamCreate, &made, 1); /* gputap queries the driver about the stream */
	CUDA(cuStreamDestroy_v2, made);
	make_graph();
	CUPTI(cuptiEnableDomain, 0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	CUPTI(cuptiGetCallbackState, &on[1], subscriber, CUPTI_CB_DOMAIN_DRIVER_API, 307);
	run(5, 0);
	CUPTI(cuptiGetCallbackState, &on[2], subscriber, CUPTI_CB_DOMAIN_RESOURCE, 2);
	printf("{\"callbacks\": %ld, \"calls\": %ld, \"others\": %ld, \"strangers\": %ld, "
	       "\"states\": "
	       "[%d, %d, %d]}\n",
	       launches_seen, calls_seen, others_seen, strangers, on[0] != 0, on[1] != 0,
	       on[2] != 0);
}

/* The _v2 form of the API, which excludes the first form. */
static CUpti_SubscriberHandle other;
static long other_kernels;

static void request_other(uint8_t **buffer, size_t *size, size_t *records,
			  CUpti_BufferCallbackRequestInfo *info)
{
	(void)info;
	*size = BUFFER_BYTES;
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*records = 0;
}

static void complete_other(uint8_t *buffer, size_t size, size_t valid,
			   CUpti_BufferCallbackCompleteInfo *info)
{
	CUpti_Activity *record = NULL;

	(void)size;
	(void)info;
	while (!FUNCTION(cuptiActivityGetNextRecord_v2)(other, buffer, valid, &record))
		other_kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
}

static void profile_other(long kernels)
{
	CUpti_SubscriberParams parameters = {.structSize = sizeof parameters};
	int kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

	CUPTI(cuptiSubscribe_v2, &other, call_back, &subscriber, &parameters);
	CUPTI(cuptiActivityRegisterCallbacks_v2, other, request_other, complete_other);
	CUPTI(cuptiActivityEnable_v2, other, kind, NULL);
	run(kernels, 0);
	CUPTI(cuptiActivityFlushAll, 1);
	CUPTI(cuptiActivityDisable_v2, other, kind, NULL);
	printf("{\"v2\": %ld}\n", other_kernels);
}

static void take_word(const char *word)
{
	const char *value = strchr(word, '=');
	long count = value ? atol(value + 1) : 0;
	static const int driver_kind[] = {CUPTI_ACTIVITY_KIND_DRIVER};
	CUpti_SubscriberHandle second = NULL;

	if (!strncmp(word, "clock=", 6)) {
		session_clock = !strcmp(value, "=ticks")  ? read_ticks
				: !strcmp(value, "=boot") ? read_boot
							  : NULL;
	} else if (!strncmp(word, "run=", 4)) {
		run(count, 0);
	} else if (!strncmp(word, "profile=", 8)) {
		profile("profile", count, kineto_kinds, KINETO_KINDS, 1, run);
	} else if (!strncmp(word, "api=", 4)) {
		profile("api", count, driver_kind, 1, 0, run);
	} else if (!strncmp(word, "poor=", 5)) {
		is_poor = 1;
		profile("poor", count, kineto_kinds, KINETO_KINDS, 1, run);
		is_poor = 0;
	} else if (!strncmp(word, "graph=", 6)) {
		if (!graph)
			make_graph();
		profile("graph", count, kineto_kinds, KINETO_KINDS, 0, run_graph);
	} else if (!strncmp(word, "callbacks=", 10)) {
		watch(count);
	} else if (!strcmp(word, "second")) {
		subscribe();
		printf("{\"second\": %d}\n",
		       FUNCTION(cuptiSubscribe)(&second, call_back, &subscriber));
	} else if (!strcmp(word, "subscribe")) {
		subscribe();
	} else if (!strncmp(word, "slow=", 5)) {
		profile("slow", count, kineto_kinds, KINETO_KINDS, 1, run_slowly);
		printf("{\"buffers\": %ld}\n", buffers_taken);
	} else if (!strncmp(word, "threads=", 8)) {
		profile_threads(count);
	} else if (!strncmp(word, "leave=", 6) || !strncmp(word, "flush=", 6)) {
		if (*word == 'l')
			atexit(go_away);
		begin_session(count, kineto_kinds, KINETO_KINDS, 1, run);
		exit(0);
	} else if (!strncmp(word, "v2=", 3)) {
		profile_other(count);
	} else if (!strcmp(word, "pause")) {
		control_recording("roctxProfilerPause");
	} else if (!strcmp(word, "resume")) {
		control_recording("roctxProfilerResume");
	} else if (!strcmp(word, "fork")) {
		fork_child();
	} else if (!strcmp(word, "finalize")) {
		CUPTI(cuptiFinalize, );
		subscriber = NULL;
	} else {
		fprintf(stderr, "%s?\n", word);
		exit(2);
	}
}

int main(int count, char **words)
{
	CUmodule module;
	CUdevice device;

	if (count < 3)
		return 2;
	correlations = malloc(CORRELATIONS);
	if (!strncmp(words[count - 1], "flush=", 6))
		atexit(flush_at_exit);
	open_cupti();
	CUDA(cuInit, 0);
	CUDA(cuDeviceGet, &device, 0);
	CUDA(cuDevicePrimaryCtxRetain, &context, device);
	CUDA(cuCtxSetCurrent, context);
	CUDA(cuModuleLoad, &module, words[1]);
	CUDA(cuModuleGetFunction, &add_numbers, module, "add_numbers");
	CUDA(cuMemAlloc_v2, &numbers, 4096);
	for (int i = 2; i < count; i++)
		take_word(words[i]);
	CUDA(cuModuleUnload, module);
	CUDA(cuDevicePrimaryCtxRelease_v2, device);
	if (subscriber)
		printf("{\"contexts destroyed\": %ld}\n", contexts_seen);
	return 0;
}
