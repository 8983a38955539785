/* SPDX-License-Identifier: MIT */
/* The code that gt_inject() copies into another process (inject_job.h). Written in assembler,
 * because a compiler may add what does not exist there: calls of memcpy(), constants in another
 * section, stack protectors, a sanitizer's checks. Position-independent; %rbx is the job.
 * In a read-only section, because this process never executes it. */
#include <asm/unistd.h>

#include "collector/inject_job.h"

#define RTLD_NOW       2
#define PR_SET_NAME    15
#define MFD_CLOEXEC    1
#define SIG_UNBLOCK    1
#define SIGNAL_BYTES   8

	.section .rodata, "a", %progbits
	.globl gt_inject_code, gt_inject_back, gt_inject_restore, gt_inject_code_end
	.hidden gt_inject_code, gt_inject_back, gt_inject_restore, gt_inject_code_end
	.p2align 4

/* void *worker(struct gt_inject_job *): the worker thread. All signals are blocked. */
gt_inject_code:
	push %rbx
	push %rbp
	push %r12
	mov %rdi, %rbx

	/* The program may have changed rounding or unmasked exceptions; a new thread inherits it. */
	fninit
	ldmxcsr GT_JOB_AT_MXCSR(%rbx)

	call *GT_JOB_AT_SELF(%rbx)
	mov %rax, %rdi
	call *GT_JOB_AT_DETACH(%rbx)

	mov $__NR_prctl, %eax
	mov $PR_SET_NAME, %edi
	lea GT_JOB_AT_NAME(%rbx), %rsi
	syscall
	mov $__NR_gettid, %eax
	syscall
	mov %eax, GT_JOB_AT_TID(%rbx)

	mov $GT_JOB_START, %r12d
	call wait_while
	je abandoned

	cmpl $0, GT_JOB_AT_NEEDS_FILE(%rbx)
	je load
	mov $__NR_memfd_create, %eax
	lea GT_JOB_AT_PATH(%rbx), %rdi
	mov $MFD_CLOEXEC, %esi
	syscall
	mov %eax, GT_JOB_AT_FD(%rbx)
	mov $GT_JOB_WANTS_FILE, %r12d
	mov %r12d, GT_JOB_AT_STATE(%rbx)
	call wait_while
	je close_file

load:
	movl $GT_JOB_LOADING, GT_JOB_AT_STATE(%rbx)
	lea GT_JOB_AT_PATH(%rbx), %rdi
	mov $RTLD_NOW, %esi
	call *GT_JOB_AT_DLOPEN(%rbx)
	mov %rax, %rbp
	test %rax, %rax
	jnz loaded
	movl $GT_JOB_NOT_LOADED, GT_JOB_AT_FAILED(%rbx)
	call *GT_JOB_AT_DLERROR(%rbx)
	test %rax, %rax
	jz close_file
	xor %ecx, %ecx
copy_error:
	mov (%rax, %rcx), %dl
	test %dl, %dl
	jz close_file
	mov %dl, GT_JOB_AT_ERROR(%rbx, %rcx)
	inc %ecx
	cmp $(GT_JOB_ERROR_BYTES - 1), %ecx
	jb copy_error
	jmp close_file

loaded:
	cmpb $0, GT_JOB_AT_FUNCTION(%rbx)
	je close_file
	mov %rbp, %rdi
	lea GT_JOB_AT_FUNCTION(%rbx), %rsi
	call *GT_JOB_AT_DLSYM(%rbx)
	test %rax, %rax
	jnz found
	movl $GT_JOB_NO_FUNCTION, GT_JOB_AT_FAILED(%rbx)
	jmp close_file
found:
	movl $GT_JOB_CALLING, GT_JOB_AT_STATE(%rbx)
	lea GT_JOB_AT_ARGUMENT(%rbx), %rdi
	call *%rax
	mov %eax, GT_JOB_AT_ANSWER(%rbx)

close_file:
	cmpl $0, GT_JOB_AT_NEEDS_FILE(%rbx)
	je done
	mov $__NR_close, %eax
	mov GT_JOB_AT_FD(%rbx), %edi
	syscall
done:
	mov $GT_JOB_DONE, %r12d
	mov %r12d, GT_JOB_AT_STATE(%rbx)
	call wait_while

	/* A jump, not a call: munmap() returns into libc, because this code is gone by then. */
	mov GT_JOB_AT_BEGIN(%rbx), %rdi
	mov GT_JOB_AT_BYTES(%rbx), %rsi
	mov GT_JOB_AT_MUNMAP(%rbx), %rax
	pop %r12
	pop %rbp
	pop %rbx
	jmp *%rax

/* gputap was killed. The stopped thread may still use the code and the stack: leave them. */
abandoned:
	xor %eax, %eax
	pop %r12
	pop %rbp
	pop %rbx
	ret

/* Wait as long as the state is %r12d, at most GT_JOB_PAUSES pauses. Flags: equal if it still is. */
wait_while:
	mov $GT_JOB_PAUSES, %ebp
next_look:
	cmp %r12d, GT_JOB_AT_STATE(%rbx)
	jne looked
	mov $__NR_nanosleep, %eax
	lea GT_JOB_AT_PAUSE(%rbx), %rdi
	xor %esi, %esi
	syscall
	dec %ebp
	jnz next_look
	cmp %r12d, GT_JOB_AT_STATE(%rbx)
looked:
	ret

/* pthread_create() returns here, in the thread that gputap stopped; all signals are blocked. The
 * thread signals itself, which only gputap sees: a traced thread stops before a signal is
 * delivered, and gputap discards the signal. The signal's default action is to do nothing. */
gt_inject_back:
	mov %eax, GT_JOB_AT_CREATED(%rbx)
	mov $__NR_rt_sigprocmask, %eax
	mov $SIG_UNBLOCK, %edi
	lea GT_JOB_AT_SIGNALS(%rbx), %rsi
	xor %edx, %edx
	mov $SIGNAL_BYTES, %r10d
	syscall
	mov $__NR_getpid, %eax
	syscall
	mov %eax, %ebp
	mov $__NR_gettid, %eax
	syscall
	mov %eax, %esi
	mov %ebp, %edi
	mov GT_JOB_AT_SIGNAL(%rbx), %edx
	mov $__NR_tgkill, %eax
	syscall
	/* Reached only if gputap was killed: the thread restores itself. */
	lea (GT_JOB_TO_FRAME + 8)(%rbx), %rsp
gt_inject_restore:
	mov $__NR_rt_sigreturn, %eax
	syscall
gt_inject_code_end:

	.section .note.GNU-stack, "", %progbits
