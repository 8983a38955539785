/* SPDX-License-Identifier: MIT */
// Records in the form that Kineto expects, with their memory, names and the numbers that link them.
//
//   table:  block ── block ── ...     each with BLOCK activities, which never move
//   activity: | vtable | linked | record |    the record answers Kineto's queries
//
// A table is in the buffer that Kineto keeps with the trace (holder), and is destroyed with that
// buffer.
#ifndef GPUTAP_TORCH_BRIDGE_RECORDS_H
#define GPUTAP_TORCH_BRIDGE_RECORDS_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

#include <sys/mman.h>

#include <libkineto.h>
#include <output_base.h>
#include <torch/headeronly/version.h>

namespace lk = libkineto;
using lk::ActivityType;

namespace
{

enum {
	FIRST_FLOW = 1 << 30, // above the flows of Kineto's other profilers, which count from 1
	SOURCES = 17,         // gputap's own runtimes, and the maximum number of plug-ins
};

struct record {
	uint64_t start, end; // CLOCK_REALTIME in ns; source 0: CLOCK_BOOTTIME until hand-over
	uint64_t op, user;   // tops of the stacks of the submitting thread
	uint64_t correlation;
	uint64_t bytes;
	const char *name; // stays
	uint32_t grid[3], block[3];
	int32_t device, stream; // calls: process and thread
	uint32_t flow;          // 0: no link
	uint8_t source;         // 0: gputap's runtimes; otherwise index of the plug-in + 1
	uint8_t type;           // ActivityType
	bool call;
	bool starts; // calls: true if the flow starts here
	bool cut;    // true if outside the profile's window
};

ActivityType type_of(const record &r)
{
	return (ActivityType)r.type;
}

std::string metadata_of(const record &r)
{
	char text[384];
	int n;

	if (r.call)
		n = snprintf(text, sizeof text, "\"cbid\": 0, \"correlation\": %u", r.flow);
	else if (type_of(r) == ActivityType::CONCURRENT_KERNEL)
		n = snprintf(text, sizeof text,
			     "\"device\": %d, \"context\": 0, \"stream\": %d, \"correlation\": %u, "
			     "\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]",
			     r.device, r.stream, r.flow, r.grid[0], r.grid[1], r.grid[2],
			     r.block[0], r.block[1], r.block[2]);
	else if (type_of(r) == ActivityType::CUDA_SYNC)
		n = snprintf(text, sizeof text,
			     "\"cuda_sync_kind\": \"%.200s\", \"stream\": %d, \"correlation\": %u, "
			     "\"device\": %d, \"context\": 0",
			     r.name, r.stream, r.flow, r.device);
	else
		n = snprintf(text, sizeof text,
			     "\"device\": %d, \"context\": 0, \"stream\": %d, \"correlation\": %u, "
			     "\"bytes\": %llu, \"memory bandwidth (GB/s)\": %.3f",
			     r.device, r.stream, r.flow, (unsigned long long)r.bytes,
			     r.end > r.start ? (double)r.bytes / (double)(r.end - r.start) : 0.0);
	return std::string(text, (size_t)n);
}

lk::TraceSpan &the_span()
{
	static lk::TraceSpan *one = new lk::TraceSpan(0, 0, "gputap");
	return *one;
}

class activity final : public lk::ITraceActivity
{
      public:
	explicit activity(const record &from) : r(from)
	{
	}
	int64_t deviceId() const override
	{
		return r.device;
	}
	int64_t resourceId() const override
	{
		return r.stream;
	}
	int32_t getThreadId() const override
	{
		return r.call ? r.stream : 0;
	}
	int64_t timestamp() const override
	{
		return (int64_t)r.start;
	}
	int64_t duration() const override
	{
		return (int64_t)(r.end - r.start);
	}
	int64_t correlationId() const override
	{
		return r.flow;
	}
	int flowType() const override
	{
		return flowId() ? lk::kLinkAsyncCpuGpu : 0;
	}
	int64_t flowId() const override
	{
		return (r.call && !r.starts) || type() == ActivityType::CUDA_SYNC ? 0 : r.flow;
	}
	bool flowStart() const override
	{
		return r.starts;
	}
	ActivityType type() const override
	{
		return type_of(r);
	}
	const std::string name() const override
	{
		return r.name;
	}
	const lk::ITraceActivity *linkedActivity() const override
	{
		return linked;
	}
	const lk::TraceSpan *traceSpan() const override
	{
		return &the_span();
	}
	void log(lk::ActivityLogger &logger) const override
	{
		logger.handleActivity(*this);
	}
	const std::string metadataJson() const override
	{
		return metadata_of(r);
	}

