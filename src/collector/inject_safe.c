/* SPDX-License-Identifier: MIT */
/* See inject_safe.h. A place is safe if no function on the stack has locked or half changed what
 * pthread_create() uses (inject_target.c lists it). The proof:
 *
 *  1. The thread's stack is unwound to its outermost frame. No frame is unsafe code, and none is a
 *     signal handler's: a handler may have interrupted malloc(), and what it interrupted is known
 *     only from registers that the handler may change.
 *  2. The innermost frame is either the program's own code, or a system call that waits. Anywhere
 *     else in libc, a function without a separate frame may have been called from malloc.
 *  3. If unwinding stops halfway (generated code, missing tables), or there are frames of a module
 *     that an allocator was linked into, the thread must wait in a call that neither malloc nor the
 *     dynamic linker makes. Then it is not in malloc. Malloc calls nothing that could call back,
 *     except through a signal: no word on the whole stack may be the address to which a signal
 *     handler returns.
 *
 * Code without unwinding tables is skipped with its frame pointers. Frames may be missing
 * then, but none of malloc, which calls no such code. */
#include "collector/inject_safe.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "record/record.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

enum { STACK_MOST = 256 * 1024, PIECE_WORDS = GT_REMOTE_PAGE / 8, LOCK_CONTENDED = 2 };

/* System calls -------------------------------------------------------------------------------- */

static bool is_among(long number, const long *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return false;
}

#define IS_AMONG(number, list) is_among(number, list, sizeof(list) / sizeof *(list))

/* The kernel resumes these after a stop, without a trace. */
static const long waits[] = {
	SYS_poll,      SYS_ppoll,           SYS_select,  SYS_pselect6,
	SYS_nanosleep, SYS_clock_nanosleep, SYS_wait4,   SYS_waitid,
	SYS_pause,     SYS_accept,          SYS_accept4, SYS_rt_sigsuspend,
	SYS_msgrcv,    SYS_restart_syscall,
};
/* Among these, restart_syscall() is the rest of one with a time-out that was interrupted before. */
static const long sleeps[] = {SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall};
/* These end with EINTR after a stop, or may do so. */
static const long repeats[] = {
	SYS_epoll_wait,      SYS_epoll_pwait, SYS_epoll_pwait2, SYS_semop,   SYS_semtimedop,
	SYS_rt_sigtimedwait, SYS_read,        SYS_recvfrom,     SYS_recvmsg,
};
/* These return what they have done so far. */
static const long partial[] = {
	SYS_write,   SYS_writev,   SYS_pwrite64, SYS_pwritev,   SYS_pwritev2,        SYS_sendto,
	SYS_sendmsg, SYS_sendmmsg, SYS_sendfile, SYS_splice,    SYS_copy_file_range, SYS_recvmmsg,
	SYS_readv,   SYS_preadv,   SYS_preadv2,  SYS_getrandom, SYS_ioctl,
};

/* Return true for a call of recv() that collects several messages. */
static bool collects(const struct gt_inject_call *c)
{
	const uint64_t flags = c->number == SYS_recvfrom  ? c->args[2]
			       : c->number == SYS_recvmsg ? c->args[1]
							  : 0;

	return (flags & MSG_WAITALL) != 0;
}

/* Return true for the lock of a libc data structure, malloc's among them, and for a mutex. Waits
 * for conditions, semaphores and threads use other operations. */
static bool is_lock(const struct gt_inject_call *c)
{
	return c->number == SYS_futex &&
	       (((c->args[0] & FUTEX_CMD_MASK) == FUTEX_WAIT && c->args[1] == LOCK_CONTENDED) ||
		(c->args[0] & FUTEX_CMD_MASK) == FUTEX_LOCK_PI);
}

enum gt_inject_rank gt_inject_rank(const struct gt_inject_call *c)
{
	if (c->number < 0)
		return GT_INJECT_RUNS;
	if (IS_AMONG(c->number, waits))
		return GT_INJECT_WAITS;
	if (IS_AMONG(c->number, repeats))
		return collects(c) ? GT_INJECT_NEVER : GT_INJECT_REPEATS;
	return c->number == SYS_futex && !is_lock(c) ? GT_INJECT_SLEEPS : GT_INJECT_NEVER;
}

