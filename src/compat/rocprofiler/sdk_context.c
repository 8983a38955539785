/* SPDX-License-Identifier: MIT */
/* Configures contexts and their services.
 *
 *   created ─► configured (each request is checked completely, then stored)
 *           ─► commit: creates a gputap context for the configuration ─► start ⇄ stop
 *
 * Each domain is requested once from gputap, with all operations of all kinds in that domain. The
 * callback looks up which services requested an operation. Contexts are committed when the client's
 * initialize() returns, so that runtimes that start later install the requested taps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "sdk.h"

enum { DOMAINS = GPUTAP_DOMAIN_RCCL + 1, NAP_NS = 1000000, PATIENCE = 5000 /* naps: 5 s */ };

/* Configuring --------------------------------------------------------------------- */

/* Check the whole list, then store it. @limit: number of operations of the kind. */
static rocprofiler_status_t take_operations(struct sdk_operations *o,
					    const rocprofiler_tracing_operation_t *operations,
					    size_t count, int limit)
{
	if (!operations != !count)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < count; i++)
		if (operations[i] < 0 || operations[i] >= limit)
			return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
	if (o->configured)
		return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	o->configured = true;
	if (!count)
		memset(o->set, 0xff, sizeof o->set);
	for (size_t i = 0; i < count; i++)
		o->set[operations[i] / 64] |= UINT64_C(1) << (operations[i] % 64);
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_configure_callback_tracing_service(
	rocprofiler_context_id_t context_id, rocprofiler_callback_tracing_kind_t kind,
	const rocprofiler_tracing_operation_t *operations, size_t operations_count,
	rocprofiler_callback_tracing_cb_t callback, void *callback_args)
{
	int limit = sdk_callback_operations((int)kind);
	struct sdk_context *c;
	rocprofiler_status_t status;

	if (sdk_may_configure() != ROCPROFILER_STATUS_SUCCESS)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!(c = sdk_context_of(context_id)))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (limit < 0 || kind == ROCPROFILER_CALLBACK_TRACING_NONE)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	if (!callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	sdk_lock();
	status = take_operations(&c->called[kind].ops, operations, operations_count, limit);
	if (status == ROCPROFILER_STATUS_SUCCESS) {
		c->called[kind].fn = callback;
		c->called[kind].user = callback_args;
		c->dirty = true;
	}
	sdk_unlock();
	return status;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_configure_buffer_tracing_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_tracing_kind_t kind,
	const rocprofiler_tracing_operation_t *operations, size_t operations_count,
	rocprofiler_buffer_id_t buffer_id)
{
	int limit = sdk_buffer_operations((int)kind);
	struct sdk_context *c;
	struct sdk_buffer *b;
	rocprofiler_status_t status;

	if (sdk_may_configure() != ROCPROFILER_STATUS_SUCCESS)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!(c = sdk_context_of(context_id)))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (limit < 0 || kind == ROCPROFILER_BUFFER_TRACING_NONE)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	if (!(b = sdk_buffer_of(buffer_id)))
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	/* upstream has no buffered record for this kind */
	if (kind == ROCPROFILER_BUFFER_TRACING_HIP_STREAM)
		return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
	if (kind >= ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE &&
	    kind <= ROCPROFILER_BUFFER_TRACING_KFD_QUEUE)
		/* tools that get this status continue without the kind */
		return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_KERNEL;
	sdk_lock();
	status = take_operations(&c->recorded[kind].ops, operations, operations_count, limit);
	if (status == ROCPROFILER_STATUS_SUCCESS) {
		c->recorded[kind].buffer = b;
		c->dirty = true;
	}
	sdk_unlock();
	return status;
}

/* Creating gputap's context ---------------------------------------------------------- */

struct asked {
	uint32_t operations[DOMAINS][SDK_OPERATIONS], uncorrelated[DOMAINS][SDK_OPERATIONS];
	/* each operation in uncorrelated[] is also in operations[] */
	uint32_t count[DOMAINS], uncorrelated_count[DOMAINS];
	uint64_t activity, objects;
	uint64_t inner;
};

static bool is_operation_asked(const struct asked *a, uint32_t domain, uint32_t operation)
{
	for (uint32_t i = 0; i < a->count[domain]; i++)
		if (a->operations[domain][i] == operation)
			return true;
	return false;
}

