/* SPDX-License-Identifier: MIT */
/* A user's tool for HSA_TOOLS_LIB: counts calls of hsa_signal_store_relaxed() through the table and
 * prints the count at exit. With FAILS defined, its OnLoad() returns false. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { STORE_RELAXED = 41, VERSION_WORDS = 2 };

struct tables {
	uint32_t version[4];
	void **core;
};

bool OnLoad(struct tables *tables, uint64_t version, uint64_t failed_count,
	    const char *const *failed);
void OnUnload(void);

static void (*real)(uint64_t, int64_t);
static unsigned stores;

static void store(uint64_t signal, int64_t value)
{
	stores++;
	real(signal, value);
}

bool OnLoad(struct tables *tables, uint64_t version, uint64_t failed_count,
	    const char *const *failed)
{
	(void)version, (void)failed_count, (void)failed;
#ifdef FAILS
	(void)tables, (void)store;
	return false;
#else
	real = (void (*)(uint64_t, int64_t))(uintptr_t)tables->core[VERSION_WORDS + STORE_RELAXED];
	tables->core[VERSION_WORDS + STORE_RELAXED] = (void *)(uintptr_t)store;
	return true;
#endif
}

void OnUnload(void)
{
	fprintf(stderr, "tool: %u stores\n", stores);
}
