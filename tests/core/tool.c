/* SPDX-License-Identifier: MIT */
/* A tool that replaces clGetPlatformIDs in the table with its own function, which calls the
 * original. NAME: the tool's name. */
#include <gputap/gputap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int (*next)(unsigned, void *, unsigned *);

static int mine(unsigned n, void *ids, unsigned *count)
{
	int ret;

	printf(NAME " before\n");
	ret = next(n, ids, count);
	printf(NAME " after\n");
	return ret;
}

static void table(const struct gputap_table *t, void *user)
{
	if (t->size < sizeof *t || t->domain != GPUTAP_DOMAIN_OPENCL || t->bytes < 8 ||
	    strcmp(user, NAME) != 0)
		abort();
	*(void **)&next = t->entries[0];
	*(int (**)(unsigned, void *, unsigned *)) & t->entries[0] = mine;
}

__attribute__((constructor)) static void begin(void)
{
	static char name[] = NAME;

	printf(NAME " subscribed %d\n", gputap_table_subscribe(table, name));
}
