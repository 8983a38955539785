/* SPDX-License-Identifier: MIT */
/* Ranges of every source. */
#ifndef GPUTAP_TESTS_CONTROL_RANGES_H
#define GPUTAP_TESTS_CONTROL_RANGES_H

/* "gputap" (what torch's come by), "roctx", "roctx-start", "nvtx", "nvtx-start", "itt". Return: 0,
 * or the program must end: that source is not there. */
int choose_source(const char *name);

void begin_range(const char *name);
void end_range(void); /* the innermost of this thread */

#endif
