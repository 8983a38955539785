/* SPDX-License-Identifier: MIT */
/* soft_rate PREFIX CODE_OBJECT: measures the throughput of the software GPU's queues, and their
 * cost when idle. Run it under `gputap soft amdgpu`, with and without --no-execute. */
#include <sys/resource.h>

#include "hsa_program.h"
#include "measure.h"

enum { DISPATCHES = 1000000, ROUND_TRIPS = 20000, QUEUES = 6 };

static char key[128];

static const char *named(const char *prefix, const char *name)
{
	snprintf(key, sizeof key, "%s_%s", prefix, name);
	return key;
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* One producer and one queue of 4096 packets. All packets decrement one signal. */
static void dispatches(struct hsa_program *p, const char *prefix, int count)
{
	hsa_queue_t *q = hsa_program_queue(p, 4096, NULL, NULL);
	hsa_signal_t done = hsa_program_signal(count);
	hsa_kernel_dispatch_packet_t d =
		hsa_program_dispatch(hsa_program_kernel(p, "nothing"), NULL, 64, 64, done);
	uint64_t start = bench_now_ns();

	for (int i = 0; i < count; i++)
		hsa_program_put_dispatch(q, &d);
	hsa_program_wait(done);
	bench_print(named(prefix, "dispatches"),
		    (double)count * 1e3 / (double)(bench_now_ns() - start), "M/s");
	start = bench_now_ns();
	for (int i = 0; i < ROUND_TRIPS; i++) {
		hsa_signal_store_relaxed(done, 1);
		hsa_program_put_dispatch(q, &d);
		hsa_program_wait(done);
	}
	bench_print(named(prefix, "round_trip"),
		    (double)(bench_now_ns() - start) / ROUND_TRIPS / 1e3, "us");
	MUST(hsa_queue_destroy(q));
}

static void idle(struct hsa_program *p, const char *prefix)
{
	hsa_queue_t *q[QUEUES];
	double cpu;

	for (int i = 0; i < QUEUES; i++)
		q[i] = hsa_program_queue(p, 64, NULL, NULL);
	/* wait until the watcher has slowed down, which takes up to two seconds */
	nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 200000000}, NULL);
	cpu = cpu_seconds();
	nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
	bench_print(named(prefix, "idle_cpu"), (cpu_seconds() - cpu) / 2 * 100, "%");
	for (int i = 0; i < QUEUES; i++)
		MUST(hsa_queue_destroy(q[i]));
}

int main(int argc, char **argv)
{
	struct hsa_program p;

	if (argc < 3) {
		fprintf(stderr, "usage: soft_rate PREFIX CODE_OBJECT [DISPATCHES]\n");
		return 2;
	}
	hsa_program_start(&p);
	hsa_program_load(&p, argv[2]);
	dispatches(&p, argv[1], argc > 3 ? atoi(argv[3]) : DISPATCHES);
	idle(&p, argv[1]);
	MUST(hsa_executable_destroy(p.code));
	MUST(hsa_shut_down());
	return 0;
}
