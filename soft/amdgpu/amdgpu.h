/* SPDX-License-Identifier: MIT */
/* A substitute for libhsakmt.so.1 (the "thunk"): it answers the calls that ROCr makes to the
 * kernel's driver, and simulates the GPUs.
 *
 *   program ─ HIP ─ ROCr ──hsaKmt*()──► thunk.c topology.c memory.c event.c queue.c      (calls)
 *                    ├─ (libdrm's, for the clock rate) ─► drm.c
 *                    └─ packets, doorbells, signals in memory
 *                        └─► queue_aql.c queue_sdma.c               (one worker thread per
 *                          queue)
 *                             └─ dispatch.c kernel.c blit.c durations.c isa/
 *   all of them use state.c
 *
 * Node 0 is the CPU, nodes 1 to `gpus` are GPUs. All memory is memory of this process: a GPU
 * address is a host address, or its alias. State belongs to the process that called
 * hsaKmtOpenKFD(). As with the real driver, a fork child has no state, and each call fails until
 * the child opens the driver again.
 * Lock order: queues, then bells. The locks of memory, events and kernels are taken last, one at a
 * time. No lock is held while a packet runs.
 * Never here: accesses to /dev/kfd, /dev/dri or libdrm; calls to ROCr. */
#ifndef SOFT_AMDGPU_H
#define SOFT_AMDGPU_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/amdgpu/config.h"
#include "soft/amdgpu/isa/isa.h"
#include "soft/amdgpu/thunk_abi.h"

#define THUNK_API __attribute__((visibility("default")))

#define SOFT_PAGE 4096ull
#define SOFT_GWS  64 /* global wave sync barriers of a GPU */

/* state.c: state that all parts use */
const struct soft_amdgpu_config *soft_config(void); /* valid after the first hsaKmtOpenKFD() */
/* Return SUCCESS while this process has the driver open, otherwise an error. Every call starts with
 * this check. */
HSAKMT_STATUS soft_opened(void);
/* count one operation of this kind; return true if the operation must fail */
bool soft_fails(enum soft_amdgpu_fault fault);
static inline bool soft_is_gpu(HSAuint32 node)
{
	return node >= 1 && node <= soft_config()->gpus;
}
/* Return the current ticks of the GPU's clock. */
static inline uint64_t soft_gpu_ticks(HSAuint32 node)
{
	return soft_clock_ticks(&soft_config()->clock[node - 1], soft_clock_host_ns());
}
/* Print a line on stderr at any trace level: "soft amdgpu: ...". */
void soft_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print a line on stderr if SOFT_AMDGPU_TRACE is at least this level. */
void soft_trace_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define soft_trace(level, ...)                                            \
	do {                                                              \
		if (__builtin_expect(soft_config()->trace >= (level), 0)) \
			soft_trace_line(__VA_ARGS__);                     \
	} while (0)

/* state.c: called by thunk.c under its lock */
/* read the environment; return false after printing the error on stderr */
bool soft_config_read(void);
void soft_config_drop_gpus(void);
void soft_state_count_opens(int more);
/* Close the driver in a fork child, which may open it again. */
void soft_state_forked(void);
/* Return true in a fork child that opens the driver for the first time. */
bool soft_state_renew(void);

/* thunk.c */
bool soft_is_rocr(const void *caller); /* return true if this return address lies in ROCr */

/* topology.c: apertures, each 4 GiB of flat addresses for LDS or scratch, above all host
 * addresses */
#define SOFT_LDS_APERTURE     0x0001000000000000ull
#define SOFT_PRIVATE_APERTURE 0x0002000000000000ull
bool soft_topology_open(void);

/* memory.c */
/* On GPUs, registered memory has a separate address, as with the real driver: bit 47 is set, which
 * no host address has. Programs, including HIP, distinguish registered from allocated memory
 * through this bit. GPU accesses convert addresses with soft_host(). */
#define SOFT_ALIAS SOFT_ISA_ALIAS
static inline void *soft_host(uint64_t address)
{
	return (void *)(address >> SOFT_ISA_HOST_BITS == 1 ? address ^ SOFT_ALIAS : address);
}
/* Find the allocation (not a registered range) that contains @address. Return false if no
 * allocation does. */
bool soft_memory_find(uint64_t address, uint64_t *base, uint64_t *bytes);
/* Return the file that holds all device memory, or -1. */
THUNK_API int soft_dtif_file(void);
/* Set a callback that runs before freed program memory is released. */
void soft_memory_notify_freed(void (*notify)(uint64_t base, uint64_t bytes));
void soft_memory_close(void); /* drop all records, without unmapping memory */

/* event.c */
/* Signal the event with this id, as the interrupt of a completed packet does. */
void soft_event_signal(uint32_t id);
/* Signal all events whose ids end in these bits and whose mailboxes were written. For s_sendmsg in
 * a kernel. */
void soft_event_interrupt(uint32_t low_bits);
/* Report that a GPU accessed unmapped memory. Notifies ROCr's handler, which ends the program.
 * Return false if ROCr has no handler. */
bool soft_event_memory_fault(HSAuint32 node, uint64_t address, bool read_only);
void soft_event_forked(void);

/* queue.c */
void soft_queue_forked(void);

/* kernel.c */
/* drop the kernels of unloaded code */
void soft_kernel_forget(uint64_t base, uint64_t bytes);
void soft_kernel_forked(void);

/* durations.c: durations of kernels, from SOFT_AMDGPU_DURATIONS */
/* Read the file. Return false after printing the error on stderr. */
bool soft_durations_open(const char *path);
/* Return the duration of the kernel with this mangled name, or 0 if the kernel lasts as long as its
 * execution. */
uint64_t soft_duration_ns(const char *kernel);

/* Exported for libdtif.so (dtif.c): a node and its links in the layout of thunk_abi.h, and the
 * doorbell call of an AQL queue. */
THUNK_API HSAKMT_STATUS soft_dtif_node(HSAuint32 node, HsaNodeProperties *properties);
THUNK_API HSAKMT_STATUS soft_dtif_links(HSAuint32 node, HSAuint32 count,
					HsaIoLinkProperties *links);
THUNK_API void soft_dtif_ring(HSA_QUEUEID id);

#endif
