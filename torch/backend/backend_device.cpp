/* SPDX-License-Identifier: MIT */
// The device as torch sees it: the guard (current device, streams, events), hooks, the generator,
// and the profiler stubs that measure an operator between two events.
//
// Each thread has its own current device and streams. Streams of torch's pool are created on first
// use; no stream is destroyed at the end of the process.
#include <mutex>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Storage.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/profiler/stubs/base.h>

#include "backend.h"
#include "backend_generator.h"

namespace refdev
{
namespace
{

enum { POOL_STREAMS = 32 };

thread_local int device_now;
thread_local c10::StreamId stream_now[DEVICES_MOST];

std::mutex pool_lock;
refdevStream_t pool[DEVICES_MOST][POOL_STREAMS + 1]; // index 0 is not used
unsigned pool_next[DEVICES_MOST];

c10::Stream make_stream(int device, c10::StreamId id)
{
	return c10::Stream(c10::Stream::UNSAFE, c10::Device(DEVICE_TYPE, c10::DeviceIndex(device)),
			   id);
}

c10::Stream take_stream(int device)
{
	std::lock_guard<std::mutex> guard(pool_lock);
	const c10::StreamId id = 1 + pool_next[device]++ % POOL_STREAMS;

	if (!pool[device][id]) {
		const DeviceScope scope(device);

		REFDEV_CHECK(refdevStreamCreate(&pool[device][id]));
	}
	return make_stream(device, id);
}

int device_of(c10::Device d)
{
	return d.has_index() ? d.index() : device_now;
}

refdevStream_t handle_of(const c10::Stream &s)
{
	return find_stream(s.device_index(), s.id());
}

} // namespace

void check_status(refdevError_t status, const char *call)
{
	TORCH_CHECK(!status, "refdev: ", refdevGetErrorString(status), ": ", call);
}

int count_devices()
{
	static const int devices = [] {
		int count = 0;

		return refdevGetDeviceCount(&count) ? 0 : std::min<int>(count, DEVICES_MOST);
	}();

	return devices;
}

int get_device()
{
	return device_now;
}

void set_device(int device)
{
	if (device == device_now)
		return;
	REFDEV_CHECK(refdevSetDevice(device));
	device_now = device;
}

c10::StreamId current_stream(int device)
{
	return stream_now[device];
}

refdevStream_t find_stream(int device, c10::StreamId id)
{
	return id ? pool[device][id] : nullptr;
}

namespace
{

struct Guard final : c10::impl::DeviceGuardImplInterface {
	c10::DeviceType type() const override
	{
		return DEVICE_TYPE;
	}
	c10::Device exchangeDevice(c10::Device d) const override
	{
		const c10::Device before = getDevice();

		setDevice(d);
		return before;
	}
	c10::Device getDevice() const override
	{
		return {DEVICE_TYPE, c10::DeviceIndex(device_now)};
	}
	void setDevice(c10::Device d) const override
	{
		set_device(device_of(d));
	}
	void uncheckedSetDevice(c10::Device d) const noexcept override
	{
		if (device_of(d) != device_now && !refdevSetDevice(device_of(d)))
			device_now = device_of(d);
	}
	c10::DeviceIndex deviceCount() const noexcept override
	{
		return c10::DeviceIndex(count_devices());
	}

	c10::Stream getStream(c10::Device d) const override
	{
		return make_stream(device_of(d), stream_now[device_of(d)]);
	}
	c10::Stream getDefaultStream(c10::Device d) const override
	{
		return make_stream(device_of(d), 0);
	}
	c10::Stream getStreamFromGlobalPool(c10::Device d, bool) const override
	{
		return take_stream(device_of(d));
	}
	c10::Stream getNewStream(c10::Device d, int) const override
	{
		return take_stream(device_of(d));
	}
	c10::Stream exchangeStream(c10::Stream s) const override
	{
		const c10::Stream before = getStream(s.device());

		stream_now[s.device_index()] = s.id();
		return before;
	}
	void *getStreamNativeHandle(const c10::Stream s) const override
	{
		return handle_of(s);
	}
	bool queryStream(const c10::Stream &s) const override
	{
		const DeviceScope scope(s.device_index());
		const refdevError_t status = refdevStreamQuery(handle_of(s));

		if (status != refdevErrorNotReady)
			check_status(status, "refdevStreamQuery()");
		return !status;
	}
	void synchronizeStream(const c10::Stream &s) const override
	{
		const DeviceScope scope(s.device_index());

		REFDEV_CHECK(refdevStreamSynchronize(handle_of(s)));
	}
	void synchronizeDevice(const c10::DeviceIndex device) const override
	{
		const DeviceScope scope(device);

		REFDEV_CHECK(refdevDeviceSynchronize());
	}

