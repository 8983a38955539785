/* SPDX-License-Identifier: MIT */
/* Follows the objects that the program creates. A gputap context is notified of the creating calls,
 * which need no numbers. Only calls that change the reference count of an OpenCL kernel have
 * numbers, by which pti_kernels.c distinguishes the calls. The context is the last in order, so
 * that at EXIT it is called before all subscribers.
 *
 * Locking: none; see pti_handles.c. */
#include <pti/pti_driver_levelzero_api_ids.h>
#include <pti/pti_driver_opencl_api_ids.h>

#include "pti.h"

enum { FOLLOWED_MAX = 256 };

static _Atomic uint64_t numbers;

void *const *pti_made_by(const struct pti_operation *op, const struct gputap_call *call,
			 uint32_t *count)
{
	void *const *made;
	uint32_t room;
	const uint32_t *came;

	*count = 0;
	if (op->made == PTI_NONE || !call->ret)
		return NULL;
	if (op->made_at < 0) {
		*count = *(void **)call->ret != NULL;
		return call->ret;
	}
	if (*(const int32_t *)call->ret != 0)
		return NULL;
	made = pti_argument(call, (unsigned)op->made_at);
	if (!made || !op->made_came) {
		*count = made != NULL;
		return made;
	}
	/* without an address for the returned count, the call fills the whole array */
	room = pti_argument_u32(call, op->made_room);
	came = pti_argument(call, op->made_came);
	*count = came && *came < room ? *came : room;
	return made;
}

/* Return the device of an object created in a context, if known. */
static void *device_in_context(const struct pti_operation *op, const struct gputap_call *call)
{
	const struct pti_handle *context;

	if (op->made == PTI_QUEUE || (call->domain == GPUTAP_DOMAIN_LEVEL_ZERO &&
				      (op->made == PTI_LIST || op->made == PTI_MODULE)))
		return pti_argument(call, 8);
	context = pti_handle_find(PTI_CONTEXT, pti_argument(call, 0));
	return context ? atomic_load(&context->device) : NULL;
}

/* Return the device of an OpenCL context that has only one device. A Level Zero context has all
 * devices. */
static void *device_of_context(const struct pti_operation *op, const struct gputap_call *call)
{
	void *const *devices = NULL;

	if (call->domain == GPUTAP_DOMAIN_OPENCL && op->id == clCreateContext_id &&
	    pti_argument_u32(call, 8) == 1)
		devices = pti_argument(call, 16);
	return devices ? devices[0] : NULL;
}

static void *device_of_made(const struct pti_operation *op, const struct gputap_call *call)
{
	const struct pti_handle *parent;

	if (op->made == PTI_CONTEXT)
		return device_of_context(op, call);
	if (op->parent == PTI_CONTEXT)
		return device_in_context(op, call);
	parent = pti_handle_find((enum pti_kind)op->parent, pti_argument(call, 0));
	return parent ? atomic_load(&parent->device) : NULL;
}

/* Return the module of a kernel created from a module or as a copy of another kernel. */
static void *module_of_made(const struct pti_operation *op, const struct gputap_call *call)
{
	const struct pti_handle *copied;

	if (op->parent == PTI_MODULE)
		return pti_argument(call, 0);
	copied = op->parent == PTI_KERNEL ? pti_handle_find(PTI_KERNEL, pti_argument(call, 0))
					  : NULL;
	return copied ? atomic_load(&copied->module) : NULL;
}

static void add_made(const struct pti_operation *op, const struct gputap_call *call, void *made)
{
	struct pti_handle *h = pti_handle_add((enum pti_kind)op->made, made);
	const char *name = op->made == PTI_KERNEL ? pti_kernel_name_of_made(call) : NULL;

	if (!h)
		return;
	atomic_store(&h->context, op->made == PTI_CONTEXT ? made : pti_context_of(op, call));
	atomic_store(&h->device, device_of_made(op, call));
	atomic_store(&h->module, module_of_made(op, call));
	atomic_store(&h->name, name ? pti_text_keep(name) : NULL);
	atomic_store(&h->references, 1);
	atomic_store(&h->immediate,
		     op->made == PTI_LIST && op->id == zeCommandListCreateImmediate_id);
	atomic_store(&h->number, atomic_fetch_add(&numbers, 1) + 1);
}

static void follow_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	const struct pti_operation *op = pti_operation_of(call->domain, call->operation);
	void *const *made = NULL;
	uint32_t count = 0;

	(void)data;
	(void)user;
	if (op->made == PTI_NONE)
		pti_kernel_count(op, call);
	else if (call->phase == GPUTAP_CALL_PHASE_EXIT)
		made = pti_made_by(op, call, &count);
	for (uint32_t i = 0; i < count; i++)
		if (made[i])
			add_made(op, call, made[i]);
}

/* Operations of a domain to follow. Operations that create objects come first. */
struct followed_creations {
	uint32_t domain, created, count, numbers[FOLLOWED_MAX];
};

static int add_creating(uint32_t domain, uint32_t number, const struct pti_operation *op,
			void *user)
{
	struct followed_creations *f = user;

	if (domain == f->domain && f->count < FOLLOWED_MAX && op->made != PTI_NONE)
		f->numbers[f->count++] = number;
	return 0;
}

static int add_counting(uint32_t domain, uint32_t number, const struct pti_operation *op,
			void *user)
{
	struct followed_creations *f = user;

	if (domain == f->domain && f->count < FOLLOWED_MAX && pti_kernel_is_counted(op, domain))
		f->numbers[f->count++] = number;
	return 0;
}

static int follow_domain(struct gputap_context *ctx, uint32_t domain)
{
	struct followed_creations f = {.domain = domain};
	int rc = 0;

	pti_operations_each(add_creating, &f);
	f.created = f.count;
	pti_operations_each(add_counting, &f);
	if (f.count)
		rc = gputap_context_calls(ctx, domain, f.numbers, f.count, 0, follow_call, NULL);
	if (f.created && rc == 0)
		rc = gputap_context_uncorrelated(ctx, domain, f.numbers, f.created, 0);
	return rc;
}

int pti_objects_start(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts,
						 .flags = GPUTAP_CONTEXT_FINISH_CALLS};
	struct gputap_context *ctx;
	int rc = gputap_context_create(&opts, &ctx);

	if (rc)
		return rc;
	for (unsigned d = 0; rc == 0 && d < PTI_DOMAINS; d++)
		rc = follow_domain(ctx, pti_domains[d]);
	rc = rc ? rc : gputap_context_start(ctx);
	if (rc)
		gputap_context_destroy(ctx);
	return rc;
}
