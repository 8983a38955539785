/* SPDX-License-Identifier: MIT */
/* See run_plugins.h. Each plug-in is first tested (src/plugin/plugin_trial.c).
 *
 * The path of a plug-in is passed to the program together with the libraries that the plug-in
 * needs, except for common libraries. A program uses this list to recognise plug-ins for its own
 * runtime (src/runtime/privateuse1/pu1_attach.c). */
#include "cli/run_plugins.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ui.h"
#include "collector/environment.h"
#include "plugin/plugin_parts.h"
#include "record/operation.h"

struct plugin_finding {
	struct gt_plugin_seeker seeker; /* must be the first member */
	struct gt_session *session;
	bool quiet;
	uint32_t count;
	dev_t devices[GT_PLUGINS_MOST];
	ino_t inodes[GT_PLUGINS_MOST];
};

static void report(struct gt_plugin_seeker *seeker, const char *format, ...)
{
	char text[1024];
	va_list list;

	(void)seeker;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	ui_note("%s", text);
}

/* List of plug-ins --------------------------------------------------------------------- */

static bool is_domain_asked(const struct gt_session *s, enum gt_domain domain)
{
	return domain != GT_DOMAIN_NONE && s->domains >> domain & 1;
}

/* Return true if gputap itself traces the plug-in's runtime. gputap's own tracing has priority, so
 * that nothing is recorded twice. */
static bool is_traced_without(const struct plugin_finding *f, const char *path, const char *name)
{
	enum gt_domain own = gt_domain_find(name);

	if (own == GT_DOMAIN_PRIVATEUSE1 || !is_domain_asked(f->session, own))
		return false;
	if (!f->quiet)
		ui_note("plug-in %s is not needed: %s is traced without it; -d privateuse1 uses "
			"the plug-in's records",
			path, name);
	return true;
}

/* Find libgputap-plugin.so.0, next to libgputap.so.0 or in the build folder. */
static bool find_library(char *path, size_t size)
{
	static const char *const places[] = {"", "src/plugin/"};
	struct gt_libraries l;
	char *slash;

	if (gt_libraries_find(&l))
		return false;
	slash = strrchr(l.inject, '/');
	if (!slash)
		return false;
	slash[1] = '\0';
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(path, size, "%.3000s%slibgputap-plugin.so.0", l.inject, places[i]);
		if (!access(path, R_OK))
			return true;
	}
	return false;
}

static bool add_line(struct gt_session *s, const char *path, const char *needs)
{
	size_t used = strlen(s->plugins), bytes = strlen(path) + strlen(needs) + 1;

	if (used + bytes >= sizeof s->plugins)
		return false;
	sprintf(s->plugins + used, "%s%s\n", path, needs);
	return true;
}

static bool is_there(struct plugin_finding *f, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return true;
	for (uint32_t i = 0; i < f->count; i++)
		if (f->devices[i] == st.st_dev && f->inodes[i] == st.st_ino)
			return true;
	f->devices[f->count] = st.st_dev;
	f->inodes[f->count] = st.st_ino;
	return false;
}

static void add_plugin(struct gt_plugin_seeker *seeker, const char *path)
{
	struct plugin_finding *f = (struct plugin_finding *)seeker;
	char why[900], library[PATH_MAX], real[PATH_MAX];
	static struct gt_plugin_trial a;

	if (gt_plugin_is_unsafe(path, why, sizeof why)) {
		ui_note("plug-in %s is not loaded: %s", path, why);
		return;
	}
	if (f->count == GT_PLUGINS_MOST) {
		ui_note("plug-in %s is not loaded: %d plug-ins are loaded already", path,
			GT_PLUGINS_MOST);
		return;
	}
	if (is_there(f, path) || !realpath(path, real) || strpbrk(real, "\t\n"))
		return;
	gt_plugin_try(real, &a);
	if (!a.good) {
		ui_note("plug-in %s is not used: %s", path, a.why);
		return;
	}
	if (is_traced_without(f, path, a.why))
		return;
	if (!f->session->plugins[0] &&
	    (!find_library(library, sizeof library) || !add_line(f->session, library, "")))
		ui_note("plug-in %s is not used: cannot find libgputap-plugin.so.0", path);
	else if (!add_line(f->session, real, a.needs))
		ui_note("plug-in %s is not used: the list of plug-ins is too long", path);
	else
		f->count++;
}

void run_plugins_find(struct gt_session *session, bool quiet)
{
	struct plugin_finding f = {.seeker = {add_plugin, report},
				   .session = session,
				   .quiet = quiet};

	if (is_domain_asked(session, GT_DOMAIN_PRIVATEUSE1))
		gt_plugin_find(&f.seeker,
			       getauxval(AT_SECURE) ? NULL : getenv("KINETO_PLUGIN_PATH"), true);
}
