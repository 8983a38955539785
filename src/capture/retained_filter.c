/* SPDX-License-Identifier: MIT */
/* See retained_filter.h.
 *
 *   1. The heads of the chunks' blocks give the processes and threads that have rows, and the
 *      numbers of rows.
 *   2. The metadata entries are sorted by subject. The newest entry of each subject counts.
 *   3. The following entries are removed: processes and threads that ended before the oldest chunk
 *      and have no rows, objects unloaded before the oldest chunk, most old clock readings and
 *      events.
 *   4. The remaining entries are copied in their old order.
 *
 * Memory: the metadata, and 40 bytes for each record in it. References to texts (GT_RECORD_STRING)
 * are not counted, because a text is retained as long as its process. */
#include "capture/retained_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/checksum.h"
#include "capture/counts.h"
#include "capture/keep.h"
#include "capture/scan.h"
#include "util/error.h"
#include "util/grow.h"

enum {
	/* number of readings from before the oldest chunk that are retained per clock */
	OLD_READINGS = 16,
	OLD_EVENTS = 32, /* number of events that are retained per kind and process */
};

/* Subject of an entry, in the upper bits. For objects, the lower 8 bits are the type. */
enum {
	ENTRY_BLOCK = 1 << 8, /* has no process; always retained */
	ENTRY_TUPLE = 2 << 8,
	ENTRY_PROCESS = 3 << 8,
	ENTRY_PROCESS_END = 4 << 8,
	ENTRY_COUNTS = 5 << 8,
	ENTRY_THREAD = 6 << 8, /* key: ordinal */
	ENTRY_STRING = 7 << 8, /* key: id */
	ENTRY_OBJECT = 8 << 8, /* key: number */
	ENTRY_BEGIN = 9 << 8,  /* lifetimes; key: number */
	ENTRY_END = 10 << 8,
	ENTRY_READING = 11 << 8, /* key: device */
	ENTRY_EVENT = 12 << 8,   /* key: code */
	ENTRY_OTHER = 13 << 8,
};

struct entry {
	uint32_t process, what;
	uint64_t key, ticks;
	const uint8_t *at; /* the head of the block, or the record */
	bool is_record, is_left_out;
};

/* Rows of a process in the chunks. */
struct present {
	uint32_t process;
	uint64_t recorded[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

struct present_thread {
	uint32_t process, ordinal;
};

struct filter {
	const struct gt_retained_files *files;
	uint8_t *data; /* the metadata */
	struct gt_chunk_head oldest;
	uint64_t newest_ticks; /* end of the newest call */
	struct gt_clock_tuple newest;
	struct entry *entries, **order;
	size_t count, room;
	struct present *processes;
	size_t process_count, process_room;
	struct present_thread *threads;
	size_t thread_count, thread_room;
	struct gt_retained *kept;
	struct gt_scan scan;
	struct gt_scan_block block;
	uint64_t record[UINT16_MAX]; /* one aligned record */
};

static int no_memory(void)
{
	return gt_error(-ENOMEM, "cannot store the metadata of a flight recorder");
}

/* Chunks ---------------------------------------------------------------------- */

static struct present *find_present(const struct filter *f, uint32_t process, size_t *at)
{
	size_t low = 0, high = f->process_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->processes[middle].process < process)
			low = middle + 1;
		else
			high = middle;
	}
	if (at)
		*at = low;
	return low < f->process_count && f->processes[low].process == process ? &f->processes[low]
									      : NULL;
}

static int add_present(struct filter *f, uint32_t process, struct present **out)
{
	struct present *more;
	size_t at;

	*out = find_present(f, process, &at);
	if (*out)
		return 0;
	more = gt_grow(f->processes, f->process_count, &f->process_room, sizeof *more);
	if (!more)
		return no_memory();
	f->processes = more;
	memmove(more + at + 1, more + at, (f->process_count++ - at) * sizeof *more);
	memset(&more[at], 0, sizeof *more);
	more[at].process = process;
	*out = &more[at];
	return 0;
}

static int add_thread(struct filter *f, uint32_t process, uint32_t ordinal)
{
	const struct present_thread *last =
		f->thread_count ? &f->threads[f->thread_count - 1] : NULL;
	void *more;

	if (last && last->process == process && last->ordinal == ordinal)
		return 0;
	more = gt_grow(f->threads, f->thread_count, &f->thread_room, sizeof *f->threads);
	if (!more)
		return no_memory();
	f->threads = more;
	f->threads[f->thread_count++] = (struct present_thread){process, ordinal};
	return 0;
}

