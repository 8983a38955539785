/* SPDX-License-Identifier: MIT */
/* Find running sessions through their folders, and ask them through their control sockets
 * (collector/control.h). A session is named by a process of it (`gputap run` itself, or any traced
 * process), its capture's path or name, its folder, or not at all if only one is running. */
#ifndef GPUTAP_CLI_SESSION_FIND_H
#define GPUTAP_CLI_SESSION_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A session's answer: lines, most of them "key=value". */
struct session_answer {
	char *text;
	char **lines; /* as received, without "ok"; NULL-ended */
	size_t count;
	char **values; /* for each line: its unescaped value, if it is a single pair; else NULL */
};

struct session_found {
	char *folder;
	struct session_answer status; /* the answer to "session" or "status" */
};

struct session_list {
	struct session_found *sessions; /* sorted by start */
	size_t count, room;
	size_t others;     /* true if there are folders of other users' sessions */
	size_t silent;     /* those whose collector did not answer in time */
	size_t silent_own; /* those of this user; only root asks the others */
	bool counts;       /* as requested */
};

/**
 * session_list_read() - read all running sessions that this user may control
 * @counts: also read how much they have recorded ("status"), which each collector answers when it
 *          gets to it. Otherwise "session", which is answered at once.
 * Return: 0, or negative errno with a cause.
 */
int session_list_read(struct session_list *list, bool counts);
void session_list_fini(struct session_list *list);

/**
 * session_find() - find a session
 * @which: process, capture, folder; NULL: the only one
 * Return: GT_EXIT_OK, and *out points into @list; else ui_fail()'s result: the error was printed.
 */
int session_find(struct session_list *list, const char *which, const struct session_found **out);

/* Return the number of matching sessions; *out: the last of them, or NULL. */
size_t session_match(const struct session_list *list, const char *which,
		     const struct session_found **out);

/* Return the name of a session's capture for users: the file's name or, if another session's file
 * has the same name, the path, relative to the current folder if it is below that. Borrowed from
 * @list. */
const char *session_name(const struct session_list *list, const struct session_found *s);

/**
 * session_ask() - send a request and receive the answer
 * @request: "command key=value ..", values escaped (session_escape())
 * Return: 0; or negative errno with a cause: the session's message, or its fault.
 *         -ECONNREFUSED, -ENOENT: it is not running.
 */
int session_ask(const char *folder, const char *request, struct session_answer *out);
void session_answer_fini(struct session_answer *answer);
/* Send "session"; or "status" to a gputap that does not know "session". */
int session_ask_state(const char *folder, struct session_answer *out);
/* Return a line's value; "": no such line. */
const char *session_value(const struct session_answer *answer, const char *key);
uint64_t session_number(const struct session_answer *answer, const char *key);
/* Return @value as a word of a request, in memory to be freed; NULL: no memory. */
char *session_escape(const char *value);

#endif
