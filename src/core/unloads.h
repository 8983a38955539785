/* SPDX-License-Identifier: MIT */
/* Counts unmappings of the dynamic linker: libgputap-audit.so counts, libgputap.so owns the counter
 * (gputap_attach_unloads), and checks whether another module may have taken a module's place. */
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
