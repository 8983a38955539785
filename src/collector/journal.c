/* SPDX-License-Identifier: MIT */
/* The collector's journal: see journal.h for the protocol. */
#include "collector/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

static int map_file(struct gt_journal *j)
{
	j->file = mmap(NULL, sizeof *j->file, PROT_READ | PROT_WRITE, MAP_SHARED, j->fd, 0);
	if (j->file != MAP_FAILED)
		return 0;
	j->file = NULL;
	return gt_error(-errno, "cannot map the collector's journal");
}

int gt_journal_create(const struct gt_folder *f, struct gt_journal *out)
{
	int status;

	memset(out, 0, sizeof *out);
	out->fd = openat(f->fd, "journal", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out->fd < 0)
		return gt_error(-errno, "cannot make the collector's journal");
	flock(out->fd, LOCK_EX | LOCK_NB);
	status = ftruncate(out->fd, sizeof *out->file) ? gt_error(-errno, "no room for the collector's journal") : map_file(out);
	if (status) {
		gt_journal_close(out);
		return status;
	}
	out->file->head.magic = GT_JOURNAL_MAGIC;
	out->file->head.version = GT_JOURNAL_VERSION;
	out->file->head.bytes = sizeof *out->file;
	out->file->head.collector_pid = (uint32_t)getpid();
	return 0;
}

int gt_journal_open(const struct gt_folder *f, struct gt_journal *out)
{
	struct stat st;
	int status = 0;

	memset(out, 0, sizeof *out);
	out->fd = openat(f->fd, "journal", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (out->fd < 0)
		return gt_error(-errno, "%s has no journal: its collector died before it began", f->path);
	if (flock(out->fd, LOCK_EX | LOCK_NB))
		status = gt_error(-EBUSY, "this session still has its collector (process %u)", gt_journal_owner(f));
	else if (fstat(out->fd, &st) || st.st_size != (off_t)sizeof *out->file)
		status = gt_error(-EBADMSG, "the journal of %s is cut or from another version", f->path);
	else
		status = map_file(out);
	if (!status && (out->file->head.magic != GT_JOURNAL_MAGIC || out->file->head.version != GT_JOURNAL_VERSION ||
			out->file->head.bytes != sizeof *out->file))
		status = gt_error(-EBADMSG, "the journal of %s is damaged or from another version", f->path);
	if (status) {
		gt_journal_close(out);
		return status;
	}
	return 0;
}

void gt_journal_close(struct gt_journal *j)
{
	if (j->file)
		munmap(j->file, sizeof *j->file);
	if (j->fd >= 0)
		close(j->fd); /* the lock goes with it */
	j->file = NULL;
	j->fd = -1;
}

uint32_t gt_journal_owner(const struct gt_folder *f)
{
	struct gt_journal_head head;
	int fd = openat(f->fd, "journal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint32_t pid = 0;

	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) && pread(fd, &head, sizeof head, 0) == sizeof head)
		pid = head.collector_pid;
	close(fd);
	return pid;
}

uint32_t gt_journal_find(const struct gt_journal *j, uint32_t pid, uint64_t start_ticks)
{
	for (uint32_t i = 0; i < j->file->head.accounts_used && i < GT_JOURNAL_ACCOUNTS; i++) {
		const struct gt_account *a = &j->file->accounts[i];

		if (a->state != GT_ACCOUNT_FREE && a->pid == pid && a->start_ticks == start_ticks)
			return i;
	}
	return UINT32_MAX;
}

uint32_t gt_journal_take(struct gt_journal *j)
{
	for (uint32_t i = 0; i < GT_JOURNAL_ACCOUNTS; i++) {
		struct gt_account *a = &j->file->accounts[i];

		/* pid alone: taken, but not yet in the journal's own view */
		if (a->state != GT_ACCOUNT_FREE || a->pid)
			continue;
		a->pid = UINT32_MAX;
		if (j->file->head.accounts_used <= i)
			j->file->head.accounts_used = i + 1;
		return i;
	}
	return UINT32_MAX;
}

void gt_journal_release(struct gt_journal *j, uint32_t number)
{
	struct gt_account *a = &j->file->accounts[number];

	/* the state first: half an account must not look like one */
	*(volatile uint32_t *)&a->state = GT_ACCOUNT_FREE;
	memset(a, 0, sizeof *a);
}

void gt_journal_redo_begin(struct gt_journal *j, uint64_t capture_bytes, uint32_t next_index)
{
	struct gt_journal_head *h = &j->file->head;

	h->redo_capture_bytes = capture_bytes;
	h->redo_next_index = next_index;
	atomic_store_explicit(&h->phase, GT_JOURNAL_REDO, memory_order_release);
}

void gt_journal_redo_accounts(struct gt_journal *j)
{
	struct gt_journal_file *f = j->file;

	for (uint32_t i = 0; i < f->head.redo_count && i < GT_JOURNAL_REDOS; i++)
		if (f->redos[i].number < GT_JOURNAL_ACCOUNTS)
			f->accounts[f->redos[i].number] = f->redos[i].account;
	f->head.capture_bytes = f->head.redo_capture_bytes;
	f->head.next_index = f->head.redo_next_index;
}

void gt_journal_redo_end(struct gt_journal *j)
{
	atomic_store_explicit(&j->file->head.phase, GT_JOURNAL_IDLE, memory_order_release);
	/* not before: until IDLE is seen, they are to be carried out */
	j->file->head.mark_count = j->file->head.redo_count = 0;
}
