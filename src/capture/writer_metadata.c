/* SPDX-License-Identifier: MIT */
/* Stores metadata in blocks on arrival: see writer.h. */
#include "capture/writer.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "capture/counts.h"
#include "record/record.h"
#include "util/error.h"

enum {
	TEXT_MAX_BYTES = 256 << 10, /* size limit of one text in a metadata block */
};

/* Records outside of rows ---------------------------------------------------------- */

int gt_writer_end_records(struct gt_capture_writer *w)
{
	int status;

	if (!w->records_bytes)
		return 0;
	status = gt_writer_append_block(w, GT_BLOCK_RECORDS, w->records_process, 0, w->records,
					w->records_bytes);
	if (!status)
		w->records_bytes = 0;
	return status;
}

/* word offsets of `generation` and `bytes` in struct gt_record_code and gt_record_names */
enum {
	CODE_BYTES = offsetof(struct gt_record_code, generation) / 8,
	NAMES_BYTES = offsetof(struct gt_record_names, generation) / 8,
};

static uint32_t frame_words(const uint64_t *frames)
{
	return (uint32_t)(frames[1] >> 32 & 0xffff) + (uint32_t)(frames[1] >> 48);
}

/* Check the lengths in a record that is not a row. @record: a copy, which cannot change */
static bool is_valid(const uint64_t *record, uint32_t words)
{
	size_t fixed, text;
	const struct gt_record *head = (const void *)record;

	switch (head->kind) {
	case GT_RECORD_STRING:
		fixed = sizeof(struct gt_record_string) / 8;
		text = 1;
		break;
	case GT_RECORD_OBJECT:
	case GT_RECORD_MODULE:
		fixed = sizeof(struct gt_record_object) / 8;
		text = 4;
		break;
	case GT_RECORD_EVENT:
		fixed = sizeof(struct gt_record_event) / 8;
		text = 3;
		break;
	case GT_RECORD_FRAMES:
		return words >= sizeof(struct gt_record_frames) / 8 &&
		       frame_words(record) <= words - sizeof(struct gt_record_frames) / 8;
	case GT_RECORD_CODE:
		fixed = sizeof(struct gt_record_code) / 8;
		return words >= fixed && record[CODE_BYTES] >> 32 <= (words - fixed) * 8;
	case GT_RECORD_NAMES:
		fixed = sizeof(struct gt_record_names) / 8;
		return words >= fixed && record[NAMES_BYTES] >> 32 <= (words - fixed) * 8;
	case GT_RECORD_CLOCK: return words >= sizeof(struct gt_record_clock) / 8;
	case GT_RECORD_LIFETIME: return words >= sizeof(struct gt_record_lifetime) / 8;
	case GT_RECORD_WINDOW: return words >= sizeof(struct gt_record_window) / 8;
	case GT_RECORD_OPEN: return words >= sizeof(struct gt_record_open) / 8;
	/* a record from a later version, of which only the length can be checked, and was */
	default: return true;
	}
	return words >= fixed && record[text] <= (words - fixed) * 8;
}

