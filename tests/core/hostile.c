/* SPDX-License-Identifier: MIT */
/* hostile WHAT ...: puts this process into a state that tracers tend to forget, then makes 20
 * OpenCL calls. Prints the results of the calls. Exit status 0 if they are correct. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int calls(void)
{
	cl_uint n = 0;

	for (int i = 0; i < 20; i++) {
		errno = 1000 + i;
		if (clGetPlatformIDs(0, NULL, &n) != CL_SUCCESS || n == 0)
			return 1;
	}
	return 0;
}

static void *calls_in_thread(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)calls();
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* Hold the lock of libc's list of thread stacks for most of the time. */
static void *make_threads(void *arg)
{
	pthread_t t;

	for (;;)
		if (pthread_create(&t, NULL, do_nothing, NULL) == 0)
			pthread_join(t, NULL);
	return arg;
}

/* Refuse system calls that are newer than this filter, as sandboxes do. */
static int sandbox(uint32_t answer)
{
	static const uint32_t newer[] = {SYS_memfd_create,   SYS_membarrier, SYS_faccessat2,
					 SYS_openat2,        SYS_pidfd_open, SYS_process_vm_readv,
					 SYS_io_uring_setup, SYS_userfaultfd};
	enum { COUNT = sizeof newer / sizeof *newer };
	struct sock_filter f[2 * COUNT + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog program = {.len = 2 * COUNT + 2, .filter = f};

	for (int i = 0; i < COUNT; i++) {
		f[2 * i + 1] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, newer[i], 0, 1);
		f[2 * i + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	}
	f[2 * COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int execute(void)
{
	char *argv[] = {"true", NULL};
	int status;
	pid_t pid;

	return posix_spawnp(&pid, "true", NULL, NULL, argv, environ) ||
	       waitpid(pid, &status, 0) != pid || status;
}

static int in_child(pid_t pid)
{
	int status;

	if (pid == 0)
		_exit(calls());
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	int rc = calls();

	for (int i = 1; i < argc && !rc; i++) {
		if (!strcmp(argv[i], "close_all"))
			closefrom(0);
		else if (!strcmp(argv[i], "chdir"))
			rc = chdir("/proc");
		else if (!strcmp(argv[i], "chroot"))
			rc = chroot("/proc/self/task") || chdir("/");
		else if (!strcmp(argv[i], "setuid"))
			rc = setgid(65534) || setuid(65534);
		else if (!strcmp(argv[i], "umask"))
			umask(0777);
		else if (!strcmp(argv[i], "clearenv"))
			clearenv();
		else if (!strcmp(argv[i], "block_signals")) {
			sigset_t all;

			sigfillset(&all);
			sigprocmask(SIG_SETMASK, &all, NULL);
		} else if (!strcmp(argv[i], "no_files")) {
			struct rlimit none = {0, 0};

			rc = setrlimit(RLIMIT_NOFILE, &none);
		} else if (!strcmp(argv[i], "refuse"))
			rc = sandbox(SECCOMP_RET_ERRNO | EPERM);
		else if (!strcmp(argv[i], "kill"))
			rc = sandbox(SECCOMP_RET_KILL_PROCESS);
		else if (!strcmp(argv[i], "exec"))
			rc = execute();
		else if (!strcmp(argv[i], "fork"))
			rc = in_child(fork());
		else if (!strcmp(argv[i], "_Fork"))
			rc = in_child(_Fork());
		else if (!strcmp(argv[i], "clone"))
			rc = in_child((pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
		else if (!strcmp(argv[i], "thread")) {
			pthread_t t;
			void *result;

			rc = pthread_create(&t, NULL, calls_in_thread, NULL) ||
			     pthread_join(t, &result) || result;
		} else if (!strcmp(argv[i], "make_threads")) {
			pthread_t t;

			for (int k = 0; k < 3 && !rc; k++)
				rc = pthread_create(&t, NULL, make_threads, NULL);
		} else if (!strcmp(argv[i], "_exit"))
			_exit(calls());
		else if (!strcmp(argv[i], "quick_exit")) {
			rc = calls();
			quick_exit(rc);
		} else if (!strcmp(argv[i], "abort")) {
			calls();
			abort();
		} else if (!strcmp(argv[i], "crash")) {
			calls();
			raise(SIGSEGV);
		} else
			return 2;
		if (!rc)
			rc = calls();
	}
	return rc;
}
