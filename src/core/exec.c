/* SPDX-License-Identifier: MIT */
/* The exec family, exported in front of libc's. Without these functions, the trace would end at
 * programs that clean the environment of their children (sudo-like starters, build systems, mpirun,
 * test harnesses).
 *
 *   environment given ──► GPUTAP_SESSION, LD_PRELOAD, LD_AUDIT, OPENCL_LAYERS: gputap's missing
 *                         entries are added ──► the real function
 *   file given        ──► cannot be traced (privileges, static)? GT_EVENT_NOT_TRACED reports it
 *                     ──► cannot reach the session? recorded in the segment: core/exec_lost.c
 *                     ──► reserve the static thread-local storage that its libraries need
 *
 * A program that a nested `gputap run` starts belongs to the nested session, which works as if this
 * session did not exist.
 *
 * Everything else is passed on unchanged: same result, same errno, including pointers that the
 * kernel refuses. Without a session, the wrapper calls the real function at once.
 *
 * This code may run in the child of a vfork, in the middle of a signal handler, after fork() in a
 * program with threads, and on a small stack. It therefore uses no malloc, no locks, no stdio, and
 * builds the new environment in separate memory (core/exec_environment.c). The values to add were
 * copied when the library was loaded. An environment too large for the separate memory is passed on
 * unchanged.
 *
 * system() and popen() execute a shell through internal functions of libc, with the current
 * environment of the process. For these functions, this code only checks whether the shell can be
 * traced, and makes an entry in the segment if not.
 *
 * core/exec_syscall.c redirects syscall(SYS_execve, ...) to these functions. Not intercepted:
 * system calls that a program makes with its own instructions (such as Go's), and pidfd_spawn(). */
#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/exec_environment.h"
#include "core/exec_shell.h"
#include "core/exec_target.h"
#include "core/late.h"
#include "core/recording.h"

#define EXPORT __attribute__((visibility("default")))

extern char **environ;

static GT_AT_START int (*real_execve)(const char *, char *const[], char *const[]);
static GT_AT_START int (*real_execveat)(int, const char *, char *const[], char *const[], int);
static GT_AT_START int (*real_execvpe)(const char *, char *const[], char *const[]);
static GT_AT_START int (*real_fexecve)(int, char *const[], char *const[]);
static GT_AT_START int (*real_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				     const posix_spawnattr_t *, char *const[], char *const[]);
static GT_AT_START int (*real_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				      const posix_spawnattr_t *, char *const[], char *const[]);
static GT_AT_START int (*real_system)(const char *);
static GT_AT_START FILE *(*real_popen)(const char *, const char *);

static void find_real(void)
{
	if (!real_execvpe) {
		*(void **)&real_system = dlsym(RTLD_NEXT, "system");
		*(void **)&real_popen = dlsym(RTLD_NEXT, "popen");
		*(void **)&real_execve = dlsym(RTLD_NEXT, "execve");
		*(void **)&real_execveat = dlsym(RTLD_NEXT, "execveat");
		*(void **)&real_execvpe = dlsym(RTLD_NEXT, "execvpe");
		*(void **)&real_fexecve = dlsym(RTLD_NEXT, "fexecve");
		*(void **)&real_spawn = dlsym(RTLD_NEXT, "posix_spawn");
		*(void **)&real_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
	}
}

__attribute__((constructor)) static void start_exec_hooks(void)
{
	find_real();
	gt_recording_init();
	if (gt_recording_is_run())
		gt_exec_remember();
}

/* Hidden names of the functions below: in a library that was loaded late, their own names lead to
 * libc's functions. */
