/* SPDX-License-Identifier: MIT */
/* How often the dynamic linker has unmapped something: libgputap-audit.so counts, libgputap.so
 * has the counter (gputap_attach_unloads), and asks whether a module may have made room for
 * another one. */
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
