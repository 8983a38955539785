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

static int map_file(struct gt_journal *j, uint64_t bytes)
{
	j->file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, j->fd, 0);
	if (j->file == MAP_FAILED) {
		j->file = NULL;
		return gt_error(-errno, "cannot map the collector's journal");
	}
	j->bytes = bytes;
	return 0;
}

static uint64_t file_bytes(uint32_t accounts)
{
	return sizeof(struct gt_journal_file) + (uint64_t)accounts * sizeof(struct gt_account);
}

/* As long as it may be: a limit of file size (ulimit -f) holds for this one too. */
static int size_file(struct gt_journal *j)
{
	for (j->account_count = GT_JOURNAL_ACCOUNTS; j->account_count >= 16; j->account_count /= 2)
		if (ftruncate(j->fd, (off_t)file_bytes(j->account_count)) == 0)
			return map_file(j, file_bytes(j->account_count));
	return gt_error(-errno, "no room for the collector's journal");
}

int gt_journal_create(const struct gt_folder *f, const uint8_t capture_id[GT_CAPTURE_ID_BYTES],
		      struct gt_journal *out)
{
	int status;

	memset(out, 0, sizeof *out);
	out->fd =
		openat(f->fd, "journal", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out->fd < 0)
		return gt_error(-errno, "cannot make the collector's journal");
	flock(out->fd, LOCK_EX | LOCK_NB);
	status = size_file(out);
	if (status) {
		gt_journal_close(out);
		return status;
	}
	out->file->head.magic = GT_JOURNAL_MAGIC;
	out->file->head.version = GT_JOURNAL_VERSION;
	out->file->head.bytes = sizeof *out->file;
	out->file->head.account_count = out->account_count;
	memcpy(out->file->head.capture_id, capture_id, GT_CAPTURE_ID_BYTES);
	out->file->head.collector_pid = (uint32_t)getpid();
	return 0;
}

static int check_file(const struct gt_folder *f, struct gt_journal *j)
{
	struct stat st;
	int status;

	if (fstat(j->fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
		return gt_error(-EPERM, "the journal of %s is not ours", f->path);
	if (st.st_size < (off_t)sizeof *j->file)
		return gt_error(-EBADMSG, "the journal of %s is cut", f->path);
	status = map_file(j, (uint64_t)st.st_size);
	if (status)
		return status;
	j->account_count = j->file->head.account_count;
	if (j->file->head.magic != GT_JOURNAL_MAGIC ||
	    j->file->head.version != GT_JOURNAL_VERSION || j->file->head.bytes != sizeof *j->file ||
	    j->account_count > GT_JOURNAL_ACCOUNTS || file_bytes(j->account_count) > j->bytes)
		return gt_error(-EBADMSG, "the journal of %s is damaged or from another version",
				f->path);
	return 0;
}

int gt_journal_open(const struct gt_folder *f, struct gt_journal *out)
{
	int status;

	memset(out, 0, sizeof *out);
	out->fd = openat(f->fd, "journal", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (out->fd < 0)
		return gt_error(-errno, "%s has no journal: its collector died before it began",
				f->path);
	if (flock(out->fd, LOCK_EX | LOCK_NB))
		status = gt_error(-EBUSY, "this session still has its collector (process %u)",
				  gt_journal_owner(f));
	else
		status = check_file(f, out);
	if (status)
		gt_journal_close(out);
	return status;
}

void gt_journal_close(struct gt_journal *j)
{
	if (j->file)
		munmap(j->file, j->bytes);
	if (j->fd >= 0)
		close(j->fd); /* the lock goes with it */
	j->file = NULL;
	j->fd = -1;
}

uint32_t gt_journal_owner(const struct gt_folder *f)
{
	struct gt_journal_head head;
	int fd = openat(f->fd, "journal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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
	for (uint32_t i = 0; i < j->file->head.accounts_used && i < j->account_count; i++) {
		const struct gt_account *a = &j->file->accounts[i];

		if (a->state != GT_ACCOUNT_FREE && a->pid == pid && a->start_ticks == start_ticks)
			return i;
	}
	return UINT32_MAX;
}

uint32_t gt_journal_take(struct gt_journal *j)
{
	for (uint32_t i = 0; i < j->account_count; i++) {
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

void gt_journal_redo_begin(struct gt_journal *j, uint64_t capture_bytes,
			   const struct gt_keep_position *kept, uint32_t next_index)
{
	struct gt_journal_head *h = &j->file->head;

	h->redo_capture_bytes = capture_bytes;
	h->redo_kept = *kept;
	h->redo_next_index = next_index;
	atomic_store_explicit(&h->phase, GT_JOURNAL_REDO, memory_order_release);
}

void gt_journal_redo_accounts(struct gt_journal *j)
{
	struct gt_journal_file *f = j->file;

	for (uint32_t i = 0; i < f->head.redo_count && i < GT_JOURNAL_REDOS; i++)
		if (f->redos[i].number < j->account_count)
			f->accounts[f->redos[i].number] = f->redos[i].account;
	f->head.capture_bytes = f->head.redo_capture_bytes;
	f->head.kept = f->head.redo_kept;
	f->head.next_index = f->head.redo_next_index;
}

void gt_journal_redo_end(struct gt_journal *j)
{
	atomic_store_explicit(&j->file->head.phase, GT_JOURNAL_IDLE, memory_order_release);
	/* not before: until IDLE is seen, they are to be carried out */
	j->file->head.mark_count = j->file->head.redo_count = 0;
}
