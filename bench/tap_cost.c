/* SPDX-License-Identifier: MIT */
/* Measures a tapped call with the real library. This program acts as the OpenCL loader: it passes
 * libgputap.so a table of functions that do nothing, and calls them through the table that it gets
 * back. For comparison, the same run measures the bare call and the floor (two time stamps around
 * the call and a 64-byte record stored into a ring).
 *
 *   parent: writes the session, restarts itself with libgputap.so preloaded, then acts as the
 *           collector: takes full blocks and gives them back
 *   child:  measures, prints "key value ns" and "key_ratio value x", relative to the adjacent floor
 *           trial
 *
 * The floor mostly waits for its time stamps, so another thread on its core hardly affects it. A
 * tap works during that waiting time, so another thread slows it down. So trials are short and
 * sorted by whether the core was shared (measure.h): trials on an unshared core give the figures,
 * trials on a shared core "key_shared_ratio".
 *
 * Each setting (recorded or not, with arguments or without) runs in a separate process, because the
 * library reads its session once. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock/clock.h"
#include "measure.h"
#include "ring/pool.h"
#include "ring/session.h"

enum {
	CALLS = 40000,
	COLD_CALLS = 3000,
	COLD_BYTES = 2 << 20,
	GAPS = 3000,
	GAP_NS = 150000,
	FLOOR_BYTES = 1 << 20,
	THREADS = 3,
	TRIALS = 101,
	TRIALS_MAX = 500
};

typedef cl_int (*one_argument)(cl_event);
typedef cl_int (*four_arguments)(cl_kernel, cl_uint, size_t, const void *);

static _Atomic uint64_t sink;

__attribute__((noinline)) static cl_int real_retain(cl_event e)
{
	__asm__ volatile("" : : "r"(e));
	return 0;
}

__attribute__((noinline)) static cl_int real_set_arg(cl_kernel k, cl_uint i, size_t n,
						     const void *v)
{
	__asm__ volatile("" : : "r"(k), "r"(i), "r"(n), "r"(v));
	return 0;
}

/* The floor: minimal code that writes a call's record. Not inlined, and called through a pointer,
 * like a tap. */
struct floor_ring {
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) uint64_t data[FLOOR_BYTES / 8];
};
static struct floor_ring *floor_rings[THREADS];
static _Thread_local struct floor_ring *floor_ring __attribute__((tls_model("initial-exec")));
static four_arguments floor_real = real_set_arg;

__attribute__((noinline)) static cl_int floor_set_arg(cl_kernel k, cl_uint i, size_t n,
						      const void *v)
{
	uint64_t start = __rdtsc(), end, head, *r;
	cl_int ret = floor_real(k, i, n, v);

	end = __rdtsc();
	head = atomic_load_explicit(&floor_ring->head, memory_order_relaxed);
	r = &floor_ring->data[head % (FLOOR_BYTES / 8)];
	r[0] = 42;
	r[1] = start;
	r[2] = end;
	r[3] = (uint64_t)(uint32_t)ret;
	r[4] = (uintptr_t)k;
	r[5] = i;
	r[6] = n;
	r[7] = (uintptr_t)v;
	atomic_store_explicit(&floor_ring->head, head + 8, memory_order_release);
	return ret;
}

/* Measuring -------------------------------------------------------------------- */

struct job {
	four_arguments four;
	one_argument one;
	const void *value;
	size_t bytes;
	int cpu;
	/* on an unshared core: median, and median of the ratios of a trial to the preceding floor
	 * trial */
	double ns, ratio;
	double shared_ratio; /* on a shared core; 0 if too few trials */
	pthread_barrier_t *barrier;
};

static double one_trial(const struct job *j)
{
	uint64_t start = bench_now_ns();

	if (j->one)
		for (uint64_t i = 0; i < CALLS; i++)
			j->one((cl_event)(uintptr_t)i);
	else
		for (uint64_t i = 0; i < CALLS; i++)
			j->four((cl_kernel)(uintptr_t)&sink, (cl_uint)i, j->bytes, j->value);
	return (double)(bench_now_ns() - start) / CALLS;
}

