/* SPDX-License-Identifier: MIT */
/* host_states SCENE [TIMES [MS]]: a program on the reference accelerator whose first thread waits
 * or computes between two launches, TIMES times for MS. Prints "SCENE FROM TO" for each time. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft/refdev/refdev.h"
#include "tests/idle/stamps.h"

#define OK(call) EXPECT((call) == refdevSuccess)

static refdevStream_t stream;
static refdevKernel_t nothing;
static unsigned wait_ms = 60;

static void run_nothing(const refdevGroup *group, const void *arguments)
{
	(void)group;
	(void)arguments;
}

static void launch(void)
{
	static const refdevDim3 one = {1, 1, 1};

	OK(refdevLaunchKernel(nothing, one, one, NULL, 0, stream));
	OK(refdevStreamSynchronize(stream));
}

static void compute_ms(unsigned ms)
{
	for (uint64_t until = now_ns() + ms * 1000000ull; now_ns() < until;)
		continue;
}

/* A helper thread or process, which does @work each time that it is woken. */
static sem_t *woken, *ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool is_done;
static int ends[2];
static char path[64];

static void *help(void *work)
{
	pthread_setname_np(pthread_self(), "helper");
	for (;;) {
		while (sem_wait(woken))
			continue;
		((void (*)(void))work)();
	}
	return NULL;
}

static void make_semaphores(void)
{
	woken = mmap(NULL, 2 * sizeof *woken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ready = woken + 1;
	sem_init(woken, 1, 0);
	sem_init(ready, 1, 0);
}

static void start_helper(void (*work)(void))
{
	pthread_t thread;

	make_semaphores();
	EXPECT(!pthread_create(&thread, NULL, help, (void *)work));
}

static void start_helper_process(void (*work)(void))
{
	make_semaphores();
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		help((void *)work);
	}
}

/* Scenes: a function that prepares, and one that runs each time ------------------------------ */

static void hold_asleep(void)
{
	pthread_mutex_lock(&mutex);
	sem_post(ready);
	sleep_ms(wait_ms);
	pthread_mutex_unlock(&mutex);
}

static void hold_computing(void)
{
	pthread_mutex_lock(&mutex);
	sem_post(ready);
	compute_ms(wait_ms);
	pthread_mutex_unlock(&mutex);
}

static void lock(void)
{
	sem_post(woken);
	while (sem_wait(ready))
		continue;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static pthread_barrier_t barrier;

static void arrive_late(void)
{
	pthread_barrier_wait(&barrier);
	sleep_ms(wait_ms);
	pthread_barrier_wait(&barrier);
}

/* In the second round of two threads, the barrier has the value of a lock that is waited for. */
static void wait_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	sem_post(woken);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	pthread_barrier_destroy(&barrier);
}

static void prepare_barrier(void)
{
	start_helper(arrive_late);
}

static void prepare_lock(void)
{
	start_helper(hold_asleep);
}

static void prepare_lock_computing(void)
{
	start_helper(hold_computing);
}

static void prepare_lock_inheriting(void)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &attributes);
	start_helper(hold_asleep);
}

static void signal_condition(void)
{
	sleep_ms(wait_ms);
	pthread_mutex_lock(&mutex);
	is_done = true;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}

static void prepare_condition(void)
{
	start_helper(signal_condition);
}

static void wait_condition(void)
{
	pthread_mutex_lock(&mutex);
	is_done = false;
	sem_post(woken);
	while (!is_done)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void *sleep_and_end(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "helper");
	sleep_ms(wait_ms);
	return NULL;
}

static void join(void)
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, sleep_and_end, NULL));
	pthread_join(thread, NULL);
}

static void write_end(void)
{
	sleep_ms(wait_ms);
	EXPECT(write(ends[1], "x", 1) == 1);
}

static void read_end(void)
{
	char c;

	sem_post(woken);
	EXPECT(read(ends[0], &c, 1) == 1);
}

static void poll_end(void)
{
	struct pollfd p = {.fd = ends[0], .events = POLLIN};
	char c;

	sem_post(woken);
	EXPECT(ppoll(&p, 1, NULL, NULL) == 1);
	EXPECT(read(ends[0], &c, 1) == 1);
}

static void prepare_pipe(void)
{
	EXPECT(!pipe(ends));
	start_helper(write_end);
}

static void prepare_pipe_process(void)
{
	EXPECT(!pipe(ends));
	start_helper_process(write_end);
	close(ends[1]);
}

