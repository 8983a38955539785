/* SPDX-License-Identifier: MIT */
/* Wraps of libcupti's exports. Calls of another user of CUPTI in the process go to the CUPTI
 * session (cupti_session.h) instead, which gives that client the data that CUPTI would give it
 * (cupti_client.h).
 *
 *   the client calls                 result
 *   cuptiSubscribe()                 the session's subscriber calls the client's callback; the
 *                                    client gets our handle. A second client gets CUPTI's error 39
 *   cuptiEnableCallback() etc.       on: for the session's subscriber; off: unless we need it
 *   RegisterCallbacks()              noted; the functions are called in the client's turn
 *   cuptiActivityEnable()            the first call flushes CUPTI and starts the client's turn
 *   cuptiActivityDisable()           success; done unless we need the kind
 *   cuptiActivityFlushAll()          done; after the last Disable, this ends the client's turn
 *   RegisterTimestampCallback()      noted; times of the client's records are converted to its unit
 *   cuptiFinalize()                  success; done if we need nothing
 *
 * If neither the recording session nor a tool wants CUDA's GPU activities, the client uses CUPTI
 * directly. A client that subscribes with the _v2 functions of 13.2 and later also uses CUPTI
 * directly. It gets CUPTI exclusively, and our GPU activities end. A client of a second copy of
 * libcupti is served if the copy's release is equal to or older than the release of the copy in
 * use, because records only grow at their ends and are walked with the newer copy's function. A
 * client of a newer copy is not served. CUPTI refuses the copy, like any additional copy, even
 * after the first copy's cuptiFinalize() (tested: 12.8 after 13.0, on an H200). */
#include <stdio.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"
#include "generated/cupti_taps.h"
#include "generated/cupti_wraps.h"
#include "runtime/cuda/cupti_client.h"
#include "runtime/cuda/cupti_session.h"
#include "runtime/gpu_activity.h"
#include "runtime/interposition.h"

#define WRAP(name)       gt_cupti_wrap_##name
/* The real function of @name in @taps. */
#define REAL(taps, name) ((gt_cupti_##name##_fn *)(taps)[GT_CUPTI_INDEX_##name].real)

/* Clients that are served -------------------------------------------------------------------- */

enum decision { UNDECIDED, SERVED, ALONE };

extern struct gt_attach_state gt_cupti_attach_states[GT_CUPTI_INSTANCES]; /* cupti_attach.c */

static _Atomic int decisions[GT_CUPTI_INSTANCES];
/* taps of the session's library */
static struct gt_tap *served_by[GT_CUPTI_INSTANCES];
static _Atomic bool stepped_aside;

bool gt_cuda_runtime_wanted(void) __attribute__((weak, visibility("hidden")));

static bool is_wanted(void)
{
	return gt_activity_is_recorded(GT_DOMAIN_CUDA_DRIVER) ||
	       atomic_load_explicit(&gt_recording.tools, memory_order_relaxed) ||
	       (gt_cuda_runtime_wanted && gt_cuda_runtime_wanted());
}

static struct gt_tap *find_owners_taps(const struct gt_cupti_library *library)
{
	for (unsigned i = 0; i < GT_CUPTI_INSTANCES; i++)
		if (REAL(gt_cupti_taps[i], cuptiSubscribe) ==
		    (gt_cupti_cuptiSubscribe_fn *)(uintptr_t)library->cuptiSubscribe)
			return gt_cupti_taps[i];
	return NULL;
}

static void report_copy(const char *path, const struct gt_cupti_library *library)
{
	char text[512];

	snprintf(text, sizeof text,
		 "%.180s is a second CUPTI, newer than %.180s: its users get no records; name it "
		 "in GPUTAP_CUPTI, or use gputap run --no-device",
		 path, library->path);
	gt_event_write(gt_thread_own(), GT_EVENT_PROFILING, GT_DOMAIN_CUDA_DRIVER, 0, text);
}

static enum decision decide(unsigned instance)
{
	const struct gt_attach_state *state = &gt_cupti_attach_states[instance];
	const struct gt_cupti_library *library;
	uint32_t version = 0;