/* Return true if gputap writes such a record. The caller has checked its lengths. */
static bool is_known(const uint64_t *record, uint32_t words)
{
	const struct gt_record *head = (const void *)record;

	switch (head->kind) {
	case GT_RECORD_STRING: return words == 2 + (record[1] + 7) / 8;
	case GT_RECORD_OBJECT:
	case GT_RECORD_MODULE:
		return words == 5 + (record[4] + 7) / 8 && head->op &&
		       head->op < GT_OBJECT_TYPE_COUNT && gt_record_domain(head) < GT_DOMAIN_COUNT;
	case GT_RECORD_EVENT:
		return words == 4 + (record[3] + 7) / 8 && head->op < GT_EVENT_CODE_COUNT &&
		       gt_record_domain(head) < GT_DOMAIN_COUNT;
	case GT_RECORD_FRAMES:
		return words == sizeof(struct gt_record_frames) / 8 + frame_words(record) &&
		       head->op && head->detail <= GT_FRAMES_BROKEN;
	case GT_RECORD_CODE:
		return (head->op == GT_CODE_MODULE || head->op == GT_CODE_PYTHON) &&
		       words == sizeof(struct gt_record_code) / 8 +
					((record[CODE_BYTES] >> 32) + 7) / 8;
	/* programs do not write these records */
	case GT_RECORD_NAMES:
	case GT_RECORD_OPEN: return false;
	case GT_RECORD_CLOCK:
		return words == sizeof(struct gt_record_clock) / 8 && record[1] <= record[2];
	case GT_RECORD_LIFETIME:
		return words == sizeof(struct gt_record_lifetime) / 8 &&
		       head->op < GT_OBJECT_TYPE_COUNT &&
		       gt_record_domain(head) < GT_DOMAIN_COUNT && record[3] <= 1;
	case GT_RECORD_WINDOW:
		return words == sizeof(struct gt_record_window) / 8 &&
		       head->op < GT_WINDOW_WHY_COUNT && head->detail <= 1;
	default: return false;
	}
}

int gt_writer_put_record(struct gt_capture_writer *w, uint32_t process, const uint64_t *data,
			 uint32_t words, bool *doubted)
{
	size_t bytes = (size_t)words * 8;
	uint64_t head = words | (__atomic_load_n(data, __ATOMIC_RELAXED) & ~UINT64_C(0xffff));
	uint64_t *to;

	if (w->records_bytes &&
	    (w->records_process != process || w->records_bytes + bytes > GT_WRITER_RECORDS_BYTES) &&
	    gt_writer_end_records(w)) {
		gt_error_clear();
		w->failed = true;
		return 0;
	}
	w->records_process = process;
	to = (uint64_t *)(w->records + w->records_bytes);
	memcpy(to, data, bytes);
	*to = head;
	if (!is_valid(to, words))
		return -EBADMSG;
	*doubted |= !is_known(to, words);
	w->records_bytes += bytes;
	if (w->on_event && ((const struct gt_record *)to)->kind == GT_RECORD_EVENT)
		w->on_event(process, (const struct gt_record_event *)to, w->on_event_data);
	return 0;
}

void gt_capture_writer_watch_events(struct gt_capture_writer *w, gt_capture_event_function *each,
				    void *data)
{
	w->on_event = each;
	w->on_event_data = data;
}

/* Data from the collector ----------------------------------------------------------- */

/* Builds a payload. A payload that does not fit is truncated, texts first. */
struct packer {
	uint8_t *begin, *p, *end;
};

static void pack_bytes(struct packer *k, const void *data, size_t bytes)
{
	memcpy(k->p, data, bytes);
	k->p += bytes;
}

static void pack32(struct packer *k, uint32_t v)
{
	pack_bytes(k, &v, sizeof v);
}

static void pack64(struct packer *k, uint64_t v)
{
	pack_bytes(k, &v, sizeof v);
}

/* Append length and bytes. begin() has made room for both. */
static void pack_text(struct packer *k, const char *text, size_t bytes)
{
	bytes = bytes < TEXT_MAX_BYTES ? bytes : TEXT_MAX_BYTES;
	pack32(k, (uint32_t)bytes);
	if (bytes)
		pack_bytes(k, text, bytes);
}

static size_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

/* Return the length of NUL-terminated strings that end with an empty string. */
static size_t list_length(const char *text)
{
	const char *p = text;

	while (p && *p)
		p += strlen(p) + 1;
	return p ? (size_t)(p - text) : 0;
}

static int packer_init(struct packer *k, const struct gt_capture_writer *w, size_t text_bytes,
		       unsigned texts)
{
	size_t most = (size_t)texts * TEXT_MAX_BYTES;

	k->begin = k->p = malloc(256 + texts * 4 + (text_bytes < most ? text_bytes : most));
	return k->p ? 0 : gt_error(-ENOMEM, "capture %s: cannot store a block", w->path);
}

