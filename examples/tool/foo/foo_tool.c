/* SPDX-License-Identifier: MIT */
/* A tool that wraps foo(). Several tools, compiled with different -DNAME='"inner"', form a
 * chain. */
#include "foo.h"

#include <gputap/tool.h>
#include <stdio.h>
#include <string.h>

#ifndef NAME
#define NAME "foo_tool"
#endif

static int (*next)(int value);

static int my_foo(int value)
{
	int result;

	fprintf(stderr, NAME ": foo(%d)\n", value);
	result = next(value);
	fprintf(stderr, NAME ": foo(%d) = %d\n", value, result);
	return result;
}

static void on_table(const struct gputap_table *table, void *user)
{
	struct foo_table *foo = (struct foo_table *)(void *)table->entries;

	(void)user;
	if (strcmp(table->name, "foo") ||
	    table->bytes < offsetof(struct foo_table, foo) + sizeof foo->foo)
		return;
	next = foo->foo;
	foo->foo = my_foo;
}

static int start(void *user)
{
	(void)user;
	return gputap_table_subscribe(on_table, NULL);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = NAME,
						.start = start};

	(void)version;
	return &tool;
}
