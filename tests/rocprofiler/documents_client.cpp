/* SPDX-License-Identifier: MIT */
/* A tool that contains the code blocks of two of rocprofiler-sdk's documents ("Callback tracing
 * services", "Runtime intercept tables"), each in its own context. Prints the notifications on
 * stderr. Preloaded by tests/test_rocprofiler_documents.py. The first document describes version
 * 0.5 at most, so this file is compiled with GPUTAP_ROCPROFILER_0_5; otherwise print_args() has the
 * wrong type. This file corrects errors that no compiler accepts: HSA's domains are callback kinds,
 * not buffer kinds, HSA's block reads no time, and a surplus closing parenthesis is removed. */
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <type_traits>
#include <unordered_set>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <hip/amd_detail/hip_api_trace.hpp>

namespace
{
/* The block that declares a record requires these members, in this order. */
using record_t = rocprofiler_callback_tracing_record_t;
static_assert(std::is_same_v<decltype(record_t::operation), uint32_t>,
	      "an operation is a uint32_t");
static_assert(std::is_same_v<decltype(record_t::payload), void *>);
static_assert(offsetof(record_t, context_id) < offsetof(record_t, thread_id) &&
	      offsetof(record_t, thread_id) < offsetof(record_t, correlation_id) &&
	      offsetof(record_t, correlation_id) < offsetof(record_t, kind) &&
	      offsetof(record_t, kind) < offsetof(record_t, operation) &&
	      offsetof(record_t, operation) < offsetof(record_t, phase) &&
	      offsetof(record_t, phase) < offsetof(record_t, payload));

int at_two, at_each; // their addresses are callback_args

void check(rocprofiler_status_t status)
{
	if (status == ROCPROFILER_STATUS_SUCCESS)
		return;
	fprintf(stderr, "client: %s\n", rocprofiler_get_status_name(status));
	abort();
}

void time_calls(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user_data,
		void *cb_data)
{
	static thread_local rocprofiler_timestamp_t entered;
	auto ts = rocprofiler_timestamp_t{};
	const char *name = nullptr;

	rocprofiler_get_timestamp(&ts);
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		user_data->value = entered = ts;
	} else if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT) {
		auto delta_ts = ts - user_data->value;
		rocprofiler_query_callback_tracing_kind_operation_name(record.kind,
								       record.operation, &name,
								       nullptr);
		fprintf(stderr, "two: %s delta %lu kept %d args %d\n", name,
			(unsigned long)delta_ts, user_data->value == entered, cb_data == &at_two);
	} else {
		fprintf(stderr, "two: phase %d\n", (int)record.phase);
	}
}

void name_calls(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
		void *cb_data)
{
	const char *name = nullptr;

	rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation, &name,
							       nullptr);
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
		fprintf(stderr, "each: %s args %d\n", name, cb_data == &at_each);
}

void watch_hsa(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
	/* exit() destroys the document's object before it finalises clients; in between, HIP still
	 * calls HSA */
	static auto &hsa_domains = *new std::unordered_set<rocprofiler_callback_tracing_kind_t>{
		ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API};

	if (hsa_domains.count(record.kind) == 0) {
		fprintf(stderr, "hsa: kind %d\n", (int)record.kind);
		return;
	}
	auto *payload = static_cast<rocprofiler_callback_tracing_hsa_api_data_t *>(record.payload);
	hsa_status_t status = payload->retval.hsa_status_t_retval;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT && status != HSA_STATUS_SUCCESS) {
		const char *kind = nullptr, *operation = nullptr;

		rocprofiler_query_callback_tracing_kind_name(record.kind, &kind, nullptr);
		rocprofiler_query_callback_tracing_kind_operation_name(record.kind,
								       record.operation, &operation,
								       nullptr);
		fprintf(stderr, "[domain=%s] %s returned a non-zero exit code: %i\n", kind,
			operation, status);
	}
}

