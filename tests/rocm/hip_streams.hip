/* SPDX-License-Identifier: MIT */
/* hip_streams THREADS STREAMS LAUNCHES [no-wait]: each launch of the whole program has a unique
 * grid; there is an occasional memset. */
#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

__global__ void kernel(int)
{
}

static std::atomic<int> next{0};

static void launch(int streams, int launches, bool wait)
{
	std::vector<hipStream_t> all(streams);
	void *memory;

	for (auto &s : all)
		if (hipStreamCreate(&s) != hipSuccess)
			abort();
	if (hipMalloc(&memory, 4096) != hipSuccess)
		abort();
	for (int i = 0; i < launches; i++) {
		int n = next++;

		kernel<<<dim3(n % 128 + 1, n / 128 % 128 + 1, n / 16384 + 1), dim3(1), 0,
			 all[i % streams]>>>(n);
		if (i % 64 == 0 && hipMemsetAsync(memory, 0, 4096, all[i % streams]) != hipSuccess)
			abort();
		if (wait && i % 100 == 99 &&
		    hipStreamSynchronize(all[i / 100 % streams]) != hipSuccess)
			abort();
	}
	if (!wait)
		return;
	for (auto &s : all)
		if (hipStreamSynchronize(s) != hipSuccess || hipStreamDestroy(s) != hipSuccess)
			abort();
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	bool wait = argc < 5;

	for (int t = 0; t < atoi(argv[1]); t++)
		threads.emplace_back(launch, atoi(argv[2]), atoi(argv[3]), wait);
	for (auto &t : threads)
		t.join();
	return wait && hipDeviceSynchronize() != hipSuccess;
}
