/* SPDX-License-Identifier: MIT */
/* transpose: transpose a matrix through shared memory, timed with events. */
#include "common.h"

#include <vector>

enum { TILE = 16, WIDTH = 200, HEIGHT = 120 }; /* WIDTH and HEIGHT are not multiples of TILE */

__global__ void transpose(const int *in, int *out)
{
	__shared__ int tile[TILE][TILE + 1];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	if (x < WIDTH && y < HEIGHT)
		tile[threadIdx.y][threadIdx.x] = in[y * WIDTH + x];
	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	if (x < HEIGHT && y < WIDTH)
		out[y * HEIGHT + x] = tile[threadIdx.x][threadIdx.y];
}

int main()
{
	std::vector<int> in(WIDTH * HEIGHT), out(WIDTH * HEIGHT);
	int *din = device_memory<int>(in.size()), *dout = device_memory<int>(in.size()), wrong = 0;
	dim3 grid((WIDTH + TILE - 1) / TILE, (HEIGHT + TILE - 1) / TILE), block(TILE, TILE);
	hipEvent_t begin, end;
	float ms;

	for (size_t i = 0; i < in.size(); i++)
		in[i] = (int)(i * 7919);
	MUST(hipEventCreate(&begin));
	MUST(hipEventCreate(&end));
	MUST(hipMemcpy(din, in.data(), in.size() * sizeof(int), hipMemcpyHostToDevice));
	MUST(hipEventRecord(begin));
	transpose<<<grid, block>>>(din, dout);
	MUST(hipEventRecord(end));
	MUST(hipEventSynchronize(end));
	MUST(hipEventElapsedTime(&ms, begin, end));
	MUST(hipMemcpy(out.data(), dout, in.size() * sizeof(int), hipMemcpyDeviceToHost));
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			wrong += out[x * HEIGHT + y] != in[y * WIDTH + x];
	printf("transpose: %d x %d, %d wrong, took %s\n", WIDTH, HEIGHT, wrong,
	       ms > 0 ? "some time" : "no time");
	MUST(hipEventDestroy(begin));
	MUST(hipEventDestroy(end));
	MUST(hipFree(din));
	MUST(hipFree(dout));
	return wrong != 0;
}