static void ask_api(struct asked *a, rocprofiler_callback_tracing_kind_t kind,
		    const struct sdk_operations *one, const struct sdk_operations *two,
		    const struct sdk_operations *three)
{
	struct sdk_api api = sdk_api_of(kind);

	for (uint32_t op = 0; api.domain && op < api.count; op++)
		if (sdk_asks(one, op) || sdk_asks(two, op) || (three && sdk_asks(three, op)))
			a->operations[api.domain][a->count[api.domain]++] = api.from + op;
	if (kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API &&
	    is_operation_asked(a, api.domain,
			       ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevicePropertiesR0000))
		a->operations[api.domain][a->count[api.domain]++] = sdk_old_properties();
}

/* Request calls that are reported as other kinds. A call that is not also reported as a call needs
 * no correlation, unless it starts a range. */
static void ask_inner(struct asked *a, const struct sdk_context *c)
{
	static const uint32_t domains[] = {GPUTAP_DOMAIN_HIP, GPUTAP_DOMAIN_HSA_CORE,
					   GPUTAP_DOMAIN_HSA_AMD_EXT, GPUTAP_DOMAIN_ROCTX};

	for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
		const uint32_t d = domains[i];

		for (uint32_t op = 0; op < SDK_OPERATIONS; op++) {
			if (!sdk_inner_asks(c, d, op))
				continue;
			a->inner |= UINT64_C(1) << d;
			if (is_operation_asked(a, d, op))
				continue;
			a->operations[d][a->count[d]++] = op;
			if (d != GPUTAP_DOMAIN_ROCTX || !sdk_range_begins(op))
				a->uncorrelated[d][a->uncorrelated_count[d]++] = op;
		}
	}
}

/* Activities that may be dispatches, which include copies and sets. Barriers and markers are
 * omitted, because each requested GPU activity is assigned a correlation id, even if no record
 * shows the id. */
static const uint64_t DISPATCHED =
	GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_KERNEL) | GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_FILL) |
	GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_READ) | GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_WRITE) |
	GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_COPY);

/* Request the kinds whose records are not records of calls. */
static void ask_others(struct asked *a, const struct sdk_context *c)
{
	if (c->called[ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH].ops.configured ||
	    c->recorded[ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH].ops.configured)
		a->activity |= DISPATCHED;
	if (c->called[ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY].ops.configured ||
	    c->recorded[ROCPROFILER_BUFFER_TRACING_MEMORY_COPY].ops.configured)
		a->activity |= GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_READ) |
			       GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_WRITE) |
			       GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_COPY);
	if (c->called[ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT].ops.configured)
		a->objects |= 1u << GPUTAP_OBJECT_CODE_OBJECT | 1u << GPUTAP_OBJECT_KERNEL_SYMBOL;
	if (a->activity || a->objects)
		a->objects |= 1u << GPUTAP_OBJECT_DEVICE;
	if (c->called[ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY].ops.configured ||
	    c->recorded[ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY].ops.configured)
		a->objects |= 1u << GPUTAP_OBJECT_DEVICE | 1u << GPUTAP_OBJECT_QUEUE;
}

static void collect_asked(struct asked *a, const struct sdk_context *c)
{
	memset(a->count, 0, sizeof a->count);
	memset(a->uncorrelated_count, 0, sizeof a->uncorrelated_count);
	a->activity = a->objects = 0;
	a->inner = 0;
	for (int kind = 1; kind < ROCPROFILER_CALLBACK_TRACING_LAST; kind++) {
		const struct sdk_operations *three = NULL;

		if (kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API)
			three = &c->recorded[ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT].ops;
		if (kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API)
			three = &c->recorded[ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT].ops;
		if (sdk_api_of((rocprofiler_callback_tracing_kind_t)kind).domain)
			ask_api(a, (rocprofiler_callback_tracing_kind_t)kind, &c->called[kind].ops,
				&c->recorded[kind].ops, three);
	}
	ask_inner(a, c);
	ask_others(a, c);
}

