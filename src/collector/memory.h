/* SPDX-License-Identifier: MIT */
/* Limits the memory of a session's rings and gives back idle memory.
 *
 *   limits of the control groups (v1, v2: memory.max, memory.high) ─┐
 *   memory left on the machine, room in the session's folder ───────┴─► a quarter is for rings
 *                                                                       ─► segment.block_limit
 *
 * If the quarter is large enough, processes start with all their blocks. Otherwise processes start
 * with few blocks, and get more when they use them, as long as the blocks of all processes together
 * stay within the quarter. The memory is charged to the process's own control group. */
#ifndef GPUTAP_COLLECTOR_MEMORY_H
#define GPUTAP_COLLECTOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct gt_drain;
struct gt_process;

/* Processes whose memory is counted together. */
struct gt_memory_group {
	/* text of /proc/PID/cgroup; "": unknown, the collector's own group is used */
	char *name;
	uint64_t budget_bytes;  /* memory available for rings; UINT64_MAX: no known limit */
	uint64_t granted_bytes; /* sum of the processes' limits */
};

struct gt_memory_budgets {
	struct gt_memory_group *groups; /* groups[0] is the collector's own group */
	size_t group_count, group_room;
	uint64_t balanced_ns, cooled_ns;
};

/**
 * gt_memory_left() - return how much memory a process may still take
 * @cgroup: text of the process's /proc/PID/cgroup
 * @root:   mount point of the control groups, /sys/fs/cgroup
 * Return: bytes until the nearest limit of its groups and their ancestors, counting page cache as
 *         free; UINT64_MAX: unlimited.
 */
uint64_t gt_memory_left(const char *cgroup, const char *root);

/* Return how many blocks a process starts with at the session's start; 0: all. */
uint32_t gt_memory_start_blocks(uint64_t left_bytes, uint64_t pool_bytes, uint32_t block_bytes);

void gt_memory_init(struct gt_memory_budgets *m, struct gt_drain *d);
void gt_memory_fini(struct gt_memory_budgets *m);

/* Give more blocks to processes that use all of theirs, take blocks away if memory is scarce, and
 * free idle memory. Call regularly. */
void gt_memory_balance(struct gt_memory_budgets *m, struct gt_drain *d, uint64_t now_ns);

#endif
