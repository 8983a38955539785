/* SPDX-License-Identifier: MIT */
/* Notification that a library that declares itself a tool was opened. The audit library notices the
 * library and calls the function that libgputap.so has stored in gputap_attach_tools. */
#ifndef GPUTAP_CORE_TOOL_OPENED_H
#define GPUTAP_CORE_TOOL_OPENED_H

#include <stdatomic.h>
#include <stdint.h>

#define GT_TOOL_OPENED_MAGIC UINT64_C(0x314e45504f4c4f54)
struct gt_tool_opened {
	uint64_t magic;
	/* NULL: libgputap.so has not looked for tools yet. The audit library calls this function
	 * with the dynamic linker's lock held, before the tool's constructors run */
	void (*_Atomic opened)(void);
};

#endif
