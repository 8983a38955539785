/* SPDX-License-Identifier: MIT */
/* A CUPTI client other than gputap, for comparison. The driver opens it in cuInit()
 * (CUDA_INJECTION64_PATH), or a program calls gpu_cupti_start().
 *
 *   GPU_CUPTI=FOLDER/libcupti.so.13   used if the process has mapped no libcupti
 *   GPU_CUPTI_COUNT=FILE              count calls of both APIs in callbacks; FILE.PID receives the
 *                                     counts at exit, one per line: domain, name, calls
 *   GPU_CUPTI_KINDS=10,1,2            record these kinds, linked in callbacks of launching
 *                                     functions as in gputap, flushed every 100 ms; their number is
 *                                     printed on standard error at exit */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "src/runtime/cuda/cupti_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define FUNCTIONS(X)                              \
	X(cuptiSubscribe)                         \
	X(cuptiEnableCallback)                    \
	X(cuptiEnableDomain)                      \
	X(cuptiGetCallbackName)                   \
	X(cuptiActivityEnable)                    \
	X(cuptiActivityRegisterCallbacks)         \
	X(cuptiActivityRegisterTimestampCallback) \
	X(cuptiActivityFlushAll)                  \
	X(cuptiActivityGetNextRecord)             \
	X(cuptiFinalize)

enum { NAMES = 4096, BUFFER_BYTES = 8 << 20, FLUSH_US = 100000, ID_TABLE = 1 << 20 };

static struct {
#define X(name) name##_fn *name;
	FUNCTIONS(X)
#undef X
} cupti;

static atomic_long calls[3][NAMES], records[CUPTI_KIND_COUNT], linked, no_time;
/* correlation ids from callbacks, indexed by their low bits */
static _Atomic uint32_t ids[ID_TABLE];
static const char *count_file, *kinds;
static void *subscriber;
static atomic_int is_running;
static pid_t owner;

EXPORT int InitializeInjection(void);
EXPORT int gpu_cupti_start(void);
EXPORT void gpu_cupti_stop(void);

static void check_cupti(const char *what, int status)
{
	if (status)
		fprintf(stderr, "gpu_cupti: %s: %d\n", what, status);
}

#define CUPTI(name, ...) check_cupti(#name, cupti.name(__VA_ARGS__))

static int open_cupti(void)
{
	const char *path = getenv("GPU_CUPTI");
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);

	if (!library)
		library = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		library = dlopen(path ? path : "libcupti.so.13", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "gpu_cupti: %s\n", dlerror());
		return 0;
	}
#define X(name) cupti.name = (name##_fn *)dlsym(library, #name);
	FUNCTIONS(X)
#undef X
	return 1;
}

