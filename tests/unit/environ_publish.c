/* SPDX-License-Identifier: MIT */
/* Unit tests of changes to the environment while other threads use it. */
#include "util/environ_publish.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

extern char **environ;

enum { ROUNDS = 2000, NAMES = 8, REMOVED = 400 };

static char ours[] = "GPUTAP_OURS=1", theirs[] = "GPUTAP_OURS=theirs";
static _Atomic bool is_over;
static _Atomic uint32_t missed, reads;

static void publish(const char *name, const char *entry, const char *only_if)
{
	CHECK(gt_environ_publish(&(struct gt_environ_change){name, entry, only_if}, 1));
}

UNIT_TEST(environment_gets_and_loses_a_variable)
{
	publish("GPUTAP_OURS", ours, NULL);
	CHECK(getenv("GPUTAP_OURS") == ours + sizeof "GPUTAP_OURS");
	CHECK(gt_environ_entry("GPUTAP_OURS") == ours);
	CHECK(gt_environ_entry("GPUTAP_OUR") == NULL);
	publish("GPUTAP_OURS", NULL, ours);
	CHECK(getenv("GPUTAP_OURS") == NULL);
	CHECK(getenv("PATH") != NULL);
}

UNIT_TEST(environment_of_a_program_without_variables_gets_one)
{
	environ = NULL;
	publish("GPUTAP_OURS", ours, NULL);
	CHECK(getenv("GPUTAP_OURS") != NULL && environ[1] == NULL);
}

UNIT_TEST(environment_gets_the_entry_of_the_program_back)
{
	const char *saved;

	CHECK(putenv(theirs) == 0);
	saved = gt_environ_entry("GPUTAP_OURS");
	publish("GPUTAP_OURS", ours, NULL);
	CHECK_STR(getenv("GPUTAP_OURS"), "1");
	publish("GPUTAP_OURS", saved, ours);
	CHECK(gt_environ_entry("GPUTAP_OURS") == theirs);
}

UNIT_TEST(environment_keeps_what_the_program_has_set_meanwhile)
{
	publish("GPUTAP_OURS", ours, NULL);
	CHECK(setenv("GPUTAP_OURS", "set by the program", 1) == 0);
	publish("GPUTAP_OURS", NULL, ours);
	CHECK_STR(getenv("GPUTAP_OURS"), "set by the program");
}

UNIT_TEST(environment_without_changes_stays_where_it_is)
{
	char **before = environ;

	publish("GPUTAP_OURS", NULL, NULL);
	CHECK(environ == before);
}

UNIT_TEST(environment_that_was_published_can_be_set_and_unset)
{
	publish("GPUTAP_OURS", ours, NULL);
	CHECK(setenv("GPUTAP_ADDED", "1", 1) == 0);
	CHECK(unsetenv("GPUTAP_OURS") == 0);
	CHECK_STR(getenv("GPUTAP_ADDED"), "1");
	CHECK(getenv("GPUTAP_OURS") == NULL);
}

static void *read_all(void *unused)
{
	(void)unused;
	while (!atomic_load(&is_over)) {
		if (!getenv("GPUTAP_LAST") || !getenv("PATH"))
			atomic_fetch_add(&missed, 1);
		atomic_fetch_add(&reads, 1);
	}
	return NULL;
}

UNIT_TEST(readers_find_every_variable_while_others_come_and_go)
{
	pthread_t readers[2];

	CHECK(setenv("GPUTAP_LAST", "1", 1) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&readers[i], NULL, read_all, NULL) == 0);
	for (int i = 0; i < ROUNDS || !atomic_load(&reads); i++) {
		publish("GPUTAP_OURS", ours, NULL);
		publish("GPUTAP_OURS", NULL, ours);
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	CHECK_EQ(atomic_load(&missed), 0);
}

static void name_of(char text[static 32], const char *kind, int i)
{
	snprintf(text, 32, "GPUTAP_%s_%d", kind, i);
}

/* Set existing variables to new values. */
static void *set_all(void *unused)
{
	char name[32], value[32];

	(void)unused;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < NAMES; i++) {
			name_of(name, "SET", i);
			snprintf(value, sizeof value, "%d", round);
			setenv(name, value, 1);
		}
	atomic_store(&is_over, true);
	return NULL;
}

UNIT_TEST(environment_loses_no_value_that_a_thread_sets_meanwhile)
{
	char name[32];
	pthread_t setter;

	for (int i = 0; i < NAMES; i++) {
		name_of(name, "SET", i);
		CHECK(setenv(name, "first", 1) == 0);
	}
	CHECK(pthread_create(&setter, NULL, set_all, NULL) == 0);
	while (!atomic_load(&is_over)) {
		publish("GPUTAP_OURS", ours, NULL);
		publish("GPUTAP_OURS", NULL, ours);
	}
	pthread_join(setter, NULL);
	for (int i = 0; i < NAMES; i++) {
		name_of(name, "SET", i);
		CHECK_EQ(atoi(getenv(name)), ROUNDS - 1);
	}
}

/* Remove half of the variables, one after the other. */
static void *remove_half(void *unused)
{
	char name[32];

	(void)unused;
	for (int i = 0; i < REMOVED; i += 2) {
		name_of(name, "SET", i);
		unsetenv(name);
	}
	atomic_store(&is_over, true);
	return NULL;
}

UNIT_TEST(environment_keeps_no_variable_that_a_thread_removes_meanwhile)
{
	char name[32];
	pthread_t remover;

	for (int i = 0; i < REMOVED; i++) {
		name_of(name, "SET", i);
		CHECK(setenv(name, "1", 1) == 0);
	}
	CHECK(pthread_create(&remover, NULL, remove_half, NULL) == 0);
	while (!atomic_load(&is_over)) {
		publish("GPUTAP_OURS", ours, NULL);
		publish("GPUTAP_OURS", NULL, ours);
	}
	pthread_join(remover, NULL);
	for (int i = 0; i < REMOVED; i++) {
		name_of(name, "SET", i);
		CHECK_EQ(getenv(name) == NULL, i % 2 == 0);
	}
}
