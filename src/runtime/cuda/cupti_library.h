/* SPDX-License-Identifier: MIT */
/* Which libcupti is used, and its functions. It is never linked. */
#ifndef GPUTAP_RUNTIME_CUPTI_LIBRARY_H
#define GPUTAP_RUNTIME_CUPTI_LIBRARY_H

#include <stdbool.h>

#include "runtime/cuda/cupti_abi.h"

/* All that are used have the first ones; the others came later, or are not needed. */
#define GT_CUPTI_FUNCTIONS(X)                \
	X(cuptiGetVersion)                   \
	X(cuptiSubscribe)                    \
	X(cuptiUnsubscribe)                  \
	X(cuptiEnableCallback)               \
	X(cuptiEnableDomain)                 \
	X(cuptiGetCallbackName)              \
	X(cuptiFinalize)                     \
	X(cuptiActivityEnable)               \
	X(cuptiActivityDisable)              \
	X(cuptiActivityRegisterCallbacks)    \
	X(cuptiActivityFlushAll)             \
	X(cuptiActivityGetNextRecord)        \
	X(cuptiActivityGetNumDroppedRecords) \
	X(cuptiActivityRegisterTimestampCallback)
#define GT_CUPTI_MORE_FUNCTIONS(X)   \
	X(cuptiEnableAllDomains)     \
	X(cuptiGetCallbackState)     \
	X(cuptiGetResultString)      \
	X(cuptiGetTimestamp)         \
	X(cuptiActivityFlushPeriod)  \
	X(cuptiActivitySetAttribute) \
	X(cuptiActivityGetAttribute) \
	X(cuptiGetContextId)         \
	X(cuptiGetStreamIdEx)        \
	X(cuptiGetGraphId)           \
	X(cuptiGetGraphExecId)       \
	X(cuptiGetGraphNodeId)

struct gt_cupti_library {
	void *handle;
	uint64_t base; /* where it is mapped */
	uint32_t version;
	char path[488];
#define MEMBER(name) name##_fn *name;
	GT_CUPTI_FUNCTIONS(MEMBER)
	GT_CUPTI_MORE_FUNCTIONS(MEMBER)
#undef MEMBER
};

/**
 * gt_cupti_library_open() - the one that the program has mapped, else one that is found
 * In this order: what GPUTAP_CUPTI names; mapped; beside the mapped libcudart, or where NVIDIA's
 * Python packages have it; by its name; in the toolkit.
 * @base: only the one that is mapped there; 0: any
 * @text: receives what is wrong, one sentence with the way out, if it returns false
 * Thread: any, without a lock; calls dlopen().
 */
bool gt_cupti_library_open(struct gt_cupti_library *library, uint64_t base, char text[256]);

#endif
