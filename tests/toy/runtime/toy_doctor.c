/* SPDX-License-Identifier: MIT */
/* Tests the toy runtime in gputap doctor: a child loads the library and creates a stream, which is
 * the device. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "doctor/doctor.h"

#define LIBRARY "libtoy.so"

static int make_stream(const char *library)
{
	void *toy = dlopen(library, RTLD_NOW | RTLD_LOCAL), *stream;
	int (*create)(void **stream) = NULL;

	if (toy)
		*(void **)&create = dlsym(toy, "toy_stream_create");
	if (!create || create(&stream))
		return GT_EXIT_FAILURE;
	printf("a stream\n");
	return GT_EXIT_OK;
}

static enum doctor_verdict look_for_toy(struct doctor *d)
{
	struct doctor_child child;
	struct finding *f = doctor_add(d, FOUND_BAD, "toy", "device");

	if (doctor_run_child("toy", LIBRARY, NULL, DOCTOR_CHILD_SECONDS, &child) ||
	    strcmp(child.text, "a stream\n")) {
		doctor_say(f, "no stream can be made");
		return DOCTOR_NO;
	}
	f->level = FOUND_OK;
	doctor_say(f, "a thread of " LIBRARY);
	return DOCTOR_YES;
}

const struct doctor_trial gt_doctor_trial_toy = {.look = look_for_toy, .probe = make_stream};
