/* SPDX-License-Identifier: MIT */
/* Which append made an item of device work.
 *
 * On an immediate list, and on OpenCL's queues, the append itself submits the work: the append's
 * correlation is the operation's id. On a regular list, work is submitted by the call that runs the
 * list. For those, each list's appends are remembered as entries, and a run hands them out in their
 * order:
 *
 *   append to a regular list, EXIT   ─► entry {id, kernel} behind the list's last
 *   run of lists, ENTER              ─► this thread's run begins at the first entry
 *   an item of work is submitted     ─► the run's next entry
 *   run of lists, EXIT               ─► the run is over; the outer one, if there is one, goes on
 *
 * The first subscriber as shipped that asks for a domain starts a context of gputap's for these
 * calls.
 *
 * Locking: a list belongs to one thread at a time, as in Level Zero itself. */
#include <pti/pti_driver_levelzero_api_ids.h>
#include <stdlib.h>

#include "pti.h"
#include "pti_lists.h"

enum { OPERATIONS_MAX = 64 };

struct command_entry {
	struct command_entry *next;
	uint64_t id, kernel;
	uint8_t appended;
};

/* pti_handle.commands of a list */
struct commands {
	struct command_entry *first, *last;
};

/* What this thread is in. A callback may append and run inside an append and a run: the outer one's
 * state is kept in the outer call's own data meanwhile. */
struct list_state {
	void **lists; /* that are left to be run */
	uint32_t count;
	bool is_running;
	struct command_entry *next;
	/* the item that an entry was handed out for last: each subscriber asks for it */
	uint64_t number;
	bool is_kernel;
	uint64_t packed;
	uint64_t append; /* packed: the append that it is in */
};
static _Thread_local struct list_state now __attribute__((tls_model("initial-exec")));

/* In eight bytes, as gputap keeps them for a subscriber and an item. */
static uint64_t pack(uint64_t id, uint64_t kernel)
{
	return id | (kernel >> 24 ? 0 : kernel << 40);
}

uint64_t pti_packed_id(uint64_t packed)
{
	return packed & ((UINT64_C(1) << 40) - 1);
}

uint64_t pti_packed_kernel(uint64_t packed)
{
	return packed >> 40;
}

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

static void add_entry(const struct pti_operation *op, const struct gputap_call *call)
{
	struct pti_handle *h = pti_handle_find(PTI_LIST, pti_argument(call, 0));
	const struct pti_handle *kernel = pti_kernel_of(op, call);
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
	*e = (struct command_entry){NULL, call->correlation,
				    kernel ? atomic_load(&kernel->number) : 0, op->appended};
	*(c->last ? &c->last->next : &c->first) = e;
	c->last = e;
}

static void follow_append(const struct gputap_call *call, uint64_t *data)
{
	const struct pti_operation *op = pti_operation_of(call->domain, call->operation);
	const struct pti_handle *kernel;

	if (call->phase == GPUTAP_PHASE_ENTER) {
		kernel = pti_kernel_of(op, call);
		*data = now.append;
		now.append = pack(call->correlation, kernel ? atomic_load(&kernel->number) : 0);
		return;
	}
	now.append = *data;
	if (call->domain == GPUTAP_DOMAIN_LEVEL_ZERO && call->ret && *(const int *)call->ret == 0)
		add_entry(op, call);
}

/* Return: copy of the outer run's state; NULL: there is none, or no memory. */
static struct list_state *keep_outer(void)
{
	struct list_state *outer = now.is_running ? malloc(sizeof *outer) : NULL;

	if (outer)
		*outer = now;
	return outer;
}

static void return_to_outer(struct list_state *outer)
{
	now.is_running = outer != NULL;
	if (outer)
		now = *outer;
	free(outer);
}

static void follow_run(const struct gputap_call *call, uint64_t *data)
{
	if (call->phase == GPUTAP_PHASE_EXIT) {
		return_to_outer((struct list_state *)(uintptr_t)*data);
		return;
	}
	*data = (uintptr_t)keep_outer();
	/* both kinds of run: the list or queue, how many, which */
	now.count = pti_argument_u32(call, 8);
	now.lists = pti_argument(call, 16);
	now.next = NULL;
	now.number = 0;
	now.is_running = true;
}

/* The program resets or destroys a list: it is empty. */
static void follow_reset(const struct gputap_call *call)
{
	struct commands *c =
		call->phase == GPUTAP_PHASE_EXIT && call->ret && *(const int *)call->ret == 0
			? commands_of(pti_argument(call, 0))
			: NULL;

	if (c)
		empty(c);
}

static void follow_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	const struct pti_operation *op = pti_operation_of(call->domain, call->operation);

	(void)user;
	if (op->appended)
		follow_append(call, data);
	else if (op->id == zeCommandListReset_id || op->id == zeCommandListDestroy_id)
		follow_reset(call);
	else
		follow_run(call, data);
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

static uint8_t appended_as(const struct gputap_work *work)
{
	switch (work->type) {
	case GPUTAP_WORK_KERNEL:
	case GPUTAP_WORK_NATIVE: return PTI_APPENDED_KERNEL;
	case GPUTAP_WORK_MARKER:
	case GPUTAP_WORK_BARRIER:
	case GPUTAP_WORK_COMMAND_BUFFER:
	case GPUTAP_WORK_OTHER: return PTI_APPENDED_OTHER;
	default: return PTI_APPENDED_MEMORY;
	}
}

/* Entries of another kind than the item's are passed over: a filter left out their work. */
static uint64_t take_entry(const struct gputap_work *work)
{
	bool is_kernel = work->type == GPUTAP_WORK_KERNEL;
	struct command_entry *e;

	if (now.number == work->number && now.is_kernel == is_kernel)
		return now.packed;
	do
		e = next_entry();
	while (e && e->appended != appended_as(work));
	now.number = work->number;
	now.is_kernel = is_kernel;
	now.packed = e ? pack(e->id, e->kernel) : 0;
	return now.packed;
}

uint64_t pti_packed_of(const struct gputap_work *work)
{
	if (pti_packed_id(now.append) == work->correlation)
		return now.append;
	return now.is_running ? take_entry(work) : pack(work->correlation, 0);
}

/* The calls that are followed: appends, runs, resets. */
struct followed_appends {
	uint32_t domain, count, numbers[OPERATIONS_MAX];
};

static bool is_followed(const struct pti_operation *op, uint32_t domain)
{
	if (op->appended != PTI_APPENDED_NONE)
		return true;
	if (domain != GPUTAP_DOMAIN_LEVEL_ZERO)
		return false;
	switch (op->id) {
	case zeCommandQueueExecuteCommandLists_id:
	case zeCommandListImmediateAppendCommandListsExp_id:
	case zeCommandListImmediateAppendCommandListsWithParameters_id:
	case zeCommandListReset_id:
	case zeCommandListDestroy_id: return true;
	default: return false;
	}
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
