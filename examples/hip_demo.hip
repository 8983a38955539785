/* SPDX-License-Identifier: MIT */
/* A plucked string, computed with HIP. `make demo` traces this program along with examples/demo.c,
 * on a software GPU.
 *
 * First, two streams process halves of a vector in chunks: copy in, two kernels, copy out. Then one
 * time step of the string (three kernels) is captured into a graph, which is launched 20 times.
 * ROCTx ranges name the parts. The result is compared with the host's own computation: exit status
 * 1 if they differ. */
#include <hip/hip_runtime.h>
#include <roctx/roctx.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                              \
	do {                                                                                     \
		hipError_t error_ = (call);                                                      \
		if (error_ != hipSuccess) {                                                      \
			fprintf(stderr, "hip_demo: %s: %s\n", #call, hipGetErrorString(error_)); \
			exit(1);                                                                 \
		}                                                                                \
	} while (0)

enum { CHUNK = 4096, CHUNKS = 8, POINTS = 2048, REPLAYS = 20, GROUP = 64, COLUMNS = 64, ROWS = 11 };

static const float tension = 0.25f;

__global__ void saxpy(float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	y[i] = a * x[i] + y[i];
}

__global__ void square(float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	y[i] *= y[i];
}

__global__ void pull(const float *at, float *speed)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i > 0 && i < POINTS - 1)
		speed[i] += tension * (at[i - 1] - 2 * at[i] + at[i + 1]);
}

__global__ void move(float *at, const float *speed)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	at[i] += speed[i];
}

__global__ void energy(const float *at, const float *speed, float *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < POINTS - 1)
		atomicAdd(sum, speed[i] * speed[i] +
				       tension * (at[i + 1] - at[i]) * (at[i + 1] - at[i]));
}

static bool near(float a, float b)
{
	return fabsf(a - b) <= 1e-4f * (1 + fabsf(b));
}

/* Compute y = (3x + y)^2. Odd and even chunks run on different streams. */
static bool two_streams(hipStream_t streams[2])
{
	const size_t bytes = CHUNK * sizeof(float);
	float *x, *y, *on_device[2][2];
	bool good = true;

	roctxRangePush("vector on two streams");
	CHECK(hipHostMalloc((void **)&x, CHUNKS * bytes, hipHostMallocDefault));
	CHECK(hipHostMalloc((void **)&y, CHUNKS * bytes, hipHostMallocDefault));
	for (int i = 0; i < CHUNKS * CHUNK; i++) {
		x[i] = (float)(i % 97) / 97;
		y[i] = (float)(i % 89) / 89;
	}
	for (int s = 0; s < 2; s++)
		for (int v = 0; v < 2; v++)
			CHECK(hipMalloc((void **)&on_device[s][v], bytes));
	for (int c = 0; c < CHUNKS; c++) {
		hipStream_t stream = streams[c % 2];
		float **d = on_device[c % 2];

		CHECK(hipMemcpyAsync(d[0], x + c * CHUNK, bytes, hipMemcpyHostToDevice, stream));
		CHECK(hipMemcpyAsync(d[1], y + c * CHUNK, bytes, hipMemcpyHostToDevice, stream));
		saxpy<<<CHUNK / GROUP, GROUP, 0, stream>>>(3, d[0], d[1]);
		square<<<CHUNK / GROUP, GROUP, 0, stream>>>(d[1]);
		CHECK(hipMemcpyAsync(y + c * CHUNK, d[1], bytes, hipMemcpyDeviceToHost, stream));
	}
	for (int s = 0; s < 2; s++)
		CHECK(hipStreamSynchronize(streams[s]));
	for (int i = 0; i < CHUNKS * CHUNK; i++) {
		float sum = 3 * ((float)(i % 97) / 97) + (float)(i % 89) / 89;
		good &= near(y[i], sum * sum);
	}
	for (int s = 0; s < 2; s++)
		for (int v = 0; v < 2; v++)
			CHECK(hipFree(on_device[s][v]));
	CHECK(hipHostFree(x));
	CHECK(hipHostFree(y));
	roctxRangePop();
	return good;
}

