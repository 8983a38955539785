/* SPDX-License-Identifier: MIT */
// The sources of the bridge's records: gputap's tool API and vendors' plug-ins.
//
//   gputap's thread   take_batch() ──► the().records           while a session is open
//   stop()            take_plugins() ──► the session's table   all completed plug-in records
//
// Never here: exceptions, because gputap's thread calls these functions through C.
#ifndef GPUTAP_TORCH_BRIDGE_SOURCES_H
#define GPUTAP_TORCH_BRIDGE_SOURCES_H

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <unistd.h>

#include "bridge_records.h"

#include "gputap/PrivateUse1TracingApi.h"
#include "gputap/plugin.h"
#include "gputap/tool.h"

namespace
{

enum {
	DEVICES_OF_DOMAIN = 1000, // device numbers of a domain start here, to differ from CUDA's
	DEVICES_OF_PLUGIN = 100000,
	CALLS_MAX = 4096, // per domain
};

// gputap's functions, which are looked up in its libraries. NULL: not available.
#define TOOL_FUNCTIONS(X)         \
	X(gputap_tool_add)        \
	X(gputap_context_create)  \
	X(gputap_context_start)   \
	X(gputap_context_stop)    \
	X(gputap_context_drain)   \
	X(gputap_context_buffer)  \
	X(gputap_context_objects) \
	X(gputap_buffer_create)   \
	X(gputap_clock_read)      \
	X(gputap_external_push)   \
	X(gputap_external_pop)    \
	X(gputap_operation_name)  \
	X(gputap_domain_find)     \
	X(gputap_domain_name)
#define PLUGIN_FUNCTIONS(X)          \
	X(gputap_plugins_load)       \
	X(gputap_plugins_stacks)     \
	X(gputap_plugins_start)      \
	X(gputap_plugins_stop)       \
	X(gputap_plugins_read)       \
	X(gputap_plugins_count)      \
	X(gputap_plugins_count_name) \
	X(gputap_plugins_error)      \
	X(gputap_plugins_row)        \
	X(gputap_plugins_at)
#define DECLARE(f) decltype(&::f) f;
struct tool_functions {
	TOOL_FUNCTIONS(DECLARE)
} tool;
struct plugin_functions {
	PLUGIN_FUNCTIONS(DECLARE)
} plugins;

// State that exists until the process ends.
struct bridge {
	std::mutex lock; // protects fields that callbacks in gputap's threads write
	bool recording = false;
	table records;
	names texts;
	std::map<int32_t, std::string> devices; // names of rows
	uint64_t lost = 0;                      // lost records: in the buffer since its creation,
	// and in the bridge
	uint64_t no_memory = 0;
	gputap_context *context = nullptr;
	gputap_context *cuda_context =
		nullptr; // separate context for CUDA: started only if a profile takes CUDA
	gputap_buffer *buffer = nullptr;
	const gputap_plugin_stacks *stacks = nullptr;
	int plugin_count = 0;
	int hsa = 0;         // number of the HSA domain
	int cuda = 0;        // number of the CUDA domain
	int32_t process = 0; // cached, because getpid() is a system call
	bool registered = false;
	bool shows_waits = false;
	bool takes_cuda = false;
	int devices_wanted = -1; // gputap_bridge_want_devices() counts of the last session
	uint64_t kept = 0, outside = 0, unlinked = 0, dropped = 0, unfinished = 0;
	uint64_t unshown = 0;       // samples of counters that this torch cannot write
	uint64_t processing_ns = 0; // CPU time of the bridge at the end of the session
};
bridge &the()
{
	static bridge *one = new bridge;
	return *one;
}

ActivityType type_of_activity(uint32_t type)
{
	switch (type) {
	case GPUTAP_ACTIVITY_KERNEL:
	case GPUTAP_ACTIVITY_NATIVE:
	case GPUTAP_ACTIVITY_GRAPH: return ActivityType::CONCURRENT_KERNEL;
	case GPUTAP_ACTIVITY_FILL: return ActivityType::GPU_MEMSET;
	default: return ActivityType::GPU_MEMCPY;
	}
}

const char *name_of_activity(const gputap_activity &w)
{
	// memcpys and memsets of CUDA have Kineto's names
	if (w.type != GPUTAP_ACTIVITY_KERNEL && w.name && !strncmp(w.name, "Mem", 3))
		return w.name;
	switch (w.type) {
	case GPUTAP_ACTIVITY_READ: return "Memcpy DtoH (Device -> Host)";
	case GPUTAP_ACTIVITY_WRITE: return "Memcpy HtoD (Host -> Device)";
	case GPUTAP_ACTIVITY_COPY: return "Memcpy DtoD (Device -> Device)";
	case GPUTAP_ACTIVITY_FILL: return "Memset (Device)";
	default: return w.name && *w.name ? w.name : "kernel";
	}
}

bool is_shown(const gputap_activity &w)
{
	return w.type != GPUTAP_ACTIVITY_MARKER && w.type != GPUTAP_ACTIVITY_BARRIER &&
	       w.type != GPUTAP_ACTIVITY_SCRATCH && w.start && w.end >= w.start;
}

// CUDA devices keep CUDA's numbers, because a profile that takes CUDA from gputap has no other rows
// for these devices.
int32_t number_of_device(const bridge &b, uint32_t domain, uint64_t number, uint64_t handle)
{
	return (int32_t)((int)domain == b.cuda ? handle : domain * DEVICES_OF_DOMAIN + number);
}

void take_activity(bridge &b, const gputap_activity &w)
{
	record r = {};

	if (!is_shown(w))
		return;
	r.start = w.start, r.end = w.end;
	r.op = w.external[0], r.user = w.external[1];
	r.correlation = w.correlation, r.bytes = w.bytes;
	r.name = w.type == GPUTAP_ACTIVITY_KERNEL ? b.texts.clean_kernel(name_of_activity(w))
						  : b.texts.clean(name_of_activity(w));
	for (int i = 0; i < 3; i++) {
		r.block[i] = w.group[i] ? w.group[i] : 1;
		r.grid[i] = std::max(1u, w.grid[i] / r.block[i]);
	}
	r.device = number_of_device(b, w.domain, w.device, w.device_handle);
	r.stream = (int32_t)std::max<uint64_t>(1, w.queue);
	r.type = (uint8_t)type_of_activity(w.type);
	b.no_memory += !b.records.add(r);
}

void take_call(bridge &b, const gputap_record_call &c)
{
	const char *name;
	record r = {};

	if (c.parent && (int)c.domain == b.hsa)
		return; // calls made by HIP itself
	name = tool.gputap_operation_name(c.domain, c.operation);

	r.start = c.start, r.end = c.end;
	r.op = c.external[0], r.user = c.external[1];
	r.correlation = c.correlation;
	r.name = name ? name : "call";
	r.device = b.process, r.stream = (int32_t)c.thread;
	r.type = (uint8_t)((int)c.domain == b.cuda ? ActivityType::CUDA_DRIVER
						   : ActivityType::CUDA_RUNTIME);
	r.call = true;
	b.no_memory += !b.records.add(r);
}

void take_batch(gputap_buffer *, const gputap_record *records, size_t count, uint64_t lost, void *)
{
	bridge &b = the();
	std::lock_guard<std::mutex> hold(b.lock);

	b.lost = lost;
	for (size_t i = 0; b.recording && i < count; i++)
		if (records[i].kind == GPUTAP_RECORD_ACTIVITY)
			take_activity(b, *static_cast<const gputap_activity *>(records[i].payload));
		else if (records[i].kind == GPUTAP_RECORD_CALL)
			take_call(b, *static_cast<const gputap_record_call *>(records[i].payload));
}

void take_object(const gputap_object *o, uint64_t *, void *)
{
	bridge &b = the();
	std::lock_guard<std::mutex> hold(b.lock);

	if (o->phase == GPUTAP_OBJECT_PHASE_LOAD && o->type == GPUTAP_OBJECT_DEVICE && o->name)
		try {
			b.devices[number_of_device(b, o->domain, o->number, o->handle)] =
				b.texts.clean(o->name);
		} catch (const std::bad_alloc &) {
			b.no_memory++; // the row is named after its number
		}
}

// Return true if a plug-in delivers the device's activities. Activities come from one source only,
// and a vendor's plug-in has priority over gputap's own runtime.
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

// Return true for CUDA calls that torch shows: calls that submit, wait, or allocate. An operator
// makes four other calls for each of these.
bool is_shown_call(const char *name)
{
	static const char *const beginnings[] = {
		"cuLaunch",    "cuMemcpy",   "cuMemset",     "cuMemAlloc",   "cuMemFree",
		"cuMemHost",   "cuMemMap",   "cuMemCreate",  "cuMemRelease", "cuGraphLaunch",
		"cuGraphInst", "cuModuleLo", "cuLibraryLo",  "cuEventRec",   "cuEventSync",
		"cuStreamSyn", "cuStreamWa", "cuCtxSynchro",
	};

	for (const char *beginning : beginnings)
		if (!strncmp(name, beginning, strlen(beginning)))
			return true;
	return false;
}

// Request CUDA's calls and activities. Return 0, or -1 if they are not available.
int ask_for_cuda(bridge &b, const gputap_context_opts &options)
{
	const int domain = tool.gputap_domain_find("cuda_driver");
	std::vector<uint32_t> calls;

	if (domain <= 0 || has_plugin(b, "cuda") ||
	    tool.gputap_context_create(&options, &b.cuda_context))
		return -1;
	b.cuda = domain;
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		const char *name = tool.gputap_operation_name((gputap_domain)domain, i);

		if (name && is_shown_call(name))
			calls.push_back(i);
	}
	tool.gputap_context_buffer(b.cuda_context, (gputap_domain)domain, calls.data(),
				   calls.size(), GPUTAP_ACTIVITY_ALL, 0, b.buffer);
	tool.gputap_context_objects(b.cuda_context, (gputap_domain)domain,
				    1u << GPUTAP_OBJECT_DEVICE, GPUTAP_OBJECTS_DEFAULT, take_object,
				    nullptr);
	return 0;
}

