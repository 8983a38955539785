/* SPDX-License-Identifier: MIT */
/* Names and arguments for tools: values of live calls as text, with and without following pointers;
 * statuses; C++ types. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CL_TARGET_OPENCL_VERSION 300
#include "generated/hip_ops.h"
#include "generated/hip_wraps.h"
#include "generated/hsa_core_ops.h"
#include "generated/opencl_ops.h"
#include "generated/opencl_wraps.h"
#include "gputap/tool.h"
#include "record/operation.h"
#include "tool/tool_args.h"
#include "unit.h"

static char line[4096];

static int add(const struct gputap_argument *a, void *user)
{
	size_t at = strlen(line);

	(void)user;
	CHECK_EQ(a->size, sizeof *a);
	snprintf(line + at, sizeof line - at, "%s%s %s=%s", a->number ? "; " : "", a->type, a->name,
		 a->text);
	if (a->indirection)
		snprintf(line + strlen(line), sizeof line - strlen(line), " (%u/%u)",
			 a->dereferenced, a->indirection);
	return 0;
}

static bool begins; /* true if the call is about to be made; otherwise it returned `returned` */
static int32_t returned;

static const char *text(uint32_t domain, uint32_t operation, void *args, uint32_t dereference)
{
	struct gputap_call call = {.size = sizeof call,
				   .domain = domain,
				   .operation = operation,
				   .args = args,
				   .phase = begins ? GPUTAP_CALL_PHASE_ENTER
						   : GPUTAP_CALL_PHASE_EXIT,
				   .ret = &returned,
				   .ret_bytes = sizeof returned};

	line[0] = '\0';
	CHECK_OK(gputap_call_arguments(&call, dereference, add, NULL));
	return line;
}

UNIT_TEST(arguments_are_reported_as_they_lie_in_the_struct)
{
	struct gt_hip_args_hipLaunchKernel launch = {
		(void *)0x1000, {310, 311, 1}, {32, 33, 1}, (void **)0x2000, 64, NULL};
	struct gt_hip_args_hipMemcpyAsync copy = {(void *)0x10, (void *)0x20, 4096, 2,
						  (void *)0x30};

	CHECK_STR(text(GPUTAP_DOMAIN_HIP, GT_HIP_hipLaunchKernel, &launch, 0),
		  "const void * function_address=0x1000 (0/1); dim3 numBlocks={x=310, y=311, z=1}; "
		  "dim3 dimBlocks={x=32, y=33, z=1}; "
		  "void ** args=0x2000 (0/2); size_t sharedMemBytes=64; hipStream_t stream=NULL");
	CHECK_STR(text(GPUTAP_DOMAIN_HIP, GT_HIP_hipMemcpyAsync, &copy, 0),
		  "void * dst=0x10 (0/1); const void * src=0x20 (0/1); size_t sizeBytes=4096; "
		  "hipMemcpyKind kind=hipMemcpyDeviceToHost; "
		  "hipStream_t stream=0x30");
}

UNIT_TEST(pointers_are_followed_as_deep_as_asked)
{
	void *memory = (void *)0xabc0;
	struct gt_hip_args_hipMalloc args = {&memory, 16};
	char want[200];

	snprintf(want, sizeof want, "void ** ptr=0x%lx (0/2); size_t size=16",
		 (unsigned long)(uintptr_t)&memory);
	CHECK_STR(text(GPUTAP_DOMAIN_HIP, GT_HIP_hipMalloc, &args, 0), want);
	CHECK_STR(text(GPUTAP_DOMAIN_HIP, GT_HIP_hipMalloc, &args, 1),
		  "void ** ptr=0xabc0 (1/2); size_t size=16");
	/* the type that a void * points to is unknown */
	CHECK_STR(text(GPUTAP_DOMAIN_HIP, GT_HIP_hipMalloc, &args, 2),
		  "void ** ptr=0xabc0 (1/2); size_t size=16");
}

