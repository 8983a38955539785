/* SPDX-License-Identifier: MIT */
/* See environ_publish.h. The lock of setenv() and unsetenv() is libc's own, so a call of the
 * program may be changing the old array meanwhile, and its change must not be lost:
 *
 *   1. Copy the old array until a copy is found unchanged, and make the new array from the copy.
 *   2. Replace `environ` if it is still the old array (release); otherwise start again.
 *   3. Wait until calls that have begun before step 2 have ended: an unsetenv() that finds nothing
 *      takes and releases libc's lock. Later calls start from the new array.
 *   4. If `environ` is no longer the new array, a call has added a variable and has replaced the
 *      array. Start again, which ends at once if that array has the changes.
 *   5. Compare the old array with the copy, and carry differences over to the new array.
 *
 * Not covered: a change of an existing variable is lost if, within these microseconds, a first
 * thread makes it and a second one adds a variable. Threads that write `environ` without libc's
 * functions (bash) are not waited for. A thread that reads the old array while another thread of
 * the program adds a variable races as it does without gputap: until glibc 2.40, setenv() frees
 * that array.
 *
 * Never here: malloc, writes to the old array. */
#include "util/environ_publish.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/zeroed.h"

#define NEVER_SET "GPUTAP_NEVER_SET"

extern char **environ;

enum { TRIES = 1024 };

struct attempt {
	char **old;
	size_t most, count; /* number of entries of the old array: at first, and in the copy */
	char **copy, **now; /* entries of the old array in step 1, and in step 5 */
	char **published;   /* the new array */
	size_t bytes;       /* of the memory of the three arrays, which starts at `published` */
};

static char *load_entry(char *const *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static char **load_environ(void)
{
	return __atomic_load_n(&environ, __ATOMIC_ACQUIRE);
}

static bool has_name(const char *entry, const char *name, size_t length)
{
	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static char *find_entry(char *const *array, const char *name)
{
	const size_t length = strlen(name);
	char *entry;

	for (; array && (entry = load_entry(array)) != NULL; array++)
		if (has_name(entry, name, length))
			return entry;
	return NULL;
}

const char *gt_environ_entry(const char *name)
{
	return find_entry(load_environ(), name);
}

/* Return the change that applies to an entry, or NULL. */
static const struct gt_environ_change *find_change(const struct gt_environ_change *changes,
						   size_t count, const char *entry)
{
	for (const struct gt_environ_change *c = changes; c < changes + count; c++)
		if (has_name(entry, c->name, strlen(c->name)))
			return c->only_if && c->only_if != entry ? NULL : c;
	return NULL;
}

static bool is_done(char *const *array, const struct gt_environ_change *changes, size_t count)
{
	for (const struct gt_environ_change *c = changes; c < changes + count; c++) {
		const char *entry = find_entry(array, c->name);

		if (entry != c->entry && (!c->only_if || entry == c->only_if))
			return false;
	}
	return true;
}

static bool has_pointer(char *const *array, size_t count, const char *entry)
{
	for (size_t i = 0; i < count; i++)
		if (array[i] == entry)
			return true;
	return false;
}

/* Do step 3. */
static void wait_for_libc(void)
{
	int saved = errno;

	unsetenv(NEVER_SET);
	errno = saved;
}

/* Allocate the arrays. Return false if out of memory. */
static bool allocate_arrays(struct attempt *a, size_t more)
{
	while (a->old && load_entry(a->old + a->most))
		a->most++;
	a->bytes = (3 * (a->most + 1) + more) * sizeof *a->published;
	a->published = gt_zeroed_map(a->bytes);
	if (!a->published)
		return false;
	a->copy = a->published + a->most + 1 + more;
	a->now = a->copy + a->most + 1;
	return true;
}

/* Copy the old array. Return false if it has changed meanwhile: a reader misses an entry while
 * unsetenv() moves entries. */
static bool copy_array(struct attempt *a)
{
	while (a->count < a->most && (a->copy[a->count] = load_entry(a->old + a->count)) != NULL)
		a->count++;
	wait_for_libc();
	if (load_environ() != a->old)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (load_entry(a->old + i) != a->copy[i])
			return false;
	return !a->old || !load_entry(a->old + a->count);
}

/* Make the new array, without the entries in @without. */
static void fill_array(const struct attempt *a, const struct gt_environ_change *changes,
		       size_t count, char *const *without, size_t without_count)
{
	size_t used = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct gt_environ_change *c = find_change(changes, count, a->copy[i]);
		const char *entry = c ? c->entry : a->copy[i];

		if (has_pointer(without, without_count, a->copy[i]))
			continue;
		/* a variable that has two entries keeps one */
		if (entry && !(c && find_entry(a->published, c->name)))
			a->published[used++] = (char *)(uintptr_t)entry;
	}
	for (const struct gt_environ_change *c = changes; c < changes + count; c++)
		if (c->entry && !c->only_if && !find_entry(a->published, c->name))
			a->published[used++] = (char *)(uintptr_t)c->entry;
}

/* Give the new array the entry that the program has set in the old one, unless the program has set
 * another one since. */
static void carry_entry(const struct attempt *a, char *before, char *entry)
{
	for (char **at = a->published; load_entry(at); at++)
		if (__atomic_compare_exchange_n(at, &(char *){before}, entry, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
}

/* Do step 5. Return the number of variables that the program has removed meanwhile; their entries
 * are moved to the start of the copy. */
static size_t carry_over(const struct attempt *a)
{
	size_t removed = 0;

	for (size_t i = 0; i < a->count; i++) {
		char *before = a->copy[i], *entry = NULL;
		const char *equals = strchr(before, '=');

		if (!equals || has_pointer(a->now, a->count, before))
			continue;
		for (size_t j = 0; !entry && j < a->count && a->now[j]; j++)
			if (has_name(a->now[j], before, (size_t)(equals - before)))
				entry = a->now[j];
		if (entry)
			carry_entry(a, before, entry);
		else
			a->copy[removed++] = before;
	}
	return removed;
}

/* Do steps 2 to 5. Return false if the new array is not, or no longer, the environment. *removed is
 * the number of variables that are still to be removed. */
static bool replace_array(const struct attempt *a, size_t *removed)
{
	char **old = a->old;

	if (!__atomic_compare_exchange_n(&environ, &old, a->published, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		munmap(a->published, a->bytes);
		return false;
	}
	wait_for_libc();
	for (size_t i = 0; i < a->count; i++)
		a->now[i] = load_entry(a->old + i);
	/* a call that adds a variable may have freed the old array while it was read above */
	wait_for_libc();
	if (load_environ() != a->published)
		return false;
	*removed = carry_over(a);
	return true;
}

bool gt_environ_publish(const struct gt_environ_change *changes, size_t count)
{
	char **without = NULL; /* entries to leave out, in memory that was published before */
	size_t without_count = 0;

	for (int i = 0; i < TRIES; i++) {
		struct attempt a = {.old = load_environ()};

		if (!without_count && is_done(a.old, changes, count))
			return true;
		if (!allocate_arrays(&a, count))
			return false;
		if (!copy_array(&a)) {
			munmap(a.published, a.bytes);
			continue;
		}
		fill_array(&a, changes, count, without, without_count);
		if (replace_array(&a, &without_count))
			without = a.copy;
	}
	return false;
}
