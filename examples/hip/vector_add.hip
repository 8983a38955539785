/* SPDX-License-Identifier: MIT */
/* vector_add: the smallest complete program. hipcc vector_add.hip -o vector_add */
#include "common.h"

#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

int main()
{
	const int n = 100000;
	std::vector<float> a(n), b(n), c(n);
	float *da = device_memory<float>(n), *db = device_memory<float>(n),
	      *dc = device_memory<float>(n);
	int wrong = 0;

	for (int i = 0; i < n; i++) {
		a[i] = i * 0.5f;
		b[i] = 1000.0f - i;
	}
	MUST(hipMemcpy(da, a.data(), n * sizeof(float), hipMemcpyHostToDevice));
	MUST(hipMemcpy(db, b.data(), n * sizeof(float), hipMemcpyHostToDevice));
	add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
	MUST(hipGetLastError());
	MUST(hipMemcpy(c.data(), dc, n * sizeof(float), hipMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		wrong += c[i] != a[i] + b[i];
	printf("vector_add: %d elements, %d wrong\n", n, wrong);
	MUST(hipFree(da));
	MUST(hipFree(db));
	MUST(hipFree(dc));
	return wrong != 0;
}
