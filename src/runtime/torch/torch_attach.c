/* SPDX-License-Identifier: MIT */
/* Loads the observer of operators (torch/) into programs that use libtorch without Python. With
 * Python, `import torch` loads the observer.
 *
 *   1a. If the program is linked with libtorch, the dynamic linker maps and initialises libtorch,
 *       then calls our constructor. The constructor is called last because gputap precedes all
 *       other libraries in LD_PRELOAD.
 *   1b. If the program opens libtorch, or a library that needs libtorch, the first operator or
 *       range in any thread passes through a gputap function (runtime/torch_fronts.h). Operators
 *       in other threads do not wait meanwhile.
 *   2.  If the function that returns torch's version does not exist, the program does not use
 *       libtorch. If Python's part of torch is mapped, `import torch` does the rest, unless it is
 *       disabled.
 *   3.  The observer is at the path in GPUTAP_TORCH_OBSERVER, or next to torch, where pip installs
 *       both:
 *         site-packages/torch/lib/libtorch_cpu.so     site-packages/gputap/_shim/observer.so
 *   4.  The observer compares torch's version with the version that the observer was built for
 *       before using any C++ of torch.
 *
 * Never here: output. An event of the capture gives the reason if operators are missing. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"
#include "runtime/call_through.h"
#include "runtime/torch_fronts.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

/* Not static, because the assembler below uses these symbols. The search ends once gt_torch_settled
 * is nonzero. */
HIDDEN _Atomic uint8_t gt_torch_settled;
HIDDEN void *gt_torch_real[GT_TORCH_FRONTS];
HIDDEN void gt_torch_meet(void);

static const char BESIDE[] = "gputap/_shim/observer.so";

/* Find "…/site-packages/gputap/_shim/observer.so", given
 * "…/site-packages/torch/lib/libtorch_cpu.so". */
static bool find_observer(const void *torch, char *path, size_t size)
{
	const char *given = getenv("GPUTAP_TORCH_OBSERVER");
	char *end;
	Dl_info info;

	if (given) {
		snprintf(path, size, "%s", given);
		return true;
	}
	if (!dladdr(torch, &info) || !info.dli_fname ||
	    strlen(info.dli_fname) + sizeof BESIDE > size)
		return false;
	strcpy(path, info.dli_fname);
	for (int i = 0; i < 3; i++) { /* remove the file name, lib, torch */
		end = strrchr(path, '/');
		if (!end)
			return false;
		*end = '\0';
	}
	strcpy(end, "/");
	strcat(end, BESIDE);
	return true;
}

static void note_refusal(const char *why)
{
	gt_event_write(gt_thread_get(), GT_EVENT_TOOL, GT_DOMAIN_RANGES, 0, why);
}

static void load_observer(const void *torch)
{
	const char *shapes = getenv("GPUTAP_TORCH_SHAPES");
	char path[PATH_MAX];
	int (*attach)(int shapes);
	void *library;

	if (!find_observer(torch, path, sizeof path))
		return;
	/* RTLD_LAZY, because another release of torch may lack the C++ functions, which are then
	 * not called */
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	*(void **)&attach = library ? dlsym(library, "gputap_torch_attach") : NULL;
	if (!attach)
		note_refusal("torch's operators: no gputap/_shim/observer.so next to torch; pip "
			     "install ./torch, or set GPUTAP_TORCH_OBSERVER");
	else if (attach(shapes && !strcmp(shapes, "1")) > 1)
		note_refusal("torch's operators: the observer was built for another version of "
			     "torch; pip install --force-reinstall ./torch");
}

static bool are_operators_wanted(void)
{
	const char *wanted = getenv("GPUTAP_TORCH_OPERATORS");

	return gt_recording_is_run() && !(wanted && !strcmp(wanted, "0"));
}

/* Return false if another thread, or an outer call in this thread, has already claimed the
 * attachment. */
static bool claim_attach(void)
{
	static atomic_flag taken = ATOMIC_FLAG_INIT;

	return !atomic_flag_test_and_set(&taken);
}

static bool is_pythons(void)
{
	void *python = dlopen("libtorch_python.so", RTLD_LAZY | RTLD_NOLOAD);

	if (python)
		dlclose(python);
	return python != NULL;
}

/* Attach at the program's first operator or range, if the program has opened libtorch. */
void gt_torch_meet(void)
{
	int saved = errno;

	if (!claim_attach())
		return;
	if (are_operators_wanted() && !is_pythons())
		load_observer(gt_torch_real[0] ? gt_torch_real[0] : gt_torch_real[1]);
	atomic_store_explicit(&gt_torch_settled, 1, memory_order_release);
	errno = saved;
}

__attribute__((constructor)) static void start_torch_attach(void)
{
	const void *torch;

	gt_recording_init();
	if (!are_operators_wanted()) {
		atomic_store_explicit(&gt_torch_settled, 1, memory_order_relaxed);
		return;
	}
	torch = dlsym(RTLD_DEFAULT, "aoti_torch_abi_version");
	if (torch && claim_attach()) {
		load_observer(torch);
		atomic_store_explicit(&gt_torch_settled, 1, memory_order_release);
	}
}

#define FRONT(i)                                                                    \
	GT_CALL_THROUGH("gt_torch_front" #i, GT_UNLESS_SETTLED("gt_torch_settled"), \
			"gt_torch_meet", "gt_torch_real + 8 * " #i)
__asm__(".text\n" FRONT(0) FRONT(1));

/* Differences of addresses. They are computed in assembler, because they are not constant
 * expressions in C. */
__asm__(".section .rodata.gputap_attach, \"a\"\n"
	".balign 8\n"
	".globl gputap_attach_ranges\n"
	".type gputap_attach_ranges, %object\n"
	"gputap_attach_ranges:\n"
	"	.quad 0x31304e4f52465447\n" /* GT_TORCH_FRONTS_MAGIC */
	"	.long gt_torch_front0 - gputap_attach_ranges\n"
	"	.long gt_torch_real - gputap_attach_ranges\n"
	"	.long gt_torch_front1 - gputap_attach_ranges\n"
	"	.long gt_torch_real + 8 - gputap_attach_ranges\n"
	".size gputap_attach_ranges, 24\n"
	".text\n");
static_assert(sizeof(struct gt_torch_fronts) == 24 && GT_TORCH_FRONTS == 2,
	      "the assembler above lays it out");
