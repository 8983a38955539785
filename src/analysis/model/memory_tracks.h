/* SPDX-License-Identifier: MIT */
/* Computes memory in use over time, for exports that draw it: a track for each process, domain,
 * kind of memory and device, from the allocations and frees in memory_use.h.
 *
 * A track with at most GT_MEMORY_POINTS changes has one point per change. The time of a longer
 * track is divided into GT_MEMORY_PARTS parts, each with its first, lowest, highest and last point.
 * A chart of GT_MEMORY_PARTS columns looks the same, and the peak keeps its exact time. */
#ifndef GPUTAP_ANALYSIS_MODEL_MEMORY_TRACKS_H
#define GPUTAP_ANALYSIS_MODEL_MEMORY_TRACKS_H

#include "analysis/model/memory_use.h"

enum { GT_MEMORY_POINTS = 1 << 16, GT_MEMORY_PARTS = 1 << 14, GT_MEMORY_LABEL = 64 };

struct gt_memory_track {
	uint32_t process, index; /* index: from 0, in the order of the tracks' first changes */
	uint32_t device;         /* may be GT_MEMORY_NO_DEVICE */
	enum gt_domain domain;
	enum gt_memory memory;
};

/* Receives a point. Points of a track come in time order. */
typedef void gt_memory_point_fn(void *exporter, const struct gt_memory_track *track, uint64_t ns,
				uint64_t in_use);

/**
 * gt_memory_tracks_each() - report all points of all tracks
 * @use: filled, not settled. If @use is full, calls are missing and no point is reported.
 *       Allocations whose calls have no size get no track.
 * Return: 0 or -ENOMEM with a cause.
 */
int gt_memory_tracks_each(struct gt_memory_use *use, gt_memory_point_fn *point, void *exporter);

/* Write "device memory (level_zero), device 1"; omits an unknown device. Return @label. */
const char *gt_memory_track_label(const struct gt_memory_track *track, char label[GT_MEMORY_LABEL]);

#endif
