/* SPDX-License-Identifier: MIT */
/* past WAY PROGRAM [ARG ...]: starts PROGRAM bypassing everything in front of libc, waits for it,
 * and exits with its status. The ways, all except the last two with an empty environment:
 *
 *   instruction   execve through its own system call instruction, in a fork child
 *   itself        like instruction, in this process
 *   pidfd_spawn   glibc 2.39; exit status 77 if it does not exist
 *   wordexp       the shell of wordexp(), with the words PROGRAM ARG ...
 *   kept          like "instruction", with the environment unchanged
 *   nobody        like "kept", as user 65534 */
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

extern char **environ;

static char *nothing[] = {NULL};

static long execute(const char *path, char **argv, char **environment)
{
#if defined(__x86_64__)
	long result = SYS_execve;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(path), "S"(argv), "d"(environment)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_execve;
	register const void *first __asm__("x0") = path;
	register char **second __asm__("x1") = argv;
	register char **third __asm__("x2") = environment;

	__asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
	return (long)first;
#else
	return -ENOSYS;
#endif
}

static int wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 101;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 102;
}

static int start_in_child(char **argv, char **environment, uid_t uid)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (uid && setuid(uid))
			_exit(103);
		_exit(100 + (int)-execute(argv[0], argv, environment));
	}
	return wait_for(pid);
}

static int spawn(char **argv)
{
	int (*pidfd_spawn)(int *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const *, char *const *);
	siginfo_t info = {0};
	int pidfd;

	*(void **)&pidfd_spawn = dlsym(RTLD_DEFAULT, "pidfd_spawn");
	if (!pidfd_spawn)
		return 77;
	if (pidfd_spawn(&pidfd, argv[0], NULL, NULL, argv, nothing) ||
	    waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &info, WEXITED))
		return 104;
	return info.si_status;
}

static int expand(char **argv)
{
	char words[4096] = "$(";
	wordexp_t found;

	for (; *argv; argv++) {
		strncat(words, *argv, sizeof words - strlen(words) - 3);
		strcat(words, argv[1] ? " " : ")");
	}
	environ = nothing;
	return wordexp(words, &found, 0) ? 105 : 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[1] : "";

	argv += 2;
	if (!strcmp(way, "instruction"))
		return start_in_child(argv, nothing, 0);
	if (!strcmp(way, "itself"))
		return 100 + (int)-execute(argv[0], argv, nothing);
	if (!strcmp(way, "pidfd_spawn"))
		return spawn(argv);
	if (!strcmp(way, "wordexp"))
		return expand(argv);
	if (!strcmp(way, "kept"))
		return start_in_child(argv, environ, 0);
	if (!strcmp(way, "nobody"))
		return start_in_child(argv, environ, 65534);
	fprintf(stderr, "past instruction|itself|pidfd_spawn|wordexp|kept|nobody PROGRAM ..\n");
	return 2;
}
