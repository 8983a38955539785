/* SPDX-License-Identifier: MIT */
/* hsa_copies WORD...: copies from host to device memory through HSA, with a wait for each. Each
 * copy has its own number of bytes, 4096 * (1, 2, ...).
 *
 * single:N    N copies, one after the other, with one signal
 * shared:N    N copies in flight that count one signal down
 * careless:N  N copies in flight whose signal nevertheless has the value 1
 * barriers:N  N barrier-and packets, then N barrier-or packets, each after the previous packet */
#include <string.h>

#include "hsa_program.h"

enum { MOST = 64, BYTES = 4096 };

static struct hsa_program program;
static void *source, *target;
static uint64_t copied;

/* @before: signal that the copy waits for, or handle 0 */
static void copy(hsa_signal_t before, hsa_signal_t done)
{
	MUST(hsa_amd_memory_async_copy(target, program.gpu, source, program.cpu,
				       BYTES * (copied++ % MOST + 1), before.handle ? 1 : 0,
				       before.handle ? &before : NULL, done));
}

static void wait_until(hsa_signal_t done, hsa_signal_value_t value)
{
	while (hsa_signal_load_scacquire(done) > value)
		;
}

static void copies(const char *word, int count)
{
	hsa_signal_t done = hsa_program_signal(*word == 's' && word[1] == 'h' ? count : 1);
	/* in progress together: all copies wait until the last copy has been submitted */
	hsa_signal_t begin = {0};

	if (strncmp(word, "single", 6))
		begin = hsa_program_signal(1);
	for (int i = 0; i < count; i++) {
		copy(begin, done);
		if (begin.handle)
			continue;
		wait_until(done, 0);
		hsa_signal_store_screlease(done, 1);
	}
	if (begin.handle)
		hsa_signal_store_screlease(begin, 0);
	if (!strncmp(word, "shared", 6))
		wait_until(done, 0);
	if (!strncmp(word, "careless", 8))
		wait_until(done, 1 - count);
	if (begin.handle)
		MUST(hsa_signal_destroy(begin));
	MUST(hsa_signal_destroy(done));
}

static void barriers(int count)
{
	hsa_queue_t *queue = hsa_program_queue(&program, 256, NULL, NULL);
	hsa_signal_t before = {0}, done = {0};

	for (int i = 0; i < 2 * count; i++) {
		hsa_barrier_and_packet_t p = {.dep_signal = {before}};

		done = hsa_program_signal(1);
		p.completion_signal = done;
		hsa_program_put(queue, &p,
				(uint16_t)(i < count ? HSA_PACKET_TYPE_BARRIER_AND
						     : HSA_PACKET_TYPE_BARRIER_OR));
		wait_until(done, 0);
		if (before.handle)
			MUST(hsa_signal_destroy(before));
		before = done;
	}
	MUST(hsa_signal_destroy(done));
	MUST(hsa_queue_destroy(queue));
}

int main(int argc, char **argv)
{
	hsa_program_start(&program);
	source = hsa_program_memory(&program, MOST * BYTES);
	MUST(hsa_amd_memory_pool_allocate(program.device, MOST * BYTES, 0, &target));
	for (int i = 1; i < argc; i++) {
		int count = atoi(strchr(argv[i], ':') + 1);

		if (!strncmp(argv[i], "barriers", 8))
			barriers(count);
		else
			copies(argv[i], count);
	}
	printf("done\n");
	MUST(hsa_shut_down());
	return 0;
}
