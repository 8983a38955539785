/* SPDX-License-Identifier: MIT */
/* Allocations of host and device memory, and ranges of the program's own memory that the program
 * registered.
 *
 *   ranges[ALLOCATED]   disjoint, sorted by base       } an address is looked up in the first,
 *   ranges[REGISTERED]  may overlap, sorted by base    } then in the second
 *
 * Registered memory has a second address (SOFT_ALIAS), which GPUs use. Lookups in this file accept
 * both addresses.
 * Device memory consists of pages of one unnamed file (a memfd), so that another process can map
 * it.
 * A page uses memory once it is touched. Each GPU has a budget. Like real device memory, the pages
 * are not inherited by fork children (MADV_DONTFORK). A shared handle contains the process id, its
 * descriptor of the file, and the offset in the file; any process that may open /proc/PID/fd/N may
 * import the memory.
 * Mapping a range on a GPU is recorded but not enforced: see "too forgiving" in
 * docs/internals/soft-amdgpu.md.
 * Locking: one mutex around everything; mmap and munmap are called outside of it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soft/amdgpu/amdgpu.h"
#include "soft/amdgpu/ticket.h"

#define BIG_PAGE    (2ull << 20)
#define NOT_IN_FILE UINT64_MAX

struct memory_range {
	uint64_t base, bytes;
	HSAuint32 node;
	HsaMemFlags flags;
	HSA_POINTER_TYPE type;
	void *user_data;
	unsigned references; /* number of registrations of exactly this range */
	uint64_t offset;     /* offset in the file of device memory, or NOT_IN_FILE */
	/* true if other processes may have mapped the range: its pages stay after it is freed */
	bool exported;
	bool charged; /* true if counted in the budget of the node */
	/* descriptor of a ticket (ticket.h), or -1; for memory of another process, a ticket of that
	 * process */
	int ticket;
	HSAuint32 mapped_count;
	HSAuint32 mapped[SOFT_AMDGPU_MAX];
};