// Register as a tool before a runtime's first call, so that taps exist. The contexts stay stopped
// until a profile starts.
int ask_tool_api(void *)
{
	static const char *const domains[] = {"opencl", "hip", "hsa_core", "refdev", "level_zero"};
	gputap_context_opts options = {
		sizeof options, GPUTAP_DOMAIN_NONE, 0, nullptr, 0, GPUTAP_CONTEXT_FINISH_CALLS};
	gputap_buffer_opts buffer = {sizeof buffer, 8 << 20, 0,      GPUTAP_BUFFER_LOSSLESS, 0,
				     take_batch,    nullptr, nullptr};
	bridge &b = the();

	if (tool.gputap_buffer_create(&buffer, &b.buffer) ||
	    tool.gputap_context_create(&options, &b.context))
		return -1;
	b.hsa = tool.gputap_domain_find("hsa_core");
	try {
		ask_for_cuda(b, options);
	} catch (const std::bad_alloc &) {
		b.no_memory++;
	}
	for (const char *name : domains) {
		int domain = tool.gputap_domain_find(name);

		if (domain <= 0 || has_plugin(b, name))
			continue;
		tool.gputap_context_buffer(b.context, (gputap_domain)domain, nullptr, 0,
					   GPUTAP_ACTIVITY_ALL, 0, b.buffer);
		tool.gputap_context_objects(b.context, (gputap_domain)domain,
					    1u << GPUTAP_OBJECT_DEVICE, GPUTAP_OBJECTS_DEFAULT,
					    take_object, nullptr);
	}
	return 0;
}

