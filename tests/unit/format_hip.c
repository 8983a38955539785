/* SPDX-License-Identifier: MIT */
/* Arguments of HIP as text and by role, from HIP's description: features that OpenCL lacks
 * (tests/unit/format.c). */
#include <stdio.h>

#include "record/operation.h"
#include "unit.h"

static uint8_t payload[512];
static uint32_t payload_bytes;

static void put_payload(unsigned arg, const void *data, size_t bytes)
{
	struct gt_payload h = {(uint16_t)arg, 0, (uint32_t)bytes};

	memcpy(payload + payload_bytes, &h, sizeof h);
	memcpy(payload + payload_bytes + sizeof h, data, bytes);
	payload_bytes += (uint32_t)(sizeof h + ((bytes + 7) & ~(size_t)7));
}

static struct gt_call_view call_of(enum gt_domain domain, const char *name, const uint64_t *args)
{
	const struct gt_operation_info *info = gt_operation_find(domain, name);

	CHECK_NOT_NULL(info);
	return (struct gt_call_view){info->op, args, payload, payload_bytes};
}

static const char *formatted(const char *name, const uint64_t *args)
{
	static char text[1024];
	struct gt_call_view c = call_of(GT_DOMAIN_HIP, name, args);

	gt_format_args(text, sizeof text, c.op, 0, args, payload, payload_bytes, ", ");
	return text;
}

static uint64_t role_of(const char *name, const uint64_t *args, enum gt_role role, unsigned index)
{
	struct gt_call_view c = call_of(GT_DOMAIN_HIP, name, args);
	uint64_t value;

	CHECK(gt_call_role(&c, role, index, &value));
	return value;
}

static uint64_t bytes_of(const char *name, const uint64_t *args)
{
	struct gt_call_view c = call_of(GT_DOMAIN_HIP, name, args);
	uint64_t bytes;

	CHECK(gt_call_bytes(&c, &bytes));
	return bytes;
}

#define ARGS(...)           \
	(const uint64_t[])  \
	{                   \
		__VA_ARGS__ \
	}

UNIT_TEST(launches_show_grid_and_block)
{
	put_payload(1, (uint32_t[]){4096, 2, 1}, 12);
	put_payload(2, (uint32_t[]){256, 1, 1}, 12);
	CHECK_STR(formatted("hipLaunchKernel", ARGS(0x401000, 4096 | UINT64_C(2) << 32,
						    256 | UINT64_C(1) << 32, 0x7ff0, 64, 0)),
		  "function_address=0x401000, numBlocks={x=4096, y=2, z=1}, dimBlocks={x=256, y=1, "
		  "z=1}, args=0x7ff0, "
		  "sharedMemBytes=64, stream=NULL");
}

UNIT_TEST(enums_flags_and_floats_have_their_words)
{
	const float ms = 1.5f;
	uint32_t bits;

	memcpy(&bits, &ms, sizeof bits);
	CHECK_STR(formatted("hipMemcpy", ARGS(1, 2, 3, 2)),
		  "dst=0x1, src=0x2, sizeBytes=3, kind=hipMemcpyDeviceToHost");
	CHECK_STR(formatted("hipHostMalloc", ARGS(16, 8, 3)),
		  "ptr=0x10, size=8, flags=hipHostMallocPortable|hipHostMallocMapped");
	CHECK_STR(formatted("hipEventElapsedTime", ARGS(bits, 1, 2)),
		  "ms=1.5, start=0x1, stop=0x2");
	CHECK_STR(formatted("hipStreamBeginCapture", ARGS(1, 2)),
		  "stream=0x1, mode=hipStreamCaptureModeRelaxed");
	CHECK_STR(formatted("hipGetErrorName", ARGS(101)), "hip_error=hipErrorInvalidDevice");
}