struct ranges {
	struct memory_range **item;
	size_t count, space;
	/* longest range so far; a range that contains an address starts at most this far below
	 * it */
	uint64_t longest;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ranges allocated, registered;
static uint64_t used[1 + SOFT_AMDGPU_MAX];
static int file = -1; /* device memory, created on first use */
static uint64_t file_bytes;
/* set when the driver is first opened; NULL: no callback */
static void (*notify_freed)(uint64_t base, uint64_t bytes);

/* Return the index of the first range whose base is above @address. */
static size_t upper_bound(const struct ranges *r, uint64_t address)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (r->item[middle]->base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct memory_range *find_range(const struct ranges *r, uint64_t address)
{
	for (size_t i = upper_bound(r, address); i-- && address - r->item[i]->base < r->longest;)
		if (address - r->item[i]->base < r->item[i]->bytes)
			return r->item[i];
	return NULL;
}

static struct memory_range *find_base(const struct ranges *r, uint64_t base)
{
	size_t i = upper_bound(r, base);

	return i && r->item[i - 1]->base == base ? r->item[i - 1] : NULL;
}

static struct memory_range *find_any(uint64_t address)
{
	struct memory_range *found = find_range(&allocated, address);

	address = (uint64_t)soft_host(address);
	return found ? found : find_range(&registered, address);
}

static struct memory_range *insert(struct ranges *r, uint64_t base, uint64_t bytes)
{
	struct memory_range *range = calloc(1, sizeof *range);
	size_t at;

	if (!range)
		return NULL;
	if (r->count == r->space) {
		size_t space = r->space ? 2 * r->space : 64;
		void *item = realloc(r->item, space * sizeof *r->item);
		if (!item) {
			free(range);
			return NULL;
		}
		r->item = item;
		r->space = space;
	}
	at = upper_bound(r, base);
	memmove(&r->item[at + 1], &r->item[at], (r->count - at) * sizeof *r->item);
	r->item[at] = range;
	r->count++;
	range->base = base;
	range->bytes = bytes;
	range->references = 1;
	range->ticket = -1;
	if (bytes > r->longest)
		r->longest = bytes;
	return range;
}

static void erase_range(struct ranges *r, struct memory_range *range)
{
	size_t at = upper_bound(r, range->base);

	while (r->item[--at] != range) /* several ranges may start at one address */
		;
	memmove(&r->item[at], &r->item[at + 1], (r->count - at - 1) * sizeof *r->item);
	r->count--;
	free(range);
}

/* Take @bytes from the memory of the node. Scratch does not count as memory, because it is only a
 * reservation that ROCr makes once. */
static bool take_budget(HSAuint32 node, uint64_t bytes)
{
	bool fits = true;

	pthread_mutex_lock(&lock);
	if (soft_is_gpu(node)) {
		fits = bytes <= soft_config()->memory_bytes - used[node];
		if (fits)
			used[node] += bytes;
	}
	pthread_mutex_unlock(&lock);
	return fits;
}

static void give_budget(HSAuint32 node, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	if (soft_is_gpu(node))
		used[node] -= bytes;
	pthread_mutex_unlock(&lock);
}

THUNK_API HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 node, HSAuint64 *bytes)
{
	if (soft_opened())
		return soft_opened();
	if (!soft_is_gpu(node))
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	pthread_mutex_lock(&lock);
	*bytes = soft_config()->memory_bytes - used[node];
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

/* Return the file of device memory, or -1. ROCr also maps this file. Call with the lock held. */
static int device_file(void)
{
	if (file < 0)
		file = memfd_create("soft-amdgpu", MFD_CLOEXEC);
	return file;
}

int soft_dtif_file(void)
{
	int fd;

	pthread_mutex_lock(&lock);
	fd = device_file();
	pthread_mutex_unlock(&lock);
	return fd;
}

/* Reserve @bytes in the file of device memory. Return NOT_IN_FILE if the file is full: the memory
 * is then private to this process. */
static uint64_t place_in_file(uint64_t bytes)
{
	uint64_t offset = NOT_IN_FILE;

	pthread_mutex_lock(&lock);
	if (device_file() >= 0 && ftruncate(file, (off_t)(file_bytes + bytes)) == 0) {
		offset = file_bytes;
		/* offsets are not reused, but use no memory once their pages are released */
		file_bytes += bytes;
	}
	pthread_mutex_unlock(&lock);
	return offset;
}

/* Map @bytes of pages, at addresses like the real driver's, or aligned to @align. The pages are
 * from
 * @fd at @offset, or private and zeroed. Return NULL on failure. */
static char *map_pages(uint64_t bytes, uint64_t align, int fd, uint64_t offset)
{
	uint64_t usual = bytes >= BIG_PAGE ? BIG_PAGE : SOFT_PAGE, want;
	char *all, *pages;

	align = align > usual ? align : usual;
	want = bytes + align - SOFT_PAGE;
	all = mmap(NULL, want, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (all == MAP_FAILED)
		return NULL;
	pages = (char *)(((uint64_t)all + align - 1) & ~(align - 1));
	if (pages > all)
		munmap(all, (size_t)(pages - all));
	if (all + want > pages + bytes)
		munmap(pages + bytes, (size_t)(all + want - (pages + bytes)));
	if (offset != NOT_IN_FILE &&
	    mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
		 (off_t)offset) == MAP_FAILED) {
		munmap(pages, bytes);
		return NULL;
	}
	madvise(pages, bytes, MADV_DONTFORK);
	return pages;
}

static bool insert_allocation(char *pages, uint64_t bytes, HSAuint32 node, HsaMemFlags flags,
			      uint64_t offset, HSA_POINTER_TYPE type)
{
	struct memory_range *range;

	pthread_mutex_lock(&lock);
	range = insert(&allocated, (uint64_t)pages, bytes);
	if (range) {
		range->node = node;
		range->flags = flags;
		range->type = type;
		range->offset = offset;
		range->charged =
			type == HSA_POINTER_ALLOCATED && soft_is_gpu(node) && !flags.ui32.Scratch;
	}
	pthread_mutex_unlock(&lock);
	return range != NULL;
}

/* Reserve addresses without memory: accesses fault until memory is mapped there explicitly.
 * @wanted: the only acceptable address, or NULL. */
static HSAKMT_STATUS reserve_memory(void *wanted, uint64_t bytes, uint64_t align, HsaMemFlags flags,
				    void **out)
{
	char *pages;

	if (flags.ui32.FixedAddress) {
		pages = wanted ? mmap(wanted, bytes, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
					      MAP_FIXED_NOREPLACE,
				      -1, 0)
			       : MAP_FAILED;
		if (pages == MAP_FAILED)
			return HSAKMT_STATUS_NO_MEMORY;
	} else {
		pages = map_pages(bytes, align, -1, NOT_IN_FILE);
	}
	if (!pages || mprotect(pages, bytes, PROT_NONE) ||
	    !insert_allocation(pages, bytes, 0, flags, NOT_IN_FILE, HSA_POINTER_RESERVED)) {
		if (pages)
			munmap(pages, bytes);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	*out = pages;
	soft_trace(2, "reserve %#llx bytes: %p", (unsigned long long)bytes, (void *)pages);
	return HSAKMT_STATUS_SUCCESS;
}

/* @align: 0, or a power of two. Memory without an address (NoAddress) gets an inaccessible address
 * that identifies it. */
THUNK_API HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 node, HSAuint64 bytes, HSAuint64 align,
					       HsaMemFlags flags, void **out)
{
	HSAuint32 budget = flags.ui32.Scratch ? 0 : node;
	uint64_t offset = NOT_IN_FILE;
	char *pages;

	if (soft_opened())
		return soft_opened();
	if (node > soft_config()->gpus)
		return HSAKMT_STATUS_INVALID_NODE_UNIT;
	if (flags.ui32.GDSMemory || (flags.ui32.FixedAddress && !flags.ui32.OnlyAddress))
		return HSAKMT_STATUS_NOT_SUPPORTED;
	if (soft_fails(SOFT_FAIL_ALLOCATE))
		return HSAKMT_STATUS_NO_MEMORY;
	if (align & (align - 1))
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (!bytes || bytes > 1ull << 46 || align > 1ull << 46)
		return bytes ? HSAKMT_STATUS_NO_MEMORY : HSAKMT_STATUS_INVALID_PARAMETER;
	bytes = (bytes + SOFT_PAGE - 1) & ~(SOFT_PAGE - 1);
	if (flags.ui32.OnlyAddress)
		return reserve_memory(*out, bytes, align, flags, out);
	if (!take_budget(budget, bytes)) {
		soft_trace(1, "GPU %u has less than %llu bytes left", node,
			   (unsigned long long)bytes);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	if (soft_is_gpu(budget) || flags.ui32.NoAddress)
		offset = place_in_file(bytes);
	pages = map_pages(bytes, align, file, flags.ui32.NoAddress ? NOT_IN_FILE : offset);
	if (!pages ||
	    (flags.ui32.NoAddress &&
	     (offset == NOT_IN_FILE || mprotect(pages, bytes, PROT_NONE))) ||
	    !insert_allocation(pages, bytes, node, flags, offset, HSA_POINTER_ALLOCATED)) {
		if (pages)
			munmap(pages, bytes);
		give_budget(budget, bytes);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	*out = pages;
	soft_trace(2, "allocate node %u, %#llx bytes, flags %#x: %p", node,
		   (unsigned long long)bytes, flags.Value, (void *)pages);
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 node, HSAuint64 bytes, HsaMemFlags flags,
					  void **out)
{
	return hsaKmtAllocMemoryAlign(node, bytes, 0, flags, out);
}

THUNK_API HSAKMT_STATUS hsaKmtFreeMemory(void *address, HSAuint64 bytes)
{
	uint64_t offset = NOT_IN_FILE;
	struct soft_ticket t;
	struct memory_range *range;
	int ticket = -1;

	(void)bytes; /* ignored: like the real driver, rely on our own records */
	if (soft_opened())
		return soft_opened();
	pthread_mutex_lock(&lock);
	range = find_base(&allocated, (uint64_t)address);
	if (range) {
		bytes = range->bytes;
		ticket = range->ticket;
		if (range->charged)
			used[range->node] -= bytes;
		if (!range->exported && !(ticket >= 0 && soft_ticket_read(ticket, &t) && t.taken))
			offset = range->offset;
		erase_range(&allocated, range);
	}
	pthread_mutex_unlock(&lock);
	if (!range)
		return HSAKMT_STATUS_ERROR;
	soft_trace(2, "free %p, %#llx bytes", address, (unsigned long long)bytes);
	if (notify_freed)
		notify_freed((uint64_t)address, bytes);
	munmap(address, bytes);
	if (ticket >= 0)
		close(ticket);
	if (offset != NOT_IN_FILE)
		fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			  (off_t)bytes);
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *address, HSAuint64 bytes,
						      HsaMemFlags flags)
{
	struct memory_range *range;

	if (soft_opened())
		return soft_opened();
	pthread_mutex_lock(&lock);
	range = find_base(&registered, (uint64_t)address);
	if (range && range->bytes == bytes) {
		range->references++;
	} else {
		range = insert(&registered, (uint64_t)address, bytes);
		if (range) {
			range->flags = flags;
			range->type = HSA_POINTER_REGISTERED_USER;
		}
	}
	pthread_mutex_unlock(&lock);
	soft_trace(2, "register %p, %#llx bytes", address, (unsigned long long)bytes);
	return range ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_NO_MEMORY;
}

THUNK_API HSAKMT_STATUS hsaKmtDeregisterMemory(void *address)
{
	struct memory_range *range;
	uint64_t imported = 0;
	bool found;

	if (soft_opened())
		return soft_opened();
	pthread_mutex_lock(&lock);
	range = find_base(&registered, (uint64_t)address);
	found = range != NULL;
	if (range && !--range->references) {
		imported = range->type == HSA_POINTER_REGISTERED_SHARED ? range->bytes : 0;
		erase_range(&registered, range);
	}
	pthread_mutex_unlock(&lock);
	if (imported)
		munmap(address, imported);
	return found ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
}

static uint64_t alias_range(const struct memory_range *range)
{
	return range->type == HSA_POINTER_REGISTERED_USER ? SOFT_ALIAS : 0;
}

static void add_node(struct memory_range *range, HSAuint32 node)
{
	for (HSAuint32 i = 0; i < range->mapped_count; i++)
		if (range->mapped[i] == node)
			return;
	if (soft_is_gpu(node) && range->mapped_count < SOFT_AMDGPU_MAX)
		range->mapped[range->mapped_count++] = node;
}

static HSAKMT_STATUS map_to(void *address, HSAuint64 *gpu_address, HSAuint64 count,
			    const HSAuint32 *nodes)
{
	struct memory_range *range;

	pthread_mutex_lock(&lock);
	range = find_base(&registered, (uint64_t)address);
	if (!range)
		range = find_any((uint64_t)address);
	for (HSAuint64 i = 0; range && i < count; i++)
		add_node(range, nodes[i]);
	if (range && gpu_address)
		*gpu_address = (HSAuint64)address | alias_range(range);
	pthread_mutex_unlock(&lock);
	if (!range)
		return HSAKMT_STATUS_ERROR;
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *address, HSAuint64 bytes,
						  HSAuint64 *gpu_address, HsaMemMapFlags flags,
						  HSAuint64 count, HSAuint32 *nodes)
{
	(void)bytes;
	(void)flags;
	return soft_opened() ? soft_opened() : map_to(address, gpu_address, count, nodes);
}

THUNK_API HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *address, HSAuint64 bytes, HSAuint64 *gpu_address)
{
	static const HSAuint32 all[SOFT_AMDGPU_MAX] = {1, 2, 3, 4, 5, 6, 7, 8};

	(void)bytes;
	return soft_opened() ? soft_opened()
			     : map_to(address, gpu_address, soft_config()->gpus, all);
}

THUNK_API HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *address)
{
	struct memory_range *range;

	if (soft_opened())
		return soft_opened();
	pthread_mutex_lock(&lock);
	range = find_base(&registered, (uint64_t)address);
	if (!range)
		range = find_base(&allocated, (uint64_t)address);
	if (range && !range->flags.ui32.Scratch)
		range->mapped_count = 0;
	pthread_mutex_unlock(&lock);
	return HSAKMT_STATUS_SUCCESS;
}

/* ROCr treats an error with a type other than UNKNOWN as a bug in the driver. */
THUNK_API HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *address, HsaPointerInfo *info)
{
	struct memory_range *range;

	if (soft_opened())
		return soft_opened();
	memset(info, 0, sizeof *info);
	pthread_mutex_lock(&lock);
	range = find_any((uint64_t)address);
	if (range)
		*info = (HsaPointerInfo){
			.Type = range->type,
			.Node = range->node,
			.MemFlags = range->flags,
			.CPUAddress = (void *)range->base,
			.GPUAddress = range->base | alias_range(range),
			.SizeInBytes = range->bytes,
			.NMappedNodes = range->mapped_count,
			.MappedNodes = range->mapped,
			.UserData = range->user_data,
		};
	pthread_mutex_unlock(&lock);
	return range ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

THUNK_API HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *address, void *data)
{
	struct memory_range *range;

	if (soft_opened())
		return soft_opened();
	pthread_mutex_lock(&lock);
	range = find_any((uint64_t)address);
	if (range)
		range->user_data = data;
	pthread_mutex_unlock(&lock);
	return range ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

bool soft_memory_find(uint64_t address, uint64_t *base, uint64_t *bytes)
{
	struct memory_range *range;

	pthread_mutex_lock(&lock);
	range = find_range(&allocated, address);
	if (range) {
		*base = range->base;
		*bytes = range->bytes;
	}
	pthread_mutex_unlock(&lock);
	return range != NULL;
}

void soft_memory_notify_freed(void (*notify)(uint64_t base, uint64_t bytes))
{
	notify_freed = notify;
}

void soft_memory_close(void)
{
	/* the parent's thread that held the lock does not exist in the child */
	pthread_mutex_init(&lock, NULL);
	allocated = registered = (struct ranges){0};
	memset(used, 0, sizeof used);
	if (file >= 0)
		close(file); /* file of the parent */
	file = -1;
	file_bytes = 0;
}

/* Operations that require a real device in the kernel driver. */
THUNK_API HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 node, HSAuint32 policy, HSAuint32 alternate,
					      void *address, HSAuint64 bytes)
{
	(void)policy;
	(void)alternate;
	(void)address;
	(void)bytes;
	if (soft_opened())
		return soft_opened();
	return soft_is_gpu(node) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}

