/* SPDX-License-Identifier: MIT */
/* hsa_dispatch PREFIX CODE_OBJECT [DISPATCHES]: measures the cost of a kernel dispatch in the
 * submitting thread and in the whole process. Submits empty kernels without completion signals in
 * bursts that fit into the queue; the queue drains between two bursts. Run it on the software GPU
 * with --no-execute: bare, with bench/hsa_pass.so, and under `gputap run`. The differences are the
 * cost of ROCr's interception and of gputap. */
#include <sys/resource.h>

#include "hsa_program.h"
#include "measure.h"

enum { DISPATCHES = 400000, PACKETS = 4096, BURST = 2000 };

static char key[128];

static const char *named(const char *prefix, const char *name)
{
	snprintf(key, sizeof key, "%s_%s", prefix, name);
	return key;
}

static double cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return 1e9 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	struct hsa_program p;
	int count = argc > 3 ? atoi(argv[3]) : DISPATCHES, rounds = count / BURST;
	double *submit = calloc((size_t)rounds + 1, sizeof *submit);
	hsa_kernel_dispatch_packet_t d;
	hsa_barrier_and_packet_t last = {0};
	hsa_signal_t done;
	hsa_queue_t *q;
	uint64_t start, begin;
	double cpu;

	if (argc < 3 || !submit) {
		fprintf(stderr, "usage: hsa_dispatch PREFIX CODE_OBJECT [DISPATCHES]\n");
		return 2;
	}
	hsa_program_start(&p);
	hsa_program_load(&p, argv[2]);
	q = hsa_program_queue(&p, PACKETS, NULL, NULL);
	done = hsa_program_signal(1);
	d = hsa_program_dispatch(hsa_program_kernel(&p, "nothing"), NULL, 64, 64,
				 (hsa_signal_t){0});
	last.completion_signal = done;
	cpu = cpu_ns();
	begin = bench_now_ns();
	for (int r = 0; r < rounds; r++) {
		hsa_signal_store_relaxed(done, 1);
		start = bench_now_ns();
		for (int i = 0; i < BURST; i++)
			hsa_program_put_dispatch(q, &d);
		submit[r] = (double)(bench_now_ns() - start) / BURST;
		hsa_program_put(q, &last,
				HSA_PACKET_TYPE_BARRIER_AND | BARRIER_BIT | SYSTEM_FENCES);
		hsa_program_wait(done);
	}
	bench_print(named(argv[1], "wall"),
		    (double)(bench_now_ns() - begin) / (double)rounds / BURST, "ns");
	bench_print(named(argv[1], "cpu"), (cpu_ns() - cpu) / (double)rounds / BURST, "ns");
	bench_print(named(argv[1], "submit"), bench_median(submit, (size_t)rounds), "ns");
	MUST(hsa_queue_destroy(q));
	MUST(hsa_executable_destroy(p.code));
	MUST(hsa_shut_down());
	free(submit);
	return 0;
}
