/* SPDX-License-Identifier: MIT */
/* Memcpys and memsets in all directions, from pinned and pageable memory; prints the number of
 * bytes of each. */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define MUST(call) ((call) == hipSuccess ? (void)0 : abort())

int main()
{
	const size_t n = 1 << 20;
	char *pinned, *to, *from, *plain = (char *)malloc(n);
	size_t h2d = 0, d2h = 0, d2d = 0, set = 0, rect = 0;

	MUST(hipHostMalloc((void **)&pinned, n));
	MUST(hipMalloc((void **)&to, n));
	MUST(hipMalloc((void **)&from, n));
	for (size_t i = 0; i < 20; i++) {
		MUST(hipMemcpy(to, pinned, n - i * 4, hipMemcpyHostToDevice));
		MUST(hipMemcpy(to, plain, n - i * 4, hipMemcpyHostToDevice));
		h2d += 2 * (n - i * 4);
		MUST(hipMemcpy(pinned, to, n - i * 4, hipMemcpyDeviceToHost));
		MUST(hipMemcpy(plain, to, n - i, hipMemcpyDeviceToHost));
		d2h += 2 * n - i * 5;
		MUST(hipMemcpy(from, to, 4096 + i, hipMemcpyDeviceToDevice));
		d2d += 4096 + i;
		MUST(hipMemset(to, (int)i, 1000 + i)); /* some are more than one kernel */
		set += 1000 + i;
		MUST(hipMemcpy2D(to, 256, pinned, 512, 100, 10, hipMemcpyHostToDevice));
		rect += 1000;
	}
	MUST(hipDeviceSynchronize());
	printf("h2d=%zu d2h=%zu d2d=%zu set=%zu rect=%zu\n", h2d, d2h, d2d, set, rect);
	return 0;
}
