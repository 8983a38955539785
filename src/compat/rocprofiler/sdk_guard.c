/* SPDX-License-Identifier: MIT */
/* Calls a function that may throw although no caller can catch: a buffer's callback in a gputap
 * thread.
 *
 *   sdk_guarded() ─► call, whose frame refers to "sdk_guard_personality" ─► the function
 *                      │                                                          throws │
 *                      └◄─ "thrown:" ◄── personality: a handler is here ◄── unwinder ◄───┘
 *
 * This is a hand-written version of the code that a C++ compiler generates for catch (...).
 * Compiled C++ would make this library need libstdc++ and libgcc_s, even in programs that use
 * neither. When code throws, both libraries are already loaded, so their functions are looked up at
 * that time. */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <unwind.h>

#include "sdk.h"

#if defined(__x86_64__)

static _Thread_local struct _Unwind_Exception *caught __attribute__((tls_model("initial-exec")));

extern const char sdk_guard_thrown[] __attribute__((visibility("hidden")));
int sdk_guard_call(void (*fn)(void *), void *data) __attribute__((visibility("hidden")));
_Unwind_Reason_Code sdk_guard_personality(int version, _Unwind_Action actions,
					  _Unwind_Exception_Class class,
					  struct _Unwind_Exception *exception,
					  struct _Unwind_Context *context)
	__attribute__((visibility("hidden"), used));

/* The unwinder restores rbp and discards all data that the function left on the stack. */
__asm__(".text\n"
	".hidden sdk_guard_call, sdk_guard_thrown, sdk_guard_personality\n"
	".globl sdk_guard_call, sdk_guard_thrown\n"
	".type sdk_guard_call, @function\n"
	"sdk_guard_call:\n"
	"	.cfi_startproc\n"
	/* 4 bytes, relative to their own address */
	"	.cfi_personality 0x1b, sdk_guard_personality\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	mov %rdi, %rax\n"
	"	mov %rsi, %rdi\n"
	"	call *%rax\n"
	"	xor %eax, %eax\n"
	"	pop %rbp\n"
	"	.cfi_remember_state\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_restore_state\n"
	"sdk_guard_thrown:\n"
	"	mov $1, %eax\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size sdk_guard_call, . - sdk_guard_call\n");

/* Look up a function in a mapped library. A library that is not mapped yet would be useless
 * here. */
static void *look_up(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD),
	     *found = handle ? dlsym(handle, name) : NULL;

	if (handle)
		dlclose(handle); /* the code that threw keeps the library mapped */
	return found;
}

_Unwind_Reason_Code sdk_guard_personality(int version, _Unwind_Action actions,
					  _Unwind_Exception_Class class,
					  struct _Unwind_Exception *exception,
					  struct _Unwind_Context *context)
{
	void (*set_ip)(struct _Unwind_Context *, uintptr_t);

	(void)class;
	/* the thread is cancelled or exits */
	if (version != 1 || actions & _UA_FORCE_UNWIND)
		return _URC_CONTINUE_UNWIND;
	*(void **)&set_ip = look_up("libgcc_s.so.1", "_Unwind_SetIP");
	if (!set_ip)
		*(void **)&set_ip = dlsym(RTLD_DEFAULT, "_Unwind_SetIP");
	if (!set_ip)
		return _URC_CONTINUE_UNWIND;
	if (actions & _UA_SEARCH_PHASE)
		return _URC_HANDLER_FOUND;
	if (!(actions & _UA_HANDLER_FRAME))
		return _URC_CONTINUE_UNWIND;
	caught = exception;
	set_ip(context, (uintptr_t)sdk_guard_thrown);
	return _URC_INSTALL_CONTEXT;
}

/* End a catch block. For a C++ exception, call the C++ library, which counts exceptions. */
static void end_catch(struct _Unwind_Exception *exception)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
	static const char *const classes[] = {"GNUCC++", "CLNGC++"};
	char class[sizeof exception->exception_class + 1] = "";
	void *(*begin)(void *);
	void (*end)(void);

	/* the first letter is in the highest byte */
	for (size_t i = 0; i < sizeof exception->exception_class; i++)
		class[i] = (char)(exception->exception_class >> (56 - 8 * i));
	for (int i = 0; i < 2; i++) {
		if (memcmp(class, classes[i], strlen(classes[i])))
			continue;
		*(void **)&begin = look_up(libraries[i], "__cxa_begin_catch");
		*(void **)&end = look_up(libraries[i], "__cxa_end_catch");
		if (begin && end) {
			begin(exception);
			end();
			return;
		}
	}
	if (exception->exception_cleanup)
		exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
}

bool sdk_guarded(void (*fn)(void *), void *data)
{
	if (!sdk_guard_call(fn, data))
		return true;
	end_catch(caught);
	return false;
}

/* NEEDSWORK: implemented for x86-64 only, the only architecture of upstream's library; on other
 * architectures an exception ends the process */
#else

bool sdk_guarded(void (*fn)(void *), void *data)
{
	fn(data);
	return true;
}

#endif
