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

#include "capture/checksum.h"
#include "collector/guard.h"
#include "util/error.h"

#define POSITION_MAGIC UINT64_C(0x31534f5050415447) /* "GTAPPOS1" */

/* The file ----------------------------------------------------------------------- */

static void copy_head(struct gt_journal *j)
{
	const struct gt_journal_head *from = &j->file->head;
	struct gt_journal_head *to = &j->shared->head;
	const size_t phase_end = offsetof(struct gt_journal_head, phase) + sizeof from->phase;

	/* copy all fields except magic and phase, which must be stored in a fixed order */
	memcpy((char *)to + sizeof to->magic, (const char *)from + sizeof from->magic,
	       offsetof(struct gt_journal_head, phase) - sizeof from->magic);
	memcpy((char *)to + phase_end, (const char *)from + phase_end, sizeof *to - phase_end);
}

static void copy_redo_area(struct gt_journal *j)
{
	const struct gt_journal_file *from = j->file;

	memcpy(j->shared->marks, from->marks, from->head.mark_count * sizeof *from->marks);
	memcpy(j->shared->redos, from->redos, from->head.redo_count * sizeof *from->redos);
}

static void copy_phase(struct gt_journal *j)
{
	atomic_store_explicit(&j->shared->head.phase, j->file->head.phase, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
}

/* Write all data into a file that another program has truncated. The magic is stored last, so that
 * a half-written journal is invalid. */
static void restore_file(struct gt_journal *j)
{
	if (ftruncate(j->fd, (off_t)j->bytes) || !GT_GUARD())
		return; /* the next step retries */
	j->shared->head.magic = 0;
	atomic_signal_fence(memory_order_seq_cst);
	copy_redo_area(j);
	memcpy(j->shared->accounts, j->file->accounts,
	       j->file->head.accounts_used * sizeof *j->file->accounts);
	copy_head(j);
	copy_phase(j);
	j->shared->head.magic = GT_JOURNAL_MAGIC;
	gt_guard_end();
}

static void store_begin(struct gt_journal *j)
{
	copy_redo_area(j);
	copy_head(j);
	atomic_signal_fence(memory_order_seq_cst);
	copy_phase(j);
}

static void store_accounts(struct gt_journal *j)
{
	const struct gt_journal_file *from = j->file;

	for (uint32_t i = 0; i < from->head.redo_count; i++)
		if (from->redos[i].number < j->account_count)
			j->shared->accounts[from->redos[i].number] =
				from->accounts[from->redos[i].number];
	copy_head(j);
}

static void store_end(struct gt_journal *j)
{
	copy_phase(j);
	copy_head(j);
}

/* Carry out one step of the protocol in the file. */
static void store(struct gt_journal *j, void (*step)(struct gt_journal *j))
{
	struct stat st;
	bool is_sound;

	if (!j->shared)
		return;
	/* a file without magic was truncated and extended again, by gputap or another program */
	if (fstat(j->fd, &st) || st.st_size < (off_t)j->bytes || !GT_GUARD()) {
		restore_file(j);
		return;
	}
	is_sound = j->shared->head.magic == GT_JOURNAL_MAGIC;
	if (is_sound)
		step(j);
	gt_guard_end();
	if (!is_sound)
		restore_file(j);
}

static void store_position(struct gt_journal *j)
{
	const struct gt_journal_head *h = &j->file->head;
	struct gt_position p;

	if (j->position_fd < 0)
		return;
	memset(&p, 0, sizeof p);
	p.magic = POSITION_MAGIC;
	p.capture_bytes = h->capture_bytes;
	p.kept = h->kept;
	memcpy(p.capture_id, h->capture_id, sizeof p.capture_id);
	p.next_index = h->next_index;
	p.crc = gt_crc32c(0, &p, offsetof(struct gt_position, crc));
	if (pwrite(j->position_fd, &p, sizeof p, 0) != (ssize_t)sizeof p)
		return; /* there is no room; the journal contains the same data */
}

/* Open the position file. Return -1 if there is none that belongs to the current user. */
static int open_position(const struct gt_folder *f, int flags)
{
	int fd = openat(f->fd, "position", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags,
			0600);
	struct stat st;

	if (fd < 0 ||
	    (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

bool gt_position_read(const struct gt_folder *f, struct gt_position *out)
{
	int fd = open_position(f, 0);
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, out, sizeof *out, 0);
	close(fd);
	return n == (ssize_t)sizeof *out && out->magic == POSITION_MAGIC &&
	       out->crc == gt_crc32c(0, out, offsetof(struct gt_position, crc));
}

/* Creating and opening ------------------------------------------------------------- */

/* Reserve address space; memory is allocated on first use. */
static int take_memory(struct gt_journal *j)
{
	j->file = mmap(NULL, j->bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (j->file != MAP_FAILED)
		return 0;
	j->file = NULL;
	return gt_error(-errno, "no memory for the collector's journal");
}

static int map_file(struct gt_journal *j)
{
	j->shared = mmap(NULL, j->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, j->fd, 0);
	if (j->shared != MAP_FAILED)
		return 0;
	j->shared = NULL;
	return gt_error(-errno, "cannot map the collector's journal");
}

static uint64_t file_bytes(uint32_t accounts)
{
	return sizeof(struct gt_journal_file) + (uint64_t)accounts * sizeof(struct gt_account);
}

/* Make the file as long as the file size limit (ulimit -f) allows, because the limit also applies
 * to this file. */
static int size_file(struct gt_journal *j)
{
	for (j->account_count = GT_JOURNAL_ACCOUNTS; j->account_count >= 16;
	     j->account_count /= 2) {
		j->bytes = file_bytes(j->account_count);
		if (ftruncate(j->fd, (off_t)j->bytes) == 0)
			return map_file(j);
	}
	return gt_error(-errno, "no room for the collector's journal");
}

int gt_journal_create(const struct gt_folder *f, const uint8_t capture_id[GT_CAPTURE_ID_BYTES],
		      struct gt_journal *out)
{
	int status;

	*out = (struct gt_journal){.position_fd = -1};
	out->fd =
		openat(f->fd, "journal", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out->fd < 0)
		return gt_error(-errno, "cannot create the collector's journal");
	flock(out->fd, LOCK_EX | LOCK_NB);
	status = size_file(out);
	if (!status)
		status = take_memory(out);
	if (status) {
		gt_journal_close(out);
		return status;
	}
	out->position_fd = open_position(f, O_CREAT | O_EXCL);
	out->file->head.magic = GT_JOURNAL_MAGIC;
	out->file->head.version = GT_JOURNAL_VERSION;
	out->file->head.bytes = sizeof *out->file;
	out->file->head.account_count = out->account_count;
	memcpy(out->file->head.capture_id, capture_id, GT_CAPTURE_ID_BYTES);
	out->file->head.collector_pid = (uint32_t)getpid();
	restore_file(out);
	return 0;
}

int gt_journal_make(const struct gt_folder *f, struct gt_journal *out)
{
	*out = (struct gt_journal){.fd = -1,
				   .position_fd = open_position(f, O_CREAT),
				   .bytes = file_bytes(GT_JOURNAL_ACCOUNTS),
				   .account_count = GT_JOURNAL_ACCOUNTS};
	return take_memory(out);
}

/* Read the head and the used parts of the remaining file, up to the end of the file. */
static int read_file(const struct gt_folder *f, struct gt_journal *j, uint64_t bytes)
{
	struct gt_journal_head head;
	uint64_t wanted;

	if (pread(j->fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
		return gt_error(-EBADMSG, "the journal of %s is truncated", f->path);
	if (head.magic != GT_JOURNAL_MAGIC || head.version != GT_JOURNAL_VERSION ||
	    head.bytes != sizeof *j->file || head.account_count > GT_JOURNAL_ACCOUNTS ||
	    head.accounts_used > head.account_count || head.mark_count > GT_JOURNAL_MARKS ||
	    head.redo_count > GT_JOURNAL_REDOS || file_bytes(head.account_count) > bytes)
		return gt_error(-EBADMSG, "the journal of %s is damaged or from another version",
				f->path);
	j->account_count = head.account_count;
	j->bytes = file_bytes(head.account_count);
	wanted = file_bytes(head.accounts_used);
	if (take_memory(j))
		return -ENOMEM;
	for (uint64_t at = 0; at < wanted;) {
		ssize_t n = pread(j->fd, (char *)j->file + at, wanted - at, (off_t)at);

		if (n <= 0)
			return gt_error(-EBADMSG, "the journal of %s is truncated", f->path);
		at += (uint64_t)n;
	}
	return 0;
}

/* Check the position against the journal. The position is written after the journal, so a valid
 * position cannot be ahead of the journal. */
static int check_position(const struct gt_folder *f, const struct gt_journal *j)
{
	const struct gt_journal_head *h = &j->file->head;
	struct gt_position p;

	if (!gt_position_read(f, &p))
		return 0;
	/* a flight recorder's metadata may become shorter */
	if (!memcmp(p.capture_id, h->capture_id, sizeof p.capture_id) &&
	    (p.kept.asked.window_ns || p.capture_bytes <= h->capture_bytes))
		return 0;
	return gt_error(-EBADMSG, "the journal of %s is damaged", f->path);
}

static int check_file(const struct gt_folder *f, struct gt_journal *j)
{
	struct stat st;
	int status;

	if (fstat(j->fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
		return gt_error(-EPERM, "the journal of %s is not a regular file of this user",
				f->path);
	status = read_file(f, j, (uint64_t)st.st_size);
	if (!status)
		status = check_position(f, j);
	j->position_fd = open_position(f, O_CREAT);
	return status ? status : map_file(j);
}

int gt_journal_open(const struct gt_folder *f, struct gt_journal *out)
{
	int status;

	*out = (struct gt_journal){.position_fd = -1};
	out->fd = openat(f->fd, "journal", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (out->fd < 0)
		return gt_error(-errno, "%s has no journal: its collector died before it started",
				f->path);
	if (flock(out->fd, LOCK_EX | LOCK_NB))
		status = gt_error(-EBUSY, "this session's collector still runs (process %u)",
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
	if (j->shared)
		munmap(j->shared, j->bytes);
	if (j->position_fd >= 0)
		close(j->position_fd);
	if (j->fd >= 0)
		close(j->fd); /* closing also drops the lock */
	j->file = j->shared = NULL;
	j->fd = j->position_fd = -1;
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

		/* only `pid` is set: the account is taken, but not yet in use */
		if (a->state != GT_ACCOUNT_FREE || a->pid)
			continue;
		a->pid = UINT32_MAX;
		if (j->file->head.accounts_used <= i)
			j->file->head.accounts_used = i + 1;
		return i;
	}
	return UINT32_MAX;
}

/* Free an account in memory. In the file, the account stays until another process gets it, which is
 * harmless, because the process has ended, and its segment is gone. */
void gt_journal_release(struct gt_journal *j, uint32_t number)
{
	memset(&j->file->accounts[number], 0, sizeof j->file->accounts[number]);
}

void gt_journal_redo_begin(struct gt_journal *j, uint64_t capture_bytes,
			   const struct gt_keep_position *kept, uint32_t next_index)
{
	struct gt_journal_head *h = &j->file->head;

	h->redo_capture_bytes = capture_bytes;
	h->redo_kept = *kept;
	h->redo_next_index = next_index;
	atomic_store_explicit(&h->phase, GT_JOURNAL_REDO, memory_order_relaxed);
	store(j, store_begin);
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
	store(j, store_accounts);
}

void gt_journal_redo_end(struct gt_journal *j)
{
	atomic_store_explicit(&j->file->head.phase, GT_JOURNAL_IDLE, memory_order_relaxed);
	/* cleared in the file after the phase: until the phase is IDLE, recovery must carry out the
	 * marks and redos */
	j->file->head.mark_count = j->file->head.redo_count = 0;
	store(j, store_end);
	store_position(j);
}
