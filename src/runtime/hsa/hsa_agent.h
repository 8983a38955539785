/* SPDX-License-Identifier: MIT */
/* Agents as records and tools identify them, the clock of their times, and the word that their
 * helper sleeps on. */
#ifndef GPUTAP_RUNTIME_HSA_AGENT_H
#define GPUTAP_RUNTIME_HSA_AGENT_H

#include "runtime/hsa/hsa_runtime.h"
#include "tool/tool_activity.h"

struct gt_hsa_queue;

struct gt_hsa_agent {
	/* constant */
	struct gt_hsa_runtime *runtime;
	uint64_t handle;
	uint64_t number; /* of its device object; 0: a CPU */
	bool gpu;
	char pci[13]; /* "0000:03:00.0"; "": not known */
	/* written in the thread that meets the agent first in a process */
	_Atomic uint32_t written; /* process that has its object record */
	_Atomic uint32_t claimed; /* a thread describes it, or has */
	struct gt_fork_replay *replay;
	struct gt_tool_object *object; /* for tools */
	_Atomic uint32_t unnotified;
	/* written in the thread that reads the runtime's clock */
	uint64_t clock_read_ns;
	_Atomic uint64_t clock_hz;   /* of the system clock */
	_Atomic int64_t to_boottime; /* offset from that clock's ns to CLOCK_BOOTTIME */
	/* written in the harvester: `before` is seconds older than `now`, once seconds have
	 * passed */
	struct gt_hsa_clock_pair before, middle, now;
	/* process in which a thread harvests this agent now; 0: none */
	_Atomic uint32_t harvester;
	/* the helper: 1 while it sleeps (a futex); 1 while it takes long sleeps after a second
	 * without GPU activities. A submitting thread sets `asleep` to 0 */
	_Atomic uint32_t asleep, sleeps_long;
	/* written in the thread that makes a queue */
	_Atomic uint32_t used; /* true if it has had a queue */
	_Atomic(struct gt_hsa_queue *) queues;
	/* written in the thread that submits a copy: number of the queue object that represents its
	 * copy engines; 0: not made yet */
	_Atomic uint64_t copies;
};

enum { GT_HSA_AGENTS_MAX = 64 };
/* Return the agent's entry, with its record written. Return NULL if there are too many. */
struct gt_hsa_agent *gt_hsa_agent_get(struct gt_hsa_runtime *runtime, struct gt_thread *t,
				      uint64_t handle);
/* Return an agent by position, or NULL past the last one. */
struct gt_hsa_agent *gt_hsa_agent_at(uint32_t i);
/* Return the agent's position. */
uint32_t gt_hsa_agent_position(const struct gt_hsa_agent *a);
/* Read the clock of an agent's times once. */
void gt_hsa_agent_read_clock(struct gt_hsa_agent *a, struct gt_thread *t);
/* Convert a system clock time of the runtime to CLOCK_BOOTTIME ns; 0: not known. */
uint64_t gt_hsa_agent_to_boottime(const struct gt_hsa_agent *a, uint64_t stamp);
/* Notify tools of new agents. Call where callbacks may run. */
void gt_hsa_notify_agents(void);

/* Wake the helper, if it is asleep, to look now. Makes a system call if it is asleep. Preserves
 * errno. */
void gt_hsa_wake_helper(struct gt_hsa_agent *a);
/* Call after a submission: the helper must not sleep long. */
static inline void gt_hsa_wake_long_sleeper(struct gt_hsa_agent *a)
{
	if (gt_unlikely(atomic_load_explicit(&a->sleeps_long, memory_order_relaxed)))
		gt_hsa_wake_helper(a);
}

#endif
