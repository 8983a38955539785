/* SPDX-License-Identifier: MIT */
/* See session_find.h. */
#include "cli/session_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/ui.h"
#include "collector/control.h"
#include "collector/folder.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/file_name.h"
#include "util/grow.h"

enum {
	ANSWER_PART = 4096, /* size of the buffer for the next part of an answer */
	ANSWER_SECONDS = 5,
	OTHERS_SECONDS = 1,   /* time limit for querying other users' sessions, as root */
	EXCHANGES_MOST = 256, /* largest number of parallel exchanges */
	AGAIN_MS = 20,        /* time until the next attempt to connect to a busy session */
};

/* Answers ------------------------------------------------------------------------- */

void session_answer_fini(struct session_answer *answer)
{
	for (size_t i = 0; i < answer->count; i++)
		free(answer->values[i]);
	free(answer->values);
	free(answer->lines);
	free(answer->text);
	*answer = (struct session_answer){0};
}

/* Copy the value of a line that consists of a single "key=value" pair. */
static char *copy_value(const char *line)
{
	const char *equals = strchr(line, '=');
	char *value = equals && !strchr(line, ' ') ? strdup(equals + 1) : NULL;

	if (value)
		gt_control_unescape(value);
	return value;
}

/* Parse an answer. @text: owned by the answer afterwards. */
static int parse_answer(char *text, struct session_answer *out)
{
	size_t count = 0;
	char *save = NULL;

	*out = (struct session_answer){.text = text};
	for (const char *p = text; *p; p++)
		count += *p == '\n';
	out->lines = calloc(count + 1, sizeof *out->lines);
	out->values = calloc(count + 1, sizeof *out->values);
	if (!out->lines || !out->values)
		return gt_error(-ENOMEM, "out of memory for a session's answer");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		out->lines[out->count] = line;
		out->values[out->count++] = copy_value(line);
	}
	return 0;
}

const char *session_value(const struct session_answer *answer, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < answer->count; i++)
		if (answer->values[i] && !strncmp(answer->lines[i], key, n) &&
		    answer->lines[i][n] == '=')
			return answer->values[i];
	return "";
}

uint64_t session_number(const struct session_answer *answer, const char *key)
{
	return strtoull(session_value(answer, key), NULL, 10);
}

char *session_escape(const char *value)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&text, &bytes);

	if (!f)
		return NULL;
	gt_control_put_word(f, "", value, true);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	memmove(text, text + 1, bytes); /* drop the '=' */
	return text;
}

/* Requests --------------------------------------------------------------------------- */

/* One request and its answer. Several exchanges run in parallel, so that the time-outs of silent
 * sessions do not add up. */
struct exchange {
	const char *folder, *line; /* line: request with its newline */
	size_t sent;
	int fd; /* -1: closed */
	bool is_connected, is_done;
	int error;        /* errno; 0: the answer is complete; ETIMEDOUT: no answer in time */
	const char *what; /* step that failed */
	char *text;       /* answer; the owner frees it */
	size_t bytes, room;
};

static void end_exchange(struct exchange *e, int error, const char *what)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
	e->is_done = true;
	e->error = error;
	e->what = what;
}

/* Connect through the folder's descriptor, because the length of socket paths is limited. If the
 * session's backlog is full, leave the exchange unconnected. The caller tries again in its next
 * round. */
static void connect_exchange(struct exchange *e)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int dir = open(e->folder, O_PATH | O_DIRECTORY | O_CLOEXEC), error;

	if (dir < 0) {
		end_exchange(e, errno, e->folder);
		return;
	}
	if (e->fd < 0)
		e->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (e->fd < 0) {
		end_exchange(e, errno, "cannot create a socket");
		close(dir);
		return;
	}
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" GT_CONTROL_FILE,
		 dir);
	error = connect(e->fd, (const struct sockaddr *)&address, sizeof address) ? errno : 0;
	close(dir);
	e->is_connected = !error;
	if (error && error != EAGAIN && error != EINTR)
		end_exchange(e, error, e->folder);
}

static void send_request(struct exchange *e)
{
	const size_t bytes = strlen(e->line);
	ssize_t n = send(e->fd, e->line + e->sent, bytes - e->sent, MSG_NOSIGNAL);

	if (n > 0)
		e->sent += (size_t)n;
	else if (n < 0 && errno != EINTR && errno != EAGAIN)
		end_exchange(e, errno, "cannot send a request to the session");
}

