/* SPDX-License-Identifier: MIT */
/* tests/hip/truth.hip, whose main() is built as truth_main(), in a Kineto session:
 *
 *   kineto_session TRACE.json [truth's options]
 * Test: tests/test_foreign_rocprofiler_hip.py. */
#include <cstdio>
#include <set>

#include <libkineto.h>

int truth_main(int argc, char **argv);

int main(int argc, char **argv)
{
	using libkineto::ActivityType;

	libkineto_init(false, true);
	libkineto::api().initProfilerIfRegistered();
	auto &profiler = libkineto::api().activityProfiler();
	profiler.prepareTrace({ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY,
			       ActivityType::GPU_MEMSET, ActivityType::CUDA_RUNTIME});
	profiler.startTrace();
	int status = truth_main(argc - 1, argv + 1);
	auto trace = profiler.stopTrace();
	printf("%zu activities\n", trace->activities()->size());
	trace->save(argv[1]);
	return status;
}
