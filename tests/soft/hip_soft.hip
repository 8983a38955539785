/* SPDX-License-Identifier: MIT */
/* hip_soft MODE ...: test what a HIP program sees of software GPUs; prints what happened, one line
 * per step. */
#include <dirent.h>
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#define MUST(call)                                                          \
	do {                                                                \
		hipError_t error_ = (call);                                 \
		if (error_ != hipSuccess) {                                 \
			printf("%s: %s\n", #call, hipGetErrorName(error_)); \
			fflush(stdout);                                     \
			exit(1);                                            \
		}                                                           \
	} while (0)

__global__ void add(const int *a, const int *b, int *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}

__global__ void wait_for(volatile int *flag, int *out)
{
	while (!*flag)
		;
	*out = 1;
}

__global__ void set_flag(volatile int *flag)
{
	*flag = 1;
	__threadfence_system();
}

__global__ void say(int n)
{
	printf("device says %d of %d\n", (int)threadIdx.x, n);
}

__global__ void mark(int *out, int value)
{
	*out = value;
}

/* Compute a sum that needs memory for each work-item, because the indices are known only at run
 * time. */
template <int WORDS> __global__ void spill(int *out, const int *places)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
	volatile int words[WORDS];

	for (int k = 0; k < 64; k++)
		words[places[k] % WORDS] = i + k;
	for (int k = 0; k < 64; k++)
		sum += words[places[k] % WORDS];
	out[i] = sum;
}

__global__ void wild(int *out)
{
	*(int *)0x123456789000 = *out;
}

/* In each step, a thread reads the value that another workgroup's thread wrote in the step
 * before. */
__global__ void rotate(int *a, int *b, int steps)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	unsigned n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int s = 0; s < steps; s++) {
		b[i] = a[(i + blockDim.x) % n] + 1;
		grid.sync();
		int *other = a;
		a = b;
		b = other;
	}
}

static void devices(int, char **)
{
	int n;

	MUST(hipGetDeviceCount(&n));
	printf("devices %d\n", n);
	for (int i = 0; i < n; i++) {
		hipDeviceProp_t p;
		char bus[32];
		MUST(hipGetDeviceProperties(&p, i));
		MUST(hipDeviceGetPCIBusId(bus, sizeof bus, i));
		printf("%d: %s, %s, %zu MiB, %d units, at %s\n", i, p.name, p.gcnArchName,
		       p.totalGlobalMem >> 20, p.multiProcessorCount, bus);
	}
}

static bool same(const std::vector<int> &a, const std::vector<int> &b)
{
	return a == b;
}

/* Test every way of copying and setting, with sizes that are not multiples of anything. */
static void copies(int, char **)
{
	const size_t n = 300007, bytes = n * sizeof(int);
	std::vector<int> from(n), to(n);
	int *a, *b, *pinned;

	for (size_t i = 0; i < n; i++)
		from[i] = (int)(i * 2654435761u);
	MUST(hipMalloc(&a, bytes));
	MUST(hipMalloc(&b, bytes));
	MUST(hipHostMalloc(&pinned, bytes));
	MUST(hipMemcpy(a, from.data(), bytes, hipMemcpyHostToDevice));
	MUST(hipMemcpy(b, a, bytes, hipMemcpyDeviceToDevice));
	MUST(hipMemcpy(to.data(), b, bytes, hipMemcpyDeviceToHost));
	printf("there, across and back: %s\n", same(from, to) ? "same" : "differs");

	memcpy(pinned, from.data(), bytes);
	MUST(hipMemset(b, 0, bytes));
	MUST(hipMemcpyAsync(b, pinned, bytes, hipMemcpyHostToDevice, 0));
	MUST(hipMemcpyAsync(pinned, b, bytes, hipMemcpyDeviceToHost, 0));
	MUST(hipStreamSynchronize(0));
	printf("pinned, there and back: %s\n",
	       memcmp(pinned, from.data(), bytes) ? "differs" : "same");

	MUST(hipMemset((char *)a + 5, 0x5a, 1001));
	MUST(hipMemcpy(to.data(), a, bytes, hipMemcpyDeviceToHost));
	memset((char *)from.data() + 5, 0x5a, 1001);
	printf("bytes set: %s\n", same(from, to) ? "same" : "differs");

	MUST(hipMemsetD32((hipDeviceptr_t)a, 0x12345678, n));
	MUST(hipMemcpy(to.data(), a, bytes, hipMemcpyDeviceToHost));
	std::fill(from.begin(), from.end(), 0x12345678);
	printf("words set: %s\n", same(from, to) ? "same" : "differs");

	for (size_t i = 0; i < n; i++)
		from[i] = (int)i;
	MUST(hipMemset(a, 0, bytes));
	/* 100 rows of 300 bytes */
	MUST(hipMemcpy2D(a, 512, from.data(), 400, 300, 100, hipMemcpyHostToDevice));
	MUST(hipMemcpy2D(to.data(), 400, a, 512, 300, 100, hipMemcpyDeviceToHost));
	bool good = true;
	for (int row = 0; row < 100; row++)
		good = good &&
		       !memcmp((char *)to.data() + row * 400, (char *)from.data() + row * 400, 300);
	printf("rows: %s\n", good ? "same" : "differs");
}

