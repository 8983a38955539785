// SPDX-License-Identifier: MIT
// Shows gputap's runtimes and vendors' plug-ins to torch.profiler: a child profiler of Kineto.
//
//   records of gputap's tool API ─┐                             at stop()
//                                 ├─► one array of struct record ──────────► views of it ─► Kineto
//   records of libgputap-plugin ──┘                             processTrace()
//
// A view is what Kineto asks for its activity: two pointers. The array lives in the buffer that
// Kineto keeps with the trace, and goes with it.
// Built from the installed torch's headers; needs libkineto::api() of libtorch_cpu, and gputap's
// libraries, which are opened by name: without them there are no records of theirs.
// Never here: static destructors (Kineto ends open sessions after them), exceptions that leave.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include <libkineto.h>
#include <output_base.h>
#include <torch/headeronly/version.h>

#include "gputap/PrivateUse1TracingApi.h"
#include "gputap/plugin.h"
#include "gputap/tool.h"

namespace lk = libkineto;
using lk::ActivityType;

namespace
{

enum {
	DEVICES_OF_DOMAIN = 1000, // a domain's devices have numbers from here on, away from CUDA's
	DEVICES_OF_PLUGIN = 100000,
	FIRST_FLOW = 1 << 30, // Kineto's other profilers number from 1
};

struct record {
	uint64_t start, end; // CLOCK_REALTIME in ns
	uint64_t op, user;   // tops of the submitting thread's stacks
	uint64_t correlation, bytes;
	const char *name; // stays
	uint32_t grid[3], block[3];
	int32_t device, stream; // calls: process and thread
	uint32_t flow;          // 0: nothing to link
	uint8_t type;           // ActivityType
	bool call;
	bool starts; // calls: the flow begins here
};

// gputap's functions, found in its libraries. NULL: not there.
#define TOOL_FUNCTIONS(X)         \
	X(gputap_tool_add)        \
	X(gputap_context_create)  \
	X(gputap_context_start)   \
	X(gputap_context_stop)    \
	X(gputap_context_buffer)  \
	X(gputap_context_objects) \
	X(gputap_buffer_create)   \
	X(gputap_buffer_flush)    \
	X(gputap_external_push)   \
	X(gputap_external_pop)    \
	X(gputap_operation_name)  \
	X(gputap_domain_find)     \
	X(gputap_domain_name)
#define PLUGIN_FUNCTIONS(X)      \
	X(gputap_plugins_load)   \
	X(gputap_plugins_stacks) \
	X(gputap_plugins_start)  \
	X(gputap_plugins_stop)   \
	X(gputap_plugins_read)   \
	X(gputap_plugins_count)  \
	X(gputap_plugins_row)    \
	X(gputap_plugins_at)
#define DECLARE(f) decltype(&::f) f;
struct tool_functions {
	TOOL_FUNCTIONS(DECLARE)
} tool;
struct plugin_functions {
	PLUGIN_FUNCTIONS(DECLARE)
} plugins;

// All that is open for as long as the process is.
struct bridge {
	std::mutex lock; // of what callbacks in gputap's threads write
	bool recording = false;
	std::vector<record> records; // times are CLOCK_BOOTTIME until a session takes them
	std::unordered_map<std::string, const char *> texts;
	std::map<int32_t, std::string> devices; // names of rows
	uint64_t lost = 0;
	gputap_context *context = nullptr;
	gputap_buffer *buffer = nullptr;
	const gputap_plugin_stacks *stacks = nullptr;
	int plugin_count = 0;
	bool registered = false;
	lk::TraceSpan span{0, 0, "gputap"};
	// of the last session
	uint64_t outside = 0, unlinked = 0, kept = 0;
};
bridge &the()
{
	static bridge *one = new bridge;
	return *one;
}

// Kineto passes names of calls and kernels into JSON as they are.
const char *keep_text(bridge &b, const char *text)
{
	auto found = b.texts.find(text);

	if (found != b.texts.end())
		return found->second;
	std::string clean(text);
	for (char &c : clean)
		if (c < ' ' || c > '~' || c == '"' || c == '\\')
			c = c == '"' ? '\'' : c == '\\' ? '/' : '?';
	const char *kept = strdup(clean.c_str());
	b.texts.emplace(text, kept);
	return kept;
}

ActivityType type_of_work(uint32_t type)
{
	switch (type) {
	case GPUTAP_WORK_KERNEL:
	case GPUTAP_WORK_NATIVE:
	case GPUTAP_WORK_GRAPH: return ActivityType::CONCURRENT_KERNEL;
	case GPUTAP_WORK_FILL: return ActivityType::GPU_MEMSET;
	default: return ActivityType::GPU_MEMCPY;
	}
}

const char *name_of_work(const gputap_work &w)
{
	switch (w.type) {
	case GPUTAP_WORK_READ: return "Memcpy DtoH (Device -> Host)";
	case GPUTAP_WORK_WRITE: return "Memcpy HtoD (Host -> Device)";
	case GPUTAP_WORK_COPY: return "Memcpy DtoD (Device -> Device)";
	case GPUTAP_WORK_FILL: return "Memset (Device)";
	default: return w.name && *w.name ? w.name : "kernel";
	}
}

bool is_shown(const gputap_work &w)
{
	return w.type != GPUTAP_WORK_MARKER && w.type != GPUTAP_WORK_BARRIER &&
	       w.type != GPUTAP_WORK_SCRATCH && w.start && w.end >= w.start;
}

void take_work(bridge &b, const gputap_work &w)
{
	record r = {};

	if (!is_shown(w))
		return;
	r.start = w.start, r.end = w.end;
	r.op = w.external[0], r.user = w.external[1];
	r.correlation = w.correlation, r.bytes = w.bytes;
	r.name = keep_text(b, name_of_work(w));
	for (int i = 0; i < 3; i++) {
		r.block[i] = w.group[i] ? w.group[i] : 1;
		r.grid[i] = std::max(1u, w.grid[i] / r.block[i]);
	}
	r.device = (int32_t)(w.domain * DEVICES_OF_DOMAIN + w.device);
	r.stream = (int32_t)std::max<uint64_t>(1, w.queue);
	r.type = (uint8_t)type_of_work(w.type);
	b.records.push_back(r);
}

void take_call(bridge &b, const gputap_record_call &c)
{
	const char *name = tool.gputap_operation_name(c.domain, c.operation);
	record r = {};

	r.start = c.start, r.end = c.end;
	r.op = c.external[0], r.user = c.external[1];
	r.correlation = c.correlation;
	r.name = name ? name : "call";
	r.device = getpid(), r.stream = (int32_t)c.thread;
	r.type = (uint8_t)ActivityType::CUDA_RUNTIME;
	r.call = true;
	b.records.push_back(r);
}

void take_batch(gputap_buffer *, const gputap_record *records, size_t count, uint64_t lost, void *)
{
	bridge &b = the();
	std::lock_guard<std::mutex> hold(b.lock);

	b.lost = lost;
	for (size_t i = 0; b.recording && i < count; i++)
		if (records[i].kind == GPUTAP_RECORD_WORK)
			take_work(b, *static_cast<const gputap_work *>(records[i].payload));
		else if (records[i].kind == GPUTAP_RECORD_CALL)
			take_call(b, *static_cast<const gputap_record_call *>(records[i].payload));
}

void take_object(const gputap_object *o, uint64_t *, void *)
{
	bridge &b = the();
	std::lock_guard<std::mutex> hold(b.lock);

	if (o->phase == GPUTAP_PHASE_LOAD && o->type == GPUTAP_OBJECT_DEVICE && o->name)
		b.devices[(int32_t)(o->domain * DEVICES_OF_DOMAIN + o->number)] =
			keep_text(b, o->name);
}

// A device's work comes one way only: its vendor's plug-in goes before gputap's own runtime.
bool has_plugin(const bridge &b, const char *name)
{
	gputap_plugin p = {};

	for (int i = 0; i < b.plugin_count; i++) {
		p.size = sizeof p;
		if (!plugins.gputap_plugins_at((uint32_t)i, &p) && !strcmp(p.name, name))
			return true;
	}
	return false;
}

// As a tool: before a runtime's first call, so that there are taps; stopped until a profile starts.
int ask_tool_api(void *)
{
	static const char *const domains[] = {"opencl", "hip", "hsa_core", "refdev"};
	gputap_context_opts options = {sizeof options, 0, 0,
				       nullptr,        0, GPUTAP_CONTEXT_FINISH_CALLS};
	gputap_buffer_opts buffer = {sizeof buffer, 8 << 20, 0,      GPUTAP_BUFFER_LOSSLESS, 0,
				     take_batch,    nullptr, nullptr};
	bridge &b = the();

	if (tool.gputap_buffer_create(&buffer, &b.buffer) ||
	    tool.gputap_context_create(&options, &b.context))
		return -1;
	for (const char *name : domains) {
		int domain = tool.gputap_domain_find(name);

		if (domain <= 0 || has_plugin(b, name))
			continue;
		tool.gputap_context_buffer(b.context, (uint32_t)domain, nullptr, 0, GPUTAP_WORK_ALL,
					   0, b.buffer);
		tool.gputap_context_objects(b.context, (uint32_t)domain, 1u << GPUTAP_OBJECT_DEVICE,
					    0, take_object, nullptr);
	}
	return 0;
}

const gputap_tool description = {
	sizeof description, GPUTAP_TOOL_ABI, 0,       "torch.profiler's bridge",
	ask_tool_api,       nullptr,         nullptr, 0};

// What CLOCK_REALTIME is ahead of CLOCK_BOOTTIME: the narrowest of some readings.
int64_t read_offset()
{
	int64_t best = INT64_MAX, offset = 0;

	for (int i = 0; i < 8; i++) {
		timespec a, r, c;

		clock_gettime(CLOCK_BOOTTIME, &a);
		clock_gettime(CLOCK_REALTIME, &r);
		clock_gettime(CLOCK_BOOTTIME, &c);
		const int64_t before = a.tv_sec * 1000000000L + a.tv_nsec,
			      after = c.tv_sec * 1000000000L + c.tv_nsec;
		if (after - before < best) {
			best = after - before;
			offset = r.tv_sec * 1000000000L + r.tv_nsec -
				 (before + (after - before) / 2);
		}
	}
	return offset;
}

ActivityType type_of_plugin(uint32_t kind)
{
	switch (kind) {
	case PU1_KIND_GPU_MEMCPY: return ActivityType::GPU_MEMCPY;
	case PU1_KIND_GPU_MEMSET: return ActivityType::GPU_MEMSET;
	case PU1_KIND_PRIVATEUSE1_RUNTIME: return ActivityType::CUDA_RUNTIME;
	case PU1_KIND_PRIVATEUSE1_DRIVER: return ActivityType::PRIVATEUSE1_DRIVER;
	default: return ActivityType::CONCURRENT_KERNEL;
	}
}

void take_plugins(std::vector<record> &records)
{
	gputap_plugin_record batch[256];
	bridge &b = the();
	long count;

	while (b.plugin_count && (count = plugins.gputap_plugins_read(batch, 256)) > 0)
		for (long i = 0; i < count; i++) {
			const gputap_plugin_record &p = batch[i];
			record r = {};

			if (p.kind == PU1_KIND_COUNTER || p.kind == PU1_KIND_SYNCHRONIZATION)
				continue; // NEEDSWORK: Kineto's types for these
			r.start = p.start, r.end = p.end;
			r.op = p.external, r.user = p.user_range;
			// one plug-in's numbers are not another's
			r.correlation =
				p.correlation ? (uint64_t)(p.plugin + 1) << 56 ^ p.correlation : 0;
			r.bytes = p.bytes;
			r.name = keep_text(b, p.name);
			memcpy(r.grid, p.grid, sizeof r.grid);
			memcpy(r.block, p.block, sizeof r.block);
			r.type = (uint8_t)type_of_plugin(p.kind);
			r.call = p.kind == PU1_KIND_PRIVATEUSE1_RUNTIME ||
				 p.kind == PU1_KIND_PRIVATEUSE1_DRIVER;
			r.device =
				r.call ? getpid()
				       : (int32_t)(DEVICES_OF_PLUGIN * (p.plugin + 1)) + p.device;
			r.stream = r.call ? (int32_t)p.thread_id : std::max(1, p.stream);
			records.push_back(r);
		}
}

// Flows: device work's correlations get numbers, and their calls the same. Open addressing.
class flows
{
      public:
	explicit flows(size_t count)
	{
		size_t room = 64;

		while (room < count * 2)
			room *= 2;
		slots_.assign(room, {0, 0, false});
	}
	struct slot {
		uint64_t key;
		uint32_t flow;
		bool started;
	};
	// nullptr: there is none
	slot *find(uint64_t key, bool add)
	{
		if (!key)
			return nullptr;
		for (size_t i = key * 0x9e3779b97f4a7c15u >> 20;; i++) {
			slot &s = slots_[i & (slots_.size() - 1)];

			if (s.key == key)
				return &s;
			if (s.key)
				continue;
			if (!add)
				return nullptr;
			s = {key, FIRST_FLOW + ++count_, false};
			return &s;
		}
	}

