/* SPDX-License-Identifier: MIT */
/* Idle time of the reference accelerator's device 0 while the launching thread is in one state on
 * the host: idle_host lock|inversion|condition|faults|pipe|file|socket|sleeping|polling|child|
 * computing|runnable|stopped|startup|huge_faults. The GPU activities are empty kernels. IDLE_TIMES:
 * number of repetitions (default HELD_TIMES). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft/refdev/refdev.h"
#include "tests/idle/stamps.h"

#define OK(call) EXPECT((call) == refdevSuccess)

/* HELD_MS: long enough for several readings by a collector on a busy machine */
enum { MS = 1000000, HELD_MS = 60, HELD_TIMES = 5, MAPPED = 48 << 20, HUGE_MAPPED = 64 << 20 };

static const refdevDim3 one = {1, 1, 1};
static refdevStream_t stream;
static refdevKernel_t nothing;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile unsigned sink;
static int shared_cpu; /* processor that several threads use */
static volatile bool must_stop;

static void run_nothing(const refdevGroup *group, const void *arguments)
{
	(void)group;
	(void)arguments;
}

static void launch(void)
{
	OK(refdevLaunchKernel(nothing, one, one, NULL, 0, stream));
	OK(refdevStreamSynchronize(stream));
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Compute until the thread has used this much CPU time. */
static void compute(uint64_t ns)
{
	const uint64_t until = cpu_ns() + ns;

	while (cpu_ns() < until)
		for (unsigned i = 0; i < 10000; i++)
			sink += i;
}

/* Write the stamps of a cause, and of the CPU time that the thread used meanwhile. Only the sums
 * matter, not the order. */
static void say_wait(const char *cause, uint64_t from, uint64_t cpu)
{
	const uint64_t used = cpu_ns() - cpu;

	say_stamps("host_computing", from, from + used);
	say_stamps(cause, from + used, now_ns());
}

/* Threads that hold something ------------------------------------------------------------ */

struct helper {
	pthread_t thread;
	int pipe[2]; /* the helper writes a byte when it is ready */
};

static struct helper helper;

static void begin_helper(void *(*run)(void *))
{
	char byte;

	EXPECT(!pipe(helper.pipe));
	EXPECT(!pthread_create(&helper.thread, NULL, run, NULL));
	EXPECT(read(helper.pipe[0], &byte, 1) == 1);
}

static void tell_ready(void)
{
	EXPECT(write(helper.pipe[1], "", 1) == 1);
}

static void end_helper(void)
{
	pthread_join(helper.thread, NULL);
	close(helper.pipe[0]);
	close(helper.pipe[1]);
}

static void *hold_lock(void *unused)
{
	pthread_setname_np(pthread_self(), "holder");
	pthread_mutex_lock(&mutex);
	tell_ready();
	sleep_ms(HELD_MS);
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* Wait for a lock that a helper holds. @others: threads that disturb the helper; may be NULL. */
static void wait_for_lock(void *(*hold)(void *), void (*others)(void))
{
	uint64_t from, cpu;

	begin_helper(hold);
	if (others)
		others();
	from = now_ns();
	cpu = cpu_ns();
	pthread_mutex_lock(&mutex);
	must_stop = true;
	say_wait("host_lock", from, cpu);
	pthread_mutex_unlock(&mutex);
	end_helper();
}

static void provoke_lock(void)
{
	wait_for_lock(hold_lock, NULL);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EXPECT(!sched_setaffinity(0, sizeof set, &set));
}

static int find_cpu(void)
{
	cpu_set_t set;

	EXPECT(!sched_getaffinity(0, sizeof set, &set));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return cpu;
	return 0;
}

static void *burn(void *unused)
{
	pin(shared_cpu);
	while (!must_stop)
		sink++;
	return unused;
}

/* The holder of the lock has the lowest priority, and others keep its processor busy. */
static void *hold_lock_late(void *unused)
{
	pthread_setname_np(pthread_self(), "holder");
	pin(shared_cpu);
	pthread_mutex_lock(&mutex);
	EXPECT(!setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19));
	tell_ready();
	compute(MS);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static pthread_t busy_threads[2];

static void begin_busy(void)
{
	for (int i = 0; i < 2; i++)
		EXPECT(!pthread_create(&busy_threads[i], NULL, burn, NULL));
}

static void provoke_inversion(void)
{
	shared_cpu = find_cpu();
	must_stop = false;
	wait_for_lock(hold_lock_late, begin_busy);
	for (int i = 0; i < 2; i++)
		pthread_join(busy_threads[i], NULL);
}

static bool is_set;

static void *set_condition(void *unused)
{
	tell_ready();
	sleep_ms(HELD_MS);
	pthread_mutex_lock(&mutex);
	is_set = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void provoke_condition(void)
{
	uint64_t from, cpu;

	is_set = false;
	begin_helper(set_condition);
	from = now_ns();
	cpu = cpu_ns();
	pthread_mutex_lock(&mutex);
	while (!is_set)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	say_wait("host_condition", from, cpu);
	end_helper();
}

/* Descriptors ---------------------------------------------------------------------------- */

/* Start a process that sleeps, writes a byte to a descriptor, and ends. */
static pid_t write_late(int to)
{
	pid_t pid = fork();

	EXPECT(pid >= 0);
	if (pid)
		return pid;
	sleep_ms(HELD_MS);
	_exit(write(to, "", 1) != 1);
}

static void read_late(const char *cause, int from_fd, int to_fd)
{
	pid_t pid = write_late(to_fd);
	uint64_t from = now_ns(), cpu = cpu_ns();
	char byte;

	EXPECT(read(from_fd, &byte, 1) == 1);
	say_wait(cause, from, cpu);
	EXPECT(waitpid(pid, NULL, 0) == pid);
}

static void provoke_pipe(void)
{
	int fd[2];

	EXPECT(!pipe(fd));
	read_late("host_pipe", fd[0], fd[1]);
	close(fd[0]);
	close(fd[1]);
}

static void provoke_socket(void)
{
	int fd[2];

	EXPECT(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	read_late("host_socket", fd[0], fd[1]);
	close(fd[0]);
	close(fd[1]);
}

/* Wait for a lock of a file that another process holds. */
static void provoke_file(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open("batch.bin", O_RDWR | O_CREAT | O_CLOEXEC, 0600), ready[2];
	uint64_t from, cpu;
	pid_t pid;
	char byte;

	EXPECT(fd >= 0 && !pipe(ready) && (pid = fork()) >= 0);
	if (!pid) {
		EXPECT(!fcntl(fd, F_SETLK, &lock) && write(ready[1], "", 1) == 1);
		sleep_ms(HELD_MS);
		_exit(0);
	}
	EXPECT(read(ready[0], &byte, 1) == 1);
	from = now_ns();
	cpu = cpu_ns();
	EXPECT(!fcntl(fd, F_SETLKW, &lock));
	say_wait("host_file", from, cpu);
	EXPECT(waitpid(pid, NULL, 0) == pid);
	close(fd);
	close(ready[0]);
	close(ready[1]);
}

static void provoke_polling(void)
{
	struct pollfd none = {.fd = -1};
	uint64_t from = now_ns(), cpu = cpu_ns();

	EXPECT(!poll(&none, 1, HELD_MS));
	say_wait("host_polling", from, cpu);
}

static void provoke_child(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	pid_t pid = write_late(null);
	uint64_t from = now_ns(), cpu = cpu_ns();

	EXPECT(waitpid(pid, NULL, 0) == pid);
	say_wait("host_child", from, cpu);
	close(null);
}

/* The rest ------------------------------------------------------------------------------- */

static void provoke_sleeping(void)
{
	uint64_t from = now_ns(), cpu = cpu_ns();

	sleep_ms(HELD_MS);
	say_wait("host_sleeping", from, cpu);
}

static void provoke_computing(void)
{
	uint64_t from = now_ns(), cpu = cpu_ns();

	compute(HELD_MS * (uint64_t)MS);
	say_wait("host_runnable", from, cpu); /* if the machine is busy */
}

/* Two processes use the processor of this thread. */
static void provoke_runnable(void)
{
	cpu_set_t all;
	pid_t busy[2];
	uint64_t from, cpu;

	EXPECT(!sched_getaffinity(0, sizeof all, &all));
	shared_cpu = find_cpu();
	for (int i = 0; i < 2; i++)
		if (!(busy[i] = fork()))
			burn(NULL);
	pin(shared_cpu);
	from = now_ns();
	cpu = cpu_ns();
	compute(HELD_MS / 2 * (uint64_t)MS);
	say_wait("host_runnable", from, cpu);
	EXPECT(!sched_setaffinity(0, sizeof all, &all));
	for (int i = 0; i < 2; i++) {
		kill(busy[i], SIGKILL);
		EXPECT(waitpid(busy[i], NULL, 0) == busy[i]);
	}
}

/* Write to new pages. @advice: their size */
static void touch_pages(size_t bytes, int advice)
{
	const long page = sysconf(_SC_PAGESIZE);
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t from, cpu, used;

	EXPECT(memory != MAP_FAILED);
	madvise(memory, bytes, advice);
	from = now_ns();
	cpu = cpu_ns();
	for (size_t i = 0; i < bytes; i += (size_t)page)
		memory[i] = 1;
	used = cpu_ns() - cpu;
	say_stamps("host_faults", from, from + used);
	say_stamps("host_runnable", from + used, now_ns()); /* if the machine is busy */
	munmap(memory, bytes);
}

static void provoke_faults(void)
{
	touch_pages(MAPPED, MADV_NOHUGEPAGE);
}

/* Write to new pages of 2 MiB. The kernel has few faults, and clears much memory in each. */
static void provoke_huge_faults(void)
{
	touch_pages(HUGE_MAPPED, MADV_HUGEPAGE);
}

/* Another process stops this process. */
static void provoke_stopped(void)
{
	pid_t self = getpid(), pid = fork();
	uint64_t from = now_ns(), to, stopped = 0;

	EXPECT(pid >= 0);
	if (!pid) {
		kill(self, SIGSTOP);
		sleep_ms(HELD_MS);
		kill(self, SIGCONT);
		_exit(0);
	}
	/* the longest step of the clock is the time in which the process was stopped */
	for (uint64_t last = from; last - from < 2 * HELD_MS * (uint64_t)MS; last = to) {
		to = now_ns();
		if (to - last > stopped) {
			stopped = to - last;
			from = last;
		}
		if (stopped > HELD_MS / 2 * (uint64_t)MS)
			break;
	}
	say_stamps("host_stopped", from, from + stopped);
	EXPECT(waitpid(pid, NULL, 0) == pid);
}

/* Before the steps, the program runs another kernel and takes its time. */
static void provoke_startup(void)
{
	static bool is_started;
	static refdevKernel_t prepare;
	uint64_t from;

	if (!is_started) {
		OK(refdevRegisterKernel(&prepare, "prepare", run_nothing));
		OK(refdevLaunchKernel(prepare, one, one, NULL, 0, stream));
		OK(refdevStreamSynchronize(stream));
		from = now_ns();
		sleep_ms(5 * HELD_MS);
		say_stamps("startup", from, now_ns());
	}
	is_started = true;
	sleep_ms(HELD_MS / 6);
}

static const struct {
	const char *name;
	void (*provoke)(void);
} rules[] = {
	{"lock", provoke_lock},
	{"inversion", provoke_inversion},
	{"condition", provoke_condition},
	{"faults", provoke_faults},
	{"pipe", provoke_pipe},
	{"file", provoke_file},
	{"socket", provoke_socket},
	{"sleeping", provoke_sleeping},
	{"polling", provoke_polling},
	{"child", provoke_child},
	{"computing", provoke_computing},
	{"runnable", provoke_runnable},
	{"stopped", provoke_stopped},
	{"startup", provoke_startup},
	{"huge_faults", provoke_huge_faults},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const char *times = getenv("IDLE_TIMES");
	size_t rule = 0;

	while (rule < sizeof rules / sizeof *rules && strcmp(rules[rule].name, name))
		rule++;
	EXPECT(rule < sizeof rules / sizeof *rules);
	OK(refdevStreamCreate(&stream));
	OK(refdevRegisterKernel(&nothing, "nothing", run_nothing));
	for (unsigned i = 0; i < (times ? (unsigned)atoi(times) : HELD_TIMES); i++) {
		launch();
		rules[rule].provoke();
		launch();
		fflush(stdout);
	}
	return 0;
}
