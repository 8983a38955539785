/* SPDX-License-Identifier: MIT */
/* A program for tests of processes: makes OpenCL calls, and starts, forks and ends in every
 * possible way.
 *
 * 	caller STEP [STEP ...]
 *
 * Each step is a word, followed by a colon and a number: calls:1000 fork exit:3
 *
 * The call is clGetPlatformInfo(), which is cheap, so that a test can make millions. Every process
 * prints "PID CALLS" when it ends normally. `tally:FILE` makes it count in a shared file instead,
 * one word per returned call. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static cl_platform_id platform;
static uint64_t made;
static _Atomic uint64_t *tally, spare_tally;
static uint64_t pace_ns;

static void die(const char *what)
{
	perror(what);
	_exit(99);
}

static void begin(void)
{
	made++; /* this call is also recorded */
	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS)
		die("no OpenCL platform");
	atomic_fetch_add(tally, 1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Make @n calls. If a pace is set, make the calls in bursts of 64. */
static void call(uint64_t n, _Atomic uint64_t *count)
{
	uint64_t begin_ns = now_ns(), i;
	char text[64];

	for (i = 0; i < n; i++) {
		clGetPlatformInfo(platform, CL_PLATFORM_PROFILE, sizeof text, text, NULL);
		atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
				      memory_order_release);
		while (pace_ns && i % 64 == 0 && now_ns() - begin_ns < i * pace_ns / 1000)
			;
	}
}

static void calls(uint64_t n)
{
	if (!platform)
		begin();
	call(n, tally);
	made += n;
}

struct work {
	uint64_t calls;
	_Atomic uint64_t count;
};

static void *thread_main(void *data)
{
	struct work *w = data;

	call(w->calls, &w->count);
	return NULL;
}

/* Run @n threads, @together at a time, each with @count calls. */
static void threads(unsigned n, unsigned together, uint64_t count)
{
	pthread_t *id = calloc(together, sizeof *id);
	struct work *work = calloc(together, sizeof *work);

	if (!platform)
		begin();
	for (unsigned done = 0; done < n; done += together) {
		for (unsigned i = 0; i < together; i++) {
			work[i].calls = count;
			if (pthread_create(&id[i], NULL, thread_main, &work[i]))
				die("pthread_create");
		}
		for (unsigned i = 0; i < together; i++)
			pthread_join(id[i], NULL);
		made += together * count;
		atomic_fetch_add(tally, together * count);
	}
	free(id);
	free(work);
}

/* Run @n children one after the other, each with @count calls, ending with _exit(). */
static void children(unsigned n, uint64_t count)
{
	if (!platform)
		begin();
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			call(count, &spare_tally);
			_exit(0);
		}
		if (pid < 0)
			die("fork");
		waitpid(pid, NULL, 0);
	}
}

static void open_tally(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, 4096))
		die(path);
	tally = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
}

/* Overwrite memory of our own segment. @what names the part. */
static void scribble(const char *what)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from = 0, to = 0, low, high;
	char line[1024];

	/* one mapping, parts of which have no access rights yet */
	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, ".gpuring") && sscanf(line, "%lx-%lx", &low, &high) == 2) {
			from = from ? from : low;
			to = high;
		}
	if (maps)
		fclose(maps);
	if (mprotect((void *)from, to - from, PROT_READ | PROT_WRITE))
		die("mprotect");
	if (!strcmp(what, "head"))
		memset((void *)from, 0xff, 4096);
	else if (!strcmp(what, "all"))
		for (unsigned long p = from; p < from + (1 << 20) && p < to; p++)
			*(char *)p = (char)random();
	else if (!strcmp(what, "blocks"))
		for (unsigned long p = to - (to - from) / 64 * 63; p < to; p += 64 << 10)
			memset((void *)p, 0xff, 64);
}

/* Wait until the collector, which is our parent, has mapped our rings, so that only the following
 * steps can cause errors. */
static void wait_until_seen(void)
{
	char path[64], line[1024];

	snprintf(path, sizeof path, "/proc/%d/maps", (int)getppid());
	for (int seen = 0; !seen; usleep(20000)) {
		FILE *maps = fopen(path, "r");

		if (!maps)
			die(path);
		while (fgets(line, sizeof line, maps))
			seen |= strstr(line, ".gpuring") != NULL;
		fclose(maps);
	}
}

/* Truncate our segment, as a faulty disk would. */
static void cut_ring(void)
{
	char path[256];
	const char *folder = getenv("GPUTAP_SESSION");

	snprintf(path, sizeof path, "for f in %s/*.gpuring; do truncate -s 8192 $f; done",
		 folder ? folder : "/nowhere");
	if (system(path))
		die("truncate");
}

static char **self;

static char **arguments_of(const char *steps)
{
	static char *argv[64];
	static char text[1024];
	int n = 0;

	snprintf(text, sizeof text, "%s", steps);
	argv[n++] = self[0];
	for (char *p = strtok(text, "+"); p && n < 63; p = strtok(NULL, "+"))
		argv[n++] = p;
	argv[n] = NULL;
	return argv;
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0)
		die("child");
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fprintf(stderr, "child ended with %x\n", status);
}

