/* SPDX-License-Identifier: MIT */
/* A tool whose start() and finish() throw at first, after all possible contexts were created:
 * prints what became of it. */
#include <gputap/tool.h>

#include <cstdio>
#include <stdexcept>

static int starts, finishes, left;

static void on_call(const gputap_call *, uint64_t *, void *)
{
}

static int begin(void *)
{
	int made = 0;

	for (int i = 0; i < 100; i++) {
		gputap_context_opts o = {};
		gputap_context *context = nullptr;

		o.size = sizeof o;
		if (gputap_context_create(&o, &context) == 0)
			made += gputap_context_calls(context, GPUTAP_DOMAIN_HIP, nullptr, 0,
						     GPUTAP_CALLS_DEFAULT, on_call, nullptr) == 0;
	}
	printf("start %d: %d contexts\n", ++starts, made);
	if (starts <= 2)
		throw std::runtime_error("start");
	return 0;
}

static void end(void *)
{
	printf("finish %d\n", ++finishes);
	if (finishes == 1)
		throw std::runtime_error("finish");
}

static void on_event(const gputap_event *event, void *)
{
	left += event->code == GPUTAP_EVENT_TOOL;
}

int main()
{
	gputap_tool tool = {};

	tool.size = sizeof tool;
	tool.abi = GPUTAP_TOOL_ABI;
	tool.name = "thrower";
	tool.start = begin;
	tool.finish = end;
	gputap_event_subscribe(on_event, nullptr);
	for (int i = 0; i < 5; i++) {
		try {
			printf("add %d\n", gputap_tool_add(&tool));
			printf("remove %d\n", gputap_tool_remove(&tool));
		} catch (const std::exception &e) {
			printf("caught %s\n", e.what());
		}
	}
	printf("left %d times\n", left);
}