	if (!is_wanted() || gt_cupti_client_other())
		return ALONE;
	if (!gt_cupti_session_library() && !gt_cupti_session_open_at(state->base))
		return ALONE;
	library = gt_cupti_session_library();
	served_by[instance] = library ? find_owners_taps(library) : NULL;
	if (library)
		gt_cupti_client_walk_by(library->cuptiActivityGetNextRecord);
	if (served_by[instance] == gt_cupti_taps[instance])
		return SERVED;
	if (library && REAL(gt_cupti_taps[instance], cuptiGetVersion)(&version) == CUPTI_SUCCESS &&
	    version <= library->version && served_by[instance])
		return SERVED;
	if (library)
		report_copy(state->path, library);
	return ALONE;
}

void gt_cupti_share_renew(void)
{
	for (unsigned i = 0; i < GT_CUPTI_INSTANCES; i++) {
		int alone = ALONE;

		atomic_compare_exchange_strong(&decisions[i], &alone, UNDECIDED);
	}
}

void gt_cupti_share_serve(void)
{
	const struct gt_cupti_library *library = gt_cupti_session_library();
	struct gt_tap *taps = library ? find_owners_taps(library) : NULL;

	for (unsigned i = 0; i < GT_CUPTI_INSTANCES && taps; i++)
		if (taps == gt_cupti_taps[i]) {
			gt_cupti_client_walk_by(library->cuptiActivityGetNextRecord);
			served_by[i] = taps;
			atomic_store_explicit(&decisions[i], SERVED, memory_order_release);
		}
}

/* Return the real functions of the session's library, for a client that is served. Return NULL if
 * the client uses CUPTI directly. */
static struct gt_tap *find_served(const struct gt_call *call)
{
	unsigned instance = call->table->instance;
	int decision = atomic_load_explicit(&decisions[instance], memory_order_acquire);

	if (atomic_load_explicit(&stepped_aside, memory_order_relaxed) ||
	    !gt_cupti_session_is_here())
		return NULL;
	if (decision == UNDECIDED) {
		decision = decide(instance);
		atomic_store_explicit(&decisions[instance], decision, memory_order_release);
	}
	return decision == SERVED ? served_by[instance] : NULL;
}

/* Like find_served(), for a call with a subscriber's handle. A subscriber with an unknown handle
 * subscribed before gputap, or bypassed gputap. */
static struct gt_tap *find_subscribed(const struct gt_call *call, const void *subscriber)
{
	return gt_cupti_client_is_handle(subscriber) ? find_served(call) : NULL;
}

/* Callbacks -------------------------------------------------------------------------------- */

int WRAP(cuptiSubscribe)(const struct gt_call *call, void **subscriber, void *callback, void *user)
{
	gt_cupti_cuptiSubscribe_fn *real = call->tap->real;
	int status;

	if (!find_served(call))
		return real(subscriber, callback, user);
	if (!subscriber)
		return CUPTI_INVALID_PARAMETER;
	status = gt_cupti_client_subscribed() ? CUPTI_MULTIPLE_SUBSCRIBERS
					      : gt_cupti_session_subscribe();
	if (status == CUPTI_SUCCESS &&
	    !gt_cupti_client_subscribe((cupti_callback_fn *)(uintptr_t)callback, user))
		status = CUPTI_MULTIPLE_SUBSCRIBERS;
	if (status == CUPTI_SUCCESS)
		*subscriber = gt_cupti_client_handle();
	return status;
}

int WRAP(cuptiSubscribe_v2)(const struct gt_call *call, void **subscriber, void *callback,
			    void *user, void *parameters)
{
	gt_cupti_cuptiSubscribe_v2_fn *real = call->tap->real;

	if (!gt_cupti_client_subscribed() && find_served(call) &&
	    !atomic_exchange(&stepped_aside, true))
		gt_cupti_session_step_aside(
			"the program calls cuptiSubscribe_v2(), which excludes other tools: its "
			"further GPU activities are not recorded");
	return real(subscriber, callback, user, parameters);
}

static bool has_callbacks(int domain)
{
	for (uint32_t id = 0; id < CUPTI_CALLBACK_IDS; id++)
		if (gt_cupti_session_needs_callback(domain, id))
			return true;
	return false;
}

/* Enable or disable all callbacks of a domain. If we need some of the callbacks, disable the others
 * one at a time, because ours must stay enabled. */
