/* SPDX-License-Identifier: MIT */
/* A program for tests of tools. Each argument is an action, executed in turn. Linked with HIP,
 * OpenCL, HSA, several or none (-DHIP, -DOPENCL, -DHSA). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HIP
int hipGetDeviceCount(int *count);
int hipMalloc(void **p, size_t bytes);
int hipFree(void *p);
#endif
#ifdef OPENCL
int clGetPlatformIDs(unsigned count, void **platforms, unsigned *found);
#endif

#ifdef HSA
int hsa_init(void);
int hsa_system_get_info(int what, void *value);
#endif

static int (*hip_count)(int *);
static int (*cl_platforms)(unsigned, void **, unsigned *);

static void hip(void)
{
#ifdef HIP
	void *p;
	int n;

	if (hipGetDeviceCount(&n) || hipMalloc(&p, 4096) || hipFree(p))
		puts("hip fails");
#else
	int n;

	if (!hip_count)
		hip_count = (int (*)(int *))dlsym(dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL),
						  "hipGetDeviceCount");
	if (hip_count(&n))
		puts("hip fails");
#endif
}

static void opencl(void)
{
	unsigned n;
#ifdef OPENCL
	cl_platforms = clGetPlatformIDs;
#endif
	if (!cl_platforms)
		cl_platforms = (int (*)(unsigned, void **, unsigned *))
			dlsym(dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND),
			      "clGetPlatformIDs");
	if (cl_platforms(0, NULL, &n))
		puts("opencl fails");
}

/* Open a library with HIP's functions, use it, and close it. */
static void visit(const char *path)
{
	void *there = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int n;

	((int (*)(int *))dlsym(there, "hipGetDeviceCount"))(&n);
	dlclose(there);
}

static void *thread(void *what)
{
	usleep(200000);
	((void (*)(void))what)();
	return NULL;
}

static void at_exit(void)
{
	hip();
}

int main(int argc, char **argv)
{
	void *library = NULL;
	pthread_t t;
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		const char *what = argv[i];

		printf("%s\n", what);
		if (!strcmp(what, "hip"))
			hip();
		else if (!strcmp(what, "opencl"))
			opencl();
#ifdef HSA
		else if (!strcmp(what, "hsa"))
			printf("hsa %d\n", hsa_init());
#endif
		else if (!strcmp(what, "open") || !strcmp(what, "open_global")) {
			library =
				dlopen(argv[++i], RTLD_NOW | (what[4] ? RTLD_GLOBAL : RTLD_LOCAL));
			if (!library)
				puts(dlerror());
		} else if (!strcmp(what, "close"))
			dlclose(library);
		else if (!strcmp(what, "visit"))
			visit(argv[++i]);
		else if (!strcmp(what, "is_open"))
			printf("is open: %d\n", dlopen(argv[++i], RTLD_NOW | RTLD_NOLOAD) != NULL);
		else if (!strcmp(what, "add"))
			printf("add: %d\n", ((int (*)(void))dlsym(library, "listener_add"))());
		else if (!strcmp(what, "remove"))
			printf("remove: %d\n",
			       ((int (*)(void))dlsym(library, "listener_remove"))());
		else if (!strcmp(what, "remove_it")) /* bypasses the tool */
			printf("remove: %d\n",
			       ((int (*)(void *))dlsym(library, "gputap_tool_remove"))(
				       ((void *(*)(void))dlsym(library, "listener_tool"))()));
		else if (!strcmp(what, "fork")) {
			if (fork() == 0) {
				hip();
				exit(0);
			}
			wait(&status);
			printf("child: %d\n", status);
		} else if (!strcmp(what, "hip_at_exit"))
			atexit(at_exit);
		else if (!strcmp(what, "_exit"))
			_exit(0);
		else if (!strcmp(what, "quick_exit"))
			quick_exit(0);
		else if (!strcmp(what, "environment"))
			printf("HSA_TOOLS_LIB=%s OPENCL_LAYERS=%s LD_AUDIT=%s\n",
			       getenv("HSA_TOOLS_LIB"), getenv("OPENCL_LAYERS"),
			       getenv("LD_AUDIT"));
		else if (!strcmp(what, "outlive")) {
			pthread_create(&t, NULL, thread, (void *)hip);
			pthread_exit(NULL);
		}
	}
	return 0;
}
