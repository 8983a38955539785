/* SPDX-License-Identifier: MIT */
/* See host_descriptor.h. The other end of a pipe is the descriptor of another process with the same
 * inode and the other access mode, which the permissions of the link in /proc/PID/fd show. */
#include "collector/host_descriptor.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock_ns.h"

enum {
	DESCRIPTORS_MOST = 1024, /* per process */
	PROCESSES_MOST = 256,
};
/* Searches take less than 1/600 of a processor, except for a burst of 5 ms. The readings of all
 * threads share 1/300. A search takes 1 to 10 ms of CPU time. */
#define SEARCH_PART     600
#define SEARCH_BURST_NS UINT64_C(5000000)
#define SEARCH_AGAIN_NS UINT64_C(2000000000)

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

enum gt_host_state gt_host_descriptor_look(const struct gt_host_process *process, uint32_t tid,
					   uint32_t descriptor, char text[GT_HOST_TEXT_BYTES])
{
	char path[48];
	ssize_t n;
	struct stat st;

	/* the thread's own folder, because a thread may have its own descriptors */
	snprintf(path, sizeof path, "%u/fd/%u", tid, descriptor);
	n = readlinkat(process->tasks, path, text, GT_HOST_TEXT_BYTES - 1);
	text[n < 0 ? 0 : n] = '\0';
	if (n <= 0)
		return GT_HOST_STATE_WAITING;
	if (begins(text, "pipe:"))
		return GT_HOST_STATE_PIPE;
	if (begins(text, "socket:"))
		return GT_HOST_STATE_SOCKET;
	if (begins(text, "anon_inode:"))
		return GT_HOST_STATE_POLLING;
	if (fstatat(process->tasks, path, &st, 0))
		return begins(text, "/dev/") ? GT_HOST_STATE_DRIVER : GT_HOST_STATE_FILE;
	if (S_ISFIFO(st.st_mode))
		return GT_HOST_STATE_PIPE;
	/* a terminal is read like a pipe */
	if (S_ISCHR(st.st_mode))
		return begins(text, "/dev/pts/") || begins(text, "/dev/tty") ? GT_HOST_STATE_PIPE
									     : GT_HOST_STATE_DRIVER;
	return GT_HOST_STATE_FILE;
}

/* Return true if the process has the pipe @link open for reading, if @writes, or for writing. */
static bool has_other_end(uint32_t pid, const char *link, bool writes)
{
	char path[64], target[64];
	const struct dirent *entry;
	unsigned looked = 0;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof path, "/proc/%u/fd", pid);
	folder = opendir(path);
	while (folder && !found && looked++ < DESCRIPTORS_MOST && (entry = readdir(folder))) {
		ssize_t n = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
		struct stat st;

		if (n <= 0)
			continue;
		target[n] = '\0';
		if (strcmp(target, link))
			continue;
		found = !fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			(st.st_mode & (writes ? S_IRUSR : S_IWUSR));
	}
	if (folder)
		closedir(folder);
	return found;
}

static struct gt_host_peer *find_entry(struct gt_host_peers *peers, uint64_t inode, uint32_t pid,
				       bool writes)
{
	struct gt_host_peer *fresh;

	for (unsigned i = 0; i < GT_HOST_PEERS; i++) {
		struct gt_host_peer *p = &peers->entries[i];

		if (p->inode == inode && p->pid == pid && p->writes == writes)
			return p;
	}
	fresh = &peers->entries[peers->next++ % GT_HOST_PEERS];
	*fresh = (struct gt_host_peer){.inode = inode, .pid = pid, .writes = writes};
	return fresh;
}

/* Read the numbers of the newest processes except @pid, which /proc lists last. Return the number
 * of processes; the n-th is in list[n % PROCESSES_MOST]. */
static unsigned list_processes(uint32_t pid, uint32_t list[PROCESSES_MOST])
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	unsigned count = 0;

	while (folder && (entry = readdir(folder))) {
		uint32_t other = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (other && other != pid)
			list[count++ % PROCESSES_MOST] = other;
	}
	if (folder)
		closedir(folder);
	return count;
}

/* Find a process other than @pid with the other end open. Prefer the newest, because a shell that
 * starts a pipeline often keeps both ends open, and because most pipes belong to a new process,
 * which is then found at once. Return 0 if there is none. */
