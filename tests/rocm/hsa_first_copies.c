/* SPDX-License-Identifier: MIT */
/* hsa_first_copies TOOL: two threads make the first copies in the process. One of them is blocked
 * in hsa_amd_profiling_async_copy_enable() until the copy of the other thread is done.
 *
 * With TOOL defined, this file becomes the library that blocks the thread. The program is linked
 * with this library, which adds itself before HSA_TOOLS_LIB, so that tools after it see it as the
 * runtime. It blocks only the first call. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

bool first_wait_until_held(void);
void first_go_on(void);

static inline void nap(void)
{
	nanosleep(&(struct timespec){0, 100000}, NULL);
}

#ifdef TOOL
enum { ASYNC_COPY_ENABLE = 3, VERSION_WORDS = 2 };

struct tables {
	uint32_t version[4];
	void **core, **amd_ext;
};

static int (*real)(bool);
static atomic_uint calls, over;

static int enable(bool on)
{
	if (atomic_fetch_add(&calls, 1) == 0)
		while (!atomic_load(&over))
			nap();
	return real(on);
}

bool OnLoad(struct tables *tables, uint64_t version, uint64_t failed_count,
	    const char *const *failed);
bool OnLoad(struct tables *tables, uint64_t version, uint64_t failed_count,
	    const char *const *failed)
{
	(void)version, (void)failed_count, (void)failed;
	real = (int (*)(bool))(uintptr_t)tables->amd_ext[VERSION_WORDS + ASYNC_COPY_ENABLE];
	tables->amd_ext[VERSION_WORDS + ASYNC_COPY_ENABLE] = (void *)(uintptr_t)enable;
	return true;
}

bool first_wait_until_held(void)
{
	for (int i = 0; i < 100000 && !atomic_load(&calls); i++)
		nap();
	return atomic_load(&calls);
}

void first_go_on(void)
{
	atomic_store(&over, 1);
}
#else
#include <pthread.h>

#include "hsa_program.h"

enum { BYTES = 4096 };

static struct hsa_program program;

static void *copy(void *pages)
{
	void *source = hsa_program_memory(&program, *(int *)pages * BYTES), *target;
	hsa_signal_t done = hsa_program_signal(1);

	MUST(hsa_amd_memory_pool_allocate(program.device, *(int *)pages * BYTES, 0, &target));
	MUST(hsa_amd_memory_async_copy(target, program.gpu, source, program.cpu,
				       *(int *)pages * BYTES, 0, NULL, done));
	hsa_program_wait(done);
	MUST(hsa_signal_destroy(done));
	return NULL;
}

int main(int argc, char **argv)
{
	const char *tools = getenv("HSA_TOOLS_LIB");
	int one = 1, two = 2;
	char first[4096];
	pthread_t thread;

	snprintf(first, sizeof first, "%s %s", argc > 1 ? argv[1] : "", tools ? tools : "");
	setenv("HSA_TOOLS_LIB", first, 1);
	hsa_program_start(&program);
	pthread_create(&thread, NULL, copy, &one);
	if (!first_wait_until_held()) {
		printf("nobody switched times on\n");
		return 1;
	}
	copy(&two);
	first_go_on();
	pthread_join(thread, NULL);
	printf("done\n");
	MUST(hsa_shut_down());
	return 0;
}
#endif
