/* SPDX-License-Identifier: MIT */
/* See control.h. */
#include "collector/control.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "util/clock_ns.h"
#include "util/error.h"

#define SILENT_NS UINT64_C(5000000000) /* a connection may be so old */

/* Words -------------------------------------------------------------------------- */

void gt_control_put_word(FILE *answer, const char *key, const char *value, bool first)
{
	fprintf(answer, "%s%s=", first ? "" : " ", key);
	for (const unsigned char *p = (const unsigned char *)value; *p; p++)
		if (*p <= ' ' || *p == '%' || *p == 127)
			fprintf(answer, "%%%02X", *p);
		else
			putc(*p, answer);
}

void gt_control_put(FILE *answer, const char *key, const char *value)
{
	gt_control_put_word(answer, key, value, true);
	putc('\n', answer);
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
					    : -1;
}

void gt_control_unescape(char *value)
{
	char *to = value;

	for (; *value; value++)
		if (*value == '%' && hex_digit(value[1]) >= 0 && hex_digit(value[2]) >= 0) {
			*to++ = (char)(hex_digit(value[1]) << 4 | hex_digit(value[2]));
			value += 2;
		} else {
			*to++ = *value;
		}
	*to = '\0';
}

const char *gt_control_argument(const struct gt_control_request *request, const char *key)
{
	size_t n = strlen(key);

	for (char *const *a = request->arguments; *a; a++)
		if (!strncmp(*a, key, n) && (*a)[n] == '=')
			return *a + n + 1;
	return NULL;
}

int gt_control_refuse(struct gt_control_request *request, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(request->error, sizeof request->error, format, args);
	va_end(args);
	return status < 0 ? status : -EINVAL;
}

/* The socket ---------------------------------------------------------------------- */

/* Through the folder's descriptor, as paths of sockets are short. */
static int bind_in(int folder, int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	mode_t before = umask(0177);
	int status;

	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" GT_CONTROL_FILE,
		 folder);
	status = bind(fd, (const struct sockaddr *)&address, sizeof address) ? -errno : 0;
	umask(before);
	return status;
}

static int watch(const struct gt_control *c, int fd, void *what, uint32_t events, int how)
{
	struct epoll_event e = {.events = events, .data.ptr = what};

	return epoll_ctl(c->epoll, how, fd, &e);
}

int gt_control_open(struct gt_control *c, const struct gt_folder *folder, int epoll)
{
	int status = 0;

	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->listener < 0)
		return gt_error(-errno, "cannot make the session's control socket");
	c->epoll = epoll;
	c->clients = calloc(GT_CONTROL_CLIENTS, sizeof *c->clients);
	for (size_t i = 0; c->clients && i < GT_CONTROL_CLIENTS; i++)
		c->clients[i].fd = -1;
	if (!c->clients)
		status = -ENOMEM;
	if (!status)
		status = bind_in(folder->fd, c->listener);
	if (!status && (listen(c->listener, GT_CONTROL_CLIENTS) ||
			watch(c, c->listener, c, EPOLLIN, EPOLL_CTL_ADD)))
		status = -errno;
	if (!status)
		return 0;
	gt_control_close(c);
	return gt_error(status, "cannot make the session's control socket");
}

static void close_client(struct gt_control_client *client)
{
	close(client->fd); /* leaves the epoll set with it */
	free(client->answer);
	client->fd = -1;
	client->answer = NULL;
}

void gt_control_close(struct gt_control *c)
{
	for (size_t i = 0; c->clients && i < GT_CONTROL_CLIENTS; i++)
		if (c->clients[i].fd >= 0)
			close_client(&c->clients[i]);
	free(c->clients);
	c->clients = NULL;
	if (c->listener >= 0)
		close(c->listener);
	c->listener = -1;
}

void gt_control_add(struct gt_control *c, const char *name, gt_control_fn *run, void *data)
{
	if (c->command_count == GT_CONTROL_COMMANDS)
		return;
	c->commands[c->command_count].name = name;
	c->commands[c->command_count].run = run;
	c->commands[c->command_count++].data = data;
}

/* A request -------------------------------------------------------------------------- */

static void split(struct gt_control_request *request, char *line)
{
	const size_t most = sizeof request->arguments / sizeof *request->arguments - 1;
	size_t n = 0;
	char *save = NULL, *word = strtok_r(line, " ", &save);

	request->command = word ? word : "";
	while (word && n < most && (word = strtok_r(NULL, " ", &save))) {
		gt_control_unescape(word);
		request->arguments[n++] = word;
	}
	request->arguments[n] = NULL;
}

