/* SPDX-License-Identifier: MIT */
/* A program for the reference accelerator that stops making progress until the file "stop" exists:
 *
 *     hang_refdev call      in refdevStreamSynchronize(), because its kernel does not end
 *     hang_refdev outside   outside any call, after a kernel
 *     hang_refdev thread    a second thread, "waiter", in refdevStreamSynchronize(); the first
 *                           thread waits for it outside any call
 *     hang_refdev never     makes progress: short kernels, one after the other
 *
 * Prints "ready" shortly before, and "done" at its end. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <soft/refdev/refdev.h>

#define GOOD(call)                                                                         \
	do {                                                                               \
		refdevError_t status_ = (call);                                            \
		if (status_) {                                                             \
			fprintf(stderr, "%s: %s\n", #call, refdevGetErrorString(status_)); \
			exit(1);                                                           \
		}                                                                          \
	} while (0)

static const refdevDim3 one = {1, 1, 1};
static refdevKernel_t endless, brief;

static void wait_for_stop(void)
{
	while (access("stop", F_OK))
		usleep(2000);
}

static void run_endless(const refdevGroup *g, const void *arguments)
{
	(void)g;
	(void)arguments;
	wait_for_stop();
}

static void run_brief(const refdevGroup *g, const void *arguments)
{
	(void)g;
	(void)arguments;
	usleep(1000);
}

static void launch(refdevKernel_t kernel)
{
	char nothing = 0;

	GOOD(refdevLaunchKernel(kernel, one, one, &nothing, sizeof nothing, NULL));
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void *hang(void *data)
{
	if (data)
		pthread_setname_np(pthread_self(), data);
	launch(endless);
	say_ready();
	GOOD(refdevStreamSynchronize(NULL));
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "call";
	pthread_t thread;

	GOOD(refdevRegisterKernel(&endless, "endless", run_endless));
	GOOD(refdevRegisterKernel(&brief, "brief", run_brief));
	launch(brief);
	GOOD(refdevStreamSynchronize(NULL));
	if (!strcmp(mode, "call")) {
		hang(NULL);
	} else if (!strcmp(mode, "outside")) {
		say_ready();
		wait_for_stop();
	} else if (!strcmp(mode, "thread")) {
		if (pthread_create(&thread, NULL, hang, "waiter") || pthread_join(thread, NULL))
			return 1;
	} else {
		say_ready();
		while (access("stop", F_OK)) {
			launch(brief);
			GOOD(refdevStreamSynchronize(NULL));
		}
	}
	puts("done");
	return 0;
}
