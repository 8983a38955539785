/* SPDX-License-Identifier: MIT */
/* Interface between gputap doctor and the trials of runtimes.
 *
 *   cli/doctor.c -> doctor_trial.look() -> doctor_add(), doctor_say(): findings -> printed by cli/
 *
 * Properties of all runtimes (libraries, a compiler, a substitute for a missing device) are data in
 * their descriptions: cli/runtimes.h. If a runtime needs its own trial, as OpenCL does for its
 * drivers, a file src/runtime/<area>/<area>_doctor.c defines gt_doctor_trial_<area>; tools/generate
 * finds the file. The trial is linked into the command, not into the injected library, and uses
 * only this header and src/util.
 *
 * Drivers can crash. All foreign code is therefore loaded in a separate child process, which is the
 * same program with --probe. */
#ifndef GPUTAP_DOCTOR_DOCTOR_H
#define GPUTAP_DOCTOR_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum finding_level { FOUND_OK, FOUND_NOTE, FOUND_BAD };

struct finding {
	enum finding_level level;
	const char *area, *what;
	char text[512], hint[256];
};

enum { DOCTOR_FINDINGS_MOST = 128, DOCTOR_CHILD_SECONDS = 20 };

/* Whether programs that use a runtime can be traced on this machine, including GPU activities. */
enum doctor_verdict { DOCTOR_NO, DOCTOR_YES, DOCTOR_IN_SOFTWARE /* on a software device */ };

struct doctor {
	struct finding findings[DOCTOR_FINDINGS_MOST];
	unsigned count;
};

struct doctor_trial {
	/* Add findings after the findings about the runtime's libraries. Return whether a compute
	 * device exists. The caller handles missing libraries. */
	enum doctor_verdict (*look)(struct doctor *d);
	/* Describe the runtime in a few ms, without loading anything: "OpenCL with 2 drivers"; "":
	 * nothing to report. NULL: print the runtime's name if its library exists. */
	void (*look_short)(char *text, size_t size);
	/* Run in the child that look() starts, and print lines for look(). Return the exit status.
	 * NULL: no child. */
	int (*probe)(const char *argument);
};

struct finding *doctor_add(struct doctor *d, enum finding_level level, const char *area,
			   const char *what);
__attribute__((format(printf, 2, 3))) void doctor_say(struct finding *f, const char *format, ...);
/* Set the hint. Names of Debian's packages after "apt install", up to a comma or a parenthesis,
 * become a command of this machine's package manager. */
__attribute__((format(printf, 2, 3))) void doctor_hint(struct finding *f, const char *format, ...);
/* Write how to install Debian's packages @names, separated by spaces, on this distribution, which
 * /etc/os-release names, or the file in GPUTAP_OS_RELEASE (for tests). Return @text. */
const char *doctor_install(const char *names, char *text, size_t size);
void doctor_translate_hint(char *hint, size_t size);
/* Note a library. Links and copies in several folders of a list count as one library. Return false
 * if the library already has a finding, or @path does not resolve. */
bool doctor_is_new(const struct doctor *d, const char *path, char real[PATH_MAX]);
bool doctor_file_has(const char *path, const char *text);

/* Call @each for every library whose name begins with @stem and whose word size is that of this
 * program, first in LD_LIBRARY_PATH and then in the dynamic linker's cache. */
void doctor_each_library(const char *stem, void (*each)(void *data, const char *path), void *data);

struct doctor_child {
	char text[16384]; /* output of the child, truncated */
	int wait_status;
	bool timed_out;
};

/* Run this program again with "doctor --probe @what @argument" (cli/doctor_probe.h) in @environment
 * (NULL: the current environment), for at most @seconds. Return 0, or negative errno if the child
 * could not be started. */
int doctor_run_child(const char *what, const char *argument, char *const *environment,
		     unsigned seconds, struct doctor_child *out);

#endif
