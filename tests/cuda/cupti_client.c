/* SPDX-License-Identifier: MIT */
/* A CUPTI client for the stand-in on the software driver. Each scene enables callbacks or records,
 * submits work, and prints a line for each callback or record that the client received.
 *
 *   cupti_client MODULE SCENE [LIBRARY, a second copy of libcupti] */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "generated/cuda_driver_ops.h"
#include "soft/cuda/cupti/cupti_api.h"
#include "soft/cuda/tools.h"

enum { NUMBERS = 1000, BUFFER = 16384 };

#define CHECK(call)                                         \
	do {                                                \
		int status_ = (call);                       \
		if (status_) {                              \
			printf("%s: %d\n", #call, status_); \
			fflush(stdout);                     \
			_exit(1);                           \
		}                                           \
	} while (0)

static CUcontext context;
static CUmodule module;
static CUfunction add;
static CUstream stream;
static CUdeviceptr memory;
static int *numbers;

/* The client --------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int requested, completed, records;
static size_t buffer_bytes = BUFFER;

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	pthread_mutex_lock(&lock);
	requested++;
	pthread_mutex_unlock(&lock);
	*buffer = buffer_bytes ? aligned_alloc(8, buffer_bytes) : NULL;
	*size = buffer_bytes;
	*most = 0;
}

static void print_work(const CUpti_Activity *r)
{
	const CUpti_ActivityKernel13 *k = (const void *)r;
	const CUpti_ActivityMemcpy7 *c = (const void *)r;
	const CUpti_ActivityMemcpyPtoP4 *p = (const void *)r;
	const CUpti_ActivityMemset5 *s = (const void *)r;
	const CUpti_ActivityGraphTrace2 *g = (const void *)r;

	switch (r->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		printf("kernel %s correlation %u device %u context %u stream %u grid %d,%d,%d "
		       "block %d,%d,%d shared %d registers %d graph %u node %llx %s %s\n",
		       k->name, k->correlationId, k->deviceId, k->contextId, k->streamId, k->gridX,
		       k->gridY, k->gridZ, k->blockX, k->blockY, k->blockZ, k->dynamicSharedMemory,
		       k->registersPerThread, k->graphId, (unsigned long long)k->graphNodeId,
		       k->start <= k->end ? "ordered" : "reversed", k->start ? "timed" : "untimed");
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		printf("copy kind %u from %u to %u bytes %llu correlation %u stream %u async %u "
		       "graph %u node %llx\n",
		       c->copyKind, c->srcKind, c->dstKind, (unsigned long long)c->bytes,
		       c->correlationId, c->streamId, c->flags, c->graphId,
		       (unsigned long long)c->graphNodeId);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		printf("peer copy kind %u bytes %llu from device %u to device %u correlation %u\n",
		       p->copyKind, (unsigned long long)p->bytes, p->srcDeviceId, p->dstDeviceId,
		       p->correlationId);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		printf("set value %u bytes %llu correlation %u stream %u graph %u node %llx\n",
		       s->value, (unsigned long long)s->bytes, s->correlationId, s->streamId,
		       s->graphId, (unsigned long long)s->graphNodeId);
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		printf("graph %u correlation %u stream %u\n", g->graphId, g->correlationId,
		       g->streamId);
		break;
	default: break;
	}
}

static void print_record(const CUpti_Activity *r)
{
	const CUpti_ActivityAPI *a = (const void *)r;
	const CUpti_ActivityDevice6 *d = (const void *)r;
	const CUpti_ActivityContext4 *x = (const void *)r;
	const CUpti_ActivityExternalCorrelation *e = (const void *)r;
	const CUpti_ActivitySynchronization2 *y = (const void *)r;
	const char *name;

	switch (r->kind) {
	case CUPTI_ACTIVITY_KIND_DRIVER:
		CHECK(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, a->cbid, &name));
		printf("driver %s correlation %u returned %u thread %s\n", name, a->correlationId,
		       a->returnValue,
		       a->threadId == (uint32_t)(uintptr_t)pthread_self() ? "default"
		       : a->threadId == (uint32_t)gettid()                ? "system"
									  : "other");
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		printf("runtime %u correlation %u\n", a->cbid, a->correlationId);
		break;
	case CUPTI_ACTIVITY_KIND_DEVICE: printf("device %u %s\n", d->id, d->name); break;
	case CUPTI_ACTIVITY_KIND_CONTEXT:
		printf("context %u device %u null stream %u\n", x->contextId, x->deviceId,
		       x->nullStreamId);
		break;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		printf("external %u id %llu correlation %u\n", e->externalKind,
		       (unsigned long long)e->externalId, e->correlationId);
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		printf("synchronization %u correlation %u stream %d\n", y->type, y->correlationId,
		       (int)y->streamId);
		break;
	default: print_work(r);
	}
}

static void complete(CUcontext c, uint32_t s, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *r = NULL;
	int status;

	(void)c;
	(void)s;
	(void)size;
	pthread_mutex_lock(&lock);
	completed++;
	while (!(status = cuptiActivityGetNextRecord(buffer, valid, &r))) {
		records++;
		if (records < 50)
			print_record(r);
	}
	if (status != CUPTI_ERROR_MAX_LIMIT_REACHED)
		printf("cuptiActivityGetNextRecord: %d\n", status);
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void on_call(void *user, int domain, CUpti_CallbackId id, const void *data)
{
	const CUpti_CallbackData *c = data;
	const CUpti_ResourceData *r = data;

	(void)user;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		printf("resource %u context %s stream %s graph %s\n", id,
		       r->context ? "given" : "none", r->stream ? "given" : "none",
		       r->resourceDescriptor ? "given" : "none");
	} else if (domain == CUPTI_CB_DOMAIN_SYNCHRONIZE) {
		printf("synchronized %u\n", id);
	} else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		if (c->callbackSite == CUPTI_API_ENTER)
			*c->correlationData = id;
		printf("%s %s correlation %u symbol %s context %u data %s",
		       c->callbackSite == CUPTI_API_ENTER ? "enter" : "exit", c->functionName,
		       c->correlationId, c->symbolName ? c->symbolName : "none", c->contextUid,
		       *c->correlationData == id ? "kept" : "lost");
		if (id == GT_CUDA_DRIVER_cuLaunchKernel)
			printf(" grid %u", ((const unsigned *)c->functionParams)[2]);
		if (c->callbackSite == CUPTI_API_EXIT)
			printf(" returned %d", *(int *)c->functionReturnValue);
		printf("\n");
	}
}

/* Work ----------------------------------------------------------------------------- */

static void launch(CUstream s)
{
	int count = NUMBERS, one = 1;
	void *arguments[] = {&memory, &count, &one};

	CHECK(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 64, s, arguments, NULL));
}

