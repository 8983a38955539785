/* SPDX-License-Identifier: MIT */
/* Counts unmappings of the dynamic linker, so that libgputap.so can check whether another module
 * may have replaced a module at the same address. libgputap-audit.so increments the counter
 * (gputap_attach_unloads); libgputap.so owns it. */
#ifndef GPUTAP_CORE_UNLOADS_H
#define GPUTAP_CORE_UNLOADS_H

#include <stdatomic.h>
#include <stdint.h>

#define GT_UNLOADS_MAGIC UINT64_C(0x3144414f4c4e5554)
struct gt_unloads {
	uint64_t magic;
	_Atomic uint32_t count;
	uint32_t reserved;
};

#endif