/* Read part of the answer. Its size is limited, because root queries the sessions of all users, and
 * a session may send endlessly. */
static void read_answer(struct exchange *e)
{
	char *more = gt_grow_to(e->text, e->bytes + ANSWER_PART, &e->room, 1);
	ssize_t n;

	if (!more) {
		end_exchange(e, ENOMEM, "out of memory for a session's answer");
		return;
	}
	e->text = more;
	n = recv(e->fd, e->text + e->bytes, e->room - e->bytes - 1, 0);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		end_exchange(e, errno, "cannot read the session's answer");
	if (n < 0)
		return;
	e->bytes += (size_t)n;
	e->text[e->bytes] = '\0';
	if (n == 0)
		end_exchange(e, 0, NULL);
	else if (e->bytes > GT_CONTROL_ANSWER_MOST)
		end_exchange(e, ETIMEDOUT, NULL);
}

static void advance_exchange(struct exchange *e)
{
	if (!e->is_connected)
		connect_exchange(e);
	if (e->is_connected && !e->is_done && e->line[e->sent])
		send_request(e);
	else if (e->is_connected && !e->is_done)
		read_answer(e);
}

/* Wait for events of any exchange. */
static void wait_for_any(const struct exchange *all, size_t count, struct pollfd *fds, int most_ms)
{
	for (size_t i = 0; i < count; i++) {
		const struct exchange *e = &all[i];

		fds[i] = (struct pollfd){.fd = e->is_done ? -1 : e->fd,
					 .events = e->line[e->sent] ? POLLOUT : POLLIN};
		if (!e->is_done && !e->is_connected) {
			fds[i].fd = -1;
			most_ms = most_ms < AGAIN_MS ? most_ms : AGAIN_MS;
		}
	}
	poll(fds, count, most_ms);
}

static bool are_done(const struct exchange *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!all[i].is_done)
			return false;
	return true;
}

static uint64_t get_deadline(unsigned seconds)
{
	return gt_clock_ns(CLOCK_MONOTONIC) + seconds * UINT64_C(1000000000);
}