static int packer_end(struct packer *k, struct gt_capture_writer *w, uint8_t type, uint32_t process,
		      uint32_t ordinal)
{
	int status = gt_writer_append_block(w, type, process, ordinal, k->begin,
					    (size_t)(k->p - k->begin));

	free(k->begin);
	return status;
}

int gt_writer_put_session(struct gt_capture_writer *w, const struct gt_session_info *i)
{
	const char *texts[] = {i->hostname,       i->boot_id, i->kernel,  i->cpu,
			       i->gputap_version, NULL,       i->options, i->directory};
	size_t n = sizeof texts / sizeof *texts, bytes = list_length(i->command), k;
	struct packer p;

	for (k = 0; k < n; k++)
		bytes += length(texts[k]);
	if (packer_init(&p, w, bytes, (unsigned)n))
		return -ENOMEM;
	pack32(&p, i->host_clock);
	pack32(&p, (uint32_t)i->rank);
	pack64(&p, i->start_ns);
	pack64(&p, i->start_realtime_ns);
	for (k = 0; k < n; k++)
		if (k == 5)
			pack_text(&p, i->command, list_length(i->command));
		else
			pack_text(&p, texts[k], length(texts[k]));
	return packer_end(&p, w, GT_BLOCK_SESSION, 0, 0);
}

static int check_process(const struct gt_capture_writer *w, uint32_t process)
{
	if (process < GT_FILE_PROCESS_MAX)
		return 0;
	return gt_error(-EINVAL, "capture %s: process %u exceeds the limit of %u", w->path, process,
			GT_FILE_PROCESS_MAX);
}

int gt_capture_write_process(struct gt_capture_writer *w, const struct gt_process_info *i)
{
	struct packer p;

	if (check_process(w, i->index))
		return -EINVAL;
	if (packer_init(&p, w,
			length(i->exe) + list_length(i->argv) +
				length(gt_launcher_name(i->rank.launcher)),
			3))
		return -ENOMEM;
	pack32(&p, i->pid);
	pack32(&p, i->ppid);
	pack32(&p, i->fork_count);
	pack32(&p, 0);
	pack64(&p, i->start_ticks);
	pack_text(&p, i->exe, length(i->exe));
	pack_text(&p, i->argv, list_length(i->argv));
	pack32(&p, (uint32_t)i->rank.rank);
	pack32(&p, (uint32_t)i->rank.size);
	pack32(&p, (uint32_t)i->rank.local_rank);
	pack32(&p, (uint32_t)i->rank.local_size);
	pack_text(&p, gt_launcher_name(i->rank.launcher),
		  length(gt_launcher_name(i->rank.launcher)));
	return packer_end(&p, w, GT_BLOCK_PROCESS, i->index, 0);
}

int gt_capture_write_process_end(struct gt_capture_writer *w, const struct gt_process_info *i)
{
	struct packer p;

	if (check_process(w, i->index))
		return -EINVAL;
	if (packer_init(&p, w, 0, 0))
		return -ENOMEM;
	if (w->keeper && i->ended)
		w->keeper->end(w->keep, i->index, 0);
	pack32(&p, (uint32_t)i->wait_status);
	pack32(&p, (uint32_t)i->ended | (uint32_t)i->proper_end << 1);
	pack32(&p, (uint32_t)i->runtimes);
	pack32(&p, i->children_lost);
	pack64(&p, i->end_ns);
	pack32(&p, (uint32_t)(i->runtimes >> 32));
	pack32(&p, 0);
	return packer_end(&p, w, GT_BLOCK_PROCESS_END, i->index, 0);
}

