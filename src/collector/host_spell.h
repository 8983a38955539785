/* SPDX-License-Identifier: MIT */
/* A spell: the time in which a thread makes no progress. Merges the readings of a spell to rows,
 * one for each state (GT_HOST_STATE).
 *
 *   progress       read        read          read       progress
 *      |            lock        lock         running        |
 *      |.............|-----------|-------=====|=============|
 *                     row: lock           row: computing
 *
 * Each reading also shows how much of a processor the thread has used, or waited for, since the
 * reading before. This time is at the end of the interval, so the end of a wait is known although
 * no reading was taken then. */
#ifndef GPUTAP_COLLECTOR_HOST_SPELL_H
#define GPUTAP_COLLECTOR_HOST_SPELL_H

#include "collector/host_look.h"

struct gt_host_row {
	enum gt_host_state state;
	uint64_t start, end; /* CLOCK_BOOTTIME, ns */
	uint32_t call, holder, readings;
	uint64_t object, cpu_ns, delay_ns;
	char text[GT_HOST_TEXT_BYTES];
};

typedef void gt_host_row_function(const struct gt_host_row *row, void *data);

struct gt_host_spell {
	struct gt_host_thread thread, holder; /* holder.tid 0: none */
	struct gt_host_reading last, holder_last;
	struct gt_host_look look; /* of `last` */
	bool is_open;             /* true if there is a reading */
	/* start of the time in which the thread has been running, which has no row yet */
	struct gt_host_reading run;
	uint64_t run_ns;
	struct gt_host_row row; /* not finished; readings 0: none */
	uint64_t since_ns;      /* start of the state of `row` */
	uint64_t long_ns;       /* duration after which a part of the row is written */
	uint64_t holder_ns[GT_HOST_STATE_COUNT];
	/* file that the running thread reads or writes */
	struct gt_host_look file;
	/* for the caller: time of the next reading; time at which the thread was last seen without
	 * progress */
	uint64_t next_ns, quiet_ns;
};

void gt_host_spell_init(struct gt_host_spell *s, const struct gt_host_process *process,
			uint32_t tid);
void gt_host_spell_close(struct gt_host_spell *s);

struct gt_host_spell_reading {
	struct gt_host_reading reading;
	struct gt_host_look look;
};

/**
 * gt_host_spell_read() - read the thread, and the holder of the lock that it waits for
 * @is_last: the thread has made progress since the last reading, so only its use is read
 * Return: 0, or negative errno.
 */
int gt_host_spell_read(struct gt_host_spell *s, struct gt_host_peers *peers, bool is_last,
		       struct gt_host_spell_reading *out);
/* Add the reading. The caller holds the lock that protects the rows. @is_last: end the spell */
void gt_host_spell_add(struct gt_host_spell *s, const struct gt_host_spell_reading *r, bool is_last,
		       gt_host_row_function *put, void *data);
/* Finish the row so far, and continue. The caller holds the lock that protects the rows. */
void gt_host_spell_flush(struct gt_host_spell *s, gt_host_row_function *put, void *data);
/* End the spell, and close files of a lock's holder. */
void gt_host_spell_end(struct gt_host_spell *s);

#endif