      private:
	std::vector<slot> slots_;
	uint32_t count_ = 0;
};

void number_calls(flows &f, std::vector<record> &records, bool driver)
{
	for (record &r : records) {
		if (!r.call || ((ActivityType)r.type == ActivityType::PRIVATEUSE1_DRIVER) != driver)
			continue;
		if (flows::slot *s = f.find(r.correlation, false)) {
			r.flow = s->flow;
			r.starts = !s->started;
			s->started = true;
		}
	}
}

// torch takes two starts of one flow for a collision: where the driver's call inside of the
// runtime's is recorded too, the runtime's is the start.
void number_flows(std::vector<record> &records)
{
	flows f(records.size());

	for (record &r : records)
		if (!r.call)
			if (const flows::slot *s = f.find(r.correlation, true))
				r.flow = s->flow;
	number_calls(f, records, false);
	number_calls(f, records, true);
}

std::string metadata_of(const record &r)
{
	char text[384];
	int n;

	if (r.call)
		n = snprintf(text, sizeof text, "\"cbid\": 0, \"correlation\": %u", r.flow);
	else if ((ActivityType)r.type == ActivityType::CONCURRENT_KERNEL)
		n = snprintf(text, sizeof text,
			     "\"device\": %d, \"context\": 0, \"stream\": %d, \"correlation\": %u, "
			     "\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u]",
			     r.device, r.stream, r.flow, r.grid[0], r.grid[1], r.grid[2],
			     r.block[0], r.block[1], r.block[2]);
	else
		n = snprintf(text, sizeof text,
			     "\"device\": %d, \"context\": 0, \"stream\": %d, \"correlation\": %u, "
			     "\"bytes\": %llu, \"memory bandwidth (GB/s)\": %.3f",
			     r.device, r.stream, r.flow, (unsigned long long)r.bytes,
			     r.end > r.start ? (double)r.bytes / (double)(r.end - r.start) : 0.0);
	return std::string(text, (size_t)n);
}

class view final : public lk::ITraceActivity
{
      public:
	view(const record *r, const lk::ITraceActivity *linked) : r_(r), linked_(linked)
	{
	}
	int64_t deviceId() const override
	{
		return r_->device;
	}
	int64_t resourceId() const override
	{
		return r_->stream;
	}
	int32_t getThreadId() const override
	{
		return r_->call ? r_->stream : 0;
	}
	int64_t timestamp() const override
	{
		return (int64_t)r_->start;
	}
	int64_t duration() const override
	{
		return (int64_t)(r_->end - r_->start);
	}
	int64_t correlationId() const override
	{
		return r_->flow;
	}
	int flowType() const override
	{
		return flowId() ? lk::kLinkAsyncCpuGpu : 0;
	}
	int64_t flowId() const override
	{
		return !r_->call || r_->starts ? r_->flow : 0;
	}
	bool flowStart() const override
	{
		return r_->starts;
	}
	ActivityType type() const override
	{
		return (ActivityType)r_->type;
	}
	const std::string name() const override
	{
		return r_->name;
	}
	const lk::ITraceActivity *linkedActivity() const override
	{
		return linked_;
	}
	const lk::TraceSpan *traceSpan() const override
	{
		return &the().span;
	}
	void log(lk::ActivityLogger &logger) const override
	{
		logger.handleActivity(*this);
	}
	const std::string metadataJson() const override
	{
		return metadata_of(*r_);
	}