int gt_capture_write_thread(struct gt_capture_writer *w, const struct gt_thread_info *i)
{
	struct packer p;

	if (check_process(w, i->process))
		return -EINVAL;
	if (packer_init(&p, w, length(i->name), 1))
		return -ENOMEM;
	if (w->keeper && i->end_ticks)
		w->keeper->end(w->keep, i->process, i->ordinal);
	pack32(&p, i->tid);
	pack32(&p, 0);
	pack64(&p, i->start_ticks);
	pack64(&p, i->end_ticks);
	pack_text(&p, i->name, length(i->name));
	return packer_end(&p, w, GT_BLOCK_THREAD, i->process, i->ordinal);
}

int gt_capture_write_clock(struct gt_capture_writer *w, const struct gt_clock_tuple *t)
{
	static_assert(sizeof *t == 48, "CLOCK payload: six words");
	return gt_writer_append_block(w, GT_BLOCK_CLOCK, 0, 0, t, sizeof *t);
}

int gt_capture_write_load(struct gt_capture_writer *w, const struct gt_machine_load *l)
{
	const struct gt_file_load f = {.processors = l->processors,
				       .wall_ns = l->wall_ns,
				       .busy_ns = l->busy_ns,
				       .own_ns = l->own_ns,
				       .stolen_ns = l->stolen_ns};

	return gt_writer_append_block(w, GT_BLOCK_LOAD, 0, 0, &f, sizeof f);
}

int gt_capture_write_counts(struct gt_capture_writer *w, uint32_t process,
			    const struct gt_counts *counts)
{
	const size_t n = gt_counts_pack(counts, NULL);
	struct gt_file_sum *sums;
	int status;

	if (check_process(w, process))
		return -EINVAL;
	sums = malloc(n * sizeof *sums + 1);
	if (!sums)
		return gt_error(-ENOMEM, "capture %s: cannot store a block", w->path);
	gt_counts_pack(counts, sums);
	status = gt_writer_append_block(w, GT_BLOCK_COUNTS, process, 0, sums, n * sizeof *sums);
	free(sums);
	return status;
}

int gt_writer_put_retained(struct gt_capture_writer *w, const struct gt_retained *kept)
{
	const size_t count = gt_counts_pack(&kept->counts, NULL);
	const size_t sum_bytes = count * sizeof(struct gt_file_sum);
	size_t text_bytes = length(kept->text);
	struct gt_file_sum *sums; /* aligned; in the payload they follow the text */
	struct gt_file_retained f = {.reason = kept->reason,
				     .number = kept->number,
				     .flags = (kept->is_window ? GT_RETAINED_WINDOW : 0) |
					      (kept->is_thinned ? GT_RETAINED_THINNED : 0) |
					      (kept->is_cut ? GT_RETAINED_CUT : 0) |
					      (kept->is_whole_time ? GT_RETAINED_TIME : 0),
				     .begin_ns = kept->begin_ns,
				     .end_ns = kept->end_ns,
				     .asked_ns = kept->asked.window_ns,
				     .asked_bytes = kept->asked.most_bytes,
				     .processes = kept->processes};
	uint8_t *payload;
	int status;

	text_bytes = text_bytes < TEXT_MAX_BYTES ? text_bytes : TEXT_MAX_BYTES;
	f.text_bytes = (uint32_t)text_bytes;
	sums = malloc(2 * sum_bytes + sizeof f + text_bytes);
	if (!sums)
		return gt_error(-ENOMEM, "capture %s: cannot store a block", w->path);
	gt_counts_pack(&kept->counts, sums);
	payload = (uint8_t *)(sums + count);
	memcpy(payload, &f, sizeof f);
	if (text_bytes)
		memcpy(payload + sizeof f, kept->text, text_bytes);
	memcpy(payload + sizeof f + text_bytes, sums, sum_bytes);
	status = gt_writer_append_block(w, GT_BLOCK_KEPT, 0, 0, payload,
					sizeof f + text_bytes + sum_bytes);
	free(sums);
	return status;
}