static void *run_job(void *arg)
{
	struct job *j = arg, floor = {.four = floor_set_arg};
	/* indexed by enum bench_core */
	double ns[3][TRIALS_MAX], ratios[3][TRIALS_MAX], least, before, after;
	int count[3] = {0};

	bench_pin(j->cpu);
	floor_ring = floor_rings[j->cpu];
	least = bench_least_busy(getenv("TAP_COST_ALONE"));
	one_trial(j);
	if (j->barrier)
		pthread_barrier_wait(j->barrier);
	for (int i = 0; i < TRIALS_MAX && (i < TRIALS || count[0] < TRIALS); i++) {
		double beside, trial;
		enum bench_core kind;

		before = bench_busy();
		beside = one_trial(&floor);
		trial = one_trial(j);
		after = bench_busy();
		kind = bench_alone(before, after, least);
		ns[kind][count[kind]] = trial;
		ratios[kind][count[kind]++] = trial / beside;
	}
	if (count[0] < 5) { /* too few: use all trials */
		fprintf(stderr, "tap_cost: another program always used this core\n");
		count[0] = count[1];
		memcpy(ns[0], ns[1], sizeof ns[0]);
		memcpy(ratios[0], ratios[1], sizeof ratios[0]);
	}
	j->ns = bench_median(ns[0], (size_t)count[0]);
	j->ratio = bench_median(ratios[0], (size_t)count[0]);
	j->shared_ratio = count[1] < 15 ? 0 : bench_median(ratios[1], (size_t)count[1]);
	return NULL;
}

static void warm(const char *key, const char *more, struct job job)
{
	char name[64];

	snprintf(name, sizeof name, "tap_%s%s", key, more);
	run_job(&job);
	bench_print(name, job.ns, "ns");
	strcat(name, "_ratio");
	bench_print(name, job.ratio, "x");
	if (job.shared_ratio > 0) {
		snprintf(name, sizeof name, "tap_%s%s_shared_ratio", key, more);
		bench_print(name, job.shared_ratio, "x");
	}
}