	void record(void **event, const c10::Stream &s, const c10::DeviceIndex,
		    const c10::EventFlag) const override
	{
		const DeviceScope scope(s.device_index());

		if (!*event)
			REFDEV_CHECK(refdevEventCreate(reinterpret_cast<refdevEvent_t *>(event)));
		REFDEV_CHECK(refdevEventRecord(static_cast<refdevEvent_t>(*event), handle_of(s)));
	}
	void block(void *event, const c10::Stream &s) const override
	{
		const DeviceScope scope(s.device_index());

		if (event)
			REFDEV_CHECK(refdevStreamWaitEvent(handle_of(s),
							   static_cast<refdevEvent_t>(event)));
	}
	bool queryEvent(void *event) const override
	{
		return !event ||
		       refdevEventQuery(static_cast<refdevEvent_t>(event)) != refdevErrorNotReady;
	}
	void synchronizeEvent(void *event) const override
	{
		if (event)
			REFDEV_CHECK(refdevEventSynchronize(static_cast<refdevEvent_t>(event)));
	}
	void destroyEvent(void *event, const c10::DeviceIndex) const noexcept override
	{
		if (event)
			refdevEventDestroy(static_cast<refdevEvent_t>(event));
	}
	double elapsedTime(void *start, void *end, const c10::DeviceIndex) const override
	{
		float ms;

		REFDEV_CHECK(refdevEventElapsedTime(&ms, static_cast<refdevEvent_t>(start),
						    static_cast<refdevEvent_t>(end)));
		return double(ms);
	}
	void recordDataPtrOnStream(const c10::DataPtr &data, const c10::Stream &s) const override
	{
		device_allocator()->recordStream(data, s);
	}
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// A generator of random numbers. Contains the CPU generator that operators use.
struct Generator final : c10::GeneratorImpl {
	at::Generator host;

	explicit Generator(int device, at::Generator of)
	    : GeneratorImpl(c10::Device(DEVICE_TYPE, c10::DeviceIndex(device)),
			    c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
	      host(std::move(of))
	{
	}
	static c10::DeviceType device_type()
	{
		return DEVICE_TYPE;
	}
	void set_current_seed(uint64_t seed) override
	{
		host.set_current_seed(seed);
	}
	void set_offset(uint64_t offset) override
	{
		host.set_offset(offset);
	}
	uint64_t get_offset() const override
	{
		return host.get_offset();
	}
	uint64_t current_seed() const override
	{
		return host.current_seed();
	}
	uint64_t seed() override
	{
		return host.seed();
	}
	void set_state(const c10::TensorImpl &state) override
	{
		host.unsafeGetGeneratorImpl()->set_state(state);
	}
	c10::intrusive_ptr<c10::TensorImpl> get_state() const override
	{
		return host.unsafeGetGeneratorImpl()->get_state();
	}
	Generator *clone_impl() const override
	{
		return new Generator(device().index(), host.clone());
	}
};

at::Generator new_generator(int device)
{
	return at::make_generator<Generator>(device, at::detail::createCPUGenerator());
}

struct Hooks final : at::PrivateUse1HooksInterface {
	bool hasPrimaryContext(c10::DeviceIndex) const override
	{
		return true;
	}
	bool isBuilt() const override
	{
		return true;
	}
	bool isAvailable() const override
	{
		return count_devices() > 0;
	}
	c10::DeviceIndex deviceCount() const override
	{
		return c10::DeviceIndex(count_devices());
	}
	void setCurrentDevice(c10::DeviceIndex device) const override
	{
		set_device(device);
	}
	c10::DeviceIndex getCurrentDevice() const override
	{
		return c10::DeviceIndex(device_now);
	}
	c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override
	{
		const int before = device_now;

		set_device(device);
		return c10::DeviceIndex(before);
	}
	c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override
	{
		return exchangeDevice(device);
	}
	bool isPinnedPtr(const void *memory) const override
	{
		return is_pinned(memory);
	}
	at::Allocator *getPinnedMemoryAllocator() const override
	{
		return pinned_allocator();
	}
	const at::Generator &getDefaultGenerator(c10::DeviceIndex device) const override
	{
		return default_generator(device < 0 ? device_now : device);
	}
	at::Generator getNewGenerator(c10::DeviceIndex device) const override
	{
		return new_generator(device < 0 ? device_now : device);
	}
	void resizePrivateUse1Bytes(const c10::Storage &storage, size_t bytes) const override
	{
		const DeviceScope scope(storage.device().index());
		c10::DataPtr data = device_allocator()->allocate(bytes);
		const size_t same = std::min(bytes, storage.nbytes());

		if (same)
			device_allocator()->copy_data(data.get(), storage.data(), same);
		storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(data));
		storage.unsafeGetStorageImpl()->set_nbytes(bytes);
	}
};

// torch.autograd.profiler without Kineto: times operators with two events on the operator's stream.
struct Stubs final : torch::profiler::impl::ProfilerStubs {
	using Event = torch::profiler::impl::ProfilerVoidEventStub;

