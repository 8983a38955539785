/* SPDX-License-Identifier: MIT */
/* The contract between libgputap-audit.so and libgputap.so: how the audit library finds and arms
 * the taps in libgputap.so.
 *
 * libgputap.so exports one object per domain, gputap_attach_<domain>. The audit library may need
 * this object before libgputap.so is relocated (libraries are relocated from the last to the first,
 * and a preloaded library comes late). The object therefore contains no pointers, only offsets from
 * its own address, which the static linker knows.
 *
 *   gt_attach ─► names      "clBuildProgram\0clCloneKernel\0.."   exports of a runtime's library
 *           ─► indices    uint16_t[count]                       operation of each name
 *           ─► functions  int32_t[instances][count]             taps, as offsets from the gt_attach
 *           ─► taps       struct gt_tap[instances][operations]  .bss: may be written before
 *                                                               relocation
 *           ─► states     struct gt_attach_state[instances]       .bss
 *           ─► threads    replaces pthread_create() in the library; 0: the real function
 *           ─► opened     void (void): a library was armed after libgputap.so's constructor ran
 *
 * Writers: the audit library, with the dynamic linker's lock held, writes `state` FREE -> ARMED and
 * back, base, path, taps[].real. libgputap.so writes `adopted`. */
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

enum {
	GT_ATTACH_FREE = 0,
	GT_ATTACH_LAYER = 1 /* LAYER: in use by another interception method */,
	GT_ATTACH_ARMED = 2,
	/* in use for a table in a running program, alongside interposed libraries */
	GT_ATTACH_TABLE = 3
};

struct gt_attach_state {
	_Atomic uint32_t state;
	_Atomic uint32_t adopted; /* true once libgputap.so has adopted the instance */
	/* number of libraries that found no free instance; instance 0's value applies to all
	 * instances */
	_Atomic uint32_t missed;
	/* true if the library was mapped before gputap's first look, so other libraries may already
	 * be bound to its functions */
	_Atomic uint32_t late;
	uint64_t base;  /* address at which the runtime's library is mapped */
	char path[228]; /* name of the library, truncated if longer */
};

/* Adopt the libraries of a domain that were armed before libgputap.so's constructors, with
 * @attached, the domain's `opened`. From now on, the audit library calls `opened`. Called by a
 * constructor. */
void gt_attach_begin(void (*attached)(void));
/* Return true once for each armed library, for use in libgputap.so. The caller then adopts the
 * library's table and records its module. */
bool gt_attach_adopt(struct gt_attach_state *state);
/**
 * gt_attach_adopt_all() - adopt the armed instances of a domain: tables and library names
 * Writes an event for libraries that found no free instance.
 * @tables:  tables of the instances, in the order of @states
 * @library: name of the library in that event ("HIP"). NULL: another domain's event names it
 * Return: true if any instance was adopted. Thread: any, possibly with the dynamic linker's lock
 *         held, so dlopen() and dladdr() are forbidden.
 */
bool gt_attach_adopt_all(struct gt_attach_state *states, struct gt_table *tables,
			 uint32_t instances, enum gt_domain domain, const char *library);

/* Report the tool libraries that a runtime could not load (runtime/hsa/hsa_tools_failed.c).
 * libgputap.so exports this function for libgputap-audit.so. */
__attribute__((visibility("default"))) void gputap_attach_tools_failed(uint32_t domain,
								       uint64_t count,
								       const char *const *names);

#define GT_ATTACH_AT(point, offset) ((void *)((char *)(uintptr_t)(point) + (offset)))

#endif
