/* SPDX-License-Identifier: MIT */
/* The reference accelerator's plug-in: shows how a vendor implements PrivateUse1TracingApi.h on top
 * of the notifications of its runtime (refdevSubscribe()). Uses only refdev.h.
 *
 *   call starts/ends ──► a record of kind RUNTIME or DRIVER          in the calling thread
 *   activity submitted ──► token: ids of the thread's stacks
 *   activity completed ──► a record of kind KERNEL, MEMCPY, MEMSET   in the stream's thread
 *   records ──► the thread's open buffer ── full, or flush ──► complete()
 *
 * Each thread that writes has a separate buffer, with a lock that only pu1FlushAll() and the thread
 * itself take, so contention is rare. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

#include "gputap/PrivateUse1TracingApi.h"
#include "soft/common/condition.h"
#include "soft/refdev/refdev.h"

enum { DEPTH = 256 };

/* The stacks of ids that a thread has pushed. Pushes beyond DEPTH are only counted, so that pops
 * match them. */
struct stack {
	uint64_t ids[DEPTH];
	uint32_t depth;
};

struct writer {
	/* list of all writers, which are never freed, because another thread takes them over */
	struct writer *next;
	pthread_mutex_t lock;
	atomic_bool taken;
	uint8_t *buffer;
	size_t size, used;
};

struct pu1_thread {
	struct stack operators, ranges;
	struct writer *writer;
	uint32_t id;
	bool inside; /* true while the plug-in itself calls the runtime */
};

struct token {
	uint64_t external, user;
};

static _Atomic uint32_t enabled; /* one bit for each kind */
static pu1BufferRequestFn request;
static pu1BufferCompleteFn complete;
static struct writer *_Atomic writers;
static _Atomic uint64_t dropped[PU1_KIND_COUNT];
static pu1SubmittedFn _Atomic report_submitted;
/* Number of GPU activities that have a token. A thread that waits until it is 0 waits for the
 * condition. */
static _Atomic uint64_t in_flight;
static pthread_mutex_t flight_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flight_over;
static _Atomic pid_t owner;
static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static bool subscribed;
/* Per-thread state, created on the first push or record. Only a pointer is in static TLS, which is
 * scarce after dlopen(); reading the pointer is one instruction. */
static _Thread_local struct pu1_thread *own __attribute__((tls_model("initial-exec")));
static pthread_key_t thread_key;

/* Threads ----------------------------------------------------------------------- */

static void end_thread(void *data)
{
	struct pu1_thread *t = data;

	own = NULL;
	if (t->writer)
		atomic_store(&t->writer->taken, false);
	free(t);
}

static __attribute__((noinline)) struct pu1_thread *make_thread(void)
{
	struct pu1_thread *t = calloc(1, sizeof *t);

	if (!t || pthread_setspecific(thread_key, t)) {
		free(t);
		return NULL;
	}
	t->id = (uint32_t)syscall(SYS_gettid);
	own = t;
	return t;
}

static inline struct pu1_thread *get_thread(void)
{
	return __builtin_expect(own != NULL, 1) ? own : make_thread();
}

/* Stacks: no lock and no system call; a thread allocates only on its first use -------- */

static inline pu1Result push_id(struct stack *s, uint64_t id)
{
	if (s->depth < DEPTH)
		s->ids[s->depth] = id;
	s->depth++;
	return PU1_SUCCESS;
}

static inline pu1Result pop_id(struct stack *s)
{
	if (!s->depth)
		return PU1_ERROR_EMPTY;
	s->depth--;
	return PU1_SUCCESS;
}

static inline uint64_t top_id(const struct stack *s)
{
	return !s->depth ? 0 : s->ids[(s->depth < DEPTH ? s->depth : DEPTH) - 1];
}

PU1_API pu1Result pu1PushExternalCorrelationId(uint64_t id)
{
	struct pu1_thread *t = get_thread();

	return t ? push_id(&t->operators, id) : PU1_ERROR_NO_MEMORY;
}

