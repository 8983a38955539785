/* SPDX-License-Identifier: MIT */
/* Opens a capture: sorts the lists that the scan filled. contents.c gives access to the lists. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/copies.h"
#include "capture/reader.h"
#include "capture/shared_clock.h"
#include "util/error.h"

/* Maximum number of open files. Any further file is opened again for each block read from it. */
enum { FILES_OPEN = 256 };

static int compare_blocks(const void *a, const void *b)
{
	const struct stream_block *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int finish_streams(struct gt_capture *c)
{
	size_t i;

	if (c->block_count)
		qsort(c->blocks, c->block_count, sizeof *c->blocks, compare_blocks);
	for (i = 0; i < c->block_count; i++) {
		const struct stream_block *b = &c->blocks[i];
		struct ring_stream *s = c->stream_count ? &c->streams[c->stream_count - 1] : NULL;

		if (!s || s->process != b->process || s->ordinal != b->ordinal) {
			int status = GT_LIST_ADD(c, streams, stream_count, stream_room);

			if (status)
				return status;
			s = &c->streams[c->stream_count++];
			*s = (struct ring_stream){b->process, b->ordinal, i, 0};
		}
		s->count++;
	}
	return 0;
}

/* Keep the newest entry of each thread, and add an entry for each stream whose thread block is
 * lost. The sort is stable, so the newest of equal entries comes last. */
static int finish_threads(struct gt_capture *c)
{
	size_t i, n = 0;
	int status;

	for (i = 0; i < c->stream_count; i++) {
		status = GT_LIST_ADD(c, threads, thread_count, thread_room);

		if (status)
			return status;
		c->threads[c->thread_count++] =
			(struct gt_thread_info){.process = c->streams[i].process,
						.ordinal = c->streams[i].ordinal,
						.name = NULL};
	}
	status =
		gt_sort_stable(c->threads, c->thread_count, sizeof *c->threads, gt_compare_threads);
	if (status)
		return status;
	for (i = 0; i < c->thread_count; i++) {
		struct gt_thread_info *t = &c->threads[i];

		if (n && !gt_compare_threads(&c->threads[n - 1], t)) {
			/* the nameless entry of the stream, which comes last in its group, adds
			 * nothing */
			if (t->name)
				c->threads[n - 1] = *t;
			continue;
		}
		c->threads[n] = *t;
		if (!c->threads[n].name)
			c->threads[n].name = "";
		n++;
	}
	c->thread_count = n;
	return 0;
}

static int finish_strings(struct gt_capture *c)
{
	size_t i, n = 0, process = 0;
	int status =
		gt_sort_stable(c->strings, c->string_count, sizeof *c->strings, gt_compare_strings);

	if (status)
		return status;
	for (i = 0; i < c->string_count; i++) {
		if (n && !gt_compare_strings(&c->strings[n - 1], &c->strings[i]))
			n--; /* the newest entry counts */
		c->strings[n++] = c->strings[i];
	}
	c->string_count = n;
	c->string_first = calloc(c->process_count + 1, sizeof *c->string_first);
	if (!c->string_first)
		return gt_error(-ENOMEM, "cannot store the strings of capture %s",
				c->files[0].path);
	for (i = 0; i < n; i++)
		while (process <= c->strings[i].process)
			c->string_first[process++] = i;
	while (process <= c->process_count)
		c->string_first[process++] = n;
	return 0;
}

/* Sum the dropped and evicted records of a class and domain. Return false on overflow. */
static bool sum_missing(const struct gt_counts *n, unsigned class, unsigned domain, uint64_t *sum)
{
	bool good = true;
	unsigned why;

	*sum = n->evicted[class][domain];
	for (why = 0; why < GT_DROP_REASON_COUNT; why++)
		good &= !__builtin_add_overflow(*sum, n->dropped[why][class][domain], sum);
	return good;
}

/* Return true if the sums of a process match its stream blocks, and seen = recorded + dropped +
 * evicted. @seen: the function adds the process's seen records */
static bool sums_agree(const struct process_sums *s, uint64_t *seen)
{
	const struct gt_counts *n = &s->counts;
	bool good = true;
	unsigned k, d;

	for (k = 0; k < GT_CLASS_COUNT; k++)
		for (d = 0; d < GT_DOMAIN_COUNT; d++) {
			uint64_t sum;

			good &= sum_missing(n, k, d, &sum) &&
				!__builtin_add_overflow(sum, n->recorded[k][d], &sum) &&
				sum == n->seen[k][d] && n->recorded[k][d] == s->present[k][d] &&
				!__builtin_add_overflow(*seen, sum, seen);
		}
	return good;
}

/* Correct the sums. Present records count as recorded. Records that are in the sums but missing
 * count as corrupt. Records written after the last sums also count as seen. */
static void mend_sums(struct process_sums *s)
{
	struct gt_counts *n = &s->counts;
	unsigned k, d, why;

	for (k = 0; k < GT_CLASS_COUNT; k++)
		for (d = 0; d < GT_DOMAIN_COUNT; d++) {
			uint64_t here = s->present[k][d], sum;

			if (n->recorded[k][d] > here)
				n->dropped[GT_DROP_CORRUPT][k][d] += n->recorded[k][d] - here;
			n->recorded[k][d] = here;
			/* the sums are impossible */
			if (!sum_missing(n, k, d, &sum) ||
			    __builtin_add_overflow(sum, here, &sum)) {
				for (why = 0; why < GT_DROP_REASON_COUNT; why++)
					n->dropped[why][k][d] = 0;
				n->evicted[k][d] = 0;
				n->seen[k][d] = sum = here;
			}
			if (n->seen[k][d] > sum)
				n->dropped[GT_DROP_CORRUPT][k][d] += n->seen[k][d] - sum;
			else
				n->seen[k][d] = sum;
		}
}

/* Compare the collector's counts with the records. In a complete capture, a difference is reported,
 * because it means that the sums are wrong. In an incomplete capture, the counts are corrected. */
static void finish_counts(struct gt_capture *c)
{
	uint64_t seen = 0;
	size_t i;

	for (i = 0; i < c->process_count; i++) {
		struct session *session = gt_session_of(c, (uint32_t)i);
		struct gt_capture_health *health = &session->public.health;

		if (!c->sums[i])
			continue;
		if (health->end == GT_CAPTURE_COMPLETE && !health->bad_blocks &&
		    c->files[session->file].whole) {
			if (sums_agree(c->sums[i], &seen))
				continue;
			health->bad_sums++;
			c->health.bad_sums++;
		}
		mend_sums(c->sums[i]);
	}
}

/* Set the times of processes and events in sessions with known clocks. */
static void finish_times(struct gt_capture *c)
{
	size_t i;

	for (i = 0; i < c->process_count; i++) {
		const struct session *s = gt_session_of(c, (uint32_t)i);
		struct gt_process_info *p = &c->processes[i];

		if (p->start_ticks)
			p->start_ns = gt_host_clock_to_ns(s->host, p->start_ticks);
		if (p->end_ns)
			p->end_ns = gt_session_place_ns(s, p->end_ns);
	}
	for (i = 0; i < c->event_count; i++)
		c->events[i].time_ns =
			gt_host_clock_to_ns(gt_session_of(c, c->events[i].process)->host,
					    c->events[i].time_ns);
}

static int open_capture_file(struct gt_capture *c, const char *path)
{
	struct capture_file *file;
	struct stat st;
	int status = GT_LIST_ADD(c, files, file_count, file_room);

	if (status)
		return status;
	file = &c->files[c->file_count];
	*file = (struct capture_file){.fd = -1, .path = strdup(path)};
	if (!file->path)
		return gt_error(-ENOMEM, "cannot read capture %s", path);
	c->file_count++;
	/* O_NONBLOCK: fail on a pipe instead of blocking */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return gt_error(-errno, "cannot open capture %s", path);
	status = gt_capture_scan(c);
	if (!status && c->file_count > FILES_OPEN && !fstat(file->fd, &st)) {
		file->device = st.st_dev;
		file->inode = st.st_ino;
		close(file->fd);
		file->fd = -1;
	}
	return status;
}

int gt_capture_open_several(const char *const *paths, size_t count, struct gt_capture **out)
{
	struct gt_capture *c = calloc(1, sizeof *c);
	struct gt_copies *copies = NULL;
	size_t i;
	int status;

	*out = NULL;
	if (!c)
		return gt_error(-ENOMEM, "cannot read capture %s", paths[0]);
	status = count > 1 ? gt_copies_find(paths, count, &copies) : 0;
	c->copies = copies;
	c->repeated_count = gt_copies_count(copies);
	for (i = 0; i < count && !status; i++)
		status = open_capture_file(c, paths[i]);
	c->copies = NULL;
	gt_copies_destroy(copies);
	if (status || (status = gt_sessions_finish(c)))
		goto fail;
	/* first, because determining the clocks may find damaged payloads, which changes the
	 * sums */
	finish_counts(c);
	if ((status = finish_streams(c)) || (status = gt_sessions_align_shared(c)))
		goto fail;
	finish_times(c);
	if ((status = finish_threads(c)) || (status = finish_strings(c)) ||
	    (status = gt_windows_finish(c)) || (status = gt_objects_finish(c)) ||
	    (status = gt_stacks_finish(c)) || (status = gt_names_finish(c)) ||
	    (status = gt_open_calls_finish(c)) || (status = gt_device_clocks_finish(c)))
		goto fail;
	*out = c;
	return 0;
fail:
	gt_capture_close(c);
	return status;
}

int gt_capture_probe(const char *path)
{
	struct gt_scan *s = malloc(sizeof *s);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
	    status = s ? 0 : gt_error(-ENOMEM, "cannot read capture %s", path);

	if (fd < 0)
		status = gt_error(-errno, "cannot open capture %s", path);
	if (!status)
		status = gt_scan_init(s, fd, path);
	if (fd >= 0)
		close(fd);
	free(s);
	return status;
}

int gt_capture_open(const char *path, struct gt_capture **out)
{
	return gt_capture_open_several(&path, 1, out);
}

static void close_session(struct session *s)
{
	gt_host_clock_map_destroy(s->host);
	free(s->tuples);
	free(s->processes);
	free(s);
}

void gt_capture_close(struct gt_capture *c)
{
	struct text_chunk *k;
	size_t i;

	if (!c)
		return;
	while ((k = c->texts)) {
		c->texts = k->next;
		free(k);
	}
	for (i = 0; i < c->process_count; i++)
		free(c->sums[i]);
	for (i = 0; i < c->clock_count; i++)
		gt_device_clock_destroy(c->clocks[i].clock);
	for (i = 0; i < c->session_count; i++)
		close_session(c->sessions[i]);
	for (i = 0; i < c->file_count; i++) {
		if (c->files[i].fd >= 0)
			close(c->files[i].fd);
		free(c->files[i].summary.content);
		free(c->files[i].path);
	}
	gt_stacks_close(c);
	free(c->names);
	for (i = 0; i < c->moved_count; i++)
		gt_clock_lines_fini(&c->moved[i]);
	free(c->moved);
	free(c->sums);
	free(c->processes);
	free(c->threads);
	free(c->events);
	free(c->objects);
	free(c->strings);
	free(c->string_first);
	free(c->readings);
	free(c->lifetimes);
	free(c->changes);
	free(c->open_records);
	free(c->open_calls);
	free(c->windows);
	free(c->window_first);
	free(c->clocks);
	free(c->devices);
	free(c->blocks);
	free(c->activity_times);
	gt_capture_set_scope(c, NULL);
	free(c->streams);
	free(c->sessions);
	free(c->files);
	free(c);
}
