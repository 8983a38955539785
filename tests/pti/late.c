/* SPDX-License-Identifier: MIT */
/* A program that opens libraries while it runs. Each argument is "run", for a round of operations
 * on a separate queue, or "local:PATH" or "global:PATH", to open the library PATH. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

int main(int argc, char **argv)
{
	gpu_open(getenv("GPU_HOW") ? getenv("GPU_HOW") : "immediate");
	for (int i = 1; i < argc; i++) {
		char *path = strchr(argv[i], ':');

		if (!path)
			gpu_run(1);
		else if (!dlopen(path + 1,
				 RTLD_NOW | (argv[i][0] == 'g' ? RTLD_GLOBAL : RTLD_LOCAL)))
			puts(dlerror());
	}
	gpu_close();
	return 0;
}
