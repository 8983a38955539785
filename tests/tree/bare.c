/* SPDX-License-Identifier: MIT */
/* A program without any runtime: prints its environment, and ends as its arguments say. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *e;
	sigset_t mask;

	printf("descriptors:");
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(dir))
			printf(" %s", e->d_name);
	if (dir)
		closedir(dir);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("\nblocked:");
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&mask, i) == 1)
			printf(" %d", i);
	printf("\nignored:");
	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;

		if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			printf(" %d", i);
	}
	printf("\ngroup: %s\n", getpgid(0) == getpgid(getppid()) ? "parent's" : "own");
	fflush(stdout);
}

static volatile sig_atomic_t got[NSIG];

static void on_signal(int number)
{
	got[number]++;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "show")) {
		show();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "exit"))
		return atoi(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "raise")) {
		raise(atoi(argv[2]));
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "catch")) { /* count the named signals until SIGTERM */
		for (int i = 2; i < argc; i++)
			signal(atoi(argv[i]), on_signal);
		signal(SIGTERM, on_signal);
		puts("ready");
		fflush(stdout);
		while (!got[SIGTERM])
			usleep(1000);
		for (int i = 2; i < argc; i++)
			printf("%s: %d\n", argv[i], (int)got[atoi(argv[i])]);
		return 7;
	}
	if (argc > 1 && !strcmp(argv[1], "echo")) {
		char line[4096];
		size_t n;

		while ((n = fread(line, 1, sizeof line, stdin)) > 0)
			fwrite(line, 1, n, stdout);
		return 0;
	}
	return 0;
}
