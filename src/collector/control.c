/* SPDX-License-Identifier: MIT */
/* See control.h. */
#include "collector/control.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "util/clock_ns.h"
#include "util/error.h"
#include "util/short_slice.h"

/* maximum age of a silent connection */
#define SILENT_NS UINT64_C(5000000000)
/* maximum age of a silent connection while other connections wait for a free place */
#define MOMENT_NS UINT64_C(200000000)

enum {
	WAITING_MOST = 1024, /* connections waiting in the kernel, which has its own limit too */
	STACK_BYTES = 256 << 10,
	FULL_MS = 20,
	IDLE_MS = 1000,
};

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

/* Bind through the folder's descriptor, because socket paths have a small maximum length. */
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

static int watch(int epoll, int fd, void *what, uint32_t events, int how)
{
	struct epoll_event e = {.events = events, .data.ptr = what};

	return epoll_ctl(epoll, how, fd, &e) ? -errno : 0;
}

static int open_descriptors(struct gt_control *c, const struct gt_folder *folder, int epoll)
{
	int status;

	c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->asked = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->listener < 0 || c->epoll < 0 || c->asked < 0 || c->answered < 0)
		return -errno;
	status = bind_in(folder->fd, c->listener);
	if (!status && listen(c->listener, WAITING_MOST))
		status = -errno;
	if (!status)
		status = watch(c->epoll, c->listener, c, EPOLLIN, EPOLL_CTL_ADD);
	if (!status)
		status = watch(c->epoll, c->answered, &c->answered, EPOLLIN, EPOLL_CTL_ADD);
	return status ? status : watch(epoll, c->asked, c, EPOLLIN, EPOLL_CTL_ADD);
}