	const lk::ITraceActivity *linked = nullptr;
	record r;
};

enum { BLOCK = 2048 };

// Activities in blocks that never move. No function throws.
class table
{
      public:
	table() = default;
	table(const table &) = delete;
	table &operator=(const table &) = delete;
	~table()
	{
		clear();
	}
	void clear()
	{
		for (const slab &s : slabs_)
			munmap(s.at, s.bytes); // destructors of activities do nothing
		for (const slab &s : spare_)
			munmap(s.at, s.bytes);
		slabs_.clear();
		spare_.clear();
		blocks_.clear();
		count_ = used_ = 0;
	}
	// Add pages that were in use before. Unlike new pages, the kernel need not clear them.
	void take_pages(void *pages, size_t bytes)
	{
		if (!make_room(spare_))
			munmap(pages, bytes);
		else
			spare_.push_back({static_cast<char *>(pages), bytes});
	}
	void swap(table &other)
	{
		slabs_.swap(other.slabs_);
		spare_.swap(other.spare_);
		blocks_.swap(other.blocks_);
		std::swap(count_, other.count_);
		std::swap(used_, other.used_);
	}
	// Add a record. Return false if out of memory.
	bool add(const record &r)
	{
		if (count_ == blocks_.size() * BLOCK && !grow())
			return false;
		new (&blocks_[count_ / BLOCK][count_ % BLOCK]) activity(r);
		count_++;
		return true;
	}
	size_t count() const
	{
		return count_;
	}
	template <typename F> void each(F &&f)
	{
		for (size_t i = 0; i < count_; i += BLOCK) {
			activity *block = blocks_[i / BLOCK];
			const size_t n = std::min<size_t>(BLOCK, count_ - i);

			for (size_t k = 0; k < n; k++)
				f(block[k]);
		}
	}

      private:
	enum { BLOCK_BYTES = BLOCK * sizeof(activity), SLAB_BYTES = 2 << 20 };
	struct slab {
		char *at;
		size_t bytes;
	};
	template <typename T> static bool make_room(std::vector<T> &v)
	{
		try {
			if (v.size() == v.capacity())
				v.reserve(v.size() * 2 + 16);
		} catch (const std::bad_alloc &) {
			return false;
		}
		return true;
	}
	// Add memory: first pages from take_pages(), then one block, then several blocks in a large
	// page.
	bool add_slab()
	{
		const size_t bytes = slabs_.empty() ? BLOCK_BYTES : SLAB_BYTES;

		if (!make_room(slabs_))
			return false;
		used_ = 0;
		if (!spare_.empty()) {
			slabs_.push_back(spare_.back());
			spare_.pop_back();
			return true;
		}
		void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1, 0);
		if (at == MAP_FAILED)
			return false;
		madvise(at, bytes, MADV_HUGEPAGE);
		slabs_.push_back({static_cast<char *>(at), bytes});
		return true;
	}
	bool grow()
	{
		if (!make_room(blocks_))
			return false;
		while (slabs_.empty() || used_ + BLOCK_BYTES > slabs_.back().bytes)
			if (!add_slab())
				return false;
		blocks_.push_back(reinterpret_cast<activity *>(slabs_.back().at + used_));
		used_ += BLOCK_BYTES;
		return true;
	}
	std::vector<slab> slabs_, spare_;
	std::vector<activity *> blocks_;
	size_t count_ = 0, used_ = 0; // used_: bytes used in the last slab
};

// Owns a table in the buffer that Kineto keeps with the trace.
class holder final : public lk::GenericTraceActivity
{
      public:
	holder() : lk::GenericTraceActivity(the_span(), ActivityType::OVERHEAD, "")
	{
	}
	table records;
};

// Names ---------------------------------------------------------------------------------------

// Kineto writes names of calls and kernels into JSON unescaped: quotes break the JSON, and a
// non-ASCII character makes the whole name "unknown".
class names
{
      public:
	// Return a clean name. @text must stay valid, because the returned text may refer to it.
	const char *clean(const char *text)
	{
		entry &e = recent_[((uintptr_t)text >> 3) % RECENT];

		if (e.from != text)
			e = {text, is_clean(text) ? text : mend(text)};
		return e.to;
	}
	// Return a clean name of a kernel, demangled like the names of Kineto's own kernels.
	const char *clean_kernel(const char *text)
	{
		entry &e = recent_[((uintptr_t)text >> 3) % RECENT];

		if (text[0] != '_' || text[1] != 'Z')
			return clean(text);
		if (e.from != text)
			e = {text, demangle(text)};
		return e.to;
	}