static void start(const char *file)
{
	CHECK(cuInit(0));
	CHECK(cuDevicePrimaryCtxRetain(&context, 0));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoad(&module, file));
	CHECK(cuModuleGetFunction(&add, module, "add_numbers"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc_v2(&memory, NUMBERS * sizeof(int)));
	CHECK(cuMemHostAlloc((void **)&numbers, NUMBERS * sizeof(int), 0));
	memset(numbers, 0, NUMBERS * sizeof(int));
}

/* Call each function once: ten calls, four of which launch. */
static void work(void)
{
	CHECK(cuStreamQuery(stream));
	CHECK(cuMemcpyHtoDAsync_v2(memory, numbers, NUMBERS * sizeof(int), stream));
	CHECK(cuMemsetD32Async(memory, 3, 10, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuStreamQuery(stream));
	launch(stream);
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuMemcpyDtoH_v2(numbers, memory, NUMBERS * sizeof(int)));
	CHECK(cuCtxSynchronize());
}

static void enable_work(void)
{
	CHECK(cuptiActivityRegisterCallbacks(request, complete));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
}

/* Scenes ----------------------------------------------------------------------------- */

static void show_work(void)
{
	enable_work();
	work();
	CHECK(cuptiActivityFlushAll(0));
}

/* Copy between devices. The record has kind MEMCPY2 if that kind is enabled. */
static void show_peers(void)
{
	CUcontext second;
	CUdeviceptr there;

	CHECK(cuCtxCreate_v2(&second, 0, 1));
	CHECK(cuMemAlloc_v2(&there, 4096));
	CHECK(cuCtxSetCurrent(context));
	enable_work();
	CHECK(cuMemcpyPeer(memory, context, there, second, 64));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2));
	CHECK(cuMemcpyPeerAsync(there, second, memory, context, 128, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuptiActivityFlushAll(0));
}

static void show_calls(void)
{
	enable_work();
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	work();
	CHECK(cuptiSetThreadIdType(1));
	CHECK(cuStreamQuery(stream));
	CHECK(cuptiActivityFlushAll(0));
}