/* Run all exchanges in parallel, until the deadline. There may be at most EXCHANGES_MOST. */
static void exchange_all(struct exchange *all, size_t count, uint64_t deadline_ns)
{
	struct pollfd fds[EXCHANGES_MOST];

	for (size_t i = 0; i < count; i++)
		all[i].fd = -1;
	for (size_t i = 0; i < count; i++)
		advance_exchange(&all[i]);
	while (!are_done(all, count)) {
		uint64_t now_ns = gt_clock_ns(CLOCK_MONOTONIC);

		if (now_ns >= deadline_ns)
			break;
		wait_for_any(all, count, fds, (int)((deadline_ns - now_ns) / 1000000) + 1);
		for (size_t i = 0; i < count; i++)
			if (!all[i].is_done && (fds[i].revents || !all[i].is_connected))
				advance_exchange(&all[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (!all[i].is_done)
			end_exchange(&all[i], ETIMEDOUT, NULL);
}

/* Report a failed exchange. The session may have ended after it was found. */
static int fail_exchange(const struct exchange *e)
{
	switch (e->error) {
	case ETIMEDOUT:
		return gt_error(-ETIMEDOUT, "the session has not answered for %d seconds",
				ANSWER_SECONDS);
	case ENOENT:
	case EPIPE:
	case ECONNREFUSED:
	case ECONNRESET: return gt_error(-e->error, "the session has ended");
	default: return gt_error(-e->error, "%s", e->what);
	}
}

/* Move the exchange's text into the answer. */
static int take_answer(struct exchange *e, struct session_answer *out)
{
	char *text = e->text;
	int status;

	*out = (struct session_answer){0};
	e->text = NULL;
	if (!e->error && text && !strncmp(text, "ok\n", 3)) {
		memmove(text, text + 3, strlen(text + 3) + 1);
		status = parse_answer(text, out);
		if (status)
			session_answer_fini(out);
		return status;
	}
	if (!e->error && text && !strncmp(text, "error ", 6)) {
		text[strcspn(text, "\n")] = '\0';
		status = gt_error(-EINVAL, "%s", text + 6);
	} else {
		e->error = e->error ? e->error : ECONNRESET;
		status = fail_exchange(e);
	}
	free(text);
	return status;
}

int session_ask(const char *folder, const char *request, struct session_answer *out)
{
	char line[GT_CONTROL_REQUEST_BYTES];
	struct exchange e = {.folder = folder, .line = line};

	*out = (struct session_answer){0};
	if (snprintf(line, sizeof line, "%s\n", request) >= (int)sizeof line)
		return gt_error(-E2BIG, "the request is too long");
	exchange_all(&e, 1, get_deadline(ANSWER_SECONDS));
	return take_answer(&e, out);
}

void session_list_ask(const struct session_list *list, const struct session_found *only,
		      const char *request, struct session_answer *answers)
{
	const uint64_t deadline_ns = get_deadline(ANSWER_SECONDS);
	char line[GT_CONTROL_REQUEST_BYTES];
	size_t n;

	memset(answers, 0, list->count * sizeof *answers);
	if (snprintf(line, sizeof line, "%s\n", request) >= (int)sizeof line)
		return;
	for (size_t at = 0; at < list->count; at += n) {
		struct exchange all[EXCHANGES_MOST];
		size_t asked[EXCHANGES_MOST], count = 0;

		n = list->count - at < EXCHANGES_MOST ? list->count - at : EXCHANGES_MOST;
		for (size_t i = at; i < at + n; i++) {
			if (only && only != &list->sessions[i])
				continue;
			asked[count] = i;
			all[count++] =
				(struct exchange){.folder = list->sessions[i].folder, .line = line};
		}
		exchange_all(all, count, deadline_ns);
		for (size_t i = 0; i < count; i++)
			if (take_answer(&all[i], &answers[asked[i]]))
				gt_error_clear();
	}
}

int session_ask_state(const char *folder, struct session_answer *out)
{
	int status = session_ask(folder, "session", out);

	if (status != -EINVAL)
		return status;
	gt_error_clear();
	return session_ask(folder, "status", out);
}

/* Finding --------------------------------------------------------------------------- */

struct folders {
	char **paths;
	size_t count, room, own; /* own: number of this user's folders, which come first */
};

static void take_folder(const char *path, void *data)
{
	struct folders *f = data;
	struct stat st;
	char *copy;
	void *more;

	/* any user can create such a name in /tmp */
	if (lstat(path, &st) || !S_ISDIR(st.st_mode) || (st.st_uid != geteuid() && geteuid()))
		return;
	more = gt_grow(f->paths, f->count, &f->room, sizeof *f->paths);
	copy = more ? strdup(path) : NULL;
	if (more)
		f->paths = more;
	if (!copy)
		return;
	f->paths[f->count++] = copy;
	if (st.st_uid == geteuid()) {
		f->paths[f->count - 1] = f->paths[f->own];
		f->paths[f->own++] = copy;
	}
}

static void add_session(struct session_list *list, const char *folder,
			struct session_answer *answer)
{
	struct session_found *more =
		gt_grow(list->sessions, list->count, &list->room, sizeof *list->sessions);

	if (more) {
		list->sessions = more;
		list->sessions[list->count] = (struct session_found){strdup(folder), *answer};
		if (list->sessions[list->count].folder) {
			list->count++;
			return;
		}
	}
	session_answer_fini(answer);
}

/* Query the sessions in the folders. @line: the request. @older: receives the folders of sessions
 * whose gputap does not know the request; NULL: not needed. Return the number of folders in
 * @older. */
static size_t ask_folders(struct session_list *list, char *const *paths, size_t count,
			  const char *line, uint64_t deadline_ns, char **older)
{
	struct exchange all[EXCHANGES_MOST];
	size_t older_count = 0;

	for (size_t i = 0; i < count; i++)
		all[i] = (struct exchange){.folder = paths[i], .line = line};
	exchange_all(all, count, deadline_ns);
	for (size_t i = 0; i < count; i++) {
		struct session_answer answer;
		int status = take_answer(&all[i], &answer);

		gt_error_clear();
		if (!status)
			add_session(list, paths[i], &answer);
		else if (status == -EINVAL && older)
			older[older_count++] = paths[i];
		list->silent += status == -ETIMEDOUT;
	}
	return older_count;
}

static void ask_all(struct session_list *list, char *const *paths, size_t count, unsigned seconds)
{
	const uint64_t deadline_ns = get_deadline(seconds);
	char *older[EXCHANGES_MOST];

	for (size_t at = 0, n; at < count; at += n) {
		size_t older_count;

		n = count - at < EXCHANGES_MOST ? count - at : EXCHANGES_MOST;
		if (list->counts) {
			ask_folders(list, paths + at, n, "status\n", deadline_ns, NULL);
			continue;
		}
		older_count = ask_folders(list, paths + at, n, "session\n", deadline_ns, older);
		ask_folders(list, older, older_count, "status\n", deadline_ns, NULL);
	}
}

/* Query all sessions. Root also queries other users' sessions, which may be silent on purpose. */
static void ask_all_folders(struct session_list *list, const struct folders *f)
{
	ask_all(list, f->paths, f->own, ANSWER_SECONDS);
	list->silent_own = list->silent;
	ask_all(list, f->paths + f->own, f->count - f->own, OTHERS_SECONDS);
}

static int by_begin(const void *a, const void *b)
{
	const struct session_found *x = a, *y = b;
	uint64_t m = session_number(&x->status, "since_ns"),
		 n = session_number(&y->status, "since_ns");

	return (m > n) - (m < n);
}

/* Count the folders of other users, "gputap-<user>-..". */
static size_t count_others(const char *place)
{
	DIR *dir = opendir(place);
	struct dirent *e;
	size_t count = 0;

	while (dir && (e = readdir(dir))) {
		unsigned user;
		int n = 0;

		if (sscanf(e->d_name, GT_FOLDER_PREFIX "%u-%n", &user, &n) == 1 && n &&
		    user != (unsigned)geteuid())
			count++;
	}
	if (dir)
		closedir(dir);
	return count;
}

int session_list_read(struct session_list *list, bool counts)
{
	struct folders f = {0};

	*list = (struct session_list){.counts = counts};
	gt_folder_find(take_folder, &f);
	ask_all_folders(list, &f);
	while (f.count)
		free(f.paths[--f.count]);
	free(f.paths);
	if (list->count)
		qsort(list->sessions, list->count, sizeof *list->sessions, by_begin);
	if (geteuid())
		list->others = count_others("/dev/shm") + count_others("/tmp");
	return 0;
}

void session_list_fini(struct session_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->sessions[i].folder);
		session_answer_fini(&list->sessions[i].status);
	}
	free(list->sessions);
	*list = (struct session_list){0};
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* Return true if a list such as "12,345,6789" contains @pid. */
static bool has_pid(const char *pids, unsigned long pid)
{
	char *end;

	for (; *pids; pids = *end ? end + 1 : end)
		if (strtoul(pids, &end, 10) == pid)
			return true;
	return false;
}

static bool is_process_of(const struct session_found *s, unsigned long pid)
{
	return session_number(&s->status, "collector") == pid ||
	       session_number(&s->status, "pid") == pid ||
	       has_pid(session_value(&s->status, "pids"), pid);
}

/* Return true if @which is a capture's path, name, or name without extension. */
static bool is_capture_of(const char *path, const char *which)
{
	const char *name = gt_file_name(path), *dot = strrchr(name, '.');
	char whole[PATH_MAX];

	if (!*path)
		return false;
	if (!strcmp(path, which) || !strcmp(name, which) ||
	    (dot && strlen(which) == (size_t)(dot - name) &&
	     !strncmp(name, which, (size_t)(dot - name))))
		return true;
	return realpath(which, whole) && !strcmp(whole, path);
}

static bool is_meant(const struct session_found *s, const char *which)
{
	char folder[PATH_MAX];

	if (is_number(which) && is_process_of(s, strtoul(which, NULL, 10)))
		return true;
	return !strcmp(s->folder, which) ||
	       (strchr(which, '/') && realpath(which, folder) && !strcmp(folder, s->folder)) ||
	       is_capture_of(session_value(&s->status, "capture"), which) ||
	       is_capture_of(session_value(&s->status, "output"), which);
}

/* Return the part of @path after the current folder, if @path is in that folder. */
static const char *path_from_here(const char *path)
{
	char here[PATH_MAX];
	size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;

	return n && !strncmp(path, here, n) && path[n] == '/' ? path + n + 1 : path;
}

const char *session_name(const struct session_list *list, const struct session_found *s)
{
	const char *name = gt_file_name(session_value(&s->status, "output"));

	for (size_t i = 0; i < list->count; i++)
		if (&list->sessions[i] != s &&
		    !strcmp(gt_file_name(session_value(&list->sessions[i].status, "output")), name))
			return path_from_here(session_value(&s->status, "capture"));
	return name;
}

/* List the running sessions on stderr. */
static void list_running(const struct session_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct session_answer *a = &list->sessions[i].status;

		fprintf(stderr, "  %s  ", session_value(a, "collector"));
		ui_put_end(stderr, session_name(list, &list->sessions[i]), 40);
		fputs("  ", stderr);
		ui_put(stderr, session_value(a, "command"), 26);
		fputc('\n', stderr);
	}
}

static int none_runs(const struct session_list *list)
{
	if (list->silent_own)
		return ui_fail(GT_EXIT_FAILURE,
			       "%zu session%s of yours did not answer: is `gputap run` stopped?",
			       list->silent_own, list->silent_own == 1 ? "" : "s");
	if (list->silent)
		return ui_fail(GT_EXIT_FAILURE,
			       "you have no running session; %zu session%s of other users did not "
			       "answer",
			       list->silent, list->silent == 1 ? "" : "s");
	if (list->others)
		return ui_fail(GT_EXIT_FAILURE, "you have no running session; run as root to "
						"control those of other users");
	return ui_fail(GT_EXIT_FAILURE, "no session is running; 'gputap run PROGRAM' starts one");
}

static int unknown_process(const struct session_list *list, const char *which)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%.20s", which);
	if (stat(path, &st))
		return ui_fail(GT_EXIT_FAILURE, "process %s does not exist", which);
	if (st.st_uid != geteuid() && geteuid())
		return ui_fail(GT_EXIT_FAILURE,
			       "process %s belongs to user %u; run as that user or root", which,
			       (unsigned)st.st_uid);
	ui_fail(GT_EXIT_FAILURE, "process %s is in no running session%s", which,
		list->count ? "; running:" : "");
	list_running(list);
	return GT_EXIT_FAILURE;
}

