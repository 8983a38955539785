/* SPDX-License-Identifier: MIT */
/* See cupti_session.h.
 *
 * cuptiFinalize() is called at the end of a launch's callback. NVIDIA's documentation recommends
 * this, because CUPTI then does nothing else in the thread. Until cuptiFinalize() is called, the
 * enabled kinds cost time only in launches. If a program launches nothing after a recording window,
 * CUPTI therefore stays in the process, at no cost.
 *
 * CUPTI is not finalised if graph launches are recorded as a whole (GRAPH_TRACE, --mode lite). If
 * GRAPH_TRACE is disabled in a launch's callback, or by finalising CUPTI, graphs fault on the
 * device (tested: CUPTI 13.0 on an H100; graphs recorded by node do not fault). In this mode, CUPTI
 * therefore costs the same in a pause as outside of it. */
#include "runtime/cuda/cupti_session.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/late.h"
#include "core/recording.h"
#include "runtime/cuda/cuda_driver_calls.h"
#include "runtime/cuda/cuda_parts.h"
#include "runtime/cuda/cuda_runtime_calls.h"
#include "tool/tool_activity.h"

enum state { CLOSED = 0, ACTIVE, LEAVING, REFUSED };

static struct {
	_Atomic uint32_t state;    /* enum state of gputap's own use of CUPTI */
	_Atomic uint32_t changing; /* nonzero while a thread changes the members below */
	_Atomic int32_t process;   /* process that opened CUPTI, or 0 */
	struct gt_cupti_library library;
	_Atomic bool has_library;
	void *_Atomic subscriber;
	_Atomic bool registered;
	_Atomic bool was_gone;   /* true if CUPTI has been finalised since it was last opened */
	_Atomic uint64_t kinds;  /* kinds enabled for gputap, one bit per kind */
	_Atomic uint64_t spared; /* subset of `kinds` that is disabled for a client */
	/* true if graphs have executed while CUPTI recorded them, and the kinds were disabled
	 * since. cuptiFinalize() then leaves these graphs with references to freed device memory,
	 * and their next launch faults (tested: CUPTI 13.0 on an H200) */
	_Atomic bool is_kept;
	_Atomic bool waits;     /* true while another tool uses CUPTI (take_over()) */
	_Atomic bool has_spans; /* true if graph launches have been recorded as a whole */
} owner;

static GT_AT_START const struct gt_cupti_user *user;

GT_AT_START_CODE void gt_cupti_session_use(const struct gt_cupti_user *u)
{
	user = u;
}

/* Nesting count of changes in this thread. While a thread changes CUPTI's state, CUPTI makes
 * callbacks, which may call this file again. */
static _Thread_local uint32_t changes;

static bool try_change(void)
{
	if (!changes && atomic_exchange_explicit(&owner.changing, 1, memory_order_acquire))
		return false;
	changes++;
	return true;
}

static void begin_change(void)
{
	while (!try_change())
		sched_yield();
}

static void end_change(void)
{
	if (!--changes)
		atomic_store_explicit(&owner.changing, 0, memory_order_release);
}

static void say(const char *text)
{
	gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_CUDA_DRIVER, 0, text);
}

static void say_status(const char *what, int status)
{
	char text[256];
	const char *way;

	switch (status) {
	case CUPTI_MULTIPLE_SUBSCRIBERS:
		way = "another tool in this program uses CUPTI: run without that tool";
		break;
	case CUPTI_INSUFFICIENT_PRIVILEGES:
		way = "the driver restricts profiling to root: load nvidia with "
		      "NVreg_RestrictProfilingToAdminUsers=0";
		break;
	case CUPTI_VIRTUALIZED_DEVICE: way = "profiling is off for this virtual GPU"; break;
	case CUPTI_NOT_COMPATIBLE:
		way = "CUPTI is incompatible with the driver: name another libcupti in "
		      "GPUTAP_CUPTI";
		break;
	default: way = "name another libcupti in GPUTAP_CUPTI"; break;
	}
	snprintf(text, sizeof text, "no GPU activities: %s returned %d; %s", what, status, way);
	say(text);
}

bool gt_cupti_session_is_here(void)
{
	int32_t process = atomic_load_explicit(&owner.process, memory_order_relaxed);

	return !process || process == getpid();
}

