/* SPDX-License-Identifier: MIT */
/* refdev_late LIBRARY: a program for the reference accelerator that uses a stream, and attaches to
 * each session whose folder it reads. During each attach, a thread waits for a kernel. After the
 * attach, both threads launch `KERNELS` kernels each, and wait for each. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <soft/refdev/refdev.h>

#define GOOD(call)                   \
	do {                         \
		if (call) {          \
			puts(#call); \
			exit(1);     \
		}                    \
	} while (0)

enum { KERNELS = 20 };

static _Atomic int is_held, is_waiting;
static refdevKernel_t hold_kernel, work_kernel;
static refdevStream_t streams[2];

static void hold(const refdevGroup *g, const void *arguments)
{
	(void)g, (void)arguments;
	atomic_store(&is_waiting, 1);
	while (atomic_load(&is_held))
		usleep(100);
}

static void work(const refdevGroup *g, const void *arguments)
{
	(void)g, (void)arguments;
}

static void launch(refdevKernel_t kernel, refdevStream_t stream)
{
	const refdevDim3 one = {1, 1, 1};
	int none = 0;

	GOOD(refdevLaunchKernel(kernel, one, one, &none, sizeof none, stream));
}

static void use(refdevStream_t stream)
{
	for (int i = 0; i < KERNELS; i++) {
		launch(work_kernel, stream);
		GOOD(refdevStreamSynchronize(stream));
	}
}

static void *wait_then_use(void *unused)
{
	launch(hold_kernel, streams[1]);
	GOOD(refdevStreamSynchronize(streams[1])); /* open during the attach */
	use(streams[1]);
	return unused;
}

int main(int argc, char **argv)
{
	char folder[256];
	pthread_t thread;
	int (*attach)(const char *) = NULL;

	GOOD(argc != 2);
	GOOD(refdevRegisterKernel(&hold_kernel, "hold", hold));
	GOOD(refdevRegisterKernel(&work_kernel, "work", work));
	for (int i = 0; i < 2; i++)
		GOOD(refdevStreamCreate(&streams[i]));
	use(streams[0]);
	while (fgets(folder, sizeof folder, stdin)) {
		folder[strcspn(folder, "\n")] = '\0';
		atomic_store(&is_waiting, 0);
		atomic_store(&is_held, 1);
		GOOD(pthread_create(&thread, NULL, wait_then_use, NULL));
		while (!atomic_load(&is_waiting))
			usleep(100);
		usleep(20000); /* until the thread is in refdevStreamSynchronize() */
		*(void **)&attach = dlsym(dlopen(argv[1], RTLD_NOW), "gputap_attach");
		GOOD(attach(folder));
		atomic_store(&is_held, 0);
		pthread_join(thread, NULL);
		use(streams[0]);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