/* Contents of an HsaSharedMemoryHandle. ROCr marks a part of a block in bits 31 and 0 to 8 of the
 * word that stays 0, and removes the marks before importing. */
struct shared_handle {
	uint32_t magic;
	int32_t process, descriptor;
	uint32_t node;
	uint64_t offset;
	uint32_t rocrs, pages;
};

#define SHARED_MAGIC 0x74666f73 /* "soft" */
_Static_assert(sizeof(struct shared_handle) == sizeof(HsaSharedMemoryHandle),
	       "a handle has 32 bytes");

THUNK_API HSAKMT_STATUS hsaKmtShareMemory(void *address, HSAuint64 bytes,
					  HsaSharedMemoryHandle *handle)
{
	struct shared_handle h = {.magic = SHARED_MAGIC, .process = getpid(), .descriptor = file};
	struct memory_range *range;
	bool whole;

	if (soft_opened())
		return soft_opened();
	pthread_mutex_lock(&lock);
	range = find_base(&allocated, (uint64_t)address);
	whole = range && range->offset != NOT_IN_FILE &&
		(bytes + SOFT_PAGE - 1) / SOFT_PAGE == range->bytes / SOFT_PAGE;
	if (whole) {
		range->exported = true;
		h.node = range->node;
		h.offset = range->offset;
		h.pages = (uint32_t)(range->bytes / SOFT_PAGE);
	}
	pthread_mutex_unlock(&lock);
	if (!whole)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	memcpy(handle, &h, sizeof h);
	return HSAKMT_STATUS_SUCCESS;
}