      private:
	enum { RECENT = 1024 };
	struct entry {
		const char *from, *to;
	};
	static bool is_fit(char c)
	{
		return c >= ' ' && c <= '~' && c != '"' && c != '\\';
	}
	static bool is_clean(const char *text)
	{
		while (is_fit(*text))
			text++;
		return !*text;
	}
	const char *demangle(const char *text)
	{
		int status;
		char *name = abi::__cxa_demangle(text, nullptr, nullptr, &status);
		const char *kept = mend(name ? name : text);

		free(name);
		return kept;
	}
	const char *mend(const char *text)
	{
		auto found = mended_.find(text);

		if (found != mended_.end())
			return found->second;
		char *kept = strdup(text);
		if (!kept)
			return "no memory for its name";
		for (char *c = kept; *c; c++)
			if (!is_fit(*c))
				*c = *c == '"' ? '\'' : *c == '\\' ? '/' : '?';
		mended_.emplace(text, kept);
		return kept;
	}
	entry recent_[RECENT] = {};
	std::unordered_map<std::string, const char *> mended_;
};

// Flows ---------------------------------------------------------------------------------------

// Map correlations of GPU activities and of their calls to 31-bit numbers. Each source has a map,
// because sources count independently. Correlations are usually close together and then index the
// slots directly; otherwise a hash table maps them to slots.
class flows
{
      public:
	struct slot {
		uint64_t key;
		uint32_t flow;
		bool is_activity; // otherwise a wait
		bool started;
	};
	void expect(uint64_t key)
	{
		least_ = std::min(least_, key);
		most_ = std::max(most_, key);
		count_++;
	}
	void open()
	{
		size_t room = 64;

		dense_ = count_ && most_ - least_ < count_ * 16 + 4096;
		while (room < count_ * 2)
			room *= 2;
		if (count_)
			slots_.assign(dense_ ? most_ - least_ + 1 : room, {});
	}
	// Return the slot, or nullptr if the correlation has no slot.
	slot *find(uint64_t key, uint32_t *add)
	{
		if (!key || slots_.empty() || key < least_ || key > most_)
			return nullptr;
		for (size_t i = dense_ ? key - least_ : key * 0x9e3779b97f4a7c15u >> 20;; i++) {
			slot &s = slots_[dense_ ? i : i & (slots_.size() - 1)];

			if (s.key == key)
				return &s;
			if (s.key)
				continue;
			if (!add)
				return nullptr;
			s = {key, FIRST_FLOW + ++*add, false, false};
			return &s;
		}
	}

      private:
	std::vector<slot> slots_;
	uint64_t least_ = UINT64_MAX, most_ = 0;
	size_t count_ = 0;
	bool dense_ = false;
};

void number_calls(flows *f, table &records, bool driver)
{
	records.each([&](activity &a) {
		record &r = a.r;

		if (!r.call || r.cut || (type_of(r) == ActivityType::PRIVATEUSE1_DRIVER) != driver)
			return;
		if (flows::slot *s = f[r.source].find(r.correlation, nullptr)) {
			r.flow = s->flow;
			r.starts = s->is_activity && !s->started;
			s->started = true;
		}
	});
}

// Number the flows. torch treats two starts of one flow as a collision: if the driver call inside
// a runtime call is also recorded, the runtime call is the start.
void number_flows(table &records)
{
	std::vector<flows> f(SOURCES);
	bool has_driver = false;
	uint32_t last = 0;

	records.each([&](activity &a) {
		has_driver |= type_of(a.r) == ActivityType::PRIVATEUSE1_DRIVER;
		if (!a.r.call && !a.r.cut && a.r.correlation)
			f[a.r.source].expect(a.r.correlation);
	});
	for (flows &one : f)
		one.open();
	records.each([&](activity &a) {
		if (a.r.call || a.r.cut)
			return;
		if (flows::slot *s = f[a.r.source].find(a.r.correlation, &last)) {
			a.r.flow = s->flow;
			s->is_activity |= type_of(a.r) != ActivityType::CUDA_SYNC;
		}
	});
	number_calls(f.data(), records, false);
	if (has_driver)
		number_calls(f.data(), records, true);
}

} // namespace

#endif
