/* SPDX-License-Identifier: MIT */
/* Arguments as text, for real operations of OpenCL, and the facts that readers know about
 * operations. */
#include <pthread.h>
#include <stdio.h>

#include "record/operation.h"
#include "unit.h"

/* Payload of one argument, as in a record. */
struct part {
	unsigned arg, flags;
	const void *data;
	size_t bytes;
};
#define TEXT(arg, text)                       \
	{                                     \
		arg, 0, text, sizeof text - 1 \
	}
#define WORDS(arg, ...)                                                                          \
	{                                                                                        \
		arg, 0, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) \
	}

static uint8_t payload[4096];

static uint32_t pack(const struct part *parts, size_t count)
{
	uint8_t *at = payload;

	memset(payload, 0xee, sizeof payload);
	for (const struct part *p = parts; p < parts + count; p++) {
		struct gt_payload h = {(uint16_t)p->arg, (uint16_t)p->flags, (uint32_t)p->bytes};

		memcpy(at, &h, sizeof h);
		memcpy(at + sizeof h, p->data, p->bytes);
		at += sizeof h + ((p->bytes + 7) & ~(size_t)7);
	}
	return (uint32_t)(at - payload);
}

static uint32_t op_of(const char *name)
{
	const struct gt_operation_info *info = gt_operation_find(GT_DOMAIN_OPENCL, name);

	CHECK(info != NULL);
	return info->op;
}

static const char *formatted(const char *name, const uint64_t *args, const struct part *parts,
			     size_t count)
{
	static char text[1024];
	size_t n = gt_format_args(text, sizeof text, op_of(name), 0, args, payload,
				  pack(parts, count), ", ");

	CHECK_EQ(n, strlen(text));
	return text;
}

#define ARGS(...)           \
	(const uint64_t[])  \
	{                   \
		__VA_ARGS__ \
	}
#define PARTS(...)                          \
	(const struct part[]){__VA_ARGS__}, \
		sizeof((const struct part[]){__VA_ARGS__}) / sizeof(struct part)

UNIT_TEST(flags_are_named_and_what_has_no_name_is_shown)
{
	CHECK_STR(formatted("clCreateBuffer",
			    ARGS(0x55d0c8, 0x24 | UINT64_C(1) << 40, 1048576, 0, 0), NULL, 0),
		  "context=0x55d0c8, flags=CL_MEM_READ_ONLY|CL_MEM_COPY_HOST_PTR|0x10000000000, "
		  "size=1048576, host_ptr=NULL, "
		  "errcode_ret=CL_SUCCESS");
	CHECK_STR(formatted("clCreateBuffer", ARGS(1, 0, 0, 2, (uint64_t)-61), NULL, 0),
		  "context=0x1, flags=0, size=0, host_ptr=0x2, errcode_ret=CL_INVALID_BUFFER_SIZE");
	CHECK_STR(formatted("clGetDeviceIDs", ARGS(1, 0xffffffff, 0, 0, 0), NULL, 0),
		  "platform=0x1, device_type=CL_DEVICE_TYPE_ALL, num_entries=0, devices=NULL, "
		  "num_devices=0");
	CHECK_STR(formatted("clCreateBuffer", ARGS(1, UINT64_C(1) << 63, 0, 2, 0), NULL, 0),
		  "context=0x1, flags=0x8000000000000000, size=0, host_ptr=0x2, "
		  "errcode_ret=CL_SUCCESS");
}

UNIT_TEST(enums_are_named_or_shown_as_hexadecimal)
{
	CHECK_STR(formatted("clGetDeviceInfo", ARGS(1, 0x102b, 8, 0, 8), NULL, 0),
		  "device=0x1, param_name=CL_DEVICE_NAME, param_value_size=8, param_value=NULL, "
		  "param_value_size_ret=8");
	CHECK_STR(formatted("clGetDeviceInfo", ARGS(1, 0xabcd, 8, 0, 8), NULL, 0),
		  "device=0x1, param_name=0xabcd, param_value_size=8, param_value=NULL, "
		  "param_value_size_ret=8");
	CHECK_STR(formatted("clSetUserEventStatus", ARGS(1, (uint64_t)-14), NULL, 0),
		  "event=0x1, execution_status=-14");
	CHECK_STR(formatted("clSetUserEventStatus", ARGS(1, 0), NULL, 0),
		  "event=0x1, execution_status=CL_COMPLETE");
}

