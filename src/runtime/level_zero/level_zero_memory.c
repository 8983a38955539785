/* SPDX-License-Identifier: MIT */
/* Records the program's allocations by address, to determine the direction of a copy without a
 * query of the driver.
 *
 *   ranges   array sorted by first address; replaced by a larger array when full
 *   sequence odd while ranges change. A reader searches without the lock, and repeats the search
 *            with the lock if the number was odd or has changed
 *
 * Memory shared by device and host counts as device memory; memory whose allocation was not
 * recorded counts as host memory. */
#include "runtime/level_zero/level_zero_late.h"
#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

enum { FIRST_ROOM = 1024 };

struct allocation_range {
	_Atomic uintptr_t first, end;
};

static struct gt_lz_lock lock; /* held during changes */
static _Atomic uint32_t sequence;
static struct allocation_range *_Atomic ranges; /* ranges of device and shared memory */
static _Atomic uint32_t range_count;
static uint32_t room;

/* Return the index of the first range that starts after @address. */
static uint32_t find_behind(const struct allocation_range *in, uint32_t count, uintptr_t address)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (atomic_load_explicit(&in[middle].first, memory_order_relaxed) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return true if a range contains @address. The count is read first, so that the array that is read
 * afterwards has room for that count. */
static bool is_in_range(uintptr_t address)
{
	uint32_t count = atomic_load_explicit(&range_count, memory_order_acquire);
	const struct allocation_range *in = atomic_load_explicit(&ranges, memory_order_acquire);
	uint32_t behind = find_behind(in, count, address);

	return behind && address < atomic_load_explicit(&in[behind - 1].end, memory_order_relaxed);
}

static void begin_change(void)
{
	gt_lz_lock(&lock);
	atomic_store_explicit(&sequence, atomic_load_explicit(&sequence, memory_order_relaxed) | 1,
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static void end_change(void)
{
	atomic_fetch_add_explicit(&sequence, 1, memory_order_release);
	gt_lz_unlock(&lock);
}

static bool is_on_device(const void *address)
{
	uint32_t before = atomic_load_explicit(&sequence, memory_order_acquire);
	bool found;

	if (!(before & 1)) {
		found = is_in_range((uintptr_t)address);
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&sequence, memory_order_relaxed) == before)
			return found;
	}
	begin_change();
	found = is_in_range((uintptr_t)address);
	end_change();
	return found;
}

/* Make room for another range. Return false if out of memory. The caller holds the lock. */
static bool make_room(void)
{
	uint32_t count = atomic_load_explicit(&range_count, memory_order_relaxed);
	struct allocation_range *old = atomic_load_explicit(&ranges, memory_order_relaxed), *larger;

	if (count < room)
		return true;
	larger = gt_arena_take((room ? 2 * room : FIRST_ROOM) * sizeof *larger);
	if (!larger)
		return false;
	if (count)
		memcpy((void *)larger, (const void *)old, count * sizeof *larger);
	room = room ? 2 * room : FIRST_ROOM;
	atomic_store_explicit(&ranges, larger, memory_order_release);
	return true;
}

static void move_range(struct allocation_range *to, const struct allocation_range *from)
{
	atomic_store_explicit(&to->first, atomic_load_explicit(&from->first, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&to->end, atomic_load_explicit(&from->end, memory_order_relaxed),
			      memory_order_relaxed);
}

static void add_range(const void *memory, size_t bytes)
{
	uintptr_t first = (uintptr_t)memory;
	uint32_t count, at;
	struct allocation_range *in;

	begin_change();
	if (make_room()) {
		in = atomic_load_explicit(&ranges, memory_order_relaxed);
		count = atomic_load_explicit(&range_count, memory_order_relaxed);
		at = find_behind(in, count, first);
		for (uint32_t i = count; i > at; i--)
			move_range(&in[i], &in[i - 1]);
		atomic_store_explicit(&in[at].first, first, memory_order_relaxed);
		atomic_store_explicit(&in[at].end, first + bytes, memory_order_relaxed);
		atomic_store_explicit(&range_count, count + 1, memory_order_release);
	}
	end_change();
}

static void remove_range(const void *memory)
{
	uintptr_t first = (uintptr_t)memory;
	struct allocation_range *in;
	uint32_t count, at;

	begin_change();
	in = atomic_load_explicit(&ranges, memory_order_relaxed);
	count = atomic_load_explicit(&range_count, memory_order_relaxed);
	at = find_behind(in, count, first);
	if (at && atomic_load_explicit(&in[at - 1].first, memory_order_relaxed) == first) {
		for (uint32_t i = at; i < count; i++)
			move_range(&in[i - 1], &in[i]);
		atomic_store_explicit(&range_count, count - 1, memory_order_release);
	}
	end_change();
}

/* Like is_on_device(), also for memory that was allocated before gputap was attached. The range of
 * such memory is recorded. */
static bool is_met_on_device(const struct gt_call *call, void *list_handle, const void *address)
{
	struct gt_lz_range range;

	if (is_on_device(address))
		return true;
	if (!gt_lz_find_allocation(call, list_handle, address, &range))
		return false;
	add_range(range.first, range.bytes);
	return true;
}

enum gt_device_op gt_lz_copy_op(const struct gt_call *call, void *list, const void *to,
				const void *from)
{
	bool to_device = is_met_on_device(call, list, to),
	     from_device = is_met_on_device(call, list, from);

	return to_device == from_device ? GT_DEVICE_COPY
	       : to_device              ? GT_DEVICE_WRITE
					: GT_DEVICE_READ;
}

enum gt_device_op gt_lz_image_op(const struct gt_call *call, void *list, const void *memory,
				 bool to_image)
{
	return is_met_on_device(call, list, memory) ? GT_DEVICE_COPY
	       : to_image                           ? GT_DEVICE_WRITE
						    : GT_DEVICE_READ;
}

/* The wraps ----------------------------------------------------------------------- */

static int add_memory(int status, void *const *memory, size_t bytes)
{
	if (!status && memory && *memory)
		add_range(*memory, bytes);
	return status;
}

int gt_level_zero_wrap_zeMemAllocDevice(const struct gt_call *call, void *context, const void *desc,
					size_t bytes, size_t alignment, void *device, void **memory)
{
	return add_memory(REAL(zeMemAllocDevice)(context, desc, bytes, alignment, device, memory),
			  memory, bytes);
}

int gt_level_zero_wrap_zeMemAllocShared(const struct gt_call *call, void *context, const void *desc,
					const void *host_desc, size_t bytes, size_t alignment,
					void *device, void **memory)
{
	return add_memory(REAL(zeMemAllocShared)(context, desc, host_desc, bytes, alignment, device,
						 memory),
			  memory, bytes);
}

int gt_level_zero_wrap_zeVirtualMemReserve(const struct gt_call *call, void *context,
					   const void *start, size_t bytes, void **memory)
{
	return add_memory(REAL(zeVirtualMemReserve)(context, start, bytes, memory), memory, bytes);
}

int gt_level_zero_wrap_zeMemOpenIpcHandle(const struct gt_call *call, void *context, void *device,
					  struct gt_ze_ipc_mem_handle handle, uint32_t flags,
					  void **memory)
{
	int status = REAL(zeMemOpenIpcHandle)(context, device, handle, flags, memory);
	size_t bytes = 0;
	void *first;

	if (!status && memory && GT_LZ(call->table, zeMemGetAddressRange) &&
	    !GT_LZ(call->table, zeMemGetAddressRange)(context, *memory, &first, &bytes))
		add_range(*memory, bytes);
	return status;
}

/* Remove the range before the call, because another thread may get the address immediately. */
int gt_level_zero_wrap_zeMemFree(const struct gt_call *call, void *context, void *memory)
{
	remove_range(memory);
	return REAL(zeMemFree)(context, memory);
}

int gt_level_zero_wrap_zeMemFreeExt(const struct gt_call *call, void *context, const void *desc,
				    void *memory)
{
	remove_range(memory);
	return REAL(zeMemFreeExt)(context, desc, memory);
}

int gt_level_zero_wrap_zeMemCloseIpcHandle(const struct gt_call *call, void *context,
					   const void *memory)
{
	remove_range(memory);
	return REAL(zeMemCloseIpcHandle)(context, memory);
}

int gt_level_zero_wrap_zeVirtualMemFree(const struct gt_call *call, void *context,
					const void *memory, size_t bytes)
{
	remove_range(memory);
	return REAL(zeVirtualMemFree)(context, memory, bytes);
}
