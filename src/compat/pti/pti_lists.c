/* SPDX-License-Identifier: MIT */
/* Finds the append that submitted a GPU activity.
 *
 * On an immediate list, and on OpenCL's queues, the append itself submits the activity: the
 * append's correlation is the operation's id. On a regular list, the call that runs the list
 * submits the activity. The appends to each regular list are therefore stored as entries, and a run
 * takes the entries in order:
 *
 *   append to a regular list, EXIT   ─► add entry {id, kernel} at the end of the list
 *   run of lists, ENTER              ─► this thread's run starts at the first entry
 *   a GPU activity is submitted      ─► take the run's next entry
 *   run of lists, EXIT               ─► the run is over; an outer run continues
 *
 * While a call is open in which the thread may learn of completed activities, the thread's state
 * contains the call's id.
 *
 * The first subscriber in the shipped form that enables a domain starts a gputap context for all
 * these calls.
 *
 * Locking: a list belongs to one thread at a time, as in Level Zero itself. */
#include <pti/pti_driver_levelzero_api_ids.h>
#include <stdlib.h>

#include "pti.h"
#include "pti_lists.h"

enum { OPERATIONS_MAX = 96 };

struct command_entry {
	struct command_entry *next;
	struct pti_append append;
	uint8_t appended;
};

/* Value of pti_handle.commands for a list. */
struct commands {
	struct command_entry *first, *last;
};

/* State of this thread's calls. A callback may make such calls inside an append or a run. The outer
 * state is then stored in the data of the outer call. */
struct list_state {
	void **lists; /* remaining lists to run */
	uint32_t count;
	bool is_running;
	struct command_entry *next;
	/* activity for which an entry was last taken. Each subscriber requests the entry, which
	 * must be taken only once */
	uint64_t number;
	bool is_kernel;
	struct pti_append handed_out;
	struct pti_append append; /* append call that the thread is in */
	uint64_t collecting;      /* group << 32 | id of the call that the thread is in */
};
static _Thread_local struct list_state now __attribute__((tls_model("initial-exec")));

static void empty(struct commands *c)
{
	for (struct command_entry *e = c->first, *next; e; e = next) {
		next = e->next;
		free(e);
	}
	*c = (struct commands){NULL, NULL};
}

static struct commands *commands_of(const void *list)
{
	struct pti_handle *h = pti_handle_find(PTI_LIST, list);

	return h ? atomic_load(&h->commands) : NULL;
}

const char *pti_appended_name(const struct pti_operation *op, const struct gputap_call *call)
{
	const char *name = pti_kernel_name_of(op, call);

	return name || op->appended == PTI_APPENDED_KERNEL
		       ? name
		       : pti_operation_name(call->domain, call->operation);
}

static struct pti_append describe_append(const struct pti_operation *op,
					 const struct gputap_call *call)
{
	const struct pti_handle *kernel = pti_kernel_of(op, call);

	return (struct pti_append){
		.id = call->correlation,
		.kernel = kernel ? atomic_load(&kernel->number) : 0,
		.name = pti_appended_name(op, call),
		.function = op->id,
	};
}

static void add_entry(const struct pti_operation *op, const struct gputap_call *call)
{
	struct pti_handle *h = pti_handle_find(PTI_LIST, pti_argument(call, 0));
	struct commands *c;
	struct command_entry *e;

	if (!h || atomic_load(&h->immediate))
		return;
	c = atomic_load(&h->commands);
	if (!c && (c = calloc(1, sizeof *c)) != NULL)
		atomic_store(&h->commands, c);
	e = c ? malloc(sizeof *e) : NULL;
	if (!e)
		return;
	*e = (struct command_entry){NULL, describe_append(op, call), op->appended};
	*(c->last ? &c->last->next : &c->first) = e;
	c->last = e;
}

/* Return a copy of the thread's outer state. Return NULL if no outer state exists or if out of
 * memory. */
static struct list_state *keep_outer(void)
{
	struct list_state *outer =
		now.is_running || now.append.id || now.collecting ? malloc(sizeof *outer) : NULL;

	if (outer)
		*outer = now;
	return outer;
}

static void return_to_outer(struct list_state *outer)
{
	now.is_running = false;
	now.append.id = 0;
	now.collecting = 0;
	if (outer)
		now = *outer;
	free(outer);
}

static void follow_append(const struct gputap_call *call, const struct pti_operation *op)
{
	if (call->phase == GPUTAP_CALL_PHASE_ENTER)
		now.append = describe_append(op, call);
	else if (call->domain == GPUTAP_DOMAIN_LEVEL_ZERO && call->ret &&
		 *(const int *)call->ret == 0)
		add_entry(op, call);
}

static void follow_run(const struct gputap_call *call)
{
	if (call->phase == GPUTAP_CALL_PHASE_EXIT)
		return;
	/* both kinds of run have the same arguments: list or queue, count, lists */
	now.count = pti_argument_u32(call, 8);
	now.lists = pti_argument(call, 16);
	now.next = NULL;
	now.number = 0;
	now.is_running = true;
}

/* Empty a list that the program resets or destroys. */
static void follow_reset(const struct gputap_call *call)
{
	struct commands *c =
		call->phase == GPUTAP_CALL_PHASE_EXIT && call->ret && *(const int *)call->ret == 0
			? commands_of(pti_argument(call, 0))
			: NULL;

	if (c)
		empty(c);
}

static bool is_run(const struct pti_operation *op)
{
	return op->id == zeCommandQueueExecuteCommandLists_id ||
	       op->id == zeCommandListImmediateAppendCommandListsExp_id ||
	       op->id == zeCommandListImmediateAppendCommandListsWithParameters_id;
}