UNIT_TEST(pointers_that_cannot_be_read_are_addresses)
{
	struct gt_hip_args_hipMalloc wild = {(void **)0x10, 16}, null = {NULL, 16};
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gt_hip_args_hipModuleLoad load = {NULL, pages + 4096 - 3};

	unit_need_the_kernel();
	CHECK_STR(text(GPUTAP_DOMAIN_HIP, GT_HIP_hipMalloc, &wild, 3),
		  "void ** ptr=0x10 (0/2); size_t size=16");
	CHECK_STR(text(GPUTAP_DOMAIN_HIP, GT_HIP_hipMalloc, &null, 3),
		  "void ** ptr=NULL (0/2); size_t size=16");
	/* a text that continues in unreadable memory */
	memcpy(pages + 4096 - 3, "abc", 3);
	CHECK_EQ(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	CHECK_STR(text(GPUTAP_DOMAIN_HIP, GT_HIP_hipModuleLoad, &load, 1),
		  "hipModule_t * module=NULL (0/1); const char * fname=\"abc\" (1/1)");
	munmap(pages, 8192);
}

UNIT_TEST(arrays_strings_and_structs_read_as_in_exports)
{
	size_t global[3] = {64, 32, 1};
	struct gt_opencl_args_clEnqueueNDRangeKernel range = {.work_dim = 2,
							      .global_work_size = global};
	cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, 0x40, 0};
	struct gt_opencl_args_clCreateContext context = {.properties = properties};
	struct gt_opencl_args_clCreateKernel kernel = {NULL, "sgemm", NULL};

	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clEnqueueNDRangeKernel, &range, 1),
		     "global_work_size=[64, 32] (1/1)"));
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clEnqueueNDRangeKernel, &range, 0),
		     "global_work_offset=NULL (0/1)"));
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clCreateContext, &context, 1),
		     "{CL_CONTEXT_PLATFORM=0x40}"));
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clCreateKernel, &kernel, 1),
		     "kernel_name=\"sgemm\""));
	CHECK_NULL(
		strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clCreateKernel, &kernel, 0), "sgemm"));
}

UNIT_TEST(what_a_call_writes_is_shown_when_it_has_as_far_as_it_has)
{
	cl_platform_id platforms[3] = {(void *)0x10, (void *)0x20, (void *)0x30};
	cl_uint came = 2;
	cl_int status = CL_OUT_OF_RESOURCES;
	struct gt_opencl_args_clGetPlatformIDs ids = {3, platforms, &came};
	struct gt_opencl_args_clCreateKernel kernel = {NULL, "sgemm", &status};

	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clGetPlatformIDs, &ids, 1),
		     "platforms=[0x10, 0x20] (1/1)"));
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clGetPlatformIDs, &ids, 1),
		     "num_platforms=2 (1/1)"));
	came = 0;
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clGetPlatformIDs, &ids, 1),
		     "platforms=[] (1/1)"));
	ids.num_platforms = NULL; /* the count is unknown */
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clGetPlatformIDs, &ids, 1),
		     "platforms=0x"));
	ids.num_entries = 1;
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clGetPlatformIDs, &ids, 1),
		     "platforms=[0x10] (1/1)"));
	returned = CL_INVALID_VALUE; /* the call failed without setting the memory */
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clGetPlatformIDs, &ids, 1),
		     "platforms=0x"));
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clCreateKernel, &kernel, 1),
		     "errcode_ret=CL_OUT_OF_RESOURCES (1/1)"));
	begins = true;
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clGetPlatformIDs, &ids, 1),
		     "platforms=0x"));
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clCreateKernel, &kernel, 1),
		     "kernel_name=\"sgemm\" (1/1)"));
	CHECK(strstr(text(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clCreateKernel, &kernel, 1),
		     "errcode_ret=0x"));
}

static int stop_at_second(const struct gputap_argument *a, void *user)
{
	++*(int *)user;
	return a->number == 1 ? 42 : 0;
}

UNIT_TEST(iterating_ends_when_the_function_says_so)
{
	struct gt_hip_args_hipMemcpyAsync copy = {0};
	struct gputap_call call = {.size = sizeof call,
				   .domain = GPUTAP_DOMAIN_HIP,
				   .operation = GT_HIP_hipMemcpyAsync,
				   .args = &copy};
	int calls = 0;

	CHECK_EQ(gputap_call_arguments(&call, 0, stop_at_second, &calls), 42);
	CHECK_EQ(calls, 2);
	call.operation = GT_HIP_hipDeviceSynchronize; /* no arguments */
	call.args = NULL;
	CHECK_EQ(gputap_call_arguments(&call, 0, stop_at_second, &calls), 0);
	CHECK_EQ(calls, 2);
	CHECK_EQ(gputap_call_arguments(&call, 0, NULL, &calls), -EINVAL);
	CHECK_EQ(gputap_call_arguments(NULL, 0, stop_at_second, &calls), -EINVAL);
	call.operation = 60000;
	CHECK_EQ(gputap_call_arguments(&call, 0, stop_at_second, &calls), -EINVAL);
}

