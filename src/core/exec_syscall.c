/* SPDX-License-Identifier: MIT */
/* syscall(), exported in front of libc's. SYS_execve and SYS_execveat are redirected to the exec
 * family (core/exec.c); SYS_prctl and SYS_seccomp are examined (core/seccomp.c).
 *
 *   number ──► execve, execveat ──► gt_exec_by_number() ──► execve(), execveat()
 *          ──► prctl, seccomp  ──►                      ──► gt_seccomp_before(), .. the call ..
 *          ──► any other        ──► jump to the next library's syscall(), with the caller's stack
 *                                   and return address: SYS_clone and SYS_vfork find the same state
 *                                   as without gputap
 *
 * Other numbers cost four comparisons and a jump. Until gputap's constructor has looked up the next
 * library's syscall(), gt_exec_call_kernel() makes the system call instead. May run wherever a
 * system call is allowed.
 * Never here: locks, malloc, thread-local storage other than errno. */
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/seccomp.h"
#include "core/thread.h"

enum { ERRNO_MOST = 4095 };

#define FROM_STUB __attribute__((visibility("hidden"), used))

FROM_STUB GT_AT_START long (*gt_exec_next_syscall)(long, ...);
FROM_STUB long gt_exec_by_number(long number, long a, long b, long c, long d, long e);
FROM_STUB long gt_exec_call_kernel(long number, long a, long b, long c, long d, long e, long f);

__attribute__((constructor)) static void find_next_syscall(void)
{
	*(void **)&gt_exec_next_syscall = dlsym(RTLD_NEXT, "syscall");
}

static long call_seen(long number, long a, long b, long c, long d, long e)
{
	long result;

	gt_seccomp_before(number, (unsigned long)a, (unsigned long)b);
	result = gt_exec_next_syscall ? gt_exec_next_syscall(number, a, b, c, d, e, 0L)
				      : gt_exec_call_kernel(number, a, b, c, d, e, 0);
	gt_seccomp_after(number, (unsigned long)a, (unsigned long)b, result);
	return result;
}

/* in exec.c; the C library declares it since glibc 2.34 */
int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags);

long gt_exec_by_number(long number, long a, long b, long c, long d, long e)
{
	if (number == SYS_prctl || number == SYS_seccomp)
		return call_seen(number, a, b, c, d, e);
	if (number == SYS_execve)
		return execve((const char *)a, (char *const *)b, (char *const *)c);
	return execveat((int)a, (const char *)b, (char *const *)c, (char *const *)d, (int)e);
}

#if defined(__x86_64__)
static_assert(SYS_execve == 59 && SYS_execveat == 322 && SYS_prctl == 157 && SYS_seccomp == 317,
	      "the stub contains these numbers");
__asm__(".text\n"
	".p2align 4\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	cmp $59, %rdi\n"
	"	je gt_exec_by_number\n"
	"	cmp $322, %rdi\n"
	"	je gt_exec_by_number\n"
	"	cmp $157, %rdi\n"
	"	je gt_exec_by_number\n"
	"	cmp $317, %rdi\n"
	"	je gt_exec_by_number\n"
	"	mov gt_exec_next_syscall(%rip), %r11\n"
	"	test %r11, %r11\n"
	"	je gt_exec_call_kernel\n"
	"	jmp *%r11\n"
	"	.cfi_endproc\n"
	".size syscall, . - syscall\n");

static long enter_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result = number;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static_assert(SYS_execve == 221 && SYS_execveat == 281 && SYS_prctl == 167 && SYS_seccomp == 277,
	      "the stub contains these numbers");
__asm__(".text\n"
	".p2align 4\n"
	".globl syscall\n"
	".type syscall, %function\n"
	"syscall:\n"
	"	.cfi_startproc\n"
	"	hint #34\n" /* bti c */
	"	cmp x0, #221\n"
	"	b.eq 1f\n"
	"	cmp x0, #281\n"
	"	b.eq 1f\n"
	"	cmp x0, #167\n"
	"	b.eq 1f\n"
	"	cmp x0, #277\n"
	"	b.eq 1f\n"
	"	adrp x16, gt_exec_next_syscall\n"
	"	ldr x16, [x16, :lo12:gt_exec_next_syscall]\n"
	"	cbz x16, 2f\n"
	"	br x16\n"
	"1:	b gt_exec_by_number\n"
	"2:	b gt_exec_call_kernel\n"
	"	.cfi_endproc\n"
	".size syscall, . - syscall\n");

static long enter_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
			 x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
			 x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#endif

long gt_exec_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	long result = enter_kernel(number, a, b, c, d, e, f);

	if (result >= 0 || result < -ERRNO_MOST)
		return result;
	errno = (int)-result;
	return -1;
}
