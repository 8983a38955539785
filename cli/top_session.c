/* SPDX-License-Identifier: MIT */
/* See top_session.h. */
#include "cli/top_session.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/session_find.h"
#include "cli/ui.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/file_name.h"

enum { LOOKS_MOST = 10 }; /* number of attempts to find the session of an existing file */

static bool is_number(const char *word)
{
	return *word && strspn(word, "0123456789") == strlen(word);
}

static void take_session(struct top_session *s, const struct session_found *found)
{
	snprintf(s->folder, sizeof s->folder, "%s", found->folder);
	snprintf(s->path, sizeof s->path, "%s", session_value(&found->status, "capture"));
	s->collector = (int)syscall(SYS_pidfd_open, session_number(&found->status, "collector"), 0);
}

/* Find the session that writes the file. The session may appear a moment after the file. */
static void find_writer(struct top_session *s, const struct session_list *list)
{
	const struct session_found *found;
	char whole[PATH_MAX];

	if (session_match(list, s->path, &found) == 1 && realpath(s->path, whole) &&
	    !strcmp(session_value(&found->status, "capture"), whole))
		take_session(s, found);
}

int top_session_find(struct top_session *s, const char *which)
{
	const struct session_found *found;
	struct session_list list;
	int code = GT_EXIT_OK;

	s->collector = -1;
	if (session_list_read(&list, false))
		return ui_fail(GT_EXIT_FAILURE, "cannot list sessions");
	if (which && !is_number(which) && !access(which, F_OK)) {
		snprintf(s->path, sizeof s->path, "%s", which);
		find_writer(s, &list);
	} else if (!(code = session_find(&list, which, &found))) {
		take_session(s, found);
	}
	session_list_fini(&list);
	return code;
}

static void find_late(struct top_session *s)
{
	struct session_list list;

	if (s->looks++ >= LOOKS_MOST)
		return;
	if (session_list_read(&list, false))
		gt_error_clear();
	else
		find_writer(s, &list);
	session_list_fini(&list);
}

/* Send a request to the session. Return true if the session answered. @says: true to store an error
 * in `said`. */
static bool ask(struct top_session *s, const char *request, struct session_answer *out, bool says)
{
	int status = *s->folder ? session_ask(s->folder, request, out) : -1;

	if (status && says)
		snprintf(s->said, sizeof s->said, "%s",
			 *s->folder ? gt_error_text() : "cannot control this session from here");
	if (status)
		gt_error_clear();
	return !status;
}

static void look_at_snapshot(struct top_session *s)
{
	struct session_answer now;
	char request[64];
	const char *state;

	snprintf(request, sizeof request, "snapshot-state number=%llu",
		 (unsigned long long)s->snapshot);
	if (!ask(s, request, &now, false)) {
		s->snapshot = 0;
		return;
	}
	state = session_value(&now, "state");
	if (!strcmp(state, "written"))
		snprintf(s->said, sizeof s->said, "snapshot: wrote %.120s",
			 gt_file_name(session_value(&now, "path")));
	else if (!strcmp(state, "failed"))
		snprintf(s->said, sizeof s->said, "snapshot: %.120s", session_value(&now, "error"));
	if (!strcmp(state, "written") || !strcmp(state, "failed"))
		s->snapshot = 0;
	session_answer_fini(&now);
}

/* Add pauses. The result is exact only if the state changed at most once between two queries. */
static void count_pause(struct top_session *s, uint64_t changed_ns, uint64_t now_ns)
{
	uint64_t from_ns = s->looked_ns ? s->looked_ns : now_ns;
	uint64_t change_ns = changed_ns > from_ns ? changed_ns : from_ns;

	change_ns = change_ns < now_ns ? change_ns : now_ns;
	if (s->is_paused)
		s->paused_ns = now_ns - change_ns;
	else if (s->was_paused)
		s->paused_ns = change_ns - from_ns;
	s->was_paused = s->is_paused;
	s->all_paused_ns += s->paused_ns;
	s->looked_ns = now_ns;
}

uint64_t top_session_look(struct top_session *s)
{
	struct session_answer now;

	if (!*s->folder)
		find_late(s);
	s->is_paused = false;
	s->starts_in_ns = s->paused_ns = 0;
	if (!ask(s, "status", &now, false))
		return gt_clock_ns(CLOCK_BOOTTIME);
	s->is_paused = !strcmp(session_value(&now, "state"), "paused");
	count_pause(s, session_number(&now, "changed_ns"), session_number(&now, "now_ns"));
	snprintf(s->why, sizeof s->why, "%.31s", session_value(&now, "why"));
	s->starts_in_ns = session_number(&now, "starts_in_ns");
	session_answer_fini(&now);
	if (s->snapshot)
		look_at_snapshot(s);
	return s->looked_ns;
}

void top_session_switch(struct top_session *s)
{
	struct session_answer answer;

	if (!ask(s, s->is_paused ? "start" : "stop", &answer, true))
		return;
	s->is_paused = !strcmp(session_value(&answer, "state"), "paused");
	snprintf(s->why, sizeof s->why, "%.31s", session_value(&answer, "why"));
	session_answer_fini(&answer);
	*s->said = '\0';
}

void top_session_snapshot(struct top_session *s)
{
	struct session_answer answer;

	if (!ask(s, "snapshot", &answer, true))
		return;
	s->snapshot = session_number(&answer, "number");
	snprintf(s->said, sizeof s->said, "snapshot: being written");
	session_answer_fini(&answer);
}

bool top_session_is_over(const struct top_session *s)
{
	struct pollfd collector = {.fd = s->collector, .events = POLLIN};

	return s->collector >= 0 && poll(&collector, 1, 0) == 1;
}
