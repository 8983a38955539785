/* SPDX-License-Identifier: MIT */
/* copies LIBRARY...: opens each library and makes the same calls in it. Prints the names of the
 * calls, in order. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static void *get(void *library, const char *name)
{
	void *f = dlsym(library, name);

	puts(name);
	if (!f)
		fprintf(stderr, "%s is not there\n", name);
	return f;
}

#define GET(library, type, name) ((type)get(library, name))

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL), *p, *f, *g;
		int (*address)(const char *, void **, int, uint64_t, unsigned *);
		size_t pitch;
		int count;

		if (!library)
			return fprintf(stderr, "%s\n", dlerror()), 2;
		GET(library, int (*)(int *), "hipGetDeviceCount")(&count);
		GET(library, int (*)(void **, size_t *, size_t, size_t), "hipMallocPitch")
		(&p, &pitch, 100, 4);
		GET(library, int (*)(void *), "hipFree")(p);
		address = GET(library, int (*)(const char *, void **, int, uint64_t, unsigned *),
			      "hipGetProcAddress");
		address("hipMalloc", &f, 60000, 0, NULL);
		puts("hipGetProcAddress");
		address("hipSetDevice", &g, 60000, 0, NULL);
		puts("hipMalloc");
		((int (*)(void **, size_t))f)(&p, 10);
		puts("hipSetDevice");
		if (((int (*)(int))g)(count))
			return fprintf(stderr, "another copy's hipSetDevice\n"), 3;
		GET(library, int (*)(void *), "hipFree")(p);
	}
	return 0;
}
