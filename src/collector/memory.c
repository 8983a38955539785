/* SPDX-License-Identifier: MIT */
/* See memory.h. ring/segment.h defines who owns a block while it is cooled.
 *
 * Two words of a process's segment show that the process is short of blocks. Only then are the
 * limits read again, which takes 50 us. */
#include "collector/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "collector/batch.h"
#include "collector/drain.h"
#include "collector/guard.h"
#include "util/grow.h"

#define MS               UINT64_C(1000000)
#define BALANCE_EVERY_NS (5 * MS)
#define COOL_EVERY_NS    (1000 * MS)
#define IDLE_NS          (2000 * MS)
#define PART             4  /* rings may take 1/PART of the remaining memory */
#define PROCESSES        16 /* number of processes that may start at once within this part */
#define START_BYTES_MAX  (UINT64_C(32) << 20)
#define FLOOR_BYTES      (UINT64_C(1) << 20) /* memory of an idle process that stays warm */
#define BLOCKS_MIN       4u
#define CGROUP_ROOT      "/sys/fs/cgroup"
/* control groups v1 report at least this number if there is no limit */
#define NO_LIMIT         (UINT64_C(1) << 60)

/* Limits ----------------------------------------------------------------------- */

static bool read_text(const char *path, char *out, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, out, room - 1);
	close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Read a number from a file of a control group. Return UINT64_MAX for "max", or if the file is
 * missing. */
static uint64_t read_number(const char *folder, const char *name)
{
	char path[PATH_MAX], text[64], *end;
	unsigned long long value;

	if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
	    !read_text(path, text, sizeof text))
		return UINT64_MAX;
	value = strtoull(text, &end, 10);
	return end == text || value >= NO_LIMIT ? UINT64_MAX : value;
}

/* Return the number after "\n@key " in the text. */
static uint64_t find_number(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = text; line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return strtoull(line + n, NULL, 10);
	return 0;
}

/* Return the size of the group's page cache, which the kernel reclaims before it kills a
 * process. */
static uint64_t cache_bytes(const char *folder, const char *prefix)
{
	char path[PATH_MAX], text[8192], key[32];
	uint64_t sum = 0;

	if (snprintf(path, sizeof path, "%s/memory.stat", folder) >= (int)sizeof path ||
	    !read_text(path, text, sizeof text))
		return 0;
	for (int i = 0; i < 2; i++) {
		snprintf(key, sizeof key, "%s%s", prefix, i ? "active_file" : "inactive_file");
		sum += find_number(text, key);
	}
	return sum;
}

static uint64_t left_in(const char *folder, bool is_v2)
{
	uint64_t limit = read_number(folder, is_v2 ? "memory.max" : "memory.limit_in_bytes"), high,
		 used, cache;

	high = is_v2 ? read_number(folder, "memory.high") : UINT64_MAX;
	limit = high < limit ? high : limit;
	if (limit == UINT64_MAX)
		return UINT64_MAX;
	used = read_number(folder, is_v2 ? "memory.current" : "memory.usage_in_bytes");
	if (used == UINT64_MAX)
		return limit;
	cache = cache_bytes(folder, is_v2 ? "" : "total_");
	used -= cache < used ? cache : used;
	return used < limit ? limit - used : 0;
}

/* Return the minimum of the memory left in the group @path below @mount and in all its ancestors.
 * In a container, the path may belong to another namespace, so only existing groups count. */
static uint64_t left_above(const char *mount, const char *path, size_t bytes, bool is_v2)
{
	char folder[PATH_MAX];
	uint64_t least = UINT64_MAX, left;

	for (;;) {
		if (snprintf(folder, sizeof folder, "%s%.*s", mount, (int)bytes, path) <
		    (int)sizeof folder) {
			left = left_in(folder, is_v2);
			least = left < least ? left : least;
		}
		if (!bytes)
			return least;
		while (bytes && path[bytes - 1] != '/')
			bytes--;
		bytes -= bytes != 0;
	}
}

uint64_t gt_memory_left(const char *cgroup, const char *root)
{
	static const char *const unified[] = {"", "/unified"};
	uint64_t least = UINT64_MAX, left;
	char mount[PATH_MAX];

	for (const char *line = cgroup; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *controllers = strchr(line, ':'),
			   *path = controllers ? strchr(controllers + 1, ':') : NULL;
		size_t bytes = path ? strcspn(path + 1, "\n") : 0;
		bool is_v2 = path && path == controllers + 1;

		if (!path || (!is_v2 && strncmp(controllers, ":memory:", 8) != 0))
			continue;
		for (int i = 0; i < (is_v2 ? 2 : 1); i++) {
			snprintf(mount, sizeof mount, "%s%s", root, is_v2 ? unified[i] : "/memory");
			left = left_above(mount, path + 1, bytes, is_v2);
			least = left < least ? left : least;
		}
	}
	return least;
}

