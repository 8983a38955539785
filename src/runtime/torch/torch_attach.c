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
 *       both. An observer that was built on this machine precedes the one that gputap's wheel has
 *       for this version of torch:
 *         site-packages/torch/lib/libtorch_cpu.so     site-packages/gputap/_shim/observer.so
 *                                                     site-packages/gputap/_shim/torch-2.13/...
 *       For a libtorch elsewhere, the wheel of this library (lib/libgputap.so.0) has one:
 *         lib/python3.12/site-packages/gputap/_shim/torch-2.13/observer.so
 *   4.  The observer compares torch's version with the version that the observer was built for
 *       before using any C++ of torch.
 *
 *
 * In a program that gputap was attached to (core/late.h), the attach hook does steps 3 and 4 if
 * libtorch is mapped, and the observer is removed from torch at the end of the session.
 *
 * Never here: output. An event of the capture gives the reason if operators are missing. */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/late.h"
#include "core/recording.h"
#include "runtime/attach_missing.h"
#include "runtime/call_through.h"
#include "runtime/torch_fronts.h"
#include "gputap/gputap.h"

#define HIDDEN __attribute__((visibility("hidden"), used))

/* Not static, because the assembler below uses these symbols. The search ends once gt_torch_settled
 * is nonzero. */
HIDDEN _Atomic uint8_t gt_torch_settled;
HIDDEN void *gt_torch_real[GT_TORCH_FRONTS];
HIDDEN void gt_torch_meet(void);

enum { REFUSED = 2 }; /* gputap_torch_attach(): the observer was built for another torch */

/* Write the path of the library that contains @address, without its last @parts parts. Return false
 * if the path is unknown. */
static bool find_folder(const void *address, int parts, char *path, size_t size)
{
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname || strlen(info.dli_fname) >= size)
		return false;
	strcpy(path, info.dli_fname);
	for (int i = 0; i < parts; i++) {
		char *end = strrchr(path, '/');

		if (!end)
			return false;
		*end = '\0';
	}
	return true;
}

/* Return the version of the torch that contains a function: 2 << 8 | 13, or 0 if it is unknown. The
 * program may have opened torch without RTLD_GLOBAL. */
static unsigned read_torch_version(const void *torch)
{
	uint64_t (*read_version)(void) = NULL;
	void *library;
	Dl_info info;

	if (!dladdr(torch, &info) || !info.dli_fname)
		return 0;
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return 0;
	*(void **)&read_version = dlsym(library, "aoti_torch_abi_version");
	dlclose(library); /* it stays mapped */
	return read_version ? (unsigned)(read_version() >> 48) : 0;
}

/* removes the observer's callbacks from torch; NULL: no observer was loaded late */
static void (*detach_observer)(void);

/* Start the observer in a program that gputap was attached to. Return as attach_observer(). */
static int attach_late(void *library, void *torch_version, int shapes)
{
	void *const functions[] = {(void *)(uintptr_t)gputap_range_source,
				   (void *)(uintptr_t)gputap_range_begin,
				   (void *)(uintptr_t)gputap_range_end, torch_version};
	int (*attach)(void *const functions[4], int shapes);

	*(void **)&attach = dlsym(library, "gputap_torch_attach_late");
	*(void **)&detach_observer = dlsym(library, "gputap_torch_detach");
	return attach && detach_observer ? attach(functions, shapes) : REFUSED;
}

/* Load the observer at this path. @torch: torch's function that returns its version. Return what
 * gputap_torch_attach() returns, or -1 without an observer. */
static int attach_observer(const char *path, const void *torch)
{
	const char *shapes = getenv("GPUTAP_TORCH_SHAPES");
	int (*attach)(int shapes), with_shapes = shapes && !strcmp(shapes, "1");
	void *library;

	/* RTLD_LAZY, because another release of torch may lack the C++ functions, which are then
	 * not called */
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (library && gt_is_late())
		return attach_late(library, (void *)(uintptr_t)torch, with_shapes);
	*(void **)&attach = library ? dlsym(library, "gputap_torch_attach") : NULL;
	return attach ? attach(with_shapes) : -1;
}

/* Load the observer for this version of torch in the folder that a pattern describes. Return as
 * attach_observer(). */
