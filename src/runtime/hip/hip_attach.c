/* SPDX-License-Identifier: MIT */
/* Attaches to HIP before ROCm 6, which does not offer its table: libgputap-audit.so has replaced
 * the library's exports with our taps. The replaced exports include the functions that programs
 * call and those to which compilers insert calls (runtime/audit/audit.c). Libraries that offer a
 * table are attached through the table.
 *
 * Each mapped copy of the library is a separate instance. The library's calls to its own exports do
 * not reach this file: the audit library binds them to the real functions. */
#include "runtime/hip/hip_attach.h"

#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit.h"
#include "core/late.h"
#include "core/recording.h"
#include "core/table.h"
#include "runtime/hip/hip_order.h"
#include "generated/hip_compiler_taps.h"
#include "generated/hip_taps.h"
#include "runtime/interposition.h"
#include "runtime/mapped.h"
#include "runtime/module.h"
#include "runtime/registered.h"

#define GT_ATTACH         hip
#define GT_ATTACH_UP      HIP
#define GT_ATTACH_EXPORTS "generated/hip_exports.inc"
#define GT_ATTACH_THREADS "gt_hip_thread_create"
#include "runtime/attach_object.inc"

#define GT_ATTACH         hip_compiler
#define GT_ATTACH_UP      HIP_COMPILER
#define GT_ATTACH_EXPORTS "generated/hip_compiler_exports.inc"
#include "runtime/attach_object.inc"

static GT_AT_START bool is_interposed;

/* Called with the dynamic linker's lock held, like gt_hip_compiler_attached(). No dlopen(), no
 * dladdr() here. */
__attribute__((visibility("hidden"), used)) void gt_hip_attached(void)
{
	if (gt_attach_adopt_all(gt_hip_attach_states, gt_hip_tables, GT_INSTANCES, GT_DOMAIN_HIP,
				"HIP"))
		is_interposed = true;
}

static int is_sdk(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size, (void)data;
	return strstr(info->dlpi_name, "librocprofiler-sdk.so") != NULL;
}

/* Report tools that were not loaded, because before ROCm 6 no ROCm library reads the variable.
 * Report them when the process ends, because the program may open the SDK at any time. */
__attribute__((destructor)) static void report_ignored_tools(void)
{
	const char *tools = getenv("ROCP_TOOL_LIBRARIES");
	char text[512];

	if (!is_interposed || !tools || !*tools || dl_iterate_phdr(is_sdk, NULL))
		return;
	snprintf(text, sizeof text,
		 "%.256s (ROCP_TOOL_LIBRARIES) was not loaded: ROCm before 6 does not read the "
		 "variable; preload gputap's librocprofiler-sdk.so.1 (LD_PRELOAD)",
		 tools);
	gt_event_write(gt_thread_own(), GT_EVENT_TOOL, GT_DOMAIN_HIP, 0, text);
}

__attribute__((visibility("hidden"), used)) void gt_hip_compiler_attached(void)
{
	gt_attach_adopt_all(gt_hip_compiler_attach_states, gt_hip_compiler_tables, GT_INSTANCES,
			    GT_DOMAIN_HIP_COMPILER, NULL);
}

/* Take the instance for attaching through a table. Return false if interposition already uses the
 * instance. */
static bool take_instance(enum gt_domain domain, uint32_t instance)
{
	struct gt_attach_state *states =
		domain == GT_DOMAIN_HIP ? gt_hip_attach_states : gt_hip_compiler_attach_states;
	uint32_t free = GT_ATTACH_FREE;

	return atomic_compare_exchange_strong(&states[instance].state, &free, GT_ATTACH_LAYER) ||
	       free == GT_ATTACH_LAYER;
}

static _Atomic(void *) taken[GT_INSTANCES], taken_compiler[GT_INSTANCES];
GT_PROVIDE(gt_registered) = {
	.name = "hip",
	.domain = GT_DOMAIN_HIP,
	.library = "HIP",
	.tables = gt_hip_tables,
	.taken = taken,
	.may_take = take_instance,
};
GT_PROVIDE(gt_registered) = {
	.name = "hip_compiler",
	.domain = GT_DOMAIN_HIP_COMPILER,
	.library = "HIP",
	.tables = gt_hip_compiler_tables,
	.taken = taken_compiler,
	.may_take = take_instance,
};

bool gt_hip_is_interposed(uint32_t instance)
{
	return atomic_load_explicit(&gt_hip_attach_states[instance].state, memory_order_relaxed) ==
	       GT_ATTACH_ARMED;
}

/* Name what is missing if HIP submits from its own threads, which existed before gputap. */
static void attach_late(void)
{
	const char *value = getenv("AMD_DIRECT_DISPATCH");

	if (value && *value && !atoi(value) && strcmp(value, "true") &&
	    gt_mapped_defines("__hipRegisterFatBinary", NULL))
		gt_late_missing(GT_DOMAIN_HIP,
				"the calls of HIP's GPU activities: HIP submits from its own "
				"threads (AMD_DIRECT_DISPATCH=0), which were created before");
}

GT_PROVIDE(gt_late) = {.name = "hip", .attach = attach_late};

__attribute__((constructor)) static void start_hip_attach(void)
{
	gt_recording_init();
	gt_hip_order_configure();
	gt_attach_begin(gt_hip_attached);
	gt_attach_begin(gt_hip_compiler_attached);
}
