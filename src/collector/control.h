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
 * Nobody can hold the collector up: all descriptors are non-blocking; there is room for a few
 * connections, and one that has said nothing for some seconds, or does not take its answer, goes. A
 * command runs in the collector's thread and must be short. */
#ifndef GPUTAP_COLLECTOR_CONTROL_H
#define GPUTAP_COLLECTOR_CONTROL_H

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

struct gt_control_client {
	int fd; /* -1: free */
	uint64_t since_ns;
	char request[GT_CONTROL_REQUEST_BYTES];
	size_t request_bytes;
	char *answer; /* NULL: the request is not whole yet */
	size_t answer_bytes, answer_sent;
};

struct gt_control {
	int listener, epoll; /* -1: there is no socket */
	struct {
		const char *name;
		gt_control_fn *run;
		void *data;
	} commands[GT_CONTROL_COMMANDS];
	size_t command_count;
	struct gt_control_client *clients; /* GT_CONTROL_CLIENTS of them */
};

/**
 * gt_control_open() - make the socket in the session folder
 * @epoll: of the collector's loop; what it reports with a pointer of ours is for
 *         gt_control_handle()
 * Return: 0; negative errno with a cause: the session goes on without control.
 */
int gt_control_open(struct gt_control *c, const struct gt_folder *folder, int epoll);
void gt_control_close(struct gt_control *c);

/* @name stays. */
void gt_control_add(struct gt_control *c, const char *name, gt_control_fn *run, void *data);

/* Is this epoll event one of ours? Then it is dealt with. */
bool gt_control_handle(struct gt_control *c, const void *what);
/* Now and then: connections that say nothing go. */
void gt_control_expire(struct gt_control *c, uint64_t now_ns);

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
