/* SPDX-License-Identifier: MIT */
/* Memory in use over time, for exports that draw it: a track for each process, domain, kind of
 * memory and device, out of the allocations and frees that memory_use.h has.
 *
 * A track of up to GT_MEMORY_POINTS changes has a point for each. Of a longer one the time is
 * divided into GT_MEMORY_PARTS parts; of each part come the first point, the lowest, the highest
 * and the last: a picture of that width is the same, and the peak is there with its time. */
#ifndef GPUTAP_EXPORT_MEMORY_TRACKS_H
#define GPUTAP_EXPORT_MEMORY_TRACKS_H

#include "export/memory_use.h"

enum { GT_MEMORY_POINTS = 1 << 16, GT_MEMORY_PARTS = 1 << 14, GT_MEMORY_LABEL = 64 };

struct gt_memory_track {
	uint32_t process, index; /* index: from 0, in the order of their first changes */
	uint32_t device;         /* GT_MEMORY_NO_DEVICE */
	enum gt_domain domain;
	enum gt_memory memory;
};

/* A point; those of a track come in the order of time. */
typedef void gt_memory_point_fn(void *exporter, const struct gt_memory_track *track, uint64_t ns,
				uint64_t in_use);

/**
 * gt_memory_tracks_each() - all points of all tracks
 * @use: noted, not settled. When it is full, calls are missing and nothing is drawn; allocations
 *       whose calls do not say their bytes have no track.
 * Return: 0 or -ENOMEM with a cause.
 */
int gt_memory_tracks_each(struct gt_memory_use *use, gt_memory_point_fn *point, void *exporter);

/* "device memory (level_zero), device 1"; without the device where that is not known */
const char *gt_memory_track_label(const struct gt_memory_track *track, char label[GT_MEMORY_LABEL]);

#endif
