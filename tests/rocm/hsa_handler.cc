/* SPDX-License-Identifier: MIT */
/* hsa_handler MS: main() returns while a handler of a completed signal is pending, or runs for MS
 * milliseconds. The objects that it uses are destroyed with the library's static objects: had the
 * handler finished by then? In HIP, handlers also use objects that its destructors free. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "hsa_gpu.h"

static std::atomic<bool> over;

static struct library {
	~library()
	{
		puts(over ? "the handler is over" : "the handler is not over");
	}
} library;

static bool handler(hsa_signal_value_t, void *data)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(*(int *)data));
	over = true;
	return false;
}

int main(int, char **words)
{
	static int milliseconds;
	hsa_signal_t signal;
	hsa_queue_t *queue;

	milliseconds = atoi(words[1]);
	if (hsa_init() || hsa_iterate_agents(find_gpu, nullptr) != HSA_STATUS_INFO_BREAK ||
	    hsa_signal_create(1, 0, nullptr, &signal) ||
	    hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, nullptr, nullptr, 0, 0, &queue) ||
	    hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, handler,
					 &milliseconds))
		return 1;
	hsa_signal_store_screlease(signal, 0);
	return 0;
}
