/* SPDX-License-Identifier: MIT */
/* A program that is not linked with libtorch opens a library that needs libtorch, and calls it: in
 * a new thread and, after that thread has ended, once more. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int (*sums)(void);

static void *run_sums(void *nothing)
{
	sums();
	return nothing;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	pthread_t thread;

	*(void **)&sums = library ? dlsym(library, "sums") : NULL;
	if (!sums || pthread_create(&thread, NULL, run_sums, NULL)) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	pthread_join(thread, NULL);
	return sums();
}
