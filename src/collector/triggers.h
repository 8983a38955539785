/* SPDX-License-Identifier: MIT */
/* `--trigger`: finds calls or GPU activities that request a snapshot, in the raw records as they
 * are read from the rings.
 *
 *   record --longer than the shortest that may match? a load and a comparison--> candidate
 *   candidate --names, status, time in ns--> the expression --holds--> snapshot, some time later
 *
 * The owner of an expression computes once for each operation how long a record must be, and
 * evaluates only candidates. Device stamps are converted to ns with the first and the newest
 * reading of the device's clock. OpenCL's stamps are ns, ROCr's come from a host clock, CUDA's are
 * ticks of the session's clock. If the expression uses the duration of a GPU activity whose clock
 * was not read twice yet, the activity waits for the second reading, up to a second or until its
 * process is gone. An activity whose kernel name is not known yet waits in the same way. If the
 * data is still missing afterwards, the activity is counted as undecided. */
#ifndef GPUTAP_COLLECTOR_TRIGGERS_H
#define GPUTAP_COLLECTOR_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "ring/session.h"

struct gt_process;

/* A call or GPU activity that may match. */
struct gt_trigger_record {
	bool is_activity;
	uint32_t op; /* GT_OP() of a call; GT_DEVICE_REF() of a GPU activity */
	enum gt_device_op device_op;
	const char *kernel; /* readable name; "": none */
	uint32_t pid;
	const char *exe;
	bool failed, timed;
	uint64_t duration_ns, bytes;
};

enum gt_trigger_what {
	GT_TRIGGER_RECORD,      /* a call or GPU activity that matches */
	GT_TRIGGER_NO_PROGRESS, /* no record for some time: no_progress.h */
	GT_TRIGGER_GAP,         /* a device without activity */
	GT_TRIGGER_OPEN,        /* a call that does not return */
};

/* An expression and the functions of its owner. */
struct gt_trigger {
	enum gt_trigger_what what;
	uint64_t least_ns; /* unless GT_TRIGGER_RECORD: shortest time */
	void *data;
	bool asks_time; /* true if match() uses duration_ns */
	/* GT_TRIGGER_RECORD: return the shortest duration in ns of a matching call, or of a
	 * matching GPU activity of the domain and kind. UINT64_MAX: none matches. *failed is set if
	 * the call must also have failed */
	uint64_t (*find_shortest)(void *data, const struct gt_trigger_record *record, bool *failed);
	bool (*match)(void *data, const struct gt_trigger_record *record);
};

struct gt_triggers;

/* Create the triggers of @list that are GT_TRIGGER_RECORD. *out is NULL if there are none.
 * @fire: receives a description of the event; called by gt_triggers_advance(). Return: 0 or -ENOMEM
 * with a cause. */
int gt_triggers_create(const struct gt_trigger *list, size_t count, uint32_t host_clock,
		       void (*fire)(void *data, const char *text), void *data,
		       struct gt_triggers **out);
/* Accepts NULL. */
void gt_triggers_destroy(struct gt_triggers *t);

/* Look at records of a process's ring, in memory that the program may be writing to. */
void gt_triggers_look(struct gt_triggers *t, const struct gt_process *process, const void *data,
		      size_t bytes);
/* Decide candidates. Call after all rings were examined. */
void gt_triggers_advance(struct gt_triggers *t, uint64_t now_ns);
/* Forget a process that is gone. */
void gt_triggers_forget(struct gt_triggers *t, const struct gt_process *process);
/* Return the number of undecided GPU activities. */
uint64_t gt_triggers_undecided(const struct gt_triggers *t);

#endif
