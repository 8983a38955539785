/* SPDX-License-Identifier: MIT */
/* Starts the program or watches a running one, and passes on signals: see child.h. */
#include "collector/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/guard.h"
#include "collector/proc_files.h"
#include "util/error.h"

enum { ANCESTORS_MOST = 64 };

/* Return true for signals that are never passed on, because they mean that gputap itself, or its
 * output, is broken. */
static bool is_ours(int number)
{
	static const int ours[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (number == ours[i])
			return true;
	return false;
}

int gt_child_init(struct gt_child *c)
{
	struct sigaction normal = {.sa_handler = SIG_DFL};
	sigset_t all;

	memset(c, 0, sizeof *c);
	c->pidfd = c->signal_fd = -1;
	c->pid = -1;
	sigfillset(&all);
	for (int i = 1; i < NSIG; i++)
		if (is_ours(i))
			sigdelset(&all, i);
	sigprocmask(SIG_SETMASK, &all, &c->mask_before);
	/* an ignored SIGCHLD would discard the exit status */
	sigaction(SIGCHLD, &normal, &c->chld_before);
	c->signal_fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->signal_fd < 0) {
		int status = gt_error(-errno, "cannot collect signals");

		gt_child_fini(c);
		return status;
	}
	return 0;
}

/* Execute the program in the child. Writes to @report only on failure. */
static void run_program(const struct gt_child *c, char *const *argv, char *const *environment,
			int report)
{
	int error;

	gt_guard_restore();
	sigaction(SIGCHLD, &c->chld_before, NULL);
	sigprocmask(SIG_SETMASK, &c->mask_before, NULL);
	execvpe(argv[0], argv, environment);
	error = errno;
	while (write(report, &error, sizeof error) < 0 && errno == EINTR)
		;
	_exit(127);
}

int gt_child_start(struct gt_child *c, char *const *argv, char *const *environment)
{
	int pipe_fd[2], error = 0;
	ssize_t n;

	if (pipe2(pipe_fd, O_CLOEXEC))
		return gt_error(-errno, "cannot create a pipe");
	c->pid = fork();
	if (c->pid == 0)
		run_program(c, argv, environment, pipe_fd[1]);
	error = errno;
	close(pipe_fd[1]);
	if (c->pid < 0) {
		close(pipe_fd[0]);
		return gt_error(-error, "cannot start a process");
	}
	do
		n = read(pipe_fd[0], &error, sizeof error);
	while (n < 0 && errno == EINTR);
	close(pipe_fd[0]);
	if (n == sizeof error) {
		waitpid(c->pid, NULL, 0);
		c->pid = -1;
		return gt_error(-error, "%s", argv[0]);
	}
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return 0;
}

static bool is_running(const struct gt_child *c)
{
	struct gt_proc_stat stat;

	return gt_proc_read_stat((uint32_t)c->pid, &stat) && stat.start == c->start &&
	       stat.state != 'X' && (stat.state != 'Z' || stat.threads > 1);
}

int gt_child_attach(struct gt_child *c, pid_t pid, uint64_t start)
{
	c->is_attached = true;
	c->pid = pid;
	c->start = start;
	c->wait_status = -1;
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (is_running(c))
		return 0;
	c->pid = -1;
	return gt_error(-ESRCH, "process %d has ended", (int)pid);
}

/* Return true if @pid is the program or a descendant of the program. */
static bool is_of_program(const struct gt_child *c, uint32_t pid)
{
	struct gt_proc_stat stat;

	for (int i = 0; i < ANCESTORS_MOST && pid > 1; i++) {
		if (pid == (uint32_t)c->pid)
			return true;
		if (!gt_proc_read_stat(pid, &stat))
			return false;
		pid = stat.ppid;
	}
	return false;
}

/* Pass a signal on, unless the program or a descendant sent it. Such a signal either went to the
 * whole group through kill(0, ...), so the program has it already, or was meant for the parent that
 * the program would have without gputap. */
static void send_on(const struct gt_child *c, const struct signalfd_siginfo *s)
{
	if (c->pid < 0 || c->ended || is_of_program(c, s->ssi_pid))
		return;
	if (s->ssi_code == SI_QUEUE)
		sigqueue(c->pid, (int)s->ssi_signo,
			 (union sigval){.sival_ptr = (void *)(uintptr_t)s->ssi_ptr});
	else
		kill(c->pid, (int)s->ssi_signo);
}