static void show_callbacks(void)
{
	CUpti_SubscriberHandle s, other;
	uint32_t on;

	CHECK(cuptiSubscribe(&s, on_call, NULL));
	printf("second subscriber: %d\n", cuptiSubscribe(&other, on_call, NULL));
	CHECK(cuptiEnableCallback(1, s, CUPTI_CB_DOMAIN_DRIVER_API, GT_CUDA_DRIVER_cuLaunchKernel));
	CHECK(cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_RESOURCE));
	CHECK(cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_SYNCHRONIZE));
	CHECK(cuptiGetCallbackState(&on, s, CUPTI_CB_DOMAIN_DRIVER_API,
				    GT_CUDA_DRIVER_cuLaunchKernel));
	printf("cuLaunchKernel on: %u\n", on);
	enable_work();
	work();
	CHECK(cuStreamDestroy_v2(stream));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuptiEnableDomain(0, s, CUPTI_CB_DOMAIN_DRIVER_API));
	work();
	CHECK(cuptiUnsubscribe(s));
	CHECK(cuptiSubscribe(&other, on_call, NULL));
	CHECK(cuptiActivityFlushAll(0));
}

static void show_objects(void)
{
	uint32_t id, device;

	CHECK(cuptiActivityRegisterCallbacks(request, complete));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONTEXT));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONTEXT));
	CHECK(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT));
	CHECK(cuptiGetContextId(context, &id));
	CHECK(cuptiGetDeviceId(context, &device));
	printf("context has id %u device %u\n", id, device);
	CHECK(cuptiGetStreamIdEx(context, NULL, 0, &id));
	printf("null stream has id %u\n", id);
	CHECK(cuptiGetStreamId(context, stream, &id));
	printf("stream has id %u\n", id);
	printf("no stream: %d\n", cuptiGetStreamId(context, (CUstream)&id, &id));
	CHECK(cuptiActivityFlushAll(0));
}

/* Make a runtime call around a launch, as libcudart does. */
static void call_runtime(const struct soft_cu_tools_table *table)
{
	enum { ID_OF_CUDA_LAUNCH_KERNEL = 211 };
	struct soft_cu_call call = {.domain = SOFT_CU_RUNTIME_CALLS,
				    .number = ID_OF_CUDA_LAUNCH_KERNEL,
				    .name = "cudaLaunchKernel_v7000",
				    .symbol = "add_numbers"};
	const bool is_seen = table->begin_call(&call);
	const int status = 0;

	CHECK(cuStreamQuery(stream));
	launch(stream);
	if (is_seen)
		table->end_call(&call, &status);
}

static void on_runtime(void *user, int domain, CUpti_CallbackId id, const void *data)
{
	const CUpti_CallbackData *c = data;

	(void)user;
	printf("called for domain %d id %u %s correlation %u %s\n", domain, id, c->functionName,
	       c->correlationId, c->symbolName);
}

static void show_runtime(void)
{
	const struct soft_cu_tools_table *table;
	CUpti_SubscriberHandle s;
	CUuuid id;

	memcpy(id.bytes, SOFT_CU_TOOLS_ID, sizeof id.bytes);
	CHECK(cuGetExportTable((const void **)&table, &id));
	enable_work();
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	CHECK(cuptiSubscribe(&s, on_runtime, NULL));
	CHECK(cuptiEnableCallback(1, s, CUPTI_CB_DOMAIN_DRIVER_API, GT_CUDA_DRIVER_cuLaunchKernel));
	CHECK(cuptiEnableCallback(1, s, CUPTI_CB_DOMAIN_RUNTIME_API, 211));
	call_runtime(table);
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuptiActivityFlushAll(0));
}

