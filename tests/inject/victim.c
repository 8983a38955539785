/* SPDX-License-Identifier: MIT */
/* victim WAY [THREADS]: runs until SIGTERM, or until its wait has ended, and prints what it
 * noticed: "ok", or what was wrong. Prints "ready" when the interesting part begins.
 *
 *   compute     no system call; all state in vector registers. THREADS more do the same
 *   mallocs     THREADS (0: main alone) allocate, fill, check and free
 *   masked      all signals blocked
 *   handler     never leaves a signal handler
 *   forks       forks children, and waits for them
 *   threads     creates and joins threads
 *   sleepers    THREADS sleep
 *   flags       has unusual rounding, and exceptions unmasked
 *   execs       calls exec every 20 ms
 *   ends        ends after 300 ms
 *   others: one wait of 2 s; says if it ended early, with an error, or was short */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 256, BIG = 1 << 20, LANES = 8 };

static volatile sig_atomic_t over;
static const struct timespec two = {2, 0};

static void end(int number)
{
	(void)number;
	over = 1;
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Return NULL if all results are equal. */
static void *compute(void *unused)
{
	double first[LANES] = {0};

	(void)unused;
	for (int round = 0; !over; round++) {
		double b[LANES];

		for (int k = 0; k < LANES; k++)
			b[k] = k + 1;
		for (int i = 0; i < 1000; i++)
			for (int k = 0; k < LANES; k++)
				b[k] = sqrt(b[k] * b[k] + 1e-9);
		if (!round)
			memcpy(first, b, sizeof b);
		if (memcmp(first, b, sizeof b) != 0)
			return "WRONG RESULT";
	}
	return NULL;
}

static void *allocate(void *seed)
{
	unsigned x = (unsigned)(size_t)seed + 1;
	unsigned char *blocks[BLOCKS] = {0};
	size_t sizes[BLOCKS] = {0};

	while (!over) {
		unsigned i = (x = x * 1664525 + 1013904223) >> 24;

		for (size_t k = 0; k < sizes[i]; k++)
			if (blocks[i][k] != (unsigned char)i)
				return "DAMAGED HEAP";
		free(blocks[i]);
		sizes[i] = (x >> 8) % ((x & 15) ? 200 : 20000);
		blocks[i] = malloc(sizes[i]);
		if (!blocks[i])
			return "NO MEMORY";
		memset(blocks[i], (int)i, sizes[i]);
	}
	return NULL;
}

static void *do_nothing(void *unused)
{
	return unused;
}

static void *sleep_long(void *unused)
{
	(void)unused;
	while (!over)
		if (usleep(50000) && errno == EINTR && !over) /* SIGTERM interrupts a thread */
			return "INTERRUPTED";
	return NULL;
}

static const char *run_threads(void *(*work)(void *), int count)
{
	pthread_t threads[256];
	void *result = NULL, *wrong = NULL;

	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
	ready();
	if (!count)
		wrong = work(NULL);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], &result);
		wrong = result ? result : wrong;
	}
	return wrong;
}

static void stay(int number)
{
	(void)number;
	ready();
	while (!over)
		poll(NULL, 0, 20);
}

static const char *stay_in_handler(void)
{
	signal(SIGUSR1, stay);
	raise(SIGUSR1);
	return NULL;
}

static const char *fork_all_the_time(void)
{
	ready();
	while (!over) {
		pid_t child = fork();
		int status = 0;

		if (!child)
			_exit(malloc(100) ? 3 : 4);
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 3)
			return "BAD CHILD";
	}
	return NULL;
}

static const char *create_all_the_time(void)
{
	ready();
	while (!over) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL))
			return "NO THREAD";
	}
	return NULL;
}

static const char *keep_flags(void)
{
	volatile double one = 1, three = 3, zero = 0;
	double up;

	fesetround(FE_UPWARD);
	feenableexcept(FE_DIVBYZERO);
	(void)zero;
	up = one / three;
	ready();
	while (!over)
		if (one / three != up || fegetround() != FE_UPWARD || fegetexcept() != FE_DIVBYZERO)
			return "FLAGS LOST";
	return NULL;
}

static const char *stay_masked(void)
{
	sigset_t all, now;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigprocmask(SIG_SETMASK, NULL, &all);
	ready();
	for (int i = 0; i < 40; i++) {
		usleep(50000);
		sigprocmask(SIG_SETMASK, NULL, &now);
		if (memcmp(&all, &now, sizeof(long)) != 0)
			return "MASK CHANGED";
	}
	return NULL;
}

/* Waits --------------------------------------------------------------------------------------- */

static int pipe_fds[2], sockets[2];
static char big[BIG];