static int set_domain(struct gt_tap *taps, bool on, int domain)
{
	void *subscriber = gt_cupti_session_subscriber();

	if (on || !has_callbacks(domain))
		return REAL(taps, cuptiEnableDomain)(on, subscriber, domain);
	for (uint32_t id = 0; id < CUPTI_CALLBACK_IDS; id++)
		if (gt_cupti_client_has_callback(domain, id) &&
		    !gt_cupti_session_needs_callback(domain, id))
			REAL(taps, cuptiEnableCallback)(0, subscriber, domain, id);
	return CUPTI_SUCCESS;
}

static int set_guests_domain(struct gt_tap *taps, bool on, int domain)
{
	int status;

	if (on)
		gt_cupti_session_subscribe(); /* CUPTI may have been finalised meanwhile */
	status = set_domain(taps, on, domain);

	if (status == CUPTI_SUCCESS)
		gt_cupti_client_set_callback(domain, UINT32_MAX, on);
	return status;
}

int WRAP(cuptiUnsubscribe)(const struct gt_call *call, void *subscriber)
{
	struct gt_tap *taps = find_subscribed(call, subscriber);
	gt_cupti_cuptiUnsubscribe_fn *real = call->tap->real;

	if (!taps)
		return real(subscriber);
	for (int domain = 1; domain < CUPTI_DOMAIN_COUNT; domain++)
		for (uint32_t id = 0; id < CUPTI_CALLBACK_IDS; id++)
			if (gt_cupti_client_has_callback(domain, id)) {
				set_guests_domain(taps, false, domain);
				break;
			}
	gt_cupti_client_unsubscribe();
	return CUPTI_SUCCESS;
}

int WRAP(cuptiEnableCallback)(const struct gt_call *call, uint32_t on, void *subscriber, int domain,
			      uint32_t id)
{
	struct gt_tap *taps = find_subscribed(call, subscriber);
	gt_cupti_cuptiEnableCallback_fn *real = call->tap->real;
	int status = CUPTI_SUCCESS;

	if (!taps)
		return real(on, subscriber, domain, id);
	if (on)
		gt_cupti_session_subscribe(); /* CUPTI may have been finalised meanwhile */
	if (on || !gt_cupti_session_needs_callback(domain, id))
		status = REAL(taps, cuptiEnableCallback)(on, gt_cupti_session_subscriber(), domain,
							 id);
	if (status == CUPTI_SUCCESS)
		gt_cupti_client_set_callback(domain, id, on);
	return status;
}

int WRAP(cuptiEnableDomain)(const struct gt_call *call, uint32_t on, void *subscriber, int domain)
{
	struct gt_tap *taps = find_subscribed(call, subscriber);
	gt_cupti_cuptiEnableDomain_fn *real = call->tap->real;

	return taps ? set_guests_domain(taps, on, domain) : real(on, subscriber, domain);
}

int WRAP(cuptiEnableAllDomains)(const struct gt_call *call, uint32_t on, void *subscriber)
{
	struct gt_tap *taps = find_subscribed(call, subscriber);
	gt_cupti_cuptiEnableAllDomains_fn *real = call->tap->real;

	if (!taps)
		return real(on, subscriber);
	for (int domain = CUPTI_DOMAIN_DRIVER; domain <= CUPTI_DOMAIN_STATE; domain++) {
		int status = set_guests_domain(taps, on, domain);

		/* the last domains exist only in later releases */
		if (status != CUPTI_SUCCESS && domain <= CUPTI_DOMAIN_NVTX)
			return status;
	}
	return CUPTI_SUCCESS;
}

int WRAP(cuptiGetCallbackState)(const struct gt_call *call, uint32_t *on, void *subscriber,
				int domain, uint32_t id)
{
	struct gt_tap *taps = find_subscribed(call, subscriber);
	gt_cupti_cuptiGetCallbackState_fn *real = call->tap->real;
	int status;

	if (!taps)
		return real(on, subscriber, domain, id);
	status = REAL(taps, cuptiGetCallbackState)(on, gt_cupti_session_subscriber(), domain, id);
	if (status == CUPTI_SUCCESS)
		*on = gt_cupti_client_has_callback(domain, id);
	return status;
}

/* NEEDSWORK: the next two functions also report our callbacks and kinds. CUPTI 13.2 introduced
 * these functions, for programs with several subscribers. */
