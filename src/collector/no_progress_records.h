/* SPDX-License-Identifier: MIT */
/* State of the triggers of no_progress.h, and the part that looks at records as they are read. The
 * decisions are in no_progress.c, which reads rings itself. */
#ifndef GPUTAP_COLLECTOR_NO_PROGRESS_RECORDS_H
#define GPUTAP_COLLECTOR_NO_PROGRESS_RECORDS_H

#include "collector/device_rates.h"
#include "collector/triggers.h"

enum {
	PROGRESS_GAPS_MOST = 8, /* most gaps of a device that wait for late records */
	PROGRESS_EXE_BYTES = 256,
};

/* A gap between two activities, in device stamps. */
struct progress_gap {
	uint64_t from, to, since_ns;
};

struct progress_device {
	uint32_t ref;     /* GT_DEVICE_REF() */
	uint64_t end;     /* latest end of an activity, in device stamps; 0: none */
	uint64_t seen_ns; /* time at which the last activity was read */
	uint64_t fired;   /* triggers that the current gap has fired, as bits */
	struct progress_gap gaps[PROGRESS_GAPS_MOST];
	size_t gap_count;
};

/* An open call. fired: triggers, as bits */
struct progress_call {
	uint64_t id, since_ns, fired;
	bool is_open;
};

struct progress_process {
	uint32_t index, pid;
	char exe[PROGRESS_EXE_BYTES];
	bool has_calls, has_activities;
	uint64_t active_ns; /* time at which the last record was read */
	struct gt_device_rates rates;
	struct progress_device *devices;
	size_t device_count, device_room;
	struct progress_call *calls;
	size_t call_count, call_room;
};

struct gt_drain;

struct gt_progress {
	struct gt_trigger *list;
	size_t count;
	struct gt_drain *drain;
	void (*fire)(void *data, const char *text);
	void *fire_data;
	struct gt_host_rate host;
	uint64_t every_ns, next_ns, resumed_ns, now_ns;
	/* decides the gaps of a process that is gone */
	void (*finish)(struct gt_progress *p, struct progress_process *w);
	uint64_t silent; /* triggers on progress that have fired since the last record, as bits */
	bool is_paused;
	struct progress_process **processes;
	size_t process_count, process_room;
};

/* Return the state of a process, or NULL if out of memory. */
struct progress_process *progress_get_process(struct gt_progress *p,
					      const struct gt_process *process);
/* Look at records of a process's ring, in memory that the program may be writing to. */
void gt_progress_look(struct gt_progress *p, const struct gt_process *process, const void *data,
		      size_t bytes);
/* Decide the last gaps of a process that is gone, and forget it. Accepts NULL. */
void gt_progress_forget(struct gt_progress *p, const struct gt_process *process);
/* Accepts NULL. */
void gt_progress_destroy(struct gt_progress *p);

#endif