      private:
	const record *r_;
	const lk::ITraceActivity *linked_;
};

// Lies in the buffer that Kineto keeps with the trace: what views point to goes with it.
class holder final : public lk::GenericTraceActivity
{
      public:
	holder() : lk::GenericTraceActivity(the().span, ActivityType::OVERHEAD, "")
	{
	}
	std::vector<record> records;
	std::vector<view> views;
};

class session final : public lk::IActivityProfilerSession
{
      public:
	explicit session(const std::set<ActivityType> &asked)
	    : beside_gpus_(asked.count(ActivityType::OVERHEAD) > 0)
	{
	}
	~session() override
	{
		end();
	}
	void start() override
	{
		bridge &b = the();

		{
			std::lock_guard<std::mutex> hold(b.lock);
			b.records.clear();
			b.recording = true;
		}
		open_ = true;
		if (b.context)
			tool.gputap_context_start(b.context);
		if (b.plugin_count)
			plugins.gputap_plugins_start(nullptr);
		status_ = lk::TraceStatus::RECORDING;
	}
	void stop() override
	{
		end();
		status_ = lk::TraceStatus::PROCESSING;
	}
	std::vector<std::string> errors() override
	{
		return {};
	}
	void processTrace(lk::ActivityLogger &) override
	{
	}
	void processTrace(lk::ActivityLogger &logger, lk::getLinkedActivityCallback linked,
			  int64_t from, int64_t to) override
	{
		try {
			hand_over(logger, linked, from, to);
		} catch (const std::exception &e) {
			fprintf(stderr, "gputap: device records are missing in this profile: %s\n",
				e.what());
		}
	}
	std::unique_ptr<lk::DeviceInfo> getDeviceInfo() override
	{
		// one alone: without any, Kineto adds "GPU 0" to "GPU 15", for those beside us
		return first_ < 0 ? nullptr : std::make_unique<lk::DeviceInfo>(device_row(first_));
	}
	std::vector<lk::ResourceInfo> getResourceInfos() override
	{
		return {};
	}
	std::unique_ptr<lk::CpuTraceBuffer> getTraceBuffer() override
	{
		return std::move(buffer_);
	}
	void pushCorrelationId(uint64_t id) override
	{
		push(GPUTAP_STACK_OPERATION, id);
	}
	void popCorrelationId() override
	{
		pop(GPUTAP_STACK_OPERATION);
	}
	void pushUserCorrelationId(uint64_t id) override
	{
		push(GPUTAP_STACK_USER, id);
	}
	void popUserCorrelationId() override
	{
		pop(GPUTAP_STACK_USER);
	}
	std::unordered_map<std::string, std::string> getMetadata() override
	{
		const bridge &b = the();
		uint64_t dropped = b.lost;
		if (b.plugin_count)
			dropped += plugins.gputap_plugins_count(UINT32_MAX, GPUTAP_PLUGIN_DROPPED);
		return {{"gputap_lost", std::to_string(dropped)}};
	}

