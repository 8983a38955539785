/* SPDX-License-Identifier: MIT */
/* Runs a child process of gputap doctor, which may crash or hang. See doctor.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "util/error.h"

extern char **environ;

static long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void read_until_end(int fd, long deadline_ms, struct doctor_child *out)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char drop[4096];
	size_t n = 0;

	for (;;) {
		long left = deadline_ms - now_ms();
		bool full = n + 1 >= sizeof out->text;
		ssize_t got;
		if (left <= 0 || (poll(&ready, 1, (int)left) == 0)) {
			out->timed_out = true;
			break;
		}
		got = full ? read(fd, drop, sizeof drop)
			   : read(fd, out->text + n, sizeof out->text - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += full ? 0 : (size_t)got;
	}
	out->text[n] = '\0';
}

int doctor_run_child(const char *what, const char *argument, char *const *environment,
		     unsigned seconds, struct doctor_child *out)
{
	char *argv[] = {(char[]){"gputap"},      (char[]){"doctor"},          (char[]){"--probe"},
			(char *)(uintptr_t)what, (char *)(uintptr_t)argument, NULL};
	posix_spawn_file_actions_t actions;
	int pipe_fds[2], rc;
	pid_t pid;

	*out = (struct doctor_child){.wait_status = -1};
	if (pipe2(pipe_fds, O_CLOEXEC))
		return gt_error(-errno, "cannot create a pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, pipe_fds[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	rc = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv,
			 environment ? environment : environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipe_fds[1]);
	if (rc) {
		close(pipe_fds[0]);
		return gt_error(-rc, "cannot start a child process");
	}
	read_until_end(pipe_fds[0], now_ms() + (long)seconds * 1000, out);
	close(pipe_fds[0]);
	if (out->timed_out)
		kill(pid, SIGKILL);
	while (waitpid(pid, &out->wait_status, 0) < 0 && errno == EINTR)
		;
	return 0;
}