const gputap_tool description = {
	sizeof description, GPUTAP_TOOL_ABI, 0,       "torch.profiler's bridge",
	ask_tool_api,       nullptr,         nullptr, {}};

// Plug-ins ------------------------------------------------------------------------------------

ActivityType type_of_plugin(uint32_t kind)
{
	switch (kind) {
	case PU1_KIND_GPU_MEMCPY: return ActivityType::GPU_MEMCPY;
	case PU1_KIND_GPU_MEMSET: return ActivityType::GPU_MEMSET;
	case PU1_KIND_PRIVATEUSE1_RUNTIME: return ActivityType::CUDA_RUNTIME;
	case PU1_KIND_PRIVATEUSE1_DRIVER: return ActivityType::PRIVATEUSE1_DRIVER;
	case PU1_KIND_SYNCHRONIZATION: return ActivityType::CUDA_SYNC;
	default: return ActivityType::CONCURRENT_KERNEL;
	}
}

void take_record(bridge &b, table &records, const gputap_plugin_record &p)
{
	record r = {};

	r.start = p.start, r.end = p.end;
	r.op = p.external, r.user = p.user_range;
	r.correlation = p.correlation;
	r.bytes = p.bytes;
	r.name = b.texts.clean(p.name);
	memcpy(r.grid, p.grid, sizeof r.grid);
	memcpy(r.block, p.block, sizeof r.block);
	r.source = (uint8_t)(p.plugin + 1);
	r.type = (uint8_t)type_of_plugin(p.kind);
	r.call = p.kind == PU1_KIND_PRIVATEUSE1_RUNTIME || p.kind == PU1_KIND_PRIVATEUSE1_DRIVER;
	r.device = r.call ? b.process : (int32_t)(DEVICES_OF_PLUGIN * (p.plugin + 1)) + p.device;
	r.stream = r.call ? (int32_t)p.thread_id : std::max(1, p.stream);
	b.no_memory += !records.add(r);
}

