/* SPDX-License-Identifier: MIT */
/* The child process of gputap doctor, and the look-up of trials. See doctor_probe.h. */
#include "cli/doctor_probe.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "generated/doctor_trials.h"

#define X(area) extern const struct doctor_trial gt_doctor_trial_##area;
GT_DOCTOR_TRIALS(X)
#undef X

const struct doctor_trial *doctor_find_trial(const char *area)
{
	static const struct {
		const char *area;
		const struct doctor_trial *trial;
	} trials[] = {
#define X(area) {#area, &gt_doctor_trial_##area},
		GT_DOCTOR_TRIALS(X)
#undef X
	};

	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
		if (!strcmp(trials[i].area, area))
			return trials[i].trial;
	return NULL;
}

/* Print which gputap libraries are mapped into this process. */
static int probe_loaded(void)
{
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "re");
	bool inject = false, audit = false;

	while (maps && fgets(line, sizeof line, maps)) {
		inject |= strstr(line, "/libgputap.so") != NULL;
		audit |= strstr(line, "/libgputap-audit.so") != NULL;
	}
	if (maps)
		fclose(maps);
	printf("%s%s\n", inject ? "inject " : "", audit ? "audit" : "");
	return GT_EXIT_OK;
}

static int probe_library(const char *name)
{
	if (dlopen(name, RTLD_NOW | RTLD_LOCAL))
		return GT_EXIT_OK;
	printf("%s\n", dlerror());
	return GT_EXIT_FAILURE;
}

int doctor_probe(int argc, char **argv)
{
	const struct doctor_trial *trial = argc == 2 ? doctor_find_trial(argv[0]) : NULL;
	int code = GT_EXIT_USAGE;

	if (argc == 1 && !strcmp(argv[0], "loaded"))
		code = probe_loaded();
	else if (argc == 2 && !strcmp(argv[0], "library"))
		code = probe_library(argv[1]);
	else if (trial && trial->probe)
		code = trial->probe(argv[1]);
	fflush(stdout);
	_exit(code); /* skips the destructors of drivers */
}
