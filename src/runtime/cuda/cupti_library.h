/* SPDX-License-Identifier: MIT */
/* Declares the libcupti in use and its functions. gputap opens libcupti at run time and is never
 * linked with it. */
#ifndef GPUTAP_RUNTIME_CUPTI_LIBRARY_H
#define GPUTAP_RUNTIME_CUPTI_LIBRARY_H

#include <stdbool.h>

#include "runtime/cuda/cupti_abi.h"

/* Functions of libcupti. All usable releases contain the functions of the first list. The functions
 * of the second list are newer or optional. */
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
	uint64_t base; /* address at which the library is mapped */
	uint32_t version;
	char path[488];
#define MEMBER(name) name##_fn *name;
	GT_CUPTI_FUNCTIONS(MEMBER)
	GT_CUPTI_MORE_FUNCTIONS(MEMBER)
#undef MEMBER
};

/**
 * gt_cupti_library_open() - open the CUPTI that the program has mapped, or else find a copy
 * @base: address of the only acceptable mapped copy; 0 accepts any copy
 * @text: receives a sentence about the error and its remedy, if the function returns false
 * The search order is: the path in GPUTAP_CUPTI; a mapped copy; the folder of the mapped libcudart
 * or of an NVIDIA Python package; the plain file name; the toolkit.
 * Thread: any, without a lock; calls dlopen().
 */
bool gt_cupti_library_open(struct gt_cupti_library *library, uint64_t base, char text[256]);

#endif
