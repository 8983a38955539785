/* SPDX-License-Identifier: MIT */
/* A way back for a thread whose tracer was killed: a frame as the kernel builds it for a signal
 * handler. rt_sigreturn() with it restores registers, extended registers and the signal mask. */
#ifndef GPUTAP_COLLECTOR_INJECT_FRAME_H
#define GPUTAP_COLLECTOR_INJECT_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum { GT_INJECT_FRAME_BYTES = 16 * 1024 };

struct gt_inject_frame_input {
	const struct user_regs_struct *registers; /* may be those of an interrupted call */
	const uint8_t *state;                     /* NT_X86_XSTATE */
	size_t state_bytes;
	uint64_t mask; /* blocked signals */
};

/**
 * gt_inject_frame_build() - build the frame
 * @at: address of the frame in the process; a multiple of 64
 * @back: address of code that calls rt_sigreturn(); the first word of the frame, for `ret`
 * Return: number of bytes at @out; 0: the extended registers do not fit.
 */
size_t gt_inject_frame_build(const struct gt_inject_frame_input *in, uintptr_t at, uintptr_t back,
			     uint8_t out[GT_INJECT_FRAME_BYTES]);

#endif