      private:
	static void push(gputap_stack stack, uint64_t id)
	{
		const bridge &b = the();

		if (tool.gputap_external_push)
			tool.gputap_external_push(stack, id);
		for (int i = 0; i < b.plugin_count; i++)
			(stack == GPUTAP_STACK_USER ? b.stacks[i].push_user : b.stacks[i].push)(id);
	}
	static void pop(gputap_stack stack)
	{
		const bridge &b = the();

		if (tool.gputap_external_pop)
			tool.gputap_external_pop(stack, nullptr);
		for (int i = 0; i < b.plugin_count; i++)
			(stack == GPUTAP_STACK_USER ? b.stacks[i].pop_user : b.stacks[i].pop)();
	}
	void end();
	void hand_over(lk::ActivityLogger &logger, lk::getLinkedActivityCallback &linked,
		       int64_t from, int64_t to);
	static std::string name_of(int32_t device)
	{
		bridge &b = the();
		std::lock_guard<std::mutex> hold(b.lock);
		auto found = b.devices.find(device);
		gputap_plugin_row row = {};
		if (found != b.devices.end())
			return found->second;
		row.size = sizeof row;
		if (device >= DEVICES_OF_PLUGIN && b.plugin_count &&
		    !plugins.gputap_plugins_row((uint32_t)(device / DEVICES_OF_PLUGIN - 1),
						device % DEVICES_OF_PLUGIN, 0, &row))
			return row.name;
		return "device " + std::to_string(device);
	}
	static lk::DeviceInfo device_row(int32_t device)
	{
		return lk::DeviceInfo{device, lk::kExceedMaxPid + device, "gputap",
				      name_of(device)};
	}
	static lk::ResourceInfo stream_row(int32_t device, int32_t stream)
	{
		const std::string name = "stream " + std::to_string(stream);
#if TORCH_VERSION_MINOR <= 12
		return lk::ResourceInfo(device, stream, stream, name);
#else
		return lk::ResourceInfo{.id = stream,
					.sortIndex = stream,
					.deviceId = device,
					.name = name};
#endif
	}

