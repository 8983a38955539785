/* SPDX-License-Identifier: MIT */
/* Stand-in for SYCL in PTI's tests, for machines without a SYCL compiler: the part that they use,
 * on Level Zero alone. Each submission makes the copies and the launch that a SYCL runtime makes,
 * with an empty kernel, and waits for them. The host then computes what the kernel would. */
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <level_zero/ze_api.h>

#include "level_zero_module.h"

namespace sycl
{

struct exception : std::runtime_error {
	using std::runtime_error::runtime_error;
};

using async_handler = std::function<void(int)>;

namespace access
{
enum class mode { read, write, read_write };
enum class decorated { no, yes };
} // namespace access

template <int Dimensions> struct id {
	size_t at[Dimensions];
	size_t get(int i) const
	{
		return at[i];
	}
};

template <int Dimensions> struct range {
	size_t size[Dimensions];
	template <class... Sizes> range(Sizes... sizes) : size{static_cast<size_t>(sizes)...}
	{
	}
};

struct gpu_selector {
};
inline constexpr gpu_selector gpu_selector_v{};

namespace info::device
{
struct name {
};
} // namespace info::device

struct platform {
};

struct device {
	explicit device(gpu_selector = {})
	{
	}
	platform get_platform() const
	{
		return {};
	}
	template <class Info> std::string get_info() const
	{
		return "software";
	}
};

namespace property::queue
{
struct in_order {
};
} // namespace property::queue

namespace ext::intel::property::queue
{
struct immediate_command_list {
};
struct no_immediate_command_list {
};
} // namespace ext::intel::property::queue

struct property_list {
	bool is_immediate = true;

	template <class... Properties> property_list(Properties... all)
	{
		(take(all), ...);
	}
	template <class Property> void take(Property)
	{
	}
	void take(ext::intel::property::queue::no_immediate_command_list)
	{
		is_immediate = false;
	}
};

namespace standin
{

inline void check(ze_result_t status, const char *name)
{
	if (status != ZE_RESULT_SUCCESS)
		throw exception(std::string(name) + ": " + std::to_string(status));
}

/* One per process, as in a SYCL runtime. */
struct runtime {
	ze_driver_handle_t driver;
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_module_handle_t module;

	static runtime &get()
	{
		static runtime *one = new runtime; /* lives as long as the process */
		return *one;
	}

      private:
	runtime()
	{
		ze_context_desc_t context_desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
		ze_module_desc_t module_desc = {};
		uint32_t one = 1;

		module_desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
		module_desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
		module_desc.inputSize = sizeof module_words;
		module_desc.pInputModule = reinterpret_cast<const uint8_t *>(module_words);
		check(zeInit(0), "zeInit");
		check(zeDriverGet(&one, &driver), "zeDriverGet");
		check(zeDeviceGet(driver, &one, &device), "zeDeviceGet");
		check(zeContextCreate(driver, &context_desc, &context), "zeContextCreate");
		check(zeModuleCreate(context, device, &module_desc, &module, nullptr),
		      "zeModuleCreate");
	}
};

struct queue_state {
	std::mutex mutex; /* a list may be used by only one thread */
	ze_command_list_handle_t list;
	ze_command_queue_handle_t queue = nullptr; /* for a list that is not immediate */
	ze_kernel_handle_t kernel;

	explicit queue_state(bool is_immediate)
	{
		const runtime &r = runtime::get();
		ze_command_queue_desc_t queue_desc = {};
		ze_command_list_desc_t list_desc = {};
		ze_kernel_desc_t kernel_desc = {};

		queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
		queue_desc.mode = is_immediate ? ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS
					       : ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
		list_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC;
		kernel_desc.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC;
		kernel_desc.pKernelName = "none";
		if (is_immediate) {
			check(zeCommandListCreateImmediate(r.context, r.device, &queue_desc, &list),
			      "zeCommandListCreateImmediate");
		} else {
			check(zeCommandQueueCreate(r.context, r.device, &queue_desc, &queue),
			      "zeCommandQueueCreate");
			check(zeCommandListCreate(r.context, r.device, &list_desc, &list),
			      "zeCommandListCreate");
		}
		check(zeKernelCreate(r.module, &kernel_desc, &kernel), "zeKernelCreate");
		check(zeKernelSetGroupSize(kernel, 1, 1, 1), "zeKernelSetGroupSize");
	}

