/* SPDX-License-Identifier: MIT */
/* Scans a capture in one walk over the block headers. Payloads of streams are only indexed. All
 * other payloads are read (read_records.c reads those of RECORDS blocks). The file may contain any
 * bytes, so every length is checked against the available bytes, and invalid data is counted in
 * health and skipped. Memory is bounded by a small multiple of the file's size. */
#include "capture/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/checksum.h"
#include "capture/copies.h"
#include "capture/counts.h"
#include "util/error.h"

/* Payloads ------------------------------------------------------------------ */

/* Reads the fields of a payload. Missing fields are read as 0 and "". */
struct unpacker {
	const uint8_t *p, *end;
};

static void unpack(struct unpacker *u, void *to, size_t bytes)
{
	if ((size_t)(u->end - u->p) < bytes) {
		memset(to, 0, bytes);
		u->p = u->end;
		return;
	}
	memcpy(to, u->p, bytes);
	u->p += bytes;
}

static uint32_t unpack32(struct unpacker *u)
{
	uint32_t v;

	unpack(u, &v, sizeof v);
	return v;
}

static uint64_t unpack64(struct unpacker *u)
{
	uint64_t v;

	unpack(u, &v, sizeof v);
	return v;
}

static const char *unpack_text(struct unpacker *u, struct gt_capture *c)
{
	uint32_t bytes = unpack32(u);
	const char *text;

	if (bytes > (size_t)(u->end - u->p))
		bytes = (uint32_t)(u->end - u->p);
	text = gt_text_keep(c, u->p, bytes);
	u->p += bytes;
	return text;
}

static int read_session(struct gt_capture *c, struct session *session, struct unpacker *u)
{
	struct gt_session_info *s = &session->public.info;
	const char **texts[] = {&s->hostname,       &s->boot_id, &s->kernel,  &s->cpu,
				&s->gputap_version, &s->command, &s->options, &s->directory};
	size_t i;

	s->host_clock = unpack32(u);
	s->rank = (int32_t)unpack32(u);
	s->start_ns = unpack64(u);
	s->start_realtime_ns = unpack64(u);
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		*texts[i] = unpack_text(u, c);
		if (!*texts[i])
			return -ENOMEM;
	}
	session->has_info = true;
	return 0;
}

/* Return the index of the process in the session's list, or the index at which to insert the
 * process. */
