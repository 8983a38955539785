/* SPDX-License-Identifier: MIT */
/* late LIBRARY [NAME=NUMBER]...: uses HIP for a while. For each line of stdin, the folder of a
 * session, attaches to the session, works, and prints a line when all work is done.
 *   threads=2 streams=3 launches=40   each thread launches kernels on its own streams in turn
 *   busy=0    1: all threads launch `during` while the session is attached to and while it ends;
 *             each of these kernels must have run once
 *   between=1 launches of `between` per thread after each session, before the next line is read
 * After another line, which is read when the session has ended, launches `between`, and prints a
 * line.
 * Kernel `after` number n of a session has the grid (n % 64 + 1, n / 64 + 1). Each session also
 * makes, per thread: 2 copies to the device, 2 on the device, 2 to the host, 2 fills, 2 launches of
 * a graph of 4 kernels `node` that was instantiated before, and 5 kernels `fresh` on a new
 * stream. */
#include <hip/hip_runtime.h>
#include <dlfcn.h>
#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

enum { NODES = 4, REPEATS = 2, FRESH = 5, BYTES = 4096 };

static struct {
	const char *name;
	int value;
} options[] = {{"threads", 2}, {"streams", 3}, {"launches", 40}, {"busy", 0}, {"between", 1}};
enum { THREADS, STREAMS, LAUNCHES, BUSY, BETWEEN };

static int opt(int which)
{
	return options[which].value;
}

#define MUST(call)                                                         \
	do {                                                               \
		hipError_t e_ = call;                                      \
		if (e_ != hipSuccess) {                                    \
			fprintf(stderr, "late: %s: %d\n", #call, (int)e_); \
			_exit(3);                                          \
		}                                                          \
	} while (0)

extern "C" __global__ void before(int)
{
}
extern "C" __global__ void during(unsigned *count)
{
	atomicAdd(count, 1u);
}
extern "C" __global__ void after(int)
{
}
extern "C" __global__ void node(int)
{
}
extern "C" __global__ void fresh(int)
{
}
extern "C" __global__ void between(int)
{
}

struct worker {
	std::vector<hipStream_t> streams;
	hipGraphExec_t graph;
	void *a, *b;
	unsigned *count, launched; /* of `during` */
	int number;
};

static std::atomic<bool> stop;

static void prepare(worker *w)
{
	hipGraph_t graph;

	w->streams.resize(opt(STREAMS));
	for (auto &s : w->streams)
		MUST(hipStreamCreate(&s));
	MUST(hipMalloc(&w->a, BYTES));
	MUST(hipMalloc(&w->b, BYTES));
	MUST(hipMalloc((void **)&w->count, sizeof *w->count));
	MUST(hipMemset(w->count, 0, sizeof *w->count));
	for (int i = 0; i < opt(LAUNCHES); i++)
		before<<<1, 1, 0, w->streams[i % opt(STREAMS)]>>>(i);
	MUST(hipStreamBeginCapture(w->streams[0], hipStreamCaptureModeThreadLocal));
	for (int i = 0; i < NODES; i++)
		node<<<1, 1, 0, w->streams[0]>>>(i);
	MUST(hipStreamEndCapture(w->streams[0], &graph));
	MUST(hipGraphInstantiate(&w->graph, graph, NULL, NULL, 0));
	MUST(hipGraphLaunch(w->graph, w->streams[0]));
	for (auto s : w->streams)
		MUST(hipStreamSynchronize(s));
}

static void launch_during(worker *w)
{
	for (int i = 0; !stop; i++, w->launched++) {
		during<<<1, 1, 0, w->streams[i % opt(STREAMS)]>>>(w->count);
		if (i % 64 == 63)
			MUST(hipStreamSynchronize(w->streams[i % opt(STREAMS)]));
	}
}

static void work(worker *w)
{
	static thread_local unsigned char host[BYTES];
	hipStream_t other;

	for (int i = 0; i < opt(LAUNCHES); i++) {
		int n = w->number * opt(LAUNCHES) + i;

		after<<<dim3(n % 64 + 1, n / 64 + 1), 1, 0, w->streams[i % opt(STREAMS)]>>>(n);
	}
	for (int i = 0; i < REPEATS; i++) {
		hipStream_t s = w->streams[i % opt(STREAMS)];

		MUST(hipMemcpyAsync(w->a, host, BYTES, hipMemcpyHostToDevice, s));
		MUST(hipMemcpyAsync(w->b, w->a, BYTES, hipMemcpyDeviceToDevice, s));
		MUST(hipMemsetAsync(w->a, i + 1, BYTES, s));
		MUST(hipMemcpyAsync(host, w->a, BYTES, hipMemcpyDeviceToHost, s));
		MUST(hipGraphLaunch(w->graph, s));
		MUST(hipStreamSynchronize(s));
		if (host[0] != i + 1 || host[BYTES - 1] != i + 1)
			_exit(4);
	}
	MUST(hipStreamCreate(&other));
	for (int i = 0; i < FRESH; i++)
		fresh<<<1, 1, 0, other>>>(i);
	MUST(hipStreamSynchronize(other));
	MUST(hipStreamDestroy(other));
	for (auto s : w->streams)
		MUST(hipStreamSynchronize(s));
}

static void launch_between(worker *w)
{
	unsigned count;

	for (int i = 0; i < opt(BETWEEN); i++)
		between<<<1, 1, 0, w->streams[i % opt(STREAMS)]>>>(i);
	for (auto s : w->streams)
		MUST(hipStreamSynchronize(s));
	MUST(hipMemcpy(&count, w->count, sizeof count, hipMemcpyDeviceToHost));
	if (count != w->launched)
		_exit(4);
}

static void in_threads(std::vector<worker> &workers, void (*function)(worker *))
{
	std::vector<std::thread> threads;

	for (auto &w : workers)
		threads.emplace_back(function, &w);
	for (auto &t : threads)
		t.join();
}

static void attach(const char *library, const char *folder)
{
	int (*call)(const char *);

	*(void **)&call = dlsym(dlopen(library, RTLD_NOW), "gputap_attach");
	printf("attach %d\n", call(folder));
	stop = true;
}

int main(int argc, char **argv)
{
	char folder[4096];

	for (int i = 2; i < argc; i++)
		for (auto &o : options)
			if (!strncmp(argv[i], o.name, strlen(o.name)) &&
			    argv[i][strlen(o.name)] == '=')
				o.value = atoi(argv[i] + strlen(o.name) + 1);
	std::vector<worker> workers(opt(THREADS));
	for (int i = 0; i < opt(THREADS); i++)
		workers[i].number = i;
	in_threads(workers, prepare);
	puts("ready");
	fflush(stdout);
	while (fgets(folder, sizeof folder, stdin)) {
		folder[strcspn(folder, "\n")] = '\0';
		stop = !opt(BUSY);
		std::thread attacher(attach, argv[1], folder);
		in_threads(workers, launch_during);
		attacher.join();
		in_threads(workers, work);
		puts("done");
		fflush(stdout);
		stop = !opt(BUSY);
		std::thread reader([&folder] {
			if (!fgets(folder, sizeof folder, stdin)) /* the session has ended */
				_exit(5);
			stop = true;
		});
		in_threads(workers, launch_during);
		reader.join();
		in_threads(workers, launch_between);
		puts("between");
		fflush(stdout);
	}
	return 0;
}