/* Measure with warm caches in three threads at once. Print the mean over all threads. */
static void warm_threads(const char *key, const char *more, struct job job)
{
	struct job jobs[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t barrier;
	char name[64];
	double sum = 0, ratios = 0;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		jobs[i] = job;
		jobs[i].cpu = i;
		jobs[i].barrier = &barrier;
		pthread_create(&threads[i], NULL, run_job, &jobs[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += jobs[i].ns;
		ratios += jobs[i].ratio;
	}
	snprintf(name, sizeof name, "tap_%s%s_3t", key, more);
	bench_print(name, sum / THREADS, "ns");
	strcat(name, "_ratio");
	bench_print(name, ratios / THREADS, "x");
}

/* Between calls, read other data until L1 and L2 have evicted the tap's data. Print the mean of the
 * fastest 99 %. */
static void cold(const char *key, const char *more, struct job job)
{
	static uint8_t *walk;
	double *each = calloc(COLD_CALLS, sizeof *each), sum = 0, per_tick;
	uint64_t t0 = __rdtsc(), n0 = bench_now_ns(), x = 0;
	char name[64];
	int n = COLD_CALLS * 99 / 100;

	bench_pin(job.cpu);
	floor_ring = floor_rings[job.cpu];
	if (!walk) {
		walk = malloc(COLD_BYTES);
		memset(walk, 1, COLD_BYTES);
	}
	for (int i = 0; i < COLD_CALLS; i++) {
		uint64_t before, after;
		unsigned cpu;

		for (size_t at = 0; at < COLD_BYTES; at += 64)
			x += walk[at];
		_mm_lfence();
		before = __rdtscp(&cpu);
		_mm_lfence();
		if (job.one)
			job.one((cl_event)(uintptr_t)i);
		else
			job.four((cl_kernel)(uintptr_t)&sink, (cl_uint)i, job.bytes, job.value);
		_mm_lfence();
		after = __rdtscp(&cpu);
		_mm_lfence();
		each[i] = (double)(after - before);
	}
	atomic_fetch_add(&sink, x);
	per_tick = (double)(bench_now_ns() - n0) / (double)(__rdtsc() - t0);
	qsort(each, COLD_CALLS, sizeof *each, bench_compare_double);
	for (int i = 0; i < n; i++)
		sum += each[i];
	snprintf(name, sizeof name, "tap_%s%s_cold", key, more);
	bench_print(name, sum / n * per_tick, "ns");
	free(each);
}

/* Before each call, compute for longer than a gap between calls must last (core/gap_edges.h). Print
 * the median of the calls. The counter is read in the program, so this includes what a reading of
 * the thread's use of the processor costs. */
static void gaps(const char *key, struct job job)
{
	double *each = calloc(GAPS, sizeof *each), per_tick;
	uint64_t t0 = __rdtsc(), n0 = bench_now_ns();

	bench_pin(job.cpu);
	for (int i = 0; i < GAPS; i++) {
		const uint64_t from = bench_now_ns();
		uint64_t before;
		unsigned cpu;

		while (bench_now_ns() - from < GAP_NS)
			;
		_mm_lfence();
		before = __rdtscp(&cpu);
		_mm_lfence();
		job.four((cl_kernel)(uintptr_t)&sink, (cl_uint)i, job.bytes, job.value);
		_mm_lfence();
		each[i] = (double)(__rdtscp(&cpu) - before);
	}
	per_tick = (double)(bench_now_ns() - n0) / (double)(__rdtsc() - t0);
	bench_print(key, bench_median(each, GAPS) * per_tick, "ns");
	free(each);
}

static void all(const char *key, const char *more, struct job job)
{
	warm(key, more, job);
	warm_threads(key, more, job);
	cold(key, more, job);
}

static const cl_icd_dispatch *layer(void)
{
	static struct _cl_icd_dispatch target, out;
	cl_int (*init)(cl_uint, const cl_icd_dispatch *, cl_uint *, const cl_icd_dispatch **);
	const cl_icd_dispatch *got = NULL;
	cl_uint n = 0;

	target.clRetainEvent = real_retain;
	target.clSetKernelArg = real_set_arg;
	*(void **)&init = dlsym(RTLD_DEFAULT, "clInitLayer");
	if (!init || init(sizeof target / sizeof(void *), &target, &n, &got) != CL_SUCCESS)
		exit(3);
	/* like a loader, keep our function where the layer's table has a NULL member */
	out = target;
	if (got->clRetainEvent)
		out.clRetainEvent = got->clRetainEvent;
	if (got->clSetKernelArg)
		out.clSetKernelArg = got->clSetKernelArg;
	return &out;
}

static int child(const char *setting)
{
	const cl_icd_dispatch *table;
	uint64_t value = 7;

	for (int i = 0; i < THREADS; i++) {
		floor_rings[i] = aligned_alloc(64, sizeof(struct floor_ring));
		memset(floor_rings[i], 1, sizeof(struct floor_ring));
		floor_rings[i]->head = 0;
	}
	table = layer();
	if (!strcmp(setting, "floor")) {
		all("bare", "", (struct job){.four = real_set_arg, .cpu = 1});
		all("floor", "", (struct job){.four = floor_set_arg, .cpu = 1});
	} else if (!strcmp(setting, "untouched")) {
		if (table->clSetKernelArg != real_set_arg)
			exit(4);
		all("untouched", "", (struct job){.four = table->clSetKernelArg, .cpu = 1});
	} else if (!strcmp(setting, "passive")) {
		/* the collector has stopped the segment: taps are installed, but record nothing */
		for (int i = 0; i < 4 * CALLS; i++)
			table->clSetKernelArg(NULL, 0, 0, NULL);
		all("passive", "", (struct job){.four = table->clSetKernelArg, .cpu = 1});
	} else if (!strcmp(setting, "gaps") || !strcmp(setting, "gaps_off")) {
		gaps(strcmp(setting, "gaps") ? "tap_after_gap_no_reading" : "tap_after_gap",
		     (struct job){.four = table->clSetKernelArg, .cpu = 1});
	} else if (!strcmp(setting, "plain")) {
		all("plain", "", (struct job){.four = table->clSetKernelArg, .cpu = 1});
	} else {
		all("args", "1", (struct job){.one = table->clRetainEvent, .cpu = 1});
		all("args", "4", (struct job){.four = table->clSetKernelArg, .cpu = 1});
		all("args", "4_payload8",
		    (struct job){
			    .four = table->clSetKernelArg, .value = &value, .bytes = 8, .cpu = 1});
	}
	return 0;
}

/* The collector's part --------------------------------------------------------- */

static struct gt_segment *find_segment(const char *dir)
{
	struct gt_segment *r = NULL;
	struct dirent *e;
	struct stat st;
	char path[4096];
	DIR *d = opendir(dir);
	int fd;

	while (d && !r && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || !strstr(e->d_name, GT_SEGMENT_SUFFIX))
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		fd = open(path, O_RDWR);
		if (fd >= 0 && fstat(fd, &st) == 0)
			r = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				 0);
		close(fd);
	}
	if (d)
		closedir(d);
	return r;
}

