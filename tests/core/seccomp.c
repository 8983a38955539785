/* SPDX-License-Identifier: MIT */
/* seccomp WHAT [BEFORE]: makes BEFORE calls of OpenCL, restricts system calls, makes five more
 * calls.
 *   strict     seccomp's strict mode; ends with exit_group(), for which it is killed
 *   thread     a filter that kills the calling thread on getppid(), which a thread then calls
 *   prctl      a filter that kills the process on prctl()
 *   exec PROGRAM ...   the prctl filter, then executes PROGRAM
 *   leave      no filter: the first thread ends with pthread_exit()
 *   tsc        no filter: reading the time stamp counter gives SIGSEGV */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void filter(unsigned number, unsigned answer)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof lines / sizeof *lines, lines};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		exit(99);
}

static int call(int count)
{
	cl_uint n;

	for (int i = 0; i < count; i++)
		if (clGetPlatformIDs(0, NULL, &n) != CL_SUCCESS)
			return 1;
	return 0;
}

static void *call_in_thread(void *arg)
{
	return call(5) ? (void *)1 : arg;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(what, "exec")) {
		filter(SYS_prctl, SECCOMP_RET_KILL_PROCESS);
		execv(argv[2], argv + 2);
		return 98;
	}
	if (call(argc > 2 ? atoi(argv[2]) : 0))
		return 97;
	if (!strcmp(what, "strict") && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 96;
	if (!strcmp(what, "tsc") && prctl(PR_SET_TSC, PR_TSC_SIGSEGV))
		return 96;
	if (!strcmp(what, "thread"))
		filter(SYS_getppid, SECCOMP_RET_KILL_THREAD);
	if (!strcmp(what, "prctl"))
		filter(SYS_prctl, SECCOMP_RET_KILL_PROCESS);
	if (call(5))
		return 95;
	if (!strcmp(what, "prctl") &&
	    (pthread_create(&thread, NULL, call_in_thread, NULL) || pthread_join(thread, NULL)))
		return 94;
	if (!strcmp(what, "thread"))
		syscall(SYS_getppid);
	if (!strcmp(what, "leave"))
		pthread_exit(NULL);
	return 0;
}
