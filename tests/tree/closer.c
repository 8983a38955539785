/* SPDX-License-Identifier: MIT */
/* Opens OpenCL, calls it and closes it again, several times, then ends. Prints "PID CALLS". */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 3, calls = 0;

	for (int i = 0; i < rounds; i++) {
		void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
		int (*platforms)(unsigned, void **, unsigned *) =
			library ? (int (*)(unsigned, void **, unsigned *))dlsym(library,
										"clGetPlatformIDs")
				: NULL;
		unsigned n = 0;

		if (!platforms || platforms(0, NULL, &n))
			return 1;
		calls++;
		dlclose(library);
	}
	printf("%d %d\n", (int)getpid(), calls);
	return 0;
}