	const bool beside_gpus_; // CUDA's, ROCm's or XPU's are in this profile, too
	bool open_ = false;
	int32_t first_ = -1, told_ = -1;
	std::pair<int32_t, int32_t> last_row_{-1, -1};
	std::vector<record> records_;
	std::unique_ptr<lk::CpuTraceBuffer> buffer_;
};

void session::end()
{
	bridge &b = the();

	if (!open_)
		return;
	open_ = false;
	if (b.context) {
		tool.gputap_context_stop(b.context);
		tool.gputap_buffer_flush(b.buffer);
	}
	if (b.plugin_count)
		plugins.gputap_plugins_stop();
	const int64_t offset = read_offset();
	std::lock_guard<std::mutex> hold(b.lock);
	b.recording = false;
	records_ = std::move(b.records);
	b.records = {};
	for (record &r : records_)
		r.start += (uint64_t)offset, r.end += (uint64_t)offset;
	take_plugins(records_);
}

void session::hand_over(lk::ActivityLogger &logger, lk::getLinkedActivityCallback &linked,
			int64_t from, int64_t to)
{
	bridge &b = the();
	auto own = std::make_unique<holder>();
	holder &keep = *own;
	uint64_t last_id = 0;
	const lk::ITraceActivity *last = nullptr;
	std::set<std::pair<int32_t, int32_t>> streams;

	b.span.startTime = from, b.span.endTime = to;
	b.outside = b.unlinked = 0;
	buffer_ = std::make_unique<lk::CpuTraceBuffer>();
	buffer_->span = lk::TraceSpan(from, to, "gputap");
	buffer_->gpuOpCount = 0;
	buffer_->activities.push_back(std::move(own));
	keep.records = std::move(records_);
	number_flows(keep.records);
	keep.views.reserve(keep.records.size()); // they must not move
	for (const record &r : keep.records) {
		const uint64_t id = r.op ? r.op : r.user; // outside operators: the user's range

		if ((int64_t)r.start < from || (int64_t)r.end > to) {
			b.outside++;
			continue;
		}
		if (id != last_id)
			last_id = id, last = id ? linked((int32_t)id) : nullptr;
		b.unlinked += !last && !r.call;
		keep.views.emplace_back(&r, last);
		logger.handleActivity(keep.views.back());
		if (!r.call && (streams.empty() || last_row_ != std::pair(r.device, r.stream)))
			streams.insert(last_row_ = {r.device, r.stream});
	}
	b.kept = keep.views.size();
	for (const auto &[device, stream] : streams) {
		if (first_ < 0 && !beside_gpus_)
			first_ = device;
		else if (device != first_ && device != told_)
			logger.handleDeviceInfo(device_row(device), from);
		told_ = device;
		logger.handleResourceInfo(stream_row(device, stream), from);
	}
}

class profiler final : public lk::IActivityProfiler
{
      public:
	const std::string &name() const override
	{
		return name_;
	}
	const std::set<ActivityType> &availableActivities() const override
	{
		return types_;
	}
	std::unique_ptr<lk::IActivityProfilerSession> configure(const std::set<ActivityType> &asked,
								const lk::Config &) override
	{
		return std::make_unique<session>(asked);
	}
	std::unique_ptr<lk::IActivityProfilerSession> configure(int64_t, int64_t,
								const std::set<ActivityType> &asked,
								const lk::Config &) override
	{
		return std::make_unique<session>(asked);
	}

