/* SPDX-License-Identifier: MIT */
/* Implements the CUDA test of gputap doctor: tests the driver and its devices in a child process,
 * and finds the CUPTI library that would record GPU activities. This file is part of the command,
 * not of the injected library (src/doctor/doctor.h). */
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"

#define DRIVER "libcuda.so.1"
#define CUPTI  "libcupti.so."

typedef int init_fn(unsigned int flags);
typedef int count_fn(int *count);
typedef int name_fn(char *name, int bytes, int device);
typedef int version_fn(int *version);
typedef int cupti_version_fn(uint32_t *version);

/* In the child ----------------------------------------------------------------------------- */

/* Print "version 13000", "device NVIDIA H100" and so on, or "status 100" on failure. */
static int probe_driver(void)
{
	void *library = dlopen(DRIVER, RTLD_NOW);
	init_fn *init = library ? (init_fn *)(uintptr_t)dlsym(library, "cuInit") : NULL;
	count_fn *get_count;
	name_fn *get_name;
	version_fn *get_version;
	int status, count = 0, version = 0;

	if (!init) {
		printf("missing\n");
		return 0;
	}
	get_count = (count_fn *)(uintptr_t)dlsym(library, "cuDeviceGetCount");
	get_name = (name_fn *)(uintptr_t)dlsym(library, "cuDeviceGetName");
	get_version = (version_fn *)(uintptr_t)dlsym(library, "cuDriverGetVersion");
	status = init(0);
	if (status || !get_count || !get_name || !get_version || get_count(&count)) {
		printf("status %d\n", status);
		return 0;
	}
	if (!get_version(&version))
		printf("version %d\n", version);
	for (int i = 0; i < count; i++) {
		char name[128] = "";

		if (!get_name(name, sizeof name - 1, i))
			printf("device %s\n", name);
	}
	return 0;
}

/* Print "version 130001". */
static int probe_cupti(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);
	cupti_version_fn *get_version =
		library ? (cupti_version_fn *)(uintptr_t)dlsym(library, "cuptiGetVersion") : NULL;
	uint32_t version;

	if (!get_version || get_version(&version))
		return 1;
	printf("version %u\n", (unsigned)version);
	return 0;
}

static int probe(const char *argument)
{
	return strcmp(argument, DRIVER) ? probe_cupti(argument) : probe_driver();
}

/* The driver ------------------------------------------------------------------------------- */

static void add_device(struct doctor *d, const char *name, size_t bytes, const char *version)
{
	struct finding *f = doctor_add(d, FOUND_OK, "cuda", "device");
	int number = atoi(version);

	doctor_say(f, "%.*s (driver for CUDA %d.%d)", (int)bytes, name, number / 1000,
		   number % 1000 / 10);
}

static unsigned add_devices(struct doctor *d, const char *text)
{
	const char *version = strstr(text, "version ");
	unsigned devices = 0;

	for (const char *line = strstr(text, "device "); line; line = strstr(line, "\ndevice ")) {
		line += *line == '\n';
		add_device(d, line + 7, strcspn(line + 7, "\n"), version ? version + 8 : "0");
		devices++;
	}
	return devices;
}

static unsigned look_for_devices(struct doctor *d)
{
	struct doctor_child child;
	struct finding *f;
	unsigned devices;

	if (doctor_run_child("cuda", DRIVER, NULL, DOCTOR_CHILD_SECONDS, &child))
		return 0;
	devices = add_devices(d, child.text);
	if (devices || strncmp(child.text, "missing", 7) == 0)
		return devices;
	f = doctor_add(d, FOUND_NOTE, "cuda", "device");
	if (strncmp(child.text, "status ", 7) == 0)
		doctor_say(f, "the driver has no device: cuInit() returns %d",
			   atoi(child.text + 7));
	else
		doctor_say(f, "the driver did not list its devices");
	doctor_hint(f, "gputap soft cuda PROGRAM   (for programs of the driver API)");
	return 0;
}

/* CUPTI ------------------------------------------------------------------------------------ */

static void add_cupti(void *data, const char *path)
{
	struct doctor *d = data;
	char real[PATH_MAX];
	struct doctor_child child;
	struct finding *f;
	int version;

	if (!doctor_is_new(d, path, real) ||
	    doctor_run_child("cuda", real, NULL, DOCTOR_CHILD_SECONDS, &child))
		return;
	version = strncmp(child.text, "version ", 8) ? 0 : atoi(child.text + 8);
	f = doctor_add(d, version >= 18 ? FOUND_OK : FOUND_NOTE, "cuda", "cupti");
	doctor_say(f,
		   version >= 18 ? "%.400s is used to record GPU activities"
		   : version     ? "%.400s is too old: CUPTI of CUDA 11.8 or later is needed"
				 : "%.400s cannot be opened",
		   real);
}

static bool has_cupti(const struct doctor *d)
{
	for (unsigned i = 0; i < d->count; i++)
		if (!strcmp(d->findings[i].area, "cuda") && !strcmp(d->findings[i].what, "cupti") &&
		    d->findings[i].level == FOUND_OK)
			return true;
	return false;
}

/* Search only the toolkit's folders, because NVIDIA's Python packages include a separate copy of
 * CUPTI, which a program maps itself. */
static void look_for_cupti(struct doctor *d)
{
	static const char *const folders[] = {"/usr/local/cuda/lib64",
					      "/usr/local/cuda/extras/CUPTI/lib64"};
	static const char *const releases[] = {"13", "12", "11.8"};
	const char *named = getenv("GPUTAP_CUPTI");
	struct finding *f;
	char path[PATH_MAX];

	if (named && *named)
		add_cupti(d, named);
	doctor_each_library(CUPTI, add_cupti, d);
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 3; k++) {
			snprintf(path, sizeof path, "%s/" CUPTI "%s", folders[i], releases[k]);
			if (!access(path, R_OK))
				add_cupti(d, path);
		}
	if (has_cupti(d))
		return;
	f = doctor_add(d, FOUND_NOTE, "cuda", "cupti");
	doctor_say(f, "no CUPTI outside Python packages: programs without their own CUPTI (torch "
		      "has one) are recorded without GPU activities");
	doctor_hint(f, "pip install nvidia-cuda-cupti, then GPUTAP_CUPTI=..../libcupti.so.13");
}

static void count_library(void *data, const char *path)
{
	(void)path;
	++*(unsigned *)data;
}

static enum doctor_verdict look(struct doctor *d)
{
	unsigned drivers = 0, devices;

	doctor_each_library(DRIVER, count_library, &drivers);
	if (!drivers)
		return DOCTOR_NO;
	devices = look_for_devices(d);
	look_for_cupti(d);
	return devices ? DOCTOR_YES : DOCTOR_NO;
}

const struct doctor_trial gt_doctor_trial_cuda = {.look = look, .probe = probe};
