/* SPDX-License-Identifier: MIT */
/* See hsa_runtime.h. */
#include "runtime/hsa/hsa_runtime.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"

struct gt_hsa_runtime gt_hsa_runtimes[GT_INSTANCES];

void *gt_hsa_alloc(size_t bytes)
{
	int saved = errno;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	return p == MAP_FAILED ? NULL : p;
}

void gt_hsa_free(void *p, size_t bytes)
{
	int saved = errno;

	if (p)
		munmap(p, bytes);
	errno = saved;
}

void gt_hsa_sleep_ns(uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / (1000 * GT_HSA_MS)),
				   (long)(ns % (1000 * GT_HSA_MS))};

	syscall(SYS_nanosleep, &t, NULL);
}

uint64_t gt_hsa_boottime_ns(void)
{
	return gt_ticks_boottime();
}

struct gt_hsa_clock_pair gt_hsa_read_clocks(void)
{
	struct gt_hsa_clock_pair best = {0, 0};
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = gt_ticks(), ns = gt_hsa_boottime_ns(), after = gt_ticks();

		if (after - before < shortest) {
			shortest = after - before;
			best = (struct gt_hsa_clock_pair){before + shortest / 2, ns};
		}
	}
	return best;
}
