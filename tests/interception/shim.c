/* SPDX-License-Identifier: MIT */
/* A libOpenCL.so.1 as some programs bundle it: exports the functions and jumps to the functions of
 * the system's loader (SHIM_LOADER), which supports layers. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define X(name, exported)                                                           \
	__attribute__((visibility("hidden"))) void *real_##name;                    \
	__asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
		"	jmp *real_" #name "(%rip)\n");
#include "generated/opencl_exports.inc"
#undef X

__attribute__((constructor)) static void begin(void)
{
	void *loader = dlopen(getenv("SHIM_LOADER"), RTLD_NOW | RTLD_LOCAL);

	if (!loader) {
		puts(dlerror());
		exit(9);
	}
#define X(name, exported) real_##name = dlsym(loader, #name);
#include "generated/opencl_exports.inc"
#undef X
}