static int run_command(struct gt_control *c, struct gt_control_request *request, FILE *answer)
{
	for (size_t i = 0; i < c->command_count; i++)
		if (!strcmp(c->commands[i].name, request->command))
			return c->commands[i].run(c->commands[i].data, request, answer);
	return gt_control_refuse(request, -ENOSYS,
				 "this session's gputap knows no command '%.40s': it is of another "
				 "version",
				 request->command);
}

/* Into client->answer; NULL: no memory. */
static void make_answer(struct gt_control *c, struct gt_control_client *client)
{
	struct gt_control_request *request = calloc(1, sizeof *request);
	struct ucred who = {0};
	socklen_t bytes = sizeof who;
	FILE *f = open_memstream(&client->answer, &client->answer_bytes);
	int status;

	if (!f || !request)
		goto out;
	if (!getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes))
		request->pid = who.pid;
	split(request, client->request);
	fputs("ok\n", f);
	status = run_command(c, request, f);
	gt_error_clear();
	if (status) {
		rewind(f);
		fprintf(f, "error %s\n",
			request->error[0] ? request->error : "the session cannot do that");
	}
out:
	if (f && fclose(f)) {
		free(client->answer);
		client->answer = NULL;
	}
	free(request);
	if (client->answer && client->answer_bytes > GT_CONTROL_ANSWER_MOST)
		client->answer_bytes = GT_CONTROL_ANSWER_MOST;
}

static void send_answer(struct gt_control *c, struct gt_control_client *client)
{
	while (client->answer_sent < client->answer_bytes) {
		ssize_t n = send(client->fd, client->answer + client->answer_sent,
				 client->answer_bytes - client->answer_sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			if (watch(c, client->fd, client, EPOLLOUT, EPOLL_CTL_MOD))
				break;
			return;
		}
		if (n <= 0)
			break;
		client->answer_sent += (size_t)n;
	}
	close_client(client);
}

static void read_request(struct gt_control *c, struct gt_control_client *client)
{
	char *end;
	ssize_t n;

	do
		n = recv(client->fd, client->request + client->request_bytes,
			 sizeof client->request - 1 - client->request_bytes, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (n <= 0) { /* it has gone, or says more than there is room for */
		close_client(client);
		return;
	}
	client->request_bytes += (size_t)n;
	client->request[client->request_bytes] = '\0';
	end = strchr(client->request, '\n');
	if (!end)
		return;
	*end = '\0';
	make_answer(c, client);
	send_answer(c, client);
}

/* Ours alone, and root's. */
static bool is_allowed(int fd)
{
	struct ucred who;
	socklen_t bytes = sizeof who;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) &&
	       (who.uid == geteuid() || who.uid == 0);
}

/* A free place, or the one that has been silent for the longest time. */
static struct gt_control_client *find_place(struct gt_control *c)
{
	struct gt_control_client *oldest = &c->clients[0];

	for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++) {
		if (c->clients[i].fd < 0)
			return &c->clients[i];
		if (c->clients[i].since_ns < oldest->since_ns)
			oldest = &c->clients[i];
	}
	close_client(oldest);
	return oldest;
}

static void accept_clients(struct gt_control *c)
{
	/* a bounded number, so that whoever connects all the time holds nothing up */
	for (int i = 0; i < GT_CONTROL_CLIENTS; i++) {
		int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct gt_control_client *client;

		if (fd < 0)
			return;
		if (!is_allowed(fd)) {
			close(fd);
			continue;
		}
		client = find_place(c);
		client->fd = fd;
		client->request_bytes = client->answer_bytes = client->answer_sent = 0;
		client->since_ns = gt_clock_ns(CLOCK_MONOTONIC);
		if (watch(c, fd, client, EPOLLIN, EPOLL_CTL_ADD))
			close_client(client);
	}
}

bool gt_control_handle(struct gt_control *c, const void *what)
{
	struct gt_control_client *client;

	if (c->listener < 0)
		return false;
	if (what == c) {
		accept_clients(c);
		return true;
	}
	if ((const char *)what < (const char *)c->clients ||
	    (const char *)what >= (const char *)(c->clients + GT_CONTROL_CLIENTS))
		return false;
	client = &c->clients[(const struct gt_control_client *)what - c->clients];
	if (client->fd < 0)
		return true; /* it was closed by an event before this one */
	if (client->answer)
		send_answer(c, client);
	else
		read_request(c, client);
	return true;
}

void gt_control_expire(struct gt_control *c, uint64_t now_ns)
{
	for (size_t i = 0; c->listener >= 0 && i < GT_CONTROL_CLIENTS; i++)
		if (c->clients[i].fd >= 0 && now_ns - c->clients[i].since_ns > SILENT_NS)
			close_client(&c->clients[i]);
}
