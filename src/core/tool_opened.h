/* SPDX-License-Identifier: MIT */
/* gputap_attach_tools, the object of libgputap.so that shows the audit library how far this library
 * is, and through which it is notified of tools that the program opens. */
#ifndef GPUTAP_CORE_TOOL_OPENED_H
#define GPUTAP_CORE_TOOL_OPENED_H

#include <stdatomic.h>
#include <stdint.h>

#define GT_TOOL_OPENED_MAGIC UINT64_C(0x324e45504f4c4f54)
struct gt_tool_opened {
	uint64_t magic;
	/* NULL: libgputap.so has not looked for tools yet. The audit library calls this function
	 * with the dynamic linker's lock held, before the tool's constructors run */
	void (*_Atomic opened)(void);
	/* nonzero once a constructor of libgputap.so has adopted the armed libraries, so that it
	 * must be notified of those that are armed later */
	_Atomic uint32_t ready;
	/* nonzero once the audit library has armed a library. Without one, constructors do not look
	 * at the states of interposition, a page of memory for each domain */
	_Atomic uint32_t armed;
};

extern struct gt_tool_opened gputap_attach_tools __attribute__((visibility("default")));

#endif
