/* SPDX-License-Identifier: MIT */
/* A program of the reference accelerator that does what its standard input says, a line at a time,
 * and answers "ok":
 *
 *     run NAME N     N kernels of that name (a, b, c or d), and waits for them
 *     pause, resume  gputap_pause(), gputap_resume()
 *     begin NAME     a range begins, in this thread
 *     end            .. the innermost one ends
 *     fork           a child, which takes the lines from then on until it exits
 *     vfork          a child by vfork(), which ends at once
 *     spawn N        N programs like this one, "child", which run kernel `a` until there is a file
 *                    "stop" in their folder
 *     wait           until those have ended
 *     nothing        no call of the runtime at all
 *     exit           _exit(0)
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gputap/gputap.h>
#include <soft/refdev/refdev.h>

enum { KERNELS = 4, DEEPEST = 16 };

static char names[DEEPEST][64];
static int depth;
static refdevStream_t stream;
static refdevKernel_t kernels[KERNELS];

static void nothing(const refdevGroup *g, const void *arguments)
{
	(void)g;
	(void)arguments;
}

static void prepare(void)
{
	static const char *const called[KERNELS] = {"a", "b", "c", "d"};

	if (stream)
		return;
	refdevStreamCreate(&stream);
	for (int i = 0; i < KERNELS; i++)
		refdevRegisterKernel(&kernels[i], called[i], nothing);
}

static void run(const char *name, int count)
{
	refdevDim3 one = {1, 1, 1};

	prepare();
	for (int i = 0; i < count; i++)
		refdevLaunchKernel(kernels[name[0] - 'a'], one, one, NULL, 0, stream);
	refdevStreamSynchronize(stream);
}

static int child(void)
{
	while (access("stop", F_OK)) {
		run("a", 1);
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

/* Byte by byte: a child goes on where its parent was. */
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

static void follow(const char *program, const char *line)
{
	char name[64] = "a";
	int count = 1;
	pid_t pid;

	if (sscanf(line, "run %63s %d", name, &count) == 2) {
		run(name, count);
	} else if (sscanf(line, "begin %63s", name) == 1) {
		strcpy(names[depth], name);
		gputap_range_begin(GPUTAP_RANGE_USER, names[depth], (uint64_t)depth + 1, -1, NULL,
				   0);
		depth++;
	} else if (!strcmp(line, "end")) {
		gputap_range_end((uint64_t)depth--);
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
