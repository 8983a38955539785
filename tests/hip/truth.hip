/* SPDX-License-Identifier: MIT */
/* GPU activities that are fully known beforehand: truth [NAME=NUMBER]...
 *   threads=2 streams=8 launches=50   each thread launches kernels on its streams in turn
 *   copies=0     rounds of copies and fills on each stream, each with a unique size
 *   graphs=0     replays of a graph of `nodes` kernels, captured from the thread's first stream
 *   nodes=8  gpus=1  rounds=1 (all of it again)
 *   cooperative=0  every such launch is a cooperative one
 *   verify=1     0: kernels are not executed, so results are not checked
 *   tally=0      1: after each launch the number of launches that have returned is stored in the
 *                file ./tally
 *   end=0        1: exit() without waiting for the device  2: _exit() likewise  3: abort() likewise
 * A kernel's number is its argument and, in digits to the base 16, its grid and its block (see
 * shape()): launch i on stream s of thread t has number (t * streams + s) * launches + i; numbers
 * of graphs' nodes follow. Prints its findings, which are the same each time. Statuses: 3 a call
 * failed, 4 a result is wrong. */
#include <hip/hip_runtime.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

enum { MAX_GPUS = 8, CHUNK = 1024 };

struct option {
	const char *name;
	int value;
} options[] = {{"threads", 2}, {"streams", 8}, {"launches", 50}, {"copies", 0},
	       {"graphs", 0},  {"nodes", 8},   {"gpus", 1},      {"rounds", 1},
	       {"verify", 1},  {"tally", 0},   {"end", 0},       {"cooperative", 0}};
/* clang-format off */
enum { THREADS, STREAMS, LAUNCHES, COPIES, GRAPHS, NODES, GPUS, ROUNDS, VERIFY, TALLY, END,
       COOPERATIVE };
/* clang-format on */

static int opt(int which)
{
	return options[which].value;
}

