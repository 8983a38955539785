/* SPDX-License-Identifier: MIT */
/* Attaches tools to runtimes where `gputap run` has not prepared the process: sets the variables
 * that it would have set (see collector/environment.c), and interposes mapped libraries
 * (runtime/mapped.h). `gputap run` has set the variables of the domains that it records; a tool may
 * need others. */
#include "runtime/tool_attach.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/emit.h"
#include "core/late.h"
#include "core/recording.h"
#include "record/variable.h"
#include "runtime/mapped.h"
#include "tool/tool_load.h"
#include "util/environ_publish.h"

static bool late = true;

bool gt_tools_late(void)
{
	return late;
}

void gt_tools_set_late(bool is_late)
{
	late = is_late;
}

/* Return the path of this library, or NULL if not known. */
static const char *own_path(void)
{
	static char path[PATH_MAX];
	Dl_info where;

	if (!path[0] &&
	    (!dladdr(path, &where) || !where.dli_fname || !realpath(where.dli_fname, path)))
		return NULL;
	return path;
}

static const char *get_variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* Variables to change, all at once: other threads of the program may call getenv(). */
struct changes {
	struct gt_environ_change list[2 * GT_VARIABLE_COUNT];
	size_t count;
};

/* @value: copied */
static void add_change(struct changes *c, const char *name, const char *value)
{
	char *entry;

	/* the entry stays in the environment */
	if (c->count < sizeof c->list / sizeof *c->list &&
	    asprintf(&entry, "%s=%s", name, value) >= 0)
		c->list[c->count++] = (struct gt_environ_change){.name = name, .entry = entry};
}

/* Set @name to "ours", or to "ours<separator>users". @twice: true to append @ours again at the
 * end */
static void put_first(struct changes *c, const char *name, const char *ours, char separator,
		      bool twice)
{
	const char *users = get_variable(name);
	char text[3 * PATH_MAX];
	int n;

	if (strstr(users, ours))
		return;
	if (!*users)
		n = snprintf(text, sizeof text, "%s", ours);
	else if (twice)
		n = snprintf(text, sizeof text, "%s%c%s%c%s", ours, separator, users, separator,
			     ours);
	else
		n = snprintf(text, sizeof text, "%s%c%s", ours, separator, users);
	if (n < (int)sizeof text)
		add_change(c, name, text);
}

/* Return true if @path can be added to a list unquoted, because readers of a list do not support
 * quotes. */
static bool can_stand_in(const char *path, char separator)
{
	return !strchr(path, separator) && (separator != ' ' || !strpbrk(path, "\"\\"));
}

static void set_list(struct changes *c, const struct gt_variable *v, const char *path)
{
	/* A loader that has already read the variable is interposed, like all later loaders. This
	 * happens in a running program, or when a library's constructor has called the loader. */
	if (v->until && (gt_tools_late() || gt_mapped_defines(v->until, v->until_without)))
		return;
	if (can_stand_in(path, v->separator))
		put_first(c, v->name, path, v->separator, v->ends);
}

static void set_value(struct changes *c, const struct gt_variable *v)
{
	if (v->saved && getenv(v->saved))
		return;
	if (v->saved)
		add_change(c, v->saved, get_variable(v->name));
	add_change(c, v->name, v->value);
}

/* Set all variables that are not set yet. @done: one bit per enum gt_domain whose variables are
 * set */
static void set_environment(const char *path, uint64_t done)
{
	struct changes c = {.count = 0};

	for (const struct gt_variable *v = gt_variables; v < gt_variables + GT_VARIABLE_COUNT; v++)
		if (v->domains & done)
			continue;
		else if (v->kind == GT_VARIABLE_LIST)
			set_list(&c, v, path);
		else if (v->kind == GT_VARIABLE_VALUE)
			set_value(&c, v);
		else if (v->kind == GT_VARIABLE_DEFAULT && v->other && *get_variable(v->other) &&
			 !getenv(v->name))
			add_change(&c, v->name, v->with_value);
	gt_environ_publish(c.list, c.count);
}

static void attach_all(void)
{
	const char *path = own_path();

	if (path)
		set_environment(path, gt_recording_is_run()
					      ? gt_session_recordable(gt_recording.session)
					      : 0);
	for (int i = 0; path && !gt_tools_late() && i < GT_VARIABLE_COUNT; i++)
		if (gt_variables[i].until && strstr(get_variable(gt_variables[i].name), path))
			gt_mapped_leave(gt_variables[i].object);
	gt_mapped_watch();
}

void gt_tool_attach_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, attach_all);
	gt_mapped_look();
}

static void look_again(void)
{
	gt_mapped_look();
	gt_mapped_call_followers();
}

static void take_over(void)
{
	gt_thread_own(); /* so that the hooks can write events and objects */
	gt_internal_enter();
	gt_late_begin();
	gt_mapped_attach();
	gt_late_attach_all();
	gt_internal_leave();
}

GT_PROVIDE(gt_tool_attach) = {.begin = gt_tool_attach_begin,
			      .look = look_again,
			      .take_over = take_over};
