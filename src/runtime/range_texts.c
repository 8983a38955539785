/* SPDX-License-Identifier: MIT */
/* See range_texts.h. The texts are in a hash table whose buckets are lists that grow only at their
 * head.
 * Locking: none. The head of a bucket is exchanged (release) and read (acquire). Two threads that
 * add the same new text at once may each get a separate copy. */
#include "runtime/range_texts.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "core/emit.h"

enum { BUCKETS = 4096, TEXTS_MOST = 65536, TEXT_BYTES = 1024 };

static _Atomic(struct gt_range_text *) buckets[BUCKETS];
static _Atomic uint32_t text_count;

static uint32_t hash_of(const char *text, size_t bytes)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash;
}

static struct gt_range_text *add_text(const char *text, size_t bytes, uint32_t hash)
{
	struct gt_range_text *t = gt_arena_take((sizeof *t + bytes + 1 + 7) & ~(size_t)7), *first;

	if (!t)
		return NULL;
	*t = (struct gt_range_text){.text = t->data, .hash = hash};
	memcpy(t->data, text, bytes);
	t->data[bytes] = '\0';
	first = atomic_load_explicit(&buckets[hash % BUCKETS], memory_order_relaxed);
	do
		t->next = first;
	while (!atomic_compare_exchange_weak_explicit(&buckets[hash % BUCKETS], &first, t,
						      memory_order_release, memory_order_relaxed));
	return t;
}

struct gt_range_text *gt_range_text(const char *text)
{
	return gt_range_text_whole(text, strnlen(text, TEXT_BYTES));
}

uint32_t gt_range_text_number(struct gt_thread *t, struct gt_range_text *text)
{
	uint64_t known = atomic_load_explicit(&text->string, memory_order_relaxed);
	uint32_t number = (uint32_t)known;

	if (number && known >> 32 == t->epoch)
		return number;
	number = gt_string_id(t, text->text, strlen(text->text));
	atomic_store_explicit(&text->string, number | (uint64_t)t->epoch << 32,
			      memory_order_relaxed);
	return number;
}

struct gt_range_text *gt_range_text_whole(const char *text, size_t bytes)
{
	static const char full[] = "(too many range names)";
	uint32_t hash = hash_of(text, bytes);

	for (struct gt_range_text *t =
		     atomic_load_explicit(&buckets[hash % BUCKETS], memory_order_acquire);
	     t; t = t->next)
		if (t->hash == hash && !memcmp(t->data, text, bytes) && !t->data[bytes])
			return t;
	if (atomic_fetch_add_explicit(&text_count, 1, memory_order_relaxed) >= TEXTS_MOST &&
	    text != full)
		return gt_range_text(full);
	return add_text(text, bytes, hash);
}
