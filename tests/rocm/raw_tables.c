/* SPDX-License-Identifier: MIT */
/* A tool that prints on stderr the tables that it is offered: name of the runtime, instance,
 * entries and version. */
#include <gputap/gputap.h>
#include <stdio.h>

static void told(const struct gputap_table *t, void *user)
{
	fprintf(user, "%s %u: %zu entries, %llu\n", t->name, t->instance, t->bytes / sizeof(void *),
		(unsigned long long)t->version);
}

__attribute__((constructor)) static void begin(void)
{
	gputap_table_subscribe(told, stderr);
}