int print_args(rocprofiler_callback_tracing_kind_t domain_idx, uint32_t op_idx, uint32_t arg_num,
	       const void *const, int32_t, const char *arg_type, const char *arg_name,
	       const char *arg_value_str, int32_t, void *)
{
	if (arg_num == 0) {
		const char *kind = nullptr, *operation = nullptr;

		rocprofiler_query_callback_tracing_kind_name(domain_idx, &kind, nullptr);
		rocprofiler_query_callback_tracing_kind_operation_name(domain_idx, op_idx,
								       &operation, nullptr);
		fprintf(stderr, "\n[%s] %s\n", kind, operation);
	}
	char *type = abi::__cxa_demangle(arg_type, nullptr, nullptr, nullptr);
	fprintf(stderr, "    %u: %-18s %-16s = %s\n", arg_num, type, arg_name, arg_value_str);
	free(type);
	return 0;
}

void show_arguments(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT &&
	    record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API &&
	    (record.operation == ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel ||
	     record.operation == ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpyAsync))
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, print_args,
									 record.phase, nullptr);
}

void follow_objects(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
	const char *phase = record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD     ? "load"
			    : record.phase == ROCPROFILER_CALLBACK_PHASE_UNLOAD ? "unload"
										: "?";

	if (record.operation == ROCPROFILER_CODE_OBJECT_LOAD) {
		auto *object = static_cast<rocprofiler_callback_tracing_code_object_load_data_t *>(
			record.payload);
		fprintf(stderr, "object: %s %lu of %lu\n", phase,
			(unsigned long)object->code_object_id,
			(unsigned long)object->rocp_agent.handle);
	} else if (record.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER) {
		auto *symbol = static_cast<
			rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *>(
			record.payload);
		fprintf(stderr, "symbol: %s %lu in %lu %s\n", phase,
			(unsigned long)symbol->kernel_id, (unsigned long)symbol->code_object_id,
			symbol->kernel_name);
	}
}

/* HIP's own entry, which our function calls. */
decltype(HipDispatchTable::hipGetDevice_fn) next;

hipError_t chained(int *device)
{
	auto status = next(device);

	fprintf(stderr, "chained: hipGetDevice returns %d, device %d\n", (int)status, *device);
	return status;
}

void wrap(rocprofiler_intercept_table_t type, uint64_t, uint64_t instance, void **tables,
	  uint64_t count, void *)
{
	auto *table = static_cast<HipDispatchTable *>(tables[0]);

	fprintf(stderr, "table: type %d instance %lu count %lu\n", (int)type,
		(unsigned long)instance, (unsigned long)count);
	next = table->hipGetDevice_fn;
	table->hipGetDevice_fn = chained;
}

rocprofiler_context_id_t begin()
{
	auto ctx = rocprofiler_context_id_t{};

	check(rocprofiler_create_context(&ctx));
	return ctx;
}

/* Configure all operations of @kinds, in a separate context. */
void follow(std::initializer_list<rocprofiler_callback_tracing_kind_t> kinds,
	    rocprofiler_callback_tracing_cb_t callback)
{
	auto ctx = begin();

	for (auto kind : kinds)
		check(rocprofiler_configure_callback_tracing_service(ctx, kind, nullptr, 0,
								     callback, nullptr));
	check(rocprofiler_start_context(ctx));
}

int initialize(rocprofiler_client_finalize_t, void *)
{
	auto operations = std::array<rocprofiler_tracing_operation_t, 2>{
		ROCPROFILER_HIP_RUNTIME_API_ID_hipSetDevice,
		ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevice};
	auto two = begin(), each = begin();
	auto status = rocprofiler_configure_callback_tracing_service(
		two, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, operations.data(),
		operations.size(), time_calls, &at_two);

	fprintf(stderr, "configure: two %s\n", rocprofiler_get_status_name(status));
	for (auto op : operations) {
		status = rocprofiler_configure_callback_tracing_service(
			each, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, &op, 1, name_calls,
			&at_each);
		fprintf(stderr, "configure: each %s\n", rocprofiler_get_status_name(status));
	}
	check(rocprofiler_start_context(two));
	check(rocprofiler_start_context(each));
	follow({ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API},
	       watch_hsa);
	follow({ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API}, show_arguments);
	follow({ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT}, follow_objects);
	return 0;
}
} // namespace

extern "C" rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t, const char *,
								      uint32_t,
								      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, nullptr,
							     nullptr};

	id->name = "documents";
	check(rocprofiler_at_intercept_table_registration(wrap, ROCPROFILER_HIP_RUNTIME_TABLE,
							  nullptr));
	return &result;
}
