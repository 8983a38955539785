/* SPDX-License-Identifier: MIT */
/* gputap doctor looks at drivers, and drivers crash: whatever loads foreign code runs in a child
 * process of its own, which is the same program with --probe. */
#ifndef GPUTAP_CLI_DOCTOR_H
#define GPUTAP_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

/* In the child: --probe loaded | opencl LIBRARY | library NAME. Prints lines to stdout.
 * Return: exit code. */
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