/* Map pages of device memory that belongs to another process or to this one. Takes ownership of
 * @fd. */
static HSAKMT_STATUS map_shared(int fd, HSAuint32 node, uint64_t offset, uint64_t bytes,
				void **address)
{
	char *pages = map_pages(bytes, 0, fd, offset);
	struct memory_range *range;

	close(fd);
	if (!pages)
		return HSAKMT_STATUS_NO_MEMORY;
	pthread_mutex_lock(&lock);
	range = insert(&registered, (uint64_t)pages, bytes);
	if (range) {
		range->node = node;
		range->type = HSA_POINTER_REGISTERED_SHARED;
		range->offset = NOT_IN_FILE;
	}
	pthread_mutex_unlock(&lock);
	if (!range) {
		munmap(pages, bytes);
		return HSAKMT_STATUS_NO_MEMORY;
	}
	*address = pages;
	return HSAKMT_STATUS_SUCCESS;
}

static HSAKMT_STATUS import(const struct shared_handle *h, void **address, HSAuint64 *bytes)
{
	char path[64];
	int fd;

	if (h->magic != SHARED_MAGIC || !soft_is_gpu(h->node) || !h->pages)
		return HSAKMT_STATUS_INVALID_HANDLE;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", h->process, h->descriptor);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		soft_trace(1, "import: cannot open %s", path);
		return HSAKMT_STATUS_INVALID_HANDLE;
	}
	*bytes = h->pages * SOFT_PAGE;
	return map_shared(fd, h->node, h->offset, *bytes, address);
}

