/* SPDX-License-Identifier: MIT */
/* A library that says that it is a tool was opened: libgputap-audit.so sees that, and calls the
 * function that libgputap.so has put into gputap_attach_tools. */
#ifndef GPUTAP_CORE_TOOL_OPENED_H
#define GPUTAP_CORE_TOOL_OPENED_H

#include <stdatomic.h>
#include <stdint.h>

#define GT_TOOL_OPENED_MAGIC UINT64_C(0x314e45504f4c4f54)
struct gt_tool_opened {
	uint64_t magic;
	/* NULL: libgputap.so has not looked for tools yet. Called with the dynamic linker's lock,
	 * before the library's constructors */
	void (*_Atomic opened)(void);
};

#endif
