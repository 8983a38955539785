/* SPDX-License-Identifier: MIT */
/* What a callback tells beside its call: the context that a queue, a list, a kernel .. belongs to,
 * the device of a list, the name of a kernel. A context of gputap's has the calls
 * that create such objects; they get no numbers for it. It is the last in order: at EXIT it comes
 * before all subscribers.
 *
 *   buckets[] ─► node {kind, handle, context, ..} ─► node ..     never freed, newest first
 *
 * Locking: none. A node is put in by compare and exchange; a handle that the driver hands out again
 * finds its node, whose members are atomic. A reader of an object that another thread creates at
 * the same moment sees some of the old members: the program does not use it before it has it. */
#include <stdlib.h>
#include <string.h>

#include "pti.h"

enum { BUCKETS = 1 << 12, MADE_MAX = 256 };

static _Atomic(struct pti_handle *) buckets[BUCKETS];
static _Atomic uint64_t numbers;

static _Atomic(struct pti_handle *) *bucket_of(enum pti_kind kind, const void *handle)
{
	uint64_t hash = ((uintptr_t)handle ^ (uintptr_t)kind) * UINT64_C(0x9e3779b97f4a7c15);

	return &buckets[hash >> 52];
}

static struct pti_handle *find_in(struct pti_handle *h, const struct pti_handle *end,
				  enum pti_kind kind, const void *handle)
{
	while (h != end && (h->handle != handle || h->kind != kind))
		h = h->next;
	return h == end ? NULL : h;
}

struct pti_handle *pti_handle_find(enum pti_kind kind, const void *handle)
{
	return find_in(atomic_load_explicit(bucket_of(kind, handle), memory_order_acquire), NULL,
		       kind, handle);
}

static struct pti_handle *add_handle(enum pti_kind kind, const void *handle)
{
	_Atomic(struct pti_handle *) *bucket = bucket_of(kind, handle);
	struct pti_handle *first = atomic_load_explicit(bucket, memory_order_acquire), *h;
	struct pti_handle *made;

	h = find_in(first, NULL, kind, handle);
	made = h ? NULL : calloc(1, sizeof *made);
	if (!made)
		return h;
	made->kind = kind;
	made->handle = handle;
	do
		made->next = first;
	while (!atomic_compare_exchange_weak_explicit(bucket, &first, made, memory_order_release,
						      memory_order_acquire));
	return made;
}

/* A kernel's name stays: a callback's reader may keep it. Each text is kept once. */
static const char *keep_name(const char *name)
{
	static struct text {
		struct text *next;
		char data[];
	} * _Atomic texts[BUCKETS];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t bytes = strlen(name) + 1;
	struct text *first, *made;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	first = atomic_load_explicit(&texts[hash % BUCKETS], memory_order_acquire);
	for (const struct text *t = first; t; t = t->next)
		if (strcmp(t->data, name) == 0)
			return t->data;
	made = malloc(sizeof *made + bytes);
	if (!made)
		return NULL;
	memcpy(made->data, name, bytes);
	do
		made->next = first;
	while (!atomic_compare_exchange_weak_explicit(&texts[hash % BUCKETS], &first, made,
						      memory_order_release, memory_order_acquire));
	return made->data;
}

/* ze_kernel_desc_t, as far as its name. */
struct kernel_desc {
	uint32_t type;
	const void *next;
	uint32_t flags;
	const char *name;
};

static const char *name_of_made(const struct gputap_call *call)
{
	const struct kernel_desc *desc;

	if (call->domain == GPUTAP_DOMAIN_OPENCL)
		return pti_argument(call, 8);
	desc = pti_argument(call, 8);
	return desc ? desc->name : NULL;
}

static void *made_by(const struct pti_operation *op, const struct gputap_call *call)
{
	void **out;

	if (op->made_at < 0)
		return call->ret ? *(void **)call->ret : NULL;
	out = call->ret && *(const int32_t *)call->ret == 0
		      ? pti_argument(call, (unsigned)op->made_at)
		      : NULL;
	return out ? *out : NULL;
}

