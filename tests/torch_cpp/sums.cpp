// SPDX-License-Identifier: MIT
// A program of libtorch's, without Python: three sums, and a gradient.
#include <ATen/ATen.h>
#include <cstdio>

int main()
{
	at::Tensor a = at::ones({4, 2}).set_requires_grad(true);

	for (int i = 0; i < 3; i++)
		a.sum();
	a.sum().backward();
	std::printf("%.0f\n", a.grad().sum().item<double>());
	return 0;
}