static void close_descriptor(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int gt_control_open(struct gt_control *c, const struct gt_folder *folder, int epoll)
{
	int status;

	c->epoll = c->asked = c->answered = -1;
	c->clients = calloc(GT_CONTROL_CLIENTS, sizeof *c->clients);
	status = c->clients ? open_descriptors(c, folder, epoll) : -ENOMEM;
	if (!status)
		return 0;
	gt_control_close(c);
	return gt_error(status, "cannot create the session's control socket");
}

/* Close a connection. A child of gputap that looks up names may have a copy of the descriptor, so
 * that close() alone would neither remove the descriptor from the epoll set nor end the
 * connection. */
static void close_client(const struct gt_control *c, struct gt_control_client *client)
{
	epoll_ctl(c->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	shutdown(client->fd, SHUT_RDWR);
	close(client->fd);
	free(client->answer);
	client->answer = NULL;
	atomic_store_explicit(&client->state, GT_CONTROL_FREE, memory_order_relaxed);
}

static int state_of(const struct gt_control_client *client)
{
	return atomic_load_explicit(&client->state, memory_order_acquire);
}

static void ring(int eventfd)
{
	const uint64_t one = 1;

	while (write(eventfd, &one, sizeof one) < 0 && errno == EINTR)
		;
}

static void silence(int eventfd)
{
	uint64_t count;

	while (read(eventfd, &count, sizeof count) < 0 && errno == EINTR)
		;
}

void gt_control_close(struct gt_control *c)
{
	if (!c->clients)
		return;
	if (c->has_thread) {
		atomic_store_explicit(&c->is_over, true, memory_order_release);
		ring(c->answered);
		pthread_join(c->thread, NULL);
		c->has_thread = false;
	}
	for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++)
		if (state_of(&c->clients[i]) != GT_CONTROL_FREE)
			close_client(c, &c->clients[i]);
	free(c->clients);
	c->clients = NULL;
	close_descriptor(&c->listener);
	close_descriptor(&c->epoll);
	close_descriptor(&c->asked);
	close_descriptor(&c->answered);
}

void gt_control_add(struct gt_control *c, const char *name, enum gt_control_where where,
		    gt_control_fn *run, void *data)
{
	if (c->command_count < GT_CONTROL_COMMANDS)
		c->commands[c->command_count++] =
			(struct gt_control_command){name, run, data, where};
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

static const struct gt_control_command *find_command(const struct gt_control *c, const char *line)
{
	size_t n = strcspn(line, " ");

	for (size_t i = 0; i < c->command_count; i++)
		if (strlen(c->commands[i].name) == n && !strncmp(c->commands[i].name, line, n))
			return &c->commands[i];
	return NULL;
}

static int run_command(const struct gt_control_command *command, struct gt_control_request *request,
		       FILE *answer)
{
	if (command)
		return command->run(command->data, request, answer);
	return gt_control_refuse(
		request, -ENOSYS,
		"the session runs another version of gputap, which has no command '%.40s'",
		request->command);
}

/* Run the command and store its output in client->answer. NULL: out of memory. */
static void make_answer(const struct gt_control *c, struct gt_control_client *client)
{
	const struct gt_control_command *command = find_command(c, client->request);
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
	status = run_command(command, request, f);
	gt_error_clear();
	if (status) {
		rewind(f);
		fprintf(f, "error %s\n",
			request->error[0] ? request->error
					  : "the session cannot execute the command");
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
	while (client->answer && client->answer_sent < client->answer_bytes) {
		ssize_t n = send(client->fd, client->answer + client->answer_sent,
				 client->answer_bytes - client->answer_sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			int status = watch(c->epoll, client->fd, client, EPOLLOUT, EPOLL_CTL_ADD);

			if (status && status != -EEXIST)
				break;
			return;
		}
		if (n <= 0)
			break;
		client->answer_sent += (size_t)n;
	}
	close_client(c, client);
}

/* Handle a complete request. */
static void take_request(struct gt_control *c, struct gt_control_client *client)
{
	const struct gt_control_command *command = find_command(c, client->request);

	/* otherwise epoll would report the end of the connection repeatedly */
	epoll_ctl(c->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	if (command && command->where == GT_CONTROL_IN_TURN) {
		atomic_store_explicit(&client->state, GT_CONTROL_ASKED, memory_order_release);
	} else {
		make_answer(c, client);
		atomic_store_explicit(&client->state, GT_CONTROL_ANSWERED, memory_order_relaxed);
		send_answer(c, client);
	}
	/* wake the collector even for a command that has run already, because its next deadline may
	 * have changed */
	ring(c->asked);
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
	if (n <= 0) { /* the client has closed the connection, or sent more than fits */
		close_client(c, client);
		return;
	}
	client->request_bytes += (size_t)n;
	client->request[client->request_bytes] = '\0';
	end = strchr(client->request, '\n');
	if (!end)
		return;
	*end = '\0';
	take_request(c, client);
}

/* The thread ------------------------------------------------------------------------- */

/* Return true if the peer is gputap's user or root. */
static bool is_allowed(int fd)
{
	struct ucred who;
	socklen_t bytes = sizeof who;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) &&
	       (who.uid == geteuid() || who.uid == 0);
}

/* Return a free place. If no place is free, close the connection that has been silent for the
 * longest time, if that time is long enough, and return its place. NULL: the new connection must
 * wait. */
static struct gt_control_client *find_place(struct gt_control *c)
{
	struct gt_control_client *oldest = NULL;

	for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++) {
		struct gt_control_client *client = &c->clients[i];
		int state = state_of(client);

		if (state == GT_CONTROL_FREE)
			return client;
		if (state == GT_CONTROL_READING && (!oldest || client->since_ns < oldest->since_ns))
			oldest = client;
	}
	if (!oldest || gt_clock_ns(CLOCK_MONOTONIC) - oldest->since_ns < MOMENT_NS)
		return NULL;
	close_client(c, oldest);
	return oldest;
}

static void set_full(struct gt_control *c, bool is_full)
{
	if (c->is_full != is_full &&
	    !watch(c->epoll, c->listener, c, is_full ? 0 : EPOLLIN, EPOLL_CTL_MOD))
		c->is_full = is_full;
}

static void accept_clients(struct gt_control *c)
{
	/* bounded, so that a process that opens connections constantly cannot block the thread */
	for (int i = 0; i < GT_CONTROL_CLIENTS; i++) {
		struct gt_control_client *client = find_place(c);
		int fd;

		set_full(c, !client);
		if (!client)
			return;
		fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		if (!is_allowed(fd)) {
			close(fd);
			continue;
		}
		client->fd = fd;
		client->request_bytes = client->answer_bytes = client->answer_sent = 0;
		client->since_ns = gt_clock_ns(CLOCK_MONOTONIC);
		atomic_store_explicit(&client->state, GT_CONTROL_READING, memory_order_relaxed);
		if (watch(c->epoll, fd, client, EPOLLIN, EPOLL_CTL_ADD))
			close_client(c, client);
		else
			read_request(c, client); /* usually the request has arrived already */
	}
}

/* Send the answers that the collector has produced. Close connections that neither send nor accept
 * data. */
static void look_at_clients(struct gt_control *c)
{
	uint64_t now_ns = gt_clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++) {
		struct gt_control_client *client = &c->clients[i];
		int state = state_of(client);

		if (state == GT_CONTROL_ANSWERED && !client->answer_sent)
			send_answer(c, client);
		state = state_of(client);
		if ((state == GT_CONTROL_READING || state == GT_CONTROL_ANSWERED) &&
		    now_ns - client->since_ns > SILENT_NS)
			close_client(c, client);
	}
}

static void handle_event(struct gt_control *c, void *what)
{
	struct gt_control_client *client = what;

	if (what == c)
		accept_clients(c);
	else if (what == &c->answered)
		silence(c->answered);
	else if (state_of(client) == GT_CONTROL_READING)
		read_request(c, client);
	else if (state_of(client) == GT_CONTROL_ANSWERED)
		send_answer(c, client);
	/* otherwise an earlier event has closed the connection */
}

static void *run_thread(void *data)
{
	struct gt_control *c = data;
	struct epoll_event events[GT_CONTROL_CLIENTS];

	gt_short_slice_take();
	while (!atomic_load_explicit(&c->is_over, memory_order_acquire)) {
		int n = epoll_wait(c->epoll, events, GT_CONTROL_CLIENTS,
				   c->is_full ? FULL_MS : IDLE_MS);

		for (int i = 0; i < n; i++)
			handle_event(c, events[i].data.ptr);
		look_at_clients(c);
		if (c->is_full)
			accept_clients(c);
	}
	return NULL;
}

void gt_control_begin(struct gt_control *c)
{
	pthread_attr_t attributes;

	if (!c->clients)
		return;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	c->has_thread = !pthread_create(&c->thread, &attributes, run_thread, c);
	pthread_attr_destroy(&attributes);
	if (!c->has_thread)
		gt_control_close(c);
}

/* The collector --------------------------------------------------------------------- */

bool gt_control_handle(struct gt_control *c, const void *what)
{
	bool is_any = false;

	if (what != c)
		return false;
	silence(c->asked);
	for (size_t i = 0; i < GT_CONTROL_CLIENTS; i++) {
		struct gt_control_client *client = &c->clients[i];

		if (state_of(client) != GT_CONTROL_ASKED)
			continue;
		make_answer(c, client);
		client->since_ns = gt_clock_ns(CLOCK_MONOTONIC);
		atomic_store_explicit(&client->state, GT_CONTROL_ANSWERED, memory_order_release);
		is_any = true;
	}
	if (is_any)
		ring(c->answered);
	return true;
}
