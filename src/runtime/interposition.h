/* SPDX-License-Identifier: MIT */
/* The contract between libgputap-audit.so and libgputap.so: how the first finds and arms the taps
 * of the second.
 *
 * libgputap.so exports one object per domain, gputap_attach_<domain>. The audit library may need it
 * before libgputap.so is relocated (libraries are relocated from the last to the first, a preloaded
 * one comes late), so it contains no pointers, only offsets from the object's own address, which
 * the static linker knew.
 *
 *   gt_attach ─► names      "clBuildProgram\0clCloneKernel\0.."   exports of a runtime's library
 *           ─► indices    uint16_t[count]                       of each name, by operation
 *           ─► functions  int32_t[instances][count]             taps, as offsets from the gt_attach
 *           ─► taps       struct gt_tap[instances][operations]  .bss: may be written before
 *                                                               relocation
 *           ─► states     struct gt_attach_state[instances]       .bss
 *           ─► threads    what the library gets instead of pthread_create(); 0: the real one
 *           ─► opened     void (void): something was armed after libgputap.so's constructor ran
 *
 * Writers: the audit library, with the dynamic linker's lock held, writes `state` FREE -> ARMED and
 * back, base, path, taps[].real. libgputap.so writes `ready` and `adopted`. */
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

enum { GT_ATTACH_FREE = 0, GT_ATTACH_LAYER = 1 /* another method's */, GT_ATTACH_ARMED = 2 };

struct gt_attach_state {
	_Atomic uint32_t state;
	/* libgputap.so's constructor has run: call `opened`. Instance 0's counts for all */
	_Atomic uint32_t ready;
	_Atomic uint32_t adopted; /* set once libgputap.so adopted it */
	/* libraries that found no free instance; instance 0's counts for all */
	_Atomic uint32_t missed;
	/* it was mapped before gputap first looked: others may have its functions already */
	_Atomic uint32_t late;
	uint64_t base;  /* where the runtime's library is mapped */
	char path[228]; /* its name, cut if longer */
};

/* For libgputap.so. Return true once for each library that was armed: the caller then adopts its
 * table and records its module. */
bool gt_attach_adopt(struct gt_attach_state *state);
/**
 * gt_attach_adopt_all() - take over what was armed of a domain: its tables, its libraries' names,
 * and an event for those that found no instance free
 * @tables:  tables of the instances, in the order of @states
 * @library: "HIP": the library's name in that event. NULL: another domain's event names it
 * Return: true if there was anything new. Thread: any; maybe with the dynamic linker's lock held,
 * so no dlopen(), no dladdr().
 */
bool gt_attach_adopt_all(struct gt_attach_state *states, struct gt_table *tables,
			 uint32_t instances, enum gt_domain domain, const char *library);

/* Exported from libgputap.so for libgputap-audit.so: report the tool libraries that a runtime could
 * not load (runtime/hsa/hsa_tools_failed.c). */
__attribute__((visibility("default"))) void gputap_attach_tools_failed(uint32_t domain,
								       uint64_t count,
								       const char *const *names);

#define GT_ATTACH_AT(point, offset) ((void *)((char *)(uintptr_t)(point) + (offset)))

#endif
