/* SPDX-License-Identifier: MIT */
/* See inject_frame.h. The structs are those of the kernel's rt_sigframe (x86-64):
 *
 *   | address for `ret` | ucontext | ... | extended registers, 64-byte aligned, magic number |
 *
 * An interrupted system call is made again. If it had a time-out, the time-out starts anew, because
 * the kernel forgets its rest in rt_sigreturn(). */
#include "collector/inject_frame.h"

#include <asm/sigcontext.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
	RESTART_FIRST = 512, /* ERESTARTSYS, which user space never sees */
	RESTART_LAST = 516,  /* ERESTART_RESTARTBLOCK */
	INSTRUCTION_BYTES = 2,
	STATE_AT = 512,
	LEGACY_BYTES = 512,
	SOFTWARE_AT = 464,      /* struct _fpx_sw_bytes in the legacy part */
	USUAL_BYTES = 2696,     /* up to PKRU; AMX is behind that */
	NO_STACK_CHANGE = 0x7f, /* invalid flags: the kernel keeps the alternate stack */
	FLAGS = 7,              /* extended registers; ss is valid and restored */
};
#define AMX_FEATURES UINT64_C(0x60000)

/* The kernel's struct ucontext, whose signal mask is shorter than libc's. */
struct context {
	uint64_t flags, link;
	struct {
		uint64_t at;
		int32_t flags, pad;
		uint64_t bytes;
	} stack;
	struct sigcontext registers;
	uint64_t mask;
};

struct frame {
	uint64_t back;
	struct context context;
};

static_assert(sizeof(struct frame) <= STATE_AT, "the extended registers come behind it");

static void put_registers(const struct user_regs_struct *r, struct sigcontext *out)
{
	const long result = (long)r->rax;

	out->r8 = r->r8;
	out->r9 = r->r9;
	out->r10 = r->r10;
	out->r11 = r->r11;
	out->r12 = r->r12;
	out->r13 = r->r13;
	out->r14 = r->r14;
	out->r15 = r->r15;
	out->rdi = r->rdi;
	out->rsi = r->rsi;
	out->rbp = r->rbp;
	out->rbx = r->rbx;
	out->rdx = r->rdx;
	out->rax = r->rax;
	out->rcx = r->rcx;
	out->rsp = r->rsp;
	out->rip = r->rip;
	out->eflags = r->eflags;
	out->cs = (uint16_t)r->cs;
	out->ss = (uint16_t)r->ss;
	if ((long)r->orig_rax >= 0 && result <= -RESTART_FIRST && result >= -RESTART_LAST) {
		out->rax = r->orig_rax;
		out->rip -= INSTRUCTION_BYTES;
	}
}

size_t gt_inject_frame_build(const struct gt_inject_frame_input *in, uintptr_t at, uintptr_t back,
			     uint8_t out[GT_INJECT_FRAME_BYTES])
{
	struct frame f = {.back = back, .context.flags = FLAGS, .context.mask = in->mask};
	struct _fpx_sw_bytes software = {.magic1 = FP_XSTATE_MAGIC1};
	const uint32_t end = FP_XSTATE_MAGIC2;
	size_t bytes = in->state_bytes;
	uint64_t used, features;

	if (bytes < LEGACY_BYTES + sizeof(struct _header))
		return 0;
	memcpy(&features, in->state + SOFTWARE_AT, sizeof features); /* XCR0, by ptrace() */
	memcpy(&used, in->state + LEGACY_BYTES, sizeof used);
	/* the kernel refuses more bytes than the thread has, which has none for unused AMX */
	if (!(used & AMX_FEATURES)) {
		features &= ~AMX_FEATURES;
		bytes = bytes < USUAL_BYTES ? bytes : USUAL_BYTES;
	}
	if (STATE_AT + bytes + sizeof end > GT_INJECT_FRAME_BYTES)
		return 0;
	f.context.stack.flags = NO_STACK_CHANGE;
	put_registers(in->registers, &f.context.registers);
	f.context.registers.fpstate = (void *)(at + STATE_AT);
	software.extended_size = (uint32_t)(bytes + sizeof end);
	software.xfeatures = features;
	software.xstate_size = (uint32_t)bytes;
	memset(out, 0, STATE_AT);
	memcpy(out, &f, sizeof f);
	memcpy(out + STATE_AT, in->state, bytes);
	memcpy(out + STATE_AT + SOFTWARE_AT, &software, sizeof software);
	memcpy(out + STATE_AT + bytes, &end, sizeof end);
	return STATE_AT + bytes + sizeof end;
}