static int count_block(struct filter *f)
{
	const struct gt_file_block *h = &f->block.head;
	struct gt_file_stream ext;
	struct present *p;
	int status;

	if (h->type != GT_BLOCK_STREAM || h->head_bytes < sizeof *h + sizeof ext)
		return 0;
	memcpy(&ext, f->block.extension, sizeof ext);
	if (ext.first_ticks <= ext.last_ticks && ext.last_ticks > f->newest_ticks)
		f->newest_ticks = ext.last_ticks;
	status = add_present(f, h->process, &p);
	if (!status)
		status = add_thread(f, h->process, h->ordinal);
	for (uint32_t i = 0; i < ext.count_entries && !status; i++) {
		struct gt_file_count n;

		if (sizeof *h + sizeof ext + (i + 1) * sizeof n > h->head_bytes)
			break;
		memcpy(&n, f->block.extension + sizeof ext + i * sizeof n, sizeof n);
		if (n.class < GT_CLASS_COUNT && n.domain < GT_DOMAIN_COUNT)
			p->recorded[n.class][n.domain] += n.count;
	}
	return status;
}

static int compare_threads(const void *a, const void *b)
{
	const struct present_thread *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static int read_chunks(struct filter *f)
{
	int status = 0;

	for (size_t i = 0; i < f->files->count && !status; i++) {
		const struct gt_retained_chunk *chunk = &f->files->chunks[i];
		struct gt_chunk_head head;

		status = gt_scan_read(chunk->fd, &head, sizeof head, 0);
		if (status)
			break;
		if (!i)
			f->oldest = head;
		gt_scan_begin(&f->scan, chunk->fd, sizeof head + (i ? head.open_bytes : 0),
			      chunk->bytes);
		while (!status && (status = gt_scan_next(&f->scan, &f->block)) > 0)
			status = count_block(f);
	}
	if (f->thread_count)
		qsort(f->threads, f->thread_count, sizeof *f->threads, compare_threads);
	return status ? gt_error(status, "cannot read the files of a flight recorder") : 0;
}

/* Metadata ---------------------------------------------------------------------- */

static int add_entry(struct filter *f, struct entry e)
{
	struct entry *more = gt_grow(f->entries, f->count, &f->room, sizeof *more);

	if (!more)
		return no_memory();
	f->entries = more;
	f->entries[f->count++] = e;
	return 0;
}

/* Describe a record as an entry. Copies the record's words, because blocks are not aligned. */
static struct entry describe_record(uint32_t process, const uint8_t *at, size_t bytes)
{
	struct entry e = {.process = process, .what = ENTRY_OTHER, .at = at, .is_record = true};
	uint64_t word[4] = {0};
	struct gt_record head;

	memcpy(&head, at, sizeof head);
	memcpy(word, at, bytes < sizeof word ? bytes : sizeof word);
	switch (head.kind) {
	case GT_RECORD_STRING:
		e.what = ENTRY_STRING;
		e.key = head.op;
		break;
	case GT_RECORD_OBJECT:
	case GT_RECORD_MODULE:
		e.what = ENTRY_OBJECT |
			 (head.kind == GT_RECORD_MODULE ? GT_OBJECT_MODULE : (head.op & 0xff));
		e.key = word[1];
		break;
	case GT_RECORD_LIFETIME:
		e.what = (word[3] ? ENTRY_BEGIN : ENTRY_END) | (head.op & 0xff);
		e.key = word[2];
		e.ticks = word[1];
		break;
	case GT_RECORD_CLOCK:
		e.what = ENTRY_READING;
		e.key = head.op;
		e.ticks = word[2];
		break;
	case GT_RECORD_EVENT:
		e.what = ENTRY_EVENT;
		e.key = head.op;
		e.ticks = word[1];
		break;
	}
	return e;
}

static int add_records(struct filter *f, uint32_t process, const uint8_t *p, size_t bytes)
{
	int status = 0;

	while (bytes >= sizeof(struct gt_record) && !status) {
		uint16_t words;

		memcpy(&words, p, sizeof words);
		if (!words || words > bytes / 8)
			break;
		status = add_entry(f, describe_record(process, p, (size_t)words * 8));
		p += (size_t)words * 8;
		bytes -= (size_t)words * 8;
	}
	return status;
}

static uint64_t read64(const uint8_t *payload, const struct gt_file_block *h, size_t at)
{
	uint64_t value = 0;

	if (at + sizeof value <= h->stored_bytes)
		memcpy(&value, payload + at, sizeof value);
	return value;
}

/* Add the sums of processes that an earlier filter removed. */
static void take_sums(struct filter *f, const uint8_t *payload, size_t bytes)
{
	struct gt_file_retained k;
	struct gt_counts counts;

	if (bytes < sizeof k)
		return;
	memcpy(&k, payload, sizeof k);
	if (k.text_bytes > bytes - sizeof k)
		return;
	gt_counts_unpack(payload + sizeof k + k.text_bytes, bytes - sizeof k - k.text_bytes,
			 &counts);
	f->kept->processes += k.processes;
	gt_counts_sum(&f->kept->counts, &counts);
}

static int add_block(struct filter *f)
{
	const struct gt_file_block *h = &f->block.head;
	const uint8_t *block = f->data + f->block.at, *payload = block + h->head_bytes;
	struct entry e = {.process = h->process, .what = ENTRY_BLOCK, .at = block};

	if (gt_crc32c(0, payload, h->stored_bytes) != h->payload_crc)
		return 0;
	switch (h->type) {
	case GT_BLOCK_RECORDS: return add_records(f, h->process, payload, h->stored_bytes);
	case GT_BLOCK_KEPT: take_sums(f, payload, h->stored_bytes); return 0;
	case GT_BLOCK_END:
	case GT_BLOCK_INDEX:
	case GT_BLOCK_SUMMARY: return 0;
	case GT_BLOCK_PROCESS:
		e.what = ENTRY_PROCESS;
		e.ticks = read64(payload, h, 16); /* start of the process */
		break;
	case GT_BLOCK_PROCESS_END:
		e.what = ENTRY_PROCESS_END;
		e.key = read64(payload, h, 0) >> 32 & 1; /* 1 if the process has ended */
		e.ticks = read64(payload, h, 16);        /* ns */
		break;
	case GT_BLOCK_COUNTS: e.what = ENTRY_COUNTS; break;
	case GT_BLOCK_THREAD:
		e.what = ENTRY_THREAD;
		e.key = h->ordinal;
		e.ticks = read64(payload, h, 16); /* end of the thread */
		break;
	case GT_BLOCK_CLOCK:
		e.process = UINT32_MAX;
		e.what = ENTRY_TUPLE;
		e.ticks = read64(payload, h, 0);
		if (h->stored_bytes >= sizeof f->newest)
			memcpy(&f->newest, payload, sizeof f->newest);
		break;
	default: e.process = UINT32_MAX;
	}
	return add_entry(f, e);
}

static int read_metadata(struct filter *f)
{
	int status;

	f->data = malloc(f->files->meta_bytes);
	if (!f->data)
		return no_memory();
	status = gt_scan_read(f->files->meta_fd, f->data, f->files->meta_bytes, 0);
	gt_scan_begin(&f->scan, f->files->meta_fd, sizeof(struct gt_file_header),
		      f->files->meta_bytes);
	while (!status && (status = gt_scan_next(&f->scan, &f->block)) > 0)
		status = add_block(f);
	return status ? gt_error(status, "cannot read a flight recorder's metadata") : 0;
}

/* Choosing entries -------------------------------------------------------------- */

/* Sort by subject, then by position, which is the order of arrival. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static bool is_same(const struct entry *x, const struct entry *y)
{
	return x->process == y->process && x->what == y->what && x->key == y->key;
}

/* Leave out old entries, except the first entry and the newest @most entries. */
static void thin_old(const struct filter *f, struct entry **e, size_t count, size_t most)
{
	size_t old = 0;

	for (size_t i = 0; i < count; i++)
		old += e[i]->ticks < f->oldest.begun.ticks;
	for (size_t i = 0; i < count && old > most; i++) {
		if (e[i]->ticks >= f->oldest.begun.ticks)
			continue;
		e[i]->is_left_out = i > 0;
		old--;
	}
}

/* Choose among entries with the same subject. */
static void choose_of_group(const struct filter *f, struct entry **e, size_t count)
{
	switch (e[0]->what & 0xff00) {
	case ENTRY_BLOCK:
	case ENTRY_OTHER: break;
	case ENTRY_TUPLE:
	case ENTRY_READING:
		if (f->files->is_thinned)
			thin_old(f, e, count, OLD_READINGS);
		break;
	case ENTRY_EVENT:
		if (f->files->is_thinned)
			thin_old(f, e, count, OLD_EVENTS);
		break;
	default:
		for (size_t i = 0; i + 1 < count; i++)
			e[i]->is_left_out = true;
	}
}

/* Return the newest entry with this process, @what and @key; NULL: none. */
static struct entry *find_entry(const struct filter *f, uint32_t process, uint32_t what,
				uint64_t key)
{
	size_t low = 0, high = f->count;

	while (low < high) { /* find the first entry after the wanted one */
		size_t middle = low + (high - low) / 2;
		const struct entry *e = f->order[middle];

		if (e->process < process ||
		    (e->process == process &&
		     (e->what < what || (e->what == what && e->key <= key))))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || f->order[low - 1]->process != process || f->order[low - 1]->what != what ||
	    f->order[low - 1]->key != key)
		return NULL;
	return f->order[low - 1];
}

static bool has_rows(const struct filter *f, uint32_t process, uint32_t ordinal)
{
	struct present_thread key = {process, ordinal};

	return f->thread_count &&
	       bsearch(&key, f->threads, f->thread_count, sizeof key, compare_threads);
}

/* Return true if the process ended before the oldest chunk and has no rows. */
static bool is_process_over(const struct filter *f, uint32_t process)
{
	const struct entry *end = find_entry(f, process, ENTRY_PROCESS_END, 1);
	const struct entry *begin = find_entry(f, process, ENTRY_PROCESS, 0);

	if (!end || find_present(f, process, NULL))
		return false;
	if (end->ticks)
		return end->ticks < f->oldest.begun.boottime_ns;
	/* the end of an untraced program is unknown; its only event is at its start */
	return begin && begin->ticks < f->oldest.begun.ticks &&
	       !find_entry(f, process, ENTRY_COUNTS, 0);
}

static void read_counts(const struct entry *e, struct gt_counts *counts)
{
	struct gt_file_block h;

	memcpy(&h, e->at, sizeof h);
	gt_counts_unpack(e->at + h.head_bytes, h.stored_bytes, counts);
}

static void leave_out_process(struct filter *f, struct entry **e, size_t count)
{
	static const struct present nothing;
	const struct entry *sums = find_entry(f, e[0]->process, ENTRY_COUNTS, 0);
	struct gt_counts counts;

	for (size_t i = 0; i < count; i++)
		e[i]->is_left_out = true;
	f->kept->processes++;
	if (!sums)
		return;
	read_counts(sums, &counts);
	/* all records of the process were in chunks that have been removed */
	gt_counts_keep(&counts, nothing.recorded);
	gt_counts_sum(&f->kept->counts, &counts);
}

static bool is_object_over(const struct filter *f, const struct entry *e)
{
	uint32_t type = e->what & 0xff;
	const struct entry *end = find_entry(f, e->process, ENTRY_END | type, e->key), *thread;

	if (type == GT_OBJECT_THREAD && !GT_THREAD_IS_TID(e->key)) {
		thread = find_entry(f, e->process, ENTRY_THREAD, e->key);
		return thread && thread->is_left_out;
	}
	return end && end->ticks < f->oldest.begun.ticks;
}

/* Leave out entries of one process that no row needs. Duplicates were left out before. */
static void choose_of_process(struct filter *f, struct entry **e, size_t count)
{
	if (is_process_over(f, e[0]->process)) {
		leave_out_process(f, e, count);
		return;
	}
	for (size_t i = 0; i < count; i++) { /* threads are sorted before objects */
		uint32_t what = e[i]->what & 0xff00;

		if (what == ENTRY_THREAD && e[i]->ticks && e[i]->ticks < f->oldest.begun.ticks &&
		    !has_rows(f, e[i]->process, (uint32_t)e[i]->key))
			e[i]->is_left_out = true;
		else if (what == ENTRY_OBJECT || what == ENTRY_BEGIN || what == ENTRY_END)
			e[i]->is_left_out |= is_object_over(f, e[i]);
	}
}

static int choose(struct filter *f)
{
	size_t i, n;

	f->order = malloc((f->count + 1) * sizeof(struct entry *));
	if (!f->order)
		return no_memory();
	for (i = 0; i < f->count; i++)
		f->order[i] = &f->entries[i];
	qsort(f->order, f->count, sizeof(struct entry *), compare_entries);
	for (i = 0; i < f->count; i += n) {
		for (n = 1; i + n < f->count && is_same(f->order[i], f->order[i + n]); n++)
			;
		choose_of_group(f, f->order + i, n);
	}
	for (i = 0; i < f->count && f->files->is_thinned; i += n) {
		for (n = 1; i + n < f->count && f->order[i]->process == f->order[i + n]->process;
		     n++)
			;
		if (f->order[i]->process != UINT32_MAX)
			choose_of_process(f, f->order + i, n);
	}
	return 0;
}

/* The copy ----------------------------------------------------------------------- */

/* Copy the sums of a process, reduced to the remaining rows. */
static int copy_counts(const struct filter *f, struct gt_capture_writer *to, const struct entry *e)
{
	static const struct present nothing;
	const struct present *p = find_present(f, e->process, NULL);
	struct gt_counts counts;

	read_counts(e, &counts);
	gt_counts_keep(&counts, p ? p->recorded : nothing.recorded);
	return gt_capture_write_counts(to, e->process, &counts);
}

static int copy_entry(struct filter *f, struct gt_capture_writer *to, const struct entry *e,
		      bool last)
{
	struct gt_file_block h;
	bool doubted = false;
	uint16_t words;
	int status;

	if (e->is_record) {
		memcpy(&words, e->at, sizeof words);
		memcpy(f->record, e->at, (size_t)words * 8);
		status = gt_writer_put_record(to, e->process, f->record, words, &doubted);
		return status == -EBADMSG ? 0 : status;
	}
	status = gt_writer_end_records(to);
	if (status)
		return status;
	if (last && e->what == ENTRY_COUNTS)
		return copy_counts(f, to, e);
	memcpy(&h, e->at, sizeof h);
	return gt_writer_append_block(to, h.type, h.process, h.ordinal, e->at + h.head_bytes,
				      h.stored_bytes);
}

static int copy_chosen(struct filter *f, struct gt_capture_writer *to, bool last)
{
	int status = 0;

	for (size_t i = 0; i < f->count && !status; i++)
		if (!f->entries[i].is_left_out)
			status = copy_entry(f, to, &f->entries[i], last);
	if (!status && !last)
		status = gt_writer_put_retained(to, f->kept);
	return status;
}

/* Return the end of the last call, interpolated between the clock readings at the start and the end
 * of the window. */
static uint64_t get_end_ns(const struct filter *f)
{
	const struct gt_clock_tuple *a = &f->oldest.begun, *b = &f->newest;
	uint64_t ticks = b->ticks - a->ticks, ns = b->boottime_ns - a->boottime_ns;

	if (f->newest_ticks <= a->ticks || b->ticks <= a->ticks || b->boottime_ns < a->boottime_ns)
		return a->boottime_ns;
	return a->boottime_ns +
	       (uint64_t)((double)(f->newest_ticks - a->ticks) * (double)ns / (double)ticks);
}

int gt_retained_filter(const struct gt_retained_files *files, struct gt_capture_writer *to,
		       bool last, struct gt_retained *kept)
{
	struct filter *f = calloc(1, sizeof *f);
	int status;

	kept->processes = 0;
	memset(&kept->counts, 0, sizeof kept->counts);
	if (!f)
		return no_memory();
	f->files = files;
	f->kept = kept;
	status = read_chunks(f);
	if (!status)
		status = read_metadata(f);
	if (!status)
		status = choose(f);
	if (!status)
		status = copy_chosen(f, to, last);
	kept->begin_ns = f->oldest.begun.boottime_ns;
	if (!status && !kept->end_ns)
		kept->end_ns = get_end_ns(f);
	free(f->data);
	free(f->entries);
	free(f->order);
	free(f->processes);
	free(f->threads);
	free(f);
	return status;
}