#define MUST(call)                                                          \
	do {                                                                \
		hipError_t e_ = call;                                       \
		if (e_ != hipSuccess) {                                     \
			fprintf(stderr, "truth: %s: %d\n", #call, (int)e_); \
			_exit(3);                                           \
		}                                                           \
	} while (0)

/* Results of the kernels: how often each number ran; each stream's latest number; how many ran out
 * of turn. */
struct found {
	unsigned *seen;
	int *latest, *out_of_turn;
};

static found device_found[MAX_GPUS];
static uint64_t *tally;

__device__ static bool first_item()
{
	return !(threadIdx.x | threadIdx.y | blockIdx.x | blockIdx.y | blockIdx.z);
}

extern "C" __global__ void numbered(found f, int lane, unsigned n, int in_turn)
{
	if (!first_item())
		return;
	atomicAdd(&f.seen[n], 1u);
	if (atomicExch(&f.latest[lane], in_turn) != in_turn - 1)
		atomicAdd(f.out_of_turn, 1);
}

/* Use a separate kernel, and one thread at a time: HIP 5 sets the arguments of a graph's kernels
 * without the lock that it takes for launches of the same kernel, so that they are mixed up with
 * those of other threads, traced or not. */
static pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;

extern "C" __global__ void node(found f, unsigned n)
{
	if (first_item())
		atomicAdd(&f.seen[n], 1u);
}

static int lanes()
{
	return opt(THREADS) * opt(STREAMS);
}
static unsigned first_node(int thread)
{
	return lanes() * opt(LAUNCHES) + thread * opt(NODES);
}
static unsigned numbers()
{
	return first_node(opt(THREADS));
}

/* Number @n, lowest digit first: grid.x - 1, grid.y - 1, grid.z - 1, block.x - 1, block.y - 1. */
static void shape(unsigned n, dim3 *grid, dim3 *block)
{
	*grid = dim3(1 + (n & 15), 1 + (n >> 4 & 15), 1 + (n >> 8 & 15));
	*block = dim3(1 + (n >> 12 & 15), 1 + (n >> 16 & 15), 1);
}

static void launch(found f, int lane, unsigned n, int in_turn, hipStream_t stream)
{
	void *args[] = {&f, &lane, &n, &in_turn};
	dim3 grid, block;

	shape(n, &grid, &block);
	if (opt(COOPERATIVE) && in_turn % opt(COOPERATIVE) == 0)
		MUST(hipLaunchCooperativeKernel((const void *)numbered, grid, block, args, 0,
						stream));
	else
		MUST(hipLaunchKernel((const void *)numbered, grid, block, args, 0, stream));
	if (tally)
		__atomic_fetch_add(tally, 1, __ATOMIC_RELEASE);
}

static void copies(int lane, hipStream_t stream)
{
	const size_t base = 64 + lane * 4;
	std::vector<unsigned char> out(base + CHUNK * opt(COPIES)), in(out.size());
	unsigned char *a, *b;

	MUST(hipMalloc((void **)&a, out.size()));
	MUST(hipMalloc((void **)&b, out.size()));
	for (size_t i = 0; i < out.size(); i++)
		out[i] = (unsigned char)(i * 7 + lane);
	for (int c = 0; c < opt(COPIES); c++) {
		size_t bytes = base + CHUNK * c;
		MUST(hipMemcpyAsync(a, out.data(), bytes, hipMemcpyHostToDevice, stream));
		MUST(hipMemcpyAsync(b, a, bytes, hipMemcpyDeviceToDevice, stream));
		MUST(hipMemsetAsync(a, c, bytes, stream));
		MUST(hipMemcpyAsync(in.data(), b, bytes, hipMemcpyDeviceToHost, stream));
		MUST(hipStreamSynchronize(stream));
		if (memcmp(in.data(), out.data(), bytes))
			exit(4);
		MUST(hipMemcpy(in.data(), a, bytes, hipMemcpyDeviceToHost));
		for (size_t i = 0; i < bytes; i++)
			if (in[i] != (unsigned char)c)
				exit(4);
	}
	MUST(hipFree(a));
	MUST(hipFree(b));
}

static void graph(int thread, found f, hipStream_t stream)
{
	hipGraph_t captured;
	hipGraphExec_t exec;

	pthread_mutex_lock(&graph_lock);
	MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (int i = 0; i < opt(NODES); i++) {
		dim3 grid, block;
		shape(first_node(thread) + i, &grid, &block);
		node<<<grid, block, 0, stream>>>(f, first_node(thread) + i);
	}
	MUST(hipStreamEndCapture(stream, &captured));
	MUST(hipGraphInstantiate(&exec, captured, nullptr, nullptr, 0));
	pthread_mutex_unlock(&graph_lock);
	for (int i = 0; i < opt(GRAPHS); i++) {
		pthread_mutex_lock(&graph_lock);
		MUST(hipGraphLaunch(exec, stream));
		pthread_mutex_unlock(&graph_lock);
	}
	MUST(hipStreamSynchronize(stream));
	MUST(hipGraphExecDestroy(exec));
	MUST(hipGraphDestroy(captured));
}

static void *worker(void *argument)
{
	int t = (int)(intptr_t)argument;
	std::vector<hipStream_t> streams(opt(STREAMS));

	for (int s = 0; s < opt(STREAMS); s++) {
		MUST(hipSetDevice((t * opt(STREAMS) + s) % opt(GPUS)));
		MUST(hipStreamCreateWithFlags(&streams[s], hipStreamNonBlocking));
	}
	/* Of tests/hip/allocations.c. */
	void (*mark)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "allocations_mark");
	for (int i = 0; i < opt(LAUNCHES); i++) {
		/* All objects have been created in the first half. */
		if (mark && (i == opt(LAUNCHES) / 2 || i == opt(LAUNCHES) - 1))
			mark(i < opt(LAUNCHES) - 1);
		for (int s = 0; s < opt(STREAMS); s++) {
			int lane = t * opt(STREAMS) + s;
			if (opt(GPUS) > 1)
				MUST(hipSetDevice(lane % opt(GPUS)));
			launch(device_found[lane % opt(GPUS)], lane, lane * opt(LAUNCHES) + i, i,
			       streams[s]);
			/* HIP keeps launched activities until they are waited for. */
			if (i % CHUNK == CHUNK - 1)
				MUST(hipStreamSynchronize(streams[s]));
		}
	}
	if (opt(END))
		return nullptr;
	for (int s = 0; s < opt(STREAMS); s++) {
		MUST(hipSetDevice((t * opt(STREAMS) + s) % opt(GPUS)));
		copies(t * opt(STREAMS) + s, streams[s]);
		MUST(hipStreamSynchronize(streams[s]));
	}
	MUST(hipSetDevice(t * opt(STREAMS) % opt(GPUS)));
	if (opt(GRAPHS))
		graph(t, device_found[t * opt(STREAMS) % opt(GPUS)], streams[0]);
	for (int s = 0; s < opt(STREAMS); s++) {
		MUST(hipSetDevice((t * opt(STREAMS) + s) % opt(GPUS)));
		MUST(hipStreamSynchronize(streams[s]));
		MUST(hipStreamDestroy(streams[s]));
	}
	return nullptr;
}