/* Return the energy after the step, summed as in the third kernel of the graph. */
static double step_on_host(std::vector<float> &at, std::vector<float> &speed)
{
	double sum = 0;

	for (int i = 1; i < POINTS - 1; i++)
		speed[i] += tension * (at[i - 1] - 2 * at[i] + at[i + 1]);
	for (int i = 0; i < POINTS; i++)
		at[i] += speed[i];
	for (int i = 0; i < POINTS - 1; i++)
		sum += speed[i] * speed[i] + tension * (at[i + 1] - at[i]) * (at[i + 1] - at[i]);
	return sum;
}

static void show(const std::vector<float> &at)
{
	for (int row = 0; row < ROWS; row++) {
		for (int column = 0; column < COLUMNS; column++) {
			int height = (int)lrintf((1 - at[column * POINTS / COLUMNS]) * (ROWS - 1));
			putchar(height == row ? '*' : ' ');
		}
		putchar('\n');
	}
}

static bool string(hipStream_t stream)
{
	const size_t bytes = POINTS * sizeof(float);
	const dim3 groups(POINTS / GROUP), group(GROUP);
	std::vector<float> at(POINTS), speed(POINTS, 0), result(POINTS);
	float *d_at, *d_speed, *d_energy;
	hipGraphExec_t launchable;
	hipGraph_t graph;
	float energies;
	double expected = 0;
	bool good = true;

	for (int i = 0; i < POINTS; i++) /* pluck the string at a third of its length */
		at[i] = i < POINTS / 3 ? i * 3.0f / POINTS : (POINTS - 1 - i) * 1.5f / POINTS;
	roctxRangePush("a step becomes a graph");
	CHECK(hipMalloc((void **)&d_at, bytes));
	CHECK(hipMalloc((void **)&d_speed, bytes));
	CHECK(hipMalloc((void **)&d_energy, sizeof *d_energy));
	CHECK(hipMemcpy(d_at, at.data(), bytes, hipMemcpyHostToDevice));
	CHECK(hipMemset(d_speed, 0, bytes));
	CHECK(hipMemset(d_energy, 0, sizeof *d_energy));
	CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	pull<<<groups, group, 0, stream>>>(d_at, d_speed);
	move<<<groups, group, 0, stream>>>(d_at, d_speed);
	energy<<<groups, group, 0, stream>>>(d_at, d_speed, d_energy);
	CHECK(hipStreamEndCapture(stream, &graph));
	CHECK(hipGraphInstantiate(&launchable, graph, nullptr, nullptr, 0));
	roctxRangePop();

	roctxRangePush("the string swings");
	for (int i = 0; i < REPLAYS; i++) {
		CHECK(hipGraphLaunch(launchable, stream));
		expected += step_on_host(at, speed);
	}
	CHECK(hipStreamSynchronize(stream));
	roctxRangePop();
	CHECK(hipMemcpy(result.data(), d_at, bytes, hipMemcpyDeviceToHost));
	CHECK(hipMemcpy(&energies, d_energy, sizeof energies, hipMemcpyDeviceToHost));
	for (int i = 0; i < POINTS; i++)
		good &= near(result[i], at[i]);
	good &= fabs(energies - expected) < 0.01 * expected;
	show(result);
	CHECK(hipGraphExecDestroy(launchable));
	CHECK(hipGraphDestroy(graph));
	CHECK(hipFree(d_at));
	CHECK(hipFree(d_speed));
	CHECK(hipFree(d_energy));
	return good;
}

int main()
{
	hipDeviceProp_t properties;
	hipStream_t streams[2];
	bool good;

	CHECK(hipGetDeviceProperties(&properties, 0));
	printf("%d steps of a string of %d points, on %s\n", REPLAYS, POINTS,
	       properties.gcnArchName);
	for (int s = 0; s < 2; s++)
		CHECK(hipStreamCreate(&streams[s]));
	good = two_streams(streams);
	good &= string(streams[0]);
	for (int s = 0; s < 2; s++)
		CHECK(hipStreamDestroy(streams[s]));
	puts(good ? "what the GPU computed is what the host computed"
		  : "hip_demo: the GPU computed something else than the host");
	return good ? 0 : 1;
}
