/* SPDX-License-Identifier: MIT */
/* Profiles refdev's activities in sessions, as torch.profiler does. For each session, prints a line
 * with the records read and the counts.
 *
 *     flight blocked N    each session ends with one more kernel in progress, running until the
 *                         session has been read
 *     flight short N      each session ends without waiting for its ten kernels */
#include <gputap/PrivateUse1TracingApi.h>
#include <gputap/plugin.h>

#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "soft/refdev/refdev.h"

static sem_t begun, go_on;

static void block(const refdevGroup *group, const void *arguments)
{
	(void)group, (void)arguments;
	sem_post(&begun);
	sem_wait(&go_on);
}

static void nap(const refdevGroup *group, const void *arguments)
{
	const struct timespec t = {0, 2000000};

	(void)group, (void)arguments;
	nanosleep(&t, NULL);
}

static void print_session(void)
{
	static struct gputap_plugin_record records[100];
	unsigned naps = 0, blocks = 0;
	long n;

	while ((n = gputap_plugins_read(records, 100)) > 0)
		for (long i = 0; i < n; i++) {
			if (records[i].kind != PU1_KIND_CONCURRENT_KERNEL)
				continue;
			naps += !strcmp(records[i].name, "nap");
			blocks += !strcmp(records[i].name, "block");
		}
	printf("nap %u block %u", naps, blocks);
	for (uint32_t what = 1; gputap_plugins_count_name(what); what++)
		if (gputap_plugins_count(UINT32_MAX, what))
			printf(", %s: %" PRIu64, gputap_plugins_count_name(what),
			       gputap_plugins_count(UINT32_MAX, what));
	printf("\n");
}

int main(int argc, char **argv)
{
	const refdevDim3 one = {1, 1, 1};
	struct gputap_plugins_session session = {.size = sizeof session,
						 .kinds = 1u << PU1_KIND_CONCURRENT_KERNEL};
	refdevKernel_t napping, blocking;
	refdevStream_t stream;
	int blocked = argc > 2 && !strcmp(argv[1], "blocked");

	if (argc < 3 || gputap_plugins_load(NULL) != 1 || sem_init(&begun, 0, 0) ||
	    sem_init(&go_on, 0, 0) || refdevRegisterKernel(&napping, "nap", nap) ||
	    refdevRegisterKernel(&blocking, "block", block) || refdevStreamCreate(&stream))
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++) {
		if (gputap_plugins_start(&session) != 1)
			return 3;
		for (int k = 0; k < 10; k++)
			refdevLaunchKernel(napping, one, one, NULL, 0, stream);
		if (blocked) {
			refdevLaunchKernel(blocking, one, one, NULL, 0, stream);
			sem_wait(&begun);
		}
		if (gputap_plugins_stop())
			return 4;
		print_session();
		if (blocked)
			sem_post(&go_on);
		refdevStreamSynchronize(stream);
	}
	return 0;
}
