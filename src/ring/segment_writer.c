/* SPDX-License-Identifier: MIT */
/* The writer's side of a segment.
 *
 * Each process of a traced tree creates one segment, which takes about a dozen system calls, 20 to
 * 50 us. The code uses syscall(), because the libc functions are cancellation points, and other
 * preloaded libraries replace them.
 *
 * The file is sparse. tmpfs allocates memory at the first touch of a page, and raises SIGBUS if it
 * has none left. So the writer touches a page only after the kernel has promised it:
 * madvise(MADV_POPULATE_WRITE) if available (Linux 5.14), else creation allocates the whole file.
 * Until then a page has no access rights, so that mlockall() ignores it.
 *
 * Never here: malloc; stdio; signals to the program (RLIMIT_FSIZE is read first, because
 * ftruncate() beyond it would send SIGXFSZ); descriptors that stay open (a program that has closed
 * all descriptors must find the same numbers free, and must still be recorded). */
#include "ring/segment_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/pool.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
	PAGE = 4096,
	PATH_BYTES = 1024,
	/* size limit of a program's path: tmpfs keeps short links in the inode */
	UNTRACED_EXE_BYTES = 100,
};

/* Make [at, at + bytes) present in memory. Return true on success. */
static bool make_present(const struct gt_segment *r, const void *at, size_t bytes)
{
	uintptr_t start = (uintptr_t)at & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)at + bytes + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	long rc;

	/* the range may lie beyond the part that was made accessible at creation; a private segment
	 * has no file, and all of its memory is accessible */
	if (r->block_count &&
	    syscall(SYS_mprotect, start, end - start, PROT_READ | PROT_WRITE) != 0)
		return false;
	if (!r->populate)
		return true;
	do
		rc = syscall(SYS_madvise, start, end - start, MADV_POPULATE_WRITE);
	while (rc != 0 && (errno == EINTR || errno == EAGAIN));
	return rc == 0;
}

static int open_at(const char *path, int flags, int mode)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static void close_fd(int fd)
{
	int saved = errno;

	syscall(SYS_close, fd);
	errno = saved;
}

/* Join two parts of a path. Does not use snprintf(), because stdio takes locks that a fork child
 * may have inherited in the locked state. */
static bool path_join(char *out, const char *directory, const char *name)
{
	size_t d = strlen(directory), n = strlen(name);

	if (d + 1 + n + 1 > PATH_BYTES) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(out, directory, d);
	out[d] = '/';
	memcpy(out + d + 1, name, n + 1);
	return true;
}

static char *put_text(char *at, const char *text)
{
	size_t n = strlen(text);

	memcpy(at, text, n + 1);
	return at + n;
}

static char *put_digits(char *at, uint64_t value)
{
	char digits[24], *d = digits + sizeof digits;

	do
		*--d = (char)('0' + value % 10);
	while ((value /= 10) != 0);
	memcpy(at, d, (size_t)(digits + sizeof digits - d));
	at += digits + sizeof digits - d;
	*at = '\0';
	return at;
}

const struct gt_session *gt_session_map(const char *directory)
{
	char path[PATH_BYTES];
	const struct gt_session *s;
	struct stat st;
	int fd;

	if (!path_join(path, directory, "session"))
		return NULL;
	fd = open_at(path, O_RDONLY, 0);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || st.st_size < (off_t)sizeof *s) {
		close_fd(fd);
		errno = ENOTSUP;
		return NULL;
	}
	s = mmap(NULL, sizeof *s, PROT_READ, MAP_SHARED, fd, 0);
	close_fd(fd);
	if (s == MAP_FAILED)
		return NULL;
	if (s->magic != GT_SESSION_MAGIC || s->version != GT_SESSION_VERSION ||
	    s->bytes < sizeof *s || s->block_bytes < PAGE ||
	    s->block_bytes & (s->block_bytes - 1) || s->slot_count == 0) {
		munmap((void *)(uintptr_t)s, sizeof *s);
		errno = ENOTSUP;
		return NULL;
	}
	return s;
}

void gt_session_unmap(const struct gt_session *session)
{
	munmap((void *)(uintptr_t)session, sizeof *session);
}