static size_t find_process(const struct session *s, uint32_t index)
{
	size_t low = 0, high = s->process_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->processes[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Find the process of a block. Add the process if it is new. */
static int get_process(struct gt_capture *c, uint32_t session, const struct gt_scan_block *block,
		       struct gt_process_info **out)
{
	struct session *s = c->sessions[session];
	uint32_t index = block->head.process;
	size_t at = find_process(s, index);
	struct gt_process_info *p;
	int status;

	if (at < s->process_count && s->processes[at].index == index) {
		*out = &c->processes[s->processes[at].process];
		return 0;
	}
	status = GT_LIST_ADD(s, processes, process_count, process_room);
	if (!status)
		status = GT_LIST_ADD(c, processes, process_count, process_room);
	if (!status)
		status = gt_list_grow((void **)&c->sums, &c->sums_room, c->process_count,
				      sizeof *c->sums);
	if (status)
		return status;
	p = *out = &c->processes[c->process_count];
	memmove(s->processes + at + 1, s->processes + at,
		(s->process_count - at) * sizeof *s->processes);
	s->processes[at] = (struct session_process){index, (uint32_t)c->process_count};
	s->process_count++;
	p->session = session;
	p->index = (uint32_t)c->process_count++;
	p->exe = p->argv = "\0";
	p->wait_status = -1;
	p->rank = (struct gt_rank){-1, -1, -1, -1, GT_LAUNCHER_NONE};
	p->launcher = "";
	return 0;
}

static struct process_sums *get_sums(struct gt_capture *c, uint32_t index)
{
	if (!c->sums[index])
		c->sums[index] = calloc(1, sizeof **c->sums);
	return c->sums[index];
}

static int read_process(struct gt_capture *c, struct gt_process_info *p, struct unpacker *u)
{
	p->pid = unpack32(u);
	p->ppid = unpack32(u);
	p->fork_count = unpack32(u);
	unpack32(u);
	p->start_ticks = unpack64(u);
	p->exe = unpack_text(u, c);
	p->argv = unpack_text(u, c);
	if (u->p == u->end) /* the block was written by an earlier version */
		return p->exe && p->argv ? 0 : -ENOMEM;
	p->rank.rank = (int32_t)unpack32(u);
	p->rank.size = (int32_t)unpack32(u);
	p->rank.local_rank = (int32_t)unpack32(u);
	p->rank.local_size = (int32_t)unpack32(u);
	p->launcher = unpack_text(u, c);
	return p->exe && p->argv && p->launcher ? 0 : -ENOMEM;
}

static void read_process_end(struct gt_process_info *p, struct unpacker *u)
{
	uint32_t flags;

	p->wait_status = (int32_t)unpack32(u);
	flags = unpack32(u);
	p->ended = flags & 1;
	p->proper_end = flags >> 1 & 1;
	p->runtimes = unpack32(u); /* domains below 32 */
	p->children_lost = unpack32(u);
	p->end_ns = unpack64(u);
	p->runtimes |= (uint64_t)unpack32(u) << 32;
}

static int read_thread(struct gt_capture *c, uint32_t process, uint32_t ordinal, struct unpacker *u)
{
	struct gt_thread_info *t;
	int status = GT_LIST_ADD(c, threads, thread_count, thread_room);

	if (status)
		return status;
	t = &c->threads[c->thread_count];
	t->process = process;
	t->ordinal = ordinal;
	t->tid = unpack32(u);
	unpack32(u);
	t->start_ticks = unpack64(u);
	t->end_ticks = unpack64(u);
	t->name = unpack_text(u, c);
	if (!t->name)
		return -ENOMEM;
	c->thread_count++;
	return 0;
}

static int read_tuple(struct session *s, struct unpacker *u)
{
	int status = GT_LIST_ADD(s, tuples, tuple_count, tuple_room);

	if (!status)
		unpack(u, &s->tuples[s->tuple_count++], sizeof *s->tuples);
	return status;
}

static void read_load(struct session *s, struct unpacker *u)
{
	struct gt_file_load f;

	unpack(u, &f, sizeof f);
	s->public.load = (struct gt_machine_load){.processors = f.processors,
						  .wall_ns = f.wall_ns,
						  .busy_ns = f.busy_ns,
						  .own_ns = f.own_ns,
						  .stolen_ns = f.stolen_ns};
}

/* Read the properties of a snapshot. */
static int read_kept(struct gt_capture *c, struct gt_retained *kept, struct unpacker *u)
{
	struct gt_file_retained f;
	size_t bytes;

	unpack(u, &f, sizeof f);
	bytes = (size_t)(u->end - u->p);
	if (f.text_bytes > bytes || f.end_ns < f.begin_ns)
		return -EBADMSG;
	*kept = (struct gt_retained){.is_kept = true,
				     .is_window = f.flags & GT_RETAINED_WINDOW,
				     .is_thinned = f.flags & GT_RETAINED_THINNED,
				     .is_cut = f.flags & GT_RETAINED_CUT,
				     .is_whole_time = f.flags & GT_RETAINED_TIME,
				     .reason = f.reason < GT_RETAINED_REASON_COUNT
						       ? (enum gt_retained_reason)f.reason
						       : GT_RETAINED_END,
				     .number = f.number,
				     .begin_ns = f.begin_ns,
				     .end_ns = f.end_ns,
				     .asked = {f.asked_ns, f.asked_bytes},
				     .processes = f.processes};
	c->is_cut |= kept->is_cut;
	kept->text = gt_text_keep(c, u->p, f.text_bytes);
	gt_counts_unpack(u->p + f.text_bytes, bytes - f.text_bytes, &kept->counts);
	return kept->text ? 0 : -ENOMEM;
}

/* Blocks -------------------------------------------------------------------- */

/* Read the bounds, which follow the counts in a stream's head and give the times in the block. */
static int read_bounds(struct gt_capture *c, const struct gt_scan_block *block, size_t at,
		       struct stream_block *b)
{
	const struct gt_file_block *h = &block->head;
	size_t end = h->head_bytes - sizeof *h, i;
	struct gt_file_bounds bounds;

	if (h->flags & GT_BLOCK_OF_SECTION)
		end -= end < sizeof(uint32_t) ? end : sizeof(uint32_t);
	b->unbounded = true;
	b->marks = UINT32_MAX;
	if (at > end || end - at < sizeof bounds)
		return 0;
	memcpy(&bounds, block->extension + at, sizeof bounds);
	if (bounds.bytes < sizeof bounds || bounds.bytes > end - at)
		return 0;
	b->marks = bounds.marks;
	at += bounds.bytes;
	if (bounds.device_entries > GT_FILE_DEVICES_MAX ||
	    bounds.device_entries > (end - at) / sizeof(struct gt_file_device))
		return 0; /* the block has too many devices, or the times are unknown */
	b->first_device = (uint32_t)c->activity_time_count;
	b->device_count = (uint8_t)bounds.device_entries;
	for (i = 0; i < bounds.device_entries; i++) {
		int status =
			GT_LIST_ADD(c, activity_times, activity_time_count, activity_time_room);

		if (status)
			return status;
		memcpy(&c->activity_times[c->activity_time_count++],
		       block->extension + at + i * sizeof(struct gt_file_device),
		       sizeof(struct gt_file_device));
	}
	/* the block has GPU activities, but their times are unknown */
	b->unbounded = h->flags & GT_BLOCK_DEVICE && !bounds.device_entries;
	return 0;
}

static int index_stream(struct gt_capture *c, uint32_t session, const struct gt_scan_block *block)
{
	const struct gt_file_block *h = &block->head;
	struct gt_file_stream ext;
	struct gt_process_info *process;
	struct process_sums *sums;
	size_t i;
	int status;

	if (h->head_bytes < sizeof *h + sizeof ext)
		return -EBADMSG;
	memcpy(&ext, block->extension, sizeof ext);
	if (ext.count_entries >
	    (h->head_bytes - sizeof *h - sizeof ext) / sizeof(struct gt_file_count))
		return -EBADMSG;
	status = get_process(c, session, block, &process);
	if (!status)
		status = GT_LIST_ADD(c, blocks, block_count, block_room);
	if (status)
		return status;
	sums = get_sums(c, process->index);
	if (!sums)
		return gt_error(-ENOMEM, "cannot store the counts of capture %s", c->files[0].path);
	c->blocks[c->block_count++] = (struct stream_block){.at = block->at,
							    .head_at = block->head_at,
							    .first_ticks = ext.first_ticks,
							    .last_ticks = ext.last_ticks,
							    .base_ticks = ext.base_ticks,
							    .base_id = ext.base_id,
							    .process = process->index,
							    .ordinal = h->ordinal,
							    .stored_bytes = h->stored_bytes,
							    .raw_bytes = h->raw_bytes,
							    .payload_crc = h->payload_crc,
							    .head_crc = h->head_crc,
							    .head_bytes = h->head_bytes,
							    .flags = h->flags};
	status =
		read_bounds(c, block, sizeof ext + ext.count_entries * sizeof(struct gt_file_count),
			    &c->blocks[c->block_count - 1]);
	if (status)
		return status;
	c->stream_bytes += (uint64_t)h->head_bytes + h->stored_bytes;
	for (i = 0; i < ext.count_entries; i++) {
		struct gt_file_count n;

		memcpy(&n, block->extension + sizeof ext + i * sizeof n, sizeof n);
		if (n.class < GT_CLASS_COUNT && n.domain < GT_DOMAIN_COUNT)
			sums->present[n.class][n.domain] += n.count;
	}
	return 0;
}

/* Read a section of a merged file. The first SECTION of a session precedes all its other blocks. */
static int read_section(struct gt_capture *c, struct session *s, struct unpacker *u)
{
	struct gt_capture_health *health = &s->public.health;
	struct gt_file_section section;

	unpack(u, &section, sizeof section);
	memcpy(s->public.uuid, section.uuid, sizeof section.uuid);
	health->end =
		section.end <= GT_CAPTURE_CUT ? (enum gt_capture_end)section.end : GT_CAPTURE_CUT;
	health->bytes = section.bytes;
	health->bad_bytes = section.bad_bytes;
	health->bad_blocks = section.bad_blocks;
	health->unknown_blocks = section.unknown_blocks;
	if (section.path_bytes > (size_t)(u->end - u->p))
		return -EBADMSG;
	s->public.path = gt_text_keep(c, u->p, section.path_bytes);
	return s->public.path ? 0 : -ENOMEM;
}

static int read_block(struct gt_capture *c, uint32_t session, const struct gt_scan_block *block,
		      const uint8_t *payload)
{
	const struct gt_file_block *h = &block->head;
	struct unpacker u = {payload, payload + h->stored_bytes};
	struct capture_file *file = &c->files[c->file_count - 1];
	struct gt_process_info *process = NULL;
	struct gt_file_end end = {0};
	int status = 0;

	if (h->type == GT_BLOCK_PROCESS || h->type == GT_BLOCK_PROCESS_END ||
	    h->type == GT_BLOCK_THREAD || h->type == GT_BLOCK_COUNTS || h->type == GT_BLOCK_RECORDS)
		status = get_process(c, session, block, &process);
	if (status)
		return status;
	switch (h->type) {
	case GT_BLOCK_SESSION: return read_session(c, c->sessions[session], &u);
	case GT_BLOCK_PROCESS: return read_process(c, process, &u);
	case GT_BLOCK_PROCESS_END: read_process_end(process, &u); return 0;
	case GT_BLOCK_THREAD: return read_thread(c, process->index, h->ordinal, &u);
	case GT_BLOCK_CLOCK: return read_tuple(c->sessions[session], &u);
	case GT_BLOCK_COUNTS:
		if (!get_sums(c, process->index))
			return gt_error(-ENOMEM, "cannot store the counts of capture %s",
					c->files[0].path);
		gt_counts_unpack(u.p, (size_t)(u.end - u.p), &c->sums[process->index]->counts);
		return 0;
	case GT_BLOCK_RECORDS: return gt_records_read(c, process->index, payload, h->stored_bytes);
	case GT_BLOCK_END:
		/* blocks written by an earlier version are shorter */
		memcpy(&end, payload, h->stored_bytes < sizeof end ? h->stored_bytes : sizeof end);
		file->end = end.complete ? GT_CAPTURE_COMPLETE : GT_CAPTURE_INCOMPLETE;
		file->has_end = true;
		return 0;
	case GT_BLOCK_INDEX: return 0;
	case GT_BLOCK_SUMMARY: return gt_summary_read(file, block->at, payload, h->stored_bytes);
	case GT_BLOCK_SECTION: return read_section(c, c->sessions[session], &u);
	case GT_BLOCK_LOAD: read_load(c->sessions[session], &u); return 0;
	case GT_BLOCK_KEPT: return read_kept(c, &c->sessions[session]->public.kept, &u);
	default: c->sessions[session]->public.health.unknown_blocks++; return 0;
	}
}

/* Find the session of a block. Add the session if it is new. */
static int get_session(struct gt_capture *c, uint32_t section, uint32_t *out)
{
	uint32_t file = (uint32_t)c->file_count - 1;
	struct session *s;
	size_t i;
	int status;

	for (i = c->session_count; i-- > 0 && c->sessions[i]->file == file;)
		if (c->sessions[i]->section == section) {
			*out = (uint32_t)i;
			return 0;
		}
	status = GT_LIST_ADD(c, sessions, session_count, session_room);
	if (status)
		return status;
	s = calloc(1, sizeof *s);
	if (!s)
		return gt_error(-ENOMEM, "cannot read capture %s", c->files[file].path);
	s->file = file;
	s->section = section;
	s->public.path = c->files[file].path;
	s->public.health.end = GT_CAPTURE_CUT;
	s->public.info = (struct gt_session_info){.hostname = "",
						  .boot_id = "",
						  .kernel = "",
						  .cpu = "",
						  .gputap_version = "",
						  .command = "\0",
						  .options = "",
						  .directory = "",
						  .rank = -1};
	*out = (uint32_t)c->session_count;
	c->sessions[c->session_count++] = s;
	return 0;
}

static int take_block(struct gt_capture *c, const struct gt_scan_block *block, uint8_t **payload,
		      size_t *room)
{
	const struct gt_file_block *h = &block->head;
	struct capture_file *file = &c->files[c->file_count - 1];
	uint64_t at = block->at + h->head_bytes;
	uint32_t section = gt_scan_section(block), session = 0;
	int status;

	file->has_end = false; /* an end marker followed by a block does not count */
	if ((h->process >= GT_FILE_PROCESS_MAX && h->type != GT_BLOCK_INDEX) ||
	    (section != GT_SECTION_NONE && section >= GT_FILE_SECTION_MAX))
		return -EBADMSG;
	gt_summary_note_block(file, block);
	if (h->type == GT_BLOCK_SUMMARY && h->flags & GT_BLOCK_ZSTD)
		return 0; /* of a later version */
	if (gt_block_is_of_session(h)) {
		if (gt_copies_leave_out(c->copies, c->file_count - 1, section))
			return 0;
		status = get_session(c, section, &session);
		if (status)
			return status;
		if (h->type == GT_BLOCK_STREAM)
			return index_stream(c, session, block);
		if (h->type > GT_BLOCK_SUMMARY || h->flags & GT_BLOCK_ZSTD) {
			c->sessions[session]->public.health.unknown_blocks++;
			return 0;
		}
	}
	status = gt_list_grow((void **)payload, room, h->stored_bytes, 1);
	if (!status)
		status = gt_scan_read(file->fd, *payload, h->stored_bytes, at);
	if (status)
		return status;
	if (gt_crc32c(0, *payload, h->stored_bytes) != h->payload_crc) {
		file->summary.wrong |= h->type == GT_BLOCK_SUMMARY;
		return h->type == GT_BLOCK_SUMMARY ? 0 : -EBADMSG; /* no record is lost */
	}
	return read_block(c, session, block, *payload);
}

/* Finish a file that was read to its end: set the health of its session, or of each session of a
 * merged file. */
static int finish_file(struct gt_capture *c, const struct gt_scan *s,
		       const struct gt_capture_health *found)
{
	struct capture_file *file = &c->files[c->file_count - 1];
	uint32_t session = 0;
	size_t i;
	int status = 0;

	if (!file->has_end)
		file->end = GT_CAPTURE_CUT;
	file->whole = file->end == GT_CAPTURE_COMPLETE && !found->bad_blocks;
	c->health.bytes += s->bytes;
	c->health.bad_bytes += found->bad_bytes;
	c->health.bad_blocks += found->bad_blocks;
	if (file->end > c->health.end)
		c->health.end = file->end;
	if (!c->session_count || c->sessions[c->session_count - 1]->file != c->file_count - 1)
		status = get_session(c, GT_SECTION_NONE, &session);
	for (i = c->session_count;
	     i-- > 0 && c->sessions[i]->file == c->file_count - 1 && !status;) {
		struct session *one = c->sessions[i];
		struct gt_capture_health *health = &one->public.health;

		if (one->section == GT_SECTION_NONE) {
			health->end = file->end;
			health->bytes = s->bytes;
			health->bad_bytes = found->bad_bytes;
			health->bad_blocks = found->bad_blocks;
			memcpy(one->public.uuid, s->uuid, sizeof s->uuid);
		} else {
			c->health.bad_bytes += health->bad_bytes;
			c->health.bad_blocks += health->bad_blocks;
			if (health->end > c->health.end)
				c->health.end = health->end;
		}
		c->health.unknown_blocks += health->unknown_blocks;
	}
	return status;
}

static void count_index(struct gt_capture *c, const struct gt_index_info *index)
{
	c->index.files += index->bytes && !index->wrong;
	c->index.wrong_files += index->wrong;
	if (index->wrong)
		return;
	c->index.bytes += index->bytes;
	c->index.blocks += index->blocks;
}

int gt_capture_scan(struct gt_capture *c)
{
	struct capture_file *file = &c->files[c->file_count - 1];
	struct gt_scan *s = malloc(sizeof *s);
	struct gt_scan_block *block = malloc(sizeof *block);
	struct gt_capture_health found = {0};
	struct gt_index_info index;
	uint8_t *payload = NULL;
	size_t room = 0;
	int status;

	if (s)
		s->index = NULL;
	if (!s || !block) {
		status = gt_error(-ENOMEM, "cannot read capture %s", file->path);
		goto out;
	}
	status = gt_scan_init(s, file->fd, file->path);
	/* all sessions are left out, so the file's damage does not count */
	if (status || gt_copies_leave_out_file(c->copies, c->file_count - 1))
		goto out;
	file->bytes = s->bytes;
	memcpy(file->uuid, s->uuid, sizeof file->uuid);
	gt_scan_take_index(s, &index);
	count_index(c, &index);
	while ((status = gt_scan_next(s, block)) > 0) {
		status = take_block(c, block, &payload, &room);
		if (status == -EBADMSG || status == -ENODATA) {
			found.bad_blocks++;
			found.bad_bytes +=
				(uint64_t)block->head.head_bytes + block->head.stored_bytes;
		} else if (status) {
			break;
		}
	}
	if (status) {
		status = gt_error(status, "cannot read capture %s", file->path);
		goto out;
	}
	found.bad_bytes += s->bad_bytes;
	found.bad_blocks += s->bad_blocks;
	status = finish_file(c, s, &found);
out:
	if (s)
		gt_scan_end(s);
	free(payload);
	free(block);
	free(s);
	return status;
}
