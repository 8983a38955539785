/* SPDX-License-Identifier: MIT */
// A child profiler of Kineto: shows gputap's runtimes and vendors' plug-ins in torch.profiler.
//
//   records from gputap tool API ─┐                             at stop()
//                                 ├─► one table of activities ─────────────► Kineto
//   records of libgputap-plugin ──┘   (bridge_records.h)      processTrace()
//
// The table is in the buffer that Kineto keeps with the trace, and is destroyed with that buffer.
// Built with the headers of the installed torch. Needs libkineto::api() from libtorch_cpu, and
// gputap's libraries, which are loaded with dlopen(); a missing library contributes no records.
// Never here: static destructors (Kineto ends open sessions after them), exceptions that escape.
#include <ctime>
#include <set>

#include "bridge_records.h"
#include "bridge_sources.h"

namespace
{

// maximum wait for submitted activities at the end of a profile
const uint64_t DRAIN_NS = 200000000;

uint64_t now_ns(clockid_t clock)
{
	timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if TORCH_VERSION_MINOR >= 12
// A sample of a counter. Kineto writes the sample as an event of phase "C".
class sample_activity final : public lk::GenericTraceActivity
{
      public:
	explicit sample_activity(const sample &s)
	    : lk::GenericTraceActivity(the_span(), ActivityType::MTIA_COUNTERS, s.name)
	{
		startTime = endTime = (int64_t)s.time;
		device = s.device;
		addCounterValue(s.name, s.value);
	}
};
#endif

std::string name_of(int32_t device)
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
		return b.texts.clean(row.name);
	return "device " + std::to_string(device);
}

lk::ResourceInfo stream_row(int32_t device, int32_t stream)
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

const ActivityType device_types[] = {ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY,
				     ActivityType::GPU_MEMSET};

// Return the types that a profile records: Kineto's types after the filters of torch 2.13. torch
// drops the types that the user requests for a device that torch does not know. Python then passes
// these types on (devices_wanted).
std::set<ActivityType> wanted_types(bridge &b, const std::set<ActivityType> &types)
{
	std::set<ActivityType> wanted = types;

	for (unsigned i = 0; b.devices_wanted >= 0 && i < std::size(device_types); i++)
		if (b.devices_wanted >> i & 1)
			wanted.insert(device_types[i]);
		else
			wanted.erase(device_types[i]);
	b.devices_wanted = -1; // reset: applies only to this profile
	if (wanted.count(ActivityType::PRIVATEUSE1_RUNTIME))
		wanted.insert(ActivityType::CUDA_RUNTIME); // our calls are shown with this type
	return wanted;
}

bool has_ours(const std::set<ActivityType> &types)
{
	const ActivityType calls[] = {ActivityType::CUDA_RUNTIME, ActivityType::CUDA_DRIVER,
				      ActivityType::PRIVATEUSE1_DRIVER};
	const auto has = [&](ActivityType type) { return types.count(type) > 0; };

	return std::any_of(std::begin(device_types), std::end(device_types), has) ||
	       std::any_of(std::begin(calls), std::end(calls), has);
}

// Return the types as bits of pu1ActivityKind.
uint64_t plugin_kinds(const std::set<ActivityType> &types, bool has_devices)
{
	uint64_t kinds = has_devices ? 1u << PU1_KIND_SYNCHRONIZATION | 1u << PU1_KIND_COUNTER : 0;

	for (uint32_t kind = 1; kind < PU1_KIND_SYNCHRONIZATION; kind++)
		kinds |= types.count(type_of_plugin(kind)) ? 1u << kind : 0;
	return kinds;
}

class session final : public lk::IActivityProfilerSession
{
      public:
	session(const std::set<ActivityType> &types, const std::string &config)
	    : types_(types), config_(config), beside_gpus_(types.count(ActivityType::OVERHEAD) > 0)
	{
		for (ActivityType type : device_types)
			has_devices_ |= types.count(type) > 0;
	}
	~session() override
	{
		end();
	}
	void start() override;
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
		const uint64_t began = now_ns(CLOCK_THREAD_CPUTIME_ID);

