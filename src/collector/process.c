/* SPDX-License-Identifier: MIT */
/* One process: see process.h. This file never writes to the capture; drain.c does. */
#include "collector/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/process_texts.h"
#include "util/error.h"

enum {
	SLOTS_MAX = 1 << 20,
	BLOCKS_MAX = 1 << 24,
	BLOCK_BYTES_MIN = 4096,
	BLOCK_BYTES_MAX = 16 << 20,
};

/* Check the head of the segment against the file's size, and copy the fields used later. */
static int check_segment(struct gt_process *process, const char *name, uint64_t file_bytes)
{
	const volatile struct gt_segment *r = process->segment;
	uint64_t end;

	if (r->magic != GT_SEGMENT_MAGIC)
		return gt_error(-EBADMSG, "%s is not a process's segment", name);
	if (r->version != GT_SEGMENT_VERSION)
		return gt_error(-ENOTSUP,
				"%s was created by another version of libgputap (segment version "
				"%u, not %u)",
				name, r->version, GT_SEGMENT_VERSION);
	process->slots_offset = r->header_bytes;
	process->slot_count = r->slot_count;
	process->block_bytes = r->block_bytes;
	process->block_count = r->block_count;
	process->block_offset = r->block_offset;
	process->bytes = file_bytes;
	process->pid = r->pid;
	process->ppid = r->ppid;
	process->number = r->fork_count;
	end = process->slots_offset + (uint64_t)process->slot_count * sizeof(struct gt_slot);
	if (r->slot_bytes != sizeof(struct gt_slot) ||
	    process->slots_offset < sizeof(struct gt_segment) || process->slots_offset % 64 ||
	    process->slots_offset > file_bytes || process->slot_count > SLOTS_MAX ||
	    end > file_bytes || process->block_bytes < BLOCK_BYTES_MIN ||
	    process->block_bytes > BLOCK_BYTES_MAX || process->block_bytes % 64 ||
	    process->block_count > BLOCKS_MAX || process->block_offset < end ||
	    process->block_offset % 64 || process->block_offset > file_bytes ||
	    (uint64_t)process->block_count * process->block_bytes >
		    file_bytes - process->block_offset)
		return gt_error(-EBADMSG, "%s has a damaged header", name);
	return 0;
}

