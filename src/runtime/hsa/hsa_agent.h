/* SPDX-License-Identifier: MIT */
/* The agents in the form in which records and tools identify them, the clock of their activities,
 * and the futex word on which an agent's helper sleeps. */
#ifndef GPUTAP_RUNTIME_HSA_AGENT_H
#define GPUTAP_RUNTIME_HSA_AGENT_H

#include "runtime/hsa/hsa_runtime.h"
#include "tool/tool_activity.h"

struct gt_hsa_queue;

struct gt_hsa_agent {
	/* constant */
	struct gt_hsa_runtime *runtime;
	uint64_t handle;
	uint64_t number; /* number of the device object; 0: a CPU */
	bool gpu;
	char pci[13]; /* "0000:03:00.0"; "": not known */
	/* Written by the first thread of a process that uses the agent. */
	_Atomic uint32_t written; /* process that has written the agent's object record */
	_Atomic uint32_t claimed; /* true once a thread has started to describe the agent */
	struct gt_fork_replay *replay;
	struct gt_tool_object *object; /* for tools */
	_Atomic uint32_t unnotified;
	/* Written by the thread that reads the runtime's clock. */
	uint64_t clock_read_ns;
	_Atomic uint64_t clock_hz;   /* frequency of the system clock */
	_Atomic int64_t to_boottime; /* offset from system clock ns to CLOCK_BOOTTIME */
	/* Written by the harvester, for the conversion of ticks. After the first two seconds of
	 * use, `before` is at least one second older than `now`. */
	struct gt_hsa_clock_pair before, middle, now;
	/* process in which a thread is harvesting this agent; 0: none */
	_Atomic uint32_t harvester;
	/* State of the helper. asleep: 1 while the helper sleeps (a futex); a submitting thread
	 * sets it to 0. sleeps_long: 1 while the helper takes long sleeps, which it does after a
	 * second without GPU activities. */
	_Atomic uint32_t asleep, sleeps_long;
	/* Written by the thread that creates a queue. */
	_Atomic uint32_t used; /* true if the agent has ever had a queue */
	_Atomic(struct gt_hsa_queue *) queues;
	/* Written by the thread that submits a copy: number of the queue object that represents the
	 * agent's copy engines; 0: not created yet. */
	_Atomic uint64_t copies;
};

enum { GT_HSA_AGENTS_MAX = 64 };
/* Return an agent's entry, and write its record on first use. Return NULL if there are too many
 * agents. */
struct gt_hsa_agent *gt_hsa_agent_get(struct gt_hsa_runtime *runtime, struct gt_thread *t,
				      uint64_t handle);
/* Return an agent by index, or NULL past the last agent. */
struct gt_hsa_agent *gt_hsa_agent_at(uint32_t i);
/* Return the index of an agent. */
uint32_t gt_hsa_agent_position(const struct gt_hsa_agent *a);
/* Read the clock of an agent's activities once. */
void gt_hsa_agent_read_clock(struct gt_hsa_agent *a, struct gt_thread *t);
/* Convert the runtime's system time to CLOCK_BOOTTIME ns; 0: not known. */
uint64_t gt_hsa_agent_to_boottime(const struct gt_hsa_agent *a, uint64_t stamp);
/* Notify tools of new agents. Call only where callbacks are permitted. */
void gt_hsa_notify_agents(void);

/* Wake the helper with a system call if it sleeps. Preserves errno. */
void gt_hsa_wake_helper(struct gt_hsa_agent *a);
/* End a long sleep of the helper. Call after a submission. */
static inline void gt_hsa_wake_long_sleeper(struct gt_hsa_agent *a)
{
	if (gt_unlikely(atomic_load_explicit(&a->sleeps_long, memory_order_relaxed)))
		gt_hsa_wake_helper(a);
}

#endif