		try {
			hand_over(logger, linked, from, to);
		} catch (const std::exception &e) {
			fprintf(stderr,
				"gputap: GPU activities are missing from this profile: %s\n",
				e.what());
		}
		the().processing_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	}
	std::unique_ptr<lk::DeviceInfo> getDeviceInfo() override
	{
		// one row only: without a row, Kineto adds "GPU 0" to "GPU 15", for other GPUs
		return first_row() ? std::make_unique<lk::DeviceInfo>(device_row(*first_row()))
				   : nullptr;
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
		std::unordered_map<std::string, std::string> all = {{"gputap_lost",
								     std::to_string(b.dropped)},
								    {"gputap_unfinished",
								     std::to_string(b.unfinished)}};

		if (!plugins_report_.empty())
			all["gputap_plugins"] = "{" + plugins_report_ + "}";
		return all;
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
	void close_sources();
	bool is_wanted(const record &r) const;
	void set_times(record &r) const;
	void place_records(int64_t from, int64_t to);
	void hand_over(lk::ActivityLogger &logger, lk::getLinkedActivityCallback &linked,
		       int64_t from, int64_t to);
	void hand_samples(lk::ActivityLogger &logger, int64_t from, int64_t to);
	void hand_rows(lk::ActivityLogger &logger, int64_t from);

	// Return the device whose row getDeviceInfo() returns, or nullptr.
	const int32_t *first_row() const
	{
		return rows_.empty() || beside_gpus_ ? nullptr : &rows_.begin()->first;
	}
	lk::DeviceInfo device_row(int32_t device) const
	{
		const uint64_t cut = rows_.at(device).outside;

		return lk::DeviceInfo{device, lk::kExceedMaxPid + device, name_of(device),
				      cut ? "gputap: " + std::to_string(cut) +
						      " outside the recording window"
					  : "gputap"};
	}
	struct row {
		std::set<int32_t> streams;
		uint64_t outside = 0;
	};
	const std::set<ActivityType> types_;
	const std::string config_;
	const bool beside_gpus_;   // true if CUDA, ROCm or XPU is also in this profile
	bool has_devices_ = false; // true if the profile requests GPU activities
	bool has_plugins_ = false; // true if plug-ins record in this profile
	bool open_ = false;
	bool has_cuda_ = false; // true if CUDA activities come from us in this profile
	uint64_t lost_before_ = 0;
	gputap_clock_pair began_ = {}, ended_ = {};
	std::map<int32_t, row> rows_;
	table records_;
	std::vector<sample> samples_;
	std::string plugins_report_;
	std::unique_ptr<lk::CpuTraceBuffer> buffer_;
};

void session::start()
{
	bridge &b = the();
	gputap_plugins_session asked = {};

	{
		std::lock_guard<std::mutex> hold(b.lock);
		b.records.clear();
		b.recording = true;
		b.process = getpid();
		b.no_memory = 0;
		lost_before_ = b.lost;
	}
	open_ = true;
	if (b.context) {
		began_.size = ended_.size = sizeof began_;
		tool.gputap_clock_read(&began_);
		tool.gputap_context_start(b.context);
		// record CUDA from one source only: not if Kineto also records it
		has_cuda_ = b.takes_cuda && !beside_gpus_ && b.cuda_context &&
			    !tool.gputap_context_start(b.cuda_context);
	}
	asked.size = sizeof asked;
	asked.config = config_.empty() ? nullptr : config_.c_str();
	asked.take_pages = [](void *pages, size_t bytes, void *table_) {
		static_cast<table *>(table_)->take_pages(pages, bytes);
	};
	asked.user = &records_; // belongs to this session, its only reader
	asked.kinds = plugin_kinds(types_, has_devices_);
	has_plugins_ = b.plugin_count && asked.kinds;
	if (has_plugins_)
		plugins.gputap_plugins_start(&asked);
	status_ = lk::TraceStatus::RECORDING;
}

// Stop recording. Afterwards all records are in @records_ and @samples_.
void session::close_sources()
{
	bridge &b = the();

	b.unfinished = 0;
	if (b.context) {
		tool.gputap_context_stop(b.context);
		if (has_cuda_)
			tool.gputap_context_stop(b.cuda_context);
		tool.gputap_context_drain(b.context, DRAIN_NS, &b.unfinished);
		if (has_cuda_) {
			uint64_t open = 0;

			tool.gputap_context_drain(b.cuda_context, DRAIN_NS, &open);
			b.unfinished += open;
		}
		has_cuda_ = false;
		tool.gputap_clock_read(&ended_);
	}
	if (has_plugins_)
		plugins.gputap_plugins_stop();
	{
		std::lock_guard<std::mutex> hold(b.lock);
		b.recording = false;
		records_.swap(b.records);
		b.dropped = b.lost - lost_before_;
	}
	if (has_plugins_)
		take_plugins(b, records_, samples_);
	b.dropped += b.no_memory;
	if (!has_plugins_)
		return;
	b.dropped += plugins.gputap_plugins_count(UINT32_MAX, GPUTAP_PLUGIN_DROPPED);
	plugins_report_ = report_plugins(b);
}

void session::end()
{
	const uint64_t began = now_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!open_)
		return;
	open_ = false;
	try {
		close_sources();
	} catch (const std::exception &e) {
		fprintf(stderr, "gputap: GPU activities are missing from this profile: %s\n",
			e.what());
	}
	the().processing_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - began;
}