/* Return the memory left on the whole machine and in the file system of the rings. */
static uint64_t left_on_machine(const char *folder)
{
	uint64_t least = UINT64_MAX, room;
	struct statvfs fs;
	char text[4096];

	if (read_text("/proc/meminfo", text, sizeof text)) {
		room = find_number(text, "MemAvailable:") << 10;
		least = room ? room : least;
	}
	if (!statvfs(folder, &fs)) {
		room = (uint64_t)fs.f_bavail * fs.f_frsize;
		least = room < least ? room : least;
	}
	return least;
}

static bool read_cgroup(uint32_t pid, char *out, size_t room)
{
	char path[64] = "/proc/self/cgroup";

	if (pid)
		snprintf(path, sizeof path, "/proc/%u/cgroup", pid);
	return read_text(path, out, room);
}

/* Budgets ---------------------------------------------------------------------- */

static struct gt_memory_group *find_group(struct gt_memory_budgets *m,
					  const struct gt_process *process)
{
	return &m->groups[process->group < m->group_count ? process->group : 0];
}

static uint64_t limit_bytes(const struct gt_process *process)
{
	return process->held_count < process->block_limit
		       ? (uint64_t)(process->block_limit - process->held_count) *
				 process->block_bytes
		       : 0;
}

static uint64_t present_bytes(const struct gt_process *process)
{
	return process->held_count < process->blocks_seen
		       ? (uint64_t)(process->blocks_seen - process->held_count) *
				 process->block_bytes
		       : 0;
}

/* Find or add the group of a new process. */
static void join_group(struct gt_memory_budgets *m, struct gt_process *process)
{
	struct gt_memory_group *more;
	char text[4096];
	size_t i;

	process->is_grouped = true;
	if (process->pidfd < 0 || !read_cgroup(process->pid, text, sizeof text))
		return;
	for (i = 0; i < m->group_count; i++)
		if (strcmp(m->groups[i].name, text) == 0) {
			process->group = (uint32_t)i;
			return;
		}
	more = gt_grow(m->groups, m->group_count, &m->group_room, sizeof *more);
	if (!more)
		return;
	m->groups = more;
	more[i] = (struct gt_memory_group){.name = strdup(text), .budget_bytes = UINT64_MAX};
	if (!more[i].name)
		return;
	m->group_count++;
	process->group = (uint32_t)i;
}

/* Compute the current budget of each group. */
static void read_budgets(struct gt_memory_budgets *m, const struct gt_drain *d)
{
	uint64_t machine = left_on_machine(d->folder->path);

	for (size_t i = 0; i < m->group_count; i++)
		m->groups[i].granted_bytes = 0;
	for (size_t i = 0; i < d->process_count; i++)
		if (d->processes[i]->segment)
			find_group(m, d->processes[i])->granted_bytes +=
				limit_bytes(d->processes[i]);
	for (size_t i = 0; i < m->group_count; i++) {
		uint64_t left = gt_memory_left(m->groups[i].name, CGROUP_ROOT), used = 0;

		left = left < machine ? left : machine;
		for (size_t k = 0; k < d->process_count; k++)
			if (d->processes[k]->segment &&
			    find_group(m, d->processes[k]) == &m->groups[i])
				used += present_bytes(d->processes[k]);
		m->groups[i].budget_bytes =
			left > UINT64_MAX / 2 ? UINT64_MAX : (left + used) / PART;
	}
}

uint32_t gt_memory_start_blocks(uint64_t left_bytes, uint64_t pool_bytes, uint32_t block_bytes)
{
	uint64_t start = left_bytes / PART / PROCESSES;

	if (start >= pool_bytes)
		return 0;
	start = start < START_BYTES_MAX ? start : START_BYTES_MAX;
	return start / block_bytes < BLOCKS_MIN ? BLOCKS_MIN : (uint32_t)(start / block_bytes);
}

static void set_start_blocks(struct gt_folder *f, uint64_t left_bytes)
{
	gt_folder_store(f, &f->session->start_blocks,
			gt_memory_start_blocks(left_bytes, f->copy->pool_bytes,
					       f->copy->block_bytes));
}