// Samples of counters, in the order of plug-ins.
struct sample {
	uint64_t time;
	int32_t device;
	const char *name; // stays
	double value;
};

void take_plugins(bridge &b, table &records, std::vector<sample> &samples)
{
	gputap_plugin_record batch[256];
	long count;

	while (b.plugin_count && (count = plugins.gputap_plugins_read(batch, 256)) > 0)
		for (long i = 0; i < count; i++) {
			const gputap_plugin_record &p = batch[i];

			if (p.kind != PU1_KIND_COUNTER)
				take_record(b, records, p);
			else
				samples.push_back(
					{p.start,
					 (int32_t)(DEVICES_OF_PLUGIN * (p.plugin + 1)) + p.device,
					 b.texts.clean(p.name), p.value});
		}
}

// Return the faults in a plug-in's session, as `"wrong times": 3, "lost": 1`, with or without
// @quote.
std::string faults_of(uint32_t plugin, const char *quote)
{
	std::string text;

	for (int i = GPUTAP_PLUGIN_DROPPED; i < GPUTAP_PLUGIN_COUNT_COUNT; i++) {
		const auto what = static_cast<gputap_plugin_count>(i);

		if (const uint64_t n = plugins.gputap_plugins_count(plugin, what))
			text += (text.empty() ? "" : ", ") + std::string(quote) +
				plugins.gputap_plugins_count_name(what) + quote + ": " +
				std::to_string(n);
	}
	return text;
}

// Return the plug-ins' report as JSON, or "" without faults.
std::string report_plugins(bridge &b)
{
	std::string all;

	for (int i = 0; i < b.plugin_count; i++) {
		gputap_plugin p = {};
		const char *error = plugins.gputap_plugins_error((uint32_t)i);
		const std::string faults = faults_of((uint32_t)i, "\"");

		p.size = sizeof p;
		if ((!error && faults.empty()) || plugins.gputap_plugins_at((uint32_t)i, &p))
			continue;
		const std::string name = b.texts.clean(p.name),
				  text = error ? b.texts.clean(error) : "";
		all += (all.empty() ? "\"" : ", \"") + name + "\": {\"error\": \"" + text +
		       "\", \"counts\": {" + faults + "}}";
		if (!getenv("GPUTAP_QUIET"))
			fprintf(stderr, "gputap: plug-in %s: %s%s%s\n", name.c_str(), text.c_str(),
				error && !faults.empty() ? "; " : "",
				faults_of((uint32_t)i, "").c_str());
	}
	return all;
}

template <typename T> bool look_up(void *library, T &function, const char *name)
{
	function = library ? reinterpret_cast<T>(dlsym(library, name)) : nullptr;
	return function != nullptr;
}

// @tool_library, @plugin_library: from dlopen(), or NULL. An incomplete library is not used.
void open_sources(void *tool_library, void *plugin_library)
{
	bool has_tool = true, has_plugins = true;
	gputap_plugins_opts guarded = {};
	bridge &b = the();

#define LOOK_UP_TOOL(f)   has_tool &= look_up(tool_library, tool.f, #f);
#define LOOK_UP_PLUGIN(f) has_plugins &= look_up(plugin_library, plugins.f, #f);
	TOOL_FUNCTIONS(LOOK_UP_TOOL)
	PLUGIN_FUNCTIONS(LOOK_UP_PLUGIN)
	if ((tool_library && !has_tool) || (plugin_library && !has_plugins))
		fprintf(stderr, "gputap: the package for torch does not match the gputap "
				"libraries: pip install --force-reinstall ./torch\n");
	guarded.size = sizeof guarded;
	guarded.flags = GPUTAP_PLUGINS_GUARDED; // the training continues even if a plug-in fails
	if (has_plugins)
		b.plugin_count = std::max(0, plugins.gputap_plugins_load(&guarded));
	if (b.plugin_count)
		b.stacks = plugins.gputap_plugins_stacks();
	if (!has_tool)
		tool = {};
	else
		tool.gputap_tool_add(&description);
}

} // namespace

#endif
