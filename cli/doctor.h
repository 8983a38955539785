/* SPDX-License-Identifier: MIT */
/* What gputap doctor finds, and how a runtime has trials of its own.
 *
 * What every runtime has in common (libraries, a compiler, what stands in for a missing device) is
 * data of its description: cli/runtimes.h. A runtime that must be tried in its own way, as OpenCL
 * with its drivers, has a file src/runtime/<area>/<area>_doctor.c, which defines
 * gt_doctor_trial_<area>; tools/generate finds it. It belongs to the command, not to what is
 * injected.
 *
 * Drivers crash: whatever loads foreign code runs in a child process of its own, which is the same
 * program with --probe. */
#ifndef GPUTAP_CLI_DOCTOR_H
#define GPUTAP_CLI_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/runtimes.h"

enum finding_level { FOUND_OK, FOUND_NOTE, FOUND_BAD };

struct finding {
	enum finding_level level;
	const char *area, *what;
	char text[512], hint[256];
};

enum { DOCTOR_FINDINGS_MOST = 128, DOCTOR_CHILD_SECONDS = 20 };

/* Can a runtime's programs be traced here, with work on a device? */
enum doctor_verdict { DOCTOR_NO, DOCTOR_YES, DOCTOR_IN_SOFTWARE /* on a device in software */ };

struct doctor {
	struct finding findings[DOCTOR_FINDINGS_MOST];
	unsigned count;
	unsigned libraries[GT_RUNTIME_COUNT];
	enum doctor_verdict verdicts[GT_RUNTIME_COUNT];
	bool injection;
};

struct doctor_trial {
	/* Adds what it finds, behind the findings on the runtime's libraries. Return: whether there
	 * is a device to compute on; missing libraries are the caller's concern. */
	enum doctor_verdict (*look)(struct doctor *d);
	/* Without loading anything, in a few ms: "OpenCL with 2 drivers", or "" for nothing. NULL:
	 * its name, where its library is. */
	void (*look_short)(char *text, size_t size);
	/* In the child that look() starts: prints lines for it. Return: exit status. NULL: there is
	 * no such child. */
	int (*probe)(const char *argument);
};

/* NULL: that area's runtime has no trial of its own. */
const struct doctor_trial *doctor_find_trial(const char *area);

struct finding *doctor_add(struct doctor *d, enum finding_level level, const char *area,
			   const char *what);
__attribute__((format(printf, 2, 3))) void doctor_say(struct finding *f, const char *format, ...);
__attribute__((format(printf, 2, 3))) void doctor_hint(struct finding *f, const char *format, ...);
/* Links and copies in several folders of a list are one library. Return: false: a finding is of it
 * already, or @path leads nowhere. */
bool doctor_is_new(const struct doctor *d, const char *path, char real[PATH_MAX]);
bool doctor_file_has(const char *path, const char *text);

/* Calls @each for every library whose name begins with @stem, of LD_LIBRARY_PATH and then of what
 * the dynamic linker's cache knows of our own word size. */
void doctor_each_library(const char *stem, void (*each)(void *data, const char *path), void *data);

/* In the child: --probe loaded | library NAME | AREA ARGUMENT, which is a trial's. Prints lines to
 * stdout. Return: exit code. */
int doctor_probe(int argc, char **argv);

struct doctor_child {
	char text[16384]; /* what it printed, cut */
	int wait_status;
	bool timed_out;
};

/* Run ourselves with "doctor --probe @what @argument" in @environment (NULL: ours), at most
 * @seconds.
 * Return: 0 or negative errno: it could not even start. */
int doctor_run_child(const char *what, const char *argument, char *const *environment,
		     unsigned seconds, struct doctor_child *out);

#endif
