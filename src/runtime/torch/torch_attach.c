/* SPDX-License-Identifier: MIT */
/* C++ programs that are linked with libtorch, without Python: the observer of operators (torch/) is
 * loaded into them, as Python's `import torch` does in others.
 *
 *   1. The dynamic linker has mapped and initialised what the program is linked with, and comes to
 *      our constructor, which stands before all of that in LD_PRELOAD and is therefore called last.
 *   2. A function of torch's that says its version is there, or this is no such program.
 *   3. The observer lies where GPUTAP_TORCH_OBSERVER says, or beside torch, where pip has put both:
 *        site-packages/torch/lib/libtorch_cpu.so     site-packages/gputap/_shim/observer.so
 *   4. The observer compares torch's version with the one that it was built for before it uses any
 *      C++ of torch's.
 *
 * Never here: output. Why there are no operators is an event of the capture.
 * NEEDSWORK: libtorch that a program without Python opens by dlopen(): nobody calls us then. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"

static const char BESIDE[] = "gputap/_shim/observer.so";

/* "…/site-packages/gputap/_shim/observer.so" of "…/site-packages/torch/lib/libtorch_cpu.so". */
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
	for (int i = 0; i < 3; i++) { /* the library, lib, torch */
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
	gt_event_write(gt_thread_get(), GT_EVENT_TOOL, GT_DOMAIN_TORCH, 0, why);
}

static void load_observer(const void *torch)
{
	const char *shapes = getenv("GPUTAP_TORCH_SHAPES");
	char path[PATH_MAX];
	int (*attach)(int shapes);
	void *library;

	if (!find_observer(torch, path, sizeof path))
		return;
	/* lazily: with another torch its C++ may not be there, and is not called */
	library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	*(void **)&attach = library ? dlsym(library, "gputap_torch_attach") : NULL;
	if (!attach)
		note_refusal("torch's operators: no gputap/_shim/observer.so beside torch; pip "
			     "install ./torch, or GPUTAP_TORCH_OBSERVER");
	else if (attach(shapes && !strcmp(shapes, "1")) > 1)
		note_refusal("torch's operators: the observer was built for another torch; pip "
			     "install --force-reinstall ./torch");
}

__attribute__((constructor)) static void start_torch_attach(void)
{
	const char *wanted = getenv("GPUTAP_TORCH_OPERATORS");
	const void *torch;

	gt_recording_init();
	if (!gt_recording_is_run() || (wanted && !strcmp(wanted, "0")))
		return;
	torch = dlsym(RTLD_DEFAULT, "aoti_torch_abi_version");
	if (torch)
		load_observer(torch);
}