/* Read and check two words of the segment. Return false if they cannot be read. */
static bool read_block_words(struct gt_drain *d, struct gt_process *process)
{
	uint32_t used, limit;

	if (!process->segment || process->lost)
		return false;
	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return false;
	}
	used = atomic_load_explicit(&process->segment->blocks_used, memory_order_relaxed);
	limit = atomic_load_explicit(&process->segment->block_limit, memory_order_relaxed);
	gt_guard_end();
	process->blocks_seen = used < process->block_count ? used : process->block_count;
	process->block_limit = limit && limit < process->block_count ? limit : process->block_count;
	return true;
}

static void set_limit(struct gt_drain *d, struct gt_process *process, uint32_t limit)
{
	process->block_limit = limit;
	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return;
	}
	atomic_store_explicit(&process->segment->block_limit, limit, memory_order_relaxed);
	gt_guard_end();
}

/* Idle memory ------------------------------------------------------------------ */

/* Do the same as gt_pool_pop(), for memory that a faulty program may change: every number is
 * checked, and the number of attempts is bounded. Return GT_BLOCK_NONE on failure. */
static uint32_t pop_block(struct gt_process *process)
{
	struct gt_segment *r = process->segment;
	uint64_t top = atomic_load_explicit(&r->free, memory_order_acquire), next;

	for (int tries = 0; tries < 1 << 10 && gt_process_has_block(process, (uint32_t)top);
	     tries++) {
		next = atomic_load_explicit(&gt_process_block(process, (uint32_t)top)->free_next,
					    memory_order_relaxed);
		next |= ((top >> 32) + 1) << 32;
		if (atomic_compare_exchange_weak_explicit(&r->free, &top, next,
							  memory_order_acquire,
							  memory_order_acquire))
			return (uint32_t)top;
	}
	return GT_BLOCK_NONE;
}

/* Free a block's memory, except the page with the block's header. Return false if the file system
 * does not support this. */
static bool cool_block(struct gt_process *process, uint32_t number)
{
	struct gt_block *b = gt_process_block(process, number);
	uint64_t at = (uint64_t)((const char *)b - (const char *)process->segment), keep = 4096;

	if (atomic_load_explicit(&b->is_cold, memory_order_relaxed))
		return true;
	if (process->block_bytes <= keep ||
	    fallocate(process->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(at + keep),
		      (off_t)(process->block_bytes - keep)) != 0)
		return false;
	/* published when the block is pushed */
	atomic_store_explicit(&b->is_cold, 1, memory_order_relaxed);
	return true;
}

/* Take free blocks and hold them, until @most blocks are cold or no more blocks are free. */
static void hold_blocks(struct gt_drain *d, struct gt_process *process, uint32_t most)
{
	uint32_t *more;
	volatile uint32_t n;

	for (n = 0; n < most; n++) {
		volatile uint32_t number = GT_BLOCK_NONE;
		volatile bool good = false;

		more = gt_grow(process->held, process->held_count, &process->held_room,
			       sizeof *more);
		if (!more)
			return;
		process->held = more;
		if (!GT_GUARD()) {
			gt_batch_lose(d, process);
			return;
		}
		number = pop_block(process);
		good = number != GT_BLOCK_NONE && cool_block(process, number);
		if (number != GT_BLOCK_NONE && !good)
			gt_process_give_back(process, number);
		gt_guard_end();
		if (!good)
			return;
		process->held[process->held_count++] = number;
	}
}

/* Give back up to @most of the held blocks. */
static void release_blocks(struct gt_drain *d, struct gt_process *process, uint32_t most)
{
	volatile uint32_t n;

	for (n = 0; n < most && process->held_count && !process->lost; n++) {
		if (!GT_GUARD()) {
			gt_batch_lose(d, process);
			return;
		}
		gt_process_give_back(process, process->held[--process->held_count]);
		gt_guard_end();
	}
}

/* Cool all blocks of an idle process above a minimum, which stays warm for speed. Writers find the
 * blocks in the pool as before. */
static void cool_process(struct gt_drain *d, struct gt_process *process, uint64_t now_ns)
{
	uint32_t floor = (uint32_t)(FLOOR_BYTES / process->block_bytes), held = process->held_count;

	if (process->cooled_ns >= process->active_ns || now_ns - process->active_ns < IDLE_NS ||
	    process->blocks_seen <= floor)
		return;
	process->cooled_ns = now_ns;
	hold_blocks(d, process, process->blocks_seen);
	release_blocks(d, process, process->held_count - held);
}

/* The loop ----------------------------------------------------------------------- */

static bool wants_more(const struct gt_process *process)
{
	return process->block_limit < process->block_count + process->held_count &&
	       (process->held_count ||
		process->blocks_seen >= process->block_limit - process->block_limit / 4);
}