const struct gt_cupti_library *gt_cupti_session_library(void)
{
	return atomic_load_explicit(&owner.has_library, memory_order_acquire) ? &owner.library
									      : NULL;
}

static bool open_library(uint64_t base, char text[256])
{
	if (gt_cupti_session_library())
		return true;
	text[0] = '\0';
	if (!gt_cupti_library_open(&owner.library, base, text))
		return false;
	if (!gt_cuda_links_begin()) {
		snprintf(text, 256, "no GPU activities: out of memory");
		return false;
	}
	gt_cuda_runtime_begin();
	gt_cuda_calls_begin(&owner.library);
	user->find_functions(&owner.library);
	atomic_store_explicit(&owner.process, getpid(), memory_order_relaxed);
	atomic_store_explicit(&owner.has_library, true, memory_order_release);
	return true;
}

bool gt_cupti_session_open_at(uint64_t base)
{
	char text[256];
	bool open;

	begin_change();
	open = open_library(base, text);
	end_change();
	return open;
}

static uint64_t read_ticks(void)
{
	return gt_ticks();
}

static int subscribe(void)
{
	void *subscriber = NULL;
	int status;

	if (atomic_load(&owner.subscriber))
		return CUPTI_SUCCESS;
	status = owner.library.cuptiSubscribe(&subscriber, user->callback, NULL);
	if (!status)
		atomic_store(&owner.subscriber, subscriber);
	return status;
}

static int register_callbacks(void)
{
	int status;

	if (atomic_load(&owner.registered))
		return CUPTI_SUCCESS;
	status = owner.library.cuptiActivityRegisterCallbacks(user->request, user->complete);
	if (!status)
		status = owner.library.cuptiActivityRegisterTimestampCallback(read_ticks);
	if (!status)
		atomic_store(&owner.registered, true);
	return status;
}

int gt_cupti_session_subscribe(void)
{
	int status;

	if (!gt_cupti_session_library() || !gt_cupti_session_is_here())
		return CUPTI_NOT_INITIALIZED;
	begin_change();
	status = subscribe();
	end_change();
	return status;
}

int gt_cupti_session_register(void)
{
	int status;

	if (!gt_cupti_session_library() || !gt_cupti_session_is_here())
		return CUPTI_NOT_INITIALIZED;
	begin_change();
	status = register_callbacks();
	end_change();
	return status;
}

void *gt_cupti_session_subscriber(void)
{
	return atomic_load(&owner.subscriber);
}

/* Kinds and callbacks ---------------------------------------------------------------------- */

bool gt_cupti_session_needs_kind(uint32_t kind)
{
	return kind < 64 && gt_cupti_session_is_active() && atomic_load(&owner.kinds) >> kind & 1;
}

bool gt_cupti_session_needs_callback(int domain, uint32_t id)
{
	if (!gt_cupti_session_is_active())
		return false;
	return domain == CUPTI_DOMAIN_DRIVER
		       ? (atomic_load(&owner.kinds) && user->is_needed(id)) ||
				 gt_cuda_calls_need(id)
		       : domain == CUPTI_DOMAIN_RUNTIME && gt_cuda_runtime_needs(id);
}

bool gt_cupti_enable_callback(int domain, uint32_t id, bool on)
{
	void *subscriber = atomic_load(&owner.subscriber);

	if (!subscriber)
		return false;
	if (!on && gt_cupti_client_needs_callback(domain, id))
		return true;
	return owner.library.cuptiEnableCallback(on, subscriber, domain, id) == 0 && on;
}

static bool enable_runtime(uint32_t id, bool on)
{
	return gt_cupti_enable_callback(CUPTI_DOMAIN_RUNTIME, id, on);
}

/* Enable the callbacks of a client that has subscribed before CUPTI was finalised. */
static void enable_clients_callbacks(void)
{
	for (int domain = 1; domain < CUPTI_DOMAIN_COUNT && gt_cupti_client_subscribed(); domain++)
		for (uint32_t id = 0; id < CUPTI_CALLBACK_IDS; id++)
			if (gt_cupti_client_has_callback(domain, id))
				owner.library.cuptiEnableCallback(1, atomic_load(&owner.subscriber),
								  domain, id);
}

