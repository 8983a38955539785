/* SPDX-License-Identifier: MIT */
/* hsa_shared HOW N CODE_OBJECT: N copies or packets that count one completion signal down from N.
 * Each waits for its own gate. The gates are opened one after another: the signal must take each
 * value from N - 1 to 0, and keep the value until the next gate opens. Then N more copies or
 * packets are submitted at once, on the same signal, which is destroyed as soon as it is 0. Prints
 * the values, and whether the runtime's times for the signal are those of the last copy.
 *
 * copy, rect, engine: asynchronous copies of 4096 * (1, 2, ...) bytes, through each function
 * kernel, barrier     packets, each on its own queue
 * mixed               a copy, a kernel, a copy, ...
 * careless            copies, although the value of the signal was 1
 * handler             copies that a handler of another signal waits for */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "hsa_program.h"

enum { MOST = 64, BYTES = 4096, NAP_NS = 3000000 };

typedef hsa_status_t on_engine_fn(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
				  const hsa_signal_t *, hsa_signal_t, unsigned, bool);

static struct hsa_program program;
static void *source, *target;
static const char *how;
static hsa_queue_t *queues[MOST];
static uint64_t kernel;
static atomic_bool handler_ended;

static bool is(const char *word)
{
	return strcmp(how, word) == 0;
}

static uint64_t now(void)
{
	uint64_t t;

	MUST(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &t));
	return t;
}

static void copy_rect(size_t bytes, hsa_signal_t gate, hsa_signal_t done)
{
	hsa_pitched_ptr_t to = {target, 1024, bytes}, from = {source, 1024, bytes};
	hsa_dim3_t at = {0, 0, 0}, range = {1024, (uint32_t)(bytes / 1024), 1};

	MUST(hsa_amd_memory_async_copy_rect(&to, &at, &from, &at, &range, program.gpu,
					    hsaHostToDevice, 1, &gate, done));
}

static void copy(size_t bytes, hsa_signal_t gate, hsa_signal_t done)
{
	on_engine_fn *on_engine = NULL;

	*(void **)&on_engine = dlsym(RTLD_DEFAULT, "hsa_amd_memory_async_copy_on_engine");
	if (is("rect"))
		copy_rect(bytes, gate, done);
	else if (is("engine") && on_engine)
		MUST(on_engine(target, program.gpu, source, program.cpu, bytes, 1, &gate, done, 1,
			       false));
	else
		MUST(hsa_amd_memory_async_copy(target, program.gpu, source, program.cpu, bytes, 1,
					       &gate, done));
}

static void put_packets(int i, hsa_signal_t gate, hsa_signal_t done)
{
	hsa_barrier_and_packet_t barrier = {.dep_signal = {gate}};
	hsa_kernel_dispatch_packet_t dispatch = hsa_program_dispatch(kernel, NULL, 64, 64, done);

	if (!queues[i])
		queues[i] = hsa_program_queue(&program, 64, NULL, NULL);
	if (is("barrier"))
		barrier.completion_signal = done;
	hsa_program_put(queues[i], &barrier, HSA_PACKET_TYPE_BARRIER_AND | BARRIER_BIT);
	if (!is("barrier"))
		hsa_program_put_dispatch(queues[i], &dispatch);
}

static void submit(int i, hsa_signal_t gate, hsa_signal_t done)
{
	if (is("kernel") || is("barrier") || (is("mixed") && i % 2))
		put_packets(i, gate, done);
	else
		copy((size_t)BYTES * (size_t)(i % MOST + 1), gate, done);
}

static void step(hsa_signal_t gate, hsa_signal_t done, hsa_signal_value_t value)
{
	const struct timespec nap = {0, NAP_NS};

	hsa_signal_store_screlease(gate, 0);
	while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, value, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED) != value)
		;
	nanosleep(&nap, NULL);
	printf(" %ld", (long)hsa_signal_load_scacquire(done));
}

static void check_times(hsa_signal_t done, uint64_t before)
{
	hsa_amd_profiling_async_copy_time_t t = {0, 0};

	if (hsa_amd_profiling_get_async_copy_time(done, &t) != HSA_STATUS_SUCCESS)
		printf("no times\n");
	else
		printf("times %s\n", before <= t.start && t.start <= t.end && t.end <= now()
					     ? "of the last"
					     : "of another");
}

static bool wait_in_handler(hsa_signal_value_t value, void *data)
{
	(void)value;
	hsa_program_wait(*(hsa_signal_t *)data);
	printf("waited\n");
	atomic_store(&handler_ended, true);
	return false;
}

int main(int argc, char **argv)
{
	hsa_signal_t done, gates[MOST], called = {0};
	int count = argc > 2 ? atoi(argv[2]) : 0;
	hsa_signal_value_t first;
	uint64_t before = 0;

	if (argc < 4 || count > MOST)
		return 2;
	how = argv[1];
	first = is("careless") ? 1 : count;
	hsa_program_start(&program);
	MUST(hsa_amd_profiling_async_copy_enable(true));
	hsa_program_load(&program, argv[3]);
	kernel = hsa_program_kernel(&program, "nothing");
	source = hsa_program_memory(&program, MOST * BYTES);
	MUST(hsa_amd_memory_pool_allocate(program.device, MOST * BYTES, 0, &target));
	done = hsa_program_signal(first);
	for (int i = 0; i < count; i++) {
		gates[i] = hsa_program_signal(1);
		submit(i, gates[i], done);
	}
	printf("values");
	for (int i = 0; i < count; i++) {
		before = now();
		step(gates[i], done, first - 1 - i);
	}
	printf("\n");
	if (!is("kernel") && !is("barrier") && !is("mixed"))
		check_times(done, before);
	hsa_signal_store_screlease(done, first);
	hsa_signal_store_screlease(gates[0], 1);
	for (int i = 0; i < count; i++)
		submit(i, gates[0], done);
	if (is("handler")) {
		called = hsa_program_signal(0);
		MUST(hsa_amd_signal_async_handler(called, HSA_SIGNAL_CONDITION_EQ, 0,
						  wait_in_handler, &done));
	}
	hsa_signal_store_screlease(gates[0], 0);
	while (hsa_signal_load_scacquire(done) > first - count)
		;
	while (is("handler") && !atomic_load(&handler_ended)) /* the handler waits for the signal */
		;
	MUST(hsa_signal_destroy(done));
	printf("done\n");
	fflush(stdout);
	MUST(hsa_shut_down());
	return 0;
}
