/* SPDX-License-Identifier: MIT */
/* What program.c needs of a runtime; on_<runtime>.c has it. */
#ifndef GPUTAP_TESTS_CONTROL_H
#define GPUTAP_TESTS_CONTROL_H

enum { KERNELS = 4 }; /* a, b, c, d */

/* @count launches of the kernel of that letter, waited for. The first call sets the runtime up. */
void run_kernel(char name, int count);

#endif