static uint64_t page_round(uint64_t bytes)
{
	return (bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* The first fields of struct gt_segment. The whole struct is too large for the stacks on which this
 * may run. */
struct layout {
	uint64_t magic;
	uint32_t version, header_bytes;
	uint64_t segment_bytes;
	uint32_t slot_bytes, slot_count, block_bytes, block_count;
	uint64_t block_offset;
};
static_assert(sizeof(struct layout) == offsetof(struct gt_segment, host_clock),
	      "both structs have the same members");

/* Compute sizes and offsets for a pool of @blocks. Return the size of the file in bytes. */
static uint64_t lay_out(struct layout *r, const struct gt_session *s, uint64_t blocks,
			uint32_t slots)
{
	r->magic = GT_SEGMENT_MAGIC;
	r->version = GT_SEGMENT_VERSION;
	r->header_bytes = (uint32_t)page_round(sizeof(struct gt_segment));
	r->slot_bytes = sizeof(struct gt_slot);
	r->slot_count = slots;
	r->block_bytes = s->block_bytes;
	r->block_count = (uint32_t)blocks;
	r->block_offset = page_round(r->header_bytes + (uint64_t)r->slot_count * r->slot_bytes);
	r->segment_bytes = r->block_offset + blocks * r->block_bytes;
	return r->segment_bytes;
}

static uint64_t file_size_limit(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
		       ? limit.rlim_cur
		       : UINT64_MAX;
}

static size_t fixed_bytes(const struct layout *r)
{
	return r->header_bytes + r->slot_bytes; /* header and slot 0 */
}

/* Return the limit of the size of a mapping: a small part of the process's address space limit. */
static uint64_t mapping_limit(void)
{
	enum { PART = 32 };
	struct rlimit limit;

	return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
		       ? limit.rlim_cur / PART
		       : UINT64_MAX;
}

/* Return the number of slots: fewer than @wanted if file size or address space is limited. The
 * slots take at most half of the limit, except that there are always 64 slots. */
static uint32_t slots_within(uint32_t wanted, uint64_t limit)
{
	enum { LEAST = 64 };
	uint64_t fit = limit / 2 / sizeof(struct gt_slot);

	if (fit < LEAST)
		fit = LEAST;
	return wanted < fit ? wanted : (uint32_t)fit;
}

/* Map the file with the largest pool that fits, make the header present and fill in its layout.
 * Return NULL with errno on failure. */
static struct gt_segment *map_largest(int fd, const struct gt_session *s)
{
	uint64_t blocks = s->pool_bytes / s->block_bytes, limit = file_size_limit(),
		 address_limit = mapping_limit(), bytes;
	struct layout sizes = {0};
	struct gt_segment *r;
	uint32_t populate = 0;

	if (blocks > UINT32_MAX / 2)
		blocks = UINT32_MAX / 2;
	if (blocks < GT_SEGMENT_MIN_BLOCKS)
		blocks = GT_SEGMENT_MIN_BLOCKS;
	for (;; blocks /= 2) {
		if (blocks < GT_SEGMENT_MIN_BLOCKS)
			return NULL; /* errno of the last failure */
		bytes = lay_out(&sizes, s, blocks,
				slots_within(s->slot_count,
					     limit < address_limit ? limit : address_limit));
		if (blocks / 2 >= GT_SEGMENT_MIN_BLOCKS && bytes > address_limit)
			continue;
		if (bytes > limit) {
			errno = EFBIG;
			continue;
		}
		if (syscall(SYS_ftruncate, fd, bytes) != 0)
			continue;
		r = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
		if (r == MAP_FAILED)
			continue;
		if (syscall(SYS_mprotect, r, page_round(fixed_bytes(&sizes)),
			    PROT_READ | PROT_WRITE) != 0) {
			munmap(r, bytes);
			continue;
		}
		if (syscall(SYS_madvise, r, fixed_bytes(&sizes), MADV_POPULATE_WRITE) == 0) {
			populate = 1;
			break;
		}
		/* an old kernel, or out of memory, in which case fallocate() fails too */
		if (syscall(SYS_fallocate, fd, 0, (off_t)0, (off_t)bytes) == 0)
			break;
		munmap(r, bytes);
	}
	syscall(SYS_madvise, r, bytes, MADV_DONTDUMP);
	memcpy(r, &sizes, sizeof sizes);
	r->populate = populate;
	return r;
}

/* Fill in the identity of the process from the kernel, which is right however the process started.
 * Without /proc (after chroot), a fork child takes the identity of its parent. */
static void describe_process(struct gt_segment *r, const struct gt_segment *parent,
			     bool hide_command)
{
	long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", r->exe, sizeof r->exe - 1);
	int fd;

	if (n <= 0 && parent)
		memcpy(r->exe, parent->exe, sizeof r->exe);
	if (hide_command)
		return;
	fd = open_at("/proc/self/cmdline", O_RDONLY, 0);
	n = 0;
	if (fd >= 0) {
		n = syscall(SYS_read, fd, r->argv, sizeof r->argv - 1);
		close_fd(fd);
	}
	if (n > 0) {
		r->argv_bytes = (uint32_t)n;
	} else if (parent) {
		r->argv_bytes = parent->argv_bytes;
		memcpy(r->argv, parent->argv, sizeof r->argv);
	}
}

/* Continue the parent's numbers, so that inherited numbers (handles, ids of names) stay unique. */
static void inherit(struct gt_segment *r, const struct gt_segment *parent)
{
	r->fork_count = parent->fork_count + 1;
	/* the tables of the runtimes are inherited too */
	atomic_init(&r->runtimes_seen,
		    atomic_load_explicit(&parent->runtimes_seen, memory_order_relaxed));
	atomic_init(&r->next_string,
		    atomic_load_explicit(&parent->next_string, memory_order_relaxed));
	for (size_t i = 0; i < sizeof r->next_object / sizeof *r->next_object; i++)
		atomic_init(&r->next_object[i],
			    atomic_load_explicit(&parent->next_object[i], memory_order_relaxed));
}

struct gt_segment *gt_segment_create(const char *directory, const struct gt_session *session,
				     const struct gt_segment *parent, uint64_t ticks)
{
	char name[64], hidden[PATH_BYTES], path[PATH_BYTES], *at;
	uint32_t pid = (uint32_t)syscall(SYS_getpid);
	struct gt_segment *r;
	int fd;

	name[0] = '.';
	at = put_digits(name + 1, pid);
	at = put_text(at, "-");
	at = put_digits(at, ticks);
	put_text(at, GT_SEGMENT_SUFFIX);
	if (!path_join(hidden, directory, name) || !path_join(path, directory, name + 1))
		return NULL;
	fd = open_at(hidden, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return NULL;
	syscall(SYS_fchmod, fd, 0600); /* the mode does not depend on the umask */
	r = map_largest(fd, session);
	close_fd(fd);
	if (!r)
		goto remove;
	r->host_clock = session->host_clock;
	r->pid = pid;
	r->ppid = (uint32_t)syscall(SYS_getppid);
	r->start_ticks = ticks;
	describe_process(r, parent, session->hide_command);
	/* the program may have cleared its environment after its start */
	if (!gt_rank_read(environ, &r->rank) && parent)
		r->rank = parent->rank;
	if (parent)
		inherit(r, parent);
	atomic_init(&r->block_limit,
		    atomic_load_explicit(&session->start_blocks, memory_order_relaxed));
	atomic_init(&r->slots_used, 1);
	atomic_init(&gt_segment_slot(r, 0)->state, GT_SLOT_ACTIVE);
	atomic_store_explicit(&r->state, GT_SEGMENT_LIVE, memory_order_release);
	if (syscall(SYS_renameat, AT_FDCWD, hidden, AT_FDCWD, path) == 0)
		return r;
	gt_segment_unmap(r);
remove:
	fd = errno;
	syscall(SYS_unlinkat, AT_FDCWD, hidden, 0);
	errno = fd;
	return NULL;
}

struct gt_segment *gt_segment_private(const struct gt_session *session,
				      const struct gt_segment *parent, uint64_t ticks)
{
	struct layout sizes = {0};
	struct gt_segment *r;
	uint64_t bytes = lay_out(&sizes, session, 0, session->slot_count);

	r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (r == MAP_FAILED)
		return NULL;
	memcpy(r, &sizes, sizeof sizes);
	r->host_clock = session->host_clock;
	r->pid = (uint32_t)syscall(SYS_getpid);
	r->start_ticks = ticks;
	if (parent)
		inherit(r, parent);
	atomic_init(&r->slots_used, 1);
	atomic_init(&gt_segment_slot(r, 0)->state, GT_SLOT_ACTIVE);
	return r;
}

bool gt_untraced_write(const char *directory, uint64_t ticks, int error)
{
	char name[64], path[PATH_BYTES], exe[PATH_BYTES], line[96 + UNTRACED_EXE_BYTES], *at, *text;
	long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe, sizeof exe - 1);
	uint32_t pid = (uint32_t)syscall(SYS_getpid);
	int fd;

	exe[n > 0 ? n : 0] = '\0';
	at = put_digits(name, pid);
	at = put_text(at, "-");
	at = put_digits(at, ticks);
	put_text(at, GT_UNTRACED_SUFFIX);
	at = put_digits(line, pid);
	at = put_text(at, " ");
	at = put_digits(at, ticks);
	text = at = put_text(at, " ");
	at = put_digits(at, (uint64_t)error);
	at = put_text(at, " ");
	at = put_text(at, n > UNTRACED_EXE_BYTES ? exe + n - UNTRACED_EXE_BYTES : exe);
	if (path_join(path, directory, name) && syscall(SYS_symlinkat, text, AT_FDCWD, path) == 0)
		return true;
	/* there is no inode for a link, or no memory: append a line to the existing file if a
	 * descriptor is available */
	if (!path_join(path, directory, GT_UNTRACED_FILE) ||
	    (fd = open_at(path, O_WRONLY | O_APPEND, 0)) < 0)
		return false;
	at = put_text(at, "\n");
	n = syscall(SYS_write, fd, line, at - line);
	close_fd(fd);
	return n == at - line;
}

uint32_t gt_lost_write(struct gt_segment *r, enum gt_lost_why why, int error, uint32_t pid,
		       uint64_t ticks, const char *path)
{
	uint32_t place = atomic_fetch_add_explicit(&r->lost_count, 1, memory_order_relaxed);
	struct gt_lost *l;
	size_t n;

	if (place >= GT_LOST_NAMED)
		return place;
	path = path ? path : r->exe;
	n = strlen(path);
	l = &r->lost[place];
	l->error = error;
	l->pid = pid;
	l->uid = (uint32_t)syscall(SYS_geteuid);
	l->ticks = ticks;
	path += n >= sizeof l->path ? n - sizeof l->path + 1 : 0;
	memcpy(l->path, path, strlen(path) + 1);
	atomic_store_explicit(&l->why, why, memory_order_release);
	return place;
}

void gt_lost_take_back(struct gt_segment *r, uint32_t place)
{
	if (place < GT_LOST_NAMED)
		atomic_store_explicit(&r->lost[place].why, GT_LOST_NONE, memory_order_release);
	else
		atomic_fetch_sub_explicit(&r->lost_count, 1, memory_order_relaxed);
}

void gt_segment_unmap(struct gt_segment *r)
{
	int saved = errno;

	munmap(r, r->segment_bytes);
	errno = saved;
}

uint32_t gt_slot_take(struct gt_segment *r, _Atomic uint32_t *hint)
{
	uint32_t used = atomic_load_explicit(&r->slots_used, memory_order_acquire);
	uint32_t start = atomic_load_explicit(hint, memory_order_relaxed), index, expected;

	for (uint32_t i = 0; i < used; i++) {
		struct gt_slot *slot;

		index = (start + i) % used;
		slot = gt_segment_slot(r, index);
		expected = GT_SLOT_FREE;
		if (atomic_load_explicit(&slot->state, memory_order_relaxed) == GT_SLOT_FREE &&
		    atomic_compare_exchange_strong_explicit(&slot->state, &expected, GT_SLOT_TAKEN,
							    memory_order_acquire,
							    memory_order_relaxed)) {
			atomic_store_explicit(hint, index + 1, memory_order_relaxed);
			return index;
		}
	}
	/* take a slot that was never used: make its memory present before other threads can look at
	 * it, then count it */
	for (;;) {
		if (used >= r->slot_count ||
		    !make_present(r, gt_segment_slot(r, used), sizeof(struct gt_slot)))
			return UINT32_MAX;
		if (!atomic_compare_exchange_strong_explicit(&r->slots_used, &used, used + 1,
							     memory_order_release,
							     memory_order_acquire))
			continue;
		expected =
			GT_SLOT_FREE; /* another thread may have found the slot in the meantime */
		if (atomic_compare_exchange_strong_explicit(&gt_segment_slot(r, used)->state,
							    &expected, GT_SLOT_TAKEN,
							    memory_order_acquire,
							    memory_order_relaxed))
			return used;
		used = atomic_load_explicit(&r->slots_used, memory_order_acquire);
	}
}

uint32_t gt_block_take(struct gt_segment *r)
{
	uint32_t number = gt_pool_pop(r), last;
	struct gt_block *b;

	if (number != GT_BLOCK_NONE) {
		b = gt_segment_block(r, number);
		if (!atomic_load_explicit(&b->is_cold, memory_order_relaxed))
			return number;
		if (make_present(r, b, r->block_bytes)) {
			atomic_store_explicit(&b->is_cold, 0, memory_order_relaxed);
			return number;
		}
		gt_pool_push(r, number);
		return GT_BLOCK_NONE;
	}
	number = gt_pool_grow(r);
	if (number == GT_BLOCK_NONE || make_present(r, gt_segment_block(r, number), r->block_bytes))
		return number;
	/* no memory: undo. If another thread has grown the pool in the meantime, the number of the
	 * block is lost */
	last = number;
	atomic_compare_exchange_strong_explicit(&r->blocks_used, &last, number - 1,
						memory_order_relaxed, memory_order_relaxed);
	return GT_BLOCK_NONE;
}

void gt_block_link(struct gt_segment *r, uint32_t slot, struct gt_block *last, uint32_t number)
{
	struct gt_block *b = gt_segment_block(r, number);
	struct gt_slot *s = gt_segment_slot(r, slot);

	atomic_store_explicit(&b->committed, 0, memory_order_relaxed);
	atomic_store_explicit(&b->drained, 0, memory_order_relaxed);
	atomic_store_explicit(&b->next, GT_BLOCK_NONE, memory_order_relaxed);
	b->slot = slot;
	b->ordinal = s->ordinal;
	if (last)
		atomic_store_explicit(&last->next, number, memory_order_release);
	else
		atomic_store_explicit(&s->first, number, memory_order_release);
	atomic_fetch_add_explicit(&r->full_count, 1, memory_order_release);
}
