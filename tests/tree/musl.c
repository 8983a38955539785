/* SPDX-License-Identifier: MIT */
/* A program that tests/test_tree_foreign.py compiles with musl-gcc.
 *   musl [-e ...]            writes its environment, one variable per line, and ends with 5
 *   musl PROGRAM [ARG ...]   starts that program, with its own environment; returns its status */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 2 || !strcmp(argv[1], "-e")) {
		for (char **e = environ; *e; e++)
			puts(*e);
		return 5;
	}
	pid = fork();
	if (pid == 0) {
		execv(argv[1], argv + 1);
		_exit(126);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 125;
	return WEXITSTATUS(status);
}
