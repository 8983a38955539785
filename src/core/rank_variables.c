/* SPDX-License-Identifier: MIT */
/* setenv() and putenv(), exported in front of libc's, to notice a rank that a process sets itself:
 *
 *   os.environ["RANK"] = ..  ──► setenv() ──► libc's ──► the rank in this process's segment
 *
 * Functions started with torch.multiprocessing.spawn set their rank in this way, long after the
 * segment was created. The calling thread takes the value from the call, because reading `environ`
 * at any other moment races with the program's own setenv(). A fork's child that has no segment yet
 * reads `environ` when it creates its segment.
 *
 * Never here: malloc, locks, changes to errno. Not noticed: programs that write `environ` directly,
 * or define setenv() themselves (bash). */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording.h"
#include "util/ranks.h"

#define EXPORT __attribute__((visibility("default")))

extern char **environ;

static GT_AT_START int (*real_setenv)(const char *, const char *, int);
static GT_AT_START int (*real_putenv)(char *);
/* initial values from the start of the process, updated since */
static GT_AT_START struct gt_ranks ranks;
static GT_AT_START bool is_known;

static void find_real(void)
{
	if (!real_putenv) {
		*(void **)&real_setenv = dlsym(RTLD_NEXT, "setenv");
		*(void **)&real_putenv = dlsym(RTLD_NEXT, "putenv");
	}
}

static void note(const char *name, const char *value)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	if (!is_known || !gt_ranks_set(&ranks, name, value))
		return;
	/* until it has an epoch, a fork's child still has its parent's segment */
	if (r && gt_recording_is_run() && atomic_load_explicit(gt_epoch, memory_order_acquire))
		gt_ranks_choose(&ranks, &r->rank);
}

__attribute__((constructor)) static void know_ranks(void)
{
	find_real();
	gt_recording_init();
	if (gt_recording_is_run()) {
		gt_ranks_read(environ, &ranks);
		is_known = true;
	}
}

EXPORT int setenv(const char *name, const char *value, int overwrite)
{
	bool stays;
	int rc, saved;

	find_real();
	stays = !overwrite && is_known && name && getenv(name);
	rc = real_setenv(name, value, overwrite);
	saved = errno;
	if (rc == 0 && !stays)
		note(name, value);
	errno = saved;
	return rc;
}

EXPORT int putenv(char *text)
{
	int rc, saved;

	find_real();
	rc = real_putenv(text);
	saved = errno;
	if (rc == 0 && strchr(text, '='))
		note(text, strchr(text, '=') + 1);
	errno = saved;
	return rc;
}
