/* SPDX-License-Identifier: MIT */
/* hsa_late CODE_OBJECT LIBRARY FOLDER [again|memory|bell|share]: uses HSA for a while, attaches to
 * the session, and submits kernels to the queue that it has: `BEFORE` before, then `COUNT` with
 * increasing grids, in the three ways in which programs reserve packets, a third of them with a
 * signal of their own.
 *   again   shuts the runtime down afterwards, and does all of it again
 *   memory  then submits `COUNT` further kernels, and reserves every other one by changing the
 *           queue's write index in memory
 *   share   then submits 4 further kernels that share a signal
 *   bell    then submits 3 further kernels, and rings the doorbell in memory */
#include <dlfcn.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <string.h>

#include "hsa_program.h"

enum { BEFORE = 7, COUNT = 90, PACKETS = 64 };

static uint64_t reserve_by_function(hsa_queue_t *queue, int i)
{
	uint64_t index = hsa_queue_load_write_index_relaxed(queue);

	switch (i % 3) {
	case 0: return hsa_queue_add_write_index_screlease(queue, 1);
	case 1: hsa_queue_store_write_index_screlease(queue, index + 1); return index;
	default:
		if (hsa_queue_cas_write_index_scacq_screl(queue, index, index + 1) != index)
			exit(2);
		return index;
	}
}

static enum { BY_FUNCTIONS, IN_MEMORY, BELL_IN_MEMORY } way;

static uint64_t reserve(hsa_queue_t *queue, int i)
{
	if (way == IN_MEMORY && i % 2)
		return __atomic_fetch_add(&((amd_queue_t *)queue)->write_dispatch_id, 1,
					  __ATOMIC_ACQ_REL);
	return reserve_by_function(queue, i);
}

static void ring(const hsa_queue_t *queue, uint64_t index)
{
	if (way == BELL_IN_MEMORY)
		__atomic_store_n(
			((amd_signal_t *)queue->doorbell_signal.handle)->hardware_doorbell_ptr,
			index, __ATOMIC_RELEASE);
	else
		hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void submit(hsa_queue_t *queue, uint64_t kernel, int i, hsa_signal_t done)
{
	hsa_kernel_dispatch_packet_t d =
		hsa_program_dispatch(kernel, NULL, (uint32_t)i + 1, 1, done);
	uint64_t index = reserve(queue, i);
	hsa_kernel_dispatch_packet_t *slot =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	memcpy((char *)slot + 4, (char *)&d + 4, sizeof d - 4);
	__atomic_store_n((uint32_t *)slot,
			 (uint32_t)d.setup << 16 | HSA_PACKET_TYPE_KERNEL_DISPATCH | BARRIER_BIT |
				 SYSTEM_FENCES,
			 __ATOMIC_RELEASE);
	ring(queue, index);
}

static void submit_all(hsa_queue_t *queue, uint64_t kernel, int from, int count)
{
	hsa_signal_t last = {0};

	for (int i = from; i < from + count; i++) {
		hsa_signal_t done = {0};

		if (i % 3 == 2 || i == from + count - 1)
			done = hsa_program_signal(1);
		submit(queue, kernel, i, done);
		if (!done.handle)
			continue;
		if (last.handle) {
			hsa_program_wait(last);
			MUST(hsa_signal_destroy(last));
		}
		last = done;
	}
	hsa_program_wait(last);
	MUST(hsa_signal_destroy(last));
}

static void attach(const char *library, const char *folder)
{
	int (*call)(const char *);

	*(void **)&call = dlsym(dlopen(library, RTLD_NOW), "gputap_attach");
	printf("attach %d\n", call(folder));
	fflush(stdout);
}

/* Submit kernels that share a signal, before the first one can complete. */
static void share(hsa_queue_t *queue, uint64_t kernel)
{
	hsa_signal_t gate = hsa_program_signal(1), done = hsa_program_signal(4);
	hsa_barrier_and_packet_t wait = {.dep_signal = {gate}};

	hsa_program_put(queue, &wait, HSA_PACKET_TYPE_BARRIER_AND | BARRIER_BIT | SYSTEM_FENCES);
	for (int i = 0; i < 4; i++)
		submit(queue, kernel, COUNT + i, done);
	hsa_signal_store_screlease(gate, 0);
	hsa_program_wait(done);
	MUST(hsa_signal_destroy(done));
	MUST(hsa_signal_destroy(gate));
}

static int is(const char *word, const char *other)
{
	return word && !strcmp(word, other);
}

int main(int argc, char **argv)
{
	struct hsa_program p;
	hsa_queue_t *queue;
	uint64_t kernel;

	for (int round = 0; round < (is(argv[4], "again") ? 2 : 1); round++) {
		memset(&p, 0, sizeof p);
		hsa_program_start(&p);
		hsa_program_load(&p, argv[1]);
		kernel = hsa_program_kernel(&p, "nothing");
		queue = hsa_program_queue(&p, PACKETS, NULL, NULL);
		if (!round) {
			submit_all(queue, kernel, 0, BEFORE);
			attach(argv[2], argv[3]);
		}
		submit_all(queue, kernel, 0, COUNT);
		way = is(argv[4], "memory") ? IN_MEMORY
		      : is(argv[4], "bell") ? BELL_IN_MEMORY
					    : way;
		for (int i = 0; way && i < (way == IN_MEMORY ? COUNT : 3); i++)
			submit_all(queue, kernel, COUNT + i, 1);
		if (is(argv[4], "share"))
			share(queue, kernel);
		MUST(hsa_queue_destroy(queue));
		MUST(hsa_shut_down());
	}
	return 0;
}
