/* SPDX-License-Identifier: MIT */
/* Idle time of the reference accelerator's device 0 with one cause: idle_refdev host|range|step|
 * paused|synchronising|copying|held|allocating|freeing|other_call|launching|started_late. The GPU
 * activities are empty kernels. IDLE_TIMES: number of repetitions (default TIMES). */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gputap/gputap.h"
#include "soft/refdev/refdev.h"
#include "tests/idle/stamps.h"

#define OK(call) EXPECT((call) == refdevSuccess)

enum { COPIED = 64 << 20 };

static const refdevDim3 one = {1, 1, 1};
static refdevStream_t first, second; /* streams of devices 0 and 1 */
static refdevKernel_t nothing, long_one;

static void run_nothing(const refdevGroup *group, const void *arguments)
{
	(void)group;
	(void)arguments;
}

/* Start and end of the long kernel, measured in the kernel's function. */
static uint64_t long_from, long_to;

static void run_long(const refdevGroup *group, const void *arguments)
{
	(void)group;
	(void)arguments;
	long_from = now_ns();
	sleep_ms(PROVOKED_MS);
	long_to = now_ns();
}

static void launch(refdevKernel_t kernel, refdevStream_t stream, int device)
{
	OK(refdevSetDevice(device));
	OK(refdevLaunchKernel(kernel, one, one, NULL, 0, stream));
	OK(refdevSetDevice(0));
}

/* The host runs unrelated code. */
static void provoke_host(void)
{
	uint64_t from = now_ns();

	sleep_ms(PROVOKED_MS);
	say_stamps("host", from, now_ns());
}

static void provoke_range(void)
{
	gputap_range_push("thinking");
	provoke_host();
	gputap_range_pop();
}

/* In each step, the host computes and then launches. */
static void provoke_step(void)
{
	gputap_range_push("step");
	provoke_host();
	launch(nothing, first, 0);
	OK(refdevStreamSynchronize(first));
	gputap_range_pop();
}

/* The program pauses its recording, continues to work during the pause, and then runs unrelated
 * code. */
static void provoke_pause(void)
{
	uint64_t from;

	gputap_pause();
	from = now_ns();
	for (unsigned i = 0; i < 10; i++) {
		launch(nothing, first, 0);
		OK(refdevStreamSynchronize(first));
	}
	sleep_ms(2 * PROVOKED_MS);
	say_stamps("paused", from, now_ns());
	gputap_resume();
	provoke_host();
}

/* The host waits for another device. */
static void provoke_synchronising(void)
{
	uint64_t from;

	launch(long_one, second, 1);
	from = now_ns();
	OK(refdevStreamSynchronize(second));
	say_stamps("synchronising", from, now_ns());
}

/* The host copies to another device. */
static void provoke_copying(void)
{
	static void *from, *to;
	uint64_t begin;

	if (!to) {
		OK(refdevSetDevice(1));
		OK(refdevMalloc(&to, COPIED));
		OK(refdevSetDevice(0));
		EXPECT((from = calloc(1, COPIED)));
	}
	OK(refdevSetDevice(1));
	begin = now_ns();
	OK(refdevMemcpy(to, from, COPIED, refdevMemcpyHostToDevice));
	say_stamps("copying", begin, now_ns());
	OK(refdevSetDevice(0));
}

/* The next kernel waits for a kernel on another device. */
static void provoke_held(void)
{
	static refdevEvent_t event;

	if (!event)
		OK(refdevEventCreate(&event));
	launch(long_one, second, 1);
	OK(refdevEventRecord(event, second));
	OK(refdevStreamWaitEvent(first, event));
}

/* Make a call slow with a profiler, because the time that a profiler spends inside a call is part
 * of the call. */
static const char *slow, *slow_cause;

static void be_slow(const refdevCall *call, uint64_t *slot, void *user)
{
	uint64_t from = now_ns();

	(void)slot;
	(void)user;
	if (!slow || call->exits || call->nested || strcmp(call->name, slow))
		return;
	sleep_ms(PROVOKED_MS);
	say_stamps(slow_cause, from, now_ns());
}

static void make_slow(const char *name, const char *cause)
{
	static const refdevSubscriber subscriber = {.size = sizeof subscriber, .call = be_slow};

	if (!slow)
		OK(refdevSubscribe(&subscriber));
	slow = name;
	slow_cause = cause;
}

static void provoke_allocating(void)
{
	void *memory;

	make_slow("refdevMalloc", "allocating");
	OK(refdevMalloc(&memory, 4096));
	OK(refdevFree(memory));
}

static void provoke_freeing(void)
{
	void *memory;

	make_slow("refdevFree", "freeing");
	OK(refdevMalloc(&memory, 4096));
	OK(refdevFree(memory));
}

static void provoke_other_call(void)
{
	size_t available, total;

	make_slow("refdevMemGetInfo", "other_call");
	OK(refdevMemGetInfo(&available, &total));
}

/* Delay the launch of the next kernel. */
static void provoke_launching(void)
{
	make_slow("refdevLaunchKernel", "launching");
}

/* Delay the stream's thread: it runs a profiler's callback at the end of a kernel. */
static void end_late(const refdevActivity *activity, void *token, void *user)
{
	uint64_t from = now_ns();

	(void)token;
	(void)user;
	if (activity->kind != refdevActivityKernel || !slow)
		return;
	slow = NULL;
	sleep_ms(PROVOKED_MS);
	say_stamps("started_late", from, now_ns());
}

/* Launch two kernels at once. The second kernel starts late. */
static void provoke_started_late(void)
{
	static const refdevSubscriber subscriber = {.size = sizeof subscriber,
						    .completed = end_late};
	static bool subscribed;

	if (!subscribed)
		OK(refdevSubscribe(&subscriber));
	subscribed = true;
	slow = "";
	launch(nothing, first, 0);
}

static const struct {
	const char *name;
	void (*provoke)(void);
} rules[] = {
	{"host", provoke_host},
	{"range", provoke_range},
	{"step", provoke_step},
	{"paused", provoke_pause},
	{"synchronising", provoke_synchronising},
	{"copying", provoke_copying},
	{"blocked", provoke_held},
	{"allocating", provoke_allocating},
	{"freeing", provoke_freeing},
	{"other_call", provoke_other_call},
	{"launching", provoke_launching},
	{"started_late", provoke_started_late},
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const char *times = getenv("IDLE_TIMES");
	size_t rule = 0;

	while (rule < sizeof rules / sizeof *rules && strcmp(rules[rule].name, name))
		rule++;
	EXPECT(rule < sizeof rules / sizeof *rules);
	OK(refdevStreamCreate(&first));
	OK(refdevSetDevice(1));
	OK(refdevStreamCreate(&second));
	OK(refdevSetDevice(0));
	OK(refdevRegisterKernel(&nothing, "nothing", run_nothing));
	OK(refdevRegisterKernel(&long_one, "long_one", run_long));
	for (unsigned i = 0; i < (times ? (unsigned)atoi(times) : TIMES); i++) {
		launch(nothing, first, 0);
		OK(refdevStreamSynchronize(first));
		rules[rule].provoke();
		launch(nothing, first, 0);
		OK(refdevStreamSynchronize(first));
		if (rules[rule].provoke == provoke_launching)
			slow = "";
		if (rules[rule].provoke == provoke_held)
			say_stamps("blocked", long_from, long_to);
	}
	return 0;
}
