/* SPDX-License-Identifier: MIT */
/* What runtimes can learn of names that the program gives to things of theirs. Not there: the
 * runtime is not in the build. */
#ifndef GPUTAP_RUNTIME_NAMES_H
#define GPUTAP_RUNTIME_NAMES_H

#include "core/tap.h"

/* By handle, or, if @pci is not NULL, by PCI address. A device that is not known yet has the
 * name when it is. */
void gt_hsa_name_agent(struct gt_thread *t, uint64_t handle, const char *pci,
		       const char *name) GT_WRAP;
/* @device: as hipSetDevice() takes it */
void gt_hip_name_device(struct gt_thread *t, int device, const char *name) GT_WRAP;
void gt_hip_name_stream(struct gt_thread *t, const void *stream, const char *name) GT_WRAP;

#endif