	void record(c10::DeviceIndex *device, Event *event, int64_t *cpu_ns) const override
	{
		refdevEvent_t e = nullptr;

		if (device)
			*device = c10::DeviceIndex(device_now);
		REFDEV_CHECK(refdevEventCreate(&e));
		*event = Event(e,
			       [](void *p) { refdevEventDestroy(static_cast<refdevEvent_t>(p)); });
		if (cpu_ns)
			*cpu_ns = c10::getTime();
		REFDEV_CHECK(refdevEventRecord(e, find_stream(device_now, stream_now[device_now])));
	}
	float elapsed(const Event *start, const Event *end) const override
	{
		auto *a = static_cast<refdevEvent_t>(start->get());
		auto *b = static_cast<refdevEvent_t>(end->get());
		float ms;

		REFDEV_CHECK(refdevEventSynchronize(a));
		REFDEV_CHECK(refdevEventSynchronize(b));
		REFDEV_CHECK(refdevEventElapsedTime(&ms, a, b));
		return ms * 1000; // in us
	}
	void mark(const char *) const override
	{
	}
	void rangePush(const char *) const override
	{
	}
	void rangePop() const override
	{
	}
	bool enabled() const override
	{
		return true;
	}
	void onEachDevice(std::function<void(int)> op) const override
	{
		const int before = device_now;

		for (int device = 0; device < count_devices(); device++) {
			set_device(device);
			op(device);
		}
		set_device(before);
	}
	void synchronize() const override
	{
		REFDEV_CHECK(refdevDeviceSynchronize());
	}
};

const bool registered = [] {
	at::RegisterPrivateUse1HooksInterface(new Hooks);
	torch::profiler::impl::registerPrivateUse1Methods(new Stubs);
	return true;
}();

} // namespace

const at::Generator &default_generator(int device)
{
	static auto *all = [] {
		auto *generators = new std::array<at::Generator, DEVICES_MOST>;

		for (int i = 0; i < DEVICES_MOST; i++)
			(*generators)[size_t(i)] = new_generator(i);
		return generators;
	}();

	return all->at(size_t(device));
}

at::Generator host_generator(const at::Generator &generator)
{
	return generator.get<Generator>()->host;
}

} // namespace refdev

// For torch.refdev -------------------------------------------------------------

#define REFDEV_EXPORT extern "C" __attribute__((visibility("default")))

REFDEV_EXPORT int refdev_torch_device_count(void)
{
	return refdev::count_devices();
}

// Return 1 if the device belongs to the parent process of a fork.
REFDEV_EXPORT int refdev_torch_is_forked(void)
{
	int count;

	return refdevGetDeviceCount(&count) == refdevErrorForked;
}

REFDEV_EXPORT void refdev_torch_seed(int device, uint64_t seed)
{
	at::Generator generator = refdev::default_generator(device);
	std::lock_guard<std::mutex> guard(generator.mutex());

	generator.set_current_seed(seed);
}

REFDEV_EXPORT uint64_t refdev_torch_first_seed(int device)
{
	return refdev::default_generator(device).current_seed();
}

// Return the length of the generator's state. Writes nothing if @room is too small.
REFDEV_EXPORT size_t refdev_torch_get_state(int device, void *state, size_t room)
{
	const at::Tensor t = refdev::default_generator(device).get_state();

	if (room >= t.nbytes())
		memcpy(state, t.data_ptr(), t.nbytes());
	return t.nbytes();
}

// Set the generator's state. Return 0, or 1 if the state is invalid.
REFDEV_EXPORT int refdev_torch_set_state(int device, const void *state, size_t bytes)
{
	at::Generator generator = refdev::default_generator(device);
	at::Tensor t = generator.get_state();

	if (t.nbytes() != bytes)
		return 1;
	memcpy(t.data_ptr(), state, bytes);
	generator.set_state(t);
	return 0;
}
