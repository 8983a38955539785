/* SPDX-License-Identifier: MIT */
/* sampled WAY [MS]: enqueues an OpenCL fill, spends MS milliseconds in a known function outside of
 * any call, repeats that five times, and prints what it measured. */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

static cl_command_queue queue;
static cl_mem buffer;
static volatile double sink;
static int pipe_fds[2];

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void set_up(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;

	if (clGetPlatformIDs(1, &platform, NULL))
		exit(77);
	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = clCreateCommandQueue(context, device, 0, NULL);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
}

static void launch(void)
{
	const char zero = 0;

	clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, 4096, 0, NULL, NULL);
	clFinish(queue);
}

PLAIN static void nap(double ms)
{
	struct timespec t = {(time_t)(ms / 1e3), (long)((ms - (long)(ms / 1e3) * 1e3) * 1e6)};

	nanosleep(&t, NULL);
	__asm__ volatile("" ::: "memory");
}

PLAIN static void compute(double ms)
{
	const double end = now_ms() + ms;

	while (now_ms() < end)
		for (int i = 0; i < 10000; i++)
			sink = sink * 0.5 + i;
	__asm__ volatile("" ::: "memory");
}

PLAIN static void recurse(int depth, double ms)
{
	volatile char room[64];

	room[0] = 1;
	if (depth)
		recurse(depth - 1, ms);
	else
		nap(ms);
	__asm__ volatile("" ::"r"(room) : "memory");
}

static void *feed(void *ms)
{
	struct timespec t = {0, (long)(*(double *)ms * 1e6)};

	nanosleep(&t, NULL);
	return write(pipe_fds[1], "x", 1) == 1 ? NULL : ms;
}

PLAIN static void read_pipe(double ms)
{
	pthread_t thread;
	char c;

	pthread_create(&thread, NULL, feed, &ms);
	if (read(pipe_fds[0], &c, 1) != 1)
		puts("the read was disturbed");
	pthread_join(thread, NULL);
}

/* Calls that a stop could disturb. Each has a short time-out, with some computing in between, so
 * that samples find the thread running just before and after it blocks. */
static int wrong;

static void expect(int right, const char *call)
{
	if (right)
		return;
	wrong++;
	printf("%s: %s\n", call, strerror(errno));
}

static void spin(int units)
{
	for (int i = 0; i < units * 1000; i++)
		sink = sink * 0.5 + i;
}

/* A thread that writes a byte to a pipe, and empties another pipe, now and then. */
struct fed {
	pthread_t thread;
	int in[2], out[2];
	volatile int is_over;
};

static void *feed_often(void *data)
{
	struct fed *f = data;
	static char block[4096];

	while (!f->is_over) {
		usleep(200);
		if (write(f->in[1], "x", 1) != 1 && errno != EAGAIN)
			return data;
		if (read(f->out[0], block, sizeof block) < 0 && errno != EAGAIN)
			return data;
	}
	return NULL;
}

static void fed_start(struct fed *f)
{
	f->is_over = 0;
	expect(!pipe(f->in) && !pipe(f->out), "pipe");
	fcntl(f->in[1], F_SETFL, O_NONBLOCK);
	fcntl(f->out[0], F_SETFL, O_NONBLOCK);
	fcntl(f->out[1], F_SETPIPE_SZ, 4096);
	pthread_create(&f->thread, NULL, feed_often, f);
}

static void fed_stop(struct fed *f)
{
	void *failed;

	f->is_over = 1;
	pthread_join(f->thread, &failed);
	expect(!failed, "feeder");
	for (int i = 0; i < 2; i++) {
		close(f->in[i]);
		close(f->out[i]);
	}
}

static void disturb(double ms)
{
	const double end = now_ms() + ms;
	const int epoll = epoll_create1(0), set = semget(IPC_PRIVATE, 1, 0600);
	struct epoll_event event;
	struct pollfd descriptor = {.fd = pipe_fds[0], .events = POLLIN};
	static char block[4096];
	struct sembuf take = {0, -1, 0};
	struct fed fed;
	const struct timespec little = {0, 300000};
	struct timespec rest;
	sigset_t signals;
	int calls = 0;

	fed_start(&fed);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	for (unsigned turn = 0; now_ms() < end; turn++, calls++) {
		errno = 1234;
		spin((int)(turn * 37 % 200));
		expect(errno == 1234, "errno");
		switch (turn % 7) {
		case 0: expect(epoll_wait(epoll, &event, 1, 1) == 0, "epoll_wait"); break;
		case 1:
			expect(semtimedop(set, &take, 1, &little) < 0 && errno == EAGAIN,
			       "semtimedop");
			break;
		case 2: expect(poll(&descriptor, 1, 1) == 0, "poll"); break;
		case 3: expect(nanosleep(&little, &rest) == 0, "nanosleep"); break;
		case 4:
			expect(sigtimedwait(&signals, NULL, &little) < 0 && errno == EAGAIN,
			       "sigtimedwait");
			break;
		case 5: expect(read(fed.in[0], block, 1) == 1, "read"); break;
		case 6: /* atomic, so it waits until the pipe is empty */
			expect(write(fed.out[1], block, sizeof block) == sizeof block, "write");
			break;
		}
	}
	fed_stop(&fed);
	semctl(set, 0, IPC_RMID);
	close(epoll);
	fprintf(stderr, "%d calls\n", calls);
}

