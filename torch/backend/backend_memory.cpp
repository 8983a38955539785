/* SPDX-License-Identifier: MIT */
// Allocates device memory. Freed memory is kept for the stream that it was allocated on. Later
// activities on that stream start only after earlier activities that use the memory, so no wait is
// needed. Memory that other streams also used (record_stream) is reused once events on those
// streams have completed.
//
//   allocated ── release() ──┬─ one stream ──────────────────► kept ── allocate() ──► allocated
//                            └─ others too ──► pending, events ──┘ └── emptyCache() ──► freed
//
// Locking: `lock` is a leaf lock, except for calls to refdev. It is not held while torch's profiler
// is notified.
// Never here: destructors at the end of the process, because tensors may be destroyed later.
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backend.h"

namespace refdev
{
namespace
{

enum : size_t { SMALL_BYTES = 512, LARGE_BYTES = 1 << 20, LARGE_STEP = 64 << 10 };

struct Block {
	void *memory;
	size_t bytes, asked;
	int device;
	c10::StreamId stream;
	std::vector<c10::StreamId> others;
	std::vector<refdevEvent_t> events; // events on other streams, after the block is freed
};

using c10::CachingAllocator::Stat;
using c10::CachingDeviceAllocator::DeviceStats;

void add(c10::CachingAllocator::StatArray &stats, size_t amount)
{
	stats[0].increase(amount);
}

void take(c10::CachingAllocator::StatArray &stats, size_t amount)
{
	stats[0].decrease(amount);
}

size_t round_up(size_t bytes)
{
	const size_t step = bytes < LARGE_BYTES ? SMALL_BYTES : LARGE_STEP;

	return (bytes + step - 1) / step * step;
}

void release(void *memory);

class Allocator final : public c10::DeviceAllocator
{
      public:
	c10::DataPtr allocate(size_t bytes) override;
	c10::DeleterFnPtr raw_deleter() const override;
	void copy_data(void *to, const void *from, size_t bytes) const override;
	bool initialized() override;
	void emptyCache(c10::MempoolId_t) override;
	void recordStream(const c10::DataPtr &data, c10::Stream stream) override;
	DeviceStats getDeviceStats(c10::DeviceIndex device) override;
	void resetAccumulatedStats(c10::DeviceIndex device) override;
	void resetPeakStats(c10::DeviceIndex device) override;
	std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override;
	void put_block(void *memory);

      private:
	// Key of a kept block: stream and size.
	using Kept = std::multimap<std::pair<c10::StreamId, size_t>, Block *>;

	std::mutex lock;
	std::unordered_map<const void *, Block *> blocks;
	std::array<Kept, DEVICES_MOST> kept;
	std::vector<Block *> pending;
	std::array<DeviceStats, DEVICES_MOST> stats;