static void grant_blocks(struct gt_drain *d, struct gt_memory_group *g, struct gt_process *process)
{
	uint64_t room = g->budget_bytes > g->granted_bytes ? g->budget_bytes - g->granted_bytes : 0;
	uint32_t more = process->held_count < process->block_limit
				? process->block_limit - process->held_count
				: BLOCKS_MIN,
		 fresh;

	if (more > room / process->block_bytes)
		more = (uint32_t)(room / process->block_bytes);
	if (!more)
		return;
	g->granted_bytes += (uint64_t)more * process->block_bytes;
	fresh = more - (more < process->held_count ? more : process->held_count);
	release_blocks(d, process, more - fresh);
	if (fresh > process->block_count - process->block_limit)
		fresh = process->block_count - process->block_limit;
	if (fresh)
		set_limit(d, process, process->block_limit + fresh);
}

/* Take back the memory that a process has above its share: first the unused part of its limit, then
 * free blocks. */
static void take_away(struct gt_drain *d, struct gt_memory_group *g, struct gt_process *process)
{
	uint64_t excess = g->granted_bytes - g->budget_bytes, before = limit_bytes(process);
	uint32_t least = process->blocks_seen > BLOCKS_MIN ? process->blocks_seen : BLOCKS_MIN,
		 blocks;

	if (process->block_limit > least) {
		blocks = (uint32_t)(excess / process->block_bytes + 1);
		set_limit(d, process,
			  process->block_limit - least > blocks ? process->block_limit - blocks
								: least);
	}
	excess -= before - limit_bytes(process) < excess ? before - limit_bytes(process) : excess;
	blocks = (uint32_t)(excess / process->block_bytes);
	least = process->block_limit > process->held_count + BLOCKS_MIN
			? process->block_limit - process->held_count - BLOCKS_MIN
			: 0;
	if (blocks && least)
		hold_blocks(d, process, blocks < least ? blocks : least);
	g->granted_bytes -= before - limit_bytes(process);
}

void gt_memory_balance(struct gt_memory_budgets *m, struct gt_drain *d, uint64_t now_ns)
{
	bool slow = now_ns - m->cooled_ns >= COOL_EVERY_NS, wanted = slow;
	uint64_t left = UINT64_MAX;

	if (!m->group_count)
		return;
	if (now_ns - m->balanced_ns < BALANCE_EVERY_NS)
		return;
	for (size_t i = 0; i < d->process_count; i++) {
		struct gt_process *process = d->processes[i];

		if (!read_block_words(d, process))
			continue;
		if (!process->is_grouped) {
			join_group(m, process);
			wanted = true;
		}
		wanted |= wants_more(process);
	}
	if (!wanted)
		return;
	m->balanced_ns = now_ns;
	read_budgets(m, d);
	for (size_t i = 0; i < d->process_count; i++) {
		struct gt_process *process = d->processes[i];
		struct gt_memory_group *g = find_group(m, process);

		if (!process->segment || process->lost)
			continue;
		if (g->granted_bytes > g->budget_bytes)
			take_away(d, g, process);
		else if (wants_more(process))
			grant_blocks(d, g, process);
		if (slow)
			cool_process(d, process, now_ns);
	}
	for (size_t i = 0; i < m->group_count; i++) {
		const struct gt_memory_group *g = &m->groups[i];
		uint64_t room =
			g->budget_bytes > g->granted_bytes ? g->budget_bytes - g->granted_bytes : 0;

		if (room < left / PART)
			left = room * PART;
	}
	set_start_blocks(d->folder, left);
	if (slow)
		m->cooled_ns = now_ns;
}

void gt_memory_init(struct gt_memory_budgets *m, struct gt_drain *d)
{
	uint64_t left = left_on_machine(d->folder->path), own;
	char text[4096] = "";

	memset(m, 0, sizeof *m);
	read_cgroup(0, text, sizeof text);
	own = gt_memory_left(text, CGROUP_ROOT);
	left = own < left ? own : left;
	set_start_blocks(d->folder, left);
	m->groups = gt_grow(NULL, 0, &m->group_room, sizeof *m->groups);
	if (!m->groups)
		return; /* without balancing, processes keep their initial blocks */
	m->groups[0] = (struct gt_memory_group){.name = strdup(text), .budget_bytes = UINT64_MAX};
	m->group_count = m->groups[0].name != NULL;
}

void gt_memory_fini(struct gt_memory_budgets *m)
{
	for (size_t i = 0; i < m->group_count; i++)
		free(m->groups[i].name);
	free(m->groups);
	memset(m, 0, sizeof *m);
}