THUNK_API HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *handle,
						   void **address, HSAuint64 *bytes)
{
	struct shared_handle h;

	if (soft_opened())
		return soft_opened();
	memcpy(&h, handle, sizeof h);
	return import(&h, address, bytes);
}

THUNK_API HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *handle,
							  void **address, HSAuint64 *bytes,
							  HSAuint64 count, HSAuint32 *nodes)
{
	(void)count; /* ignored: every GPU may use the memory */
	(void)nodes;
	return hsaKmtRegisterSharedHandle(handle, address, bytes);
}

/* Return a descriptor of the buffer's ticket, which the caller owns, or -1. Makes the ticket on
 * first use. Call with the lock held. */
static int ticket_of(struct memory_range *range)
{
	struct soft_ticket t = {.magic = SOFT_TICKET_MAGIC,
				.process = getpid(),
				.descriptor = file,
				.node = range->node,
				.offset = range->offset,
				.bytes = range->bytes,
				.handle = range->base};

	if (range->ticket < 0) {
		range->ticket = memfd_create("soft-amdgpu-buffer", MFD_CLOEXEC);
		if (range->ticket >= 0 && pwrite(range->ticket, &t, sizeof t, 0) != sizeof t) {
			close(range->ticket);
			range->ticket = -1;
		}
	}
	return range->ticket < 0 ? -1 : fcntl(range->ticket, F_DUPFD_CLOEXEC, 0);
}

