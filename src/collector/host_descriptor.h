/* SPDX-License-Identifier: MIT */
/* Describes the descriptors that threads wait for: paths, and for pipes the process at the other
 * end. */
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

/* Positions in the files that a process has open. */
struct gt_host_position {
	uint32_t descriptor;
	uint64_t bytes;
};
enum { GT_HOST_POSITIONS = 64 };
struct gt_host_positions {
	uint32_t pid; /* 0: none */
	unsigned count;
	struct gt_host_position entries[GT_HOST_POSITIONS];
};

/**
 * gt_host_descriptor_find_moving() - find the file whose position has changed most since the last
 * call for the process
 * @text: receives its path
 * Return: its descriptor + 1; 0: none, or the first call for the process.
 */
uint64_t gt_host_descriptor_find_moving(struct gt_host_positions *last,
					const struct gt_host_process *process, uint32_t tid,
					char text[GT_HOST_TEXT_BYTES]);

/* A pipe with the process at its other end; kept, because the search takes some ms. */
struct gt_host_peer {
	uint64_t inode;
	/* reading or writing process, and the other one; peer 0: not found */
	uint32_t pid, peer;
	bool writes;
	uint64_t searched_ns; /* 0: not yet */
};

enum { GT_HOST_PEERS = 64 };
struct gt_host_peers {
	struct gt_host_peer entries[GT_HOST_PEERS];
	unsigned next;
	uint64_t next_search_ns; /* CLOCK_BOOTTIME, less the time that a burst may use */
	struct gt_host_positions positions;
};

/**
 * gt_host_descriptor_describe() - name the other end of a pipe or socket
 * @peers: known pipes; NULL: do not search
 * @pid: process that reads or, if @writes, writes
 * @text: from gt_host_descriptor_look()
 */
void gt_host_descriptor_describe(struct gt_host_peers *peers, uint32_t pid, bool writes,
				 char text[GT_HOST_TEXT_BYTES]);

#endif
