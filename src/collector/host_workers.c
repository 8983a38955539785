/* SPDX-License-Identifier: MIT */
/* See host_workers.h. */
#include "collector/host_workers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock_ns.h"

#define MS             UINT64_C(1000000)
#define PERIOD_NS      (15 * MS)
/* share of a processor that the readings may take */
#define COST_PART      600
/* the same when a thread stops waiting, which may have been the end of a delay */
#define LAST_COST_PART 200
/* An older reading says nothing about the time since then: it is only a new start. */
#define OLD_NS         (600 * MS)
/* shorter delays are normal, for example when a thread wakes up */
#define DELAY_LEAST_NS (1 * MS)

static DIR *open_threads(const struct gt_host_process *process)
{
	int fd = openat(process->tasks, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

	if (!folder && fd >= 0)
		close(fd);
	return folder;
}

static bool read_delay(const struct gt_host_process *process, uint32_t tid, uint64_t *ns)
{
	char text[96], *at;

	if (gt_host_read_file(process, tid, "schedstat", text, sizeof text) <= 0)
		return false;
	strtoull(text, &at, 10);
	*ns = strtoull(at, NULL, 10);
	return true;
}

static const struct gt_host_worker *find_worker(const struct gt_host_workers *w, uint32_t tid)
{
	for (unsigned i = 0; i < w->count; i++)
		if (w->threads[i].tid == tid)
			return &w->threads[i];
	return NULL;
}

static void add_delay(struct gt_host_delays *out, uint32_t tid, uint64_t ns)
{
	out->sum_ns += ns;
	if (ns <= out->longest_ns)
		return;
	out->longest_ns = ns;
	out->tid = tid;
}

static void read_threads(struct gt_host_workers *now, const struct gt_host_workers *last,
			 const struct gt_host_process *process, gt_host_workers_skip *skip,
			 const void *data, struct gt_host_delays *out)
{
	DIR *folder = open_threads(process);
	const struct dirent *entry;

	while (folder && now->count < GT_HOST_WORKERS_MOST && (entry = readdir(folder))) {
		struct gt_host_worker thread = {.tid = (uint32_t)strtoul(entry->d_name, NULL, 10)};
		const struct gt_host_worker *before;

		if (!thread.tid || skip(data, thread.tid) ||
		    !read_delay(process, thread.tid, &thread.delay_ns))
			continue;
		now->threads[now->count++] = thread;
		before = find_worker(last, thread.tid);
		if (before && thread.delay_ns > before->delay_ns)
			add_delay(out, thread.tid, thread.delay_ns - before->delay_ns);
	}
	if (folder)
		closedir(folder);
}

bool gt_host_workers_read(struct gt_host_workers *w, const struct gt_host_process *process,
			  bool is_last, gt_host_workers_skip *skip, const void *data,
			  struct gt_host_delays *out)
{
	const uint64_t begin = gt_clock_ns(CLOCK_BOOTTIME);
	struct gt_host_workers now = {.ns = begin};
	uint64_t cost;

	*out = (struct gt_host_delays){.start = w->ns, .end = begin};
	if (begin < (is_last ? w->last_ns : w->next_ns))
		return false;
	read_threads(&now, w, process, skip, data, out);
	cost = gt_clock_ns(CLOCK_BOOTTIME) - begin;
	now.last_ns = begin + cost * LAST_COST_PART;
	now.next_ns = begin + (cost * COST_PART > PERIOD_NS ? cost * COST_PART : PERIOD_NS);
	*w = now;
	if (!out->start || out->end - out->start > OLD_NS + cost * COST_PART ||
	    out->longest_ns < DELAY_LEAST_NS)
		return false;
	if (out->longest_ns > out->end - out->start)
		out->start = out->end - out->longest_ns;
	gt_host_read_name(process, out->tid, out->name, sizeof out->name);
	return true;
}
