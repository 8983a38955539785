/* SPDX-License-Identifier: MIT */
/* Stand-in for libhsakmt.so.1 (the "thunk"): what ROCr asks of the kernel's driver is answered
 * by software GPUs.
 *
 *   program ─ HIP ─ ROCr ──hsaKmt*()──► thunk.c topology.c memory.c event.c queue.c      (calls)
 *                    ├─ (libdrm's, for the clock's rate) ─► drm.c
 *                    └─ packets, doorbells, signals in memory
 *                        └─► queue_aql.c queue_sdma.c               (one worker thread per queue)
 *                             └─ dispatch.c kernel.c blit.c durations.c isa/
 *   all of them ask state.c
 *
 * Nodes: 0 is the CPU, 1..gpus are GPUs. All memory is memory of this process: a GPU address is
 * a host address, or its alias. State belongs to the process and to hsaKmtOpenKFD(): a child
 * after fork() has lost it, and each call says so until the child opens anew, as with the real
 * one.
 * Order of locks: queues, then bells; memory, events, kernels are taken last and alone. No lock
 * is held while a packet runs.
 * Never here: an access to /dev/kfd, /dev/dri or libdrm; a call of ROCr. */
#ifndef SOFT_AMDGPU_H
#define SOFT_AMDGPU_H

#include <stdbool.h>
#include <stdint.h>

#include "soft/amdgpu/config.h"
#include "soft/amdgpu/isa/isa.h"
#include "soft/amdgpu/thunk_abi.h"

#define THUNK_API __attribute__((visibility("default")))

#define SOFT_PAGE 4096ull
#define SOFT_GWS  64 /* barriers of global wave sync that a GPU has */

/* state.c: what all parts ask */
const struct soft_amdgpu_config *soft_config(void); /* valid from the first hsaKmtOpenKFD() on */
/* SUCCESS between open and close, in the process that opened. First line of each call. */
HSAKMT_STATUS soft_opened(void);
bool soft_fails(enum soft_amdgpu_fault fault); /* one more of these: is it to fail? */
static inline bool soft_is_gpu(HSAuint32 node)
{
	return node >= 1 && node <= soft_config()->gpus;
}
/* Ticks of the GPU's own clock, now. */
static inline uint64_t soft_gpu_ticks(HSAuint32 node)
{
	return soft_clock_ticks(&soft_config()->clock[node - 1], soft_clock_host_ns());
}
/* A line on stderr, always: "soft amdgpu: ..". */
void soft_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line on stderr at this level of SOFT_AMDGPU_TRACE or a higher one. */
void soft_trace_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define soft_trace(level, ...)                                            \
	do {                                                              \
		if (__builtin_expect(soft_config()->trace >= (level), 0)) \
			soft_trace_line(__VA_ARGS__);                     \
	} while (0)

/* state.c, for thunk.c under its lock. */
bool soft_config_read(void); /* the environment. Return: false with a sentence on stderr */
void soft_config_drop_gpus(void);
void soft_state_count_opens(int more);
/* In a fork's child: the driver is not open, until it is opened anew. */
void soft_state_forked(void);
/* Return: true in a fork's child that opens it for the first time. */
bool soft_state_renew(void);

/* thunk.c */
bool soft_is_rocr(const void *caller); /* does this return address lie in ROCr? */

/* topology.c: apertures that flat addresses of LDS and scratch have, 4 GiB each, above all host
 * addresses */
#define SOFT_LDS_APERTURE     0x0001000000000000ull
#define SOFT_PRIVATE_APERTURE 0x0002000000000000ull
bool soft_topology_open(void);

/* memory.c */
/* Registered memory has an address of its own on GPUs, as with the real driver: bit 47, which no
 * host address has. Programs tell registered memory from allocated by that, HIP among them; what
 * a GPU accesses goes through soft_host(). */
#define SOFT_ALIAS SOFT_ISA_ALIAS
static inline void *soft_host(uint64_t address)
{
	return (void *)(address >> SOFT_ISA_HOST_BITS == 1 ? address ^ SOFT_ALIAS : address);
}
/* The allocation (not a registered range) that holds @address. Return: false when there is none. */
bool soft_memory_find(uint64_t address, uint64_t *base, uint64_t *bytes);
/* The file that all device memory lies in. Return: -1 without. */
THUNK_API int soft_dtif_file(void);
/* Memory of a program is to be freed: @notify is called before its pages go. */
void soft_memory_notify_freed(void (*notify)(uint64_t base, uint64_t bytes));
void soft_memory_close(void); /* forgets everything; unmaps nothing */

/* event.c */
/* Signals the event with this id, as the interrupt of a completed packet does. */
void soft_event_signal(uint32_t id);
/* Signals the events whose ids end in these bits and whose mailboxes were written: a kernel's
 * s_sendmsg. */
void soft_event_interrupt(uint32_t low_bits);
/* A GPU touched memory that is not there: ROCr's handler is notified, which ends the program.
 * Return: false when it has none. */
bool soft_event_memory_fault(HSAuint32 node, uint64_t address, bool read_only);
void soft_event_forked(void);

/* queue.c */
void soft_queue_forked(void);

/* kernel.c */
/* unloaded: what was known of its kernels */
void soft_kernel_forget(uint64_t base, uint64_t bytes);
void soft_kernel_forked(void);

/* durations.c: how long kernels take, from SOFT_AMDGPU_DURATIONS */
/* Reads the file. Return: false with a sentence on stderr. */
bool soft_durations_open(const char *path);
/* For the kernel with this (mangled) name; 0: as long as its execution takes. */
uint64_t soft_duration_ns(const char *kernel);

/* For libdtif.so, exported (dtif.c): the node and its links in the layout of thunk_abi.h;
 * somebody rings an AQL queue. */
THUNK_API HSAKMT_STATUS soft_dtif_node(HSAuint32 node, HsaNodeProperties *properties);
THUNK_API HSAKMT_STATUS soft_dtif_links(HSAuint32 node, HSAuint32 count,
					HsaIoLinkProperties *links);
THUNK_API void soft_dtif_ring(HSA_QUEUEID id);

#endif
