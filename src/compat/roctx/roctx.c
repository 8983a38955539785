/* SPDX-License-Identifier: MIT */
/* libroctx64.so.4: ROCTx without ROCm. A program that marks its phases can be linked and run
 * without ROCm; under gputap its marks are recorded.
 *
 * Each function goes through one of three tables. The first call offers the tables to the library
 * that exports rocprofiler_set_api_table() (libgputap.so, or a librocprofiler-sdk). If no library
 * exports this function, a mark costs two loads and a call. If another library of the process
 * exports the ROCTx functions, that library is the real ROCTx, and calls go there. A real library
 * that can be paused (part of librocprofiler-sdk) offers its own tables. In that case, this library
 * does not offer its tables. gputap itself interposes a real library without tables.
 *
 * librocprofiler-sdk-roctx.so.1 is built from the same source.
 *
 * Levels of nested ranges are per thread, ids of ranges per process. This library uses only libc,
 * starts no thread and allocates no memory. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compat/roctx/roctx.h"
#include "runtime/roctx_offer.h"

/* Identifies this library as gputap's to the audit library. */

enum { VERSION = 10000 * ROCTX_VERSION_MAJOR + 100 * ROCTX_VERSION_MINOR, TABLES = 3 };

typedef gt_set_api_table_fn set_api_table_fn;

static _Thread_local int level;
static _Atomic uint64_t last_range;

static void ignore_mark(const char *message)
{
	(void)message;
}

static int count_push(const char *message)
{
	(void)message;
	return level++;
}

static int count_pop(void)
{
	return level ? --level : -1;
}

static roctx_range_id_t number_range(const char *message)
{
	(void)message;
	return atomic_fetch_add_explicit(&last_range, 1, memory_order_relaxed) + 1;
}

static void ignore_stop(roctx_range_id_t id)
{
	(void)id;
}

static int get_thread_id(roctx_thread_id_t *tid)
{
	*tid = (roctx_thread_id_t)syscall(SYS_gettid);
	return 0;
}

static int control(roctx_thread_id_t tid)
{
	(void)tid;
	return 0;
}

static int name_thread(const char *name)
{
	(void)name;
	return 0;
}

static int name_agent(const char *name, const struct hsa_agent_s *agent)
{
	(void)name, (void)agent;
	return 0;
}

static int name_device(const char *name, int device)
{
	(void)name, (void)device;
	return 0;
}

static int name_stream(const char *name, const struct ihipStream_t *stream)
{
	(void)name, (void)stream;
	return 0;
}

/* Tools rely on the layout: a size in bytes, then functions. Later versions append functions. */
static struct core {
	uint64_t size;
	void (*mark)(const char *);
	int (*push)(const char *);
	int (*pop)(void);
	roctx_range_id_t (*start)(const char *);
	void (*stop)(roctx_range_id_t);
	int (*get_thread_id)(roctx_thread_id_t *);
} core = {sizeof core,  ignore_mark, count_push,   count_pop,
	  number_range, ignore_stop, get_thread_id};

static struct control {
	uint64_t size;
	int (*pause)(roctx_thread_id_t);
	int (*resume)(roctx_thread_id_t);
} controls = {sizeof controls, control, control};

static struct names {
	uint64_t size;
	int (*thread)(const char *);
	int (*agent)(const char *, const struct hsa_agent_s *);
	int (*device)(const char *, int);
	int (*stream)(const char *, const struct ihipStream_t *);
} names = {sizeof names, name_thread, name_agent, name_device, name_stream};

/* Replace an entry of a table with the real library's function, if that library has the
 * function. */
static void chain_to_real(void *entry, const char *name)
{
	void *real = dlsym(RTLD_NEXT, name);

	if (real)
		*(void **)entry = real;
}

static bool offers; /* false: another library offers its tables */

static void offer_to(set_api_table_fn *take)
{
	void *tables[TABLES] = {&core, &controls, &names};

	if (take && offers)
		take("roctx", VERSION, 0, tables, TABLES);
}

static void offer_tables(void)
{
	bool real = dlsym(RTLD_NEXT, "roctxRangePushA") != NULL;

	if (real) {
		chain_to_real(&core.mark, "roctxMarkA");
		chain_to_real(&core.push, "roctxRangePushA");
		chain_to_real(&core.pop, "roctxRangePop");
		chain_to_real(&core.start, "roctxRangeStartA");
		chain_to_real(&core.stop, "roctxRangeStop");
		chain_to_real(&core.get_thread_id, "roctxGetThreadId");
		chain_to_real(&controls.pause, "roctxProfilerPause");
		chain_to_real(&controls.resume, "roctxProfilerResume");
		chain_to_real(&names.thread, "roctxNameOsThread");
		chain_to_real(&names.agent, "roctxNameHsaAgent");
		chain_to_real(&names.device, "roctxNameHipDevice");
		chain_to_real(&names.stream, "roctxNameHipStream");
	}
	if (dlsym(RTLD_NEXT, "roctxProfilerPause") ||
	    (real && dlsym(RTLD_DEFAULT, "gputap_attach_roctx")))
		return;
	offers = true;
	offer_to((set_api_table_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table"));
}

/* Offer the tables once. */
static void ensure_offered(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static _Atomic int done;

	if (__builtin_expect(!atomic_load_explicit(&done, memory_order_acquire), 0)) {
		pthread_once(&once, offer_tables);
		atomic_store_explicit(&done, 1, memory_order_release);
	}
}

/* Offer the tables to gputap, which was attached to the running program. */
static void offer_late(set_api_table_fn *take)
{
	ensure_offered();
	offer_to(take);
}

/* Distinguishes this library from others with the same functions. */
extern const struct gt_roctx_offer gputap_roctx;
const struct gt_roctx_offer gputap_roctx = {"gputap", offer_late};

#define CALL(table, f, ...) (ensure_offered(), (table).f(__VA_ARGS__))

void roctxMarkA(const char *message)
{
	CALL(core, mark, message);
}

int roctxRangePushA(const char *message)
{
	return CALL(core, push, message);
}

int roctxRangePop(void)
{
	return CALL(core, pop);
}

roctx_range_id_t roctxRangeStartA(const char *message)
{
	return CALL(core, start, message);
}

void roctxRangeStop(roctx_range_id_t id)
{
	CALL(core, stop, id);
}

int roctxGetThreadId(roctx_thread_id_t *tid)
{
	return CALL(core, get_thread_id, tid);
}

int roctxProfilerPause(roctx_thread_id_t tid)
{
	return CALL(controls, pause, tid);
}

int roctxProfilerResume(roctx_thread_id_t tid)
{
	return CALL(controls, resume, tid);
}

int roctxNameOsThread(const char *name)
{
	return CALL(names, thread, name);
}

int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
	return CALL(names, agent, name, agent);
}

int roctxNameHipDevice(const char *name, int device)
{
	return CALL(names, device, name, device);
}

int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
	return CALL(names, stream, name, stream);
}

uint32_t roctx_version_major(void)
{
	return ROCTX_VERSION_MAJOR;
}

uint32_t roctx_version_minor(void)
{
	return ROCTX_VERSION_MINOR;
}

/* Aliases without the final letter, because programs that look up functions through dlsym() also
 * use these names. */
#define ALIAS(name, of) extern __typeof__(of) name __attribute__((alias(#of)))
#undef roctxMark
#undef roctxRangePush
#undef roctxRangeStart
ALIAS(roctxMark, roctxMarkA);
ALIAS(roctxRangePush, roctxRangePushA);
ALIAS(roctxRangeStart, roctxRangeStartA);
