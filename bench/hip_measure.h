/* SPDX-License-Identifier: MIT */
/* Time measurement for the HIP bench programs: clocks, and the CPU time of gputap threads. */
#ifndef GPUTAP_BENCH_HIP_MEASURE_H
#define GPUTAP_BENCH_HIP_MEASURE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

static inline uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC)
{
	timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Return the CPU time of a thread, or of all threads named @name in a process. */
static inline uint64_t ran_ns(const char *process, const char *thread)
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

static inline uint64_t ran_all_ns(const char *process, const char *name)
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
		if (file && fgets(comm, sizeof comm, file) && !strcmp(comm, name))
			ns += ran_ns(process, d->d_name);
		if (file)
			fclose(file);
	}
	if (threads)
		closedir(threads);
	return ns;
}

/* CPU time of the helper thread in this process, and of the collector if it is the parent
 * process. */
struct gputap_time {
	uint64_t helper, collector;
};

static inline gputap_time gputap_ns()
{
	char parent[16];

	snprintf(parent, sizeof parent, "%d", (int)getppid());
	return {ran_all_ns("self", "gputap\n"), ran_all_ns(parent, "gputap\n")};
}

/* Interleave the blocks of several of these programs, so that drift affects all of them alike.
 * GPUTAP_BENCH_TURNS is "IN:OUT", the names of two pipes. For each byte from IN, the program runs
 * one block and then writes a byte to OUT. Without the variable, all blocks run at once. */
class turns
{
	int in = -1, out = -1;

      public:
	turns()
	{
		const char *names = getenv("GPUTAP_BENCH_TURNS"),
			   *colon = names ? strchr(names, ':') : nullptr;
		char first[256];

		if (!colon)
			return;
		snprintf(first, sizeof first, "%.*s", (int)(colon - names), names);
		in = open(first, O_RDWR);
		out = open(colon + 1, O_RDWR);
		if (in < 0 || out < 0) {
			perror("GPUTAP_BENCH_TURNS");
			exit(1);
		}
	}
	void take() const
	{
		char byte;

		if (in >= 0 && read(in, &byte, 1) != 1)
			exit(1);
	}
	void pass() const
	{
		if (out >= 0 && write(out, "", 1) != 1)
			exit(1);
	}
};

/* Bind this thread to a CPU. */
static inline bool go_to(const char *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(atoi(cpu), &set);
	if (sched_setaffinity(0, sizeof set, &set) == 0)
		return true;
	perror("sched_setaffinity");
	return false;
}

#endif
