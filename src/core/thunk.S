/* SPDX-License-Identifier: MIT */
/* Assembler macros for generated taps; generated/<domain>_thunks.S includes this file.
 *
 * A tap is a function of the runtime's prototype, and there is one per operation and instance:
 *
 *   tap:  load the services of the tap's state (struct gt_tap)
 *         0 ─► jump to the real function
 *         otherwise ─► put the state's address into a free argument register, and jump to the
 *                      operation's function for these services, which all instances share
 *
 * The register is that of one more argument after the operation's own, so the shared functions are
 * plain C (gen/emit_thunks.py). It is a floating-point register if the arguments use all integer
 * registers, because an argument on the stack would need a frame.
 *
 * Written in assembler, because a compiler copies arguments on the stack into saved registers and
 * back, in every call, even an unselected one. These taps move no argument.
 *
 * The stack pointer never changes, so one unwind entry covers all taps of a domain. A tap of
 * x86-64 has 31 bytes, or up to 52 with more paths. */

/* Paths: where a tap with services jumps. The values are those of enum gt_service (core/tap.h).
 *   plain   NOTIFY: gt_<domain>_notified_<f>; otherwise gt_<domain>_recorded_<f>
 *   order   NOTIFY: as above; ORDER without NOTIFY: gt_<domain>_ordered_<f>; otherwise recorded
 *   direct  WRAP with or without ACTIVITY: the wrap; ACTIVITY alone: the real function; otherwise
 *           as for plain */
#define GT_NOTIFY       8
#define GT_ORDER        16
#define GT_WRAP         2
#define GT_NOT_ACTIVITY 0xfffffffb /* all services except ACTIVITY */

.macro gt_begin_taps
	.text
	.p2align 4
	.cfi_startproc
.endm

.macro gt_end_taps
	.cfi_endproc
	.section .note.GNU-stack, "", %progbits
.endm

/* An array of int32_t: each tap, as the distance from the element (gt_table.functions). */
.macro gt_begin_functions name
	.section .rodata, "a", %progbits
	.p2align 2
	.globl \name
	.hidden \name
	.type \name, %object
\name:
.endm

.macro gt_end_functions name
	.size \name, . - \name
.endm

.macro gt_function domain, f, instance, offset, path, kind, register
	.long gt_\domain\()_tap\instance\()_\f - .
.endm

#if defined(__x86_64__)

#define GT_REGISTER(x86, arm) x86

/* Pass the state's address in @tap on as the hidden argument. */
.macro gt_pass tap, kind, register
	.ifc \kind, float
	movq %\tap, %\register
	.endif
.endm

.macro gt_tap_test domain, f, offset, path, kind, register, tap
	leaq gt_\domain\()_taps+\offset\()(%rip), %\tap
	movl 8(%\tap), %eax
	.ifc \path, direct
	andl $GT_NOT_ACTIVITY, %eax
	cmpl $GT_WRAP, %eax
	jne 3f
	gt_pass \tap, \kind, \register
	.ifc \kind, word
	jmp gt_\domain\()_wrap_\f
	.else
	jmp gt_\domain\()_direct_\f
	.endif
3:
	.endif
	testl %eax, %eax
	jne 1f
	jmp *(%\tap)
1:	gt_pass \tap, \kind, \register
	.ifc \path, order
	testb $GT_NOTIFY | GT_ORDER, %al
	jne 2f
	jmp gt_\domain\()_recorded_\f
2:	testb $GT_NOTIFY, %al
	jne gt_\domain\()_notified_\f
	jmp gt_\domain\()_ordered_\f
	.else
	testb $GT_NOTIFY, %al
	jne gt_\domain\()_notified_\f
	jmp gt_\domain\()_recorded_\f
	.endif
.endm

.macro gt_tap_body domain, f, offset, path, kind, register
	.ifc \kind, word
	gt_tap_test \domain, \f, \offset, \path, \kind, \register, \register
	.else
	gt_tap_test \domain, \f, \offset, \path, \kind, \register, r11
	.endif
.endm

#elif defined(__aarch64__)

#define GT_REGISTER(x86, arm) arm

.macro gt_pass kind, register
	.ifc \kind, word
	mov \register, x16
	.else
	fmov \register, x16
	.endif
.endm

.macro gt_tap_body domain, f, offset, path, kind, register
	adrp x16, gt_\domain\()_taps+\offset
	add x16, x16, :lo12:gt_\domain\()_taps+\offset
	ldr w17, [x16, #8]
	.ifc \path, direct
	and w17, w17, #GT_NOT_ACTIVITY
	cmp w17, #GT_WRAP
	b.ne 3f
	gt_pass \kind, \register
	.ifc \kind, word
	b gt_\domain\()_wrap_\f
	.else
	b gt_\domain\()_direct_\f
	.endif
3:
	.endif
	cbnz w17, 1f
	ldr x16, [x16]
	br x16
1:	gt_pass \kind, \register
	tst w17, #GT_NOTIFY
	b.ne 2f
	.ifc \path, order
	tst w17, #GT_ORDER
	b.ne 3f
	.endif
	b gt_\domain\()_recorded_\f
2:	b gt_\domain\()_notified_\f
	.ifc \path, order
3:	b gt_\domain\()_ordered_\f
	.endif
.endm

#else
#error "taps are written for x86-64 and AArch64"
#endif

.macro gt_thunk domain, f, instance, offset, path, kind, register
	.p2align 4
	.globl gt_\domain\()_tap\instance\()_\f
	.hidden gt_\domain\()_tap\instance\()_\f
	.type gt_\domain\()_tap\instance\()_\f, %function
gt_\domain\()_tap\instance\()_\f:
	gt_tap_body \domain, \f, \offset, \path, \kind, \register
	.size gt_\domain\()_tap\instance\()_\f, . - gt_\domain\()_tap\instance\()_\f
.endm