static bool enable_driver(uint32_t id, bool on)
{
	if (!on && atomic_load(&owner.kinds) && user->is_needed(id))
		return true; /* for launches */
	return gt_cupti_enable_callback(CUPTI_DOMAIN_DRIVER, id, on);
}

void gt_cupti_session_enable_callbacks(void)
{
	for (uint32_t id = 1; atomic_load(&owner.kinds) && id < CUPTI_CALLBACK_IDS; id++)
		if (user->is_needed(id))
			gt_cupti_enable_callback(CUPTI_DOMAIN_DRIVER, id, true);
	gt_cuda_calls_enable(enable_driver, true);
	gt_cuda_runtime_enable(enable_runtime, true);
}

void gt_cupti_session_follow_calls(void)
{
	if (!atomic_load(&owner.subscriber) || !gt_cupti_session_is_here())
		return;
	gt_cuda_calls_enable(enable_driver, false);
	gt_cuda_runtime_enable(enable_runtime, false);
}

static void disable_callbacks(void)
{
	for (uint32_t id = 1; id < CUPTI_CALLBACK_IDS; id++)
		if (user->is_needed(id) || gt_cuda_functions[id] == GT_CUDA_WAIT)
			gt_cupti_enable_callback(CUPTI_DOMAIN_DRIVER, id, false);
}

void gt_cupti_session_spare_kind(uint32_t kind, bool spared)
{
	if (!gt_cupti_session_needs_kind(kind) ||
	    spared == (atomic_load(&owner.spared) >> kind & 1))
		return;
	if (spared)
		owner.library.cuptiActivityDisable((int)kind);
	else
		owner.library.cuptiActivityEnable((int)kind);
	if (spared)
		atomic_fetch_or(&owner.spared, UINT64_C(1) << kind);
	else
		atomic_fetch_and(&owner.spared, ~(UINT64_C(1) << kind));
}

static uint64_t kinds_wanted(void)
{
	const struct gt_session *session = atomic_load(&gt_recording.session);
	const uint64_t moves = UINT64_C(1) << CUPTI_KIND_COPY | UINT64_C(1) << CUPTI_KIND_SET |
			       UINT64_C(1) << CUPTI_KIND_COPY_PEER;
	uint64_t kinds = UINT64_C(1) << CUPTI_KIND_KERNEL;

	/* graphs may exist in a program that gputap was attached to */
	if (gt_tool_activity_asked(GT_DOMAIN_CUDA_DRIVER) || !session || gt_is_late() ||
	    session->mode != GT_MODE_LITE)
		return kinds | moves;
	return kinds | UINT64_C(1) << CUPTI_KIND_GRAPH;
}

/* Return true if an earlier client wants records that this kind suppresses. */
static bool is_spared(uint32_t kind)
{
	bool spared = kind == CUPTI_KIND_GRAPH && gt_cupti_client_needs_kind(CUPTI_KIND_KERNEL);

	if (spared)
		atomic_fetch_or(&owner.spared, UINT64_C(1) << kind);
	return spared;
}

/* Enable our kinds. Only kernels are required. If a release lacks one of the other kinds,
 * activities of that kind are not recorded. */
static int enable_kinds(void)
{
	uint64_t kinds = kinds_wanted();
	int status = CUPTI_SUCCESS;

	atomic_store(&owner.spared, 0);
	for (uint32_t kind = 0; kind < 64; kind++)
		if (kinds >> kind & 1 && !is_spared(kind)) {
			int answer = owner.library.cuptiActivityEnable((int)kind);

			if (answer && kind == CUPTI_KIND_KERNEL)
				status = answer;
			if (answer)
				kinds &= ~(UINT64_C(1) << kind);
		}
	atomic_store(&owner.kinds, kinds);
	if (kinds >> CUPTI_KIND_GRAPH & 1)
		atomic_store(&owner.has_spans, true);
	return status;
}

void gt_cupti_session_note_disabled(void)
{
	if (gt_cuda_graph_streams_any())
		atomic_store(&owner.is_kept, true);
}

static void disable_kinds(void)
{
	uint64_t kinds = atomic_exchange(&owner.kinds, 0);

	if (kinds)
		gt_cupti_session_note_disabled();

	for (uint32_t kind = 0; kind < 64; kind++)
		if (kinds >> kind & 1 && !gt_cupti_client_needs_kind(kind))
			owner.library.cuptiActivityDisable((int)kind);
}

