/* SPDX-License-Identifier: MIT */
/* See untraced.h. The text of an event is "PATH: why" (src/collector/not_traced.c,
 * src/core/exec_environment.c). */
#include "analysis/tables/untraced.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/show.h"
#include "util/error.h"

enum { NAMED_MOST = 3, TEXT_BYTES = 1200 };

struct text_line {
	char *out;
	size_t room, used;
};

static void add_bytes(struct text_line *l, const char *text, size_t bytes)
{
	if (bytes > l->room - 1 - l->used)
		bytes = l->room - 1 - l->used;
	memcpy(l->out + l->used, text, bytes);
	l->out[l->used += bytes] = '\0';
}

/* Add "NAME (why)" from "/path/NAME: why" to the line. */
static void add_program(struct text_line *l, const char *text)
{
	const char *end = strstr(text, ": "), *name = text;

	if (!end)
		end = text + strlen(text);
	for (const char *c = text; c < end; c++)
		name = *c == '/' ? c + 1 : name;
	add_bytes(l, name, (size_t)(end - name));
	if (!*end)
		return;
	add_bytes(l, " (", 2);
	add_bytes(l, end + 2, strlen(end + 2));
	add_bytes(l, ")", 1);
}

/* Add "2 processes still ran at the end: NAME (PID), NAME (PID)" to the line. */
static uint32_t add_survivors(struct text_line *l, const struct gt_capture *c, uint32_t session)
{
	char names[TEXT_BYTES / 2] = "", head[64];
	struct text_line list = {.out = names, .room = sizeof names};
	uint32_t count = 0;

	for (size_t i = 0; i < gt_capture_event_count(c); i++) {
		const struct gt_event_info *e = gt_capture_event(c, i);
		const struct gt_process_info *p = gt_capture_process(c, e->process);
		const char *slash = e->text ? strrchr(e->text, '/') : NULL;
		char name[128];

		if (e->code != GT_EVENT_STILL_RUNS || !p ||
		    (session != UNTRACED_ALL && p->session != session) || count++ >= NAMED_MOST)
			continue;
		snprintf(name, sizeof name, "%s%.100s (%u)", count > 1 ? ", " : "",
			 slash ? slash + 1 : "", p->pid);
		add_bytes(&list, name, strlen(name));
	}
	if (!count)
		return 0;
	snprintf(head, sizeof head,
		 "%s%s process%s still running at the end: ", l->used ? "; " : "",
		 show_count(count), count == 1 ? "" : "es");
	add_bytes(l, head, strlen(head));
	add_bytes(l, names, strlen(names));
	if (count > NAMED_MOST) {
		snprintf(head, sizeof head, " and %s more", show_count(count - NAMED_MOST));
		add_bytes(l, head, strlen(head));
	}
	return count;
}

uint32_t untraced_text(const struct gt_capture *c, uint32_t session, char *out, size_t room)
{
	const char *named[NAMED_MOST];
	uint32_t count = 0, covered = 0, names = 0;
	struct text_line l = {.out = out, .room = room};
	char programs[TEXT_BYTES] = "", more[64] = "";
	struct text_line list = {.out = programs, .room = sizeof programs};

	out[0] = '\0';
	for (size_t i = 0; i < gt_capture_event_count(c); i++) {
		const struct gt_event_info *e = gt_capture_event(c, i);
		const struct gt_process_info *p = gt_capture_process(c, e->process);
		bool known = false;

		if (!gt_event_is_not_traced(e) || !p ||
		    (session != UNTRACED_ALL && p->session != session))
			continue;
		count++;
		for (uint32_t k = 0; k < names; k++)
			known |= e->text && !strcmp(named[k], e->text);
		if (!known && e->text && names < NAMED_MOST) {
			named[names++] = e->text;
			add_bytes(&list, ", ", names > 1 ? 2 : 0);
			add_program(&list, e->text);
			known = true;
		}
		covered += known;
	}
	if (!count)
		return add_survivors(&l, c, session);
	if (covered < count)
		snprintf(more, sizeof more, " and %s more", show_count(count - covered));
	l.used = (size_t)snprintf(out, room, "%s process%s not traced: ", show_count(count),
				  count == 1 ? "" : "es");
	add_bytes(&l, programs, strlen(programs));
	add_bytes(&l, more, strlen(more));
	return count + add_survivors(&l, c, session);
}
