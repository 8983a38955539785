/* SPDX-License-Identifier: MIT */
/* Finds running sessions through their folders, and queries them through their control sockets
 * (collector/control.h). A session is identified by one of its processes (`gputap run` itself, or
 * any traced process), its capture's path or name, or its folder. If only one session is running,
 * it need not be named. */
#ifndef GPUTAP_CLI_SESSION_FIND_H
#define GPUTAP_CLI_SESSION_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Answer of a session: lines, most of them "key=value". */
struct session_answer {
	char *text;
	char **lines; /* lines as received, without "ok"; NULL-terminated */
	size_t count;
	/* unescaped value of each line that is a single pair; NULL for other lines */
	char **values;
};

struct session_found {
	char *folder;
	struct session_answer status; /* answer to "session" or "status" */
};

struct session_list {
	struct session_found *sessions; /* sorted by start */
	size_t count, room;
	size_t others; /* number of folders of other users' sessions */
	size_t silent; /* number of sessions whose collector did not answer in time */
	/* number of these sessions that belong to this user; only root queries other users'
	 * sessions */
	size_t silent_own;
	bool counts; /* as passed to session_list_read() */
};

/**
 * session_list_read() - read all running sessions that this user may control
 * @counts: also read how much the sessions have recorded, with the request "status". A collector
 *          answers this request only between other work. Without @counts, the request is "session",
 *          which is answered immediately.
 * Return: 0, or negative errno with a cause.
 */
int session_list_read(struct session_list *list, bool counts);
void session_list_fini(struct session_list *list);

/**
 * session_find() - find a session
 * @which: process, capture or folder; NULL: the only session
 * Return: GT_EXIT_OK, and *out points into @list; otherwise ui_fail()'s result, after printing the
 *         error.
 */
int session_find(struct session_list *list, const char *which, const struct session_found **out);

/* Return the number of matching sessions. *out: the last match, or NULL. */
size_t session_match(const struct session_list *list, const char *which,
		     const struct session_found **out);

/* Return the name of a session's capture for messages: the file's name, or its path if another
 * session's file has the same name. The path is relative if the file is below the current folder.
 * Borrowed from @list. */
const char *session_name(const struct session_list *list, const struct session_found *s);

/**
 * session_ask() - send a request and receive the answer
 * @request: "command key=value ..", values escaped (session_escape())
 * Return: 0; or negative errno with a cause: the session's error message, or the reason why it did
 *         not answer. -ECONNREFUSED, -ENOENT: the session is not running.
 */
int session_ask(const char *folder, const char *request, struct session_answer *out);
void session_answer_fini(struct session_answer *answer);
/**
 * session_list_ask() - send a request to all sessions in parallel
 * @only: NULL, or the only session to query
 * @answers: receives an answer for each session of the list, an empty one if the session did not
 *           answer or does not know the request
 */
void session_list_ask(const struct session_list *list, const struct session_found *only,
		      const char *request, struct session_answer *answers);
/* Send "session", or "status" if the session's gputap does not know "session". */
int session_ask_state(const char *folder, struct session_answer *out);
/* Return the value of a line; "": no such line. */
const char *session_value(const struct session_answer *answer, const char *key);
uint64_t session_number(const struct session_answer *answer, const char *key);
/* Return @value as a word of a request. The caller frees it. NULL: out of memory. */
char *session_escape(const char *value);

#endif