int WRAP(cuptiGetEnabledCallbacks)(const struct gt_call *call, void *subscriber, int domain,
				   void *buffer, void *bytes, uint32_t *count)
{
	gt_cupti_cuptiGetEnabledCallbacks_fn *real = call->tap->real;

	return real(find_subscribed(call, subscriber) ? gt_cupti_session_subscriber() : subscriber,
		    domain, buffer, bytes, count);
}

int WRAP(cuptiActivityGetEnabledKinds)(const struct gt_call *call, void *subscriber, void *buffer,
				       void *bytes, uint32_t *count)
{
	gt_cupti_cuptiActivityGetEnabledKinds_fn *real = call->tap->real;

	return real(find_subscribed(call, subscriber) ? gt_cupti_session_subscriber() : subscriber,
		    buffer, bytes, count);
}

/* Records ---------------------------------------------------------------------------------- */

int WRAP(cuptiActivityRegisterCallbacks)(const struct gt_call *call, void *request, void *complete)
{
	gt_cupti_cuptiActivityRegisterCallbacks_fn *real = call->tap->real;
	int status;

	if (!find_served(call))
		return real(request, complete);
	if (!request || !complete)
		return CUPTI_INVALID_PARAMETER;
	status = gt_cupti_session_register();
	if (status == CUPTI_SUCCESS)
		gt_cupti_client_register((cupti_request_fn *)(uintptr_t)request,
					 (cupti_complete_fn *)(uintptr_t)complete);
	return status;
}

/* Prepare before the client enables its first kind: register our buffers and our clock, and flush
 * our buffers. */
static int begin_kind(struct gt_tap *taps)
{
	int status = gt_cupti_session_register();

	if (status == CUPTI_SUCCESS && gt_cupti_client_begins())
		REAL(taps, cuptiActivityFlushAll)(CUPTI_FLUSH_COMPLETED);
	return status;
}

/* Return true if the records of this kind are those of a graph's nodes. Recording a graph's launch
 * as a whole would suppress these records, which the client wants. */
static bool is_of_nodes(int kind)
{
	return kind == CUPTI_KIND_KERNEL || kind == CUPTI_KIND_KERNEL_SERIAL ||
	       kind == CUPTI_KIND_COPY || kind == CUPTI_KIND_SET;
}

static int enable_kind(const struct gt_call *call, void *context, int kind, int index)
{
	struct gt_tap *taps = find_served(call);
	void *real = taps ? taps[index].real : call->tap->real;
	bool owned = taps && gt_cupti_session_needs_kind((uint32_t)kind);
	int status = taps ? begin_kind(taps) : CUPTI_SUCCESS;

	if (status != CUPTI_SUCCESS)
		return status;
	if (taps && is_of_nodes(kind))
		gt_cupti_session_spare_kind(CUPTI_KIND_GRAPH, true);
	/* call this before the kind is enabled, because CUPTI then requests buffers at once */
	if (taps)
		gt_cupti_client_add_kind(context, (uint32_t)kind, owned);
	status = context ? ((gt_cupti_cuptiActivityEnableContext_fn *)real)(context, kind)
			 : ((gt_cupti_cuptiActivityEnable_fn *)real)(kind);
	if (taps && status != CUPTI_SUCCESS)
		gt_cupti_client_remove_kind(context, (uint32_t)kind, owned);
	return status;
}

static int disable_kind(const struct gt_call *call, void *context, int kind, int index)
{
	struct gt_tap *taps = find_served(call);
	void *real = taps ? taps[index].real : call->tap->real;
	bool owned = taps && gt_cupti_session_needs_kind((uint32_t)kind);

	if (taps)
		gt_cupti_client_remove_kind(context, (uint32_t)kind, owned);
	if (owned)
		return CUPTI_SUCCESS;
	if (taps && is_of_nodes(kind))
		gt_cupti_session_note_disabled();
	return context ? ((gt_cupti_cuptiActivityDisableContext_fn *)real)(context, kind)
		       : ((gt_cupti_cuptiActivityDisable_fn *)real)(kind);
}

int WRAP(cuptiActivityEnable)(const struct gt_call *call, int kind)
{
	return enable_kind(call, NULL, kind, GT_CUPTI_INDEX_cuptiActivityEnable);
}

