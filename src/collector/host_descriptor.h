/* SPDX-License-Identifier: MIT */
/* Describes the descriptors that threads wait for: paths, and for pipes and sockets the process at
 * the other end, if it is a process of the session. */
#ifndef GPUTAP_COLLECTOR_HOST_DESCRIPTOR_H
#define GPUTAP_COLLECTOR_HOST_DESCRIPTOR_H

#include "collector/host_thread.h"
#include "record/host_state.h"

enum { GT_HOST_TEXT_BYTES = 192 };

/**
 * gt_host_descriptor_look() - find the target of a descriptor
 * @text: receives the path, "pipe:[7]", "socket:[7]", "anon_inode:[eventfd]", ..
 * Return: the state of a thread that reads or writes the descriptor.
 */
enum gt_host_state gt_host_descriptor_look(const struct gt_host_process *process, uint32_t tid,
					   uint32_t descriptor, char text[GT_HOST_TEXT_BYTES]);

/* A pipe or a socket with the process at its other end; kept, because the search is slow. */
struct gt_host_peer {
	uint64_t inode;
	uint32_t pid, peer; /* reading or writing process, and the other one; peer 0: not found */
	uint64_t searched_ns;
	bool writes;
};

struct gt_host_peers {
	struct gt_host_peer entries[64];
	unsigned next;
};

/**
 * gt_host_descriptor_describe() - replace the number of a pipe or socket by a text for people
 * @text: from gt_host_descriptor_look()
 * @writes: true if the thread writes
 * @pids, @count: processes to search for the other end
 */
void gt_host_descriptor_describe(struct gt_host_peers *peers, uint32_t pid, bool writes,
				 const uint32_t *pids, unsigned count,
				 char text[GT_HOST_TEXT_BYTES]);

#endif