PU1_API pu1Result pu1PopExternalCorrelationId(void)
{
	return own ? pop_id(&own->operators) : PU1_ERROR_EMPTY;
}

static pu1Result push_user(uint64_t id)
{
	struct pu1_thread *t = get_thread();

	return t ? push_id(&t->ranges, id) : PU1_ERROR_NO_MEMORY;
}

static pu1Result pop_user(void)
{
	return own ? pop_id(&own->ranges) : PU1_ERROR_EMPTY;
}

/* Writing ---------------------------------------------------------------------- */

static struct writer *find_writer(struct pu1_thread *t)
{
	struct writer *w;
	bool no = false;

	if (t->writer)
		return t->writer;
	for (w = atomic_load(&writers); w; w = w->next, no = false)
		if (atomic_compare_exchange_strong(&w->taken, &no, true))
			break;
	if (!w) {
		w = calloc(1, sizeof *w);
		if (!w)
			return NULL;
		pthread_mutex_init(&w->lock, NULL);
		atomic_init(&w->taken, true);
		w->next = atomic_load(&writers);
		while (!atomic_compare_exchange_weak(&writers, &w->next, w))
			;
	}
	t->writer = w;
	return w;
}

/* Call with the writer's lock held. */
static void hand_over(struct writer *w)
{
	if (w->buffer)
		complete(w->buffer, w->size, w->used);
	w->buffer = NULL;
}

static void write_record(const pu1ActivityRecord *r)
{
	struct pu1_thread *t = get_thread();
	struct writer *w = t ? find_writer(t) : NULL;

	if (!w) {
		dropped[r->kind]++;
		return;
	}
	pthread_mutex_lock(&w->lock);
	if (w->buffer && w->size - w->used < sizeof *r)
		hand_over(w);
	if (!w->buffer) {
		request(&w->buffer, &w->size);
		w->used = 0;
	}
	if (w->buffer && w->size >= sizeof *r) {
		memcpy(w->buffer + w->used, r, sizeof *r);
		w->used += sizeof *r;
	} else {
		dropped[r->kind]++;
	}
	pthread_mutex_unlock(&w->lock);
}

static bool is_enabled(uint32_t kind)
{
	return atomic_load_explicit(&enabled, memory_order_relaxed) >> kind & 1;
}

/* Notifications from the runtime ---------------------------------------------------- */

static uint64_t read_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void on_call(const refdevCall *call, uint64_t *slot, void *user)
{
	uint32_t kind = call->driver ? PU1_KIND_PRIVATEUSE1_DRIVER : PU1_KIND_PRIVATEUSE1_RUNTIME;
	struct pu1_thread *t;

	(void)user;
	if (!call->exits) {
		t = is_enabled(kind) ? get_thread() : NULL;
		*slot = t && !t->inside ? read_now() : 0;
		return;
	}
	if (!*slot || !(t = get_thread()))
		return;
	write_record(&(pu1ActivityRecord){
		.size = sizeof(pu1ActivityRecord),
		.kind = kind,
		.start_time = *slot,
		.end_time = read_now(),
		.device_id = -1,
		.correlation_id = call->correlation,
		.name = call->name,
		.external_id = top_id(&t->operators),
		.user_id = top_id(&t->ranges),
		.thread_id = t->id,
		.status = (uint32_t)call->status,
	});
}

static uint32_t kind_of(const refdevActivity *a)
{
	static const uint32_t kinds[] = {
		[refdevActivityKernel] = PU1_KIND_CONCURRENT_KERNEL,
		[refdevActivityMemcpy] = PU1_KIND_GPU_MEMCPY,
		[refdevActivityMemset] = PU1_KIND_GPU_MEMSET,
		[refdevActivityWait] = PU1_KIND_SYNCHRONIZATION,
	};

	return kinds[a->kind];
}