/* Start and stop --------------------------------------------------------------------------- */

static bool is_refused(const char *what, int status)
{
	if (status)
		say_status(what, status);
	return status != CUPTI_SUCCESS;
}

static bool start_records(void)
{
	return !is_refused("cuptiActivityRegisterCallbacks()", register_callbacks()) &&
	       !is_refused("cuptiActivityEnable()", enable_kinds());
}

/* Start CUPTI, only for the runtime's calls if GPU activities are not wanted. */
static bool start_with_library(void)
{
	return !is_refused("cuptiSubscribe()", subscribe()) &&
	       (!user->wants_records() || start_records());
}

static int finalize(void)
{
	int status;

	if (atomic_load(&owner.has_spans) || atomic_load(&owner.is_kept))
		return CUPTI_SUCCESS; /* CUPTI stays open */
	status = owner.library.cuptiFinalize();

	atomic_store(&owner.was_gone, true);
	atomic_store(&owner.subscriber, NULL);
	atomic_store(&owner.registered, false);
	gt_cuda_graph_streams_forget();
	return status;
}

/* Return true if CUPTI must stay for the client. A client of a program that gputap was attached to
 * may have subscribed for ever; its requests are served without a subscription as well. */
static bool has_client(void)
{
	return gt_is_late() ? gt_cupti_client_busy() : gt_cupti_client_present();
}

/* Undo a partial start after a refusal. Without a subscriber, CUPTI belongs to another user. */
static void undo(bool open)
{
	if (!open || !atomic_load(&owner.subscriber) || has_client())
		return;
	atomic_store(&owner.kinds, 0);
	owner.library.cuptiUnsubscribe(atomic_exchange(&owner.subscriber, NULL));
	finalize();
}

/* Take CUPTI over from a tool that had subscribed before gputap was attached, once that tool does
 * not use CUPTI: end its subscription. The tool's later requests are served like a client's. CUPTI
 * is never finalised from then on, because the tool may have recorded graphs. Return false if the
 * tool uses CUPTI now. */
static bool take_over(void)
{
	void *holder;

	if (subscribe() != CUPTI_MULTIPLE_SUBSCRIBERS)
		return true;
	switch (gt_cupti_client_holder()) {
	case GT_CUPTI_HOLDER_UNKNOWN: return true; /* the start reports the refusal */
	case GT_CUPTI_HOLDER_IDLE:
		holder = gt_cupti_client_find_handle(owner.library.base);
		if (holder && !owner.library.cuptiUnsubscribe(holder)) {
			gt_cupti_client_adopt();
			user->taken_over();
			atomic_store(&owner.is_kept, true);
		}
		return true;
	default: break;
	}
	if (!atomic_exchange(&owner.waits, true)) {
		gt_late_missing(GT_DOMAIN_CUDA_DRIVER,
				"GPU activities until torch.profiler stops, which had started "
				"before gputap was attached");
		user->started(); /* the helper tries again */
	}
	return false;
}

static void start(void)
{
	const char *other = gt_cupti_client_other();
	struct gt_cuda_affinity affinity;
	char text[256];
	bool open = false;

	if (other)
		say(other);
	else if (!open_library(0, text))
		say(text);
	else
		open = true;
	if (open && gt_is_late() && !take_over())
		return;
	atomic_store(&owner.waits, false);
	if (atomic_exchange(&owner.was_gone, false))
		user->restarts();
	gt_cuda_affinity_widen(&affinity);
	if (open && start_with_library()) {
		atomic_store(&owner.state, ACTIVE);
		enable_clients_callbacks();
		gt_cupti_session_enable_callbacks();
		user->started();
	} else {
		atomic_store(&owner.state, REFUSED);
		undo(open);
	}
	gt_cuda_affinity_restore(&affinity);
}

static void start_more(void)
{
	if (start_records())
		gt_cupti_session_enable_callbacks();
	else
		atomic_store(&owner.state, REFUSED);
}

