/* SPDX-License-Identifier: MIT */
/* A program whose thread does one thing between calls of the reference accelerator, and prints what
 * it used of the processor for it, measured by itself:
 *
 *     usage_program compute|sleep|faults|long_call|short_calls|filtered|forked
 *
 * Each line: "gap CPU_NS VOLUNTARY MINOR", or "call CPU_NS VOLUNTARY MINOR" for a long call. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "soft/refdev/refdev.h"

enum { TIMES = 10, NS_PER_MS = 1000000, PAGES = 2000, SHORT_CALLS = 200000 };

static refdevKernel_t kernel;
static const refdevDim3 one = {1, 1, 1};
static long kernel_ms;

#define EXPECT(condition)                                                               \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)

struct usage {
	long long cpu_ns;
	long voluntary, minor;
};

static struct usage get_usage(void)
{
	struct timespec cpu;
	struct rusage used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	getrusage(RUSAGE_THREAD, &used);
	return (struct usage){cpu.tv_sec * 1000000000LL + cpu.tv_nsec, used.ru_nvcsw,
			      used.ru_minflt};
}

static void say(const char *what, struct usage before)
{
	struct usage after = get_usage();

	printf("%s %lld %ld %ld\n", what, after.cpu_ns - before.cpu_ns,
	       after.voluntary - before.voluntary, after.minor - before.minor);
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){0, ms * NS_PER_MS}, NULL);
}

static void run_kernel(const refdevGroup *group, const void *arguments)
{
	(void)group;
	(void)arguments;
	if (kernel_ms)
		sleep_ms(kernel_ms);
}

static void compute(void)
{
	const long long until = get_usage().cpu_ns + 5 * NS_PER_MS;

	while (get_usage().cpu_ns < until)
		;
}

static void touch_pages(void)
{
	char *p = mmap(NULL, PAGES * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	EXPECT(p != MAP_FAILED);
	madvise(p, PAGES * 4096L, MADV_NOHUGEPAGE);
	for (long i = 0; i < PAGES; i++)
		p[i * 4096] = 1;
	munmap(p, PAGES * 4096L);
}

static void sleep_5(void)
{
	sleep_ms(5);
}

static void launch(void)
{
	EXPECT(refdevLaunchKernel(kernel, one, one, NULL, 0, NULL) == refdevSuccess);
}

static void make_gaps(void (*work)(void))
{
	for (int i = 0; i < TIMES; i++) {
		struct usage before;

		launch();
		EXPECT(refdevDeviceSynchronize() == refdevSuccess);
		before = get_usage();
		work();
		say("gap", before);
	}
	launch();
	EXPECT(refdevDeviceSynchronize() == refdevSuccess);
}

static void make_long_calls(void)
{
	kernel_ms = 5;
	for (int i = 0; i < TIMES; i++) {
		struct usage before;

		launch();
		before = get_usage();
		EXPECT(refdevDeviceSynchronize() == refdevSuccess);
		say("call", before);
		compute();
	}
	launch();
	EXPECT(refdevDeviceSynchronize() == refdevSuccess);
}

static void make_short_calls(void)
{
	int device;

	for (int i = 0; i < SHORT_CALLS; i++)
		EXPECT(refdevGetDevice(&device) == refdevSuccess);
	sleep_5();
	EXPECT(refdevGetDevice(&device) == refdevSuccess);
}

/* From now on, the kernel kills the process if it calls getrusage(). */
static void install_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};

	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void make_filtered(void)
{
	int device;

	for (int i = 0; i < TIMES; i++) {
		if (i == TIMES / 2)
			install_filter();
		errno = EDOM;
		EXPECT(refdevGetDevice(&device) == refdevSuccess);
		EXPECT(errno == EDOM);
		sleep_5();
	}
	EXPECT(refdevGetDevice(&device) == refdevSuccess);
}

static void make_forked(void)
{
	int device, status;
	pid_t child;

	EXPECT(refdevGetDevice(&device) == refdevSuccess);
	for (int i = 0; i < 10; i++)
		compute();
	EXPECT(refdevGetDevice(&device) == refdevSuccess);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 3; i++) {
			refdevGetDevice(&device);
			sleep_5();
		}
		_exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	EXPECT(refdevRegisterKernel(&kernel, "kernel", run_kernel) == refdevSuccess);
	if (!strcmp(what, "compute"))
		make_gaps(compute);
	else if (!strcmp(what, "sleep"))
		make_gaps(sleep_5);
	else if (!strcmp(what, "faults"))
		make_gaps(touch_pages);
	else if (!strcmp(what, "long_call"))
		make_long_calls();
	else if (!strcmp(what, "short_calls"))
		make_short_calls();
	else if (!strcmp(what, "filtered"))
		make_filtered();
	else if (!strcmp(what, "forked"))
		make_forked();
	else
		return 2;
	return 0;
}