static void kernels(int, char **)
{
	const int n = 10007;
	std::vector<int> a(n), b(n), c(n);
	int *d[3], wrong = 0;

	for (int i = 0; i < n; i++)
		a[i] = i, b[i] = 3 * i;
	for (auto &p : d)
		MUST(hipMalloc(&p, n * sizeof(int)));
	MUST(hipMemcpy(d[0], a.data(), n * sizeof(int), hipMemcpyHostToDevice));
	MUST(hipMemcpy(d[1], b.data(), n * sizeof(int), hipMemcpyHostToDevice));
	add<<<(n + 255) / 256, 256>>>(d[0], d[1], d[2], n);
	MUST(hipGetLastError());
	MUST(hipMemcpy(c.data(), d[2], n * sizeof(int), hipMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		wrong += c[i] != 4 * i;
	printf("wrong %d\n", wrong);
}

/* A kernel on one stream waits for a kernel on the other: they run at the same time, or never
 * end. */
static void streams(int, char **)
{
	hipStream_t s[2];
	int *flag, *out;

	MUST(hipHostMalloc(&flag, 2 * sizeof *flag, hipHostMallocCoherent));
	out = flag + 1;
	flag[0] = flag[1] = 0;
	for (auto &stream : s)
		MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	wait_for<<<1, 64, 0, s[0]>>>(flag, out);
	printf("query: %s\n", hipGetErrorName(hipStreamQuery(s[0])));
	set_flag<<<1, 1, 0, s[1]>>>(flag);
	MUST(hipStreamSynchronize(s[0]));
	MUST(hipStreamSynchronize(s[1]));
	printf("waited: %d\n", *out);

	hipEvent_t between; /* also in order across streams after an event */
	MUST(hipEventCreate(&between));
	mark<<<1, 1, 0, s[0]>>>(out, 1);
	MUST(hipEventRecord(between, s[0]));
	MUST(hipStreamWaitEvent(s[1], between, 0));
	mark<<<1, 1, 0, s[1]>>>(out, 2);
	MUST(hipStreamSynchronize(s[1]));
	printf("last: %d\n", *out);
	for (auto &stream : s)
		MUST(hipStreamDestroy(stream));
}

/* Each GPU fills memory and passes it to the next one. */
static void peers(int, char **)
{
	const size_t n = 5000, bytes = n * sizeof(int);
	int count, can, *memory[16], wrong = 0;
	std::vector<int> host(n);

	MUST(hipGetDeviceCount(&count));
	for (int i = 0; i < count; i++) {
		MUST(hipSetDevice(i));
		MUST(hipMalloc(&memory[i], bytes));
		MUST(hipMemset(memory[i], i + 1, bytes));
		MUST(hipDeviceSynchronize());
	}
	for (int i = 0; i < count; i++) {
		int next = (i + 1) % count;
		MUST(hipSetDevice(i));
		MUST(hipDeviceCanAccessPeer(&can, i, next));
		if (!can)
			printf("%d cannot reach %d\n", i, next);
		MUST(hipDeviceEnablePeerAccess(next, 0));
	}
	for (int i = 0; i + 1 < count; i++) /* the first one's data reaches all */
		MUST(hipMemcpyPeer(memory[i + 1], i + 1, memory[i], i, bytes));
	for (int i = 0; i < count; i++) {
		MUST(hipMemcpy(host.data(), memory[i], bytes, hipMemcpyDeviceToHost));
		for (int value : host)
			wrong += value != 0x01010101;
	}
	printf("copies wrong: %d\n", wrong);
	MUST(hipSetDevice(0)); /* a kernel that reads and writes another GPU's memory */
	add<<<(n + 255) / 256, 256>>>(memory[0], memory[count - 1], memory[count - 1], n);
	MUST(hipMemcpy(host.data(), memory[count - 1], bytes, hipMemcpyDeviceToHost));
	printf("kernel: %x\n", host[n - 1]);
}

static void budget(int, char **)
{
	size_t free_bytes, total;
	int *blocks[64], n = 0;
	hipError_t error;

	/* HIP 7 fails if no memory is left for its queues */
	MUST(hipMalloc(&blocks[0], 64));
	MUST(hipMemset(blocks[0], 1, 64));
	MUST(hipDeviceSynchronize());
	MUST(hipFree(blocks[0]));
	MUST(hipMemGetInfo(&free_bytes, &total));
	printf("total %zu MiB\n", total >> 20);
	while (n < 64 && (error = hipMalloc(&blocks[n], 64 << 20)) == hipSuccess)
		n++;
	printf("then %s, %s\n", hipGetErrorName(error),
	       n > 10 ? "after more than 10" : "too early");
	MUST(hipFree(blocks[0]));
	printf("after a free: %s\n", hipGetErrorName(hipMalloc(&blocks[0], 64 << 20)));
	MUST(hipMemset(blocks[n - 1], 1, 64 << 20));
	MUST(hipDeviceSynchronize());
}

/* Launch grids that wait for themselves, small and as large as the GPU holds; then one that is too
 * large. */
static void cooperative(int, char **)
{
	int steps = 5, wrong = 0, most = 0, supported = 0, *a, *b;
	void *arguments[] = {&a, &b, &steps};
	hipDeviceProp_t properties;

	MUST(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
	MUST(hipGetDeviceProperties(&properties, 0));
	MUST(hipOccupancyMaxActiveBlocksPerMultiprocessor(&most, rotate, 128, 0));
	most *= properties.multiProcessorCount;
	for (int groups : {1, 2, 7, most < 400 ? most : 400}) {
		int n = groups * 128;
		std::vector<int> host(n);
		MUST(hipMalloc(&a, n * sizeof *a));
		MUST(hipMalloc(&b, n * sizeof *b));
		for (int i = 0; i < n; i++)
			host[i] = i;
		MUST(hipMemcpy(a, host.data(), n * sizeof *a, hipMemcpyHostToDevice));
		MUST(hipLaunchCooperativeKernel((const void *)rotate, dim3(groups), dim3(128),
						arguments, 0, 0));
		MUST(hipMemcpy(host.data(), b, n * sizeof *b, hipMemcpyDeviceToHost));
		for (int i = 0; i < n; i++)
			wrong += host[i] != (i + 128 * steps) % n + steps;
		MUST(hipFree(a));
		MUST(hipFree(b));
	}
	printf("supported %d, wrong %d\n", supported, wrong);
	printf("too large: %s\n",
	       hipGetErrorName(hipLaunchCooperativeKernel((const void *)rotate, dim3(most + 1),
							  dim3(128), arguments, 0, 0)));
}

/* A child computes on its parent's memory, a part of a block and a whole one; it gets the handles
 * through a pipe. */
static int import_and_add(int from)
{
	hipIpcMemHandle_t handles[2];
	int *shared[2];

	if (read(from, handles, sizeof handles) != sizeof handles)
		return 1;
	for (int i = 0; i < 2; i++) {
		MUST(hipIpcOpenMemHandle((void **)&shared[i], handles[i],
					 hipIpcMemLazyEnablePeerAccess));
		add<<<4, 256>>>(shared[i], shared[i], shared[i], 1000);
	}
	MUST(hipDeviceSynchronize());
	for (int *p : shared)
		MUST(hipIpcCloseMemHandle(p));
	memset(handles, 1, sizeof handles);
	printf("a handle that is none: %s\n",
	       hipIpcOpenMemHandle((void **)&shared[0], handles[0], 0) == hipSuccess ? "opened"
										     : "refused");
	fflush(stdout);
	return 0;
}

static void share(int, char **)
{
	const size_t bytes[2] = {4000, 8 << 20};
	hipIpcMemHandle_t handles[2];
	std::vector<int> host(1000);
	int *mine[2], pipe_[2], status, wrong = 0;
	pid_t child;

	if (pipe(pipe_) || (child = fork()) < 0) /* before the runtime starts in either process */
		exit(1);
	if (!child)
		_exit(import_and_add(pipe_[0]));
	for (int i = 0; i < 1000; i++)
		host[i] = i;
	for (int i = 0; i < 2; i++) {
		MUST(hipMalloc(&mine[i], bytes[i]));
		MUST(hipMemcpy(mine[i], host.data(), 4000, hipMemcpyHostToDevice));
		MUST(hipIpcGetMemHandle(&handles[i], mine[i]));
	}
	if (write(pipe_[1], handles, sizeof handles) != sizeof handles ||
	    waitpid(child, &status, 0) < 0)
		exit(1);
	for (int *p : mine) {
		MUST(hipMemcpy(host.data(), p, 4000, hipMemcpyDeviceToHost));
		for (int i = 0; i < 1000; i++)
			wrong += host[i] != 2 * i;
		MUST(hipFree(p));
	}
	printf("child %d, wrong %d\n", status, wrong);
}

/* hip_soft modules FIRST SECOND: load two code objects in turn; the same address has another kernel
 * each time. */
static void modules(int argc, char **argv)
{
	int *out, value = 0, wrong = 0;
	void *arguments[] = {&out};

	if (argc < 4)
		exit(2);
	MUST(hipMalloc(&out, sizeof *out));
	for (int i = 0; i < 20; i++) {
		hipModule_t module;
		hipFunction_t function;
		MUST(hipModuleLoad(&module, argv[2 + i % 2]));
		MUST(hipModuleGetFunction(&function, module, i % 2 ? "second" : "first"));
		MUST(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr));
		MUST(hipMemcpy(&value, out, sizeof value, hipMemcpyDeviceToHost));
		wrong += value != 1 + i % 2;
		MUST(hipModuleUnload(module));
	}
	printf("wrong %d\n", wrong);
}

static void print(int, char **)
{
	say<<<1, 3>>>(3);
	MUST(hipDeviceSynchronize());
}

static void managed(int, char **)
{
	int *a;

	MUST(hipMallocManaged(&a, 3 * 1000 * sizeof *a));
	for (int i = 0; i < 2000; i++)
		a[i] = i;
	add<<<4, 256>>>(a, a + 1000, a + 2000, 1000);
	MUST(hipDeviceSynchronize());
	printf("last %d\n", a[2999]);
}

/* Kernels whose times a file sets: events around three of them. */
/* Memory that the program allocated and registered: a kernel, a fill and a copy access it through
 * its device address. */
static void registered(int, char **)
{
	const int n = 1000;
	int *a = (int *)malloc(3 * n * sizeof *a), *device, *back, wrong = 0;

	for (int i = 0; i < 2 * n; i++)
		a[i] = i;
	for (int round = 0; round < 2; round++) {
		MUST(hipHostRegister(a, 3 * n * sizeof *a, 0));
		MUST(hipHostGetDevicePointer((void **)&device, a, 0));
		add<<<4, 256>>>(device, device + n, device + 2 * n, n);
		MUST(hipDeviceSynchronize());
		for (int i = 0; i < n; i++)
			wrong += a[2 * n + i] != 2 * i + n;
		MUST(hipMalloc((void **)&back, n * sizeof *back));
		MUST(hipMemcpy(back, device + 2 * n, n * sizeof *back, hipMemcpyDefault));
		MUST(hipMemset(device + 2 * n, 0, n * sizeof *back));
		wrong += a[2 * n] || a[3 * n - 1];
		MUST(hipMemcpy(device + 2 * n, back, n * sizeof *back, hipMemcpyDefault));
		wrong += a[2 * n] != n || a[3 * n - 1] != 3 * n - 2;
		MUST(hipFree(back));
		MUST(hipHostUnregister(a));
	}
	printf("registered: %d wrong, device address %s\n", wrong,
	       device == a ? "the same" : "another");
	free(a);
}

template <int WORDS> static void spill_once(int *out, const int *places)
{
	enum { ITEMS = 512 };
	int got[ITEMS], wrong = 0;

	spill<WORDS><<<ITEMS / 64, 64>>>(out, places);
	MUST(hipMemcpy(got, out, sizeof got, hipMemcpyDefault));
	for (int i = 0; i < ITEMS; i++)
		wrong += got[i] != 64 * i + 63 * 32;
	printf("%d words: %d wrong\n", WORDS, wrong);
}

static void scratch(int, char **)
{
	int places[64], *out, *where;

	for (int k = 0; k < 64; k++)
		places[k] = k;
	MUST(hipMalloc(&out, 1 << 16));
	MUST(hipMalloc(&where, sizeof places));
	MUST(hipMemcpy(where, places, sizeof places, hipMemcpyDefault));
	spill_once<100>(out, where);
	spill_once<200>(out, where);
	spill_once<100>(out, where);
	spill_once<4000>(out, where); /* more than ROCr keeps */
	spill_once<100>(out, where);
}

static void durations(int, char **)
{
	hipEvent_t begin, end;
	float ms;
	int *out;

	MUST(hipMalloc(&out, sizeof *out));
	MUST(hipEventCreate(&begin));
	MUST(hipEventCreate(&end));
	MUST(hipEventRecord(begin));
	for (int i = 0; i < 3; i++)
		mark<<<1, 1>>>(out, i);
	MUST(hipEventRecord(end));
	MUST(hipEventSynchronize(end));
	MUST(hipEventElapsedTime(&ms, begin, end));
	printf("%s\n", ms >= 15 ? "15 ms or more" : "less than 15 ms");
}

static void leave(int, char **)
{
	int *flag;

	MUST(hipHostMalloc(&flag, 2 * sizeof *flag, hipHostMallocCoherent));
	*flag = 0;
	wait_for<<<1, 64>>>(flag, flag + 1);
	MUST(hipGetLastError());
	printf("leaving\n"); /* with a kernel that never ends */
}

static void fault(int, char **)
{
	int *out;

	MUST(hipMalloc(&out, sizeof *out));
	wild<<<1, 1>>>(out);
	printf("sync: %s\n", hipGetErrorName(hipDeviceSynchronize()));
}

/* Print the processors on which the GPUs' queues may run. */
static void threads(int, char **)
{
	int *out;

	MUST(hipMalloc(&out, sizeof *out));
	mark<<<1, 1>>>(out, 1);
	MUST(hipDeviceSynchronize());
	DIR *tasks = opendir("/proc/self/task");
	while (dirent *task = readdir(tasks)) {
		std::string path = std::string("/proc/self/task/") + task->d_name, name, line;
		std::ifstream comm(path + "/comm"), status(path + "/status");

		std::getline(comm, name);
		while (name.find("gpu1-") == 0 && std::getline(status, line))
			if (line.find("Cpus_allowed_list:") == 0)
				printf("queue: %s\n", line.substr(line.find('\t') + 1).c_str());
	}
	closedir(tasks);
}

static const struct {
	const char *name;
	void (*run)(int, char **);
} modes[] = {
	{"devices", devices},
	{"copies", copies},
	{"kernels", kernels},
	{"streams", streams},
	{"peers", peers},
	{"budget", budget},
	{"cooperative", cooperative},
	{"share", share},
	{"modules", modules},
	{"print", print},
	{"managed", managed},
	{"registered", registered},
	{"durations", durations},
	{"leave", leave},
	{"fault", fault},
	{"threads", threads},
	{"scratch", scratch},
};

int main(int argc, char **argv)
{
	for (auto &mode : modes)
		if (argc > 1 && !strcmp(mode.name, argv[1])) {
			mode.run(argc, argv);
			return 0;
		}
	return 2;
}