UNIT_TEST(roles_tell_what_a_copy_is)
{
	const uint64_t *args = ARGS(0x1000, 0x2000, 4096, 1, 0x30);

	CHECK_EQ(role_of("hipMemcpyAsync", args, GT_ROLE_DESTINATION, 0), 0x1000);
	CHECK_EQ(role_of("hipMemcpyAsync", args, GT_ROLE_SOURCE, 0), 0x2000);
	CHECK_EQ(role_of("hipMemcpyAsync", args, GT_ROLE_DIRECTION, 0), 1);
	CHECK_EQ(role_of("hipMemcpyAsync", args, GT_ROLE_STREAM, 0), 0x30);
	CHECK_EQ(bytes_of("hipMemcpyAsync", args), 4096);
	CHECK_EQ(bytes_of("hipMemcpy2D", ARGS(1, 64, 2, 64, 48, 10, 1)), 480);
	CHECK_EQ(bytes_of("hipMemsetD32", ARGS(1, 2, 100)), 400);
}

UNIT_TEST(roles_are_found_inside_structs)
{
	/* hipMemcpy3DParms: source and destination arrays, positions, pitched pointers, extent,
	 * kind */
	const uint64_t parms[] = {0, 1, 2,      3,   0x5000, 512, 64, 8, 0, 0,
				  0, 0, 0x6000, 512, 64,     8,   64, 8, 2, 1};
	const uint64_t *args = ARGS(0x7000, 0x30);
	struct gt_call_view c;
	uint64_t value;

	put_payload(0, parms, sizeof parms);
	CHECK_EQ(role_of("hipMemcpy3DAsync", args, GT_ROLE_SOURCE, 0), 0x5000);
	CHECK_EQ(role_of("hipMemcpy3DAsync", args, GT_ROLE_DESTINATION, 0), 0x6000);
	CHECK_EQ(role_of("hipMemcpy3DAsync", args, GT_ROLE_DIRECTION, 0), 1);
	CHECK_EQ(bytes_of("hipMemcpy3DAsync", args), 64 * 8 * 2);
	c = call_of(GT_DOMAIN_HIP, "hipMemcpy3DAsync", args);
	c.payload_bytes = 40; /* from a damaged file */
	CHECK(!gt_call_role(&c, GT_ROLE_SOURCE, 0, &value));
	CHECK(!gt_call_bytes(&c, &value));
}

UNIT_TEST(roles_of_a_launch_are_the_same_however_it_is_made)
{
	const uint64_t *module = ARGS(0x11, 4, 3, 2, 64, 2, 1, 0, 0x30, 0, 0);

	put_payload(1, (uint32_t[]){4, 3, 2}, 12);
	put_payload(2, (uint32_t[]){64, 2, 1}, 12);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(role_of("hipLaunchKernel", ARGS(0x11, 0, 0, 0, 0, 0x30), GT_ROLE_GRID, i),
			 4 - i);
		CHECK_EQ(role_of("hipModuleLaunchKernel", module, GT_ROLE_GRID, i), 4 - i);
		CHECK_EQ(role_of("hipLaunchKernel", ARGS(0x11, 0, 0, 0, 0, 0x30), GT_ROLE_BLOCK, i),
			 role_of("hipModuleLaunchKernel", module, GT_ROLE_BLOCK, i));
	}
	CHECK_EQ(role_of("hipModuleLaunchKernel", module, GT_ROLE_FUNCTION, 0), 0x11);
	CHECK_EQ(role_of("hipModuleLaunchKernel", module, GT_ROLE_STREAM, 0), 0x30);
}

UNIT_TEST(allocations_say_address_and_bytes_also_in_two_dimensions)
{
	CHECK_EQ(role_of("hipMalloc", ARGS(0x9000, 128), GT_ROLE_ADDRESS, 0), 0x9000);
	CHECK_EQ(bytes_of("hipMalloc", ARGS(0x9000, 128)), 128);
	CHECK_EQ(bytes_of("hipMallocPitch", ARGS(0x9000, 512, 100, 4)), 400);
	CHECK_EQ(role_of("hipFree", ARGS(0x9000), GT_ROLE_ADDRESS, 0), 0x9000);
}

UNIT_TEST(calls_without_arguments_have_no_roles)
{
	struct gt_call_view c = call_of(GT_DOMAIN_HIP, "hipMemcpy", NULL);
	uint64_t value;

	c.op = GT_OP(GT_DOMAIN_HIP, GT_OP_NUMBER(c.op), 0);
	CHECK(!gt_call_role(&c, GT_ROLE_SOURCE, 0, &value));
	CHECK(!gt_call_bytes(&c, &value));
}
