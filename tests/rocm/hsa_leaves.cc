/* SPDX-License-Identifier: MIT */
/* hsa_leaves CODE_OBJECT jump|throw|slow enter|exit [again]: a program on plain HSA that is also a
 * tool, whose callback leaves the third of six dispatches by longjmp(), by an exception, or after
 * seven seconds. Each kernel is waited for; with `again`, the third one only after the fourth, that
 * is, after its thread has rung the doorbell once more.
 *
 * Prints what the tool was notified of, per context, and how it left. */
#include <gputap/tool.h>

#include <csetjmp>
#include <cstring>
#include <ctime>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unistd.h>

extern "C" {
#include "hsa_program.h"
}

enum { CONTEXTS = 2, DISPATCHES = 6, LEFT = 3, NEVER_MS = 60000 };

static std::jmp_buf away;
static const char *how;
static unsigned phase;
static std::mutex lock;
static std::string told[CONTEXTS];
static hsa_signal_t done[DISPATCHES];

static void on_activity(const gputap_activity *w, uint64_t *, void *user)
{
	unsigned context = unsigned(reinterpret_cast<uintptr_t>(user));
	unsigned n = w->grid[0];

	if (w->type != GPUTAP_ACTIVITY_KERNEL)
		return;
	{
		std::lock_guard<std::mutex> hold(lock);
		told[context] += std::string(" ") + "?+-."[w->phase] + std::to_string(n);
	}
	/* the first context that is notified */
	if (n != LEFT || w->phase != phase ||
	    context != (phase == GPUTAP_ACTIVITY_PHASE_ENTER ? 0 : 1))
		return;
	if (!strcmp(how, "jump"))
		std::longjmp(away, 1);
	if (!strcmp(how, "throw"))
		throw std::runtime_error("left");
	sleep(7);
}

static gputap_context *listen(uintptr_t number)
{
	gputap_context_opts opts = {};
	gputap_context *ctx;

	opts.size = sizeof opts;
	if (gputap_context_create(&opts, &ctx) ||
	    gputap_context_activities(ctx, GPUTAP_DOMAIN_HSA_CORE, GPUTAP_ACTIVITY_ALL, on_activity,
				      reinterpret_cast<void *>(number)) ||
	    gputap_context_start(ctx))
		exit(2);
	return ctx;
}

static uint64_t now_ms()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return uint64_t(t.tv_sec) * 1000 + uint64_t(t.tv_nsec) / 1000000;
}

static void wait(unsigned n)
{
	uint64_t since = now_ms();

	while (hsa_signal_load_scacquire(done[n - 1]) >= 1) {
		if (now_ms() - since > NEVER_MS) {
			printf("%u: never\n", n);
			exit(3);
		}
		usleep(1000);
	}
	if (getenv("LEAVES_MS"))
		printf("%u: %u ms\n", n, unsigned(now_ms() - since));
}

static void dispatch(hsa_queue_t *queue, uint64_t kernel, volatile unsigned n)
{
	done[n - 1] = hsa_program_signal(1);
	hsa_kernel_dispatch_packet_t d = hsa_program_dispatch(kernel, nullptr, n, 1, done[n - 1]);

	if (setjmp(away)) {
		printf("jumped\n");
		return;
	}
	try {
		hsa_program_put_dispatch(queue, &d);
	} catch (const std::runtime_error &) {
		printf("caught\n");
	}
}

int main(int argc, char **argv)
{
	static hsa_program program;
	bool again = argc > 4 && !strcmp(argv[4], "again");
	hsa_queue_t *queue;
	uint64_t kernel;

	how = argv[2];
	phase = !strcmp(argv[3], "enter") ? GPUTAP_ACTIVITY_PHASE_ENTER
					  : GPUTAP_ACTIVITY_PHASE_EXIT;
	for (uintptr_t i = 0; i < CONTEXTS; i++)
		listen(i);
	hsa_program_start(&program);
	hsa_program_load(&program, argv[1]);
	kernel = hsa_program_kernel(&program, "nothing");
	queue = hsa_program_queue(&program, 64, nullptr, nullptr);
	for (volatile unsigned n = 1; n <= DISPATCHES; n++) {
		dispatch(queue, kernel, n);
		if (n != LEFT || !again)
			wait(n);
		if (n == LEFT + 1 && again)
			wait(LEFT);
	}
	MUST(hsa_queue_destroy(queue));
	MUST(hsa_shut_down());
	for (unsigned i = 0; i < CONTEXTS; i++)
		printf("told:%s\n", told[i].c_str());
	return 0;
}