	~queue_state()
	{
		zeKernelDestroy(kernel);
		zeCommandListDestroy(list);
		if (queue)
			zeCommandQueueDestroy(queue);
	}

	void copy(void *to, const void *from, size_t bytes)
	{
		check(zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr),
		      "zeCommandListAppendMemoryCopy");
	}

	void launch(size_t x, size_t y)
	{
		const ze_group_count_t groups = {static_cast<uint32_t>(x), static_cast<uint32_t>(y),
						 1};

		check(zeCommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr),
		      "zeCommandListAppendLaunchKernel");
	}

	void wait()
	{
		if (!queue)
			return; /* an immediate list is synchronous */
		check(zeCommandListClose(list), "zeCommandListClose");
		check(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr),
		      "zeCommandQueueExecuteCommandLists");
		check(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize");
		check(zeCommandListReset(list), "zeCommandListReset");
	}
};

} // namespace standin

class handler
{
      public:
	explicit handler(std::shared_ptr<standin::queue_state> q) : queue(std::move(q))
	{
	}

	template <class Name, class Function> void parallel_for(range<2> r, Function function)
	{
		queue->launch(r.size[0], r.size[1]);
		compute = [=] {
			for (size_t i = 0; i < r.size[0]; i++)
				for (size_t j = 0; j < r.size[1]; j++)
					function(id<2>{{i, j}});
		};
	}

	template <class From, class To> void copy(From from, To to)
	{
		queue->copy(to.memory, from.memory, from.bytes);
	}

	std::shared_ptr<standin::queue_state> queue;
	std::function<void()> compute;
};

template <class T> struct pointer {
	T *memory;
	T *get() const
	{
		return memory;
	}
};

template <class T> struct accessor {
	T *memory;
	size_t bytes;
	template <access::decorated> pointer<T> get_multi_ptr() const
	{
		return {memory};
	}
};

/* Copy to the device on access, and back at the end of its life. */
template <class T, int Dimensions> class buffer
{
      public:
	buffer(const T *from, size_t count) : from(from), bytes(count * sizeof(T))
	{
		allocate();
	}
	buffer(T *both, size_t count) : from(both), to(both), bytes(count * sizeof(T))
	{
		allocate();
	}
	buffer(const buffer &) = delete;

	~buffer()
	{
		if (to && queue) {
			std::lock_guard<std::mutex> lock(queue->mutex);

			queue->copy(to, memory, bytes);
			queue->wait();
		}
		zeMemFree(standin::runtime::get().context, memory);
	}

	template <access::mode> accessor<T> get_access(handler &h)
	{
		if (!queue)
			h.queue->copy(memory, from, bytes);
		queue = h.queue;
		return {static_cast<T *>(memory), bytes};
	}

      private:
	void allocate()
	{
		const standin::runtime &r = standin::runtime::get();
		ze_device_mem_alloc_desc_t device_desc = {};
		ze_host_mem_alloc_desc_t host_desc = {};

		device_desc.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
		host_desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
		standin::check(zeMemAllocShared(r.context, &device_desc, &host_desc, bytes, 64,
						r.device, &memory),
			       "zeMemAllocShared");
	}

	const T *from;
	T *to = nullptr;
	size_t bytes;
	void *memory;
	std::shared_ptr<standin::queue_state> queue;
};

class queue
{
      public:
	explicit queue(device, async_handler = {}, property_list p = {})
	    : state(std::make_shared<standin::queue_state>(p.is_immediate))
	{
	}

	template <class Function> void submit(Function function)
	{
		std::lock_guard<std::mutex> lock(state->mutex);
		handler h(state);

		function(h);
		state->wait();
		if (h.compute)
			h.compute();
	}

	void wait()
	{
	}
	void wait_and_throw()
	{
	}

      private:
	std::shared_ptr<standin::queue_state> state;
};

} // namespace sycl