/* Enable kinds for a single context, and test attributes. */
static void show_context(void)
{
	CUcontext second;
	CUstream there;
	CUdeviceptr elsewhere;
	size_t size = 1;
	uint8_t zeroed = 1;

	CHECK(cuCtxCreate_v2(&second, 0, 0));
	CHECK(cuStreamCreate(&there, 0));
	CHECK(cuMemAlloc_v2(&elsewhere, 64));
	CHECK(cuptiActivityRegisterCallbacks(request, complete));
	CHECK(cuptiActivityEnableContext(second, CUPTI_ACTIVITY_KIND_MEMSET));
	CHECK(cuMemsetD8_v2(elsewhere, 1, 64));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuMemsetD8_v2(memory, 2, 64));
	CHECK(cuCtxSetCurrent(second));
	CHECK(cuptiActivityDisableContext(second, CUPTI_ACTIVITY_KIND_MEMSET));
	CHECK(cuMemsetD8_v2(elsewhere, 3, 64));
	CHECK(cuptiActivityFlushAll(0));
	CHECK(cuptiActivitySetAttribute(5, &size, &zeroed));
	zeroed = 0;
	CHECK(cuptiActivityGetAttribute(5, &size, &zeroed));
	printf("attribute %u; too small: %d\n", zeroed,
	       cuptiActivityGetAttribute(0, &size, &zeroed));
	printf("no kind: %d\n", cuptiActivityEnable(1000));
}

static void show_external(void)
{
	uint64_t id;

	enable_work();
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
	CHECK(cuptiActivityEnableDriverApi(GT_CUDA_DRIVER_cuLaunchKernel, 1));
	CHECK(cuptiActivityPushExternalCorrelationId(3, 77));
	launch(stream);
	CHECK(cuptiActivityPopExternalCorrelationId(3, &id));
	printf("popped %llu, then %d\n", (unsigned long long)id,
	       cuptiActivityPopExternalCorrelationId(3, &id));
	launch(stream);
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuptiActivityFlushAll(0));
}

static CUgraph make_graph(CUgraphNode *first, CUgraphNode *second)
{
	static int count = NUMBERS, one = 1;
	static void *arguments[] = {&memory, &count, &one};
	const CUDA_KERNEL_NODE_PARAMS kernel = {.func = add,
						.gridDimX = 4,
						.gridDimY = 1,
						.gridDimZ = 1,
						.blockDimX = 256,
						.blockDimY = 1,
						.blockDimZ = 1,
						.kernelParams = arguments};
	const CUDA_MEMSET_NODE_PARAMS set = {memory, 0, 5, 4, 10, 1};
	CUgraph graph;

	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphAddKernelNode_v2(first, graph, NULL, 0, &kernel));
	CHECK(cuGraphAddMemsetNode(second, graph, first, 1, &set, context));
	return graph;
}

static void launch_graph(int kind)
{
	CUgraphNode first, second;
	CUgraphExec exec;
	CUgraph graph = make_graph(&first, &second);
	uint64_t node;
	uint32_t id;

	enable_work();
	if (kind)
		CHECK(cuptiActivityEnable(kind));
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	CHECK(cuptiGetGraphId(graph, &id));
	printf("graph has id %u", id);
	CHECK(cuptiGetGraphExecId(exec, &id));
	CHECK(cuptiGetGraphNodeId(second, &node));
	printf(" executable %u second node %llx\n", id, (unsigned long long)node);
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuGraphLaunch(exec, stream));
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuptiActivityFlushAll(0));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
}

static void show_graph(void)
{
	CUpti_SubscriberHandle s;

	CHECK(cuptiSubscribe(&s, on_call, NULL));
	CHECK(cuptiEnableDomain(1, s, CUPTI_CB_DOMAIN_RESOURCE));
	launch_graph(0);
}

