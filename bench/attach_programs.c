/* SPDX-License-Identifier: MIT */
/* attach_programs WAY: programs that notice if something disturbs them (attach_campaign.py). They
 * print "ready", run until their standard input is closed, and print "ok", or what was wrong.
 *
 *   waits     twelve threads wait, each in another system call, and check what it returns
 *   masked    blocks all signals, computes, and checks its signal mask
 *   handler   stays in a signal handler
 *   executes  starts programs by fork() and posix_spawn(), and waits for them
 *   crowd     200 threads: some compute, as many as there are processors; the others sleep */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CROWD = 200, BIG = 256 * 1024, WAIT_MS = 20, LANES = 8, SENDERS_PAUSE_US = 3000 };

extern char **environ;
static atomic_int over, wrong_count;

static void wrong(const char *what, long result)
{
	if (atomic_fetch_add(&wrong_count, 1) < 5)
		printf("%s returned %ld: %s\n", what, result, strerror(errno));
}

static bool is_over(void)
{
	return atomic_load(&over);
}

/* Return when the standard input is closed. */
static void wait_for_end(void)
{
	struct pollfd input = {0, POLLIN, 0};

	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, -1) < 0)
		wrong("poll() for the end", -1);
	atomic_store(&over, 1);
}

/* Waits ------------------------------------------------------------------------------------- */

static int quiet[2], bytes[2], packets[2], slow[2], queue, set;
static int listener;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static const struct timespec short_time = {0, WAIT_MS * 1000000};

static void *do_poll(void *unused)
{
	struct pollfd f = {quiet[0], POLLIN, 0};

	while (!is_over()) {
		int r = poll(&f, 1, WAIT_MS);

		if (r)
			wrong("poll()", r);
	}
	return unused;
}

static void *do_select(void *unused)
{
	while (!is_over()) {
		struct timeval tv = {0, WAIT_MS * 1000};
		fd_set one;
		int r;

		FD_ZERO(&one);
		FD_SET(quiet[0], &one);
		r = select(quiet[0] + 1, &one, NULL, NULL, &tv);
		if (r)
			wrong("select()", r);
	}
	return unused;
}

static void *do_epoll(void *unused)
{
	int fd = epoll_create1(0);

	while (!is_over()) {
		struct epoll_event event;
		int r = epoll_wait(fd, &event, 1, WAIT_MS);

		if (r)
			wrong("epoll_wait()", r);
	}
	close(fd);
	return unused;
}

static void *do_nanosleep(void *unused)
{
	while (!is_over()) {
		int r = nanosleep(&short_time, NULL);

		if (r)
			wrong("nanosleep()", r);
	}
	return unused;
}

static void *do_futex(void *unused)
{
	uint32_t word = 0;

	while (!is_over()) {
		long r = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &short_time, NULL, 0);

		if (r != -1 || errno != ETIMEDOUT)
			wrong("futex()", r);
	}
	return unused;
}

static void *do_semop(void *unused)
{
	struct sembuf down = {0, -1, 0};

	while (!is_over()) {
		int r = semtimedop(set, &down, 1, &short_time);

		if (r != -1 || errno != EAGAIN)
			wrong("semtimedop()", r);
	}
	return unused;
}

static void *do_sem(void *unused)
{
	sem_t s;

	sem_init(&s, 0, 0);
	while (!is_over()) {
		struct timespec at;
		int r;

		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += WAIT_MS * 1000000;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		r = sem_timedwait(&s, &at);
		if (r != -1 || errno != ETIMEDOUT)
			wrong("sem_timedwait()", r);
	}
	return unused;
}

struct message {
	long type;
	uint32_t number;
};

static void *do_msgrcv(void *unused)
{
	for (uint32_t n = 0;; n++) {
		struct message m = {0};
		ssize_t r = msgrcv(queue, &m, sizeof m.number, 0, 0);

		if (r == sizeof m.number && m.number == UINT32_MAX)
			return unused;
		if (r != sizeof m.number || m.number != n)
			wrong("msgrcv()", r);
	}
}

static void *do_read(void *unused)
{
	for (uint32_t n = 0;; n++) {
		uint32_t number = 0;
		ssize_t r = read(bytes[0], &number, sizeof number);

		if (!r)
			return unused;
		if (r != sizeof number || number != n)
			wrong("read() of a pipe", r);
	}
}

static void *do_recv(void *unused)
{
	for (uint32_t n = 0;; n++) {
		uint32_t number = 0;
		ssize_t r = recv(packets[0], &number, sizeof number, 0);

		if (!r)
			return unused;
		if (r != sizeof number || number != n)
			wrong("recv()", r);
	}
}

static void *do_accept(void *unused)
{
	while (!is_over()) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			wrong("accept()", fd);
		else
			close(fd);
	}
	return unused;
}