UNIT_TEST(every_name_of_a_status_is_found)
{
	CHECK_STR(gt_status_name(GT_DOMAIN_OPENCL, 0), "CL_SUCCESS");
	CHECK_STR(gt_status_name(GT_DOMAIN_OPENCL, -30), "CL_INVALID_VALUE");
	CHECK_STR(gt_status_name(GT_DOMAIN_OPENCL, -1138), "CL_INVALID_COMMAND_BUFFER_KHR");
	CHECK_STR(gt_status_name(GT_DOMAIN_OPENCL, -9999), "CL_NV_INVALID_MEM_ACCESS");
	CHECK(gt_status_name(GT_DOMAIN_OPENCL, -29) == NULL);
	CHECK(gt_status_name(GT_DOMAIN_OPENCL, 1) == NULL);
	CHECK(gt_status_name(GT_DOMAIN_OPENCL, INT32_MIN) == NULL);
	CHECK_STR(gt_status_name(GT_DOMAIN_HIP, 0), "hipSuccess");
	CHECK_STR(gt_status_name(GT_DOMAIN_HIP, 100), "hipErrorNoDevice");
	CHECK_STR(gt_status_name(GT_DOMAIN_LEVEL_ZERO, 0), "ZE_RESULT_SUCCESS");
}

UNIT_TEST(what_failed_is_the_domain_s_word)
{
	CHECK(!gt_status_failed(GT_DOMAIN_OPENCL, 0));
	CHECK(!gt_status_failed(GT_DOMAIN_OPENCL, 1));
	CHECK(gt_status_failed(GT_DOMAIN_OPENCL, -1));
	CHECK(!gt_status_failed(GT_DOMAIN_HIP, 0));
	CHECK(!gt_status_failed(GT_DOMAIN_HIP, 600)); /* hipErrorNotReady: the result of a query */
	CHECK(gt_status_failed(GT_DOMAIN_HIP, 1));
	CHECK(gt_status_failed(GT_DOMAIN_HIP, 100));
}

UNIT_TEST(arrays_show_their_elements_and_that_they_are_cut)
{
	CHECK_STR(
		formatted("clEnqueueNDRangeKernel", ARGS(1, 2, 3, 0, 0x7ff0, 0, 0, 0, 9),
			  PARTS(WORDS(4, 64, 2, 1))),
		"command_queue=0x1, kernel=0x2, work_dim=3, global_work_offset=NULL, "
		"global_work_size=[64, 2, 1], "
		"local_work_size=NULL, num_events_in_wait_list=0, event_wait_list=NULL, event=0x9");
	CHECK_STR(formatted("clWaitForEvents", ARGS(5, 0x7ff0),
			    PARTS({1, GT_PAYLOAD_TRUNCATED, ARGS(0xa, 0xb), 16})),
		  "num_events=5, event_list=[0xa, 0xb, ..]");
	CHECK_STR(formatted("clWaitForEvents", ARGS(5, 0x7ff0), NULL, 0),
		  "num_events=5, event_list=0x7ff0");
}

UNIT_TEST(property_lists_show_keys_and_values)
{
	CHECK_STR(formatted("clCreateCommandQueueWithProperties", ARGS(1, 2, 0x7ff0, 0),
			    PARTS(WORDS(2, 0x1093, 2, 0x7777, 5, 0))),
		  "context=0x1, device=0x2, "
		  "properties={CL_QUEUE_PROPERTIES=CL_QUEUE_PROFILING_ENABLE, 0x7777=0x5}, "
		  "errcode_ret=CL_SUCCESS");
	CHECK_STR(formatted("clCreateCommandQueueWithProperties", ARGS(1, 2, 0x7ff0, 0),
			    PARTS(WORDS(2, 0))),
		  "context=0x1, device=0x2, properties={}, errcode_ret=CL_SUCCESS");
}

