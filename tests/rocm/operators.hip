/* SPDX-License-Identifier: MIT */
/* Act as PyTorch does when it records operators: each operator is a ROCTx range around its
 * launches. Three launches of "grow" in aten::add, two in aten::mul, one in the nested
 * aten::sum. */
#include <hip/hip_runtime.h>

#include "compat/roctx/roctx.h"

__global__ void grow(float *a)
{
	a[threadIdx.x] += 1;
}

static void launch(float *a, int count)
{
	for (int i = 0; i < count; i++)
		grow<<<1, 64>>>(a);
}

int main()
{
	float *a;

	if (hipMalloc(&a, 64 * sizeof *a) != hipSuccess)
		return 1;
	roctxRangePushA("aten::add, seq = 1, op_id = 10, sizes = [[64], []], input_op_ids = "
			"((3,0), (4,0))");
	launch(a, 3);
	roctxRangePop();
	roctxRangePushA("aten::mul, op_id = 11, sizes = [[64]], input_op_ids = ((10,0),)");
	launch(a, 2);
	roctxRangePushA("aten::sum, op_id = 12");
	launch(a, 1);
	roctxRangePop();
	roctxRangePop();
	if (hipDeviceSynchronize() != hipSuccess)
		return 1;
	return hipFree(a) != hipSuccess;
}