bool session::is_wanted(const record &r) const
{
	if (type_of(r) == ActivityType::CUDA_SYNC && the().shows_waits)
		return has_devices_;
	return types_.count(type_of(r)) != 0;
}

// Convert times from CLOCK_BOOTTIME to CLOCK_REALTIME. The offset drifts linearly from its value at
// the session's start to its value at the end.
void session::set_times(record &r) const
{
	const int64_t first = (int64_t)(began_.realtime - began_.boottime),
		      moved = (int64_t)(ended_.realtime - ended_.boottime) - first;
	const double whole = (double)(ended_.boottime - began_.boottime),
		     part = whole > 0 ? (double)(int64_t)(r.start - began_.boottime) / whole : 0;
	const uint64_t offset = (uint64_t)(first + (int64_t)((double)moved * part));

	r.start += offset, r.end += offset;
}

// Convert the times, and cut records outside the profile's window.
void session::place_records(int64_t from, int64_t to)
{
	bridge &b = the();
	row *of = nullptr;
	int32_t device = -1;

	b.outside = 0;
	records_.each([&](activity &a) {
		record &r = a.r;

		if (!r.source)
			set_times(r);
		r.cut = !is_wanted(r);
		if (r.cut)
			return;
		r.cut = (int64_t)r.start < from || (int64_t)r.end > to;
		b.outside += r.cut;
		if (r.call)
			return;
		if (r.device != device)
			of = &rows_[device = r.device];
		of->outside += r.cut;
		if (!r.cut && (of->streams.empty() || *of->streams.begin() != r.stream))
			of->streams.insert(r.stream);
	});
}

void session::hand_over(lk::ActivityLogger &logger, lk::getLinkedActivityCallback &linked,
			int64_t from, int64_t to)
{
	bridge &b = the();
	auto own = std::make_unique<holder>();
	table &records = own->records;
	uint64_t last_id = 0;
	const lk::ITraceActivity *last = nullptr;

	the_span().startTime = from, the_span().endTime = to;
	b.kept = b.unlinked = b.unshown = 0;
	buffer_ = std::make_unique<lk::CpuTraceBuffer>();
	buffer_->span = lk::TraceSpan(from, to, "gputap");
	buffer_->gpuOpCount = 0;
	place_records(from, to);
	number_flows(records_);
	records.swap(records_);
	buffer_->activities.push_back(std::move(own));
	records.each([&](activity &a) {
		const record &r = a.r;
		const uint64_t id = r.op ? r.op : r.user; // outside of operators, link to the
		// user's range

		if (r.cut)
			return;
		if (id != last_id)
			last_id = id, last = id ? linked((int32_t)id) : nullptr;
		// do not link waits: torch counts all linked records as GPU time of the operator
		if (type_of(r) != ActivityType::CUDA_SYNC) {
			a.linked = last;
			b.unlinked += !last && !r.call;
		}
		logger.handleActivity(a);
		b.kept++;
	});
	hand_samples(logger, from, to);
	hand_rows(logger, from);
}

