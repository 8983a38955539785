/* SPDX-License-Identifier: MIT */
/* Threads that open a library of a runtime, look up hipGetDeviceCount() in it, call it, close the
 * library, and fork a child. usage: churn THREADS ROUNDS fork|- LIBRARY... Prints the number of
 * calls. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char **libraries;
static int library_count, rounds, forks;
static _Atomic int made;

static void visit(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*count)(int *) = library ? (int (*)(int *))dlsym(library, "hipGetDeviceCount") : NULL;
	int n;

	if (!count || count(&n) != 0) {
		puts("no such function");
		_exit(1);
	}
	made++;
	dlclose(library);
}

static void *work(void *number)
{
	for (int i = 0; i < rounds; i++) {
		pid_t child;

		visit(libraries[((size_t)number * 7 + (size_t)i) % (size_t)library_count]);
		child = forks ? fork() : -1;
		if (child == 0)
			_exit(0);
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count = atoi(argv[1]);

	rounds = atoi(argv[2]);
	forks = argv[3][0] == 'f';
	libraries = argv + 4;
	library_count = argc - 4;
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("made %d\n", made);
	return 0;
}
