/* SPDX-License-Identifier: MIT */
/* Ranges of every source. */
#ifndef GPUTAP_TESTS_CONTROL_RANGES_H
#define GPUTAP_TESTS_CONTROL_RANGES_H

/* @source: "gputap" (as torch's ranges), "roctx", "roctx-start", "nvtx", "nvtx-start" or "itt".
 * Return: 0; otherwise that source is not available and the program must end. */
int choose_source(const char *name);

void begin_range(const char *name);
void end_range(void); /* the innermost one of this thread */

#endif