static int attach_version(const char *pattern, unsigned version, const void *torch)
{
	char path[PATH_MAX];
	int attached = -1;
	glob_t found;

	if (!version || snprintf(path, sizeof path, "%s/gputap/_shim/torch-%u.%u/observer.so",
				 pattern, version >> 8, version & 0xff) >= (int)sizeof path)
		return -1;
	if (glob(path, GLOB_NOSORT, NULL, &found))
		return -1;
	for (size_t i = 0; i < found.gl_pathc && (attached < 0 || attached >= REFUSED); i++)
		attached = attach_observer(found.gl_pathv[i], torch);
	globfree(&found);
	return attached;
}

/* Load the observer that fits in a folder of Python's packages. Return as attach_observer(). */
static int attach_site(const char *site, const void *torch, unsigned version)
{
	char path[PATH_MAX];
	int built = -1, prebuilt;

	if (snprintf(path, sizeof path, "%s/gputap/_shim/observer.so", site) < (int)sizeof path)
		built = attach_observer(path, torch);
	if (built >= 0 && built < REFUSED)
		return built;
	prebuilt = attach_version(site, version, torch);
	return prebuilt < 0 ? built : prebuilt; /* REFUSED: no observer of the wheel either */
}

/* Search the folders in PYTHONPATH, which Python searches before its own. Only in a program that
 * gputap was attached to: elsewhere `import torch` loads the observer. */
static int attach_python_path(const void *torch, unsigned version)
{
	const char *at = gt_is_late() ? getenv("PYTHONPATH") : NULL;
	char site[PATH_MAX - 128];
	int attached = -1;

	for (; at && *at && (attached < 0 || attached >= REFUSED); at += *at == ':') {
		const size_t bytes = strcspn(at, ":");

		if (bytes && bytes < sizeof site) {
			memcpy(site, at, bytes);
			site[bytes] = '\0';
			attached = attach_site(site, torch, version);
		}
		at += bytes;
	}
	return attached;
}

/* Load the first observer that fits, next to torch or of this library's wheel. Return as
 * attach_observer(). */
static int attach_found(const void *torch, unsigned version)
{
	char site[PATH_MAX - 128], path[PATH_MAX];
	int attached = attach_python_path(torch, version);

	if (attached >= 0 && attached < REFUSED)
		return attached;
	if (find_folder(torch, 3, site, sizeof site)) { /* without torch/lib/libtorch_cpu.so */
		attached = attach_site(site, torch, version);
		if (attached >= 0)
			return attached;
	}
	/* gputap run may have loaded this library through a symbolic link */
	if (find_folder(&gt_torch_settled, 0, site, sizeof site) && realpath(site, path) &&
	    strlen(path) + 32 < sizeof site) {
		strcpy(site, path);
		strcpy(strrchr(site, '/'), "/python3*/site-packages");
		attached = attach_version(site, version, torch);
	}
	return attached;
}

static void load_observer(const void *torch)
{
	const char *given = getenv("GPUTAP_TORCH_OBSERVER");
	unsigned version = read_torch_version(torch);
	int attached = given ? attach_observer(given, torch) : attach_found(torch, version);
	char why[256];

	if (attached >= 0 && attached < REFUSED)
		return;
	if (attached >= REFUSED)
		snprintf(why, sizeof why,
			 "torch's operators: the observer was built for another version of torch "
			 "than %u.%u; pip install --force-reinstall ./torch",
			 version >> 8, version & 0xff);
	else
		snprintf(why, sizeof why,
			 "torch's operators: no observer for torch %u.%u in %s; install a gputap "
			 "that has one into torch's environment (pip install gputap), build one "
			 "(pip install ./torch), or set GPUTAP_TORCH_OBSERVER",
			 version >> 8, version & 0xff,
			 given ? given : "gputap/_shim next to torch");
	gputap_attach_missing(why);
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

/* Load the observer into a program that runs already, with or without Python. */
static void attach_running(void)
{
	void *torch =
		are_operators_wanted() ? dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *version = torch ? dlsym(torch, "aoti_torch_abi_version") : NULL;

	if (version)
		load_observer(version);
	if (torch)
		dlclose(torch); /* it stays mapped */
}

static void detach_running(void)
{
	if (detach_observer)
		detach_observer();
}

GT_PROVIDE(gt_late) = {.name = "torch", .attach = attach_running, .detach = detach_running};

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