UNIT_TEST(lists_lose_their_zero)
{
	CHECK_STR(formatted("clCreateSubDevices", ARGS(1, 0x7ff0, 0, 0, 2),
			    PARTS(WORDS(1, 0x1086, 4, 0))),
		  "in_device=0x1, partition_properties=[CL_DEVICE_PARTITION_EQUALLY, 0x4], "
		  "num_entries=0, out_devices=NULL, "
		  "num_devices=2");
}

UNIT_TEST(structs_show_their_members)
{
	CHECK_STR(formatted("clCreateSubBuffer", ARGS(1, 1, 0x1220, 0x7ff0, 0),
			    PARTS(WORDS(3, 4096, 64))),
		  "buffer=0x1, flags=CL_MEM_READ_WRITE, "
		  "buffer_create_type=CL_BUFFER_CREATE_TYPE_REGION, "
		  "buffer_create_info={origin=4096, size=64}, errcode_ret=CL_SUCCESS");
	CHECK_STR(
		formatted("clCreateImage2D", ARGS(1, 1, 0x7ff0, 7, 8, 0, 0, 0),
			  PARTS({2, 0, (const uint32_t[]){0x10b5, 0x10de}, 8})),
		"context=0x1, flags=CL_MEM_READ_WRITE, image_format={image_channel_order=CL_RGBA, "
		"image_channel_data_type=CL_FLOAT}, image_width=7, image_height=8, "
		"image_row_pitch=0, host_ptr=NULL, "
		"errcode_ret=CL_SUCCESS");
}

