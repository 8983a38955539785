/* SPDX-License-Identifier: MIT */
/* See system_calls.h. The header of the C library gives the numbers, so a call that an architecture
 * lacks (64-bit Arm has no open(), poll() or select()) is left out. */
#include "collector/system_calls.h"

#include <stddef.h>
#include <sys/syscall.h>

/* newer than the oldest headers that compile gputap; the numbers are equal on all architectures */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif

#define ENTRY(call, kind, descriptor) [SYS_##call] = {#call, GT_SYSTEM_CALL_##kind, descriptor}

static const struct gt_system_call calls[] = {
	ENTRY(read, DESCRIPTOR, 0),
	ENTRY(write, DESCRIPTOR, 0),
	ENTRY(readv, DESCRIPTOR, 0),
	ENTRY(writev, DESCRIPTOR, 0),
	ENTRY(pread64, DESCRIPTOR, 0),
	ENTRY(pwrite64, DESCRIPTOR, 0),
	ENTRY(preadv, DESCRIPTOR, 0),
	ENTRY(pwritev, DESCRIPTOR, 0),
	ENTRY(preadv2, DESCRIPTOR, 0),
	ENTRY(pwritev2, DESCRIPTOR, 0),
	ENTRY(ioctl, DESCRIPTOR, 0),
	ENTRY(fcntl, DESCRIPTOR, 0),
	ENTRY(flock, DESCRIPTOR, 0),
	ENTRY(fsync, DESCRIPTOR, 0),
	ENTRY(fdatasync, DESCRIPTOR, 0),
	ENTRY(sync_file_range, DESCRIPTOR, 0),
	ENTRY(syncfs, DESCRIPTOR, 0),
	ENTRY(ftruncate, DESCRIPTOR, 0),
	ENTRY(fallocate, DESCRIPTOR, 0),
	ENTRY(fadvise64, DESCRIPTOR, 0),
	ENTRY(readahead, DESCRIPTOR, 0),
	ENTRY(getdents64, DESCRIPTOR, 0),
	ENTRY(fstat, DESCRIPTOR, 0),
	ENTRY(lseek, DESCRIPTOR, 0),
	ENTRY(close, DESCRIPTOR, 0),
	ENTRY(splice, DESCRIPTOR, 0),
	ENTRY(tee, DESCRIPTOR, 0),
	ENTRY(vmsplice, DESCRIPTOR, 0),
	ENTRY(sendfile, DESCRIPTOR, 1),
	ENTRY(copy_file_range, DESCRIPTOR, 0),
	ENTRY(accept, SOCKET, 0),
	ENTRY(accept4, SOCKET, 0),
	ENTRY(connect, SOCKET, 0),
	ENTRY(recvfrom, SOCKET, 0),
	ENTRY(recvmsg, SOCKET, 0),
	ENTRY(recvmmsg, SOCKET, 0),
	ENTRY(sendto, SOCKET, 0),
	ENTRY(sendmsg, SOCKET, 0),
	ENTRY(sendmmsg, SOCKET, 0),
	ENTRY(openat, PATH, -1),
	ENTRY(unlinkat, PATH, -1),
	ENTRY(renameat2, PATH, -1),
	ENTRY(mkdirat, PATH, -1),
	ENTRY(statx, PATH, -1),
	ENTRY(newfstatat, PATH, -1),
	ENTRY(statfs, PATH, -1),
	ENTRY(faccessat, PATH, -1),
	ENTRY(readlinkat, PATH, -1),
	ENTRY(truncate, PATH, -1),
	ENTRY(mount, PATH, -1),
	ENTRY(umount2, PATH, -1),
	ENTRY(sync, PATH, -1),
	ENTRY(execve, PATH, -1),
	ENTRY(ppoll, POLL, -1),
	ENTRY(pselect6, POLL, -1),
	ENTRY(epoll_pwait, POLL, -1),
	ENTRY(epoll_pwait2, POLL, -1),
	ENTRY(io_getevents, POLL, -1),
	ENTRY(nanosleep, SLEEP, -1),
	ENTRY(clock_nanosleep, SLEEP, -1),
	ENTRY(futex, FUTEX, -1),
	ENTRY(futex_waitv, FUTEX, -1),
	ENTRY(futex_wait, FUTEX, -1),
	ENTRY(wait4, CHILD, -1),
	ENTRY(waitid, CHILD, -1),
	ENTRY(rt_sigtimedwait, SIGNAL, -1),
	ENTRY(rt_sigsuspend, SIGNAL, -1),
	ENTRY(semop, IPC, -1),
	ENTRY(semtimedop, IPC, -1),
	ENTRY(msgrcv, IPC, -1),
	ENTRY(msgsnd, IPC, -1),
	ENTRY(mq_timedreceive, IPC, -1),
	ENTRY(mq_timedsend, IPC, -1),
	ENTRY(mmap, MEMORY, -1),
	ENTRY(munmap, MEMORY, -1),
	ENTRY(mprotect, MEMORY, -1),
	ENTRY(mremap, MEMORY, -1),
	ENTRY(madvise, MEMORY, -1),
	ENTRY(brk, MEMORY, -1),
	ENTRY(msync, MEMORY, -1),
	ENTRY(mlock, MEMORY, -1),
	ENTRY(mlock2, MEMORY, -1),
#ifdef SYS_io_uring_enter
	ENTRY(io_uring_enter, POLL, -1),
#endif
#ifdef SYS_getdents
	ENTRY(getdents, DESCRIPTOR, 0),
#endif
#ifdef SYS_open
	ENTRY(open, PATH, -1),
	ENTRY(creat, PATH, -1),
	ENTRY(unlink, PATH, -1),
	ENTRY(rename, PATH, -1),
	ENTRY(mkdir, PATH, -1),
	ENTRY(rmdir, PATH, -1),
	ENTRY(stat, PATH, -1),
	ENTRY(lstat, PATH, -1),
	ENTRY(access, PATH, -1),
	ENTRY(readlink, PATH, -1),
#endif
#ifdef SYS_poll
	ENTRY(poll, POLL, -1),
	ENTRY(select, POLL, -1),
	ENTRY(epoll_wait, POLL, -1),
#endif
#ifdef SYS_pause
	ENTRY(pause, SIGNAL, -1),
#endif
};

const struct gt_system_call *gt_system_call_find(long number)
{
	static const struct gt_system_call unknown = {NULL, GT_SYSTEM_CALL_OTHER, -1};

	if (number < 0 || number >= (long)(sizeof calls / sizeof *calls) || !calls[number].name)
		return &unknown;
	return &calls[number];
}
