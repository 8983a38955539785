// SPDX-License-Identifier: MIT
/* hip_loop KEY COUNT [CPU]: launch-bound: an empty kernel COUNT times on one stream, waited for every 64 launches.
 * Prints the ns of a launch as the submitting thread sees it, those of them that it had a CPU, of all together, and those that gputap's
 * threads and its collector, our parent, had a CPU. The submitting thread alone goes to @CPU, when the runtime has made its threads. */
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <sched.h>
#include <unistd.h>

enum { BATCH = 64, WARM = 256 };

__global__ void nothing() {}

static uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC)
{
	timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* So long has that thread had a CPU; and all of a process that are called @name, or whatever they are called. */
static uint64_t ran_ns(const char *process, const char *thread)
{
	unsigned long long ns = 0;
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%s/task/%s/schedstat", process, thread);
	if ((file = fopen(path, "r")) && fscanf(file, "%llu", &ns) != 1)
		ns = 0;
	if (file)
		fclose(file);
	return ns;
}

static uint64_t ran_all_ns(const char *process, const char *name)
{
	char path[128], comm[32];
	uint64_t ns = 0;
	DIR *threads;

	snprintf(path, sizeof path, "/proc/%s/task", process);
	threads = opendir(path);
	for (dirent *d; threads && (d = readdir(threads));) {
		FILE *file;

		snprintf(path, sizeof path, "/proc/%s/task/%.16s/comm", process, d->d_name);
		file = d->d_name[0] != '.' ? fopen(path, "r") : nullptr;
		if (file && fgets(comm, sizeof comm, file) && (!name || !strcmp(comm, name)))
			ns += ran_ns(process, d->d_name);
		if (file)
			fclose(file);
	}
	if (threads)
		closedir(threads);
	return ns;
}

int main(int argc, char **argv)
{
	uint64_t count = argc >= 3 ? strtoull(argv[2], nullptr, 0) : 0, start, launching = 0, working = 0, helping, collecting;
	char parent[16];
	hipStream_t stream;

	if (!count || hipStreamCreate(&stream)) {
		fprintf(stderr, "usage: hip_loop KEY COUNT, with a device\n");
		return 2;
	}
	for (int i = 0; i < WARM; i++)
		nothing<<<1, 64, 0, stream>>>();
	if (hipStreamSynchronize(stream))
		return 1;
	if (argc > 3) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(atoi(argv[3]), &set);
		if (sched_setaffinity(0, sizeof set, &set)) {
			perror("sched_setaffinity");
			return 1;
		}
	}
	snprintf(parent, sizeof parent, "%d", (int)getppid());
	helping = ran_all_ns("self", "gputap\n");
	collecting = ran_all_ns(parent, "gputap\n");
	start = now_ns();
	for (uint64_t i = 0; i < count; i += BATCH) {
		uint64_t had = now_ns(CLOCK_THREAD_CPUTIME_ID), began = now_ns();
		for (int k = 0; k < BATCH; k++)
			nothing<<<1, 64, 0, stream>>>();
		launching += now_ns() - began;
		working += now_ns(CLOCK_THREAD_CPUTIME_ID) - had;
		if (hipStreamSynchronize(stream))
			return 1;
	}
	count = (count + BATCH - 1) / BATCH * BATCH;
	start = now_ns() - start;
	helping = ran_all_ns("self", "gputap\n") - helping;
	collecting = ran_all_ns(parent, "gputap\n") - collecting;
	printf("%s_ns %.1f ns\n", argv[1], (double)start / (double)count);
	printf("%s_helper_cpu_ns %.1f ns\n%s_collector_cpu_ns %.1f ns\n", argv[1], (double)helping / (double)count, argv[1],
	       (double)collecting / (double)count);
	printf("%s_launch_ns %.1f ns\n%s_launch_cpu_ns %.1f ns\n", argv[1], (double)launching / (double)count, argv[1],
	       (double)working / (double)count);
	return 0;
}