/* Return true if neither malloc nor the dynamic linker waits in this call. Other allocators sleep
 * while they wait for a lock. None waits for a condition, a semaphore or the end of a thread.
 * @is_whole: the thread's stack is known. */
static bool is_plain_wait(const struct gt_inject_target *t, const struct gt_inject_call *c,
			  bool is_in_libc, bool is_whole)
{
	if (!c->is_in_wait || (t->has_allocator && IS_AMONG(c->number, sleeps)))
		return false;
	if (c->number == SYS_futex)
		return is_whole && is_in_libc && (c->args[0] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	return IS_AMONG(c->number, waits) ||
	       (IS_AMONG(c->number, repeats) && c->number != SYS_read);
}

/* Stacks -------------------------------------------------------------------------------------- */

static bool is_signal_frame(struct gt_inject_target *t, uintptr_t pc, bool exact)
{
	return gt_remote_modules_rule(&t->modules, pc, exact)->kind == GT_UNWIND_SIGNAL;
}

/* Return true if the code at @at is what a signal handler returns to: `mov $15,%eax` or `%rax`,
 * `syscall`. */
static bool is_sigreturn(struct gt_inject_target *t, uintptr_t at)
{
	static const uint8_t wide[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05},
			     narrow[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof wide];

	if (!gt_remote_modules_code(&t->modules, at + sizeof code, code, sizeof code))
		return false;
	return !memcmp(code, wide, sizeof wide) || !memcmp(code, narrow, sizeof narrow);
}

/* Return true if the whole stack was read and no word of it leads out of a signal handler. */
static bool has_no_handler(struct gt_inject_target *t, uintptr_t sp)
{
	const struct gt_remote_modules *m = &t->modules;
	const uintptr_t low = m->list[0].start, high = m->list[m->count - 1].end;
	uintptr_t words[PIECE_WORDS], known = 0;

	for (size_t done = 0; done < STACK_MOST;) {
		const size_t bytes = GT_REMOTE_PAGE - sp % GT_REMOTE_PAGE;

		if (!gt_remote_read(&t->look, sp, words, bytes))
			return done > 0; /* the end of the mapping */
		for (size_t i = 0; i < bytes / sizeof *words; i++) {
			if (words[i] < low || words[i] >= high || words[i] == known)
				continue;
			if (is_sigreturn(t, words[i]))
				return false;
			known = words[i];
		}
		done += bytes;
		sp += bytes;
	}
	return false;
}

enum gt_inject_safety gt_inject_judge(struct gt_inject_target *t,
				      const struct gt_remote_registers *registers,
				      const struct gt_inject_call *call)
{
	const bool is_in_libc = gt_inject_in_range(&t->libc, registers->pc) ||
				gt_inject_in_range(&t->threads, registers->pc);
	uintptr_t pcs[GT_REMOTE_FRAMES];
	bool is_whole, is_mixed = false;
	unsigned count;

	if (registers->sp % sizeof(uintptr_t) || IS_AMONG(call->number, partial) || is_lock(call))
		return GT_INJECT_UNSAFE;
	if (is_in_libc && (!call->is_in_wait || gt_inject_rank(call) >= GT_INJECT_RUNS))
		return GT_INJECT_UNSAFE;
	gt_remote_begin(&t->look, (uint32_t)t->pid);
	gt_remote_fetch_stack(&t->look, registers->sp);
	is_whole =
		gt_remote_unwind(&t->modules, &t->look, registers, pcs, &count) == GT_FRAMES_WHOLE;
	for (unsigned i = 0; i < count; i++) {
		if (gt_inject_is_unsafe(t, pcs[i]) || is_signal_frame(t, pcs[i], i == 0))
			return GT_INJECT_UNSAFE;
		is_mixed |= gt_inject_is_mixed(t, pcs[i]);
	}
	if (is_whole && !is_mixed)
		return GT_INJECT_SAFE;
	return is_plain_wait(t, call, is_in_libc, is_whole) &&
			       (is_whole || has_no_handler(t, registers->sp))
		       ? GT_INJECT_SAFE
		       : GT_INJECT_UNKNOWN;
}
