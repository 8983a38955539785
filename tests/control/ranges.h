/* SPDX-License-Identifier: MIT */
/* Ranges of every API that gputap records. */
#ifndef GPUTAP_TESTS_CONTROL_RANGES_H
#define GPUTAP_TESTS_CONTROL_RANGES_H

/* @source: "gputap" (which torch's ranges use), "roctx", "roctx-start", "nvtx", "nvtx-start" or
 *          "itt".
 * Return: 0; otherwise that API is not available and the program must end. */
int choose_source(const char *name);

void begin_range(const char *name);
void end_range(void); /* end this thread's innermost range */

#endif
