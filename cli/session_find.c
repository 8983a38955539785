/* SPDX-License-Identifier: MIT */
/* See session_find.h. */
#include "cli/session_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
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

enum { ANSWER_SECONDS = 5 };

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

/* Of a line that is one pair. */
static char *copy_value(const char *line)
{
	const char *equals = strchr(line, '=');
	char *value = equals && !strchr(line, ' ') ? strdup(equals + 1) : NULL;

	if (value)
		gt_control_unescape(value);
	return value;
}

/* @text: becomes the answer's. */
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
		return gt_error(-ENOMEM, "no memory for a session's answer");
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
	memmove(text, text + 1, bytes); /* without the '=' */
	return text;
}

/* Asking ----------------------------------------------------------------------------- */

static int silent(void)
{
	return gt_error(-ETIMEDOUT, "the session has not answered for %d seconds", ANSWER_SECONDS);
}

/* What did not go: @what; or the session has ended since it was found. */
static int broken(int error, const char *what)
{
	switch (error) {
	case ENOENT:
	case EPIPE:
	case ECONNREFUSED:
	case ECONNRESET: return gt_error(-error, "the session has ended meanwhile");
	default: return gt_error(-error, "%s", what);
	}
}

/* Through the folder's descriptor: paths of sockets are short. */
static int connect_to(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval most = {.tv_sec = ANSWER_SECONDS};
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, status = 0;

	if (dir < 0)
		return broken(errno, folder);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		status = gt_error(-errno, "cannot make a socket");
		close(dir);
		return status;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
	snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" GT_CONTROL_FILE,
		 dir);
	if (connect(fd, (const struct sockaddr *)&address, sizeof address))
		status = errno == EAGAIN ? silent() : broken(errno, folder);
	close(dir);
	if (status) {
		close(fd);
		return status;
	}
	return fd;
}

