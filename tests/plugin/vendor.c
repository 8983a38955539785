/* SPDX-License-Identifier: MIT */
/* A vendor's plug-in whose device only writes records, and which can violate each rule of the
 * guide:
 * FAULT names the rule. Without FAULT the plug-in follows all rules. */
#include <gputap/PrivateUse1TracingApi.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef FAULT
#define FAULT "none"
#endif
#ifndef NAME
#define NAME "vendor"
#endif

#ifndef KINDS
#define KINDS 5 /* 7: with waits and counters */
#endif

enum { DEPTH = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pu1BufferRequestFn request;
static pu1BufferCompleteFn complete;
static uint8_t *buffer;
static size_t room, used;
static unsigned enabled;
static uint64_t dropped, next_correlation = 1;
static pid_t owner;
#ifdef STACKS_OF_ALL
static
#else
static _Thread_local
#endif
	struct {
	uint64_t ids[DEPTH];
	unsigned depth;
} stacks[2];
static int in_window, sessions;
static pu1SubmittedFn report_submitted;

static int is(const char *fault)
{
	return !strcmp(FAULT, fault);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(is("monotonic") || is("ticks") ? CLOCK_MONOTONIC : CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t real_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static pu1Result push(int which, uint64_t id)
{
	if (is("push fails"))
		return PU1_ERROR_DEVICE;
	if (stacks[which].depth < DEPTH)
		stacks[which].ids[stacks[which].depth] = id;
	if (stacks[which].depth < DEPTH || !is("uncounted depth"))
		stacks[which].depth++;
	return PU1_SUCCESS;
}

static pu1Result pop(int which)
{
	if (!stacks[which].depth) {
		if (is("crash at empty"))
			abort();
		return is("empty pops") ? PU1_SUCCESS : PU1_ERROR_EMPTY;
	}
	stacks[which].depth--;
	return PU1_SUCCESS;
}

static uint64_t top(int which)
{
	unsigned depth = stacks[which].depth;

	if (is("no operators") && !which)
		return 0;
	if (is("shared stack") && which)
		return top(0);
	return !depth ? 0 : stacks[which].ids[(depth < DEPTH ? depth : DEPTH) - 1];
}

/* Call with the lock held. */
static void hand_over(void)
{
	if (!buffer)
		return;
	complete(buffer, room, used);
	if (is("completes twice"))
		complete(buffer, room, used);
	buffer = NULL;
}

static int stale;                  /* true if the buffer belongs to a session that has ended */
static _Atomic int inside, silent; /* true if a session ended while an activity was submitted */

static void emit(const pu1ActivityRecord *r)
{
	size_t bytes = sizeof *r;

	pthread_mutex_lock(&lock);
	if (buffer && room - used < bytes && !is("overruns"))
		hand_over();
	if (!buffer) {
		request(&buffer, &room);
		if (is("own buffer"))
			buffer = malloc(room);
		used = 0;
	}
	if (!buffer || room - used < bytes) {
		if (is("crash without buffer") && !buffer)
			memcpy(buffer, r, bytes);
		if (buffer && is("overruns")) { /* writes as if the buffer ended here */
			memcpy(buffer + used, r, bytes);
			used = room;
			hand_over();
		} else {
			dropped++;
		}
	} else {
		memcpy(buffer + used, r, bytes);
		used += bytes;
		if (is("valid beyond size"))
			used = room + 64;
	}
	if (is("valid beyond size"))
		hand_over();
	pthread_mutex_unlock(&lock);
}

PU1_API uint32_t pu1GetVersion(void)
{
	if (is("hangs in the child") && owner && owner != getpid())
		pause();
	if (is("newer"))
		return 2 << 16;
	if (is("older"))
		return 7;
	return is("newer minor") ? PU1_VERSION + 3 : PU1_VERSION;
}

PU1_API pu1Result pu1TracingSetCallbacks(pu1BufferRequestFn r, pu1BufferCompleteFn c)
{
	if ((!r || !c) && !is("null callbacks"))
		return PU1_ERROR_INVALID;
	if (enabled && !is("callbacks while enabled"))
		return PU1_ERROR_ORDER;
	request = r;
	complete = c;
	return PU1_SUCCESS;
}

static void *run_forever(void *data)
{
	for (;;)
		usleep(1000);
	return data;
}

PU1_API pu1Result pu1TracingEnable(pu1ActivityKind kind)
{
	if (kind < 1 || (kind >= PU1_KIND_COUNT && !is("any kind")))
		return PU1_ERROR_INVALID;
	if (kind > KINDS)
		return is("any kind") ? PU1_SUCCESS : PU1_ERROR_NOT_SUPPORTED;
	if (is("enables nothing") || (is("second enable fails") && enabled >> kind & 1))
		return PU1_ERROR_DEVICE;
	if (!request)
		return is("enable without callbacks") ? PU1_SUCCESS : PU1_ERROR_ORDER;
	if (owner != getpid() && !is("child enables"))
		return PU1_ERROR_FORKED;
	if (is("crash at start"))
		*(volatile int *)8 = 0;
	if (is("forks") && !fork())
		_exit(0);
	if (is("thread stays") && !sessions)
		pthread_create(&(pthread_t){0}, NULL, run_forever, NULL);
	sessions += !enabled;
	enabled |= 1u << kind;
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1TracingDisable(pu1ActivityKind kind)
{
	if (kind < 1 || kind >= PU1_KIND_COUNT)
		return is("any kind") ? PU1_SUCCESS : PU1_ERROR_INVALID;
	if (is("second disable fails") && !(enabled >> kind & 1))
		return PU1_ERROR_DEVICE;
	if (!is("never disables"))
		enabled &= ~(1u << kind);
	if (is("stale buffer") && !enabled && buffer)
		stale = 1;
	if (is("falls silent") && inside)
		silent = 1;
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1PushExternalCorrelationId(uint64_t id)
{
	return push(0, id);
}

#ifndef WITHOUT_POP
PU1_API pu1Result pu1PopExternalCorrelationId(void)
{
	return pop(0);
}
#endif

PU1_API pu1Result pu1FlushAll(void)
{
	if (!request)
		return is("flush without callbacks") ? PU1_SUCCESS : PU1_ERROR_ORDER;
	pthread_mutex_lock(&lock);
	if (!is("flushes nothing") && !stale)
		hand_over();
	pthread_mutex_unlock(&lock);
	if (is("hangs"))
		pause();
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1GetNextRecord(const uint8_t *at, size_t size, const pu1ActivityRecord **record)
{
	const uint8_t *next;

	if (!at || !record)
		return is("next null") ? PU1_SUCCESS : PU1_ERROR_INVALID;
	next = *record ? (const uint8_t *)*record + sizeof **record : at;
	if (is("circles") && *record)
		next = at;
	if (is("outside") && *record)
		next = at + size + 4096;
	if (is("misaligned") && *record)
		next += 4;
	if (is("walk fails") && *record)
		return PU1_ERROR_DEVICE;
	if (*record && ((const uint8_t *)*record < at || (const uint8_t *)*record >= at + size) &&
	    !is("next anywhere"))
		return PU1_ERROR_INVALID;
	if (next + sizeof **record > at + size && !is("outside"))
		return PU1_END;
	*record = (const pu1ActivityRecord *)next;
	return PU1_SUCCESS;
}

/* Groups */

static pu1Result push_user(uint64_t id)
{
	return push(1, id);
}

static pu1Result pop_user(void)
{
	return pop(1);
}

static uint64_t dropped_of(pu1ActivityKind kind)
{
	return kind == PU1_KIND_CONCURRENT_KERNEL && !is("silent drops") ? dropped : 0;
}

static pu1ClockKind clock_kind(void)
{
	return is("ticks")       ? PU1_CLOCK_DEVICE
	       : is("monotonic") ? PU1_CLOCK_MONOTONIC
				 : PU1_CLOCK_REALTIME;
}

/* A clock that runs at 250 MHz. */
static pu1Result pair(int32_t device, pu1ClockPair *p)
{
	if (device != 0)
		return PU1_ERROR_INVALID;
	p->host_before = real_now();
	p->device = now() / 4;
	p->host_after = real_now();
	return PU1_SUCCESS;
}

static int32_t device_count(void)
{
	return 1;
}

static pu1Result device(int32_t id, pu1DeviceRow *row)
{
	if (id != 0)
		return is("any device") ? PU1_SUCCESS : PU1_ERROR_INVALID;
	row->device_id = 0;
	row->stream_count = 2;
	row->name = "Vendor \"One\"";
	row->memory_bytes = 1 << 30;
	return PU1_SUCCESS;
}

static pu1Result stream(int32_t id, int32_t number, pu1StreamRow *row)
{
	if (id != 0 || number < 1 || number > 2)
		return PU1_ERROR_INVALID;
	row->name = number == 1 ? "first" : NULL;
	row->handle = 0x1000 + (uint64_t)number;
	return PU1_SUCCESS;
}

static pu1Result graph(uint64_t id, pu1GraphRow *row)
{
	if (id != 5)
		return PU1_ERROR_INVALID;
	row->graph_id = 5;
	row->node_count = 3;
	return PU1_SUCCESS;
}

static pu1Result set_config(const char *text)
{
	return !strcmp(text, "fast") || is("any words") ? PU1_SUCCESS : PU1_ERROR_INVALID;
}

static const char *error_text(void)
{
	return is("bad error text") ? "it\nfailed" : "it failed";
}

static void begins(uint64_t at)
{
	(void)at;
	in_window = 1;
}

static void ends(uint64_t at)
{
	(void)at;
	in_window = 0;
}

static uint32_t counters(void)
{
	return 2;
}

static pu1Result counter(uint32_t id, pu1CounterRow *row)
{
	if ((id < 1 || id > 2) && !is("any counter"))
		return PU1_ERROR_INVALID;
	row->counter_id = id;
	row->name = is("nameless counter") ? NULL : id == 1 ? "load" : "power";
	return PU1_SUCCESS;
}

static pu1Result wait_for_device(uint64_t timeout_ns)
{
	(void)timeout_ns;
	return is("never synchronizes") ? PU1_ERROR_ORDER : PU1_SUCCESS;
}

static pu1Result set_submitted(pu1SubmittedFn submitted)
{
	report_submitted = submitted;
	return PU1_SUCCESS;
}

static const void *find_group(const char *name)
{
	static const pu1UserGroup user = {sizeof user, push_user, pop_user};
	static const pu1DropsGroup drops = {sizeof drops, dropped_of};
	static const pu1ClockGroup clocks = {sizeof clocks, clock_kind, pair};
	static const pu1RowsGroup rows = {sizeof rows, device_count, device, stream};
	static const pu1GraphsGroup graphs = {sizeof graphs, graph};
	static const pu1ConfigGroup config = {sizeof config, set_config};
	static const pu1ErrorsGroup errors = {sizeof errors, error_text};
	static const pu1WindowGroup window = {sizeof window, begins, ends};
	static const pu1CountersGroup samples = {sizeof samples, counters, counter};
	static const pu1DropsGroup small = {4, dropped_of};
	static const pu1SynchronizeGroup synchronize = {sizeof synchronize, wait_for_device};
	static const pu1SubmitsGroup submits = {sizeof submits, set_submitted};

	if (is("any group"))
		return &user;
	if (is("bare"))
		return NULL;
	if (is("small group") && !strcmp(name, PU1_GROUP_DROPS))
		return &small;
	if (!strcmp(name, PU1_GROUP_SYNCHRONIZE))
		return &synchronize;
	if (!strcmp(name, PU1_GROUP_SUBMITS))
		return is("no submits") ? NULL : &submits;
	return !strcmp(name, PU1_GROUP_USER)       ? (const void *)&user
	       : !strcmp(name, PU1_GROUP_DROPS)    ? (const void *)&drops
	       : !strcmp(name, PU1_GROUP_ERRORS)   ? (const void *)&errors
	       : !strcmp(name, PU1_GROUP_WINDOW)   ? (const void *)&window
	       : !strcmp(name, PU1_GROUP_COUNTERS) ? (const void *)&samples
	       : !strcmp(name, PU1_GROUP_CLOCK)    ? (const void *)&clocks
	       : !strcmp(name, PU1_GROUP_ROWS)     ? (const void *)&rows
	       : !strcmp(name, PU1_GROUP_GRAPHS)   ? (const void *)&graphs
	       : !strcmp(name, PU1_GROUP_CONFIG)   ? (const void *)&config
						   : NULL;
}

#ifdef UNDEFINED
void nobody_has_it(void);
void (*needed)(void) = nobody_has_it;
#endif

__attribute__((destructor)) static void end(void)
{
	if (is("crash at exit") && enabled)
		abort();
}

#ifndef WITHOUT_REGISTER
PU1_API pu1Result kineto_register_privateuse1_plugin(const pu1Host *host, pu1Plugin *plugin)
{
	if (is("crash at registration"))
		abort();
	if (is("registers never"))
		pause();
	if (is("registers never in worker") && !strcmp(program_invocation_short_name, "worker"))
		pause();
	if (is("refuses") || host->size < sizeof host->size)
		return PU1_ERROR_DEVICE;
	owner = getpid();
	if (is("prints"))
		write(2, "hello\n", 6);
	if (is("scribbles"))
		memset(plugin, 0, plugin->size + 16);
	if (is("scribbles its own pattern"))
		memset((char *)plugin + plugin->size, 0x5a, 16);
	if (!is("no name"))
		plugin->name = NAME;
	plugin->vendor = "Example & Sons";
	plugin->version = "1.2";
	plugin->kinds = is("no kinds") ? 0 : ((1u << (KINDS + 1)) - 2);
	plugin->find_group = find_group;
	return PU1_SUCCESS;
}
#endif

/* The device */

static void one(pu1ActivityRecord r, uint64_t *correlation)
{
	static const pu1ActivityKind host = PU1_KIND_PRIVATEUSE1_RUNTIME;

	r.size = sizeof r;
	r.external_id = top(0);
	r.user_id = top(1);
	r.correlation_id = *correlation;
	if (is("unknown operator"))
		r.external_id = 999999;
	if (is("no correlation"))
		r.correlation_id = 0;
	if (is("one correlation"))
		r.correlation_id = 1;
	if (r.kind != host && r.kind != PU1_KIND_PRIVATEUSE1_DRIVER) {
		r.device_id = is("wild device") ? 7 : is("negative device") ? -3 : 0;
		r.stream_id = is("wild stream") ? 99 : is("stream 0") ? 0 : 1;
		if (is("ticks"))
			r.start_time /= 4, r.end_time /= 4;
	} else {
		r.device_id = -1;
		r.thread_id = (uint32_t)gettid();
	}
	if (r.kind == PU1_KIND_CONCURRENT_KERNEL) {
		if (is("null name"))
			r.name = NULL;
		if (is("bad name"))
			r.name = "ab\xff\"c\\d\n";
		if (is("backwards"))
			r.end_time = r.start_time - 5;
		if (is("no time"))
			r.start_time = 0;
		if (is("seconds"))
			r.start_time /= 1000000000, r.end_time /= 1000000000;
		if (is("wild kind"))
			r.kind = 99;
		if (is("short record"))
			r.size = 12;
		if (is("long record"))
			r.size = 1 << 30;
		if (is("graph") || is("wild graph")) {
			r.graph_id = is("graph") ? 5 : 6;
			r.graph_replay = 1;
			r.graph_node = 2;
		}
		if (is("early kernel"))
			r.start_time -= 3600000000000, r.end_time -= 3600000000000;
		if (is("kernel before the window")) /* but still in this process */
			r.start_time -= 200000000, r.end_time -= 200000000;
		r.metadata = "priority=3\nnote=\"x\"\n";
	}
	if (is("text changes") && r.name) {
		static char text[32];
		static unsigned number;

		snprintf(text, sizeof text, "text %u", ++number);
		r.name = text;
	}
	if (is("long call name") && r.kind == host) {
		static char text[5000];

		memset(text, '%', sizeof text - 1);
		r.name = text;
	}
	if (r.kind == PU1_KIND_GPU_MEMCPY && is("control characters"))
		r.name = "Memcpy\033[31m";
	if (r.kind == PU1_KIND_GPU_MEMCPY && is("absurd bytes"))
		r.bytes = UINT64_MAX;
	if (r.kind == PU1_KIND_CONCURRENT_KERNEL && is("absurd block"))
		r.block[0] = r.block[1] = UINT32_MAX;
	if (report_submitted && r.kind <= PU1_KIND_GPU_MEMSET && enabled >> r.kind & 1 &&
	    !is("no submissions"))
		report_submitted(*correlation, r.kind, 1);
	if (is("loses kernels") && r.kind == PU1_KIND_CONCURRENT_KERNEL)
		return;
	if (is("every record twice") && enabled >> r.kind & 1)
		emit(&r);
	if (silent)
		return;
	if ((is("outside of windows") && in_window) || (is("one session") && sessions > 1))
		return;
	if (enabled >> r.kind & 1 || r.kind == 99 ||
	    (is("records when disabled") && r.kind <= KINDS))
		emit(&r);
}

PU1_API pu1Result pu1Exercise(uint32_t pieces)
{
	static const struct {
		pu1ActivityKind kind;
		const char *name;
	} work[] = {{PU1_KIND_CONCURRENT_KERNEL, "vector_add"},
		    {PU1_KIND_GPU_MEMCPY, "Memcpy HtoD"},
		    {PU1_KIND_GPU_MEMSET, "Memset"}};

	if (!request)
		return PU1_SUCCESS;
	inside++;
	for (uint32_t i = 0; i < pieces || i < 3; i++) {
		uint64_t id = __atomic_fetch_add(&next_correlation, 1, __ATOMIC_RELAXED);
		uint64_t start = real_now();

		one((pu1ActivityRecord){.kind = PU1_KIND_PRIVATEUSE1_RUNTIME,
					.name = "vendorLaunch",
					.start_time = start,
					.end_time = real_now() + 1},
		    &id);
		one((pu1ActivityRecord){.kind = PU1_KIND_PRIVATEUSE1_DRIVER,
					.name = "vendorSubmit",
					.start_time = start,
					.end_time = real_now() + 1},
		    &id);
		start = now();
		one((pu1ActivityRecord){.kind = work[i % 3].kind,
					.name = work[i % 3].name,
					.start_time = start,
					.end_time = now() + 4,
					.grid = {4, 1, 1},
					.block = {64, 1, 1},
					.bytes = i % 3 ? 256 : 0,
					.copy_direction = i % 3 == 1 ? PU1_COPY_HTOD : 0},
		    &id);
		one((pu1ActivityRecord){.kind = PU1_KIND_SYNCHRONIZATION,
					.name = "Stream Wait Event",
					.start_time = start,
					.end_time = now() + 1},
		    &id);
		start = now();
		one((pu1ActivityRecord){.kind = PU1_KIND_COUNTER,
					.start_time = start,
					.end_time = start,
					.counter_id = 1,
					.value = 0.5},
		    &id);
	}
	inside--;
	return PU1_SUCCESS;
}
