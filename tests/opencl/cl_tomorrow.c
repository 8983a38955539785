/* SPDX-License-Identifier: MIT */
/* Look up a function twice that only tomorrow_layer.c has, and call it. */
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
