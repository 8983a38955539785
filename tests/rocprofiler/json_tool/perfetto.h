/* SPDX-License-Identifier: MIT */
/* The names of Perfetto's SDK that rocprofiler-sdk's json-tool and its cxx/perfetto.hpp use. The
 * trace is one newline: no test reads it. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace perfetto
{

struct Anything {
	template <typename... T> void set_name(T &&...)
	{
	}
	template <typename... T> void set_string_value(T &&...)
	{
	}
	template <typename... T> void set_bool_value(T &&...)
	{
	}
	template <typename... T> void set_int_value(T &&...)
	{
	}
	template <typename... T> void set_uint_value(T &&...)
	{
	}
	template <typename... T> void set_double_value(T &&...)
	{
	}
	template <typename... T> void set_pointer_value(T &&...)
	{
	}
	template <typename... T> void set_size_kb(T &&...)
	{
	}
	template <typename... T> void set_fill_policy(T &&...)
	{
	}
	template <typename... T> void set_track_event_config_raw(T &&...)
	{
	}
	Anything *add_debug_annotations()
	{
		return this;
	}
	Anything *add_buffers()
	{
		return this;
	}
	Anything *add_data_sources()
	{
		return this;
	}
	Anything *mutable_config()
	{
		return this;
	}
	Anything *event()
	{
		return this;
	}
	std::string SerializeAsString() const
	{
		return {};
	}
};

using EventContext = Anything;
using TraceConfig = Anything;

namespace protos::gen
{
using TrackEventConfig = Anything;
enum { TraceConfig_BufferConfig_FillPolicy_DISCARD };
} // namespace protos::gen

struct Category {
	constexpr Category(const char *)
	{
	}
	constexpr Category &SetDescription(const char *)
	{
		return *this;
	}
};

enum { kInProcessBackend = 1 };

struct TracingInitArgs {
	size_t shmem_size_hint_kb = 0;
	unsigned backends = 0;
};

struct TracingSession {
	void Setup(const TraceConfig &)
	{
	}
	void StartBlocking()
	{
	}
	void FlushBlocking()
	{
	}
	void StopBlocking()
	{
	}
	std::vector<char> ReadTraceBlocking()
	{
		return {'\n'};
	}
};

struct Tracing {
	static void Initialize(const TracingInitArgs &)
	{
	}
	static std::unique_ptr<TracingSession> NewTrace()
	{
		return std::make_unique<TracingSession>();
	}
};

struct Track {
	explicit Track(uint64_t id = 0) : uuid{id}
	{
	}
	Anything Serialize() const
	{
		return {};
	}
	uint64_t uuid;
};

struct ThreadTrack {
	static Track Current()
	{
		return Track{};
	}
};

struct Flow {
	static Flow ProcessScoped(uint64_t)
	{
		return {};
	}
};

struct StaticString {
	explicit StaticString(const char *)
	{
	}
};

struct TrackEvent {
	static void Register()
	{
	}
	static void Flush()
	{
	}
	static void SetTrackDescriptor(const Track &, const Anything &)
	{
	}
	template <typename... T> static void Event(T &&...)
	{
	}
};

} // namespace perfetto

#define PERFETTO_DEFINE_CATEGORIES(...)       struct perfetto_nothing
#define PERFETTO_TRACK_EVENT_STATIC_STORAGE() struct perfetto_nothing
#define TRACE_EVENT_BEGIN(...)                ::perfetto::TrackEvent::Event(__VA_ARGS__)
#define TRACE_EVENT_END(...)                  ::perfetto::TrackEvent::Event(__VA_ARGS__)
