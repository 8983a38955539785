/* SPDX-License-Identifier: MIT */
/* How libgputap-audit.so finds and arms the taps of libgputap.so: the contract between the two.
 *
 * libgputap.so exports one object per domain, gputap_attach_<domain>. The audit library may need
 * it before libgputap.so is relocated (libraries are relocated from the last to the first, a
 * preloaded one comes late), so there is no pointer in it: all are offsets from the object's own
 * address, which the linker knew.
 *
 *   gt_attach ─► names      "clBuildProgram\0clCloneKernel\0.."   what a runtime's library exports
 *           ─► indices    uint16_t[count]                       of each name, by operation
 *           ─► functions  int32_t[instances][count]             taps, as offsets from the gt_attach
 *           ─► taps       struct gt_tap[instances][operations]  .bss: written before relocation,
 *                                                               too
 *           ─► states     struct gt_attach_state[instances]       .bss
 *           ─► threads    what the library gets in the place of pthread_create(); 0: the real one
 *           ─► opened     void (void): something was armed after libgputap.so's constructor ran
 *
 * Who writes: `state` FREE -> ARMED and back, base, path, taps[].real: the audit library, with
 * the dynamic linker's lock held. `ready`, `adopted`: libgputap.so. */
#ifndef GPUTAP_RUNTIME_INTERPOSITION_H
#define GPUTAP_RUNTIME_INTERPOSITION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/domain.h"

struct gt_table;

#define GT_ATTACH_MAGIC UINT64_C(0x3130484354415447) /* "GTATCH01" */

struct gt_attach {
	uint64_t magic;
	int32_t shape, names, indices, functions, taps, states, opened, threads;
};

struct gt_attach_shape {
	uint32_t count, instances, operations;
	uint32_t tap_bytes; /* sizeof(struct gt_tap) */
};

enum { GT_ATTACH_FREE = 0, GT_ATTACH_LAYER = 1 /* used by another way */, GT_ATTACH_ARMED = 2 };

struct gt_attach_state {
	_Atomic uint32_t state;
	/* libgputap.so's constructor has run: call `opened`. Instance 0's counts for all */
	_Atomic uint32_t ready;
	_Atomic uint32_t adopted; /* libgputap.so knows of this one */
	/* libraries that found no instance free; instance 0's counts for all */
	_Atomic uint32_t missed;
	/* it was mapped before anybody looked: others may have its functions already */
	_Atomic uint32_t late;
	uint64_t base;  /* where the runtime's library is mapped */
	char path[228]; /* its name, cut if longer */
};

/* In libgputap.so. True once for each library that was armed: its table is to be adopted, its
 * module recorded. */
bool gt_attach_adopt(struct gt_attach_state *state);
/**
 * gt_attach_adopt_all() - take over what was armed of a domain: its tables, its libraries' names,
 * an event for those that found no instance free
 * @tables:  of the instances; the states are those of the same numbers
 * @library: "HIP": what the event calls a copy of it. NULL: another domain's event
 *         names the library
 * Return: true if there was anything new. Thread: any; maybe with the dynamic linker's lock held,
 * so no dlopen(), no dladdr().
 */
bool gt_attach_adopt_all(struct gt_attach_state *states, struct gt_table *tables,
			 uint32_t instances, enum gt_domain domain, const char *library);

/* Exported by libgputap.so, for libgputap-audit.so: which libraries of tools a runtime could not
 * load (runtime/hsa/hsa_tools_failed.c). */
__attribute__((visibility("default"))) void gputap_attach_tools_failed(uint32_t domain,
								       uint64_t count,
								       const char *const *names);

#define GT_ATTACH_AT(point, offset) ((void *)((char *)(uintptr_t)(point) + (offset)))

#endif
