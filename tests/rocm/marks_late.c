/* SPDX-License-Identifier: MIT */
/* marks_late LIBRARY FOLDER: a range of ROCTx before gputap is attached, and three after. */
#include <dlfcn.h>
#include <stdio.h>

#include <compat/roctx/roctx.h>

int main(int argc, char **argv)
{
	int (*attach)(const char *);

	roctxRangePush("before");
	roctxRangePop();
	*(void **)&attach = dlsym(dlopen(argv[argc - 2], RTLD_NOW), "gputap_attach");
	printf("attach %d\n", attach(argv[2]));
	for (int i = 0; i < 3; i++) {
		roctxRangePush("after");
		roctxMark("mark");
		roctxRangePop();
	}
	return 0;
}
