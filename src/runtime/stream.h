/* SPDX-License-Identifier: MIT */
/* What HSA's side tells of devices, for streams. */
#ifndef GPUTAP_RUNTIME_STREAM_H
#define GPUTAP_RUNTIME_STREAM_H

#include "core/emit.h"
#include "core/tap.h"

/* A device got its first queue: if it is HIP's, its default stream is written. */
void gt_hip_default_stream(struct gt_thread *t, uint64_t device) GT_WRAP;

#endif