static void *on_submitted(const refdevActivity *a, void *user)
{
	pu1SubmittedFn report = atomic_load(&report_submitted);
	struct pu1_thread *t;
	struct token *token;

	(void)user;
	if (!is_enabled(kind_of(a)))
		return NULL;
	if (report)
		report(a->correlation, (pu1ActivityKind)kind_of(a), 1);
	t = get_thread();
	token = t ? malloc(sizeof *token) : NULL;
	if (token) {
		*token = (struct token){top_id(&t->operators), top_id(&t->ranges)};
		atomic_fetch_add(&in_flight, 1);
	} else {
		dropped[kind_of(a)]++;
	}
	return token;
}

static void end_flight(void)
{
	if (atomic_fetch_sub(&in_flight, 1) != 1)
		return;
	pthread_mutex_lock(&flight_lock);
	pthread_cond_broadcast(&flight_over);
	pthread_mutex_unlock(&flight_lock);
}

static const char *get_activity_name(const refdevActivity *a)
{
	static const char *const copies[] = {"Memcpy HtoH", "Memcpy HtoD", "Memcpy DtoH",
					     "Memcpy DtoD"};

	return a->kind == refdevActivityKernel   ? a->name
	       : a->kind == refdevActivityMemcpy ? copies[a->copy_kind]
	       : a->kind == refdevActivityMemset ? "Memset"
						 : "Stream Wait Event";
}

static void on_completed(const refdevActivity *a, void *token, void *user)
{
	static const uint32_t directions[] = {PU1_COPY_HTOH, PU1_COPY_HTOD, PU1_COPY_DTOH,
					      PU1_COPY_DTOD};
	struct token *t = token;

	(void)user;
	if (!t)
		return;
	write_record(&(pu1ActivityRecord){
		.size = sizeof(pu1ActivityRecord),
		.kind = kind_of(a),
		.start_time = a->start,
		.end_time = a->end,
		.device_id = a->device,
		.stream_id = a->stream_id,
		.correlation_id = a->correlation,
		.name = get_activity_name(a),
		.external_id = t->external,
		.user_id = t->user,
		.bytes = a->bytes,
		.grid = {a->grid.x, a->grid.y, a->grid.z},
		.block = {a->block.x, a->block.y, a->block.z},
		.copy_direction = a->kind == refdevActivityMemcpy ? directions[a->copy_kind] : 0,
		.graph_id = a->graph,
		.graph_replay = a->replay,
		.graph_node = a->node,
		.status = (uint32_t)a->status,
	});
	free(t);
	end_flight();
}

static const refdevSubscriber subscriber = {sizeof subscriber, on_call, on_submitted, on_completed,
					    NULL};

/* The API ------------------------------------------------------------------------ */

PU1_API uint32_t pu1GetVersion(void)
{
	return PU1_VERSION;
}

PU1_API pu1Result pu1TracingSetCallbacks(pu1BufferRequestFn new_request,
					 pu1BufferCompleteFn new_complete)
{
	pu1Result result = PU1_ERROR_ORDER;

	if (!new_request || !new_complete)
		return PU1_ERROR_INVALID;
	pthread_mutex_lock(&order_lock);
	if (!atomic_load(&enabled)) {
		request = new_request;
		complete = new_complete;
		result = PU1_SUCCESS;
	}
	pthread_mutex_unlock(&order_lock);
	return result;
}

PU1_API pu1Result pu1TracingEnable(pu1ActivityKind kind)
{
	pu1Result result = PU1_SUCCESS;

	if (kind < 1 || kind >= PU1_KIND_COUNT)
		return PU1_ERROR_INVALID;
	if (kind == PU1_KIND_COUNTER)
		return PU1_ERROR_NOT_SUPPORTED;
	if (atomic_load(&owner) != getpid())
		return PU1_ERROR_FORKED;
	pthread_mutex_lock(&order_lock);
	if (!request)
		result = PU1_ERROR_ORDER;
	else if (!subscribed && refdevSubscribe(&subscriber))
		result = PU1_ERROR_DEVICE;
	else
		subscribed = true;
	if (!result)
		atomic_fetch_or(&enabled, 1u << kind);
	pthread_mutex_unlock(&order_lock);
	return result;
}

