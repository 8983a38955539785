/* SPDX-License-Identifier: MIT */
/* Memory for other processes: see share.h.
 *
 *   one file in memory (memfd), whose length is the sum of all allocations so far:
 *
 *   | page: header, written in an export | pages of an allocation | header | pages | ...
 *
 * Parts are not reused. Either the process that made a part or the last process that closes it
 * punches the freed part out of the file. The header counts the processes that have the part open.
 *
 * An allocation is a mapping of its part of the file, and needs no descriptor until it is exported.
 * The export opens the file again and sets the position of that descriptor to the part's offset,
 * because the descriptor may be all that the other process receives.
 *
 * Locking: `lock` guards the file and its end. */
#include "soft/level_zero/share.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, MAGIC = 0x315a4c47 };

struct header {
	struct soft_share_handle handle;
	uint32_t users; /* number of processes that have the part open; atomic */
	uint32_t freed; /* set when the process that made the part has freed it; atomic */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static uint64_t end;

static size_t round_up(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* Reserve a part of the file with a preceding page. Return the offset of the part, or 0 if the file
 * is full. */
static uint64_t take_part(size_t bytes)
{
	uint64_t at = 0;

	pthread_mutex_lock(&lock);
	if (file < 0)
		file = memfd_create("level zero", MFD_CLOEXEC);
	if (file >= 0 && !ftruncate(file, (off_t)(end + PAGE + bytes))) {
		at = end + PAGE;
		end += PAGE + bytes;
	}
	pthread_mutex_unlock(&lock);
	return at;
}

static void drop_part(uint64_t offset, size_t bytes)
{
	fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(offset - PAGE),
		  (off_t)(bytes + PAGE));
}

/* Map the part at an aligned address: reserve more addresses than needed, and release those that
 * are not used. */
static void *map_part(uint64_t offset, size_t bytes, size_t alignment)
{
	size_t room = alignment > PAGE ? bytes + alignment : bytes;
	char *start, *at;

	start = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return NULL;
	at = alignment > PAGE ? (char *)(((uintptr_t)start + alignment - 1) & ~(alignment - 1))
			      : start;
	if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)offset) ==
	    MAP_FAILED) {
		munmap(start, room);
		return NULL;
	}
	if (at > start)
		munmap(start, (size_t)(at - start));
	if (at + bytes < start + room)
		munmap(at + bytes, (size_t)(start + room - (at + bytes)));
	return at;
}

void *soft_share_allocate(size_t bytes, size_t alignment, uint64_t *offset)
{
	size_t all = round_up(bytes);
	void *memory;

	*offset = all >= bytes ? take_part(all) : 0;
	if (!*offset)
		return NULL;
	memory = map_part(*offset, all, alignment);
	if (!memory)
		drop_part(*offset, all);
	return memory;
}

/* Mark the part as freed. Return true if no other process has the part open. */
static bool leave_part(uint64_t offset)
{
	struct header *h =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)(offset - PAGE));
	bool alone;

	if (h == MAP_FAILED)
		return false;
	__atomic_store_n(&h->freed, 1, __ATOMIC_SEQ_CST);
	alone = !__atomic_load_n(&h->users, __ATOMIC_SEQ_CST);
	munmap(h, PAGE);
	return alone;
}

void soft_share_free(void *memory, size_t bytes, uint64_t offset, bool exported)
{
	munmap(memory, round_up(bytes));
	if (!exported || leave_part(offset))
		drop_part(offset, round_up(bytes));
}

/* Between processes ------------------------------------------------------------------------ */

static uint64_t inode_of(int descriptor)
{
	struct stat about;

	return fstat(descriptor, &about) ? 0 : about.st_ino;
}

static int reopen(int process, int descriptor)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", process, descriptor);
	return open(path, O_RDWR | O_CLOEXEC);
}

bool soft_share_export(struct soft_share_handle *h)
{
	int own = reopen(getpid(), file);

	if (own < 0)
		return false;
	h->file = own;
	h->magic = MAGIC;
	h->process = getpid();
	h->inode = inode_of(own);
	if (lseek(own, (off_t)h->offset, SEEK_SET) < 0 ||
	    pwrite(own, h, sizeof *h, (off_t)(h->offset - PAGE)) != (ssize_t)sizeof *h) {
		close(own);
		return false;
	}
	return true;
}

bool soft_share_complete(struct soft_share_handle *h)
{
	off_t at = lseek(h->file, 0, SEEK_CUR);
	struct soft_share_handle header;

	if (at < PAGE || pread(h->file, &header, sizeof header, at - PAGE) != sizeof header ||
	    header.magic != MAGIC || header.offset != (uint64_t)at ||
	    header.inode != inode_of(h->file))
		return false;
	header.file = h->file;
	header.process = getpid();
	*h = header;
	return true;
}

int soft_share_descriptor(struct soft_share_handle *h)
{
	int descriptor = -1;

	if (h->magic != MAGIC && !soft_share_complete(h))
		return -1;
	/* the descriptor number is valid in this process, or was received through a socket */
	if (inode_of(h->file) == h->inode)
		descriptor = fcntl(h->file, F_DUPFD_CLOEXEC, 0);
	else
		descriptor = reopen(h->process, h->file);
	if (descriptor >= 0 && inode_of(descriptor) != h->inode) {
		close(descriptor);
		descriptor = -1;
	}
	return descriptor;
}

void *soft_share_open(struct soft_share_handle *h, uint32_t kind)
{
	int descriptor = soft_share_descriptor(h);
	struct soft_share_handle found;
	char *memory = MAP_FAILED;

	if (descriptor < 0)
		return NULL;
	if (pread(descriptor, &found, sizeof found, (off_t)(h->offset - PAGE)) ==
		    (ssize_t)sizeof found &&
	    found.magic == MAGIC && found.kind == kind && found.offset == h->offset &&
	    found.bytes == h->bytes)
		memory = mmap(NULL, PAGE + round_up(h->bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
			      descriptor, (off_t)(h->offset - PAGE));
	close(descriptor);
	if (memory == MAP_FAILED)
		return NULL;
	__atomic_add_fetch(&((struct header *)memory)->users, 1, __ATOMIC_SEQ_CST);
	return memory + PAGE;
}

void soft_share_close(void *memory, size_t bytes)
{
	char *start = (char *)memory - PAGE;
	struct header *h = (struct header *)start;

	if (!__atomic_sub_fetch(&h->users, 1, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&h->freed, __ATOMIC_SEQ_CST))
		madvise(start, PAGE + round_up(bytes), MADV_REMOVE);
	munmap(start, PAGE + round_up(bytes));
}