void session::hand_samples(lk::ActivityLogger &logger, int64_t from, int64_t to)
{
#if TORCH_VERSION_MINOR >= 12
	for (const sample &s : samples_) {
		if ((int64_t)s.time < from || (int64_t)s.time > to) {
			the().outside++;
			continue;
		}
		auto shown = std::make_unique<sample_activity>(s);

		rows_[s.device];
		logger.handleActivity(*shown);
		buffer_->activities.push_back(std::move(shown));
	}
#else
	(void)logger, (void)from, (void)to;
	the().unshown = samples_.size();
#endif
}

void session::hand_rows(lk::ActivityLogger &logger, int64_t from)
{
	for (const auto &[device, row] : rows_) {
		if (!first_row() || device != *first_row()) // getDeviceInfo() returns the first row
			logger.handleDeviceInfo(device_row(device), from);
		for (int32_t stream : row.streams)
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
	// nullptr: nothing to record; torch continues without this profiler
	std::unique_ptr<lk::IActivityProfilerSession> configure(const std::set<ActivityType> &types,
								const lk::Config &config) override
	{
		const std::set<ActivityType> wanted = wanted_types(the(), types);

		the().kept = the().outside = the().unlinked = the().dropped = 0;
		the().unfinished = the().unshown = 0;
		if ((!the().context && !the().plugin_count) || !has_ours(wanted))
			return nullptr;
		return std::make_unique<session>(wanted, config.getCustomConfig());
	}
	std::unique_ptr<lk::IActivityProfilerSession> configure(int64_t, int64_t,
								const std::set<ActivityType> &types,
								const lk::Config &config) override
	{
		return configure(types, config);
	}

      private:
	const std::string name_ = "gputap";
	const std::set<ActivityType> types_ = {ActivityType::CONCURRENT_KERNEL,
					       ActivityType::GPU_MEMCPY, ActivityType::GPU_MEMSET,
					       ActivityType::CUDA_RUNTIME};
};

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

// @tool_library, @plugin_library: from dlopen(), or NULL. Return 0, or 1 if already registered.
EXPORT int gputap_bridge_register(void *tool_library, void *plugin_library)
{
	bridge &b = the();

	if (b.registered)
		return 1;
	open_sources(tool_library, plugin_library);
	b.registered = true;
	lk::api().registerProfilerFactory([] { return std::make_unique<profiler>(); });
	return 0;
}

// Show waits from plug-ins in profiles that begin from now on, even if torch does not request them:
// torch requests only waits for CUDA.
EXPORT void gputap_bridge_show_waits(int show)
{
	the().shows_waits = show != 0;
}

// Set the GPU activities of the profile that is prepared next, as bits for kernels, memcpys and
// memsets, in case torch does not know the devices that the user requests. Negative: use Kineto's
// types.
EXPORT void gputap_bridge_want_devices(int bits)
{
	the().devices_wanted = bits;
}

// Take CUDA calls and activities from gputap in profiles that begin from now on, unless Kineto
// records them.
EXPORT void gputap_bridge_take_cuda(int take)
{
	the().takes_cuda = take != 0;
}

// Return one of the last profile's counts: "kept", "outside", "unlinked", "lost", "unfinished",
// "unshown", "processing_ns"; and "plugins", "record_bytes", "block_bytes".
EXPORT int64_t gputap_bridge_count(const char *what)
{
	const bridge &b = the();
	const struct {
		const char *name;
		uint64_t count;
	} counts[] = {{"kept", b.kept},
		      {"outside", b.outside},
		      {"unlinked", b.unlinked},
		      {"lost", b.dropped},
		      {"unfinished", b.unfinished},
		      {"unshown", b.unshown},
		      {"processing_ns", b.processing_ns},
		      {"plugins", (uint64_t)b.plugin_count},
		      {"record_bytes", sizeof(activity)},
		      {"block_bytes", BLOCK * sizeof(activity)}};

	for (const auto &c : counts)
		if (!strcmp(what, c.name))
			return (int64_t)c.count;
	return 0;
}
