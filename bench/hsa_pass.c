/* SPDX-License-Identifier: MIT */
/* A minimal tool for HSA_TOOLS_LIB that sees packets: it intercepts every queue, with profiling,
 * and its handler passes on the packets unchanged. The additional cost of bench/hsa_dispatch with
 * this tool is that of ROCr; gputap causes the rest. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	QUEUE_CREATE = 7,
	PROFILER_ENABLED = 2,
	INTERCEPT_CREATE = 37,
	INTERCEPT_REGISTER = 38,
	NEWER_ENTRIES = 2,
	OLD_BYTES = 16 + 55 * 8
};

struct table {
	uint32_t major, bytes, step, reserved;
	void *entries[];
};

struct tables {
	uint32_t version[4];
	struct table *core, *amd;
};

typedef void writer_fn(const void *packets, uint64_t count);
typedef void handler_fn(const void *packets, uint64_t count, uint64_t index, void *data,
			writer_fn *writer);
typedef int create_fn(uint64_t agent, uint32_t size, uint32_t type, void *callback, void *data,
		      uint32_t private_bytes, uint32_t group_bytes, void **queue);

static create_fn *intercept_create;
static int (*intercept_register)(void *queue, handler_fn *handler, void *data);
static int (*profiler_enabled)(void *queue, int enable);

static void pass(const void *packets, uint64_t count, uint64_t index, void *data, writer_fn *writer)
{
	(void)index;
	(void)data;
	writer(packets, count);
}

static int create(uint64_t agent, uint32_t size, uint32_t type, void *callback, void *data,
		  uint32_t private_bytes, uint32_t group_bytes, void **queue)
{
	int status = intercept_create(agent, size, type, callback, data, private_bytes, group_bytes,
				      queue);

	if (!status)
		status = profiler_enabled(*queue, 1);
	return status ? status : intercept_register(*queue, pass, NULL);
}

__attribute__((visibility("default"))) bool OnLoad(struct tables *t, uint64_t version,
						   uint64_t failed, const char *const *names);

bool OnLoad(struct tables *t, uint64_t version, uint64_t failed, const char *const *names)
{
	unsigned older = t->amd->bytes < OLD_BYTES ? NEWER_ENTRIES : 0; /* layout before ROCm 5.6 */

	(void)version;
	(void)failed;
	(void)names;
	*(void **)&intercept_create = t->amd->entries[INTERCEPT_CREATE - older];
	*(void **)&intercept_register = t->amd->entries[INTERCEPT_REGISTER - older];
	*(void **)&profiler_enabled = t->amd->entries[PROFILER_ENABLED];
	t->core->entries[QUEUE_CREATE] = (void *)(uintptr_t)create;
	return true;
}