/* Write more than the pipe holds: the reader is slow, and only a whole write is right. */
static void *do_write(void *unused)
{
	static char block[BIG];

	while (!is_over()) {
		ssize_t r = write(slow[1], block, sizeof block);

		if (r != sizeof block)
			wrong("write() to a slow pipe", r);
	}
	close(slow[1]);
	return unused;
}

static void *read_slowly(void *unused)
{
	char piece[PIPE_BUF * 4];

	while (read(slow[0], piece, sizeof piece) > 0)
		if (!is_over())
			usleep(1000);
	return unused;
}

/* Feed those who receive. */
static void *send_all(void *unused)
{
	uint32_t n = 0;
	int fd;

	do {
		struct message m = {1, n};

		usleep(SENDERS_PAUSE_US);
		if (write(bytes[1], &n, sizeof n) != sizeof n ||
		    send(packets[1], &n, sizeof n, 0) < 0 || msgsnd(queue, &m, sizeof m.number, 0))
			wrong("sending", n);
		n++;
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof address))
			wrong("connect()", -1);
		close(fd);
	} while (!is_over());
	msgsnd(queue, &(struct message){1, UINT32_MAX}, sizeof n, 0);
	close(bytes[1]);
	close(packets[1]);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	(void)!connect(fd, (struct sockaddr *)&address, sizeof address); /* ends accept() */
	close(fd);
	return unused;
}

static void run_waits(void)
{
	static void *(*const works[])(void *) = {
		do_poll, do_select, do_epoll, do_nanosleep, do_futex,  do_semop,  do_sem,
		do_read, do_recv,   do_write, read_slowly,  do_msgrcv, do_accept, send_all,
	};
	enum { COUNT = sizeof works / sizeof *works };
	pthread_t threads[COUNT];

	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "waits %d", getpid());
	queue = msgget(IPC_PRIVATE, 0600);
	set = semget(IPC_PRIVATE, 1, 0600);
	if (queue < 0 || set < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) ||
	    listen(listener, 100) || pipe(quiet) || pipe(bytes) || pipe(slow) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, packets)) {
		wrong("preparing", -1);
		return;
	}
	for (int i = 0; i < COUNT; i++)
		pthread_create(&threads[i], NULL, works[i], NULL);
	wait_for_end();
	for (int i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
}

/* Others ------------------------------------------------------------------------------------ */

static void *compute(void *check)
{
	double first[LANES] = {0};

	for (int round = 0; !is_over(); round++) {
		double lanes[LANES];
		sigset_t now;

		for (int k = 0; k < LANES; k++)
			lanes[k] = k + 1;
		for (int i = 0; i < 10000; i++)
			for (int k = 0; k < LANES; k++)
				lanes[k] = lanes[k] * 0.999 + 1.5;
		if (!round)
			memcpy(first, lanes, sizeof first);
		if (memcmp(first, lanes, sizeof first) != 0)
			wrong("computing", round);
		if (check && (pthread_sigmask(SIG_SETMASK, NULL, &now) ||
			      memcmp(&now, check, sizeof(uint64_t)) != 0))
			wrong("the signal mask", round);
	}
	return NULL;
}

static void run_masked(void)
{
	static sigset_t all;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &all);
	pthread_create(&thread, NULL, compute, &all);
	wait_for_end();
	pthread_join(thread, NULL);
}

static void stay(int number)
{
	(void)number;
	wait_for_end();
}

static void *sleep_long(void *unused)
{
	while (!is_over())
		if (usleep(100000))
			wrong("usleep()", -1);
	return unused;
}

static void run_crowd(void)
{
	const long busy = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[CROWD];

	for (int i = 0; i < CROWD; i++)
		pthread_create(&threads[i], NULL, i < busy ? compute : sleep_long, NULL);
	wait_for_end();
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
}

static void *execute_all(void *unused)
{
	char *const words[] = {"sh", "-c", "exit 3", NULL};

	for (int i = 0; !is_over(); i++) {
		int status = 0;
		pid_t child;

		if (i % 2) {
			if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ))
				child = -1;
		} else {
			child = fork();
			if (!child) {
				execv("/bin/sh", words);
				_exit(127);
			}
		}
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 3)
			wrong("a child", status);
	}
	return unused;
}

static void run_executes(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute_all, NULL);
	wait_for_end();
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "waits")) {
		run_waits();
	} else if (!strcmp(way, "masked")) {
		run_masked();
	} else if (!strcmp(way, "handler")) {
		signal(SIGUSR1, stay);
		raise(SIGUSR1);
	} else if (!strcmp(way, "executes")) {
		run_executes();
	} else if (!strcmp(way, "crowd")) {
		run_crowd();
	} else {
		fputs("usage: attach_programs WAY\n", stderr);
		return 2;
	}
	if (!wrong_count)
		puts("ok");
	return wrong_count != 0;
}