static uint32_t object_flags(void)
{
	const char *order = getenv("GPUTAP_ROCPROFILER_UNLOAD"),
		   *replay = getenv("GPUTAP_ROCPROFILER_REPLAY");

	return (order && !strcmp(order, "object-first") ? GPUTAP_OBJECTS_PARENT_FIRST : 0) |
	       (replay && !strcmp(replay, "0") ? GPUTAP_OBJECTS_NO_REPLAY : 0);
}

/* Return the flag that determines in which order several contexts are notified of EXIT. */
static uint32_t exit_flag(void)
{
	const char *order = getenv("GPUTAP_ROCPROFILER_EXIT");

	return order && !strcmp(order, "first-to-last") ? GPUTAP_CONTEXT_EXIT_FORWARD : 0;
}

/* Return a nonzero flag if start times of calls are needed. Records, and callbacks for allocations,
 * contain them. */
static uint32_t is_timed(const struct sdk_context *c)
{
	bool timed = c->called[ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION].ops.configured;

	for (int kind = 1; kind < ROCPROFILER_BUFFER_TRACING_LAST; kind++)
		timed |= c->recorded[kind].ops.configured;
	return timed ? GPUTAP_CALLS_TIMED : 0;
}

/* Create a new gputap context for the current configuration. */
static int make_context(struct sdk_context *c)
{
	static struct asked a; /* static because it is large; the lock serialises its users */
	const struct gputap_context_opts opts = {
		.size = sizeof opts,
		.flags = GPUTAP_CONTEXT_FINISH_CALLS | GPUTAP_CONTEXT_DENSE |
			 GPUTAP_CONTEXT_INNERMOST | GPUTAP_CONTEXT_ALL_RETIRED | exit_flag(),
	};
	int rc;

	sdk_lock();
	if (c->tap)
		gputap_context_destroy(c->tap);
	c->tap = NULL;
	c->dirty = false;
	collect_asked(&a, c);
	c->inner = a.inner;
	sdk_watch_for(c);
	rc = gputap_context_create(&opts, &c->tap);
	for (uint32_t d = 0; rc == 0 && d < DOMAINS; d++)
		if (a.count[d])
			rc = gputap_context_calls(c->tap, d, a.operations[d], a.count[d],
						  is_timed(c), sdk_on_call, c);
	for (uint32_t d = 0; rc == 0 && d < DOMAINS; d++)
		/* an allocation has its own correlation if no call that is reported to clients
		 * encloses it */
		if (a.uncorrelated_count[d])
			rc = gputap_context_uncorrelated(
				c->tap, d, a.uncorrelated[d], a.uncorrelated_count[d],
				d == GPUTAP_DOMAIN_HSA_CORE || d == GPUTAP_DOMAIN_HSA_AMD_EXT
					? GPUTAP_UNCORRELATED_ALONE
					: 0);
	if (rc == 0 && a.activity)
		rc = gputap_context_activities(c->tap, GPUTAP_DOMAIN_HSA_CORE, a.activity,
					       sdk_on_activity, c);
	if (rc == 0 && a.objects)
		rc = gputap_context_objects(c->tap, GPUTAP_DOMAIN_HSA_CORE, a.objects,
					    object_flags(), sdk_on_object, c);
	if (rc == 0 &&
	    c->recorded[ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT].ops.configured)
		rc = gputap_context_retirement(c->tap, sdk_on_retired, c);
	if (rc) {
		gputap_context_destroy(c->tap);
		c->tap = NULL;
		c->dirty = true;
	}
	sdk_unlock();
	return rc;
}

/* Kinds that are accepted, as in upstream, but never report anything, each with the reason. */
static const struct {
	int called, recorded;
	const char *why;
} silent[] = {
	{ROCPROFILER_CALLBACK_TRACING_OMPT, ROCPROFILER_BUFFER_TRACING_OMPT,
	 "OMPT: gputap does not request events from OpenMP's runtimes"},
	{ROCPROFILER_CALLBACK_TRACING_ROCDECODE_API, ROCPROFILER_BUFFER_TRACING_ROCDECODE_API,
	 "ROCDECODE_API: clients can get its table"},
	{ROCPROFILER_CALLBACK_TRACING_NONE, ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT,
	 "ROCDECODE_API_EXT: clients can get its table"},
	{ROCPROFILER_CALLBACK_TRACING_ROCJPEG_API, ROCPROFILER_BUFFER_TRACING_ROCJPEG_API,
	 "ROCJPEG_API: clients can get its table"},
};