      private:
	const std::string name_ = "gputap";
	const std::set<ActivityType> types_ = {ActivityType::CONCURRENT_KERNEL,
					       ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET,
					       ActivityType::CUDA_RUNTIME};
};

template <typename T> bool look_up(void *library, T &function, const char *name)
{
	function = library ? reinterpret_cast<T>(dlsym(library, name)) : nullptr;
	return function != nullptr;
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// @tool_library, @plugin_library: of dlopen(), or NULL. Return: 0; 1: it has been.
EXPORT int gputap_bridge_register(void *tool_library, void *plugin_library)
{
	bridge &b = the();
	bool has_tool = true, has_plugins = true;

	if (b.registered)
		return 1;
#define LOOK_UP_TOOL(f)   has_tool &= look_up(tool_library, tool.f, #f);
#define LOOK_UP_PLUGIN(f) has_plugins &= look_up(plugin_library, plugins.f, #f);
	TOOL_FUNCTIONS(LOOK_UP_TOOL)
	PLUGIN_FUNCTIONS(LOOK_UP_PLUGIN)
	if (has_plugins)
		b.plugin_count = std::max(0, plugins.gputap_plugins_load(nullptr));
	if (b.plugin_count)
		b.stacks = plugins.gputap_plugins_stacks();
	if (!has_tool)
		tool = {};
	else
		tool.gputap_tool_add(&description);
	b.registered = true;
	lk::api().registerProfilerFactory([] { return std::make_unique<profiler>(); });
	return 0;
}

// Of the last profile: "kept", "outside", "unlinked", "lost"; and "plugins".
EXPORT int64_t gputap_bridge_count(const char *what)
{
	const bridge &b = the();

	return (int64_t)(!strcmp(what, "kept")       ? b.kept
			 : !strcmp(what, "outside")  ? b.outside
			 : !strcmp(what, "unlinked") ? b.unlinked
			 : !strcmp(what, "lost")     ? b.lost
			 : !strcmp(what, "plugins")  ? (uint64_t)b.plugin_count
						     : 0);
}