static int send_request(int fd, const char *request)
{
	size_t bytes = strlen(request), sent = 0;
	char line[GT_CONTROL_REQUEST_BYTES];

	if (bytes + 2 > sizeof line)
		return gt_error(-E2BIG, "the request is too long");
	memcpy(line, request, bytes);
	line[bytes++] = '\n';
	while (sent < bytes) {
		ssize_t n = send(fd, line + sent, bytes - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return broken(errno, "the session takes no request");
		sent += (size_t)n;
	}
	return 0;
}

/* Root asks the sessions of all users, and one of those may send without end. */
static int read_answer(int fd, char **out)
{
	const uint64_t begin_ns = gt_clock_ns(CLOCK_MONOTONIC);
	char *text = NULL;
	size_t bytes = 0, room = 0;

	for (;;) {
		ssize_t n;

		if (bytes > GT_CONTROL_ANSWER_MOST ||
		    gt_clock_ns(CLOCK_MONOTONIC) - begin_ns >
			    ANSWER_SECONDS * UINT64_C(1000000000)) {
			free(text);
			return silent();
		}
		if (room - bytes < 2) {
			char *more = realloc(text, room = room ? 2 * room : 4096);

			if (!more) {
				free(text);
				return gt_error(-ENOMEM, "no memory for a session's answer");
			}
			text = more;
		}
		n = recv(fd, text + bytes, room - bytes - 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int error = errno;

			free(text);
			return error == EAGAIN || error == EWOULDBLOCK
				       ? silent()
				       : broken(error, "the session's answer");
		}
		if (n == 0)
			break;
		bytes += (size_t)n;
	}
	text[bytes] = '\0';
	*out = text;
	return 0;
}

int session_ask(const char *folder, const char *request, struct session_answer *out)
{
	int fd = connect_to(folder), status;
	char *text = NULL;

	*out = (struct session_answer){0};
	if (fd < 0)
		return fd;
	status = send_request(fd, request);
	if (!status)
		status = read_answer(fd, &text);
	close(fd);
	if (status)
		return status;
	if (!strncmp(text, "ok\n", 3)) {
		memmove(text, text + 3, strlen(text + 3) + 1);
		status = parse_answer(text, out);
		if (status)
			session_answer_fini(out);
		return status;
	}
	if (!strncmp(text, "error ", 6)) {
		text[strcspn(text, "\n")] = '\0';
		status = gt_error(-EINVAL, "%s", text + 6);
	} else {
		status = broken(ECONNRESET, "");
	}
	free(text);
	return status;
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

static void look_at_folder(const char *path, void *data)
{
	struct session_list *list = data;
	struct session_answer answer;
	struct session_found *more;
	struct stat st;
	int status;

	/* what stands in /tmp under such a name may be anybody's */
	if (lstat(path, &st) || !S_ISDIR(st.st_mode) || (st.st_uid != geteuid() && geteuid()))
		return;
	status = list->counts ? session_ask(path, "status", &answer)
			      : session_ask_state(path, &answer);
	if (status) {
		list->silent += status == -ETIMEDOUT;
		gt_error_clear();
		return;
	}
	more = gt_grow(list->sessions, list->count, &list->room, sizeof *list->sessions);
	if (more) {
		list->sessions = more;
		list->sessions[list->count] = (struct session_found){strdup(path), answer};
		if (list->sessions[list->count].folder) {
			list->count++;
			return;
		}
	}
	session_answer_fini(&answer);
}

static int by_begin(const void *a, const void *b)
{
	const struct session_found *x = a, *y = b;
	uint64_t m = session_number(&x->status, "since_ns"),
		 n = session_number(&y->status, "since_ns");

	return (m > n) - (m < n);
}

/* "gputap-<user>-..": of others. */
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
	*list = (struct session_list){.counts = counts};
	gt_folder_find(look_at_folder, list);
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

/* "12,345,6789" */
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

/* By its path, its name, its name without the extension. */
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

/* What follows the folder that we are in, if @path lies there. */
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

/* On stderr: which ones there are. */
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
	if (list->silent)
		return ui_fail(GT_EXIT_FAILURE,
			       "%zu session%s of yours did not answer: is `gputap run` stopped?",
			       list->silent, list->silent == 1 ? "" : "s");
	if (list->others)
		return ui_fail(GT_EXIT_FAILURE,
			       "no session of yours runs; those of other users are theirs alone");
	return ui_fail(GT_EXIT_FAILURE, "no session runs; 'gputap run PROGRAM' begins one");
}

static int unknown_process(const struct session_list *list, const char *which)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%.20s", which);
	if (stat(path, &st))
		return ui_fail(GT_EXIT_FAILURE, "there is no process %s", which);
	if (st.st_uid != geteuid() && geteuid())
		return ui_fail(GT_EXIT_FAILURE,
			       "process %s is user %u's, who alone controls its session", which,
			       (unsigned)st.st_uid);
	ui_fail(GT_EXIT_FAILURE, "process %s is in no session that runs%s", which,
		list->count ? "; these run:" : "");
	list_running(list);
	return GT_EXIT_FAILURE;
}

/* A file may be another's, a snapshot, a slice or a copy: its session may run nevertheless. */
static int unknown_session(const struct session_list *list, const char *which)
{
	struct stat st;
	bool is_file;

	if (is_number(which))
		return unknown_process(list, which);
	is_file = stat(which, &st) == 0 && S_ISREG(st.st_mode);
	if (is_file && st.st_uid != geteuid() && geteuid())
		return ui_fail(GT_EXIT_FAILURE,
			       "%s is user %u's, who alone controls the session that writes it",
			       ui_shell_word(which), (unsigned)st.st_uid);
	ui_fail(GT_EXIT_FAILURE, "no session that runs %s %s%s", is_file ? "writes" : "is called",
		ui_shell_word(which), list->count ? "; these run:" : "");
	list_running(list);
	return GT_EXIT_FAILURE;
}

/* The one whose capture this file is, whatever others are called. */
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
		which ? "are called so" : "run");
	list_running(list);
	return GT_EXIT_FAILURE;
}
