/* SPDX-License-Identifier: MIT */
/* A program for one runtime (on_<runtime>.c) that executes the lines of its standard input and
 * answers each line with "ok":
 *
 *     run NAME N     run N kernels with that name (a, b, c or d) and wait for them
 *     pause, resume  gputap_pause(), gputap_resume()
 *     by SOURCE      from now on, begin and end ranges with that API (ranges.h)
 *     begin NAME     begin a range in this thread
 *     end            end the innermost range of this thread
 *     thread NAME N  begin a range and `run a N` in it, in a new thread; wait for the thread
 *     fork           fork a child, which executes the following lines until it exits
 *     vfork          start a child with vfork(), which ends at once
 *     spawn N        start N programs like this one, "child", which run kernel `a` until a file
 *                    "stop" exists in their folder
 *     storm N        fork N children, ten at a time, which run kernel `a` twice and end
 *     wait           wait until the spawned programs have ended
 *     nothing        make no runtime call
 *     exit           _exit(0) */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gputap/gputap.h>

#include "control.h"
#include "ranges.h"

static int child(void)
{
	while (access("stop", F_OK)) {
		run_kernel('a', 1);
		usleep(1000);
	}
	return 0;
}

static void spawn(const char *program, int count)
{
	for (int i = 0; i < count; i++)
		if (fork() == 0) {
			execl(program, program, "child", (char *)NULL);
			_exit(127);
		}
}

static void storm(int count)
{
	for (int i = 0; i < count; i++) {
		if (fork() == 0) {
			run_kernel('a', 2);
			_exit(0);
		}
		if (i % 10 == 9)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
}

/* Read byte by byte, because a child continues reading where its parent was. */
static int read_line(char *line, size_t room)
{
	size_t n = 0;

	while (n + 1 < room && read(0, line + n, 1) == 1)
		if (line[n++] == '\n') {
			line[n - 1] = '\0';
			return 1;
		}
	return 0;
}

static struct {
	char name[64];
	int count;
} in_thread;

static void *run_in_range(void *arg)
{
	(void)arg;
	begin_range(in_thread.name);
	run_kernel('a', in_thread.count);
	end_range();
	return NULL;
}

static void follow(const char *program, const char *line)
{
	char name[64] = "a";
	int count = 1;
	pthread_t thread;
	pid_t pid;

	if (sscanf(line, "run %63s %d", name, &count) == 2) {
		run_kernel(name[0], count);
	} else if (sscanf(line, "begin %63s", name) == 1) {
		begin_range(name);
	} else if (!strcmp(line, "end")) {
		end_range();
	} else if (sscanf(line, "by %63s", name) == 1) {
		if (choose_source(name)) {
			fprintf(stderr, "there is no %s\n", name);
			exit(1);
		}
	} else if (sscanf(line, "thread %63s %d", in_thread.name, &in_thread.count) == 2) {
		pthread_create(&thread, NULL, run_in_range, NULL);
		pthread_join(thread, NULL);
	} else if (!strcmp(line, "pause")) {
		gputap_pause();
	} else if (!strcmp(line, "resume")) {
		gputap_resume();
	} else if (!strcmp(line, "fork")) {
		pid = fork();
		if (pid)
			waitpid(pid, NULL, 0);
	} else if (!strcmp(line, "vfork")) {
		pid = vfork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	} else if (sscanf(line, "spawn %d", &count) == 1) {
		spawn(program, count);
	} else if (sscanf(line, "storm %d", &count) == 1) {
		storm(count);
	} else if (!strcmp(line, "wait")) {
		while (wait(NULL) > 0 || errno == EINTR)
			;
	} else if (!strcmp(line, "exit")) {
		_exit(0);
	} else if (strcmp(line, "nothing")) {
		fprintf(stderr, "what is '%s'?\n", line);
		exit(1);
	}
	puts("ok");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[128];

	if (argc > 1 && !strcmp(argv[1], "child"))
		return child();
	while (read_line(line, sizeof line))
		follow(argv[0], line);
	return 0;
}