UNIT_TEST(a_calls_status_is_what_it_returned_or_wrote)
{
	struct gputap_call call = {.size = sizeof call,
				   .domain = GPUTAP_DOMAIN_HIP,
				   .operation = GT_HIP_hipMalloc,
				   .phase = GPUTAP_CALL_PHASE_ENTER};
	struct gt_opencl_args_clCreateKernel kernel = {NULL, "sgemm", NULL};
	int32_t ret = 2, status = 77;
	void *made = NULL;

	CHECK_EQ(gputap_call_has_failed(&call, &status), -ENODATA);
	call.phase = GPUTAP_CALL_PHASE_EXIT;
	call.ret = &ret;
	call.ret_bytes = sizeof ret;
	CHECK_EQ(gputap_call_has_failed(&call, &status), 1);
	CHECK_EQ(status, 2);
	ret = 600; /* "not ready" is not a failure */
	CHECK_EQ(gputap_call_has_failed(&call, &status), 0);
	call.domain = GPUTAP_DOMAIN_OPENCL;
	call.operation = GT_OPENCL_clCreateKernel;
	call.args = &kernel;
	call.ret = &made;
	call.ret_bytes = sizeof made;
	/* the call failed, but reported no status */
	CHECK_EQ(gputap_call_has_failed(&call, &status), -ENODATA);
	made = &kernel;
	CHECK_EQ(gputap_call_has_failed(&call, &status), 0);
	ret = CL_INVALID_KERNEL_NAME;
	kernel.errcode_ret = &ret;
	CHECK_EQ(gputap_call_has_failed(&call, &status), 1);
	CHECK_EQ(status, CL_INVALID_KERNEL_NAME);
	CHECK_EQ(gputap_call_has_failed(&call, NULL), -EINVAL);
}

static int count_names(uint32_t number, const char *name, void *user)
{
	uint32_t *last = user;

	CHECK_NOT_NULL(name);
	CHECK(number >= last[1]);
	last[0]++;
	last[1] = number + 1;
	return 0;
}

UNIT_TEST(everything_that_has_a_number_has_a_name)
{
	uint32_t seen[2] = {0}, named = 0;

	for (uint32_t domain = 1; domain < GT_DOMAIN_COUNT; domain++)
		named += gputap_domain_name(domain) != NULL;
	CHECK_EQ(gputap_domains_iterate(count_names, seen), 0);
	CHECK_EQ(seen[0], named);
	CHECK(named >= 9);
	CHECK_EQ(gputap_domains_iterate(NULL, seen), -EINVAL);
	memset(seen, 0, sizeof seen);
	CHECK_EQ(gputap_operations_iterate(GPUTAP_DOMAIN_HSA_CORE, count_names, seen), 0);
	CHECK_EQ(seen[0], 125);
	CHECK_EQ(gputap_operations_iterate(99, count_names, seen), -EINVAL);
	CHECK_STR(gputap_domain_name(GPUTAP_DOMAIN_HIP), "hip");
	CHECK_NULL(gputap_domain_name(0));
	CHECK_NULL(gputap_domain_name(GT_DOMAIN_COUNT - 2));
	CHECK_NULL(gputap_domain_name(1000));
	CHECK_EQ(gputap_domain_find("opencl"), GPUTAP_DOMAIN_OPENCL);
	CHECK_EQ(gputap_domain_find("nothing"), -ENOENT);
	CHECK_EQ(gputap_domain_find(NULL), -ENOENT);
	CHECK_STR(gputap_operation_name(GPUTAP_DOMAIN_HIP, 215), "hipMalloc");
	CHECK_NULL(gputap_operation_name(GPUTAP_DOMAIN_HIP, 65535));
	CHECK_NULL(gputap_operation_name(GPUTAP_DOMAIN_HIP, 215 + 65536));
	CHECK_NULL(gputap_operation_name(99, 0));
	CHECK_EQ(gputap_operation_find(GPUTAP_DOMAIN_HIP, "hipMalloc"), 215);
	CHECK_EQ(gputap_operation_find(GPUTAP_DOMAIN_HIP, "hipNothing"), -ENOENT);
	CHECK_EQ(gputap_operation_find(1000, "hipMalloc"), -ENOENT);
	CHECK_STR(gputap_status_name(GPUTAP_DOMAIN_HIP, 2), "hipErrorOutOfMemory");
	CHECK_NULL(gputap_status_name(GPUTAP_DOMAIN_HIP, 12345));
	CHECK_STR(gputap_event_name(GPUTAP_EVENT_LOSS), "loss");
	CHECK_NULL(gputap_event_name(0));
	for (uint32_t type = GPUTAP_ACTIVITY_KERNEL; type <= GPUTAP_ACTIVITY_SCRATCH; type++)
		CHECK_NOT_NULL(gputap_activity_name(type));
	CHECK_NULL(gputap_activity_name(GPUTAP_ACTIVITY_SCRATCH + 1));
	CHECK_STR(gputap_object_name(GPUTAP_OBJECT_KERNEL_SYMBOL), "kernel symbol");
	CHECK_NULL(gputap_object_name(GPUTAP_OBJECT_GRAPH + 1));
}

