/* SPDX-License-Identifier: MIT */
/* Events: print errors that gputap reports, as they occur. In this example, a tool refuses to
 * start.
 *
 *     cc events.c -lgputap -o events && ./events */
#include <gputap/tool.h>
#include <stdio.h>

static void on_event(const struct gputap_event *event, void *user)
{
	(void)user;
	printf("event %s: %s\n", gputap_event_name(event->code), event->text ? event->text : "");
}

static int refuse(void *user)
{
	(void)user;
	return -1;
}

int main(void)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "reluctant",
						.start = refuse};

	gputap_event_subscribe(on_event, NULL);
	printf("gputap_tool_add: %d\n", gputap_tool_add(&tool));
	return 0;
}
