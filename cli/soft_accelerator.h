/* SPDX-License-Identifier: MIT */
/* Shared code of the software accelerators' commands: options that become environment variables, a
 * folder with substitute libraries, and the execution of the program. */
#ifndef GPUTAP_CLI_SOFT_ACCELERATOR_H
#define GPUTAP_CLI_SOFT_ACCELERATOR_H

#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "doctor/doctor.h"

/* The variable that an option sets, and the value that it sets if the option has no argument. */
struct soft_variable {
	int option;
	const char *variable, *value;
	/* true if the value is made absolute, because the program may first change its folder */
	bool is_file;
};

struct soft_accelerator {
	const char *name;
	const char *help;
	const struct option *options;
	const struct soft_variable *variables; /* list that ends with an entry without a variable */
	/* Check the environment variables. Return true if all are valid. */
	bool (*check)(char *why, size_t size);
	/* Print lines about available devices. Return an exit status. */
	int (*list)(void);
	/* For gputap doctor: add findings after the trial of the runtime whose device the
	 * accelerator replaces. Return whether programs can run on it. NULL: nothing to check. */
	enum doctor_verdict (*look)(struct doctor *d);
	/* Handle an option without a variable. */
	void (*set)(int option);
	/* Execute the program in this process. Return an exit status on failure. */
	int (*start)(char **argv);
};

extern const struct soft_accelerator soft_amdgpu_accelerator, soft_level_zero_accelerator,
	soft_cuda_accelerator;

/* Return an accelerator; NULL: the name is not known. */
const struct soft_accelerator *soft_find_accelerator(const char *name);
/* Run `gputap soft NAME [options] PROGRAM ...`. The arguments start with NAME. */
int soft_accelerator_run(const struct soft_accelerator *accelerator, int argc, char **argv);
/* Run the library's checks before the program starts, with messages that name options. Return 0, or
 * an exit status after a message. */
int soft_accelerator_check(const struct soft_accelerator *accelerator);
/* Prepend @word to a variable's colon-separated list. */
void soft_put_first(const char *variable, const char *word);
/* Find the folder that contains @library, below the build folder, or where gputap was installed or
 * moved to. */
bool soft_find_folder(const char *folder, const char *library, char out[PATH_MAX]);
int soft_become(char **argv);

#endif
