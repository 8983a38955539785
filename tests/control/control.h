/* SPDX-License-Identifier: MIT */
/* The functions that program.c needs from a runtime. on_<runtime>.c implements them. */
#ifndef GPUTAP_TESTS_CONTROL_H
#define GPUTAP_TESTS_CONTROL_H

enum { KERNELS = 4 }; /* a, b, c, d */

/* Launch that letter's kernel @count times and wait. The first call initialises the runtime. */
void run_kernel(char name, int count);

#endif
