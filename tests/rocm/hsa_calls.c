/* SPDX-License-Identifier: MIT */
/* Plain HSA: hsa_calls [--again | --no-shutdown]. Makes known numbers of calls with known
 * arguments. A round, after hsa_init(), has 16 calls of hsa_core, including hsa_shut_down(), and 4
 * calls of hsa_amd_ext, one of which fails. */
#include <stdio.h>
#include <string.h>

#include "hsa_gpu.h"

#define CHECK(call)                                                            \
	do {                                                                   \
		hsa_status_t s_ = (call);                                      \
		if (s_ != HSA_STATUS_SUCCESS && s_ != HSA_STATUS_INFO_BREAK) { \
			printf("%s: 0x%x\n", #call, s_);                       \
			return 1;                                              \
		}                                                              \
	} while (0)

static int once(void)
{
	hsa_signal_t signal;
	void *memory;
	char name[64];

	CHECK(hsa_iterate_agents(find_gpu, NULL));
	CHECK(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
	CHECK(hsa_signal_create(7, 0, NULL, &signal));
	for (int i = 0; i < 5; i++)
		hsa_signal_store_relaxed(signal, -i);
	printf("%s %lld\n", name, (long long)hsa_signal_load_relaxed(signal));
	CHECK(hsa_amd_agent_iterate_memory_pools(gpu, first_pool, NULL));
	CHECK(hsa_amd_memory_pool_allocate(pool, 4096, 0, &memory));
	CHECK(hsa_amd_memory_pool_free(memory));
	if (hsa_amd_memory_pool_free((void *)0x123000) == HSA_STATUS_SUCCESS)
		return 1;
	CHECK(hsa_signal_destroy(signal));
	return 0;
}

int main(int argc, char **argv)
{
	int again = argc > 1 && !strcmp(argv[1], "--again");

	for (int i = 0; i <= again; i++) {
		CHECK(hsa_init());
		if (once())
			return 1;
		if (argc > 1 && !strcmp(argv[1], "--no-shutdown"))
			return 0;
		CHECK(hsa_shut_down());
	}
	return 0;
}