/* Give back every block except the last block of each ring. */
static void drain(struct gt_segment *r)
{
	uint32_t used = atomic_load(&r->slots_used);

	for (uint32_t i = 1; i < used; i++) {
		struct gt_slot *s = gt_segment_slot(r, i);
		uint32_t first = atomic_load_explicit(&s->first, memory_order_acquire), next;

		while (first && (next = atomic_load_explicit(&gt_segment_block(r, first)->next,
							     memory_order_acquire)) != 0) {
			atomic_store_explicit(&s->first, next, memory_order_relaxed);
			gt_pool_push(r, first);
			atomic_fetch_add(&r->drain_count, 1);
			first = next;
		}
	}
}

static int run_setting(const char *self, const char *library, const char *setting)
{
	char dir[] = "/dev/shm/gputap-tap-cost-XXXXXX", path[4096], command[4200];
	struct gt_segment *r = NULL;
	struct gt_session *s;
	int fd, status = 0;
	pid_t pid;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/session", dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, sizeof *s) != 0)
		return 1;
	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	*s = (struct gt_session){.magic = GT_SESSION_MAGIC,
				 .version = GT_SESSION_VERSION,
				 .bytes = sizeof *s,
				 .host_clock = gt_clock_host_choose(),
				 .block_bytes = 64 << 10,
				 .pool_bytes = 64 << 20,
				 .wait_ns = 100000000,
				 .slot_count = 256,
				 .payload_cap = 256,
				 .record_args = !strcmp(setting, "args"),
				 .host_state = strcmp(setting, "gaps_off") != 0,
				 .domains = 2};
	if (strcmp(setting, "untouched") != 0)
		memset(s->ops, 0xff, sizeof s->ops);
	snprintf(path, sizeof path, "%f", bench_least_busy(NULL));
	setenv("TAP_COST_ALONE", path, 1);
	pid = fork();
	if (pid == 0) {
		setenv("GPUTAP_SESSION", dir, 1);
		setenv("LD_PRELOAD", library, 1);
		execl(self, self, setting, (char *)NULL);
		_exit(127);
	}
	bench_pin(3);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (!r)
			r = find_segment(dir);
		if (r && !strcmp(setting, "passive"))
			atomic_store(&r->stop, 1); /* the first full block switches the taps off */
		if (r)
			drain(r);
		usleep(200);
	}
	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (system(command) != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "tap_cost %s: status %x\n", setting, status);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const settings[] = {"floor", "untouched", "passive", "plain",
					       "args",  "gaps",      "gaps_off"};
	char self[4096], library[4200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	int rc = 0;

	if (argc == 2 && getenv("GPUTAP_SESSION"))
		return child(argv[1]);
	if (n < 0)
		return 1;
	self[n] = '\0';
	/* build/bench/tap_cost -> build/libgputap.so.0 */
	snprintf(library, sizeof library, "%s", self);
	*strrchr(library, '/') = '\0';
	strcpy(strrchr(library, '/'), "/libgputap.so.0");
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (argc < 2 || !strcmp(argv[1], settings[i]))
			rc |= run_setting(self, library, settings[i]);
	return rc;
}