/* Disable a kind. The subscription stays, so that activities in flight still become records. */
PU1_API pu1Result pu1TracingDisable(pu1ActivityKind kind)
{
	if (kind < 1 || kind >= PU1_KIND_COUNT)
		return PU1_ERROR_INVALID;
	atomic_fetch_and(&enabled, ~(1u << kind));
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1FlushAll(void)
{
	if (!request)
		return PU1_ERROR_ORDER;
	if (atomic_load(&owner) != getpid())
		/* because a thread that does not exist in the child may have held a writer's
		 * lock */
		return PU1_ERROR_FORKED;
	for (struct writer *w = atomic_load(&writers); w; w = w->next) {
		pthread_mutex_lock(&w->lock);
		hand_over(w);
		pthread_mutex_unlock(&w->lock);
	}
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1GetNextRecord(const uint8_t *buffer, size_t size,
				   const pu1ActivityRecord **record)
{
	const uint8_t *at;

	if (!buffer || !record)
		return PU1_ERROR_INVALID;
	at = (const uint8_t *)*record;
	if (at && (at < buffer || at >= buffer + size))
		return PU1_ERROR_INVALID;
	at = at ? at + sizeof **record : buffer;
	if ((size_t)(buffer + size - at) < sizeof **record)
		return PU1_END;
	*record = (const pu1ActivityRecord *)at;
	return PU1_SUCCESS;
}

/* Groups --------------------------------------------------------------------------- */

static uint64_t dropped_of(pu1ActivityKind kind)
{
	return kind > 0 && kind < PU1_KIND_COUNT ? atomic_load(&dropped[kind]) : 0;
}

static pu1ClockKind clock_kind(void)
{
	return PU1_CLOCK_DEVICE;
}

static pu1Result clock_pair(int32_t device, pu1ClockPair *pair)
{
	return refdevReadClock(device, &pair->host_before, &pair->device, &pair->host_after)
		       ? PU1_ERROR_INVALID
		       : PU1_SUCCESS;
}

static bool get_properties(refdevDeviceProperties *p, int32_t device)
{
	struct pu1_thread *t = get_thread();
	refdevError_t status;

	if (!t)
		return false;
	t->inside = true;
	status = refdevGetDeviceProperties(p, device);
	t->inside = false;
	return !status;
}

static uint64_t ticks_per_second(int32_t device)
{
	refdevDeviceProperties p = {.size = sizeof p};

	return get_properties(&p, device) ? p.clock_hz : 0;
}

static int32_t device_count(void)
{
	struct pu1_thread *t = get_thread();
	int count = 0;

	if (!t)
		return 0;
	t->inside = true;
	if (refdevGetDeviceCount(&count))
		count = 0;
	t->inside = false;
	return count;
}

static pu1Result device_row(int32_t device, pu1DeviceRow *row)
{
	static char names[16][64];
	refdevDeviceProperties p = {.size = sizeof p};

	if (device < 0 || device >= 16 || !get_properties(&p, device))
		return PU1_ERROR_INVALID;
	memcpy(names[device], p.name, sizeof p.name);
	row->device_id = device;
	row->stream_count = p.stream_count;
	row->name = names[device];
	row->memory_bytes = p.memory_bytes;
	memcpy(row->uuid, p.uuid, sizeof row->uuid);
	return PU1_SUCCESS;
}

static pu1Result stream_row(int32_t device, int32_t stream, pu1StreamRow *row)
{
	refdevDeviceProperties p = {.size = sizeof p};

	if (!get_properties(&p, device) || stream < 1 || (uint32_t)stream > p.stream_count)
		return PU1_ERROR_INVALID;
	row->device_id = device;
	row->stream_id = stream;
	return PU1_SUCCESS;
}

static pu1Result graph_row(uint64_t graph, pu1GraphRow *row)
{
	row->node_count = refdevGraphNodeCount(graph);
	row->graph_id = graph;
	return row->node_count ? PU1_SUCCESS : PU1_ERROR_INVALID;
}

__attribute__((constructor)) static void init_condition(void)
{
	soft_condition_init(&flight_over);
}

static pu1Result wait_for_device(uint64_t timeout_ns)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(timeout_ns / 1000000000);
	until.tv_nsec += (long)(timeout_ns % 1000000000);
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&flight_lock);
	while (atomic_load(&in_flight) && !rc)
		rc = pthread_cond_timedwait(&flight_over, &flight_lock, &until);
	pthread_mutex_unlock(&flight_lock);
	return atomic_load(&in_flight) ? PU1_ERROR_ORDER : PU1_SUCCESS;
}

