/* SPDX-License-Identifier: MIT */
/* Shared by programs on plain HSA: the first GPU, its code object, packets in a queue. A step that
 * fails ends the program with the step's name. */
#ifndef TESTS_SOFT_HSA_PROGRAM_H
#define TESTS_SOFT_HSA_PROGRAM_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call)                                                           \
	do {                                                                 \
		hsa_status_t status_ = (call);                               \
		if (status_ != HSA_STATUS_SUCCESS) {                         \
			printf("%s: %s\n", #call, hsa_status_name(status_)); \
			exit(1);                                             \
		}                                                            \
	} while (0)

enum {
	BARRIER_BIT = 1 << HSA_PACKET_HEADER_BARRIER,
	SYSTEM_FENCES = 2 << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			2 << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE,
};

struct hsa_program {
	hsa_agent_t cpu;
	hsa_agent_t gpu; /* the first one */
	unsigned gpus;
	hsa_amd_memory_pool_t host;   /* fine-grained memory that the GPU can access */
	hsa_amd_memory_pool_t device; /* the GPU's local memory */
	hsa_executable_t code;
};

const char *hsa_status_name(hsa_status_t status);
/* Call hsa_init(), find the GPU and its memory. */
void hsa_program_start(struct hsa_program *p);
/* Load a code object file. */
void hsa_program_load(struct hsa_program *p, const char *file);
uint64_t hsa_program_kernel(struct hsa_program *p, const char *name);
/* Allocate zeroed host memory for the GPU. */
void *hsa_program_memory(struct hsa_program *p, size_t bytes);
hsa_queue_t *hsa_program_queue(struct hsa_program *p, uint32_t packets,
			       void (*on_error)(hsa_status_t, hsa_queue_t *, void *), void *data);
hsa_signal_t hsa_program_signal(int64_t value);
/* Wait until the signal is below 1. */
void hsa_program_wait(hsa_signal_t signal);

/* Submit one packet of 64 bytes, from any number of threads. Waits while the queue is full. */
void hsa_program_put(hsa_queue_t *queue, const void *packet, uint16_t header);
/* Fill in a dispatch of one dimension. */
hsa_kernel_dispatch_packet_t hsa_program_dispatch(uint64_t kernel, void *arguments, uint32_t grid,
						  uint16_t group, hsa_signal_t done);
static inline void hsa_program_put_dispatch(hsa_queue_t *queue,
					    const hsa_kernel_dispatch_packet_t *d)
{
	hsa_program_put(queue, d, HSA_PACKET_TYPE_KERNEL_DISPATCH | BARRIER_BIT | SYSTEM_FENCES);
}

#endif
