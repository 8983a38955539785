/* SPDX-License-Identifier: MIT */
/* Handles launches in CUPTI's callbacks: stores their links (cuda_links.c), counts seen activities,
 * and tracks graphs and streams.
 *
 * Activities are counted as seen at EXIT, when the driver has accepted them. A record that arrives
 * before EXIT is not lost, because the link contains the expected number of records from ENTER on.
 * Never here, in a launch's callback: locks, allocation, driver calls. */
#include "core/late.h"
#include "runtime/announced.h"
#include "runtime/cuda/cuda_driver_calls.h"
#include "runtime/cuda/cuda_parts.h"
#include "runtime/cuda/cuda_runtime_calls.h"
#include "tool/tool_activity.h"

enum {
	CAPTURE_INVALIDATED = 901
}; /* CUDA_ERROR_STREAM_CAPTURE_INVALIDATED: the capture has ended */

/* nonzero if the program has launched since the helper's last check */
static _Atomic uint32_t launched;
static _Atomic uint32_t captures; /* number of open graph captures */

bool gt_cuda_activity_launched(void)
{
	return atomic_exchange_explicit(&launched, 0, memory_order_relaxed);
}

static void note_launch(uint32_t correlation)
{
	if (!atomic_load_explicit(&launched, memory_order_relaxed))
		atomic_store_explicit(&launched, 1, memory_order_relaxed);
	/* not a fixed remainder: ids that launches do not get may be those with that remainder */
	if (gt_unlikely((int32_t)(correlation - atomic_load_explicit(&gt_cuda_links_newest,
								     memory_order_relaxed)) >=
			GT_CUDA_LINKS / 8)) {
		atomic_store_explicit(&gt_cuda_links_newest, correlation, memory_order_relaxed);
		gt_cuda_helper_wake();
	}
}

static void describe_graph(struct gt_cuda_link *l, const struct cupti_callback *c)
{
	void *const *parameters = c->parameters; /* hGraphExec, hStream */
	uint32_t records = 0;

	l->flags |= GT_CUDA_GRAPH;
	l->graph = gt_cuda_graph_launch(parameters[0], &l->replay, &records);
	if (gt_unlikely(!l->graph)) { /* instantiated before gputap observed the program */
		gt_cuda_graph_met(parameters[0]);
		l->graph = gt_cuda_graph_launch(parameters[0], &l->replay, &records);
	}
	if (gt_cupti_session_needs_kind(CUPTI_KIND_GRAPH))
		records = 1;
	l->records = records;
}

/* Return true if records are certain to arrive. A launch into a captured stream, a copy of 0 bytes,
 * and a kernel that the session has not selected produce no record. For such calls, a record is
 * counted when it arrives. */
static bool is_counted(const struct gt_thread *t, enum gt_cuda_function function)
{
	if (atomic_load_explicit(&captures, memory_order_relaxed))
		return false;
	if (function == GT_CUDA_MOVE) /* the size is known only to taps */
		return t->api_id ? t->api_bytes != 0 : !gt_is_late();
	return !gt_tap_options.choose_kernels;
}

/* The first correlation of a launch after all callbacks were enabled; 0: none so far. */
static _Atomic uint32_t first_linked;
static _Atomic uint32_t is_first;

void gt_cuda_activity_linked(void)
{
	atomic_store_explicit(&first_linked, 0, memory_order_relaxed);
	atomic_store_explicit(&is_first, 1, memory_order_release);
}

static void note_first(uint32_t correlation)
{
	if (atomic_exchange_explicit(&is_first, 0, memory_order_acquire))
		atomic_store_explicit(&first_linked, correlation, memory_order_relaxed);
}

bool gt_cuda_activity_is_earlier(uint32_t correlation)
{
	const uint32_t first = atomic_load_explicit(&first_linked, memory_order_relaxed);

	return !first || (int32_t)(correlation - first) < 0;
}

static void enter_launch(const struct cupti_callback *c, uint32_t id,
			 enum gt_cuda_function function)
{
	struct gt_cuda_link *l = &gt_cuda_links[c->correlation % GT_CUDA_LINKS];
	const struct gt_thread *t = &gt_thread;
	uint64_t call = t->api_id, start = t->api_start;

