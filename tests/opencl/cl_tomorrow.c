/* SPDX-License-Identifier: MIT */
/* Looks up twice a function that only tomorrow_layer.c has, and calls it. */
#include "program.h"

int main(void)
{
	cl_int (*f)(void);

	open_device();
	for (int i = 0; i < 2; i++) {
		f = (cl_int(*)(void))
			clGetExtensionFunctionAddressForPlatform(platform, "clFunctionOfTomorrow");
		EXPECT(f && f() == 77);
	}
	puts("right");
	return 0;
}