static pu1Result set_submitted(pu1SubmittedFn submitted)
{
	atomic_store(&report_submitted, submitted);
	return PU1_SUCCESS;
}

static const void *find_group(const char *name)
{
	static const pu1UserGroup user = {sizeof user, push_user, pop_user};
	static const pu1DropsGroup drops = {sizeof drops, dropped_of};
	static const pu1ClockGroup clocks = {sizeof clocks, clock_kind, clock_pair,
					     ticks_per_second};
	static const pu1RowsGroup rows = {sizeof rows, device_count, device_row, stream_row};
	static const pu1GraphsGroup graphs = {sizeof graphs, graph_row};
	static const pu1SynchronizeGroup synchronize = {sizeof synchronize, wait_for_device};
	static const pu1SubmitsGroup submits = {sizeof submits, set_submitted};
	static const struct {
		const char *name;
		const void *group;
	} groups[] = {{PU1_GROUP_USER, &user},      {PU1_GROUP_DROPS, &drops},
		      {PU1_GROUP_CLOCK, &clocks},   {PU1_GROUP_ROWS, &rows},
		      {PU1_GROUP_GRAPHS, &graphs},  {PU1_GROUP_SYNCHRONIZE, &synchronize},
		      {PU1_GROUP_SUBMITS, &submits}};

	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		if (!strcmp(groups[i].name, name))
			return groups[i].group;
	return NULL;
}

PU1_API pu1Result kineto_register_privateuse1_plugin(const pu1Host *host, pu1Plugin *plugin)
{
	if (!host || !plugin || plugin->size < sizeof *plugin)
		return PU1_ERROR_INVALID;
	if (pthread_key_create(&thread_key, end_thread))
		return PU1_ERROR_NO_MEMORY;
	atomic_store(&owner, getpid());
	plugin->name = "refdev";
	plugin->vendor = "gputap";
	plugin->version = "1.0";
	plugin->kinds = 1u << PU1_KIND_CONCURRENT_KERNEL | 1u << PU1_KIND_GPU_MEMCPY |
			1u << PU1_KIND_GPU_MEMSET | 1u << PU1_KIND_PRIVATEUSE1_RUNTIME |
			1u << PU1_KIND_PRIVATEUSE1_DRIVER | 1u << PU1_KIND_SYNCHRONIZATION;
	plugin->find_group = find_group;
	return PU1_SUCCESS;
}

/* For `gputap plugin check` -------------------------------------------------------- */

static void add_one(const refdevGroup *group, const void *arguments)
{
	unsigned *const *at = arguments;

	(*at)[group->index.x]++;
}

PU1_API pu1Result pu1Exercise(uint32_t items)
{
	refdevDim3 grid = {8, 1, 1}, block = {1, 1, 1};
	refdevStream_t stream;
	refdevKernel_t kernel;
	void *memory;
	unsigned host[8] = {0};

	if (refdevStreamCreate(&stream) || refdevMalloc(&memory, sizeof host) ||
	    refdevRegisterKernel(&kernel, "add_one", add_one))
		return PU1_ERROR_DEVICE;
	for (uint32_t i = 0; i < items + 2; i += 3) {
		refdevMemsetAsync(memory, 0, sizeof host, stream);
		refdevLaunchKernel(kernel, grid, block, &memory, sizeof memory, stream);
		refdevMemcpyAsync(host, memory, sizeof host, refdevMemcpyDeviceToHost, stream);
	}
	if (refdevStreamSynchronize(stream) || refdevStreamDestroy(stream) || refdevFree(memory))
		return PU1_ERROR_DEVICE;
	return host[0] == 1 ? PU1_SUCCESS : PU1_ERROR_DEVICE;
}