static void show_span(void)
{
	launch_graph(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

static void count_again(int launches)
{
	for (int i = 0; i < launches; i++)
		launch(stream);
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuptiActivityFlushAll(0));
	printf("records %d\n", records);
}

/* A full buffer is returned without a flush. After Finalize, the client can start to record
 * again. */
static void show_windows(void)
{
	enable_work();
	count_again(200);
	CHECK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	count_again(10);
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	count_again(10);
	CHECK(cuptiFinalize());
	count_again(10);
	enable_work();
	count_again(10);
	printf("every buffer came back: %d\n", requested == completed);
}

static void other_complete(CUcontext c, uint32_t s, uint8_t *buffer, size_t size, size_t valid)
{
	printf("other's buffer, valid %d\n", valid > 0);
	complete(c, s, buffer, size, valid);
}

/* The client that registers last gets all buffers. */
static void show_registrations(void)
{
	enable_work();
	launch(stream);
	CHECK(cuStreamSynchronize(stream));
	CHECK(cuptiActivityRegisterCallbacks(request, other_complete));
	count_again(0);
}

static void show_dropped(void)
{
	size_t dropped;

	buffer_bytes = 0;
	enable_work();
	count_again(5);
	CHECK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	printf("dropped %zu\n", dropped);
}

static uint64_t ticks;

static uint64_t get_ticks(void)
{
	return __atomic_add_fetch(&ticks, 10, __ATOMIC_RELAXED);
}

static void show_clock(void)
{
	uint64_t before, after;
	struct timespec t;

	CHECK(cuptiGetTimestamp(&before));
	clock_gettime(CLOCK_REALTIME, &t);
	CHECK(cuptiGetTimestamp(&after));
	printf("real time: %d\n",
	       before <= (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec &&
		       after >= (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
	CHECK(cuptiActivityRegisterTimestampCallback(get_ticks));
	CHECK(cuptiGetTimestamp(&after));
	printf("callback: %llu\n", (unsigned long long)after);
	CHECK(cuptiActivityRegisterTimestampCallback(NULL));
}

/* Threads that share streams, and a thread that flushes: each record must belong to a launch. */
enum { THREADS = 4, STREAMS = 3, LAUNCHES = 300 };
static uint8_t called[THREADS * LAUNCHES + 1];
static CUstream shared[STREAMS];
static int is_over, found, unknown;

static void count_linked(CUcontext c, uint32_t s, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *r = NULL;

	(void)c;
	(void)s;
	(void)size;
	pthread_mutex_lock(&lock);
	while (!cuptiActivityGetNextRecord(buffer, valid, &r)) {
		const CUpti_ActivityKernel13 *k = (const void *)r;

		found++;
		unknown += k->correlationId > THREADS * LAUNCHES ||
			   !__atomic_load_n(&called[k->correlationId], __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void mark_called(void *user, int domain, CUpti_CallbackId id, const void *data)
{
	const CUpti_CallbackData *c = data;

	(void)user;
	(void)domain;
	(void)id;
	if (c->callbackSite == CUPTI_API_ENTER && c->correlationId <= THREADS * LAUNCHES)
		__atomic_store_n(&called[c->correlationId], 1, __ATOMIC_RELAXED);
}

static void *launch_many(void *data)
{
	CUdeviceptr nothing = 0;
	int none = 0;
	void *arguments[] = {&nothing, &none, &none};

	(void)data;
	CHECK(cuCtxSetCurrent(context));
	for (int i = 0; i < LAUNCHES; i++) /* block 0 of 1 adds nothing */
		CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, shared[i % STREAMS], arguments,
				     NULL));
	return NULL;
}

static void *flush_often(void *data)
{
	(void)data;
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		CHECK(cuptiActivityFlushAll(0));
		usleep(500);
	}
	return NULL;
}

static void show_threads(void)
{
	pthread_t threads[THREADS + 1];
	CUpti_SubscriberHandle s;

	buffer_bytes = 2048;
	for (int i = 0; i < STREAMS; i++)
		CHECK(cuStreamCreate(&shared[i], CU_STREAM_NON_BLOCKING));
	CHECK(cuptiSubscribe(&s, mark_called, NULL));
	CHECK(cuptiEnableCallback(1, s, CUPTI_CB_DOMAIN_DRIVER_API, GT_CUDA_DRIVER_cuLaunchKernel));
	CHECK(cuptiActivityRegisterCallbacks(request, count_linked));
	CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, launch_many, NULL);
	pthread_create(&threads[THREADS], NULL, flush_often, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(cuCtxSynchronize());
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	pthread_join(threads[THREADS], NULL);
	CHECK(cuptiActivityFlushAll(1));
	printf("%d of %d, %d without a call\n", found, THREADS * LAUNCHES, unknown);
}

/* NVIDIA's CUPTI hangs here; the substitute aborts. */
static void show_fork(void)
{
	int status;
	pid_t child;

	enable_work();
	fflush(stdout);
	child = fork();
	if (!child) {
		const struct rlimit none = {0, 0};

		setrlimit(RLIMIT_CORE, &none);
		cuptiActivityFlushAll(0);
		_exit(0);
	}
	if (waitpid(child, &status, 0) == child)
		printf("child aborted: %d\n", WIFSIGNALED(status) && WTERMSIG(status) == 6);
}

static void show_copies(const char *file)
{
	int (*register_callbacks)(CUpti_BuffersCallbackRequestFunc,
				  CUpti_BuffersCallbackCompleteFunc) = NULL;
	int (*subscribe)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *) = NULL;
	int (*finalize)(void) = NULL;
	void *library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
	CUpti_SubscriberHandle s;

	if (!library) {
		printf("%s\n", dlerror());
		exit(1);
	}
	*(void **)&register_callbacks = dlsym(library, "cuptiActivityRegisterCallbacks");
	*(void **)&subscribe = dlsym(library, "cuptiSubscribe");
	*(void **)&finalize = dlsym(library, "cuptiFinalize");
	enable_work();
	printf("second copy registers: %d\n", register_callbacks(request, complete));
	printf("second copy subscribes: %d\n", subscribe(&s, on_call, NULL));
	CHECK(cuptiFinalize());
	printf("second copy, after the first one's end: %d\n",
	       register_callbacks(request, complete));
	CHECK(finalize());
}

static void show_faults(void)
{
	CUpti_SubscriberHandle s;
	const char *text;
	int status;

	status = cuptiSubscribe(&s, on_call, NULL);
	CHECK(cuptiGetResultString(status, &text));
	printf("subscribe %d %s\n", status, text);
	printf("register %d\n", cuptiActivityRegisterCallbacks(request, complete));
	status = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	CHECK(cuptiGetResultString(status, &text));
	printf("enable %d %s\n", status, text);
	count_again(1);
}

static void request_v2(uint8_t **buffer, size_t *size, size_t *most,
		       CUpti_BufferCallbackRequestInfo *info)
{
	(void)info;
	request(buffer, size, most);
}

static void complete_v2(uint8_t *buffer, size_t size, size_t valid,
			CUpti_BufferCallbackCompleteInfo *info)
{
	(void)info;
	complete(NULL, 0, buffer, size, valid);
}

static void show_second_form(void)
{
	CUpti_SubscriberParams parameters = {.structSize = sizeof parameters};
	CUpti_SubscriberHandle s, other;
	const int status = cuptiSubscribe_v2(&s, on_call, NULL, &parameters);

	printf("subscribe: %d\n", status);
	if (status)
		return;
	CHECK(cuptiActivityRegisterCallbacks_v2(s, request_v2, complete_v2));
	CHECK(cuptiActivityEnable_v2(s, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, NULL));
	printf("the first form: %d %d %d\n", cuptiSubscribe(&other, on_call, NULL),
	       cuptiActivityRegisterCallbacks(request, complete),
	       cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	count_again(2);
	CHECK(cuptiFinalize());
	CHECK(cuptiSubscribe(&other, on_call, NULL));
	printf("after it: %d\n", cuptiSubscribe_v2(&s, on_call, NULL, &parameters));
}

static void show_version(void)
{
	uint32_t version;
	uint8_t buffer[1024] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
	static const uint32_t kinds[] = {10, 1, 22, 2, 4, 8, 9, 37, 38, 39, 51};
	CUpti_Activity *r;

	CHECK(cuptiGetVersion(&version));
	printf("version %u\n", version);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		*(uint32_t *)(void *)buffer = kinds[i];
		for (size_t at = 8; at <= 256; at += 8)
			*(uint32_t *)(void *)(buffer + at) = 4;
		r = NULL;
		CHECK(cuptiActivityGetNextRecord(buffer, sizeof buffer, &r));
		CHECK(cuptiActivityGetNextRecord(buffer, sizeof buffer, &r));
		printf("kind %u: %zu\n", kinds[i], (size_t)((uint8_t *)r - buffer));
	}
}

int main(int argc, char **argv)
{
	const char *scene = argc > 2 ? argv[2] : "";
	static const struct {
		const char *name;
		void (*show)(void);
	} scenes[] = {
		{"work", show_work},
		{"calls", show_calls},
		{"callbacks", show_callbacks},
		{"objects", show_objects},
		{"external", show_external},
		{"windows", show_windows},
		{"registrations", show_registrations},
		{"dropped", show_dropped},
		{"clock", show_clock},
		{"fork", show_fork},
		{"faults", show_faults},
		{"version", show_version},
		{"graph", show_graph},
		{"span", show_span},
		{"peers", show_peers},
		{"runtime", show_runtime},
		{"context", show_context},
		{"threads", show_threads},
		{"second-form", show_second_form},
	};

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (argc < 3)
		return 2;
	start(argv[1]);
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		if (!strcmp(scenes[i].name, scene)) {
			scenes[i].show();
			return 0;
		}
	if (strcmp(scene, "copies") != 0)
		return 2;
	show_copies(argc > 3 ? argv[3] : NULL);
	return 0;
}
