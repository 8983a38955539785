/* SPDX-License-Identifier: MIT */
/* One process image: see tracee.h. Nothing here writes to the capture; drain.c does. */
#include "collector/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/error.h"

enum {
	SLOTS_MAX = 1 << 20,
	BLOCKS_MAX = 1 << 24,
	BLOCK_BYTES_MIN = 4096,
	BLOCK_BYTES_MAX = 16 << 20,
};

/* The head as it is now, against the file's size. Copies what is used later. */
static int check_segment(struct gt_tracee *image, const char *name, uint64_t file_bytes)
{
	const volatile struct gt_segment *r = image->segment;
	uint64_t end;

	if (r->magic != GT_SEGMENT_MAGIC)
		return gt_error(-EBADMSG, "%s is not a ring file", name);
	if (r->version != GT_SEGMENT_VERSION)
		return gt_error(
			-ENOTSUP,
			"%s was made by another version of libgputap (ring version %u, ours is %u)",
			name, r->version, GT_SEGMENT_VERSION);
	image->slots_offset = r->header_bytes;
	image->slot_count = r->slot_count;
	image->block_bytes = r->block_bytes;
	image->block_count = r->block_count;
	image->block_offset = r->block_offset;
	image->bytes = file_bytes;
	image->pid = r->pid;
	image->ppid = r->ppid;
	image->number = r->image;
	end = image->slots_offset + (uint64_t)image->slot_count * sizeof(struct gt_slot);
	if (r->slot_bytes != sizeof(struct gt_slot) ||
	    image->slots_offset < sizeof(struct gt_segment) || image->slots_offset % 64 ||
	    image->slots_offset > file_bytes || image->slot_count > SLOTS_MAX || end > file_bytes ||
	    image->block_bytes < BLOCK_BYTES_MIN || image->block_bytes > BLOCK_BYTES_MAX ||
	    image->block_bytes % 64 || image->block_count > BLOCKS_MAX ||
	    image->block_offset < end || image->block_offset % 64 ||
	    image->block_offset > file_bytes ||
	    (uint64_t)image->block_count * image->block_bytes > file_bytes - image->block_offset)
		return gt_error(-EBADMSG, "%s has a damaged head", name);
	return 0;
}

int gt_tracee_open(const struct gt_folder *f, const char *name, struct gt_tracee *out)
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
		status = gt_error(-EBADMSG, "%s is not a ring file", name);
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
	gt_tracee_close(out);
	return status;
}

void gt_tracee_close(struct gt_tracee *image)
{
	if (image->segment)
		munmap(image->segment, image->bytes);
	if (image->fd >= 0)
		close(image->fd);
	if (image->pidfd >= 0)
		close(image->pidfd);
	for (uint32_t i = 0; i < image->rings_known; i++)
		if (image->rings[i].stream)
			gt_capture_stream_destroy(image->rings[i].stream);
	free(image->rings);
	free(image->held);
	image->held = NULL;
	image->held_count = 0;
	image->segment = NULL;
	image->rings = NULL;
	image->rings_known = 0;
	image->fd = image->pidfd = -1;
}

uint32_t gt_tracee_slots_used(const struct gt_tracee *image)
{
	uint32_t n = atomic_load_explicit(&image->segment->slots_used, memory_order_acquire);

	return n < image->slot_count ? n : image->slot_count;
}

int gt_tracee_know_rings(struct gt_tracee *image, uint32_t count)
{
	uint32_t room = count < 16 ? 16 : count + count / 2;
	struct gt_ring *rings;

	if (count <= image->rings_known)
		return 0;
	rings = realloc(image->rings, room * sizeof *rings);
	if (!rings)
		return gt_error(-ENOMEM, "no memory for %u rings", room);
	memset(rings + image->rings_known, 0, (room - image->rings_known) * sizeof *rings);
	for (uint32_t i = image->rings_known; i < room; i++)
		rings[i].mark = UINT32_MAX;
	image->rings = rings;
	image->rings_known = room;
	return 0;
}

void gt_tracee_give_back(struct gt_tracee *image, uint32_t number)
{
	struct gt_segment *r = image->segment;
	struct gt_block *b = gt_tracee_block(image, number);
	uint64_t old = atomic_load_explicit(&r->free, memory_order_relaxed);

	atomic_store_explicit(&b->drained, 0, memory_order_relaxed);
	/* the tag makes a pop that slept through pops and pushes fail; bounded because a wild
	 * program might change the word for ever: then the pool loses this block */
	for (int tries = 0; tries < 1 << 16; tries++) {
		uint64_t new = ((old >> 32) + 1) << 32 | number;

		atomic_store_explicit(&b->free_next, (uint32_t)old, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(&r->free, &old, new, memory_order_release,
							  memory_order_relaxed))
			break;
	}
	atomic_fetch_add_explicit(&r->drain_count, 1, memory_order_relaxed);
}

void gt_tracee_free_slot(struct gt_tracee *image, uint32_t i)
{
	struct gt_slot *slot = gt_tracee_slot(image, i);

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

void gt_tracee_add_slot_counts(const struct gt_tracee *image, uint32_t i, struct gt_counts *counts)
{
	const struct gt_slot *slot = gt_tracee_slot(image, i);

	/* dropped before seen: a call that ends in between must not make dropped more than seen */
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
		      "nothing but uint64_t");
	for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
		a[i] += b[i];
}

void gt_tracee_info(const struct gt_tracee *image, struct gt_process_info *info,
		    struct gt_tracee_text *text)
{
	const struct gt_segment *r = image->segment;
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
		text->argv[n++] = '\0'; /* cut inside an argument */
	text->argv[n] = '\0';
	info->index = image->index;
	info->pid = image->pid;
	info->ppid = image->ppid;
	info->image = image->number;
	info->start_ticks = r->start_ticks;
	info->exe = text->exe;
	info->argv = text->argv;
	info->wait_status = image->wait_status;
	info->runtimes = atomic_load_explicit(&((struct gt_segment *)r)->runtimes_seen,
					      memory_order_relaxed);
	info->children_lost = atomic_load_explicit(&((struct gt_segment *)r)->children_lost,
						   memory_order_relaxed);
	info->proper_end = atomic_load_explicit(&((struct gt_segment *)r)->state,
						memory_order_relaxed) == GT_SEGMENT_EXITED;
}
