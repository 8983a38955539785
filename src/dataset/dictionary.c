/* SPDX-License-Identifier: MIT */
/* See dictionary.h. */
#include "dataset/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/text.h"

struct dictionary_array {
	unsigned users; /* atomic: consumers may release batches in any thread */
	int32_t *offsets;
	char *chars;
};

/* Belongs to an exported array: a reference, and the list of buffers. */
struct exported {
	struct dictionary_array *array;
	const void *buffers[3];
};

static void put_array(struct dictionary_array *a)
{
	if (!a || __atomic_sub_fetch(&a->users, 1, __ATOMIC_ACQ_REL))
		return;
	free(a->offsets);
	free(a->chars);
	free(a);
}

int32_t dictionary_put_bytes(struct dictionary *d, const char *text, size_t bytes)
{
	char stack[512], *valid = stack;
	int32_t number;

	/* 3 bytes replace one that is not UTF-8 */
	if (3 * bytes + 1 > sizeof stack)
		valid = malloc(3 * bytes + 1);
	if (!valid)
		memory_ran_out();
	*gt_put_utf8(valid, text, bytes) = '\0';
	number = (int32_t)texts_put(&d->texts, valid);
	if (valid != stack)
		free(valid);
	return number;
}

int32_t dictionary_put(struct dictionary *d, const char *text)
{
	return dictionary_put_bytes(d, text, strlen(text));
}

static struct dictionary_array *make_array(const struct texts *t)
{
	struct dictionary_array *a = calloc(1, sizeof *a);
	size_t bytes = 0;

	for (uint32_t i = 0; i < t->count; i++)
		bytes += strlen(t->text[i]);
	if (a) {
		a->users = 1;
		a->offsets = malloc((t->count + 1) * sizeof *a->offsets);
		a->chars = bytes > INT32_MAX ? NULL : malloc(bytes + 1);
	}
	if (!a || !a->offsets || !a->chars) {
		put_array(a);
		memory_ran_out();
	}
	bytes = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		const size_t length = strlen(t->text[i]);

		a->offsets[i] = (int32_t)bytes;
		memcpy(a->chars + bytes, t->text[i], length);
		bytes += length;
	}
	a->offsets[t->count] = (int32_t)bytes;
	return a;
}

static void release_exported(struct ArrowArray *array)
{
	struct exported *e = array->private_data;

	put_array(e->array);
	free(e);
	array->release = NULL;
}

void dictionary_export(struct dictionary *d, struct ArrowArray *out)
{
	struct exported *e;

	if (!d->array || d->array_count != d->texts.count) {
		struct dictionary_array *array = make_array(&d->texts);

		put_array(d->array);
		d->array = array;
		d->array_count = d->texts.count;
	}
	e = malloc(sizeof *e);
	if (!e)
		memory_ran_out();
	__atomic_add_fetch(&d->array->users, 1, __ATOMIC_RELAXED);
	*e = (struct exported){d->array, {NULL, d->array->offsets, d->array->chars}};
	*out = (struct ArrowArray){.length = d->array_count,
				   .n_buffers = 3,
				   .buffers = e->buffers,
				   .release = release_exported,
				   .private_data = e};
}

void dictionary_fini(struct dictionary *d)
{
	put_array(d->array);
	texts_fini(&d->texts);
}