/* Stop gputap in the same way as job control stopped the program. Returns when gputap is
 * continued. */
static void stop_too(int number)
{
	struct sigaction normal = {.sa_handler = SIG_DFL}, before;
	sigset_t one;

	if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU)
		return;
	sigaction(number, &normal, &before);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* execution stops at this point */
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(number, &before, NULL);
}

static void look_at_program(struct gt_child *c)
{
	int status;

	if (c->is_attached) {
		struct pollfd p = {.fd = c->pidfd, .events = POLLIN};

		if (c->pid > 0 && !c->ended &&
		    (c->pidfd >= 0 ? poll(&p, 1, 0) > 0 : !is_running(c)))
			c->ended = true;
		return;
	}
	while (c->pid > 0 && !c->ended &&
	       waitpid(c->pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == c->pid) {
		if (WIFSTOPPED(status) && status >> 16) {
			continue; /* a stop by remote_thread.c */
		} else if (WIFSTOPPED(status)) {
			c->stopped = true;
			stop_too(WSTOPSIG(status));
		} else if (WIFCONTINUED(status)) {
			c->stopped = false;
		} else {
			c->ended = true;
			c->wait_status = status;
		}
	}
}

/* Return true if the program is stopping. The threads stop one after the other, and wait() reports
 * the stop only after the last thread has stopped. A process that watches /proc or the program's
 * output may send a SIGCONT before wait() reports the stop. */
static bool is_stopping(const struct gt_child *c)
{
	struct gt_proc_stat stat;

	return c->pid > 0 && !c->ended && gt_proc_read_stat((uint32_t)c->pid, &stat) &&
	       stat.state == 'T';
}

/* Handle a signal of a session that is attached to a program, which gets none of gputap's
 * signals. */
static void on_own_signal(struct gt_child *c, int number)
{
	struct sigaction now;

	switch (number) {
	case SIGINT:
	case SIGTERM:
	case SIGHUP:
	case SIGQUIT:
		/* nohup and shells ignore signals for commands in the background */
		if (sigaction(number, NULL, &now) || now.sa_handler != SIG_IGN)
			c->interrupted = true;
		return;
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU: stop_too(number); return;
	default: return;
	}
}

static void on_signal(struct gt_child *c, const struct signalfd_siginfo *s)
{
	if (c->take && c->take(c->take_data, (int)s->ssi_signo))
		return;
	if (c->is_attached) {
		on_own_signal(c, (int)s->ssi_signo);
		return;
	}
	switch (s->ssi_signo) {
	case SIGCHLD:
	case SIGPIPE: /* gputap's stderr is gone */
	case SIGXFSZ: /* gputap's capture is too long, and write() reports the error */
	case SIGIO:   /* from a lease: see gt_file_in_use() */
		if (s->ssi_signo == SIGIO && s->ssi_code <= 0)
			send_on(c, s);
		return;
	/* a shell sends SIGCONT to the whole group, so gputap sends it only to a stopped program */
	case SIGCONT:
		/* the program may have stopped just before the signal was sent */
		look_at_program(c);
		if (c->stopped || is_stopping(c))
			send_on(c, s);
		return;
	case SIGINT:
	case SIGTERM:
	case SIGHUP:
	case SIGQUIT:
		c->interrupted |= c->ended;
		/* fall through */
	default:
		/* > 0: from the kernel, that is, from the terminal, which signals the whole
		 * group */
		if (s->ssi_code <= 0)
			send_on(c, s);
	}
}

void gt_child_poll(struct gt_child *c)
{
	struct signalfd_siginfo s;

	while (read(c->signal_fd, &s, sizeof s) == sizeof s)
		on_signal(c, &s);
	look_at_program(c);
}

void gt_child_fini(struct gt_child *c)
{
	struct signalfd_siginfo s;

	while (c->signal_fd >= 0 && read(c->signal_fd, &s, sizeof s) == sizeof s)
		;
	if (c->signal_fd >= 0)
		close(c->signal_fd);
	if (c->pidfd >= 0)
		close(c->pidfd);
	c->signal_fd = c->pidfd = -1;
	sigaction(SIGCHLD, &c->chld_before, NULL);
	sigprocmask(SIG_SETMASK, &c->mask_before, NULL);
}
