/* SPDX-License-Identifier: MIT */
/* exec_ways WAY PROGRAM [ARG ...]: starts PROGRAM with an emptied environment (only KEPT=1),
 * through one of libc's functions. signal:WAY starts PROGRAM in a handler on an alternate stack of
 * 8 KiB, thread:WAY in a thread with a stack of 16 KiB. Exit status: that of PROGRAM, or 100 +
 * errno if it could not be started. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *clean[] = {"KEPT=1", NULL};

static void start(const char *way, char **argv)
{
	const char *program = argv[0];

	if (!strcmp(way, "execve"))
		execve(program, argv, clean);
	else if (!strcmp(way, "execvpe"))
		execvpe(program, argv, clean);
	else if (!strcmp(way, "fexecve"))
		fexecve(open(program, O_RDONLY | O_CLOEXEC), argv, clean);
	else if (!strcmp(way, "execveat"))
		execveat(AT_FDCWD, program, argv, clean, 0);
	else if (!strcmp(way, "syscall_execve"))
		syscall(SYS_execve, program, argv, clean);
	else if (!strcmp(way, "syscall_execveat"))
		syscall(SYS_execveat, AT_FDCWD, program, argv, clean, 0);
	else if (!strcmp(way, "execle"))
		execle(program, argv[0], (char *)NULL, clean);
	environ = clean;
	if (!strcmp(way, "execv"))
		execv(program, argv);
	else if (!strcmp(way, "execvp"))
		execvp(program, argv);
	else if (!strcmp(way, "execl"))
		execl(program, argv[0], (char *)NULL);
	else if (!strcmp(way, "execlp"))
		execlp(program, argv[0], (char *)NULL);
	_exit(100 + errno);
}

/* The command that system() or popen() starts gets the environment unchanged. */
static int run_shell(const char *way, char **argv)
{
	FILE *stream;
	int status;

	environ = clean;
	if (!strcmp(way, "system")) {
		status = system(argv[0]);
	} else {
		stream = popen(argv[0], "w");
		status = stream ? pclose(stream) : -1;
	}
	return status == -1 ? 100 + errno : WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int run(char *way, char **argv)
{
	int status = 0, rc;
	pid_t pid;

	if (!strcmp(way, "system") || !strcmp(way, "popen"))
		return run_shell(way, argv);
	if (!strncmp(way, "posix_spawn", 11)) {
		rc = way[11] ? posix_spawnp(&pid, argv[0], NULL, NULL, argv, clean)
			     : posix_spawn(&pid, argv[0], NULL, NULL, argv, clean);
		if (rc)
			return 100 + rc;
	} else if (!strncmp(way, "vfork_", 6)) {
		pid = vfork();
		if (pid == 0)
			start(way + 6, argv);
	} else if (!strncmp(way, "fork_", 5)) {
		pid = fork();
		if (pid == 0)
			start(way + 5, argv);
	} else {
		start(way, argv);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/* Allocate a stack whose end is followed by read-only memory. */
static char *small_stack(size_t bytes)
{
	enum { GUARD = 1 << 16 };
	char *at = mmap(NULL, GUARD + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + GUARD, bytes, PROT_READ | PROT_WRITE) != 0)
		exit(98);
	return at + GUARD;
}

static char **arguments;
static int result;

static void on_signal(int number)
{
	(void)number;
	result = run(strchr(arguments[0], ':') + 1, arguments + 1);
}

static int run_in_handler(size_t bytes)
{
	stack_t stack = {.ss_sp = small_stack(bytes), .ss_size = bytes};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	return result;
}

static void *thread_main(void *unused)
{
	on_signal(0);
	return unused;
}

static int run_in_thread(size_t bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, small_stack(bytes), bytes);
	if (pthread_create(&thread, &attributes, thread_main, NULL) != 0)
		return 97;
	pthread_join(thread, NULL);
	return result;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	arguments = argv + 1;
	if (!strncmp(argv[1], "signal:", 7))
		return run_in_handler(8 * 1024);
	if (!strncmp(argv[1], "thread:", 7))
		return run_in_thread(16 * 1024);
	return run(argv[1], argv + 2);
}
