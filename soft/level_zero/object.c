/* SPDX-License-Identifier: MIT */
/* The objects that handles point to. The memory of a destroyed object is reused only for objects of
 * the same kind. Until then, its kind is 0. A handle that is used too late is thus refused, and not
 * followed into unrelated memory.
 *
 *   freed of a kind:  oldest ─next─► ... ─next─► youngest       a new object takes the oldest
 *
 * Locking: a mutex. */
#include <stdlib.h>
#include <string.h>

#include "soft/level_zero/level_zero_parts.h"

enum { KINDS = SOFT_ZE_KIND_END - SOFT_ZE_DRIVER, KEPT = 256 };

struct freed {
	uint32_t kind; /* 0 */
	struct freed *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct freed *oldest, *youngest;
	unsigned count;
} all[KINDS];

static struct freed *take_oldest(unsigned kind)
{
	struct freed *f = NULL;

	pthread_mutex_lock(&lock);
	if (all[kind].count > KEPT) {
		f = all[kind].oldest;
		all[kind].oldest = f->next;
		all[kind].count--;
	}
	pthread_mutex_unlock(&lock);
	return f;
}

void *soft_ze_object_create(enum soft_ze_kind kind, size_t bytes)
{
	uint32_t *object = (uint32_t *)take_oldest(kind - SOFT_ZE_DRIVER);

	if (bytes < sizeof(struct freed))
		bytes = sizeof(struct freed);
	if (object)
		memset(object, 0, bytes);
	else
		object = calloc(1, bytes);
	if (object)
		*object = kind;
	return object;
}

void soft_ze_object_destroy(void *object, enum soft_ze_kind kind)
{
	unsigned i = kind - SOFT_ZE_DRIVER;
	struct freed *f = object;

	pthread_mutex_lock(&lock);
	*f = (struct freed){0};
	*(all[i].count ? &all[i].youngest->next : &all[i].oldest) = f;
	all[i].youngest = f;
	all[i].count++;
	pthread_mutex_unlock(&lock);
}