THUNK_API HSAKMT_STATUS hsaKmtExportDMABufHandle(void *address, HSAuint64 bytes, int *fd,
						 HSAuint64 *offset)
{
	struct memory_range *range;

	if (soft_opened())
		return soft_opened();
	*fd = -1;
	pthread_mutex_lock(&lock);
	range = find_range(&allocated, (uint64_t)address);
	if (range && (range->offset != NOT_IN_FILE || range->ticket >= 0) &&
	    bytes <= range->bytes - ((uint64_t)address - range->base)) {
		*fd = ticket_of(range);
		*offset = (uint64_t)address - range->base;
	}
	pthread_mutex_unlock(&lock);
	return *fd < 0 ? HSAKMT_STATUS_INVALID_PARAMETER : HSAKMT_STATUS_SUCCESS;
}

/* Describe, for ROCr, a buffer that was received as a descriptor. */
struct buffer_info {
	void *address;
	uint64_t bytes;
	const void *metadata;
	uint32_t metadata_bytes, node;
};

/* Give another process's buffer, which is mapped explicitly, an inaccessible address like that of
 * NoAddress memory. Return NULL if out of memory. */
static void *name_foreign(int fd, const struct soft_ticket *t)
{
	char *pages = map_pages(t->bytes, 0, -1, NOT_IN_FILE);
	struct memory_range *range;

	if (!pages || mprotect(pages, t->bytes, PROT_NONE) ||
	    !insert_allocation(pages, t->bytes, t->node, (HsaMemFlags){.ui32 = {.NoAddress = 1}},
			       NOT_IN_FILE, HSA_POINTER_ALLOCATED)) {
		if (pages)
			munmap(pages, t->bytes);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	range = find_base(&allocated, (uint64_t)pages);
	range->charged = false;
	range->ticket = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&lock);
	return pages;
}