static void follow_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	const struct pti_operation *op = pti_operation_of(call->domain, call->operation);
	const bool is_level_zero = call->domain == GPUTAP_DOMAIN_LEVEL_ZERO;

	(void)user;
	if (call->phase == GPUTAP_CALL_PHASE_ENTER) {
		*data = (uintptr_t)keep_outer();
		now.collecting = (uint64_t)pti_group_of(call->domain) << 32 | op->id;
	}
	if (op->appended)
		follow_append(call, op);
	else if (is_level_zero &&
		 (op->id == zeCommandListReset_id || op->id == zeCommandListDestroy_id))
		follow_reset(call);
	else if (is_level_zero && is_run(op))
		follow_run(call);
	if (call->phase == GPUTAP_CALL_PHASE_EXIT)
		return_to_outer((struct list_state *)(uintptr_t)*data);
}

uint32_t pti_collecting(uint32_t group)
{
	return now.collecting >> 32 == group ? (uint32_t)now.collecting : 0;
}

static struct command_entry *next_entry(void)
{
	struct command_entry *e = now.next;

	for (; !e && now.count && now.lists; now.count--, now.lists++) {
		const struct commands *c = commands_of(*now.lists);

		e = c ? c->first : NULL;
	}
	now.next = e ? e->next : NULL;
	return e;
}

static uint8_t appended_as(const struct gputap_activity *activity)
{
	switch (activity->type) {
	case GPUTAP_ACTIVITY_KERNEL:
	case GPUTAP_ACTIVITY_NATIVE: return PTI_APPENDED_KERNEL;
	case GPUTAP_ACTIVITY_MARKER:
	case GPUTAP_ACTIVITY_BARRIER:
	case GPUTAP_ACTIVITY_COMMAND_BUFFER:
	case GPUTAP_ACTIVITY_OTHER: return PTI_APPENDED_OTHER;
	default: return PTI_APPENDED_MEMORY;
	}
}

/* Take the next entry of the activity's kind. Skip other entries, because a filter excluded their
 * activities. */
static struct pti_append take_entry(const struct gputap_activity *activity)
{
	bool is_kernel = activity->type == GPUTAP_ACTIVITY_KERNEL;
	struct command_entry *e;

	if (now.number == activity->number && now.is_kernel == is_kernel)
		return now.handed_out;
	do
		e = next_entry();
	while (e && e->appended != appended_as(activity));
	now.number = activity->number;
	now.is_kernel = is_kernel;
	now.handed_out = e ? e->append : (struct pti_append){0};
	return now.handed_out;
}

struct pti_append pti_append_of(const struct gputap_activity *activity)
{
	if (now.append.id && now.append.id == activity->correlation)
		return now.append;
	return now.is_running ? take_entry(activity)
			      : (struct pti_append){.id = activity->correlation};
}

/* Operations of the calls to follow: appends, runs and resets. */
struct followed_appends {
	uint32_t domain, count, numbers[OPERATIONS_MAX];
};

/* Level Zero calls that run or empty lists, or that find completed activities
 * (src/runtime/level_zero). */
static const uint32_t followed_level_zero[] = {
	zeCommandQueueExecuteCommandLists_id,
	zeCommandListImmediateAppendCommandListsExp_id,
	zeCommandListImmediateAppendCommandListsWithParameters_id,
	zeCommandListReset_id,
	zeCommandListDestroy_id,
	zeCommandListHostSynchronize_id,
	zeCommandQueueSynchronize_id,
	zeCommandQueueDestroy_id,
	zeContextDestroy_id,
	zeDeviceSynchronize_id,
	zeEventHostSynchronize_id,
	zeEventQueryStatus_id,
	zeEventHostReset_id,
	zeEventDestroy_id,
	zeEventPoolDestroy_id,
	zeFenceHostSynchronize_id,
	zeFenceQueryStatus_id,
	zeFenceReset_id,
	zeFenceDestroy_id,
};

static bool is_followed(const struct pti_operation *op, uint32_t domain)
{
	const size_t count = sizeof followed_level_zero / sizeof *followed_level_zero;

	if (op->appended != PTI_APPENDED_NONE)
		return true;
	for (size_t i = 0; domain == GPUTAP_DOMAIN_LEVEL_ZERO && i < count; i++)
		if (followed_level_zero[i] == op->id)
			return true;
	return false;
}

static int add_following(uint32_t domain, uint32_t number, const struct pti_operation *op,
			 void *user)
{
	struct followed_appends *f = user;

	if (domain == f->domain && f->count < OPERATIONS_MAX && is_followed(op, domain))
		f->numbers[f->count++] = number;
	return 0;
}

int pti_lists_start(void)
{
	static const uint32_t domains[] = {GPUTAP_DOMAIN_LEVEL_ZERO, GPUTAP_DOMAIN_OPENCL};
	static struct gputap_context *started;
	const struct gputap_context_opts opts = {.size = sizeof opts,
						 .flags = GPUTAP_CONTEXT_FINISH_CALLS};
	struct gputap_context *ctx;
	int rc = started ? 0 : gputap_context_create(&opts, &ctx);

	if (rc || started)
		return rc;
	for (unsigned d = 0; rc == 0 && d < 2; d++) {
		struct followed_appends f = {.domain = domains[d]};

		pti_operations_each(add_following, &f);
		rc = gputap_context_calls(ctx, f.domain, f.numbers, f.count, 0, follow_call, NULL);
	}
	rc = rc ? rc : gputap_context_start(ctx);
	if (rc)
		gputap_context_destroy(ctx);
	else
		started = ctx;
	return rc;
}
