/* SPDX-License-Identifier: MIT */
/* Attaches to NVTX. NVTX 3 is a header. Each program or library that includes it contains a copy of
 * NVTX, whose pointers refer to functions that do nothing. NVTX 2 is a library (libnvToolsExt.so.1)
 * that works the same way.
 *
 *   1. At its first call a copy opens the library that NVTX_INJECTION64_PATH names. `gputap run`
 *      sets the variable to libgputap.so. If the user has set it to another library, the program's
 *      NVTX uses only that library.
 *   2. The copy calls InitializeInjectionNvtx2(), which puts gputap functions into its tables.
 *      nvtx_late.c does the same in a program that runs already.
 *   3. At its first call of an extension (payloads) the copy calls
 *      InitializeInjectionNvtxExtension(), which puts gputap functions into the extension's slots.
 *
 * If nothing is recorded, both functions return failure to the copy, whose functions do nothing
 * from then on.
 * NEEDSWORK: not supported yet: names of OpenCL objects; the extensions for counters and memory;
 * deferred events and scopes in payloads. */
#include "core/external.h"
#include "core/recording.h"
#include "runtime/module.h"
#include "runtime/nvtx/nvtx_functions.h"
#include "runtime/nvtx/nvtx_inject.h"
#include "runtime/nvtx/nvtx_ranges.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t number));
EXPORT int InitializeInjectionNvtxExtension(struct nvtx_extension *extension);

/* Return true if a session exists and requests ranges. */
static bool is_run(void)
{
	void (*prepare)(void) = atomic_load(&gt_push_hooks.prepare);

	if (!gt_nvtx_is_ready() || !gt_recording_is_run() ||
	    !(gt_session_recordable(gt_recording.session) >> GT_DOMAIN_NVTX & 1))
		return false;
	if (prepare)
		prepare();
	return true;
}

static void replace_functions(nvtx_function **table, unsigned size,
			      const struct gt_nvtx_functions *ours)
{
	for (size_t i = 0; i < ours->count && i < size; i++)
		if (ours->list[i] && table[i])
			*table[i] = ours->list[i];
}

bool gt_nvtx_inject(const struct nvtx_callbacks *copy)
{
	nvtx_function **table;
	unsigned size;

	if (!is_run())
		return false;
	for (int module = 0; module < GT_NVTX_MODULES; module++)
		if (gt_nvtx_modules[module].count && copy->get_module_table(module, &table, &size))
			replace_functions(table, size, &gt_nvtx_modules[module]);
	gt_runtime_module_of(GT_DOMAIN_NVTX, (const void *)(uintptr_t)copy->get_module_table,
			     "injection", 0);
	return true;
}

int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t number))
{
	const struct nvtx_callbacks *c =
		get_export_table ? get_export_table(NVTX_EXPORT_CALLBACKS) : NULL;

	return c && c->struct_size >= sizeof *c && gt_nvtx_inject(c);
}

/* Handle an extension. Functions of an unknown extension do nothing. */
int InitializeInjectionNvtxExtension(struct nvtx_extension *extension)
{
	const struct gt_nvtx_functions *ours = &gt_nvtx_payload_slots;

	if (!extension || extension->size < sizeof *extension || !is_run())
		return 0;
	if (extension->module != NVTX_EXTENSION_PAYLOAD || !extension->segment_count)
		return 1;
	for (size_t i = 0; i < ours->count && i < extension->segments[0].slot_count; i++)
		if (ours->list[i])
			extension->segments[0].slots[i] = (intptr_t)ours->list[i];
	return 1;
}