static void tell(void)
{
	printf("%d %llu\n", (int)getpid(), (unsigned long long)made);
	fflush(stdout);
}

static int held[2];

static void leave(bool late)
{
	pid_t pid;
	char none;

	fflush(stdout);
	if (pipe(held))
		die("pipe");
	pid = fork();
	if (pid > 0) {
		close(held[1]);
		if (late && read(held[0], &none, 1))
			die("read");
		tell();
		_exit(0);
	}
	made = 0;
	setsid();
}

static volatile sig_atomic_t was_continued;

static void on_continue(int number)
{
	(void)number;
	was_continued = 1;
}

static void step(const char *word)
{
	const char *value = strchr(word, ':') ? strchr(word, ':') + 1 : "";
	unsigned long long n = strtoull(value, NULL, 10);
	size_t length = strcspn(word, ":");
	pid_t pid;

#define IS(name) (length == strlen(name) && !strncmp(word, name, length))
	if (IS("calls")) {
		calls(n);
	} else if (IS("pace")) {
		pace_ns = n; /* in ps per call, so that 1000 calls take n ns */
	} else if (IS("forever")) {
		for (;;)
			calls(1000);
	} else if (IS("threads")) { /* threads:10000,4,3 */
		unsigned a = 0, b = 1, c = 1;

		sscanf(value, "%u,%u,%u", &a, &b, &c);
		threads(a, b, c);
	} else if (IS("children")) {
		unsigned a = 0, b = 1;

		sscanf(value, "%u,%u", &a, &b);
		children(a, b);
	} else if (IS("fork")) {
		/* the child continues with the steps; the parent waits for the child, and then also
		 * continues */
		fflush(stdout);
		pid = fork();
		if (pid == 0)
			made = 0;
		else
			wait_for(pid);
	} else if (IS("leave")) {
		/* the child continues alone; leave:late: its parent stays until the child executes
		 * `go` */
		leave(!strcmp(value, "late"));
	} else if (IS("go")) {
		close(held[1]);
	} else if (IS("alone")) { /* wait until the session is over */
		while (access(getenv("GPUTAP_SESSION"), F_OK) == 0)
			usleep(1000);
	} else if (IS("vfork")) {
		char **argv = arguments_of(value);

		pid = vfork();
		if (pid == 0) {
			execve("/proc/self/exe", argv, environ);
			_exit(98);
		}
		wait_for(pid);
	} else if (IS("spawn")) {
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments_of(value), environ))
			die("posix_spawn");
		wait_for(pid);
	} else if (IS("detour")) { /* execute this program again, through another program */
		tell();
		execv(value, (char *[]){(char *)value, "become", self[0], "calls:4", NULL});
		die("exec");
	} else if (IS("exec")) {
		tell();
		execv("/proc/self/exe", arguments_of(value));
		die("exec");
	} else if (IS("tally")) {
		open_tally(value);
	} else if (IS("sleep")) {
		usleep((useconds_t)n * 1000);
	} else if (IS("wait")) { /* wait until the file exists */
		while (access(value, F_OK))
			usleep(1000);
	} else if (IS("say")) {
		puts(value);
		fflush(stdout);
	} else if (IS("close")) {
		for (int i = 3; i < 1024; i++)
			close(i);
	} else if (IS("closeall")) {
		for (int i = 0; i < 1024; i++)
			close(i);
	} else if (IS("nofiles")) { /* allow no more descriptors from now on */
		if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}))
			die("setrlimit");
	} else if (IS("chdir")) {
		if (chdir(value))
			die("chdir");
	} else if (IS("chroot")) {
		if (chroot(value) || chdir("/"))
			die("chroot");
	} else if (IS("seen")) {
		wait_until_seen();
	} else if (IS("scribble")) {
		scribble(value);
	} else if (IS("freeze")) { /* stop the collector until `thaw` */
		kill(getppid(), SIGSTOP);
	} else if (IS("thaw")) {
		kill(getppid(), SIGCONT);
	} else if (IS("cut")) {
		cut_ring();
	} else if (IS("exit")) {
		tell();
		exit((int)n);
	} else if (IS("_exit")) {
		tell();
		_exit((int)n);
	} else if (IS("quick_exit")) {
		tell();
		quick_exit((int)n);
	} else if (IS("abort")) {
		tell();
		abort();
	} else if (IS("raise")) {
		tell();
		raise((int)n);
	} else if (IS("awaits")) { /* signals that the process is ready to be continued */
		signal(SIGCONT, on_continue);
	} else if (IS("continued")) {
		while (!was_continued)
			usleep(1000);
	} else if (IS("stop")) {
		raise(SIGSTOP);
	} else {
		fprintf(stderr, "no step '%s'\n", word);
		_exit(97);
	}
}

int main(int argc, char **argv)
{
	self = argv;
	tally = &spare_tally;
	for (int i = 1; i < argc; i++)
		step(argv[i]);
	tell();
	return 0;
}