static void prepare_socket(void)
{
	EXPECT(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	start_helper(write_end);
}

static void write_fifo(void)
{
	int fd;

	sleep_ms(wait_ms);
	fd = open(path, O_WRONLY);
	EXPECT(write(fd, "x", 1) == 1);
	close(fd);
}

static void prepare_fifo(void)
{
	snprintf(path, sizeof path, "./fifo");
	EXPECT(!mkfifo(path, 0600));
	start_helper(write_fifo);
}

static void read_fifo(void)
{
	char c;
	int fd;

	sem_post(woken);
	fd = open(path, O_RDONLY);
	EXPECT(read(fd, &c, 1) == 1);
	close(fd);
}

/* Read a file that the kernel has in memory. */
static void prepare_file(void)
{
	static char block[1 << 20];

	ends[0] = open("./data", O_RDWR | O_CREAT, 0600);
	EXPECT(ends[0] >= 0);
	for (int i = 0; i < 64; i++)
		EXPECT(write(ends[0], block, sizeof block) == sizeof block);
}

static void read_file(void)
{
	static char block[1 << 16];

	for (uint64_t until = now_ns() + wait_ms * 1000000ull; now_ns() < until;)
		if (read(ends[0], block, sizeof block) <= 0)
			lseek(ends[0], 0, SEEK_SET);
}

static void prepare_nothing(void)
{
}

static void sleep_now(void)
{
	sleep_ms(wait_ms);
}

static void wait_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		sleep_ms(wait_ms);
		_exit(0);
	}
	EXPECT(waitpid(pid, NULL, 0) == pid);
}

static void compute(void)
{
	compute_ms(wait_ms);
}

static void touch(void)
{
	enum { BYTES = 8 << 20 };
	uint64_t until = now_ns() + wait_ms * 1000000ull;

	while (now_ns() < until) {
		char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(memory, BYTES, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < BYTES; i += 4096)
			memory[i] = 1;
		munmap(memory, BYTES);
	}
}

static void stop_parent(void)
{
	kill(getppid(), SIGSTOP);
	sleep_ms(wait_ms);
	kill(getppid(), SIGCONT);
	sem_post(ready);
}

static void prepare_stop(void)
{
	start_helper_process(stop_parent);
}

static void be_stopped(void)
{
	sem_post(woken);
	while (sem_wait(ready))
		continue;
}

/* A thread that ends; the next one has its place in the segment. */
static void *call_and_end(void *unused)
{
	int count;

	(void)unused;
	OK(refdevGetDeviceCount(&count));
	sleep_ms(wait_ms);
	OK(refdevGetDeviceCount(&count));
	return NULL;
}

static void run_short_thread(void)
{
	pthread_t thread;

	EXPECT(!pthread_create(&thread, NULL, call_and_end, NULL));
	pthread_join(thread, NULL);
}

/* A process that only a privileged user may debug. */
static void prepare_hidden(void)
{
	EXPECT(!prctl(PR_SET_DUMPABLE, 0));
}

/* Compete for one processor with @count processes that compute. */
static void compete(int count)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	EXPECT(!sched_setaffinity(0, sizeof one, &one));
	for (int i = 0; i < count; i++)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				compute_ms(1000);
		}
}

/* The thread gets an eighth of the processor. */
static void prepare_stolen(void)
{
	compete(7);
}

/* A holder with a low priority, which computes, and other processes that take its processor. */
static void hold_low(void)
{
	struct timespec used;
	uint64_t until;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
	pthread_mutex_lock(&mutex);
	sem_post(ready);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	until = (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec + 3000000;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while ((uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec < until);
	pthread_mutex_unlock(&mutex);
}

static void prepare_inversion(void)
{
	compete(3);
	start_helper(hold_low);
}

static const struct scene {
	const char *name;
	void (*prepare)(void), (*run)(void);
} scenes[] = {
	{"lock", prepare_lock, lock},
	{"lock_computing", prepare_lock_computing, lock},
	{"lock_inheriting", prepare_lock_inheriting, lock},
	{"inversion", prepare_inversion, lock},
	{"condition", prepare_condition, wait_condition},
	{"barrier", prepare_barrier, wait_barrier},
	{"join", prepare_nothing, join},
	{"pipe", prepare_pipe, read_end},
	{"pipe_process", prepare_pipe_process, read_end},
	{"poll", prepare_pipe_process, poll_end},
	{"socket", prepare_socket, read_end},
	{"fifo", prepare_fifo, read_fifo},
	{"file", prepare_file, read_file},
	{"sleep", prepare_nothing, sleep_now},
	{"child", prepare_nothing, wait_child},
	{"compute", prepare_nothing, compute},
	{"faults", prepare_nothing, touch},
	{"stopped", prepare_stop, be_stopped},
	{"short_threads", prepare_nothing, run_short_thread},
	{"hidden", prepare_hidden, sleep_now},
	{"stolen", prepare_stolen, compute},
};

static void run_scene(const struct scene *scene, int times)
{
	scene->prepare();
	OK(refdevStreamCreate(&stream));
	OK(refdevRegisterKernel(&nothing, "nothing", run_nothing));
	launch();
	for (int i = 0; i < times; i++) {
		uint64_t from = now_ns();

		scene->run();
		say_stamps(scene->name, from, now_ns());
		launch();
	}
}

int main(int argc, char **argv)
{
	EXPECT(argc > 1);
	if (argc > 3)
		wait_ms = (unsigned)atoi(argv[3]);
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		if (!strcmp(scenes[i].name, argv[1])) {
			run_scene(&scenes[i], argc > 2 ? atoi(argv[2]) : 5);
			fflush(stdout);
			_exit(0);
		}
	EXPECT(!"a known scene");
}
