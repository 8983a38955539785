/* SPDX-License-Identifier: MIT */
/* Programs that are executed but cannot be traced, because they run as another user, in another
 * mount namespace or with another root, or with ids that make the dynamic linker ignore gputap's
 * variables. Such a program cannot report this itself. The process that executes the program
 * reports it, because the segment of the process stays mapped even after the process has lost its
 * rights. See ring/segment.h, struct gt_lost.
 *
 * Never here: malloc, locks, stdio, changes to errno; use of a ring, because the child of a fork
 * would need a new ring. */
#include "core/exec_lost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/recording.h"
#include "ring/segment_writer.h"

/* Check access with the real ids. If the effective ids differ from the real ids, the difference
 * itself is an obstacle. (faccessat2() checks effective ids, but old sandboxes kill processes for
 * unknown calls.) Return 0 or errno. */
static int check_access(int fd, const char *path, int how)
{
	return syscall(SYS_faccessat, fd, path, how) == 0 ? 0 : errno;
}

bool gt_exec_can_report(void)
{
	int saved = errno;
	bool can = atomic_load_explicit(gt_epoch, memory_order_relaxed) ||
		   check_access(AT_FDCWD, gt_recording.directory, W_OK | X_OK) == 0;

	errno = saved;
	return can;
}

static enum gt_lost_why find_reason(int *error, const char *library)
{
	*error = EPERM;
	if (syscall(SYS_getuid) != syscall(SYS_geteuid) ||
	    syscall(SYS_getgid) != syscall(SYS_getegid))
		return GT_LOST_SECURE;
	*error = check_access(AT_FDCWD, gt_recording.directory, R_OK | W_OK | X_OK);
	if (*error)
		return GT_LOST_SESSION;
	*error = check_access(AT_FDCWD, library, R_OK);
	return *error ? GT_LOST_LIBRARY : GT_LOST_NONE;
}

enum gt_lost_why gt_exec_lose(int fd, const char *path, const char *library, uint32_t *place)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);
	int saved = errno, error;
	enum gt_lost_why why = r ? find_reason(&error, library) : GT_LOST_NONE;

	*place = GT_LOST_NOWHERE;
	if (why != GT_LOST_NONE &&
	    (!path || check_access(fd, path, X_OK) == 0)) /* without access, exec itself fails */
		*place = gt_lost_write(r, why, error, (uint32_t)syscall(SYS_getpid), gt_ticks(),
				       path ? path : GT_LOST_NAMELESS);
	errno = saved;
	return why;
}

uint32_t gt_exec_lose_environment(const char *path)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);
	int saved = errno;
	uint32_t place = GT_LOST_NOWHERE;

	if (r && check_access(AT_FDCWD, path, X_OK) == 0)
		place = gt_lost_write(r, GT_LOST_ENVIRONMENT, EPERM, (uint32_t)syscall(SYS_getpid),
				      gt_ticks(), path);
	errno = saved;
	return place;
}

void gt_exec_take_back(uint32_t place)
{
	if (place != GT_LOST_NOWHERE)
		gt_lost_take_back(atomic_load_explicit(&gt_recording.segment, memory_order_acquire),
				  place);
}