void gt_cupti_session_start(void)
{
	uint32_t state = atomic_load_explicit(&owner.state, memory_order_acquire);

	if (!user || state == REFUSED || !gt_cupti_session_is_here() ||
	    (state == ACTIVE && (atomic_load(&owner.kinds) || !user->wants_records())))
		return;
	gt_internal_enter();
	begin_change();
	state = atomic_load(&owner.state);
	if (state == LEAVING)
		atomic_store(&owner.state, ACTIVE); /* our kinds are still enabled */
	else if (state == CLOSED)
		start();
	/* so far, only calls were recorded */
	else if (state == ACTIVE && !atomic_load(&owner.kinds))
		start_more();
	end_change();
	gt_internal_leave();
}

bool gt_cupti_session_is_active(void)
{
	return atomic_load_explicit(&owner.state, memory_order_relaxed) == ACTIVE;
}

void gt_cupti_session_renew(void)
{
	uint32_t refused = REFUSED;

	if (!gt_cupti_session_is_here())
		return;
	atomic_compare_exchange_strong(&owner.state, &refused, CLOSED);
	atomic_store(&owner.waits, false);
}

void gt_cupti_session_stop(void)
{
	uint32_t active = ACTIVE;

	if (atomic_load_explicit(&owner.has_spans, memory_order_relaxed))
		return;
	if (!atomic_compare_exchange_strong(&owner.state, &active, LEAVING) ||
	    !gt_cuda_graph_streams_any())
		return;
	/* graphs are most likely idle after a wait */
	for (uint32_t id = 1; id < CUPTI_CALLBACK_IDS; id++)
		if (gt_cuda_functions[id] == GT_CUDA_WAIT)
			gt_cupti_enable_callback(CUPTI_DOMAIN_DRIVER, id, true);
}

void gt_cupti_session_give_up(void)
{
	if (!gt_cupti_session_leaves() || !gt_cupti_session_is_here())
		return;
	begin_change();
	if (atomic_load(&owner.state) == LEAVING) {
		disable_callbacks();
		disable_kinds();
		atomic_store(&owner.state, CLOSED);
	}
	end_change();
}

bool gt_cupti_session_leaves(void)
{
	return atomic_load(&owner.state) == LEAVING;
}

void gt_cupti_session_leave(void)
{
	bool leaves;

	if (atomic_load(&owner.state) != LEAVING || !gt_cupti_session_is_here() || changes ||
	    !try_change())
		return; /* another thread is changing the state, so leave later */
	leaves = atomic_load(&owner.state) == LEAVING;
	gt_internal_enter();
	if (leaves && (has_client() || atomic_load(&owner.is_kept))) {
		disable_callbacks();
		disable_kinds();
	} else if (leaves && gt_cuda_graph_streams_idle()) {
		atomic_store(&owner.kinds, 0);
		owner.library.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
		finalize();
	} else {
		leaves = false; /* a graph executes */
	}
	if (leaves)
		atomic_store(&owner.state, CLOSED);
	gt_internal_leave();
	end_change();
}

int gt_cupti_session_finalize_for_client(void)
{
	int status = CUPTI_SUCCESS;

	if (!gt_cupti_session_library() || gt_cupti_session_is_active() ||
	    !gt_cupti_session_is_here())
		return CUPTI_SUCCESS;
	begin_change();
	if (atomic_load(&owner.state) != ACTIVE) {
		status = finalize();
		if (atomic_load(&owner.state) == LEAVING)
			atomic_store(&owner.state, CLOSED);
	}
	end_change();
	return status;
}

void gt_cupti_session_step_aside(const char *why)
{
	uint32_t before;

	begin_change();
	before = atomic_exchange(&owner.state, REFUSED);
	if (before != REFUSED)
		say(why);
	if (atomic_load(&owner.subscriber) && gt_cupti_session_is_here()) {
		owner.library.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
		owner.library.cuptiUnsubscribe(atomic_exchange(&owner.subscriber, NULL));
		finalize();
	}
	atomic_store(&owner.kinds, 0);
	end_change();
}

bool gt_cupti_session_flush(uint32_t flag)
{
	bool registered;

	if (!gt_cupti_session_is_here() || !try_change())
		return false;
	registered = atomic_load(&owner.registered);
	if (registered)
		owner.library.cuptiActivityFlushAll(flag);
	end_change();
	return registered;
}
