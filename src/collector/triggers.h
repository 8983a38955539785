/* SPDX-License-Identifier: MIT */
/* `--trigger`: a call or device work of which a snapshot is wanted, found in the raw records as
 * they are read from the rings.
 *
 *   record --longer than the shortest that may match? a load and a comparison--> candidate
 *   candidate --names, status, time in ns--> the expression --holds--> snapshot, some time later
 *
 * Who knows the expression says once for each operation how long a record must be; only a
 * candidate is asked about. Device stamps become ns by the device's own readings, the first and
 * the newest; OpenCL's are ns, ROCr's those of a host clock, CUDA's ticks of the session's. Work
 * whose clock was not read twice yet waits for it, if its time is asked for, up to a second or
 * until its process is gone, as work does whose kernel's name has not come; then it is counted as
 * undecided. */
#ifndef GPUTAP_COLLECTOR_TRIGGERS_H
#define GPUTAP_COLLECTOR_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "ring/session.h"

struct gt_process;

/* A call or work that may be meant. */
struct gt_trigger_record {
	bool is_work;
	uint32_t op; /* GT_OP(); of work GT_DEVICE_REF() */
	enum gt_device_op device_op;
	const char *kernel; /* name as people write it; "": none */
	uint32_t pid;
	const char *exe;
	bool failed, timed;
	uint64_t duration_ns, bytes;
};

/* An expression, by who knows what it means. */
struct gt_trigger {
	void *data;
	bool asks_time; /* match() looks at duration_ns */
	/* How long must a call, or work of the domain and kind, at least be to match, in ns?
	 * UINT64_MAX: none does. *failed: and it must have failed */
	uint64_t (*find_shortest)(void *data, const struct gt_trigger_record *record, bool *failed);
	bool (*match)(void *data, const struct gt_trigger_record *record);
};

struct gt_triggers;

/* @fire: what happened, as a text. It is called in gt_triggers_advance().
 * Return: 0 or -ENOMEM with a cause. */
int gt_triggers_create(const struct gt_trigger *list, size_t count, uint32_t host_clock,
		       void (*fire)(void *data, const char *text), void *data,
		       struct gt_triggers **out);
/* NULL: nothing. */
void gt_triggers_destroy(struct gt_triggers *t);

/* Records of a process's ring: memory that the program may be writing to. */
void gt_triggers_look(struct gt_triggers *t, const struct gt_process *process, const void *data,
		      size_t bytes);
/* After all rings: candidates are decided. */
void gt_triggers_advance(struct gt_triggers *t, uint64_t now_ns);
/* The process is gone. */
void gt_triggers_forget(struct gt_triggers *t, const struct gt_process *process);
/* Work that nobody could decide about. */
uint64_t gt_triggers_undecided(const struct gt_triggers *t);

#endif