UNIT_TEST(strings_are_quoted_escaped_and_valid_utf8)
{
	CHECK_STR(formatted("clGetExtensionFunctionAddress", ARGS(0x7ff0),
			    PARTS(TEXT(0, "a\"b\\c\n\t\x01\x7f"))),
		  "function_name=\"a\\\"b\\\\c\\n\\t\\x01\\x7f\"");
	CHECK_STR(formatted("clGetExtensionFunctionAddress", ARGS(0x7ff0),
			    PARTS(TEXT(0, "gr\xc3\xb6\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"))),
		  "function_name=\"gr\xc3\xb6\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
	/* truncated, overlong, surrogate, beyond the last code point */
	CHECK_STR(formatted("clGetExtensionFunctionAddress", ARGS(0x7ff0),
			    PARTS(TEXT(0, "\xe2\x82"))),
		  "function_name=\"\\xe2\\x82\"");
	CHECK_STR(formatted("clGetExtensionFunctionAddress", ARGS(0x7ff0),
			    PARTS(TEXT(0, "\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80"))),
		  "function_name=\"\\xc0\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\"");
	CHECK_STR(formatted("clGetExtensionFunctionAddress", ARGS(0x7ff0),
			    PARTS({0, GT_PAYLOAD_TRUNCATED, "abc", 3})),
		  "function_name=\"abc\"..");
	CHECK_STR(formatted("clCreateProgramWithSource", ARGS(1, 2, 0x7ff0, 0, 0),
			    PARTS(TEXT(2, "kernel"))),
		  "context=0x1, count=2, strings=[\"kernel\", ..], lengths=NULL, "
		  "errcode_ret=CL_SUCCESS");
}

UNIT_TEST(kernel_arguments_read_as_numbers_or_bytes)
{
	CHECK_STR(formatted("clSetKernelArg", ARGS(1, 0, 4, 0x7ff0),
			    PARTS({3, 0, (const uint32_t[]){42}, 4})),
		  "kernel=0x1, arg_index=0, arg_size=4, arg_value=0x2a");
	CHECK_STR(formatted("clSetKernelArg", ARGS(1, 0, 3, 0x7ff0),
			    PARTS({3, 0, "\x01\x02\xff", 3})),
		  "kernel=0x1, arg_index=0, arg_size=3, arg_value=[01 02 ff]");
	CHECK_STR(formatted("clSetKernelArg", ARGS(1, 0, 9, 0x7ff0),
			    PARTS({3, GT_PAYLOAD_TRUNCATED, "\x01\x02", 2})),
		  "kernel=0x1, arg_index=0, arg_size=9, arg_value=[01 02 ..]");
	CHECK_STR(formatted("clSetKernelArg", ARGS(1, 0, 64, 0), NULL, 0),
		  "kernel=0x1, arg_index=0, arg_size=64, arg_value=NULL");
}

UNIT_TEST(text_that_does_not_fit_is_cut_and_its_length_reported)
{
	uint64_t args[] = {1, 0, 4, 0};
	char text[32], small[8] = "unused.";
	size_t whole = gt_format_args(NULL, 0, op_of("clSetKernelArg"), 0, args, NULL, 0, ", ");

	CHECK_EQ(whole, strlen("kernel=0x1, arg_index=0, arg_size=4, arg_value=NULL"));
	for (size_t size = 1; size <= sizeof text; size++) {
		memset(text, 'z', sizeof text);
		CHECK_EQ(gt_format_args(text, size, op_of("clSetKernelArg"), 0, args, NULL, 0,
					", "),
			 whole);
		CHECK_EQ(strlen(text), size - 1);
		CHECK_MEM(text, "kernel=0x1, arg_index=0, arg_size=4, arg_value=NULL", size - 1);
	}
	gt_format_args(small, 0, op_of("clSetKernelArg"), 0, args, NULL, 0, ", ");
	CHECK_STR(small, "unused.");
}

UNIT_TEST(one_argument_alone)
{
	uint64_t args[] = {1, 0, 4, 0};
	char text[64];

	CHECK_EQ(gt_format_arg(text, sizeof text, op_of("clSetKernelArg"), 2, args, NULL, 0), 1);
	CHECK_STR(text, "4");
	CHECK_EQ(gt_format_arg(text, sizeof text, op_of("clSetKernelArg"), 4, args, NULL, 0), 0);
	CHECK_STR(text, "");
}

UNIT_TEST(operations_of_a_newer_gputap_are_shown_as_words)
{
	char text[64];

	CHECK_EQ(gt_format_args(text, sizeof text, GT_OP(GT_DOMAIN_OPENCL, 9999, 2), 0,
				ARGS(16, 17), NULL, 0, ", "),
		 10);
	CHECK_STR(text, "0x10, 0x11");
	gt_format_args(text, sizeof text, GT_OP(200, 1, 1), 0, ARGS(16), NULL, 0, ", ");
	CHECK_STR(text, "0x10");
	/* clFlush has one argument */
	gt_format_args(text, sizeof text, GT_OP(GT_DOMAIN_OPENCL, 46, 2), 0, ARGS(16, 17), NULL, 0,
		       ", ");
	CHECK_STR(text, "command_queue=0x10, 0x11");
	CHECK_STR(gt_operation_name(GT_OP(GT_DOMAIN_OPENCL, 9999, 2)), "opencl#9999");
	CHECK_STR(gt_operation_name(GT_OP(200, 1, 1)), "unknown#1");
	CHECK(gt_operation(GT_OP(GT_DOMAIN_OPENCL, 75, 0)) == NULL);
}

UNIT_TEST(damaged_payload_is_not_followed)
{
	uint64_t args[] = {5, 0x7ff0};
	char text[256];
	uint32_t bytes = pack(PARTS(WORDS(1, 1, 2, 3)));

	for (uint32_t cut = 0; cut < bytes; cut++) {
		/* the sanitizers detect a read of one byte too many */
		uint8_t *exact = memcpy((uint8_t[4096]){0} + 4096 - cut, payload, cut);

		gt_format_args(text, sizeof text, op_of("clWaitForEvents"), 0, args, exact, cut,
			       ", ");
		CHECK_STR(text, "num_events=5, event_list=0x7ff0");
	}
	((struct gt_payload *)payload)->bytes = UINT32_MAX;
	gt_format_args(text, sizeof text, op_of("clWaitForEvents"), 0, args, payload, bytes, ", ");
	CHECK_STR(text, "num_events=5, event_list=0x7ff0");
	((struct gt_payload *)payload)->arg = 7;
	((struct gt_payload *)payload)->bytes = 23;
	gt_format_args(text, sizeof text, op_of("clWaitForEvents"), 0, args, payload, 31, ", ");
	CHECK_STR(text, "num_events=5, event_list=0x7ff0");
}

UNIT_TEST(status_of_a_call_is_where_its_description_says)
{
	int32_t status = 99;

	CHECK(gt_call_status(op_of("clFlush"), (uint64_t)-36, NULL, &status));
	CHECK_EQ(status, -36);
	CHECK(gt_call_status(op_of("clCreateBuffer"), 0, ARGS(1, 2, 3, 4, (uint64_t)-61), &status));
	CHECK_EQ(status, -61);
	CHECK(!gt_call_status(op_of("clSVMFree"), 0, ARGS(1, 2), &status));
	CHECK(!gt_call_status(GT_OP(GT_DOMAIN_OPENCL, 9999, 0), 0, NULL, &status));
	/* recorded without arguments */
	uint32_t bare = GT_OP(GT_DOMAIN_OPENCL, GT_OP_NUMBER(op_of("clCreateBuffer")), 0);

	CHECK(gt_call_status(bare, (uint64_t)-61, NULL, &status));
	CHECK_EQ(status, -61);
	CHECK(gt_call_status(bare, 0x7f0000001000, NULL, &status));
	CHECK_EQ(status, 0);
	CHECK(!gt_call_status(bare, 0, NULL, &status));
}

UNIT_TEST(the_description_says_which_copies_block)
{
	const uint64_t yes[] = {1, 2, 1}, no[] = {1, 2, 0};
	uint32_t op = GT_OP(GT_DOMAIN_OPENCL, 48, 3); /* clEnqueueReadBuffer */

	CHECK_EQ(gt_call_blocking(op, yes), GT_BLOCKING_YES);
	CHECK_EQ(gt_call_blocking(op, no), GT_BLOCKING_NO);
	CHECK_EQ(gt_call_blocking(op, NULL), GT_BLOCKING_UNKNOWN);
	CHECK_EQ(gt_call_blocking(GT_OP(GT_DOMAIN_OPENCL, 48, 2), yes), GT_BLOCKING_UNKNOWN);
	op = gt_operation_find(GT_DOMAIN_OPENCL, "clEnqueueCopyBuffer")->op;
	CHECK_EQ(gt_call_blocking(op, NULL), GT_BLOCKING_NO);
	op = gt_operation_find(GT_DOMAIN_HIP, "hipMemcpyWithStream")->op;
	CHECK_EQ(gt_call_blocking(op, NULL), GT_BLOCKING_YES);
	op = gt_operation_find(GT_DOMAIN_HIP, "hipMemcpyDtoHAsync")->op;
	CHECK_EQ(gt_call_blocking(op, NULL), GT_BLOCKING_NO);
	op = gt_operation_find(GT_DOMAIN_REFDEV, "refdevMemcpy")->op;
	CHECK_EQ(gt_call_blocking(op, NULL), GT_BLOCKING_YES);
}

UNIT_TEST(the_description_says_what_a_call_finishes)
{
	static const struct {
		enum gt_domain domain;
		const char *name;
		enum gt_finished finished;
	} calls[] = {
		{GT_DOMAIN_OPENCL, "clFinish", GT_FINISHED_QUEUE},
		{GT_DOMAIN_OPENCL, "clFlush", GT_FINISHED_NOTHING},
		{GT_DOMAIN_OPENCL, "clWaitForEvents", GT_FINISHED_EVENTS},
		{GT_DOMAIN_HIP, "hipDeviceSynchronize", GT_FINISHED_ALL},
		{GT_DOMAIN_HIP, "hipEventSynchronize", GT_FINISHED_EVENTS},
		{GT_DOMAIN_HIP, "hipStreamSynchronize", GT_FINISHED_STREAM},
		{GT_DOMAIN_HIP, "hipStreamSynchronize_spt", GT_FINISHED_NOTHING},
		{GT_DOMAIN_REFDEV, "refdevStreamSynchronize", GT_FINISHED_QUEUE},
		{GT_DOMAIN_LEVEL_ZERO, "zeCommandQueueSynchronize", GT_FINISHED_QUEUE},
		{GT_DOMAIN_LEVEL_ZERO, "zeEventHostSynchronize", GT_FINISHED_EVENTS},
	};

	for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
		CHECK_EQ(gt_operation_find(calls[i].domain, calls[i].name)->finished,
			 calls[i].finished);
}

UNIT_TEST(every_operation_is_found_by_number_and_name)
{
	unsigned known = 0;

	for (uint32_t i = 0; i < gt_operation_count(GT_DOMAIN_OPENCL); i++) {
		const struct gt_operation_info *info = gt_operation(GT_OP(GT_DOMAIN_OPENCL, i, 0));

		if (!info)
			continue;
		known++;
		CHECK_EQ(GT_OP_NUMBER(info->op), i);
		CHECK_EQ(GT_OP_NARGS(info->op), info->nargs);
		CHECK(gt_operation_find(GT_DOMAIN_OPENCL, info->name) == info);
		CHECK_EQ(info->in_table, i < 149);
		CHECK(info->kind < GT_KIND_COUNT);
		CHECK(info->status_arg < info->nargs);
		for (unsigned a = 0; a < info->nargs; a++)
			CHECK_EQ(info->args[a].name_bytes, strlen(info->args[a].name));
	}
	CHECK(known >= 133 + 74);
	CHECK(gt_operation_find(GT_DOMAIN_OPENCL, "clFlushh") == NULL);
	CHECK(gt_operation_find(GT_DOMAIN_NONE, "clFlush") == NULL);
}

UNIT_TEST(names_of_everything_that_records_number)
{
	CHECK_STR(gt_domain_name(GT_DOMAIN_OPENCL), "opencl");
	CHECK_STR(gt_domain_name((enum gt_domain)99), "unknown");
	CHECK_EQ(gt_domain_find("hsa_core"), GT_DOMAIN_HSA_CORE);
	CHECK_EQ(gt_domain_find("opencls"), GT_DOMAIN_NONE);
	for (int i = 1; i < GT_DEVICE_OP_COUNT; i++)
		CHECK(strcmp(gt_device_op_name((enum gt_device_op)i), "unknown") != 0);
	for (int i = 0; i < GT_DROP_REASON_COUNT; i++)
		CHECK(strcmp(gt_drop_reason_name((enum gt_drop_reason)i), "unknown") != 0);
	for (int i = 1; i < GT_EVENT_CODE_COUNT; i++)
		CHECK(strcmp(gt_event_code_name((enum gt_event_code)i), "unknown") != 0);
	for (int i = 0; i < GT_KIND_COUNT; i++)
		CHECK(strcmp(gt_operation_kind_name((enum gt_operation_kind)i), "unknown") != 0);
	CHECK_STR(gt_device_op_name((enum gt_device_op)0), "unknown");
	CHECK_STR(gt_drop_reason_name((enum gt_drop_reason)1000), "unknown");
}

enum { NAMES = 4000 };

struct namer {
	bool backwards;
	pthread_barrier_t *together;
	uint32_t ops[NAMES];
};

static void *name_operations(void *data)
{
	struct namer *n = data;
	const uint32_t op = gt_operation_find(GT_DOMAIN_PRIVATEUSE1, "pu1_runtime_call")->op;

	pthread_barrier_wait(n->together);
	for (unsigned i = 0; i < NAMES; i++) {
		unsigned k = n->backwards ? NAMES - 1 - i : i;
		char name[32];
		size_t bytes = (size_t)snprintf(name, sizeof name, "vendorCall%u", k);

		n->ops[k] = gt_operation_named(op, name, bytes);
		CHECK_STR(gt_operation_name(n->ops[k]), name);
	}
	return NULL;
}

UNIT_TEST(operations_that_captures_name_are_the_same_in_all_threads)
{
	static struct namer namers[2] = {{.backwards = false}, {.backwards = true}};
	pthread_barrier_t together;
	pthread_t threads[2];

	pthread_barrier_init(&together, NULL, 2);
	for (unsigned i = 0; i < 2; i++) {
		namers[i].together = &together;
		CHECK_EQ(pthread_create(&threads[i], NULL, name_operations, &namers[i]), 0);
	}
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < NAMES; i++)
		CHECK_EQ(namers[0].ops[i], namers[1].ops[i]);
}
