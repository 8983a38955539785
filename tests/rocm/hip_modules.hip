/* SPDX-License-Identifier: MIT */
/* hip_modules FIRST SECOND TIMES: load the two modules in turn, run the kernel of each, unload it:
 * all are loaded at one address. */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define MUST(call) ((call) == hipSuccess ? (void)0 : abort())

int main(int, char **argv)
{
	int *out, got = 0, wrong = 0;

	MUST(hipMalloc((void **)&out, sizeof *out));
	for (int i = 0; i < atoi(argv[3]); i++) {
		hipModule_t module;
		hipFunction_t function;
		void *arguments[] = {&out};

		MUST(hipModuleLoad(&module, argv[1 + i % 2]));
		MUST(hipModuleGetFunction(&function, module, i % 2 ? "second" : "first"));
		MUST(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments,
					   nullptr));
		MUST(hipMemcpy(&got, out, sizeof got, hipMemcpyDeviceToHost));
		wrong += got != 1 + i % 2;
		MUST(hipModuleUnload(module));
	}
	printf("wrong %d\n", wrong);
	return 0;
}
