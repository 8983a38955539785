/* SPDX-License-Identifier: MIT */
/* Measures what gputap adds to the start and the end of a program that uses no runtime, /bin/true:
 * processor time (user and system), page faults, and elapsed time. The variants alternate, so that
 * load of the machine affects all of them.
 *
 *     startup_cost GPUTAP [rounds]
 *
 * "loaded" is a process with libgputap.so and without a session, "traced" one of a session's
 * processes without its share of the collector, and "gputap run" the whole command. The program
 * that records the session is this file, which hands its environment to the measuring process. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ENVIRONMENT_BYTES = 256 * 1024, VARIABLES_MOST = 4096, ROUNDS = 200, RUN_EVERY = 10 };
enum variant { BARE, LOADED, TRACED, RUN, VARIANTS };

struct cost {
	double cpu_ms, wall_ms, faults;
};

static double timeval_ms(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool measure(char *const *argv, char **environment, struct cost *cost)
{
	double begin = now_ms();
	struct rusage used;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execve(argv[0], argv, environment);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status)
		return false;
	*cost = (struct cost){timeval_ms(used.ru_utime) + timeval_ms(used.ru_stime),
			      now_ms() - begin, (double)used.ru_minflt};
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Return the lower quartile, which other processes of the machine affect less than the median. */
static double quartile(const struct cost *costs, size_t count, size_t offset)
{
	double *values = malloc(count * sizeof *values), found;

	if (!values)
		return 0;
	for (size_t i = 0; i < count; i++)
		memcpy(&values[i], (const char *)&costs[i] + offset, sizeof *values);
	qsort(values, count, sizeof *values, compare_numbers);
	found = values[count / 4];
	free(values);
	return found;
}

/* The session's program: write the environment to descriptor 3, and end when descriptor 4 ends. */
static int hand_environment_over(void)
{
	char byte;

	for (char **e = environ; *e; e++)
		if (write(3, *e, strlen(*e) + 1) < 0)
			return 1;
	return write(3, "", 1) != 1 || read(4, &byte, 1) < 0;
}

static bool read_environment(int fd, char **environment)
{
	static char text[ENVIRONMENT_BYTES];
	size_t used = 0, count = 0;
	ssize_t n = 1;

	/* an empty text ends the list, because the command keeps the pipe open */
	while (n > 0 && (used < 2 || text[used - 1] || text[used - 2])) {
		n = read(fd, text + used, sizeof text - used);
		used += n > 0 ? (size_t)n : 0;
	}
	for (char *at = text; n > 0 && *at && count + 1 < VARIABLES_MOST; at += strlen(at) + 1)
		environment[count++] = at;
	environment[count] = NULL;
	return count > 0;
}

/* Start a session whose program waits for @end to be closed. Return the process, and in
 * @environment the variables of the session's programs. */
static pid_t start_session(char *gputap, char *self, char *output, char **environment, int *end)
{
	char *argv[] = {gputap, "run", "-q", "-f", "-o", output, "--", self, "--session", NULL};
	int from[2], to[2];
	pid_t pid;

	if (pipe2(from, O_CLOEXEC) || pipe2(to, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		int out = fcntl(from[1], F_DUPFD, 5), in = fcntl(to[0], F_DUPFD, 5);

		if (dup2(out, 3) == 3 && dup2(in, 4) == 4) {
			close(out);
			close(in);
			execv(gputap, argv);
		}
		_exit(127);
	}
	close(from[1]);
	close(to[0]);
	*end = to[1];
	return pid > 0 && read_environment(from[0], environment) ? pid : -1;
}

/* Copy the environment without the variables of the session and of the auditor. */
static void leave_session(char *const *from, char **to)
{
	for (; *from; from++)
		if (strncmp(*from, "GPUTAP_SESSION=", 15) && strncmp(*from, "LD_AUDIT=", 9))
			*to++ = *from;
	*to = NULL;
}

static void print_costs(const struct cost *costs, size_t rounds, const char *name)
{
	printf("process_%s_cpu %.3f ms\nprocess_%s_faults %.0f count\nprocess_%s_elapsed %.3f ms\n",
	       name, quartile(costs, rounds, offsetof(struct cost, cpu_ms)), name,
	       quartile(costs, rounds, offsetof(struct cost, faults)), name,
	       quartile(costs, rounds, offsetof(struct cost, wall_ms)));
}

int main(int argc, char **argv)
{
	static char *session[VARIABLES_MOST], *loaded[VARIABLES_MOST];
	static const char *const names[VARIANTS] = {"bare", "loaded", "traced", "run"};
	char *bare_argv[] = {"/bin/true", NULL};
	char first[] = "/tmp/startup-XXXXXX.gputap", second[] = "/tmp/startup-XXXXXX.gputap";
	char *run_argv[] = {
		argc > 1 ? argv[1] : "", "run", "-q", "-f", "-o", second, "--", "/bin/true", NULL};
	size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : ROUNDS;
	struct cost *costs[VARIANTS];
	int end = -1;
	pid_t pid;

	if (argc == 2 && !strcmp(argv[1], "--session"))
		return hand_environment_over();
	if (argc < 2 || !rounds) {
		fprintf(stderr, "usage: %s GPUTAP [rounds]\n", argv[0]);
		return 2;
	}
	for (int v = 0; v < VARIANTS; v++)
		if (!(costs[v] = calloc(rounds, sizeof *costs[v])))
			return 1;
	pid = mkstemps(first, 7) < 0 || mkstemps(second, 7) < 0
		      ? -1
		      : start_session(argv[1], argv[0], first, session, &end);
	if (pid < 0) {
		fprintf(stderr, "%s: cannot start a session: %s\n", argv[0], strerror(errno));
		return 1;
	}
	leave_session(session, loaded);
	for (size_t i = 0; i < rounds; i++)
		if (!measure(bare_argv, environ, &costs[BARE][i]) ||
		    !measure(bare_argv, loaded, &costs[LOADED][i]) ||
		    !measure(bare_argv, session, &costs[TRACED][i]) ||
		    (i % RUN_EVERY == 0 &&
		     !measure(run_argv, environ, &costs[RUN][i / RUN_EVERY]))) {
			fprintf(stderr, "%s: a program failed\n", argv[0]);
			return 1;
		}
	close(end);
	waitpid(pid, NULL, 0);
	unlink(first);
	unlink(second);
	for (int v = 0; v < VARIANTS; v++)
		print_costs(costs[v], v == RUN ? (rounds + RUN_EVERY - 1) / RUN_EVERY : rounds,
			    names[v]);
	return 0;
}
