/* SPDX-License-Identifier: MIT */
/* Sessions that run now: found by their folders, asked through their control sockets
 * (collector/control.h). Which one is meant: a process of it (`gputap run` itself, or any traced
 * one), its capture by path or name, its folder, or nothing where one alone runs. */
#ifndef GPUTAP_CLI_SESSION_FIND_H
#define GPUTAP_CLI_SESSION_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a session answered: lines, "key=value" most of them. */
struct session_answer {
	char *text;
	char **lines; /* as they came, without "ok"; NULL-ended */
	size_t count;
	char **values; /* beside each line: its unescaped value, if it is one pair; else NULL */
};

struct session_found {
	char *folder;
	struct session_answer status; /* the answer to "session" or "status" */
};

struct session_list {
	struct session_found *sessions; /* by their begin */
	size_t count, room;
	size_t others;     /* sessions of other users: there are folders of theirs */
	size_t silent;     /* those whose collector did not answer in time */
	size_t silent_own; /* .. of the user himself; the others are asked by root alone */
	bool counts;       /* as asked for */
};

/**
 * session_list_read() - all that run and that we may control
 * @counts: with how much they have recorded, for which each collector must come to it: "status".
 *          Else "session", which is answered at once.
 * Return: 0, or negative errno with a cause.
 */
int session_list_read(struct session_list *list, bool counts);
void session_list_fini(struct session_list *list);

/**
 * session_find() - the one that is meant
 * @which: process, capture, folder; NULL: the only one
 * Return: GT_EXIT_OK, and *out points into @list; else what ui_fail() gave: the sentence was
 *         printed.
 */
int session_find(struct session_list *list, const char *which, const struct session_found **out);

/* How many are meant; *out: the last of them, or NULL. */
size_t session_match(const struct session_list *list, const char *which,
		     const struct session_found **out);

/* What people see of its capture: the file's name, or, where another session's is the same, its
 * path, from the folder that we are in if it lies there. Borrowed from @list. */
const char *session_name(const struct session_list *list, const struct session_found *s);

/**
 * session_ask() - one request, and its answer
 * @request: "command key=value ..", values escaped (session_escape())
 * Return: 0; or negative errno with a cause: the sentence of the session, or what is wrong with it.
 *         -ECONNREFUSED, -ENOENT: it does not run.
 */
int session_ask(const char *folder, const char *request, struct session_answer *out);
void session_answer_fini(struct session_answer *answer);
/* "session"; of a gputap that does not know that: "status". */
int session_ask_state(const char *folder, struct session_answer *out);
/* "": there is no such line. */
const char *session_value(const struct session_answer *answer, const char *key);
uint64_t session_number(const struct session_answer *answer, const char *key);
/* @value as a word of a request, in memory to be freed; NULL: no memory. */
char *session_escape(const char *value);

#endif
