/* SPDX-License-Identifier: MIT */
/* How much memory the rings of a session may have, and giving back what lies idle.
 *
 *   limits of the control groups (v1, v2: memory.max, memory.high) ─┐
 *   memory that the machine has left, room in the session's folder ─┴─► a quarter is for rings
 *                                                                       ─► segment.block_limit
 *
 * Where that is ample, processes begin with all their blocks. Else they begin with few, and get
 * more when they use them, as long as those of all processes together stay within the quarter.
 * Memory is the process's own control group's. */
#ifndef GPUTAP_COLLECTOR_MEMORY_H
#define GPUTAP_COLLECTOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct gt_drain;
struct gt_process;

/* Processes whose memory is counted together. */
struct gt_memory_group {
	/* text of /proc/PID/cgroup; "": not known, the collector's own is taken */
	char *name;
	uint64_t budget_bytes;  /* for rings; UINT64_MAX: no limit is known */
	uint64_t granted_bytes; /* sum of the processes' limits */
};

struct gt_memory_budgets {
	struct gt_memory_group *groups; /* the collector's own is the first */
	size_t group_count, group_room;
	uint64_t balanced_ns, cooled_ns;
};

/**
 * gt_memory_left() - what a process may still take
 * @cgroup: text of its /proc/PID/cgroup
 * @root:   where control groups are mounted, /sys/fs/cgroup
 * Return: bytes until the nearest limit of its groups and theirs, page cache counted as free;
 * UINT64_MAX: there is no limit.
 */
uint64_t gt_memory_left(const char *cgroup, const char *root);

/* At the session's begin: how many blocks a process begins with; 0: all. */
uint32_t gt_memory_start_blocks(uint64_t left_bytes, uint64_t pool_bytes, uint32_t block_bytes);

void gt_memory_init(struct gt_memory_budgets *m, struct gt_drain *d);
void gt_memory_fini(struct gt_memory_budgets *m);

/* Regularly: more blocks for those who use theirs, fewer where memory is short, idle memory
 * back. */
void gt_memory_balance(struct gt_memory_budgets *m, struct gt_drain *d, uint64_t now_ns);

#endif
