/* SPDX-License-Identifier: MIT */
/* `--trigger`: finds calls or GPU activities that request a snapshot, in the raw records as they
 * are read from the rings.
 *
 *   record --longer than the shortest that may match? a load and a comparison--> candidate
 *   candidate --names, status, time in ns--> the expression --holds--> snapshot, some time later
 *
 * The expression's owner computes once for each operation how long a record must be; it evaluates
 * only candidates. Device stamps become ns through the device's own readings, the first and the
 * newest; OpenCL's are ns, ROCr's those of a host clock, CUDA's ticks of the session's. A GPU
 * activity whose clock was not read twice yet waits for that, if its duration is used, up to a
 * second or until its process is gone. One whose kernel name has not come waits likewise. After
 * that it is counted as undecided. */
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
	bool is_work;
	uint32_t op; /* GT_OP(); for a GPU activity GT_DEVICE_REF() */
	enum gt_device_op device_op;
	const char *kernel; /* readable name; "": none */
	uint32_t pid;
	const char *exe;
	bool failed, timed;
	uint64_t duration_ns, bytes;
};

/* An expression and its owner's functions. */
struct gt_trigger {
	void *data;
	bool asks_time; /* match() uses duration_ns */
	/* Return the shortest duration in ns of a matching call, or of a GPU activity of the domain
	 * and kind. UINT64_MAX: none matches. *failed: it must also have failed */
	uint64_t (*find_shortest)(void *data, const struct gt_trigger_record *record, bool *failed);
	bool (*match)(void *data, const struct gt_trigger_record *record);
};

struct gt_triggers;

/* Create triggers. @fire: receives a description of the event; called in gt_triggers_advance().
 * Return: 0 or -ENOMEM with a cause. */
int gt_triggers_create(const struct gt_trigger *list, size_t count, uint32_t host_clock,
		       void (*fire)(void *data, const char *text), void *data,
		       struct gt_triggers **out);
/* Ignores NULL. */
void gt_triggers_destroy(struct gt_triggers *t);

/* Look at records of a process's ring: memory that the program may be writing to. */
void gt_triggers_look(struct gt_triggers *t, const struct gt_process *process, const void *data,
		      size_t bytes);
/* Decide candidates, after all rings were looked at. */
void gt_triggers_advance(struct gt_triggers *t, uint64_t now_ns);
/* Forget a process that is gone. */
void gt_triggers_forget(struct gt_triggers *t, const struct gt_process *process);
/* Return the count of GPU activities that were undecided. */
uint64_t gt_triggers_undecided(const struct gt_triggers *t);

#endif
