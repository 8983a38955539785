/* SPDX-License-Identifier: MIT */
/* Classifies the driver functions that cause GPU activities by callback id, and marks the functions
 * whose activities are wanted. */
#include <string.h>

#include "core/context.h"
#include "core/recording.h"
#include "record/operation.h"
#include "runtime/cuda/cuda_parts.h"
#include "tool/tool_activity.h"

uint8_t gt_cuda_functions[CUPTI_CALLBACK_IDS];
uint8_t gt_cuda_asked[CUPTI_CALLBACK_IDS];
uint8_t gt_cuda_activity_ops[CUPTI_CALLBACK_IDS];
static bool asks_any;

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static enum gt_cuda_function function_of(const char *name)
{
	static const struct {
		const char *name;
		enum gt_cuda_function function;
	} beginnings[] = {
		{"cuLaunchHostFunc", GT_CUDA_NOTHING},
		{"cuLaunchCooperativeKernelMultiDevice", GT_CUDA_OTHER},
		{"cuLaunch", GT_CUDA_LAUNCH},
		{"cuMemcpyBatch", GT_CUDA_OTHER},
		{"cuMemcpy3DBatch", GT_CUDA_OTHER},
		{"cuMemcpyWithAttributes", GT_CUDA_OTHER},
		{"cuMemcpy3DWithAttributes", GT_CUDA_OTHER},
		{"cuMemcpy", GT_CUDA_MOVE},
		{"cuMemset", GT_CUDA_MOVE},
		{"cuMemPrefetch", GT_CUDA_OTHER},
		{"cuGraphLaunch", GT_CUDA_GRAPH_LAUNCH},
		{"cuStreamBeginCapture", GT_CUDA_BEGIN_CAPTURE},
		{"cuStreamEndCapture", GT_CUDA_END_CAPTURE},
		{"cuGraphInstantiate", GT_CUDA_INSTANTIATE},
		{"cuGraphExecDestroy", GT_CUDA_EXEC_DESTROY},
		{"cuGraphNodeSetEnabled", GT_CUDA_NODE_ENABLE},
		{"cuStreamCreate", GT_CUDA_STREAM_CREATE},
		{"cuStreamDestroy", GT_CUDA_STREAM_DESTROY},
		{"cuStreamSynchronize", GT_CUDA_WAIT},
		{"cuStreamQuery", GT_CUDA_WAIT},
		{"cuCtxSynchronize", GT_CUDA_WAIT},
		{"cuEventSynchronize", GT_CUDA_WAIT},
		{"cuEventQuery", GT_CUDA_WAIT},
	};

	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (begins(name, beginnings[i].name))
			return beginnings[i].function;
	return GT_CUDA_NOTHING;
}

static enum gt_device_op op_of(const char *name)
{
	if (begins(name, "cuMemset"))
		return GT_DEVICE_FILL;
	if (begins(name, "cuMemcpyHto"))
		return GT_DEVICE_WRITE;
	if (begins(name, "cuMemcpyDtoH") || begins(name, "cuMemcpyAtoH"))
		return GT_DEVICE_READ;
	return begins(name, "cuMemcpy") ? GT_DEVICE_COPY : GT_DEVICE_KERNEL;
}

/* Classify functions by operation number, which equals CUPTI's callback id. */
static void look_at_operations(void)
{
	static _Atomic uint32_t looked;

	if (atomic_exchange(&looked, 1))
		return;
	for (uint32_t i = 0; i < GT_CUDA_DRIVER_INDEX_COUNT; i++) {
		const struct gt_operation *op = &gt_cuda_driver_operations[i];
		uint32_t id = GT_OP_NUMBER(op->op);

		if (id < CUPTI_CALLBACK_IDS &&
		    gt_cuda_is_launch(function_of(gt_operation_text(op->op))) &&
		    gt_session_asks_activity(op->op)) {
			gt_cuda_asked[id] = 1;
			asks_any = true;
		}
	}
}

void gt_cuda_functions_find(const struct gt_cupti_library *library)
{
	look_at_operations();
	for (uint32_t id = 1; id < CUPTI_CALLBACK_IDS; id++) {
		const char *name = NULL;

		if (!library->cuptiGetCallbackName(CUPTI_DOMAIN_DRIVER, id, &name) && name)
			gt_cuda_functions[id] = (uint8_t)function_of(name);
		if (name)
			gt_cuda_activity_ops[id] = (uint8_t)op_of(name);
	}
}

bool gt_cuda_callback_needed(uint32_t id)
{
	return id < CUPTI_CALLBACK_IDS && gt_cuda_functions[id] != GT_CUDA_NOTHING &&
	       gt_cuda_functions[id] != GT_CUDA_WAIT;
}

bool gt_cuda_stream_open(void)
{
	return atomic_load_explicit(&gt_stream_launches, memory_order_relaxed) >>
			       GT_DOMAIN_CUDA_DRIVER &
		       1 &&
	       !atomic_load_explicit(&gt_recording.off, memory_order_relaxed);
}

bool gt_cuda_activity_wanted(bool ever)
{
	look_at_operations();
	if (gt_tool_activity_asked(GT_DOMAIN_CUDA_DRIVER))
		return true;
	if (!asks_any || atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		return false;
	return ever || gt_cuda_stream_open();
}
