/* SPDX-License-Identifier: MIT */
/* jumper WHAT [N]: OpenCL calls and signals. Prints the number of started calls.
 *
 * 	first   a signal arrives while a thread makes its first call; the handler makes calls
 * 	fork    like first, in a fork child
 * 	jump    a handler leaves a call with siglongjmp(), N times in each of two threads;
 * 		each thread then makes more calls
 * 	stack   like jump, with the handler on an alternate stack
 * 	nested  a handler on an alternate stack at a higher address makes calls in the middle of
 * 		a call
 * 	alarms  a timer's handler leaves the current call with siglongjmp(), N times, while the
 * 		program makes calls; 1000 more calls follow */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, ROUNDS = 5, STACK_BYTES = 256 * 1024 };

static _Thread_local bool raise_in_prctl;
static bool raise_in_getrlimit;
static volatile unsigned made;
static cl_platform_id platform;
static char *page;
static sigjmp_buf back;
static int rounds = ROUNDS;

static void calls(unsigned n)
{
	while (n--) {
		made++;
		clGetPlatformIDs(1, &platform, NULL);
	}
}

static void in_signal(int number)
{
	(void)number;
	calls(3);
}

/* libgputap.so calls these functions while it creates the state of a thread or process. */
int prctl(int option, ...)
{
	va_list list;
	unsigned long a, b, c, d;

	va_start(list, option);
	a = va_arg(list, unsigned long), b = va_arg(list, unsigned long);
	c = va_arg(list, unsigned long), d = va_arg(list, unsigned long);
	va_end(list);
	if (raise_in_prctl && option == PR_GET_NAME) {
		raise_in_prctl = false;
		raise(SIGUSR1);
	}
	return (int)syscall(SYS_prctl, option, a, b, c, d);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
	if (raise_in_getrlimit) {
		raise_in_getrlimit = false;
		raise(SIGUSR1);
	}
	return (int)syscall(SYS_prlimit64, 0, resource, NULL, limit);
}

static void *thread(void *arg)
{
	raise_in_prctl = true;
	calls(2);
	return raise_in_prctl ? NULL : arg;
}

/* Return 77 without libgputap.so, because no state is created then. */
static int first(void)
{
	pthread_t id;
	void *ended, *arg = NULL;
	int raised = 0;

	signal(SIGUSR1, in_signal);
	calls(1);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_create(&id, NULL, thread, &arg);
		pthread_join(id, &ended);
		raised += ended != NULL;
	}
	return raised ? 0 : 77;
}

static int in_child(void)
{
	int status;
	pid_t pid;

	signal(SIGUSR1, in_signal);
	calls(2);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		made = 0;
		raise_in_prctl = raise_in_getrlimit = true;
		calls(2);
		printf("%u\n", made);
		fflush(stdout);
		_exit(raise_in_prctl || raise_in_getrlimit);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void leave(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static int alarms(void)
{
	const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	static volatile int i;

	calls(1);
	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &often, NULL);
	/* the handler may even run here, before the timer is stopped */
	if (sigsetjmp(back, 1))
		i++;
	while (i < rounds)
		calls(1);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	calls(1000);
	return 0;
}

/* Set an alternate stack for the handlers of this thread. */
static void take_stack(void)
{
	static char below[STACK_BYTES];
	stack_t s = {.ss_sp = below, .ss_size = sizeof below};

	sigaltstack(&s, NULL);
}

static void *jump(void *arg)
{
	for (volatile int i = 0; i < rounds; i++) {
		if (sigsetjmp(back, 1) == 0) {
			made++;
			clGetPlatformInfo(platform, CL_PLATFORM_NAME, PAGE, page, NULL);
		}
		calls(2);
	}
	return arg;
}

static int jumps(bool own_stack)
{
	struct sigaction action = {.sa_handler = leave, .sa_flags = own_stack ? SA_ONSTACK : 0};
	pthread_t id;

	calls(1);
	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (own_stack)
		take_stack();
	sigaction(SIGSEGV, &action, NULL);
	jump(NULL);
	if (!own_stack) {
		pthread_create(&id, NULL, jump, NULL);
		pthread_join(id, NULL);
	}
	return 0;
}

static void mend(int number)
{
	in_signal(number);
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

/* Run on a stack below the stack of the handler. */
static void *interrupted(void *arg)
{
	stack_t s = {.ss_sp = arg, .ss_size = STACK_BYTES};

	sigaltstack(&s, NULL);
	made++;
	clGetPlatformInfo(platform, CL_PLATFORM_NAME, PAGE, page, NULL);
	calls(2);
	return NULL;
}

static int nested(void)
{
	struct sigaction action = {.sa_handler = mend, .sa_flags = SA_ONSTACK};
	char *stacks = mmap(NULL, 4 * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t id;

	calls(1);
	page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGSEGV, &action, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stacks, 3 * STACK_BYTES);
	pthread_create(&id, &attributes, interrupted, stacks + 3 * STACK_BYTES);
	pthread_join(id, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int status = 2;

	if (argc > 2)
		rounds = atoi(argv[2]);
	if (!strcmp(what, "first"))
		status = first();
	else if (!strcmp(what, "fork"))
		status = in_child();
	else if (!strcmp(what, "jump") || !strcmp(what, "stack"))
		status = jumps(what[0] == 's');
	else if (!strcmp(what, "nested"))
		status = nested();
	else if (!strcmp(what, "alarms"))
		status = alarms();
	printf("%u\n", made);
	return status;
}