static bool is_named(const struct gputap_call *call, const char *name)
{
	return strcmp(pti_operation_name(call->domain, call->operation), name) == 0;
}

/* Of what is made from another object that has one; queues, and Level Zero's lists and
 * modules, are given it. */
static void *device_of_made(const struct pti_operation *op, const struct gputap_call *call)
{
	const struct pti_handle *parent;

	if (op->parent == PTI_CONTEXT)
		return op->made == PTI_QUEUE || (call->domain == GPUTAP_DOMAIN_LEVEL_ZERO &&
						 (op->made == PTI_LIST || op->made == PTI_MODULE))
			       ? pti_argument(call, 8)
			       : NULL;
	parent = pti_handle_find((enum pti_kind)op->parent, pti_argument(call, 0));
	return parent ? atomic_load(&parent->device) : NULL;
}

static void follow_created(const struct gputap_call *call, uint64_t *data, void *user)
{
	const struct pti_operation *op = pti_operation_of(call->domain, call->operation);
	const char *name = NULL;
	struct pti_handle *h;
	void *made;

	(void)data;
	(void)user;
	made = call->phase == GPUTAP_PHASE_EXIT ? made_by(op, call) : NULL;
	h = made ? add_handle((enum pti_kind)op->made, made) : NULL;
	if (!h)
		return;
	if (op->made == PTI_KERNEL)
		name = name_of_made(call);
	atomic_store(&h->context, op->made == PTI_CONTEXT ? made : pti_context_of(op, call));
	atomic_store(&h->device, device_of_made(op, call));
	atomic_store(&h->name, name ? keep_name(name) : NULL);
	atomic_store(&h->immediate,
		     op->made == PTI_LIST && is_named(call, "zeCommandListCreateImmediate"));
	atomic_store(&h->number, atomic_fetch_add(&numbers, 1) + 1);
}

void *pti_context_of(const struct pti_operation *op, const struct gputap_call *call)
{
	const struct pti_handle *h;

	if (op->parent == PTI_NONE || !call->args)
		return NULL;
	if (op->parent == PTI_CONTEXT)
		return pti_argument(call, 0);
	h = pti_handle_find((enum pti_kind)op->parent, pti_argument(call, 0));
	return h ? atomic_load_explicit(&h->context, memory_order_relaxed) : NULL;
}

struct pti_handle *pti_kernel_of(const struct pti_operation *op, const struct gputap_call *call)
{
	return op->kernel ? pti_handle_find(PTI_KERNEL, pti_argument(call, op->kernel)) : NULL;
}

/* The operations of a domain that create something. */
struct creating {
	uint32_t domain, count, numbers[MADE_MAX];
};

static int add_creating(uint32_t domain, uint32_t number, const struct pti_operation *op,
			void *user)
{
	struct creating *c = user;

	if (domain == c->domain && op->made != PTI_NONE && c->count < MADE_MAX)
		c->numbers[c->count++] = number;
	return 0;
}

int pti_handles_start(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts,
						 .flags = GPUTAP_CONTEXT_FINISH_CALLS};
	struct gputap_context *ctx;
	int rc = gputap_context_create(&opts, &ctx);

	if (rc)
		return rc;
	for (unsigned d = 0; rc == 0 && d < PTI_DOMAINS; d++) {
		struct creating c = {.domain = pti_domains[d]};

		pti_operations_each(add_creating, &c);
		if (c.count)
			rc = gputap_context_calls(ctx, c.domain, c.numbers, c.count, 0,
						  follow_created, NULL);
		if (c.count && rc == 0)
			rc = gputap_context_uncorrelated(ctx, c.domain, c.numbers, c.count, 0);
	}
	rc = rc ? rc : gputap_context_start(ctx);
	if (rc)
		gputap_context_destroy(ctx);
	return rc;
}
