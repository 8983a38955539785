/* SPDX-License-Identifier: MIT */
/* Agents as records and tools name them, the clock that their times are in, and the word that
 * their helper sleeps on. */
#ifndef GPUTAP_RUNTIME_HSA_AGENT_H
#define GPUTAP_RUNTIME_HSA_AGENT_H

#include "runtime/hsa/hsa_runtime.h"
#include "tool/tool_work.h"

struct gt_hsa_queue;

struct gt_hsa_agent {
	/* constant */
	struct gt_hsa_runtime *runtime;
	uint64_t handle;
	uint64_t number; /* of its device object; 0: a CPU */
	bool gpu;
	char pci[13]; /* "0000:03:00.0"; "": not known */
	/* whoever meets the agent first in a process */
	_Atomic uint32_t written; /* process that has its object record */
	_Atomic uint32_t claimed; /* somebody describes it, or has */
	struct gt_fork_replay *replay;
	struct gt_tool_object *object; /* for tools */
	_Atomic uint32_t unnotified;
	/* whoever reads the runtime's clock */
	uint64_t clock_read_ns;
	_Atomic uint64_t clock_hz;   /* of the runtime's system clock, */
	_Atomic int64_t to_boottime; /* and what makes its ns ours */
	/* the harvester: `before` is seconds older than `now`, once there are seconds */
	struct gt_hsa_clock_pair before, middle, now;
	/* process in which a thread harvests this agent's work just now; 0: none */
	_Atomic uint32_t harvester;
	/* the helper: 1 while it sleeps (a futex); 1 while it sleeps long after a second without
	 * work. Whoever submits sets `asleep` to 0 */
	_Atomic uint32_t asleep, sleeps_long;
	/* whoever makes a queue */
	_Atomic uint32_t used; /* has had a queue */
	_Atomic(struct gt_hsa_queue *) queues;
	/* whoever submits a copy: number of the queue object that stands for its copy engines;
	 * 0: not made yet */
	_Atomic uint64_t copies;
};

enum { GT_HSA_AGENTS_MAX = 64 };
/* The agent's entry with its record written. NULL: too many. */
struct gt_hsa_agent *gt_hsa_agent_get(struct gt_hsa_runtime *runtime, struct gt_thread *t,
				      uint64_t handle);
/* By position, NULL behind the last. */
struct gt_hsa_agent *gt_hsa_agent_at(uint32_t i);
/* The same as a number. */
uint32_t gt_hsa_agent_position(const struct gt_hsa_agent *a);
/* One reading of the clock that its times are in. */
void gt_hsa_agent_read_clock(struct gt_hsa_agent *a, struct gt_thread *t);
/* A time of the runtime's system clock in CLOCK_BOOTTIME ns; 0: not known. */
uint64_t gt_hsa_agent_to_boottime(const struct gt_hsa_agent *a, uint64_t stamp);
/* Tools are notified of agents that are new, where callbacks may run. */
void gt_hsa_notify_agents(void);

/* The helper has to look now; it may be asleep. A system call if it is. Preserves errno. */
void gt_hsa_wake_helper(struct gt_hsa_agent *a);
/* Work was submitted: the helper must not sleep long. */
static inline void gt_hsa_wake_long_sleeper(struct gt_hsa_agent *a)
{
	if (gt_unlikely(atomic_load_explicit(&a->sleeps_long, memory_order_relaxed)))
		gt_hsa_wake_helper(a);
}

#endif
