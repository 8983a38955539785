/* SPDX-License-Identifier: MIT */
/* The session's control socket, <folder>/control: how other gputap commands ask the collector for
 * something. One connection is one request and one answer, both text:
 *
 *   COMMAND key=value key=value\n      ->   ok\nline\nline\n..          then the end
 *                                           error SENTENCE\n            then the end
 *
 * Values are escaped as gt_control_put() says. The socket is its owner's alone (mode 0600, in a
 * folder of 0700), and each connection's user is asked of the kernel: the owner, or root.
 *
 * A thread of its own has the connections, so that a change does not wait until the collector has a
 * processor and has read all rings. A command runs in one of two places:
 *
 *   GT_CONTROL_AT_ONCE   in that thread: what it touches must be made for two threads
 *   GT_CONTROL_IN_TURN   in the collector's, which is woken for it:
 *       READING --thread--> ASKED --collector--> ANSWERED --thread--> FREE
 *     A connection is the collector's while it is ASKED, and the thread's else; each passes it on
 *     with a release of `state`, and the other one acquires it.
 *
 * Nobody can hold either of them up: all descriptors are non-blocking; there is room for a few
 * connections, others wait in the kernel until there is some again, and one that has said nothing
 * for some seconds (a moment, while others wait) or does not take its answer goes. A command must
 * be short. */
#ifndef GPUTAP_COLLECTOR_CONTROL_H
#define GPUTAP_COLLECTOR_CONTROL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "collector/folder.h"

#define GT_CONTROL_FILE "control"
enum {
	GT_CONTROL_CLIENTS = 32,
	GT_CONTROL_COMMANDS = 32,
	GT_CONTROL_REQUEST_BYTES = 8192,
	GT_CONTROL_ANSWER_MOST = 8 << 20,
};

struct gt_control_request {
	const char *command;
	/* "key=value" pairs, unescaped; NULL-ended */
	char *arguments[64];
	pid_t pid; /* of who asks, in our pid namespace; 0: in none that we see */
	char error[1024];
};

/* A command: prints lines into @answer. Return: 0; else what it printed is thrown away, and the
 * client gets request->error, a sentence (gt_control_refuse()). */
typedef int gt_control_fn(void *data, struct gt_control_request *request, FILE *answer);

enum gt_control_where { GT_CONTROL_AT_ONCE, GT_CONTROL_IN_TURN };

enum gt_control_state {
	GT_CONTROL_FREE,
	GT_CONTROL_READING,
	GT_CONTROL_ASKED,
	GT_CONTROL_ANSWERED, /* or being sent */
};

struct gt_control_client {
	int fd;
	_Atomic int state; /* enum gt_control_state */
	uint64_t since_ns;
	char request[GT_CONTROL_REQUEST_BYTES];
	size_t request_bytes;
	char *answer; /* NULL while ANSWERED: there was no memory for it */
	size_t answer_bytes, answer_sent;
};

struct gt_control_command {
	const char *name;
	gt_control_fn *run;
	void *data;
	enum gt_control_where where;
};

struct gt_control {
	int listener; /* -1: there is no socket */
	int epoll;    /* the thread's */
	int asked;    /* eventfd in the collector's epoll: requests wait, or were done */
	int answered; /* eventfd in the thread's: answers wait, or it is to end */
	pthread_t thread;
	bool has_thread, is_full; /* is_full: the listener is not looked at */
	_Atomic bool is_over;
	struct gt_control_command commands[GT_CONTROL_COMMANDS];
	size_t command_count;
	struct gt_control_client *clients; /* GT_CONTROL_CLIENTS of them */
};

/**
 * gt_control_open() - make the socket in the session folder; who connects waits
 * @epoll: of the collector's loop; what it reports with a pointer of ours is for
 *         gt_control_handle()
 * Return: 0; negative errno with a cause: the session goes on without control.
 */
int gt_control_open(struct gt_control *c, const struct gt_folder *folder, int epoll);
/* Start the thread: all commands are there, and the program was started. Without a thread there is
 * no socket either. */
void gt_control_begin(struct gt_control *c);
/* Ends the thread. */
void gt_control_close(struct gt_control *c);

/* Before gt_control_begin(). @name stays. */
void gt_control_add(struct gt_control *c, const char *name, enum gt_control_where where,
		    gt_control_fn *run, void *data);

/* The collector: is this epoll event ours? Then it is dealt with. */
bool gt_control_handle(struct gt_control *c, const void *what);

/* Of a request: NULL: it does not say. */
const char *gt_control_argument(const struct gt_control_request *request, const char *key);
/* Return: -EINVAL or what @status says; for a command to return. */
int gt_control_refuse(struct gt_control_request *request, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "key=value\n"; control characters, spaces and % of the value become %XX, so that it is one
 * word. */
void gt_control_put(FILE *answer, const char *key, const char *value);
/* The same without the line's end, for rows of several pairs: @first: no space in front. */
void gt_control_put_word(FILE *answer, const char *key, const char *value, bool first);
/* In place. */
void gt_control_unescape(char *value);

#endif
