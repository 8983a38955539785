/* SPDX-License-Identifier: MIT */
/* What the kinds of accelerators in software have in common as commands: options that become
 * environment variables, a folder with what stands in, and becoming the program. */
#ifndef GPUTAP_CLI_SOFT_ACCELERATOR_H
#define GPUTAP_CLI_SOFT_ACCELERATOR_H

#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The variable that an option sets, and to what if it has no value of its own. */
struct soft_variable {
	int option;
	const char *variable, *value;
	bool is_file; /* the program may go elsewhere before it is read */
};

struct soft_accelerator {
	const char *name;
	const char *help;
	const struct option *options;
	const struct soft_variable *variables; /* ended by one without a variable */
	/* Whether the variables are right. */
	bool (*check)(char *why, size_t size);
	/* Lines on what there is. Return: an exit status. */
	int (*list)(void);
	/* An option without a variable. */
	void (*set)(int option);
	/* Becomes the program; returns an exit status if it cannot. */
	int (*start)(char **argv);
};

extern const struct soft_accelerator soft_amdgpu_accelerator, soft_level_zero_accelerator,
	soft_cuda_accelerator;

/* `gputap soft NAME [options] PROGRAM ...`, from NAME on. */
int soft_accelerator_run(const struct soft_accelerator *accelerator, int argc, char **argv);
/* What the library would say, but in the words of the options, and before the program is started.
 * Return: 0, or an exit status after a message. */
int soft_accelerator_check(const struct soft_accelerator *accelerator);
/* One variable that holds a list with colons: @word to its front. */
void soft_put_first(const char *variable, const char *word);
/* The folder below the build folder, or where gputap was installed and moved to, that has
 * @library. */
bool soft_find_folder(const char *folder, const char *library, char out[PATH_MAX]);
int soft_become(char **argv);

#endif
