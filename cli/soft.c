/* SPDX-License-Identifier: MIT */
/* gputap soft: runs a program with software accelerators under the vendor's real runtime. Each
 * accelerator has a separate file. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/soft_accelerator.h"
#include "cli/ui.h"

static const struct soft_accelerator *const accelerators[] = {&soft_amdgpu_accelerator,
							      &soft_level_zero_accelerator,
							      &soft_cuda_accelerator};
enum { ACCELERATORS = sizeof accelerators / sizeof *accelerators };

const struct soft_accelerator *soft_find_accelerator(const char *name)
{
	for (unsigned i = 0; i < ACCELERATORS; i++)
		if (!strcmp(name, accelerators[i]->name))
			return accelerators[i];
	return NULL;
}

/* List the accelerators. A missing accelerator is not an error if another is available. */
static int list_accelerators(void)
{
	int status = GT_EXIT_FAILURE;

	for (unsigned i = 0; i < ACCELERATORS; i++)
		if (accelerators[i]->list() == GT_EXIT_OK)
			status = GT_EXIT_OK;
	return status;
}

static int show_help(void)
{
	for (unsigned i = 0; i < ACCELERATORS; i++)
		printf("%s%s", i ? "\n" : "", accelerators[i]->help);
	return GT_EXIT_OK;
}

static int run_soft(int argc, char **argv)
{
	const char *names[ACCELERATORS + 1] = {NULL};

	if (argc < 2)
		return list_accelerators();
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return show_help();
	if (argv[1][0] == '-') /* without a name, the options are for the oldest accelerator */
		return soft_accelerator_run(accelerators[0], argc, argv);
	for (unsigned i = 0; i < ACCELERATORS; i++) {
		names[i] = accelerators[i]->name;
		if (!strcmp(argv[1], names[i]))
			return soft_accelerator_run(accelerators[i], argc - 1, argv + 1);
	}
	return ui_unknown("software accelerator", argv[1], names);
}

const struct gt_command gt_command_soft = {"soft", "run a program on accelerators in software",
					   run_soft};