int WRAP(cuptiActivityEnableAndDump)(const struct gt_call *call, int kind)
{
	return enable_kind(call, NULL, kind, GT_CUPTI_INDEX_cuptiActivityEnableAndDump);
}

int WRAP(cuptiActivityDisable)(const struct gt_call *call, int kind)
{
	return disable_kind(call, NULL, kind, GT_CUPTI_INDEX_cuptiActivityDisable);
}

int WRAP(cuptiActivityEnableContext)(const struct gt_call *call, void *context, int kind)
{
	gt_cupti_cuptiActivityEnableContext_fn *real = call->tap->real;

	return context ? enable_kind(call, context, kind, GT_CUPTI_INDEX_cuptiActivityEnableContext)
		       : real(context, kind);
}

int WRAP(cuptiActivityDisableContext)(const struct gt_call *call, void *context, int kind)
{
	gt_cupti_cuptiActivityDisableContext_fn *real = call->tap->real;

	return context ? disable_kind(call, context, kind,
				      GT_CUPTI_INDEX_cuptiActivityDisableContext)
		       : real(context, kind);
}

static int set_function(const struct gt_call *call, uint32_t id, uint32_t on, uint32_t kind,
			int index)
{
	struct gt_tap *taps = find_served(call);
	gt_cupti_cuptiActivityEnableDriverApi_fn *real = taps ? taps[index].real : call->tap->real;
	int status = taps && on ? begin_kind(taps) : CUPTI_SUCCESS;

	if (status != CUPTI_SUCCESS)
		return status;
	if (taps)
		gt_cupti_client_set_function(kind, id, on);
	status = real(id, on);
	if (taps && on && status != CUPTI_SUCCESS)
		gt_cupti_client_set_function(kind, id, false);
	return status;
}

int WRAP(cuptiActivityEnableDriverApi)(const struct gt_call *call, uint32_t id, uint32_t on)
{
	return set_function(call, id, on, CUPTI_KIND_DRIVER,
			    GT_CUPTI_INDEX_cuptiActivityEnableDriverApi);
}

int WRAP(cuptiActivityEnableRuntimeApi)(const struct gt_call *call, uint32_t id, uint32_t on)
{
	return set_function(call, id, on, CUPTI_KIND_RUNTIME,
			    GT_CUPTI_INDEX_cuptiActivityEnableRuntimeApi);
}

static void end_flush(void)
{
	gt_cupti_client_end_flush();
	if (gt_cupti_client_begins())
		gt_cupti_session_spare_kind(CUPTI_KIND_GRAPH, false);
}

int WRAP(cuptiActivityFlushAll)(const struct gt_call *call, uint32_t flag)
{
	struct gt_tap *taps = find_served(call);
	gt_cupti_cuptiActivityFlushAll_fn *real =
		REAL(taps ? taps : gt_cupti_taps[call->table->instance], cuptiActivityFlushAll);
	int status;

	if (taps)
		gt_cupti_client_begin_flush();
	status = real(flag);
	if (taps)
		end_flush();
	return status;
}

int WRAP(cuptiActivityFlush)(const struct gt_call *call, void *context, uint32_t stream,
			     uint32_t flag)
{
	struct gt_tap *taps = find_served(call);
	gt_cupti_cuptiActivityFlush_fn *real =
		REAL(taps ? taps : gt_cupti_taps[call->table->instance], cuptiActivityFlush);
	int status;

	if (taps)
		gt_cupti_client_begin_flush();
	status = real(context, stream, flag);
	if (taps)
		end_flush();
	return status;
}

int WRAP(cuptiActivityGetNumDroppedRecords)(const struct gt_call *call, void *context,
					    uint32_t stream, size_t *dropped)
{
	struct gt_tap *taps = find_served(call);
	gt_cupti_cuptiActivityGetNumDroppedRecords_fn *real =
		REAL(taps ? taps : gt_cupti_taps[call->table->instance],
		     cuptiActivityGetNumDroppedRecords);
	int status = real(context, stream, dropped);

	if (taps && status == CUPTI_SUCCESS)
		*dropped += gt_cupti_client_take_dropped();
	return status;
}

/* Push an id in the session's library, which itself keeps the thread's stack of ids. */
int WRAP(cuptiActivityPushExternalCorrelationId)(const struct gt_call *call, uint32_t kind,
						 uint64_t id)
{
	struct gt_tap *taps = find_served(call);

	return REAL(taps ? taps : gt_cupti_taps[call->table->instance],
		    cuptiActivityPushExternalCorrelationId)(kind, id);
}