/* Print the reason once for each kind, if upstream's library prints similar messages at this log
 * level. */
static void report_silent(const struct sdk_context *c)
{
	static _Atomic unsigned reported;
	const char *level = getenv("ROCPROFILER_LOG_LEVEL");

	if (!level || (strcasecmp(level, "info") && strcasecmp(level, "trace")))
		return;
	for (unsigned i = 0; i < sizeof silent / sizeof *silent; i++)
		if ((c->called[silent[i].called].ops.configured ||
		     c->recorded[silent[i].recorded].ops.configured) &&
		    !(atomic_fetch_or(&reported, 1u << i) >> i & 1))
			sdk_report("a configured kind delivers no records: %s", silent[i].why);
}

void sdk_contexts_commit(uint32_t client)
{
	for (int i = 0; i < SDK_CONTEXTS; i++) {
		struct sdk_context *c = &sdk_contexts[i];
		int rc;

		if (c->handle && c->client == client &&
		    (c->called[ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION]
			     .ops.configured ||
		     c->recorded[ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION]
			     .ops.configured ||
		     c->called[ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY].ops.configured ||
		     c->recorded[ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY].ops.configured))
			sdk_tables_init();
		if (c->handle && c->client == client && (!c->tap || c->dirty))
			report_silent(c);
		if (c->handle && c->client == client && (!c->tap || c->dirty) &&
		    (rc = make_context(c)) != 0)
			sdk_report("cannot create a context of %s: %s", "a tool", strerror(-rc));
		else if (c->handle && c->client == client && atomic_load(&c->active))
			gputap_context_start(c->tap);
	}
}

/* Starting, stopping -------------------------------------------------------------------- */

SDK_EXPORT rocprofiler_status_t rocprofiler_start_context(rocprofiler_context_id_t context_id)
{
	struct sdk_context *c = sdk_context_of(context_id);

	if (atomic_load(&sdk_finalized) != SDK_NOT_YET)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (c->counts)
		return ROCPROFILER_STATUS_ERROR_NO_HARDWARE_COUNTERS;
	if (atomic_exchange(&c->active, true))
		return ROCPROFILER_STATUS_SUCCESS;
	if ((c->dirty || !c->tap) && make_context(c) != 0) {
		atomic_store(&c->active, false);
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
	}
	if (gputap_context_start(c->tap) != 0) {
		atomic_store(&c->active, false);
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_stop_context(rocprofiler_context_id_t context_id)
{
	struct sdk_context *c = sdk_context_of(context_id);

	if (atomic_load(&sdk_finalized) != SDK_NOT_YET)
		return ROCPROFILER_STATUS_SUCCESS;
	if (!c || !atomic_exchange(&c->active, false))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	gputap_context_stop(c->tap);
	return ROCPROFILER_STATUS_SUCCESS;
}

void sdk_contexts_stop(uint32_t client)
{
	for (int i = 0; i < SDK_CONTEXTS; i++) {
		struct sdk_context *c = &sdk_contexts[i];

		if (c->handle && c->client == client && atomic_exchange(&c->active, false) &&
		    c->tap)
			gputap_context_stop(c->tap);
	}
}

void sdk_contexts_settle(uint32_t client)
{
	const struct timespec nap = {0, NAP_NS};

	for (int i = 0; i < SDK_CONTEXTS; i++) {
		struct sdk_context *c = &sdk_contexts[i];

		if (!c->handle || c->client != client)
			continue;
		for (int n = 0; n < PATIENCE && atomic_load(&c->in_flight) > 0; n++)
			nanosleep(&nap, NULL);
		sdk_objects_unload(c);
	}
}

void sdk_contexts_drop(uint32_t client)
{
	for (int i = 0; i < SDK_CONTEXTS; i++) {
		struct sdk_context *c = &sdk_contexts[i];

		if (!c->handle || c->client != client)
			continue;
		atomic_store(&c->active, false);
		gputap_context_destroy(c->tap);
		c->tap = NULL;
		sdk_buffers_drop(c);
		sdk_external_drop(c);
		sdk_objects_drop(c);
		__atomic_store_n(&c->handle, 0, __ATOMIC_RELEASE);
	}
}
