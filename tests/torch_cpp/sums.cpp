/* SPDX-License-Identifier: MIT */
// A libtorch program without Python: three sums in a range, and a gradient. Also a library that a
// program opens: sums().
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <cstdio>

extern "C" int sums()
{
	RECORD_USER_SCOPE("three sums");
	at::Tensor a = at::ones({4, 2}).set_requires_grad(true);

	for (int i = 0; i < 3; i++)
		a.sum();
	a.sum().backward();
	std::printf("%.0f\n", a.grad().sum().item<double>());
	std::fflush(stdout);
	return 0;
}

int main()
{
	return sums();
}
