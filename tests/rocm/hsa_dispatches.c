/* SPDX-License-Identifier: MIT */
/* hsa_dispatches CODE_OBJECT QUEUES DISPATCHES [WORD...]: submits empty kernels, identified by
 * their grids, to queues of all GPUs, with a thread for each queue. Kernel i on queue q has the
 * grid (i % 64 + 1, i / 64 + 1, q + 1).
 *
 * Words: own       each kernel has its own completion signal, created and destroyed around it
 *        shared    all kernels of a queue count one signal down
 *        device    submitted as by kernels that enqueue: only through the queue's memory
 *        backwards in groups of 64: the last packet is written first; one doorbell for each group
 *        no-wait   exit without waiting for the last kernels
 *        late      destroy the queues while they contain kernels
 *        abort     abort() at the end, kill -9 with `kill` */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "hsa_program.h"

enum { QUEUES_MAX = 64, GPUS_MAX = 8, SOME = 64 };

static struct {
	struct hsa_program program;
	hsa_agent_t gpus[GPUS_MAX];
	unsigned gpu_count;
	uint64_t kernels[GPUS_MAX];
	int dispatches;
	bool own, shared, no_wait, device, backwards;
	hsa_queue_t *queues[QUEUES_MAX];
} all;

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	(void)data;
	MUST(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && all.gpu_count < GPUS_MAX)
		all.gpus[all.gpu_count++] = agent;
	return HSA_STATUS_SUCCESS;
}

static uint64_t kernel_of(hsa_agent_t gpu, const char *file)
{
	hsa_code_object_reader_t reader;
	hsa_executable_t code;
	hsa_executable_symbol_t symbol;
	uint64_t object;
	FILE *f = fopen(file, "rb");

	MUST(hsa_code_object_reader_create_from_file(fileno(f), &reader));
	MUST(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				       NULL, &code));
	MUST(hsa_executable_load_agent_code_object(code, gpu, reader, NULL, NULL));
	MUST(hsa_executable_freeze(code, NULL));
	MUST(hsa_executable_get_symbol_by_name(code, "nothing.kd", &gpu, &symbol));
	MUST(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					    &object));
	return object;
}

/* Submit as the device library's enqueue does. */
static void put_by_memory(hsa_queue_t *queue, const hsa_kernel_dispatch_packet_t *d,
			  uint16_t header)
{
	amd_queue_t *q = (amd_queue_t *)queue;
	amd_signal_t *bell = (amd_signal_t *)queue->doorbell_signal.handle;
	uint64_t index = __atomic_fetch_add(&q->write_dispatch_id, 1, __ATOMIC_RELAXED);
	hsa_kernel_dispatch_packet_t *slot =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + (index & (queue->size - 1));

	while (index - __atomic_load_n(&q->read_dispatch_id, __ATOMIC_ACQUIRE) >= queue->size)
		;
	memcpy((char *)slot + 4, (const char *)d + 4, sizeof *d - 4);
	__atomic_store_n((uint32_t *)slot, (uint32_t)d->setup << 16 | header, __ATOMIC_RELEASE);
	if (bell->kind == AMD_SIGNAL_KIND_DOORBELL)
		__atomic_store_n(bell->hardware_doorbell_ptr, index, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&bell->value, (int64_t)index, __ATOMIC_RELEASE);
}

/* Write @count packets after the existing ones. */
static void put_backwards(hsa_queue_t *queue, const hsa_kernel_dispatch_packet_t *d, unsigned count,
			  uint16_t header)
{
	uint64_t first = hsa_queue_add_write_index_screlease(queue, count);

	while (first + count - hsa_queue_load_read_index_scacquire(queue) > queue->size)
		;
	for (unsigned i = count; i-- > 0;) {
		hsa_kernel_dispatch_packet_t *slot =
			(hsa_kernel_dispatch_packet_t *)queue->base_address +
			((first + i) & (queue->size - 1));

		memcpy((char *)slot + 4, (const char *)&d[i] + 4, sizeof *d - 4);
		__atomic_store_n((uint32_t *)slot, (uint32_t)d[i].setup << 16 | header,
				 __ATOMIC_RELEASE);
		hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)(first + i));
	}
}

static void *submit(void *arg)
{
	const uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | BARRIER_BIT | SYSTEM_FENCES;
	hsa_kernel_dispatch_packet_t some[SOME];
	unsigned held = 0;
	int q = (int)(intptr_t)arg;
	hsa_signal_t done = hsa_program_signal(all.shared ? all.dispatches : 1);

	for (int i = 0; i < all.dispatches; i++) {
		bool last = i + 1 == all.dispatches;
		hsa_kernel_dispatch_packet_t d =
			hsa_program_dispatch(all.kernels[q % all.gpu_count], NULL,
					     (uint32_t)i % 64 + 1, 1, (hsa_signal_t){0});

		d.setup = 3;
		d.grid_size_y = (uint32_t)i / 64 + 1;
		d.grid_size_z = (uint32_t)q + 1;
		if (all.own) {
			d.completion_signal = hsa_program_signal(1);
			hsa_program_put_dispatch(all.queues[q], &d);
			hsa_program_wait(d.completion_signal);
			MUST(hsa_signal_destroy(d.completion_signal));
			continue;
		}
		if (all.shared || last)
			d.completion_signal = done;
		if (all.backwards) {
			some[held++] = d;
			if (held == SOME || last) {
				put_backwards(all.queues[q], some, held, header);
				held = 0;
			}
		} else if (all.device) {
			put_by_memory(all.queues[q], &d, header);
		} else {
			hsa_program_put_dispatch(all.queues[q], &d);
		}
	}
	if (!all.own && !all.no_wait)
		hsa_program_wait(done);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[QUEUES_MAX];
	bool late = false, kills = false, aborts = false;
	int queues;

	if (argc < 4)
		return 2;
	queues = atoi(argv[2]);
	all.dispatches = atoi(argv[3]);
	for (int i = 4; i < argc; i++) {
		all.own |= !strcmp(argv[i], "own");
		all.shared |= !strcmp(argv[i], "shared");
		all.device |= !strcmp(argv[i], "device");
		all.backwards |= !strcmp(argv[i], "backwards");
		late |= !strcmp(argv[i], "late");
		all.no_wait |= !strcmp(argv[i], "no-wait") || !strcmp(argv[i], "late");
		kills |= !strcmp(argv[i], "kill");
		aborts |= !strcmp(argv[i], "abort");
	}
	hsa_program_start(&all.program);
	MUST(hsa_iterate_agents(on_agent, NULL));
	for (unsigned i = 0; i < all.gpu_count; i++)
		all.kernels[i] = kernel_of(all.gpus[i], argv[1]);
	for (int q = 0; q < queues; q++)
		MUST(hsa_queue_create(all.gpus[(unsigned)q % all.gpu_count], 1024,
				      HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
				      &all.queues[q]));
	for (int q = 0; q < queues; q++)
		pthread_create(&threads[q], NULL, submit, (void *)(intptr_t)q);
	for (int q = 0; q < queues; q++)
		pthread_join(threads[q], NULL);
	printf("submitted %d\n", queues * all.dispatches);
	fflush(stdout);
	if (kills)
		raise(SIGKILL);
	if (aborts)
		abort();
	for (int q = 0; q < queues && (late || !all.no_wait); q++)
		MUST(hsa_queue_destroy(all.queues[q]));
	if (!all.no_wait)
		MUST(hsa_shut_down());
	return 0;
}
