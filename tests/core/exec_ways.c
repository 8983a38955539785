/* SPDX-License-Identifier: MIT */
/* exec_ways WAY PROGRAM [ARG ..]: starts PROGRAM with an emptied environment (only KEPT=1), in one of the ways there
 * are. Exit status: the program's; 100 + errno when it could not be started. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	int status = 0, rc;
	pid_t pid;

	if (argc < 3)
		return 2;
	if (!strncmp(argv[1], "posix_spawn", 11)) {
		rc = argv[1][11] ? posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, clean)
				 : posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, clean);
		if (rc)
			return 100 + rc;
	} else if (!strncmp(argv[1], "vfork_", 6)) {
		pid = vfork();
		if (pid == 0)
			start(argv[1] + 6, argv + 2);
	} else if (!strncmp(argv[1], "fork_", 5)) {
		pid = fork();
		if (pid == 0)
			start(argv[1] + 5, argv + 2);
	} else {
		start(argv[1], argv + 2);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
