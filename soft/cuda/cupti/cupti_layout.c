/* SPDX-License-Identifier: MIT */
/* Sizes of records in the selected version. Newer versions add fields at the end.
 *
 * Sizes of 11.8, 12.9 and 13.5 are those of NVIDIA's headers. For 13.0, kernels, copies and sets
 * were measured; other sizes are those of 12.9. */
#include <assert.h>

#include "soft/cuda/cupti/cupti_parts.h"

static_assert(sizeof(CUpti_ActivityKernel13) == 248, "");
static_assert(offsetof(CUpti_ActivityKernel13, correlationId) == 92, "");
static_assert(offsetof(CUpti_ActivityKernel13, name) == 104, "");
static_assert(offsetof(CUpti_ActivityKernel13, graphNodeId) == 144, "");
static_assert(offsetof(CUpti_ActivityKernel13, graphId) == 156, "");
static_assert(offsetof(CUpti_ActivityKernel13, maxPotentialClusterSize) == 200, "");
static_assert(offsetof(CUpti_ActivityKernel13, priority) == 216, "");
static_assert(sizeof(CUpti_ActivityMemcpy7) == 112, "");
static_assert(offsetof(CUpti_ActivityMemcpy7, graphNodeId) == 64, "");
static_assert(offsetof(CUpti_ActivityMemcpy7, copyCount) == 88, "");
static_assert(sizeof(CUpti_ActivityMemcpyPtoP4) == 96, "");
static_assert(offsetof(CUpti_ActivityMemcpyPtoP4, graphNodeId) == 72, "");
static_assert(sizeof(CUpti_ActivityMemset5) == 104, "");
static_assert(offsetof(CUpti_ActivityMemset5, graphId) == 72, "");
static_assert(sizeof(CUpti_ActivityAPI) == 40, "");
static_assert(sizeof(CUpti_ActivityDevice6) == 192, "");
static_assert(offsetof(CUpti_ActivityDevice6, name) == 136, "");
static_assert(sizeof(CUpti_ActivityContext4) == 40, "");
static_assert(offsetof(CUpti_ActivityContext4, processId) == 32, "");
static_assert(sizeof(CUpti_ActivityStream) == 24, "");
static_assert(sizeof(CUpti_ActivityExternalCorrelation) == 24, "");
static_assert(sizeof(CUpti_ActivitySynchronization2) == 56, "");
static_assert(sizeof(CUpti_ActivityGraphTrace2) == 56, "");
static_assert(sizeof(CUpti_CallbackData) == 72, "");
static_assert(offsetof(CUpti_CallbackData, correlationId) == 64, "");

static const struct {
	uint32_t api;
	uint8_t kernel, copy, set, device, context, synchronization, graph;
} layouts[] = {
	[SOFT_CUPTI_11_8] = {18, 200, 88, 88, 176, 16, 40, 48},
	[SOFT_CUPTI_12_9] = {28, 208, 96, 88, 184, 32, 56, 56},
	[SOFT_CUPTI_13_0] = {130001, 216, 96, 88, 184, 32, 56, 56},
	[SOFT_CUPTI_13_5] = {130500, 248, 112, 104, 192, 40, 56, 56},
};

size_t soft_cupti_record_bytes(uint32_t kind)
{
	const enum soft_cupti_version v = soft_cupti_config.cupti_version;

	switch (kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return layouts[v].kernel;
	case CUPTI_ACTIVITY_KIND_MEMCPY: return layouts[v].copy;
	case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
	case CUPTI_ACTIVITY_KIND_MEMSET: return layouts[v].set;
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME: return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_DEVICE: return layouts[v].device;
	case CUPTI_ACTIVITY_KIND_CONTEXT: return layouts[v].context;
	case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return layouts[v].synchronization;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return sizeof(CUpti_ActivityExternalCorrelation);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return layouts[v].graph;
	default: return 0;
	}
}

int cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	soft_cupti_open(NULL);
	*version = layouts[soft_cupti_config.cupti_version].api;
	return CUPTI_SUCCESS;
}

/* Iterate over the records in a buffer, as NVIDIA's function does. */
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	size_t at, bytes;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!*record) {
		at = 0;
	} else {
		at = (size_t)((uint8_t *)*record - buffer);
		bytes = at < valid ? soft_cupti_record_bytes((*record)->kind) : 0;
		if (!bytes)
			return CUPTI_ERROR_INVALID_KIND;
		at += bytes;
	}
	if (at >= valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (!soft_cupti_record_bytes(((CUpti_Activity *)(buffer + at))->kind))
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)(buffer + at);
	return CUPTI_SUCCESS;
}