static void called(void *user, int domain, uint32_t id, const void *data)
{
	const struct cupti_callback *call = data;

	(void)user;
	if ((domain != CUPTI_DOMAIN_DRIVER && domain != CUPTI_DOMAIN_RUNTIME) ||
	    call->site != CUPTI_ENTER)
		return;
	if (count_file)
		calls[domain][id % NAMES]++;
	else
		ids[call->correlation % ID_TABLE] = call->correlation;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(4096, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*most = 0;
}

static void count_record(const struct cupti_record *record)
{
	uint32_t id = 0;

	if (record->kind < CUPTI_KIND_COUNT)
		records[record->kind]++;
	if (record->kind == CUPTI_KIND_KERNEL) {
		id = ((const struct cupti_kernel *)record)->correlation;
		no_time += !((const struct cupti_kernel *)record)->start;
	} else if (record->kind == CUPTI_KIND_COPY) {
		id = ((const struct cupti_copy *)record)->correlation;
	} else if (record->kind == CUPTI_KIND_SET) {
		id = ((const struct cupti_set *)record)->correlation;
	} else if (record->kind == CUPTI_KIND_GRAPH) {
		id = ((const struct cupti_graph *)record)->correlation;
	}
	linked += id && ids[id % ID_TABLE] == id;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	struct cupti_record *record = NULL;

	(void)context;
	(void)stream;
	(void)bytes;
	while (!cupti.cuptiActivityGetNextRecord(buffer, valid, &record))
		count_record(record);
	free(buffer);
}

static uint64_t time_stamp(void)
{
	return __rdtsc();
}

static void *flush_now_and_then(void *nothing)
{
	for (;;) {
		usleep(FLUSH_US);
		if (is_running)
			cupti.cuptiActivityFlushAll(CUPTI_FLUSH_COMPLETED);
	}
	return nothing;
}

static int is_launching(const char *name)
{
	static const char *const begin[] = {"cuLaunch", "cuMemcpy", "cuMemset", "cuGraphLaunch",
					    "cuMemPrefetch"};

	for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return 1;
	return 0;
}

static void start_records(void)
{
	CUPTI(cuptiActivityRegisterTimestampCallback, time_stamp);
	CUPTI(cuptiActivityRegisterCallbacks, request, complete);
	for (const char *at = kinds; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		CUPTI(cuptiActivityEnable, atoi(at));
	for (uint32_t id = 1; id < CUPTI_CALLBACK_IDS; id++) {
		const char *name = NULL;

		if (!cupti.cuptiGetCallbackName(CUPTI_DOMAIN_DRIVER, id, &name) && name &&
		    is_launching(name))
			cupti.cuptiEnableCallback(1, subscriber, CUPTI_DOMAIN_DRIVER, id);
	}
}

static void write_counts(void)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s.%d", count_file, getpid());
	file = fopen(path, "w");
	if (!file)
		return;
	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_RUNTIME; domain++)
		for (uint32_t id = 0; id < NAMES; id++) {
			const char *name = NULL;

			if (!calls[domain][id])
				continue;
			cupti.cuptiGetCallbackName(domain, id, &name);
			fprintf(file, "%d %s %ld\n", domain, name ? name : "?", calls[domain][id]);
		}
	fclose(file);
}

static void finish(void)
{
	if (getpid() != owner)
		return;
	if (count_file)
		write_counts();
	if (!kinds)
		return;
	if (is_running)
		cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	fprintf(stderr,
		"gpu_cupti: kernels %ld, copies %ld, sets %ld, graphs %ld, linked %ld, without "
		"time %ld\n",
		records[CUPTI_KIND_KERNEL], records[CUPTI_KIND_COPY], records[CUPTI_KIND_SET],
		records[CUPTI_KIND_GRAPH], linked, no_time);
}

static void start_once(void)
{
	pthread_t thread;

	owner = getpid();
	count_file = getenv("GPU_CUPTI_COUNT");
	kinds = getenv("GPU_CUPTI_KINDS");
	atexit(finish);
	if (kinds)
		pthread_create(&thread, NULL, flush_now_and_then, NULL);
}

/* Return 1 if CUPTI is available. The caller may call this again after gpu_cupti_stop(). */
int gpu_cupti_start(void)
{
	if (!cupti.cuptiSubscribe && !open_cupti())
		return 0;
	if (!owner)
		start_once();
	CUPTI(cuptiSubscribe, &subscriber, called, NULL);
	if (count_file) {
		CUPTI(cuptiEnableDomain, 1, subscriber, CUPTI_DOMAIN_DRIVER);
		CUPTI(cuptiEnableDomain, 1, subscriber, CUPTI_DOMAIN_RUNTIME);
	}
	if (kinds)
		start_records();
	is_running = 1;
	return 1;
}

/* Restore the state of the program. No other client may use CUPTI. */
void gpu_cupti_stop(void)
{
	if (!is_running)
		return;
	is_running = 0;
	cupti.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	CUPTI(cuptiFinalize);
}

int InitializeInjection(void)
{
	gpu_cupti_start();
	return 1;
}
