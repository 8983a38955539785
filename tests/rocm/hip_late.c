/* SPDX-License-Identifier: MIT */
/* hip_late LIBRARY FOLDER HIP: attaches to the session, then opens HIP and fills memory: one call
 * and one kernel of HIP's own for each of 5 fills. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int (*attach)(const char *), (*get)(void **, size_t), (*fill)(void *, int, size_t, void *),
		(*wait)(void);
	void *hip, *p;

	(void)argc;
	*(void **)&attach = dlsym(dlopen(argv[1], RTLD_NOW), "gputap_attach");
	printf("attach %d\n", attach(argv[2]));
	hip = dlopen(argv[3], RTLD_NOW);
	*(void **)&get = dlsym(hip, "hipMalloc");
	*(void **)&fill = dlsym(hip, "hipMemsetAsync");
	*(void **)&wait = dlsym(hip, "hipDeviceSynchronize");
	if (get(&p, 4096))
		return 1;
	for (int i = 0; i < 5; i++)
		if (fill(p, i, 4096, NULL))
			return 1;
	return wait();
}
