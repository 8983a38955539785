/* SPDX-License-Identifier: MIT */
/* See rebuild.h. */
#include "collector/rebuild.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

struct rebuild {
	struct gt_drain *d;
	const struct gt_capture *capture;
	/* account of each process of the capture; UINT32_MAX: the process has no ring file */
	uint32_t *accounts;
	bool has_known; /* true if a ring file belongs to a process of the capture */
	/* true if a ring file belongs to a process whose end is not in the capture */
	bool has_open;
};

/* Return the process of the ring file, or NULL if the capture does not contain the process. */
static const struct gt_process_info *find_process(const struct gt_capture *c, const char *ring)
{
	uint64_t ticks;
	uint32_t pid;

	if (!gt_ring_name_parse(ring, &pid, &ticks))
		return NULL;
	for (uint32_t i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_process_info *p = gt_capture_process(c, i);

		if (p->pid == pid && p->start_ticks == ticks)
			return p;
	}
	return NULL;
}

static void look_for_process(const char *ring, void *data)
{
	struct rebuild *r = data;

	r->has_known |= find_process(r->capture, ring) != NULL;
}

/* Check that the capture belongs to this session and is not finished. Changes nothing. */
static int check_capture(struct rebuild *r, const char *output, const struct gt_position *position)
{
	const struct gt_capture_session *session = gt_capture_session_at(r->capture, 0);

	if (position && memcmp(session->uuid, position->capture_id, sizeof session->uuid) != 0)
		return gt_error(-EBADMSG, "%s is the capture of another session; not modified",
				output);
	if (!position) {
		gt_folder_rings(r->d->folder, look_for_process, r);
		if (!r->has_known)
			return gt_error(-EBADMSG,
					"the journal of %s is missing or damaged: cannot verify "
					"that %s is its capture",
					r->d->folder->path, output);
	}
	return gt_capture_health(r->capture)->end == GT_CAPTURE_CUT ? 0 : -EALREADY;
}

static void add_account(const char *ring, void *data)
{
	struct rebuild *r = data;
	const struct gt_process_info *p = find_process(r->capture, ring);
	struct gt_account *account;
	uint32_t number;

	if (!p || (number = gt_journal_take(&r->d->journal)) == UINT32_MAX)
		return;
	account = &r->d->journal.file->accounts[number];
	*account = (struct gt_account){.state = p->ended ? GT_ACCOUNT_ENDED : GT_ACCOUNT_OPEN,
				       .pid = p->pid,
				       .start_ticks = p->start_ticks,
				       .index = p->index};
	r->accounts[p->index] = number;
	r->has_open |= !p->ended;
}

/* Return true if the thread that wrote the item has ended, so that its slot no longer counts the
 * item. */
static bool is_of_ended_thread(const struct gt_capture *c, const struct gt_item *item)
{
	const struct gt_thread_info *t = gt_capture_thread_find(c, item->process, item->ordinal);

	return t && t->end_ticks;
}

static int count_records(struct rebuild *r)
{
	uint32_t process = UINT32_MAX, ordinal = 0;
	const struct gt_item *item;
	struct gt_cursor *cursor;
	bool has_ended = false;
	int status = gt_cursor_create(r->capture, &cursor);

	if (status)
		return status;
	while ((status = gt_cursor_next(cursor, &item)) == 1) {
		const int class = item->kind == GT_RECORD_DEVICE ? GT_CLASS_DEVICE : GT_CLASS_CALL;
		uint32_t domain = GT_OP_DOMAIN(item->op), number = r->accounts[item->process];
		struct gt_counts *counts;

		if ((item->kind != GT_RECORD_CALL && item->kind != GT_RECORD_DEVICE) ||
		    domain >= GT_DOMAIN_COUNT || number == UINT32_MAX)
			continue;
		if (item->process != process || item->ordinal != ordinal) {
			process = item->process;
			ordinal = item->ordinal;
			has_ended = is_of_ended_thread(r->capture, item);
		}
		counts = &r->d->journal.file->accounts[number].counts;
		counts->recorded[class][domain]++;
		counts->seen[class][domain] += has_ended;
	}
	gt_cursor_destroy(cursor);
	return status;
}

static int fill_accounts(struct rebuild *r)
{
	const size_t count = gt_capture_process_count(r->capture);
	int status = 0;

	r->accounts = malloc((count + 1) * sizeof *r->accounts);
	if (!r->accounts)
		return gt_error(-ENOMEM, "no memory for a journal");
	memset(r->accounts, 0xff, count * sizeof *r->accounts);
	gt_folder_rings(r->d->folder, add_account, r);
	if (r->has_open)
		status = count_records(r);
	free(r->accounts);
	return status;
}

static int reopen(const char *output, const struct gt_position *position,
		  struct gt_capture_writer **writer)
{
	if (!position)
		return gt_capture_writer_reopen(output, NULL, UINT64_MAX, writer);
	if (position->kept.asked.window_ns)
		return gt_capture_writer_reopen_retained(output, position->capture_id,
							 position->capture_bytes, &position->kept,
							 writer);
	return gt_capture_writer_reopen(output, position->capture_id, position->capture_bytes,
					writer);
}

/* Read the processes of the capture. A flight recorder's processes are not in the capture yet; they
 * get new indexes. */
static int read_capture(struct rebuild *r, const char *output, const struct gt_position *position)
{
	struct gt_journal_head *head = &r->d->journal.file->head;
	struct gt_capture *c;
	int status = 0;

	head->next_index = position ? position->next_index : 0;
	if (position && position->kept.asked.window_ns)
		return 0;
	status = gt_capture_open(output, &c);
	if (status)
		return status;
	r->capture = c;
	if (head->next_index < gt_capture_process_count(c))
		head->next_index = (uint32_t)gt_capture_process_count(c);
	status = fill_accounts(r);
	gt_capture_close(c);
	return status;
}

int gt_rebuild_journal(struct gt_drain *d, const char *output, struct gt_capture_writer **writer)
{
	struct rebuild r = {.d = d};
	struct gt_position at;
	const struct gt_position *position = gt_position_read(d->folder, &at) ? &at : NULL;
	struct gt_journal_head *head;
	struct gt_capture *c;
	int status = gt_capture_open(output, &c);

	*writer = NULL;
	if (status) /* report -ENODATA as another error, because an empty capture does not mean that
	 * the program never started */
		return status == -ENODATA ? gt_error(-EBADMSG, "%s is empty", output) : status;
	r.capture = c;
	status = check_capture(&r, output, position);
	if (!d->folder->session)
		d->folder->host_clock = gt_capture_session(c)->host_clock;
	gt_capture_close(c);
	if (!status)
		status = gt_journal_make(d->folder, &d->journal);
	if (!status)
		status = reopen(output, position, writer);
	if (status)
		return status;
	status = read_capture(&r, output, position);
	head = &d->journal.file->head;
	gt_capture_writer_id(*writer, head->capture_id);
	head->capture_bytes = gt_capture_writer_bytes(*writer);
	gt_capture_writer_retained(*writer, &head->kept);
	if (status) {
		gt_capture_writer_destroy(*writer);
		*writer = NULL;
	}
	return status;
}