THUNK_API HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 handle, void *info,
							    HSAuint64 count, HSAuint32 *nodes)
{
	struct buffer_info *out = info;
	struct soft_ticket t;

	(void)count;
	(void)nodes;
	if (soft_opened())
		return soft_opened();
	if (!soft_ticket_read((int)handle, &t) || !soft_is_gpu(t.node))
		/* another graphics driver made the buffer */
		return HSAKMT_STATUS_NOT_SUPPORTED;
	*out = (struct buffer_info){.address = (void *)t.handle, .bytes = t.bytes, .node = t.node};
	if (t.process != getpid())
		out->address = name_foreign((int)handle, &t);
	return out->address ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_NO_MEMORY;
}

/* For ROCr 7. If bit 0 of @flags is set, map the buffer at an address, like a shared handle. */
THUNK_API HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodesExt(HSAuint64 handle, void *info,
							       HSAuint64 count, HSAuint32 *nodes,
							       HSAuint32 flags)
{
	struct buffer_info *out = info;
	struct soft_ticket t;
	int fd;

	if (!(flags & 1))
		return hsaKmtRegisterGraphicsHandleToNodes(handle, info, count, nodes);
	if (soft_opened())
		return soft_opened();
	if (!soft_ticket_read((int)handle, &t) || !soft_is_gpu(t.node))
		return HSAKMT_STATUS_NOT_SUPPORTED;
	*out = (struct buffer_info){.bytes = t.bytes, .node = t.node};
	fd = soft_ticket_open((int)handle, &t);
	return fd < 0 ? HSAKMT_STATUS_INVALID_HANDLE
		      : map_shared(fd, t.node, t.offset, t.bytes, &out->address);
}

/* The topology does not report this feature; managed memory works without it. */
THUNK_API HSAKMT_STATUS hsaKmtSVMSetAttr(void *address, HSAuint64 bytes, unsigned count,
					 void *attributes)
{
	(void)address;
	(void)bytes;
	(void)count;
	(void)attributes;
	return HSAKMT_STATUS_NOT_SUPPORTED;
}

THUNK_API HSAKMT_STATUS hsaKmtSVMGetAttr(void *address, HSAuint64 bytes, unsigned count,
					 void *attributes)
{
	(void)address;
	(void)bytes;
	(void)count;
	(void)attributes;
	return HSAKMT_STATUS_NOT_SUPPORTED;
}
