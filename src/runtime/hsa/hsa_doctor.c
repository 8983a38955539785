/* SPDX-License-Identifier: MIT */
/* The hardware test of gputap doctor for HSA, and for HIP above it: the kernel driver, and the
 * software GPU that can replace it. Part of the command, not of the injected library:
 * cli/doctor.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/soft_runtime.h"

static enum doctor_verdict look_for_amd_gpu(struct doctor *d)
{
	struct finding *f = doctor_add(d, FOUND_NOTE, "amdgpu", "driver");
	char folder[PATH_MAX], sentence[sizeof f->text];
	bool usable, soft;
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);

	usable = fd >= 0;
	if (usable) {
		close(fd);
		f->level = FOUND_OK;
		doctor_say(f, "/dev/kfd exists and can be opened");
	} else if (errno == ENOENT) {
		doctor_say(f, "no /dev/kfd, so no AMD GPU: HIP calls fail, but are traced");
		doctor_hint(f, "gputap soft amdgpu PROGRAM   (runs it on an AMD GPU in software)");
	} else {
		doctor_say(f, "/dev/kfd cannot be opened: %s", strerror(errno));
		doctor_hint(f, "join the groups render and video ('id' prints yours); in a "
			       "container: --device /dev/kfd --device /dev/dri");
	}

	f = doctor_add(d, FOUND_NOTE, "amdgpu", "software");
	if (!soft_runtime_find(folder)) {
		doctor_say(f, "'gputap soft amdgpu' is not available: gputap was built without "
			      "ROCr's headers");
		doctor_hint(f, "apt install libhsa-runtime-dev, then rebuild gputap");
		return usable ? DOCTOR_YES : DOCTOR_NO;
	}
	soft = soft_runtime_check(sentence, sizeof sentence);
	if (*sentence) {
		doctor_say(f, "%s", sentence);
	} else {
		f->level = FOUND_OK;
		doctor_say(f, "%.400s/" SOFT_RUNTIME_LIBRARY, folder);
	}
	return usable ? DOCTOR_YES : soft ? DOCTOR_IN_SOFTWARE : DOCTOR_NO;
}

const struct doctor_trial gt_doctor_trial_hsa = {.look = look_for_amd_gpu};