/* Return what the call returned; 0 is right. */
static int wait_once(const char *way)
{
	struct pollfd f = {pipe_fds[0], POLLIN, 0};
	struct epoll_event event;
	struct timespec at;
	struct timeval tv = {2, 0};
	sigset_t none, usr;
	fd_set set;
	int fd, r, e;

	sigemptyset(&none);
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += 2;
	if (!strcmp(way, "poll"))
		return poll(&f, 1, 2000);
	if (!strcmp(way, "ppoll"))
		return ppoll(&f, 1, &two, &none);
	if (!strcmp(way, "select")) {
		FD_ZERO(&set);
		FD_SET(pipe_fds[0], &set);
		return select(pipe_fds[0] + 1, &set, NULL, NULL, &tv);
	}
	if (!strcmp(way, "epoll"))
		return epoll_wait(epoll_create1(0), &event, 1, 2000);
	if (!strcmp(way, "nanosleep"))
		return nanosleep(&two, NULL);
	if (!strcmp(way, "trap-ignored")) {
		struct sigaction action;

		signal(SIGTRAP, SIG_IGN);
		r = nanosleep(&two, NULL);
		sigaction(SIGTRAP, NULL, &action);
		return action.sa_handler == SIG_IGN ? r : -2;
	}
	if (!strcmp(way, "semaphore")) {
		sem_t s;

		sem_init(&s, 0, 0);
		return sem_timedwait(&s, &at) && errno == ETIMEDOUT ? 0 : -1;
	}
	if (!strcmp(way, "semop")) {
		struct sembuf down = {0, -1, 0};

		fd = semget(IPC_PRIVATE, 1, 0600);
		r = semtimedop(fd, &down, 1, &two);
		e = errno;
		semctl(fd, 0, IPC_RMID);
		errno = e;
		return r && e == EAGAIN ? 0 : -1;
	}
	if (!strcmp(way, "sigwait")) {
		sigprocmask(SIG_BLOCK, &usr, NULL);
		return sigtimedwait(&usr, NULL, &two) < 0 && errno == EAGAIN ? 0 : -1;
	}
	if (!strcmp(way, "receive")) {
		setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
		return recv(sockets[0], big, 1, 0) < 0 && errno == EAGAIN ? 0 : -1;
	}
	if (!strcmp(way, "inotify")) {
		char path[64];

		fd = inotify_init1(0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", pipe_fds[0]);
		inotify_add_watch(fd, ".", IN_CREATE);
		if (!fork()) {
			sleep(2);
			close(open("noticed", O_CREAT | O_WRONLY, 0600));
			_exit(0);
		}
		r = read(fd, big, 4096) > 0 ? 0 : -1;
		e = errno;
		wait(NULL);
		errno = e;
		return r;
	}
	if (!strcmp(way, "wait")) {
		if (!fork()) {
			sleep(2);
			_exit(0);
		}
		return wait(NULL) > 0 ? 0 : -1;
	}
	if (!strcmp(way, "message")) {
		fd = msgget(IPC_PRIVATE, 0600);
		if (!fork()) {
			sleep(2);
			msgctl(fd, IPC_RMID, NULL);
			_exit(0);
		}
		r = msgrcv(fd, big, 8, 0, 0) < 0 && errno == EIDRM ? 0 : -1;
		e = errno;
		wait(NULL);
		errno = e;
		return r;
	}
	if (!strcmp(way, "write")) {
		if (!fork()) {
			close(pipe_fds[1]);
			sleep(2);
			while (read(pipe_fds[0], big, sizeof big) > 0)
				;
			_exit(0);
		}
		close(pipe_fds[0]);
		r = write(pipe_fds[1], big, sizeof big) == sizeof big ? 0 : -3;
		close(pipe_fds[1]);
		wait(NULL);
		return r;
	}
	if (!strcmp(way, "receive-all")) {
		if (!fork()) {
			(void)!write(sockets[1], big, 100);
			sleep(2);
			(void)!write(sockets[1], big, 100);
			_exit(0);
		}
		r = recv(sockets[0], big, 200, MSG_WAITALL) == 200 ? 0 : -3;
		wait(NULL);
		return r;
	}
	return -9;
}

static const char *check_wait(const char *way)
{
	static char text[128];
	struct timespec start, stop;
	double seconds;
	int r;

	if (pipe(pipe_fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return "NO PIPE";
	ready();
	clock_gettime(CLOCK_MONOTONIC, &start);
	errno = 0;
	r = wait_once(way);
	clock_gettime(CLOCK_MONOTONIC, &stop);
	seconds =
		(double)(stop.tv_sec - start.tv_sec) + (double)(stop.tv_nsec - start.tv_nsec) / 1e9;
	if (r == 0 && seconds > 1.99)
		return NULL;
	snprintf(text, sizeof text, "%s: returned %d after %.2f s: %s", way, r, seconds,
		 strerror(errno));
	return text;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "compute", *wrong;
	const int count = argc > 2 ? atoi(argv[2]) : 0;

	signal(SIGTERM, end);
	if (!strcmp(way, "compute"))
		wrong = run_threads(compute, count);
	else if (!strcmp(way, "mallocs"))
		wrong = run_threads(allocate, count);
	else if (!strcmp(way, "sleepers"))
		wrong = run_threads(sleep_long, count);
	else if (!strcmp(way, "masked"))
		wrong = stay_masked();
	else if (!strcmp(way, "handler"))
		wrong = stay_in_handler();
	else if (!strcmp(way, "forks"))
		wrong = fork_all_the_time();
	else if (!strcmp(way, "threads"))
		wrong = create_all_the_time();
	else if (!strcmp(way, "flags"))
		wrong = keep_flags();
	else if (!strcmp(way, "execs")) {
		ready();
		usleep(20000);
		execv("/proc/self/exe", argv);
		wrong = "NO EXEC";
	} else if (!strcmp(way, "ends")) {
		ready();
		usleep(300000);
		wrong = NULL;
	} else
		wrong = check_wait(way);
	printf("%s\n", wrong ? wrong : "ok");
	return wrong != NULL;
}