int gt_process_open(const struct gt_folder *f, const char *name, struct gt_process *out)
{
	struct stat st;
	int status;

	memset(out, 0, sizeof *out);
	out->pidfd = -1;
	out->wait_status = -1;
	out->account = UINT32_MAX;
	gt_ring_name_parse(name, &out->name_pid, &out->name_ticks);
	out->fd = openat(f->fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (out->fd < 0) {
		status = errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -EAGAIN : -errno;
		return gt_error(status, "cannot open %s", name);
	}
	if (fstat(out->fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(struct gt_segment)) {
		status = gt_error(-EBADMSG, "%s is not a process's segment", name);
		goto fail;
	}
	out->segment =
		mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
	if (out->segment == MAP_FAILED) {
		out->segment = NULL;
		status = gt_error(-EAGAIN, "cannot map %s", name);
		goto fail;
	}
	out->bytes = (uint64_t)st.st_size;
	status = check_segment(out, name, out->bytes);
	if (!status)
		return 0;
fail:
	gt_process_close(out);
	return status;
}

void gt_process_close(struct gt_process *process)
{
	if (process->segment)
		munmap(process->segment, process->bytes);
	if (process->fd >= 0)
		close(process->fd);
	if (process->pidfd >= 0)
		close(process->pidfd);
	for (uint32_t i = 0; i < process->rings_known; i++)
		if (process->rings[i].stream)
			gt_capture_stream_destroy(process->rings[i].stream);
	free(process->rings);
	free(process->held);
	gt_process_texts_free(process->texts);
	process->texts = NULL;
	process->held = NULL;
	process->held_count = 0;
	process->segment = NULL;
	process->rings = NULL;
	process->rings_known = 0;
	process->fd = -1;
	process->pidfd = -1;
}

uint32_t gt_process_slots_used(const struct gt_process *process)
{
	uint32_t n = atomic_load_explicit(&process->segment->slots_used, memory_order_acquire);

	return n < process->slot_count ? n : process->slot_count;
}

int gt_process_know_rings(struct gt_process *process, uint32_t count)
{
	uint32_t room = count < 16 ? 16 : count + count / 2;
	struct gt_ring *rings;

	if (count <= process->rings_known)
		return 0;
	rings = realloc(process->rings, room * sizeof *rings);
	if (!rings)
		return gt_error(-ENOMEM, "no memory for %u rings", room);
	memset(rings + process->rings_known, 0, (room - process->rings_known) * sizeof *rings);
	for (uint32_t i = process->rings_known; i < room; i++)
		rings[i].mark = UINT32_MAX;
	process->rings = rings;
	process->rings_known = room;
	return 0;
}

void gt_process_give_back(struct gt_process *process, uint32_t number)
{
	struct gt_segment *r = process->segment;
	struct gt_block *b = gt_process_block(process, number);
	uint64_t old = atomic_load_explicit(&r->free, memory_order_relaxed);

	atomic_store_explicit(&b->drained, 0, memory_order_relaxed);
	/* the tag makes a pop fail if other pops and pushes happened during the pop. The loop is
	 * bounded, because a faulty program might change the word forever; in that case the pool
	 * loses this block */
	for (int tries = 0; tries < 1 << 16; tries++) {
		uint64_t new = ((old >> 32) + 1) << 32 | number;

		atomic_store_explicit(&b->free_next, (uint32_t)old, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(&r->free, &old, new, memory_order_release,
							  memory_order_relaxed))
			break;
	}
	atomic_fetch_add_explicit(&r->drain_count, 1, memory_order_relaxed);
}

void gt_process_free_slot(struct gt_process *process, uint32_t i)
{
	struct gt_slot *slot = gt_process_slot(process, i);

	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int d = 0; d < GT_DOMAIN_COUNT; d++) {
			atomic_store_explicit(&slot->domains[d].seen[c], 0, memory_order_relaxed);
			for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
				atomic_store_explicit(&slot->dropped[why][c][d], 0,
						      memory_order_relaxed);
		}
	for (int d = 0; d < GT_DOMAIN_COUNT; d++)
		atomic_store_explicit(&slot->domains[d].newest, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->first, GT_BLOCK_NONE, memory_order_relaxed);
	atomic_store_explicit(&slot->end_ticks, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->state, GT_SLOT_FREE, memory_order_release);
}

void gt_process_add_slot_counts(const struct gt_process *process, uint32_t i,
				struct gt_counts *counts)
{
	const struct gt_slot *slot = gt_process_slot(process, i);

	/* read `dropped` before `seen`, because a call that ends between the reads must not make
	 * `dropped` exceed `seen` */
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		for (int d = 0; d < GT_DOMAIN_COUNT; d++) {
			for (int why = 0; why < GT_DROP_REASON_COUNT; why++)
				counts->dropped[why][c][d] +=
					atomic_load_explicit(&slot->dropped[why][c][d],
							     memory_order_acquire);
			counts->seen[c][d] += atomic_load_explicit(&slot->domains[d].seen[c],
								   memory_order_relaxed);
		}
}

void gt_counts_add(struct gt_counts *to, const struct gt_counts *what)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)what;

	static_assert(sizeof *to % sizeof *a == 0 &&
			      _Alignof(struct gt_counts) == _Alignof(uint64_t),
		      "the struct consists of uint64_t");
	for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
		a[i] += b[i];
}

void gt_process_describe(const struct gt_process *process, struct gt_process_info *info,
			 struct gt_process_text *text)
{
	const struct gt_segment *r = process->segment;
	uint32_t n = r->argv_bytes;

	static_assert(sizeof text->argv >= sizeof r->argv + 2 && sizeof text->exe == sizeof r->exe,
		      "the texts fit");
	memset(info, 0, sizeof *info);
	memcpy(text->exe, r->exe, sizeof r->exe);
	text->exe[sizeof text->exe - 1] = '\0';
	if (n > sizeof r->argv)
		n = sizeof r->argv;
	memcpy(text->argv, r->argv, n);
	if (n && text->argv[n - 1])
		text->argv[n++] = '\0'; /* truncated within an argument */
	text->argv[n] = '\0';
	info->index = process->index;
	info->pid = process->pid;
	info->ppid = process->ppid;
	info->fork_count = process->number;
	info->start_ticks = r->start_ticks;
	info->rank = r->rank;
	info->exe = text->exe;
	info->argv = text->argv;
	info->wait_status = process->wait_status;
	info->runtimes = atomic_load_explicit(&((struct gt_segment *)r)->runtimes_seen,
					      memory_order_relaxed);
	info->children_lost = atomic_load_explicit(&((struct gt_segment *)r)->children_lost,
						   memory_order_relaxed);
	info->proper_end = atomic_load_explicit(&((struct gt_segment *)r)->state,
						memory_order_relaxed) == GT_SEGMENT_EXITED;
}
