/* SPDX-License-Identifier: MIT */
/* The hardware test of gputap doctor for HSA, and for HIP above it: the kernel driver. Part of the
 * command, not of the injected library: src/doctor/doctor.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "doctor/doctor.h"

static enum doctor_verdict look_for_amd_gpu(struct doctor *d)
{
	struct finding *f = doctor_add(d, FOUND_NOTE, "amdgpu", "driver");
	int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		f->level = FOUND_OK;
		doctor_say(f, "/dev/kfd exists and can be opened");
		return DOCTOR_YES;
	}
	if (errno == ENOENT) {
		doctor_say(f, "no /dev/kfd, so no AMD GPU: HIP calls fail, but are traced");
		doctor_hint(f, "gputap soft amdgpu PROGRAM   (runs it on an AMD GPU in software)");
	} else {
		doctor_say(f, "/dev/kfd cannot be opened: %s", strerror(errno));
		doctor_hint(f, "join the groups render and video ('id' prints yours); in a "
			       "container: --device /dev/kfd --device /dev/dri");
	}
	return DOCTOR_NO;
}

const struct doctor_trial gt_doctor_trial_hsa = {.look = look_for_amd_gpu};
