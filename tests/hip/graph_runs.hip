/* SPDX-License-Identifier: MIT */
/* graph_runs KIND NODES LAUNCHES: launch a graph of NODES kernels, one after the other, and check
 * that each was executed once and in its turn. In the middle of the third launch, when it has rung
 * the doorbell for half of its nodes, the launching thread
 *   waits     polls memory until the device has executed these; also for the next
 *   shares    waits until another thread's kernel on another stream is done; also for the next
 *   behind    has reserved a packet when another thread rings for the one after it, and waits
 *             until that is done; also for the next
 *   indices   polls the queue's read index until the device has taken these; also
 *             for the next
 *   forks     forks, and waits for the child, which ends
 *   exits     ends the process with exit()
 *   killed    ends it with SIGKILL
 *   plain     does nothing
 * host: half of the nodes follow a host function, which is called at each launch (HIP 5.2.3 calls
 * it even before its predecessors are done). HIP rings the doorbell through a function of HSA,
 * which this program replaces. */
#include <hip/hip_runtime.h>
#include <hsa/hsa.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

enum { SEVERAL = 20 };

struct shared {
	unsigned count, wrong, other;
};

__global__ void step(shared *s, unsigned place, unsigned nodes)
{
	unsigned count = *(volatile unsigned *)&s->count;

	if (count % nodes != place)
		s->wrong++;
	*(volatile unsigned *)&s->count = count + 1;
}

__global__ void other(shared *s)
{
	*(volatile unsigned *)&s->other = 1;
}

static shared *s;
static const char *kind;
static unsigned nodes;
static std::atomic<unsigned> host_called;
static thread_local unsigned launch, rung; /* launch: 0: not inside a launch */
static hipStream_t another;

static void fail(const char *why)
{
	fprintf(stderr, "graph_runs: %s\n", why);
	_exit(3);
}

/* Poll as a thread does that does not wait through HSA. */
template <typename F> static void look_until(F done)
{
	time_t end = time(nullptr) + 60;

	while (!done())
		if (time(nullptr) > end)
			fail("what was rung for is not executed");
}

static std::atomic<bool> other_rang;
static std::thread behind;

static bool is_middle(unsigned number)
{
	return launch == 3 && number >= nodes / 2 && number < nodes / 2 + SEVERAL;
}

static void in_the_middle()
{
	unsigned due = (launch - 1) * nodes + rung;

	if (!strcmp(kind, "waits"))
		look_until([due] { return *(volatile unsigned *)&s->count >= due; });
	if (!strcmp(kind, "shares")) {
		s->other = 0;
		std::thread([] {
			other<<<1, 1, 0, another>>>(s);
			if (hipStreamSynchronize(another))
				fail("the other stream");
		}).join();
		if (*(volatile unsigned *)&s->other != 1)
			fail("the other thread's kernel was not waited for");
	}
	if (!strcmp(kind, "behind"))
		behind.join();
	if (rung != nodes / 2)
		return;
	if (!strcmp(kind, "forks")) {
		pid_t child = fork();
		int status;

		if (!child)
			_exit(0);
		if (waitpid(child, &status, 0) != child || status)
			fail("the child");
	}
	if (!strcmp(kind, "exits") || !strcmp(kind, "killed"))
		usleep(300000); /* the two previous launches are recorded by then */
	if (!strcmp(kind, "exits"))
		exit(0);
	if (!strcmp(kind, "killed"))
		raise(SIGKILL);
}

static const hsa_queue_t *queue;

extern "C" uint64_t hsa_queue_add_write_index_screlease(const hsa_queue_t *q, uint64_t value)
{
	static auto real = (decltype(&hsa_queue_add_write_index_screlease))
		dlsym(RTLD_NEXT, "hsa_queue_add_write_index_screlease");

	uint64_t index = real(q, value);

	queue = q;
	if (is_middle(rung + 1) && !strcmp(kind, "behind")) {
		other_rang = false;
		behind = std::thread([] {
			other<<<1, 1, 0, another>>>(s);
			other_rang = true;
			if (hipStreamSynchronize(another))
				fail("the other stream");
		});
		look_until([] { return other_rang.load(); });
	}
	return index;
}

extern "C" void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value)
{
	static auto real =
		(decltype(&hsa_signal_store_screlease))dlsym(RTLD_NEXT,
							     "hsa_signal_store_screlease");

	real(signal, value);
	if (launch != 3 || !queue || signal.handle != queue->doorbell_signal.handle)
		return;
	rung++;
	if (!is_middle(rung))
		return;
	if (!strcmp(kind, "indices"))
		look_until([value] {
			return hsa_queue_load_read_index_scacquire(queue) > (uint64_t)value;
		});
	in_the_middle();
}

static void host_looks(void *)
{
	host_called++;
}

int main(int argc, char **argv)
{
	unsigned launches = argc == 4 ? (unsigned)atoi(argv[3]) : 0;
	hipGraphExec_t exec;
	hipStream_t stream;
	hipGraph_t graph;

	if (!launches || hipHostMalloc((void **)&s, sizeof *s, 0) || hipStreamCreate(&stream) ||
	    hipStreamCreate(&another))
		fail("usage: graph_runs KIND NODES LAUNCHES, with a device");
	kind = argv[1];
	nodes = (unsigned)atoi(argv[2]);
	memset(s, 0, sizeof *s);
	other<<<1, 1, 0, another>>>(s);
	if (hipStreamSynchronize(another) || s->other != 1)
		fail("the first kernel");
	if (!strcmp(kind, "host")) {
		hipGraphNode_t last = nullptr;

		if (hipGraphCreate(&graph, 0))
			fail("hipGraphCreate");
		for (unsigned i = 0; i < nodes; i++) {
			hipHostNodeParams looks = {host_looks, nullptr};
			void *arguments[] = {&s, &i, &nodes};
			hipKernelNodeParams kernel = {};
			hipGraphNode_t node;

			kernel.func = (void *)step;
			kernel.gridDim = kernel.blockDim = dim3(1);
			kernel.kernelParams = arguments;
			if (i == nodes / 2) {
				if (hipGraphAddHostNode(&node, graph, &last, 1, &looks))
					fail("hipGraphAddHostNode");
				last = node;
			}
			if (hipGraphAddKernelNode(&node, graph, &last, last ? 1 : 0, &kernel))
				fail("hipGraphAddKernelNode");
			last = node;
		}
	} else {
		if (hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal))
			fail("hipStreamBeginCapture");
		for (unsigned i = 0; i < nodes; i++)
			step<<<1, 1, 0, stream>>>(s, i, nodes);
		if (hipStreamEndCapture(stream, &graph))
			fail("hipStreamEndCapture");
	}
	if (hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0))
		fail("hipGraphInstantiate");
	for (unsigned i = 1; i <= launches; i++) {
		launch = i;
		if (hipGraphLaunch(exec, stream))
			fail("hipGraphLaunch");
		launch = 0;
		if (hipStreamSynchronize(stream))
			fail("hipStreamSynchronize");
	}
	if (s->count != launches * nodes || s->wrong)
		fail("nodes were not executed once and in turn");
	if (!strcmp(kind, "host") && host_called != launches)
		fail("the host's function was not called for each launch");
	puts("ok");
	return 0;
}