	/* if the driver call is not recorded, use the enclosing runtime call */
	if (gt_unlikely(!call))
		call = gt_announced_open(&start);
	atomic_store_explicit(&l->correlation, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	l->id = call;
	l->start = start;
	l->records = function == GT_CUDA_LAUNCH || function == GT_CUDA_MOVE;
	l->flags = 0;
	l->graph = 0;
	l->replay = 0;
	l->epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	if (gt_cuda_asked[id] && (call || gt_cuda_stream_open())) {
		l->flags |= GT_CUDA_RECORDED;
		if (!call)
			l->start = gt_ticks();
	}
	if (gt_unlikely(function == GT_CUDA_GRAPH_LAUNCH)) {
		gt_cuda_graph_streams_note(((void *const *)c->parameters)[1]);
		describe_graph(l, c);
	}
	if (gt_likely(is_counted(t, function)))
		l->flags |= GT_CUDA_COUNTED;
	if (gt_unlikely(gt_tool_activity_asked(GT_DOMAIN_CUDA_DRIVER)))
		gt_cuda_items_enter(c->correlation, id,
				    !(l->flags & GT_CUDA_COUNTED) || !l->records ||
					    l->flags & GT_CUDA_GRAPH,
				    l->flags & GT_CUDA_COUNTED ? l->records : 0);
	atomic_store_explicit(&l->correlation, c->correlation, memory_order_release);
	note_launch(c->correlation);
	if (gt_unlikely(atomic_load_explicit(&is_first, memory_order_relaxed)))
		note_first(c->correlation);
}

static _Atomic uint64_t known_contexts[16];

void gt_cuda_activity_renew(void)
{
	for (unsigned i = 0; i < sizeof known_contexts / sizeof *known_contexts; i++)
		atomic_store_explicit(&known_contexts[i], 0, memory_order_relaxed);
}

static bool is_context_known(uint32_t id)
{
	uint64_t bit = UINT64_C(1) << id % 64;
	_Atomic uint64_t *word = &known_contexts[id / 64 % 16];

	return atomic_load_explicit(word, memory_order_relaxed) & bit ||
	       atomic_fetch_or(word, bit) & bit;
}

static void exit_launch(const struct cupti_callback *c)
{
	const struct gt_cuda_link *l = &gt_cuda_links[c->correlation % GT_CUDA_LINKS];
	const uint32_t counted = GT_CUDA_RECORDED | GT_CUDA_COUNTED;
	const int *status = c->return_value;

	if (gt_likely((l->flags & counted) == counted && status && !*status)) {
		struct gt_thread *t = gt_thread_own();

		for (uint32_t i = l->records; i; i--)
			gt_device_seen(t, GT_DOMAIN_CUDA_DRIVER);
	}
	gt_cuda_items_exit(c->correlation, !status || *status);
	if (gt_unlikely(!is_context_known(c->context_id)))
		gt_cuda_context_used(c->context, c->context_id);
}

/* CUPTI is finalised at the end of a call, when no graph executes. */
static void leave_if_unwanted(void)
{
	if (gt_unlikely(!gt_cupti_session_is_active()) && !atomic_load(&captures))
		gt_cupti_session_leave();
}

static void note_other(const struct cupti_callback *c, enum gt_cuda_function function)
{
	void *const *parameters = c->parameters;
	const int *status = c->return_value;

	if (function == GT_CUDA_END_CAPTURE && status &&
	    (!*status || *status == CAPTURE_INVALIDATED) && atomic_load(&captures))
		atomic_fetch_sub(&captures, 1);
	if (!status || *status)
		return;
	switch (function) {
	case GT_CUDA_BEGIN_CAPTURE: atomic_fetch_add(&captures, 1); break;
	case GT_CUDA_INSTANTIATE: gt_cuda_graph_made(*(void **)parameters[0], parameters[1]); break;
	case GT_CUDA_STREAM_DESTROY: gt_cuda_graph_streams_destroyed(parameters[0]); break;
	case GT_CUDA_EXEC_DESTROY: gt_cuda_graph_gone(parameters[0]); break;
	case GT_CUDA_NODE_ENABLE: gt_cuda_graph_changed(parameters[0]); break;
	case GT_CUDA_STREAM_CREATE:
		gt_cuda_stream_made(c->context, c->context_id, *(void **)parameters[0]);
		break;
	default: break;
	}
}

static void handle_driver(uint32_t id, const struct cupti_callback *c)
{
	enum gt_cuda_function function = id < CUPTI_CALLBACK_IDS
						 ? (enum gt_cuda_function)gt_cuda_functions[id]
						 : GT_CUDA_NOTHING;

	if (gt_likely(gt_cuda_is_launch(function))) {
		if (c->site == CUPTI_ENTER) {
			enter_launch(c, id, function);
		} else {
			exit_launch(c);
			leave_if_unwanted();
		}
	} else if (function == GT_CUDA_WAIT) {
		if (c->site == CUPTI_EXIT)
			leave_if_unwanted();
	} else if (function && c->site == CUPTI_EXIT) {
		note_other(c, function);
	}
}

/* A call that is recorded here begins before its launch and ends after it, as in a tap. */
static void handle_driver_call(uint32_t id, const struct cupti_callback *c)
{
	if (c->site == CUPTI_ENTER)
		gt_cuda_calls_callback(id, c);
	handle_driver(id, c);
	if (c->site == CUPTI_EXIT)
		gt_cuda_calls_callback(id, c);
}

void gt_cuda_activity_callback(void *user, int domain, uint32_t id, const void *data)
{
	(void)user;
	if (domain == CUPTI_DOMAIN_DRIVER)
		handle_driver_call(id, data);
	else if (domain == CUPTI_DOMAIN_RUNTIME)
		gt_cuda_runtime_callback(id, data);
	gt_cupti_client_callback(domain, id, data);
}