static const char *upstream(uint32_t operation, unsigned argument, const void *args,
			    uint32_t dereference)
{
	uint32_t followed;

	gt_tool_argument_text(GPUTAP_DOMAIN_HIP, operation, argument, args, dereference,
			      GT_TEXT_UPSTREAM, line, sizeof line, &followed);
	return line;
}

UNIT_TEST(texts_for_users_of_rocprofiler_sdk_are_as_they_know_them)
{
	struct gt_hip_args_hipLaunchKernel launch = {
		(void *)0x1000, {310, 310, 1}, {32, 32, 1}, NULL, 64, NULL};
	struct gt_hip_args_hipMemcpyAsync copy = {(void *)0x10, (void *)0x20, 4096, 2, NULL};
	struct gt_hip_args_hipModuleLoad load = {NULL, "kernels.co"};

	CHECK_STR(upstream(GT_HIP_hipLaunchKernel, 0, &launch, 0), "0x1000");
	CHECK_STR(upstream(GT_HIP_hipLaunchKernel, 1, &launch, 0), "{z=1, y=310, x=310}");
	CHECK_STR(upstream(GT_HIP_hipLaunchKernel, 3, &launch, 2), "(null)");
	CHECK_STR(upstream(GT_HIP_hipLaunchKernel, 5, &launch, 2), "(null)");
	CHECK_STR(upstream(GT_HIP_hipMemcpyAsync, 2, &copy, 0), "4096");
	CHECK_STR(upstream(GT_HIP_hipMemcpyAsync, 3, &copy, 0), "DeviceToHost");
	CHECK_STR(upstream(GT_HIP_hipModuleLoad, 1, &load, 0), "kernels.co");
}

UNIT_TEST(texts_are_cut_at_the_end_of_the_buffer_and_their_length_reported)
{
	struct gt_hip_args_hipLaunchKernel launch = {.numBlocks = {310, 310, 1}};
	char small[8];
	uint32_t followed;

	for (int style = 0; style < 2; style++) {
		memset(small, 'x', sizeof small);
		CHECK_EQ(gt_tool_argument_text(GPUTAP_DOMAIN_HIP, GT_HIP_hipLaunchKernel, 1,
					       &launch, 0, style, small, 6, &followed),
			 19);
		CHECK_EQ(strlen(small), 5);
		CHECK_EQ(small[6], 'x');
	}
}

UNIT_TEST(types_are_reported_as_typeid_names_them)
{
	CHECK_STR(gt_tool_argument_mangled(GPUTAP_DOMAIN_HIP, GT_HIP_hipLaunchKernel, 0), "PKv");
	CHECK_STR(gt_tool_argument_mangled(GPUTAP_DOMAIN_HIP, GT_HIP_hipLaunchKernel, 1),
		  "18rocprofiler_dim3_t");
	CHECK_STR(gt_tool_argument_mangled(GPUTAP_DOMAIN_HIP, GT_HIP_hipLaunchKernel, 3), "PPv");
	CHECK_STR(gt_tool_argument_mangled(GPUTAP_DOMAIN_HIP, GT_HIP_hipLaunchKernel, 4), "m");
	CHECK_STR(gt_tool_argument_mangled(GPUTAP_DOMAIN_HIP, GT_HIP_hipLaunchKernel, 5),
		  "P12ihipStream_t");
	CHECK_NULL(gt_tool_argument_mangled(GPUTAP_DOMAIN_HIP, GT_HIP_hipLaunchKernel, 6));
	CHECK_STR(gt_tool_argument_mangled(GPUTAP_DOMAIN_HIP, GT_HIP_hipMemcpyAsync, 3),
		  "13hipMemcpyKind");
	CHECK_STR(gt_tool_argument_mangled(GPUTAP_DOMAIN_HSA_CORE, GT_HSA_CORE_hsa_iterate_agents,
					   0),
		  "PF12hsa_status_t11hsa_agent_sPvE");
	CHECK_NULL(gt_tool_argument_mangled(GPUTAP_DOMAIN_OPENCL, GT_OPENCL_clCreateKernel, 0));
	CHECK_NULL(gt_tool_argument_mangled(99, 0, 0));
}
