/* SPDX-License-Identifier: MIT */
/* Maps handles of the program's objects to data that callbacks get in addition to the call: the
 * context of a queue, list or kernel, the device of a list, and the name of a kernel.
 *
 *   buckets[] ─► node {kind, handle, context, ...} ─► node ...     never freed, newest first
 *
 * Locking: none. A node is inserted with compare and exchange. If the driver returns a handle
 * again, the new object uses the node of the handle, whose members are atomic. While one thread
 * creates an object, another thread may read some members of the earlier object with that handle.
 * This is harmless: the program cannot use the new object before its creation has returned. */
#include <stdlib.h>
#include <string.h>

#include "pti.h"

enum { BUCKETS = 1 << 12 };

static _Atomic(struct pti_handle *) buckets[BUCKETS];

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

struct pti_handle *pti_handle_add(enum pti_kind kind, const void *handle)
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

const char *pti_text_keep(const char *name)
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
