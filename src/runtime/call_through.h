/* SPDX-License-Identifier: MIT */
/* An assembler wrapper (a front) around another function. The front calls a function of gputap
 * first, then jumps to the real function as if the program had called it directly.
 *
 *   program ─► front ─► called()          only while *settled is 0, if there is such a byte
 *                └────► jump to *real     same arguments, same stack, the program's return address
 *
 * The registers of the first three arguments and the struct-return register are preserved across
 * the call. The real function may therefore have at most three arguments, and no floating-point
 * argument. C cannot express this, because the prototype of the real function is not known, and
 * dlsym() inspects its return address. */
#ifndef GPUTAP_RUNTIME_CALL_THROUGH_H
#define GPUTAP_RUNTIME_CALL_THROUGH_H

/* Expand to strings for __asm__().
 * @front: name of the function
 * @unless: GT_UNLESS_SETTLED(byte), or ""
 * @called: a function of this library, void (*)(void)
 * @real: assembler expression for the address of a void *
 * All are hidden symbols of this library. */
#if defined(__x86_64__)
#define GT_UNLESS_SETTLED(byte)            \
	"	cmpb $0, " byte "(%rip)\n" \
	"	jne 1f\n"
#define GT_CALL_THROUGH(front, unless, called, real)    \
	".p2align 4\n"                                  \
	".hidden " front "\n"                           \
	".type " front ", @function\n" front ":\n"      \
	"	.cfi_startproc\n" unless "	push %rdi\n" \
	"	.cfi_adjust_cfa_offset 8\n"                   \
	"	push %rsi\n"                                  \
	"	.cfi_adjust_cfa_offset 8\n"                   \
	"	push %rdx\n"                                  \
	"	.cfi_adjust_cfa_offset 8\n"                   \
	"	call " called "\n"                      \
	"	pop %rdx\n"                                   \
	"	.cfi_adjust_cfa_offset -8\n"                  \
	"	pop %rsi\n"                                   \
	"	.cfi_adjust_cfa_offset -8\n"                  \
	"	pop %rdi\n"                                   \
	"	.cfi_adjust_cfa_offset -8\n"                  \
	"1:	jmp *" real "(%rip)\n"                  \
	"	.cfi_endproc\n"                               \
	".size " front ", .-" front "\n"
#elif defined(__aarch64__)
#define GT_UNLESS_SETTLED(byte)                    \
	"	adrp x16, " byte "\n"              \
	"	ldrb w16, [x16, :lo12:" byte "]\n" \
	"	cbnz w16, 1f\n"
#define GT_CALL_THROUGH(front, unless, called, real)                                     \
	".p2align 4\n"                                                                   \
	".hidden " front "\n"                                                            \
	".type " front ", %function\n" front ":\n" unless "	stp x29, x30, [sp, #-48]!\n" \
	"	stp x0, x1, [sp, #16]\n"                                                       \
	"	stp x2, x8, [sp, #32]\n"                                                       \
	"	bl " called "\n"                                                         \
	"	ldp x2, x8, [sp, #32]\n"                                                       \
	"	ldp x0, x1, [sp, #16]\n"                                                       \
	"	ldp x29, x30, [sp], #48\n"                                                     \
	"1:	adrp x16, " real "\n"                                                    \
	"	ldr x16, [x16, :lo12:" real "]\n"                                        \
	"	br x16\n"                                                                      \
	".size " front ", .-" front "\n"
#endif

#endif
