/* SPDX-License-Identifier: MIT */
/* Shared code of the software accelerators' commands: options that become environment variables, a
 * folder with substitute libraries, and the exec of the program. */
#ifndef GPUTAP_CLI_SOFT_ACCELERATOR_H
#define GPUTAP_CLI_SOFT_ACCELERATOR_H

#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The variable that an option sets, and its value if the option has none. */
struct soft_variable {
	int option;
	const char *variable, *value;
	bool is_file; /* made absolute, as the program may change its folder first */
};

struct soft_accelerator {
	const char *name;
	const char *help;
	const struct option *options;
	const struct soft_variable *variables; /* ended with an entry without a variable */
	/* Check the variables. Return true if they are valid. */
	bool (*check)(char *why, size_t size);
	/* Print lines about available devices. Return an exit status. */
	int (*list)(void);
	/* Handle an option without a variable. */
	void (*set)(int option);
	/* Become the program. Return an exit status on failure. */
	int (*start)(char **argv);
};

extern const struct soft_accelerator soft_amdgpu_accelerator, soft_level_zero_accelerator,
	soft_cuda_accelerator;

/* Run `gputap soft NAME [options] PROGRAM ...`, from NAME on. */
int soft_accelerator_run(const struct soft_accelerator *accelerator, int argc, char **argv);
/* Make the library's checks before the program starts, with messages in terms of options. Return 0,
 * or an exit status after a message. */
int soft_accelerator_check(const struct soft_accelerator *accelerator);
/* Put @word at the front of a variable's colon-separated list. */
void soft_put_first(const char *variable, const char *word);
/* Find the folder that has @library: below the build folder, or where gputap was installed or moved
 * to. */
bool soft_find_folder(const char *folder, const char *library, char out[PATH_MAX]);
int soft_become(char **argv);

#endif