	template <typename F> void each_stat(c10::DeviceIndex device, F reset)
	{
		std::lock_guard<std::mutex> guard(lock);
		DeviceStats &s = stats.at(size_t(device));

		for (auto *of : {&s.allocation, &s.segment, &s.active, &s.allocated_bytes,
				 &s.reserved_bytes, &s.active_bytes, &s.requested_bytes})
			reset((*of)[0]);
	}
	void report(const Block *b, int64_t bytes);
	Block *get_block(int device, size_t asked);
	Block *find_kept(int device, c10::StreamId stream, size_t bytes);
	Block *make_block(int device, c10::StreamId stream, size_t bytes);
	void record_others(Block *b);
	void keep(Block *b);
	void collect_pending();
	void free_kept(int device);
};

c10::DataPtr Allocator::allocate(size_t bytes)
{
	const int device = get_device();

	if (!bytes)
		return {nullptr, nullptr, release, c10::Device(DEVICE_TYPE, device)};
	Block *b = get_block(device, bytes);
	report(b, int64_t(b->bytes));
	return {b->memory, b->memory, release, c10::Device(DEVICE_TYPE, device)};
}

c10::DeleterFnPtr Allocator::raw_deleter() const
{
	return release;
}

void Allocator::copy_data(void *to, const void *from, size_t bytes) const
{
	const int device = get_device();

	REFDEV_CHECK(refdevMemcpyAsync(to, from, bytes, refdevMemcpyDeviceToDevice,
				       find_stream(device, current_stream(device))));
}

bool Allocator::initialized()
{
	return true;
}

void Allocator::emptyCache(c10::MempoolId_t)
{
	std::lock_guard<std::mutex> guard(lock);

	for (int device = 0; device < DEVICES_MOST; device++)
		free_kept(device);
}

void Allocator::recordStream(const c10::DataPtr &data, c10::Stream stream)
{
	std::lock_guard<std::mutex> guard(lock);
	const auto found = blocks.find(data.get());

	if (found != blocks.end() && found->second->stream != stream.id())
		found->second->others.push_back(stream.id());
}

DeviceStats Allocator::getDeviceStats(c10::DeviceIndex device)
{
	std::lock_guard<std::mutex> guard(lock);

	return stats.at(size_t(device));
}

void Allocator::resetAccumulatedStats(c10::DeviceIndex device)
{
	each_stat(device, [](Stat &s) { s.reset_accumulated(); });
}

void Allocator::resetPeakStats(c10::DeviceIndex device)
{
	each_stat(device, [](Stat &s) { s.reset_peak(); });
}

std::pair<size_t, size_t> Allocator::getMemoryInfo(c10::DeviceIndex device)
{
	const DeviceScope scope(device);
	size_t available, total;

	REFDEV_CHECK(refdevMemGetInfo(&available, &total));
	return {available, total};
}

void Allocator::put_block(void *memory)
{
	Block *b;
	{
		std::lock_guard<std::mutex> guard(lock);
		const auto found = blocks.find(memory);

		if (found == blocks.end())
			return;
		b = found->second;
		DeviceStats &s = stats[size_t(b->device)];

		take(s.allocation, 1);
		take(s.allocated_bytes, b->bytes);
		take(s.requested_bytes, b->asked);
	}
	report(b, -int64_t(b->bytes));
	std::lock_guard<std::mutex> guard(lock);
	blocks.erase(memory);
	record_others(b);
	if (b->events.empty())
		keep(b);
	else
		pending.push_back(b);
}

void Allocator::report(const Block *b, int64_t bytes)
{
	int64_t allocated, reserved;
	{
		std::lock_guard<std::mutex> guard(lock);
		const DeviceStats &s = stats[size_t(b->device)];

		allocated = s.allocated_bytes[0].current;
		reserved = s.reserved_bytes[0].current;
	}
	c10::reportMemoryUsageToProfiler(b->memory, bytes, size_t(allocated), size_t(reserved),
					 c10::Device(DEVICE_TYPE, c10::DeviceIndex(b->device)));
}

Block *Allocator::get_block(int device, size_t asked)
{
	const c10::StreamId stream = current_stream(device);
	const size_t bytes = round_up(asked);
	std::lock_guard<std::mutex> guard(lock);
	DeviceStats &s = stats[size_t(device)];
	Block *b;

	collect_pending();
	b = find_kept(device, stream, bytes);
	if (!b)
		b = make_block(device, stream, bytes);
	b->asked = asked;
	blocks[b->memory] = b;
	add(s.allocation, 1);
	add(s.active, 1);
	add(s.allocated_bytes, b->bytes);
	add(s.active_bytes, b->bytes);
	add(s.requested_bytes, asked);
	return b;
}

// Return the smallest block that is large enough, but less than twice as large as needed.
Block *Allocator::find_kept(int device, c10::StreamId stream, size_t bytes)
{
	Kept &k = kept[size_t(device)];
	const auto found = k.lower_bound({stream, bytes});

	if (found == k.end() || found->first.first != stream || found->first.second > 2 * bytes)
		return nullptr;
	Block *b = found->second;
	k.erase(found);
	return b;
}

Block *Allocator::make_block(int device, c10::StreamId stream, size_t bytes)
{
	const DeviceScope scope(device);
	DeviceStats &s = stats[size_t(device)];
	void *memory = nullptr;
	refdevError_t status = refdevMalloc(&memory, bytes);

	if (status == refdevErrorNoMemory) {
		s.num_alloc_retries++;
		free_kept(device);
		status = refdevMalloc(&memory, bytes);
	}
	if (status == refdevErrorNoMemory) {
		s.num_ooms++;
		TORCH_CHECK_WITH(OutOfMemoryError, false, "refdev:", device, " has no memory for ",
				 bytes, " bytes: ", s.allocated_bytes[0].current,
				 " are allocated, ", s.reserved_bytes[0].current, " reserved");
	}
	check_status(status, "refdevMalloc(&memory, bytes)");
	s.num_device_alloc++;
	add(s.segment, 1);
	add(s.reserved_bytes, bytes);
	return new Block{memory, bytes, 0, device, stream, {}, {}};
}

void Allocator::record_others(Block *b)
{
	const DeviceScope scope(b->device);
	refdevEvent_t event;

	for (const c10::StreamId id : b->others)
		if (!refdevEventCreate(&event)) {
			refdevEventRecord(event, find_stream(b->device, id));
			b->events.push_back(event);
		}
	b->others.clear();
}

void Allocator::keep(Block *b)
{
	DeviceStats &s = stats[size_t(b->device)];

	take(s.active, 1);
	take(s.active_bytes, b->bytes);
	kept[size_t(b->device)].insert({{b->stream, b->bytes}, b});
}

void Allocator::collect_pending()
{
	for (size_t i = 0; i < pending.size();) {
		Block *b = pending[i];

		while (!b->events.empty() &&
		       refdevEventQuery(b->events.back()) != refdevErrorNotReady) {
			refdevEventDestroy(b->events.back());
			b->events.pop_back();
		}
		if (b->events.empty()) {
			keep(b);
			pending[i] = pending.back();
			pending.pop_back();
		} else {
			i++;
		}
	}
}

// Return all unused memory to the device.
void Allocator::free_kept(int device)
{
	Kept &k = kept[size_t(device)];

	if (device >= count_devices())
		return;
	const DeviceScope scope(device);
	DeviceStats &s = stats[size_t(device)];

	refdevDeviceSynchronize();
	collect_pending();
	for (const auto &[place, b] : k) {
		refdevFree(b->memory);
		s.num_device_free++;
		take(s.segment, 1);
		take(s.reserved_bytes, b->bytes);
		delete b;
	}
	k.clear();
}

Allocator *the_allocator()
{
	static auto *a = new Allocator;

	return a;
}

void release(void *memory)
{
	if (memory)
		the_allocator()->put_block(memory);
}

// Pinned ----------------------------------------------------------------------

struct Pinned {
	size_t bytes;
	bool in_use; // used by a copy that may not have completed
};

std::mutex pinned_lock;

std::map<uintptr_t, Pinned> &pinned()
{
	static auto *p = new std::map<uintptr_t, Pinned>;

	return *p;
}

// Return the block that contains @memory, or the end iterator. The caller holds pinned_lock.
std::map<uintptr_t, Pinned>::iterator find_pinned(const void *memory)
{
	const auto address = reinterpret_cast<uintptr_t>(memory);
	auto at = pinned().upper_bound(address);

	if (at == pinned().begin())
		return pinned().end();
	--at;
	return address - at->first < at->second.bytes ? at : pinned().end();
}

void release_pinned(void *memory)
{
	bool in_use;

	if (!memory)
		return;
	{
		std::lock_guard<std::mutex> guard(pinned_lock);
		const auto found = pinned().find(reinterpret_cast<uintptr_t>(memory));

		in_use = found->second.in_use;
		pinned().erase(found);
	}
	for (int device = 0; in_use && device < count_devices(); device++) {
		const DeviceScope scope(device);

		refdevDeviceSynchronize();
	}
	refdevFreeHost(memory);
}

struct PinnedAllocator final : c10::Allocator {
	c10::DataPtr allocate(size_t bytes) override
	{
		void *memory = nullptr;

		if (bytes) {
			REFDEV_CHECK(refdevMallocHost(&memory, bytes));
			std::lock_guard<std::mutex> guard(pinned_lock);
			pinned()[reinterpret_cast<uintptr_t>(memory)] = {bytes, false};
		}
		return {memory, memory, release_pinned, c10::Device(c10::DeviceType::CPU)};
	}
	c10::DeleterFnPtr raw_deleter() const override
	{
		return release_pinned;
	}
	void copy_data(void *to, const void *from, size_t bytes) const override
	{
		default_copy_data(to, from, bytes);
	}
};

const bool registered = [] {
	c10::SetAllocator(DEVICE_TYPE, the_allocator());
	return true;
}();

} // namespace

c10::DeviceAllocator *device_allocator()
{
	return the_allocator();
}

c10::Allocator *pinned_allocator()
{
	static auto *a = new PinnedAllocator;

	return a;
}

bool is_pinned(const void *memory)
{
	std::lock_guard<std::mutex> guard(pinned_lock);

	return find_pinned(memory) != pinned().end();
}

void keep_pinned(const void *memory)
{
	std::lock_guard<std::mutex> guard(pinned_lock);
	const auto found = find_pinned(memory);

	if (found != pinned().end())
		found->second.in_use = true;
}

} // namespace refdev
