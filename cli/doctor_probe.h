/* SPDX-License-Identifier: MIT */
/* The trials of runtimes (src/doctor/doctor.h), and the child process in which they run. */
#ifndef GPUTAP_CLI_DOCTOR_PROBE_H
#define GPUTAP_CLI_DOCTOR_PROBE_H

#include "doctor/doctor.h"

/* Return the trial of an area's runtime; NULL: the runtime has no trial. */
const struct doctor_trial *doctor_find_trial(const char *area);

/* Run the child: --probe loaded | library NAME | AREA ARGUMENT (ARGUMENT is passed to the trial).
 * Prints lines to stdout. Return the exit code. */
int doctor_probe(int argc, char **argv);

#endif