/* Expect number @n to have run that often, over all GPUs. */
static unsigned expected(unsigned n)
{
	return opt(ROUNDS) * (n >= first_node(0) ? opt(GRAPHS) : 1);
}

static void check()
{
	std::vector<unsigned> sum(numbers()), one(numbers());
	int wrong = 0, out_of_turn = 0;

	for (int g = 0; g < opt(GPUS); g++) {
		int turns;
		MUST(hipSetDevice(g));
		MUST(hipMemcpy(one.data(), device_found[g].seen, one.size() * sizeof one[0],
			       hipMemcpyDeviceToHost));
		MUST(hipMemcpy(&turns, device_found[g].out_of_turn, sizeof turns,
			       hipMemcpyDeviceToHost));
		out_of_turn += turns;
		for (unsigned n = 0; n < numbers(); n++)
			sum[n] += one[n];
	}
	for (unsigned n = 0; n < numbers(); n++)
		wrong += sum[n] != expected(n);
	printf("numbers %u wrong %d out of turn %d\n", numbers(), wrong, out_of_turn);
	if (opt(VERIFY) && (wrong || out_of_turn))
		exit(4);
}

static void prepare()
{
	for (int g = 0; g < opt(GPUS); g++) {
		found *f = &device_found[g];
		MUST(hipSetDevice(g));
		MUST(hipMalloc((void **)&f->seen, numbers() * sizeof *f->seen));
		MUST(hipMalloc((void **)&f->latest, lanes() * sizeof *f->latest));
		MUST(hipMalloc((void **)&f->out_of_turn, sizeof(int)));
		MUST(hipMemset(f->seen, 0, numbers() * sizeof *f->seen));
		MUST(hipMemset(f->out_of_turn, 0, sizeof(int)));
	}
}

static void once()
{
	std::vector<pthread_t> threads(opt(THREADS));

	for (int g = 0; g < opt(GPUS); g++) {
		MUST(hipSetDevice(g));
		MUST(hipMemset(device_found[g].latest, 0xff, lanes() * sizeof(int)));
		MUST(hipDeviceSynchronize());
	}
	for (int t = 0; t < opt(THREADS); t++)
		pthread_create(&threads[t], nullptr, worker, (void *)(intptr_t)t);
	for (int t = 0; t < opt(THREADS); t++)
		pthread_join(threads[t], nullptr);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		option *o = options;
		while (value && o < options + sizeof options / sizeof *o &&
		       (strncmp(o->name, argv[i], value - argv[i]) || o->name[value - argv[i]]))
			o++;
		if (!value || o == options + sizeof options / sizeof *o) {
			fprintf(stderr, "truth: %s?\n", argv[i]);
			return 2;
		}
		o->value = atoi(value + 1);
	}
	if (opt(TALLY)) {
		int fd = open("tally", O_RDWR | O_CREAT, 0600);
		if (ftruncate(fd, 8))
			return 2;
		tally = (uint64_t *)mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	prepare();
	for (int round = 0; round < opt(ROUNDS); round++)
		once();
	switch (opt(END)) {
	case 1: exit(0);
	case 2: _exit(0);
	case 3: abort();
	}
	check();
	return 0;
}