#define OWN(name)                          \
	extern __typeof__(name) own_##name \
		__attribute__((alias(#name), visibility("hidden"), copy(name)))
OWN(execve);
OWN(execv);
OWN(execvpe);
OWN(execvp);
OWN(fexecve);
OWN(execveat);
OWN(execl);
OWN(execlp);
OWN(execle);
OWN(posix_spawn);
OWN(posix_spawnp);
OWN(system);
OWN(popen);

size_t gt_exec_functions(struct gt_exec_function out[GT_EXEC_FUNCTIONS])
{
	const struct gt_exec_function all[GT_EXEC_FUNCTIONS] = {
#define F(name) {#name, dlsym(RTLD_NEXT, #name), (void *)(uintptr_t)own_##name}
		F(execve),       F(execv),  F(execvpe), F(execvp), F(fexecve),
		F(execveat),     F(execl),  F(execlp),  F(execle), F(posix_spawn),
		F(posix_spawnp), F(system), F(popen),
#undef F
	};
	size_t count = 0;

	for (size_t i = 0; i < GT_EXEC_FUNCTIONS; i++)
		if (all[i].real && all[i].real != all[i].ours)
			out[count++] = all[i];
	return count;
}

/* Before gputap's constructor has run, make the system call directly. dlsym() is not safe here,
 * because the caller may be the child of a vfork. */
EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	struct gt_exec e;
	int rc;

	gt_exec_begin(&e, AT_FDCWD, path, false, envp);
	rc = real_execve ? real_execve(path, argv, e.environment)
			 : (int)syscall(SYS_execve, path, argv, e.environment);
	gt_exec_end(&e);
	return rc;
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	struct gt_exec e;
	int rc;

	find_real();
	gt_exec_begin(&e, AT_FDCWD, file, true, envp);
	rc = real_execvpe(file, argv, e.environment);
	gt_exec_end(&e);
	return rc;
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	char *const *given = envp;
	struct gt_exec e;
	int rc;

	find_real();
	__asm__("" : "+r"(given));
	if (!given) /* unlike the kernel, libc refuses NULL here */
		return real_fexecve(fd, argv, envp);
	gt_exec_begin(&e, fd, NULL, false, envp);
	rc = real_fexecve(fd, argv, e.environment);
	gt_exec_end(&e);
	return rc;
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	const char *name = path;
	struct gt_exec e;
	int rc;

	/* unistd.h declares @path nonnull; stop the compiler from relying on the declaration */
	__asm__("" : "+r"(name));
	if (name && gt_exec_is_readable((char *const[]){(char *)(uintptr_t)name, NULL}))
		gt_exec_begin(&e, fd, *name ? name : NULL, false, envp);
	else
		e = (struct gt_exec){.environment = envp, .lost = GT_LOST_NOWHERE};
	rc = real_execveat ? real_execveat(fd, path, argv, e.environment, flags)
			   : (int)syscall(SYS_execveat, fd, path, argv, e.environment, flags);
	gt_exec_end(&e);
	return rc;
}

/* Pass the va_list through its address: machines differ in whether passing a va_list by value
 * advances the caller's va_list. */
struct arguments {
	va_list list;
};

static size_t count_arguments(const char *first, struct arguments *rest)
{
	size_t n = 0;

	for (; first; first = va_arg(rest->list, const char *))
		n++;
	return n;
}

/* Copy the arguments. Leaves @rest after the terminating NULL. */
static void copy_arguments(char **argv, const char *first, struct arguments *rest)
{
	for (; first; first = va_arg(rest->list, const char *))
		*argv++ = (char *)(uintptr_t)first;
	*argv = NULL;
}

/* Defines `argv`: all arguments, on the stack. unistd.h declares the first argument nonnull, but
 * programs pass NULL anyway. */
#define ARGUMENTS(first)                                                    \
	struct arguments rest, again;                                       \
	const char *start = (first);                                        \
	char **argv;                                                        \
	__asm__("" : "+r"(start));                                          \
	va_start(rest.list, first);                                         \
	va_copy(again.list, rest.list);                                     \
	argv = alloca((count_arguments(start, &again) + 1) * sizeof *argv); \
	va_end(again.list);                                                 \
	copy_arguments(argv, start, &rest)

EXPORT int execl(const char *path, const char *arg, ...)
{
	ARGUMENTS(arg);
	va_end(rest.list);
	return execve(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	ARGUMENTS(arg);
	va_end(rest.list);
	return execvpe(file, argv, environ);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	char *const *environment;

	ARGUMENTS(arg);
	environment = va_arg(rest.list, char *const *);
	va_end(rest.list);
	return execve(path, argv, environment);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	struct gt_exec e;
	int rc;

	find_real();
	gt_exec_begin(&e, AT_FDCWD, path, false, envp);
	rc = real_spawn(pid, path, actions, attributes, argv, e.environment);
	if (rc == 0)
		e.lost = GT_LOST_NOWHERE; /* keep the event, because the program was started */
	gt_exec_end(&e);
	return rc;
}

EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	struct gt_exec e;
	int rc;

	find_real();
	gt_exec_begin(&e, AT_FDCWD, file, true, envp);
	rc = real_spawnp(pid, file, actions, attributes, argv, e.environment);
	if (rc == 0)
		e.lost = GT_LOST_NOWHERE; /* keep the event, because the program was started */
	gt_exec_end(&e);
	return rc;
}

/* system() and popen() execute this file, regardless of SHELL. */
EXPORT int system(const char *command)
{
	struct gt_exec_shell shell;
	uint32_t lost;
	int status;

	find_real();
	if (gt_is_late()) {
		gt_exec_shell_begin(&shell, command);
		status = real_system(shell.command);
		gt_exec_shell_end(&shell);
		return status;
	}
	lost = gt_exec_look_for_libc(_PATH_BSHELL);
	status = real_system(command);
	if (status == -1)
		gt_exec_take_back(lost);
	return status;
}

EXPORT FILE *popen(const char *command, const char *how)
{
	struct gt_exec_shell shell;
	FILE *stream;
	uint32_t lost;

	find_real();
	if (gt_is_late()) {
		gt_exec_shell_begin(&shell, command);
		stream = real_popen(shell.command, how);
		gt_exec_shell_end(&shell);
		return stream;
	}
	lost = gt_exec_look_for_libc(_PATH_BSHELL);
	stream = real_popen(command, how);
	if (!stream)
		gt_exec_take_back(lost);
	return stream;
}