/* Report that a session was not found. If @which is an existing file, the file may be a capture of
 * an ended session, or a snapshot, part or copy, whose session may still be running. */
static int unknown_session(const struct session_list *list, const char *which)
{
	struct stat st;
	bool is_file;

	if (is_number(which))
		return unknown_process(list, which);
	is_file = stat(which, &st) == 0 && S_ISREG(st.st_mode);
	if (is_file && st.st_uid != geteuid() && geteuid())
		return ui_fail(GT_EXIT_FAILURE, "%s belongs to user %u; run as that user or root",
			       show_shell_word(which), (unsigned)st.st_uid);
	ui_fail(GT_EXIT_FAILURE, "no running session %s %s%s", is_file ? "writes" : "is called",
		show_shell_word(which), list->count ? "; running:" : "");
	list_running(list);
	return GT_EXIT_FAILURE;
}

/* Return the session that writes this capture file, even if other captures have the same name. */
static const struct session_found *find_writer(const struct session_list *list, const char *which)
{
	char whole[PATH_MAX];

	if (!which || !realpath(which, whole))
		return NULL;
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(session_value(&list->sessions[i].status, "capture"), whole))
			return &list->sessions[i];
	return NULL;
}

size_t session_match(const struct session_list *list, const char *which,
		     const struct session_found **out)
{
	size_t found = 0;

	*out = find_writer(list, which);
	if (*out)
		return 1;
	for (size_t i = 0; i < list->count; i++)
		if (!which || is_meant(&list->sessions[i], which)) {
			*out = &list->sessions[i];
			found++;
		}
	return found;
}

int session_find(struct session_list *list, const char *which, const struct session_found **out)
{
	size_t found = session_match(list, which, out);

	if (!which && !list->count)
		return none_runs(list);
	if (found == 1)
		return GT_EXIT_OK;
	if (!found)
		return unknown_session(list, which);
	ui_fail(GT_EXIT_FAILURE, "%zu sessions %s; name one by its process or its capture:", found,
		which ? "have this name" : "are running");
	list_running(list);
	return GT_EXIT_FAILURE;
}