static uint32_t search_processes(uint32_t pid, const char *link, bool writes)
{
	uint32_t list[PROCESSES_MOST];
	unsigned count = list_processes(pid, list);

	for (unsigned left = count < PROCESSES_MOST ? count : PROCESSES_MOST; left; left--) {
		uint32_t other = list[--count % PROCESSES_MOST];

		if (has_other_end(other, link, writes))
			return other;
	}
	return 0;
}

static uint32_t find_peer(struct gt_host_peers *peers, uint32_t pid, bool writes, const char *link)
{
	const char *number = strchr(link, '[');
	uint64_t now = gt_clock_ns(CLOCK_BOOTTIME), cost;
	struct gt_host_peer *p;

	if (!number)
		return 0;
	p = find_entry(peers, strtoull(number + 1, NULL, 10), pid, writes);
	if (p->searched_ns && (p->peer || now - p->searched_ns < SEARCH_AGAIN_NS))
		return p->peer;
	if (now < peers->next_search_ns)
		return 0;
	if (now - peers->next_search_ns > SEARCH_BURST_NS * SEARCH_PART)
		peers->next_search_ns = now - SEARCH_BURST_NS * SEARCH_PART;
	p->searched_ns = now;
	cost = gt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	p->peer = search_processes(pid, link, writes);
	if (!p->peer && has_other_end(pid, link, writes))
		p->peer = pid;
	peers->next_search_ns += (gt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost) * SEARCH_PART;
	return p->peer;
}

void gt_host_descriptor_describe(struct gt_host_peers *peers, uint32_t pid, bool writes,
				 char text[GT_HOST_TEXT_BYTES])
{
	struct gt_host_process other;
	char name[16] = "";
	uint32_t peer;

	if (begins(text, "socket:"))
		strcpy(text, "socket");
	if (!begins(text, "pipe:"))
		return;
	peer = peers ? find_peer(peers, pid, writes, text) : 0;
	if (!peer) {
		strcpy(text, "pipe");
	} else if (peer == pid) {
		strcpy(text, "pipe within the process");
	} else {
		if (!gt_host_process_open(peer, &other)) {
			gt_host_read_name(&other, peer, name, sizeof name);
			gt_host_process_close(&other);
		}
		snprintf(text, GT_HOST_TEXT_BYTES, "pipe %s %s%s(pid %u)", writes ? "to" : "from",
			 name, name[0] ? " " : "", peer);
	}
}

/* Read the position of a descriptor. Pipes and sockets have position 0. */
static uint64_t read_position(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return begins(text, "pos:") ? strtoull(text + 4, NULL, 10) : 0;
}

static void read_positions(const struct gt_host_process *process, uint32_t tid,
			   struct gt_host_positions *out)
{
	const struct dirent *entry;
	char path[32];
	DIR *folder;
	int fd;

	*out = (struct gt_host_positions){.pid = process->pid};
	snprintf(path, sizeof path, "%u/fdinfo", tid);
	fd = openat(process->tasks, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (!folder && fd >= 0)
		close(fd);
	while (folder && out->count < GT_HOST_POSITIONS && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			out->entries[out->count++] = (struct gt_host_position){
				(uint32_t)strtoul(entry->d_name, NULL, 10),
				read_position(dirfd(folder), entry->d_name)};
	if (folder)
		closedir(folder);
}

/* Return by how much the position of a descriptor differs. */
static uint64_t find_distance(const struct gt_host_positions *last,
			      const struct gt_host_position *now)
{
	for (unsigned i = 0; i < last->count; i++)
		if (last->entries[i].descriptor == now->descriptor)
			return now->bytes > last->entries[i].bytes
				       ? now->bytes - last->entries[i].bytes
				       : last->entries[i].bytes - now->bytes;
	return now->bytes; /* opened since */
}

uint64_t gt_host_descriptor_find_moving(struct gt_host_positions *last,
					const struct gt_host_process *process, uint32_t tid,
					char text[GT_HOST_TEXT_BYTES])
{
	const struct gt_host_position *moving = NULL;
	struct gt_host_positions now;
	uint64_t most = 0;

	read_positions(process, tid, &now);
	for (unsigned i = 0; last->pid == now.pid && i < now.count; i++) {
		uint64_t distance = find_distance(last, &now.entries[i]);

		if (distance > most) {
			most = distance;
			moving = &now.entries[i];
		}
	}
	*last = now;
	if (!moving)
		return 0;
	/* `now` is a copy of *last */
	gt_host_descriptor_look(process, tid, moving->descriptor, text);
	return (uint64_t)moving->descriptor + 1;
}
