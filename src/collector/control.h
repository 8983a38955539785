/* SPDX-License-Identifier: MIT */
/* The session's control socket, <folder>/control, through which other gputap commands send requests
 * to the collector. One connection carries one request and one answer, both text:
 *
 *   COMMAND key=value key=value\n      ->   ok\nline\nline\n...         then the end
 *                                           error SENTENCE\n            then the end
 *
 * Values are escaped as in gt_control_put(). Only the owner can access the socket (mode 0600, in a
 * folder of mode 0700). The kernel reports each connection's user, which must be the owner or root.
 *
 * A separate thread serves the connections, so that a change does not wait until the collector has
 * a processor and has read all rings. A command runs in one of two places:
 *
 *   GT_CONTROL_AT_ONCE   in that thread, so the command's data must be safe for two threads
 *   GT_CONTROL_IN_TURN   in the collector, which is woken for the command:
 *       READING --thread--> ASKED --collector--> ANSWERED --thread--> FREE
 *     The collector owns a connection while its state is ASKED; otherwise the thread owns it. To
 *     hand over a connection, the owner stores `state` (release); the new owner loads `state`
 *     (acquire).
 *
 * No client can block the thread or the collector. All descriptors are non-blocking. There is room
 * for a few connections, and further connections wait in the kernel for a free place. A connection
 * is closed if it has sent nothing for some seconds (for a shorter time while other connections
 * wait), or does not accept its answer. A command must return quickly. */
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
	/* "key=value" pairs, unescaped; NULL-terminated */
	char *arguments[64];
	pid_t pid; /* client's pid in this pid namespace; 0: not visible here */
	char error[1024];
};

/* A command: prints lines into @answer. Return: 0. With any other value, the output is discarded,
 * and the client receives request->error, a sentence (gt_control_refuse()). */
typedef int gt_control_fn(void *data, struct gt_control_request *request, FILE *answer);

enum gt_control_where { GT_CONTROL_AT_ONCE, GT_CONTROL_IN_TURN };

enum gt_control_state {
	GT_CONTROL_FREE,
	GT_CONTROL_READING,
	GT_CONTROL_ASKED,
	GT_CONTROL_ANSWERED, /* the answer is ready or being sent */
};

struct gt_control_client {
	int fd;
	_Atomic int state; /* enum gt_control_state */
	uint64_t since_ns;
	char request[GT_CONTROL_REQUEST_BYTES];
	size_t request_bytes;
	char *answer; /* NULL in state ANSWERED: out of memory */
	size_t answer_bytes, answer_sent;
};

struct gt_control_command {
	const char *name;
	gt_control_fn *run;
	void *data;
	enum gt_control_where where;
};

struct gt_control {
	int listener; /* -1: the socket does not exist */
	int epoll;    /* epoll descriptor of the thread */
	/* eventfd in the collector's epoll set; written when requests are waiting or were
	 * handled */
	int asked;
	/* eventfd in the thread's epoll set; written when answers are waiting or the thread must
	 * end */
	int answered;
	pthread_t thread;
	bool has_thread, is_full; /* is_full: true while the listener is not polled */
	_Atomic bool is_over;
	struct gt_control_command commands[GT_CONTROL_COMMANDS];
	size_t command_count;
	struct gt_control_client *clients; /* array of GT_CONTROL_CLIENTS elements */
};

/**
 * gt_control_open() - create the socket in the session folder; clients wait until
 * gt_control_begin()
 * @epoll: the collector's epoll descriptor; the loop passes events with a pointer of this module to
 *         gt_control_handle()
 * Return: 0, or negative errno with a cause. The session then continues without control.
 */
int gt_control_open(struct gt_control *c, const struct gt_folder *folder, int epoll);
/* Start the thread. Call after adding all commands and starting the program. If the thread cannot
 * start, the socket is closed. */
void gt_control_begin(struct gt_control *c);
/* Stop the thread. */
void gt_control_close(struct gt_control *c);

/* Add a command. Call before gt_control_begin(). @name must stay valid. */
void gt_control_add(struct gt_control *c, const char *name, enum gt_control_where where,
		    gt_control_fn *run, void *data);

/* Handle an epoll event in the collector. Return false if the event is not for this module. */
bool gt_control_handle(struct gt_control *c, const void *what);

/* Return an argument of a request, or NULL if the argument is missing. */
const char *gt_control_argument(const struct gt_control_request *request, const char *key);
/* Refuse a request. Return @status if it is negative, otherwise -EINVAL, so that a command can
 * return the result. */
int gt_control_refuse(struct gt_control_request *request, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print "key=value\n". Control characters, spaces and % in the value become %XX, so that the value
 * is one word. */
void gt_control_put(FILE *answer, const char *key, const char *value);
/* Print "key=value" without a newline, for rows of several pairs. @first: true for the first pair
 * of a row, which gets no leading space. */
void gt_control_put_word(FILE *answer, const char *key, const char *value, bool first);
/* Unescape @value in place. */
void gt_control_unescape(char *value);

#endif
