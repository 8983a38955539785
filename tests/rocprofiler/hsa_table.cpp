/* SPDX-License-Identifier: MIT */
/* A client that knows HSA's table from the headers of the installed ROCm, and replaces an entry
 * after the position where later ROCm versions have more entries. */
#include <stdint.h>
#include <stdio.h>

#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static decltype(hsa_amd_memory_pool_allocate) *next;

static hsa_status_t allocate(hsa_amd_memory_pool_t pool, size_t bytes, uint32_t flags, void **out)
{
	hsa_status_t status = next(pool, bytes, flags, out);

	fprintf(stderr, "allocated %zu: %d %d\n", bytes, status, *out != nullptr);
	return status;
}

static void on_table(rocprofiler_intercept_table_t, uint64_t, uint64_t, void **tables, uint64_t,
		     void *)
{
	HsaApiTable *t = static_cast<HsaApiTable *>(tables[0]);

	fprintf(stderr, "sizes right: %d %d %d, images %d\n", t->version.minor_id == sizeof *t,
		t->core_->version.minor_id == sizeof *t->core_,
		t->amd_ext_->version.minor_id == sizeof *t->amd_ext_, t->image_ext_ != nullptr);
	next = t->amd_ext_->hsa_amd_memory_pool_allocate_fn;
	t->amd_ext_->hsa_amd_memory_pool_allocate_fn = allocate;
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	return rocprofiler_at_intercept_table_registration(on_table, ROCPROFILER_HSA_TABLE,
							   nullptr);
}

extern "C" rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t, const char *,
								      uint32_t,
								      rocprofiler_client_id_t *)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, nullptr,
							     nullptr};

	return &result;
}
