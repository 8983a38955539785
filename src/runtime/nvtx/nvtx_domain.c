/* SPDX-License-Identifier: MIT */
/* See nvtx_domain.h. Domains and categories are lists that only grow, at their heads. A program has
 * a few domains, and a domain a few categories. A domain that the program destroys is kept, because
 * its handle may still be in use.
 * Locking: none. List heads are exchanged (release) and read (acquire). Two threads that add the
 * same name at the same time may each get a separate domain. This is harmless, because only the
 * name is recorded. */
#include "runtime/nvtx/nvtx_domain.h"

#include <stddef.h>
#include <string.h>

#include "core/emit.h"
#include "core/range_window.h"
#include "core/recording.h"
#include "runtime/range_texts.h"

static struct gt_nvtx_domain default_domain;
static _Atomic(struct gt_nvtx_domain *) domains;

static struct gt_nvtx_domain *find_or_add_domain(const char *name)
{
	const struct gt_range_text *text = name ? gt_range_text(name) : NULL;
	struct gt_nvtx_domain *d = atomic_load_explicit(&domains, memory_order_acquire);

	if (!text)
		return NULL;
	for (; d; d = d->next)
		if (d->name == text->text)
			return d;
	d = gt_arena_take(sizeof *d);
	if (!d)
		return NULL;
	*d = (struct gt_nvtx_domain){.name = text->text};
	d->next = atomic_load_explicit(&domains, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&domains, &d->next, d, memory_order_release,
						      memory_order_relaxed))
		;
	return d;
}

/* Return true if the name is that of the domain of TSL, which XLA and other programs use. TSL
 * creates its domain once. If the creation succeeds, TSL makes a range with a payload for each
 * operation that it runs, about 80 in a step of half a millisecond. */
static bool is_costly(const char *name)
{
	return !strcmp(name, "TSL");
}

/* Return true if the session records ranges even if they slow the program down, because the session
 * names NVTX or its recording window starts and ends with a range. */
static bool wants_costly(void)
{
	return gt_recording.session->named >> GT_DOMAIN_NVTX & 1 || gt_range_window_is_asked();
}

static void note_declined(void)
{
	static _Atomic uint32_t noted;
	struct gt_thread *t = gt_thread_get();

	if (t && !atomic_exchange_explicit(&noted, 1, memory_order_relaxed))
		gt_event_write(t, GT_EVENT_NOT_RECORDED, GT_DOMAIN_NVTX, 0,
			       "XLA's NVTX ranges (domain TSL), which slow down each step; "
			       "--domains cuda,nvtx records them");
}

struct gt_nvtx_domain *gt_nvtx_domain_create(const char *name)
{
	if (name && is_costly(name) && !wants_costly()) {
		note_declined();
		return NULL;
	}
	return find_or_add_domain(name);
}

struct gt_nvtx_domain *gt_nvtx_domain_of(void *handle)
{
	return handle ? handle : &default_domain;
}

static struct gt_nvtx_category *find_category(struct gt_nvtx_domain *domain, uint32_t id)
{
	struct gt_nvtx_category *c =
		atomic_load_explicit(&domain->categories, memory_order_acquire);

	while (c && c->id != id)
		c = c->next;
	return c;
}

void gt_nvtx_category_name(struct gt_nvtx_domain *domain, uint32_t id, const char *name)
{
	const struct gt_range_text *text = name ? gt_range_text(name) : NULL;
	struct gt_nvtx_category *c = find_category(domain, id);

	if (!text)
		return;
	if (c) {
		atomic_store_explicit(&c->name, text->text, memory_order_release);
		return;
	}
	c = gt_arena_take(sizeof *c);
	if (!c)
		return;
	*c = (struct gt_nvtx_category){.id = id, .name = text->text};
	c->next = atomic_load_explicit(&domain->categories, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&domain->categories, &c->next, c,
						      memory_order_release, memory_order_relaxed))
		;
}

const char *gt_nvtx_category_find(struct gt_nvtx_domain *domain, uint32_t id)
{
	const struct gt_nvtx_category *c = id ? find_category(domain, id) : NULL;

	return c ? atomic_load_explicit(&c->name, memory_order_acquire) : NULL;
}
