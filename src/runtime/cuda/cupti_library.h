/* SPDX-License-Identifier: MIT */
/* The libcupti in use, and its functions. It is never linked. */
#ifndef GPUTAP_RUNTIME_CUPTI_LIBRARY_H
#define GPUTAP_RUNTIME_CUPTI_LIBRARY_H

#include <stdbool.h>

#include "runtime/cuda/cupti_abi.h"

/* All usable releases have the functions of the first list; those of the second came later, or are
 * not needed. */
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
 * gt_cupti_library_open() - open the CUPTI that the program has mapped, or else find one
 * The order is: the path in GPUTAP_CUPTI; a mapped one; next to the mapped libcudart, or in the
 * folder of a Python package from NVIDIA; its plain name; the toolkit.
 * @base: only the one that is mapped there; 0: any
 * @text: receives one sentence that explains the error and its remedy, if it returns false
 * Thread: any, without a lock; calls dlopen().
 */
bool gt_cupti_library_open(struct gt_cupti_library *library, uint64_t base, char text[256]);

#endif
