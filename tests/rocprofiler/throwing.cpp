/* SPDX-License-Identifier: MIT */
/* A client whose buffer callback throws an exception, each time of a different type. */
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static size_t received, batches;
static int destroyed, pending;

struct counted {
	~counted()
	{
		destroyed++;
	}
};

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **, size_t count, void *, uint64_t)
{
	counted on_the_stack;

	pending += std::uncaught_exceptions();
	received += count;
	if (++batches % 2)
		throw std::runtime_error{"a callback's own"};
	throw 42;
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 4096, 1024, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  on_records, nullptr, &buffer);
	rocprofiler_configure_buffer_tracing_service(context,
						     ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
						     nullptr, 0, buffer);
	return rocprofiler_start_context(context);
}

static void finalize(void *)
{
	rocprofiler_flush_buffer(buffer);
	std::printf("received %zu batches>1 %d destroyed all %d pending %d\n", received,
		    batches > 1, destroyed == (int)batches, pending);
}

extern "C" rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t, const char *,
								      uint32_t,
								      rocprofiler_client_id_t *)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     nullptr};

	return &result;
}
