/* SPDX-License-Identifier: MIT */
/* Pages of decoded instructions, and the list of unloaded code: isa_code.h. */
#include "soft/amdgpu/isa/isa_code.h"

#include <pthread.h>
#include <stdlib.h>

#define RANGES 64

/* The most recently dropped ranges. A machine that has missed more than these drops all its
 * pages. */
static struct {
	pthread_mutex_t lock;
	uint64_t count; /* written under the lock, read without it */
	struct {
		uint64_t base, bytes;
	} ranges[RANGES];
} gone = {.lock = PTHREAD_MUTEX_INITIALIZER};

void soft_isa_forget(uint64_t base, uint64_t bytes)
{
	pthread_mutex_lock(&gone.lock);
	gone.ranges[gone.count % RANGES].base = base;
	gone.ranges[gone.count % RANGES].bytes = bytes;
	__atomic_store_n(&gone.count, gone.count + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&gone.lock);
}

void soft_isa_forked(void)
{
	pthread_mutex_init(&gone.lock, NULL);
}

struct code_page *soft_code_page(struct code *code, uint64_t address)
{
	uint64_t base = address & ~(uint64_t)(CODE_PAGE_BYTES - 1);
	struct code_page **bucket = &code->buckets[base / CODE_PAGE_BYTES % CODE_BUCKETS], *page;

	for (page = *bucket; page; page = page->next)
		if (page->address == base)
			return page;
	page = aligned_alloc(_Alignof(struct code_page), sizeof(*page));
	if (!page)
		return NULL;
	memset(page, 0, sizeof(*page));
	page->address = base;
	page->next = *bucket;
	*bucket = page;
	return page;
}

static void drop_pages(struct code *code, uint64_t base, uint64_t bytes)
{
	for (unsigned i = 0; i < CODE_BUCKETS; i++)
		for (struct code_page **link = &code->buckets[i]; *link;) {
			struct code_page *page = *link;

			/* Use differences, so that a range up to the end of the address space does
			 * not wrap. An instruction may have words on the next page, so the
			 * preceding page is also dropped. */
			if (page->address - base < bytes ||
			    base - page->address < 2 * CODE_PAGE_BYTES) {
				*link = page->next;
				free(page);
			} else {
				link = &page->next;
			}
		}
}

void soft_code_clear(struct code *code)
{
	drop_pages(code, 0, UINT64_MAX);
}

void soft_code_refresh(struct code *code)
{
	uint64_t count = __atomic_load_n(&gone.count, __ATOMIC_ACQUIRE);

	if (code->forgotten == count)
		return;
	pthread_mutex_lock(&gone.lock);
	count = gone.count;
	if (count - code->forgotten > RANGES)
		soft_code_clear(code);
	else
		for (; code->forgotten < count; code->forgotten++)
			drop_pages(code, gone.ranges[code->forgotten % RANGES].base,
				   gone.ranges[code->forgotten % RANGES].bytes);
	code->forgotten = count;
	pthread_mutex_unlock(&gone.lock);
}