/* Trace the parent. A thread has one tracer at a time, so wait until the collector has taken its
 * sample. */
static int seize_parent(void)
{
	for (int i = 0; i < 1000; i++) {
		if (!ptrace(PTRACE_SEIZE, getppid(), NULL, NULL))
			return 1;
		nap(1);
	}
	return 0;
}

/* Let a child trace this process, as a debugger does, until this process ends. */
static void be_traced(void)
{
	int status;
	pid_t stopped;
	char c;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (fork()) {
		close(pipe_fds[1]); /* so that read() ends if the child does */
		if (read(pipe_fds[0], &c, 1) != 1) {
			fputs("the process could not be traced\n", stderr);
			exit(1);
		}
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!seize_parent() || write(pipe_fds[1], "x", 1) != 1)
		_exit(1);
	while ((stopped = waitpid(-1, &status, __WALL)) > 0)
		if (WIFSTOPPED(status)) /* deliver signals */
			ptrace(PTRACE_CONT, stopped, NULL, status >> 16 ? 0 : WSTOPSIG(status));
	_exit(0);
}

/* Threads, each known by a call, that end while they are sampled. */
static void *end_early(void *units)
{
	cl_platform_id platform;

	clGetPlatformIDs(1, &platform, NULL);
	spin(*(int *)units);
	return units;
}

static void use_threads(double ms)
{
	const double end = now_ms() + ms;
	pthread_t threads[4];
	int units[4], ended = 0;
	void *result;

	while (now_ms() < end)
		for (int i = 0; i < 8; i++) {
			const int k = i % 4;

			if (i >= 4) {
				pthread_join(threads[k], &result);
				expect(result == &units[k], "pthread_join");
				ended++;
				continue;
			}
			units[k] = 100 + (ended + i) * 37 % 900;
			pthread_create(&threads[k], NULL, end_early, &units[k]);
		}
	fprintf(stderr, "%d threads\n", ended);
}

/* Fork and execute other programs, with some computing in between. */
static void spawn(double ms)
{
	const double end = now_ms() + ms;
	int count = 0, status;

	for (; now_ms() < end; count++) {
		const pid_t child = count % 2 ? vfork() : fork();

		if (!child && count % 4 < 2)
			execl("/bin/sh", "sh", "-c", "exit 7", NULL);
		if (!child && count % 4 == 2)
			raise(SIGKILL);
		if (!child)
			_exit(7);
		spin(count * 37 % 300);
		expect(waitpid(child, &status, 0) == child, "waitpid");
		expect(count % 4 == 2 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
				      : WIFEXITED(status) && WEXITSTATUS(status) == 7,
		       "status");
	}
	fprintf(stderr, "%d processes\n", count);
}

/* Become the same program, argv[3] times. */
static void execute(char **argv, double ms)
{
	char times[16];
	const int left = argv[3] ? atoi(argv[3]) : 0;

	launch();
	compute(ms);
	if (!left)
		return;
	snprintf(times, sizeof times, "%d", left - 1);
	execl("/proc/self/exe", argv[0], argv[1], argv[2], times, NULL);
	expect(0, "execl");
}

/* Let a child stop this process for a time, as a debugger does. */
PLAIN static void be_stopped(double ms)
{
	pid_t child;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	child = fork();
	if (!child) {
		if (!seize_parent() || ptrace(PTRACE_INTERRUPT, getppid(), NULL, NULL) ||
		    waitpid(getppid(), NULL, 0) != getppid())
			_exit(1);
		nap(ms);
		_exit(0); /* the kernel resumes the process */
	}
	while (!waitpid(child, NULL, WNOHANG))
		sink += 1;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	const double ms = argc > 2 ? atof(argv[2]) : 50;
	double spent = 0;

	if (pipe(pipe_fds))
		return 1;
	set_up();
	launch();
	if (!strcmp(way, "traced"))
		be_traced();
	for (int i = 0; i < 5; i++) {
		const double start = now_ms();

		if (!strcmp(way, "compute") || !strcmp(way, "traced"))
			compute(ms);
		else if (!strcmp(way, "deep"))
			recurse(40, ms);
		else if (!strcmp(way, "pipe"))
			read_pipe(ms);
		else if (!strcmp(way, "stopped"))
			be_stopped(ms);
		else if (!strcmp(way, "threads"))
			use_threads(ms);
		else if (!strcmp(way, "spawn"))
			spawn(ms);
		else if (!strcmp(way, "exec"))
			execute(argv, ms);
		else if (!strcmp(way, "disturb"))
			disturb(ms);
		else
			nap(ms);
		spent += now_ms() - start;
		launch();
	}
	printf("spent %.3f wrong %d\n", spent, wrong);
	return 0;
}
