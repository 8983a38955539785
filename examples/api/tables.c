/* SPDX-License-Identifier: MIT */
/* Raw tables: a library lets subscribers wrap its functions, and a subscriber counts the calls.
 *
 *     cc tables.c -lgputap -o tables && ./tables */
#include <gputap/gputap.h>
#include <stdio.h>
#include <string.h>

/* The library's table. The library's header describes it. */
struct adder_table {
	int (*add)(int, int);
};

static int add(int a, int b)
{
	return a + b;
}

static struct adder_table table = {add};

/* The subscriber's wrapper. */
static int (*next_add)(int, int);
static int calls;

static int counted_add(int a, int b)
{
	calls++;
	return next_add(a, b);
}

static void on_table(const struct gputap_table *t, void *user)
{
	struct adder_table *entries = (void *)t->entries;

	(void)user;
	if (strcmp(t->name, "adder"))
		return;
	next_add = entries->add;
	entries->add = counted_add;
}

int main(void)
{
	gputap_table_subscribe(on_table, NULL);
	gputap_table_offer("adder", (void **)&table, sizeof table); /* called once by the library */
	printf("1 + 2 = %d\n", table.add(1, 2));
	printf("calls: %d\n", calls);
	return 0;
}