int WRAP(cuptiActivityPopExternalCorrelationId)(const struct gt_call *call, uint32_t kind,
						uint64_t *last)
{
	struct gt_tap *taps = find_served(call);

	return REAL(taps ? taps : gt_cupti_taps[call->table->instance],
		    cuptiActivityPopExternalCorrelationId)(kind, last);
}

/* Return the functions for read-only calls of any copy, even while no client is served. */
static struct gt_tap *find_reader(const struct gt_call *call)
{
	unsigned instance = call->table->instance;

	return atomic_load_explicit(&decisions[instance], memory_order_acquire) == SERVED
		       ? served_by[instance]
		       : gt_cupti_taps[instance];
}

int WRAP(cuptiActivityGetNextRecord)(const struct gt_call *call, void *buffer, size_t bytes,
				     void **record)
{
	return REAL(find_reader(call), cuptiActivityGetNextRecord)(buffer, bytes, record);
}

int WRAP(cuptiGetDeviceId)(const struct gt_call *call, void *context, uint32_t *id)
{
	return REAL(find_reader(call), cuptiGetDeviceId)(context, id);
}

int WRAP(cuptiGetContextId)(const struct gt_call *call, void *context, uint32_t *id)
{
	return REAL(find_reader(call), cuptiGetContextId)(context, id);
}

int WRAP(cuptiGetStreamId)(const struct gt_call *call, void *context, void *stream, uint32_t *id)
{
	return REAL(find_reader(call), cuptiGetStreamId)(context, stream, id);
}

int WRAP(cuptiGetStreamIdEx)(const struct gt_call *call, void *context, void *stream, uint8_t own,
			     uint32_t *id)
{
	return REAL(find_reader(call), cuptiGetStreamIdEx)(context, stream, own, id);
}

int WRAP(cuptiGetGraphId)(const struct gt_call *call, void *graph, uint32_t *id)
{
	return REAL(find_reader(call), cuptiGetGraphId)(graph, id);
}

int WRAP(cuptiGetGraphExecId)(const struct gt_call *call, void *graph, uint32_t *id)
{
	return REAL(find_reader(call), cuptiGetGraphExecId)(graph, id);
}

int WRAP(cuptiGetGraphNodeId)(const struct gt_call *call, void *node, uint64_t *id)
{
	return REAL(find_reader(call), cuptiGetGraphNodeId)(node, id);
}

/* Clock and library ------------------------------------------------------------------------ */

int WRAP(cuptiActivityRegisterTimestampCallback)(const struct gt_call *call, void *clock)
{
	gt_cupti_cuptiActivityRegisterTimestampCallback_fn *real = call->tap->real;

	if (!clock || !find_served(call))
		return real(clock);
	gt_cupti_client_set_clock((cupti_time_fn *)(uintptr_t)clock);
	return gt_cupti_session_register();
}

int WRAP(cuptiGetTimestamp)(const struct gt_call *call, uint64_t *timestamp)
{
	gt_cupti_cuptiGetTimestamp_fn *real = call->tap->real;

	if (!timestamp || !find_served(call))
		return real(timestamp);
	*timestamp = gt_cupti_client_time();
	return CUPTI_SUCCESS;
}

int WRAP(cuptiFinalize)(const struct gt_call *call)
{
	gt_cupti_cuptiFinalize_fn *real = call->tap->real;

	if (!find_served(call))
		return real();
	gt_cupti_client_forget();
	return gt_cupti_session_is_active() ? CUPTI_SUCCESS
					    : gt_cupti_session_finalize_for_client();
}

int WRAP(cuptiActivitySetAttribute)(const struct gt_call *call, uint32_t attribute, size_t *bytes,
				    void *value)
{
	struct gt_tap *taps = find_served(call);

	/* only the client zeroes its buffers, and CUPTI works without this hint */
	if (taps && attribute == CUPTI_ATTRIBUTE_ZEROED_BUFFERS)
		return CUPTI_SUCCESS;
	return REAL(taps ? taps : gt_cupti_taps[call->table->instance],
		    cuptiActivitySetAttribute)(attribute, bytes, value);
}
