/* SPDX-License-Identifier: MIT */
/* analysis/model/occupancy.h, and the Chrome JSON for CUDA's kernels, memcpys, streams and
 * devices. */
#include "analysis/model/occupancy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/formats.h"
#include "fake_capture.h"
#include "unit.h"

#define H100                                                                              \
	"name=NVIDIA H100\0totalGlobalMem=85029158912\0computeMajor=9\0computeMinor=0\0"  \
	"maxThreadsPerBlock=1024\0maxThreadsPerMultiprocessor=2048\0regsPerBlock=65536\0" \
	"warpSize=32\0sharedMemPerBlock=49152\0numSms=132\0regsPerMultiprocessor=65536\0" \
	"sharedMemPerBlockOptin=232448\0sharedMemPerMultiprocessor=233472\0"              \
	"maxBlocksPerMultiprocessor=32\0reservedSharedMemPerBlock=1024\0"

static const struct gt_object_info h100 = {.type = GT_OBJECT_DEVICE, .text = H100};

static uint32_t blocks_of(uint32_t threads, uint32_t registers, uint32_t shared_bytes)
{
	const struct gt_occupancy_kernel k = {registers, shared_bytes, threads, 1};
	struct gt_occupancy_device d;
	uint32_t blocks;

	gt_occupancy_device_read(&d, &h100);
	return gt_occupancy_blocks(&d, &k, &blocks) ? blocks : UINT32_MAX;
}

/* Results of NVIDIA's occupancy calculator for compute capability 9.0. */
UNIT_TEST(blocks_at_once_go_by_threads_registers_and_shared_memory)
{
	CHECK_EQ(blocks_of(256, 32, 0), 8);
	CHECK_EQ(blocks_of(32, 16, 0), 32);
	CHECK_EQ(blocks_of(256, 40, 0), 6);
	CHECK_EQ(blocks_of(1024, 64, 0), 1);
	CHECK_EQ(blocks_of(128, 255, 0), 2);
	CHECK_EQ(blocks_of(128, 32, 100 << 10), 2);
	CHECK_EQ(blocks_of(100, 32, 0), 16); /* four warps */
	CHECK_EQ(blocks_of(1024, 255, 0), 0);
	CHECK_EQ(blocks_of(256, 0, 0), UINT32_MAX); /* unknown */
}

UNIT_TEST(of_a_device_that_says_nothing_no_occupancy_is_known)
{
	const struct gt_object_info device = {.type = GT_OBJECT_DEVICE, .text = "name=a GPU\0"};
	const struct gt_occupancy_kernel k = {32, 0, 256, 1};
	struct gt_occupancy_device d;
	uint32_t percent;

	gt_occupancy_device_read(&d, &device);
	CHECK(!gt_occupancy_percent(&d, &k, &percent));
}

/* Chrome JSON ---------------------------------------------------------------------- */

static struct gt_capture capture;

/* Return the part of the line with @name from @key to the last brace. */
static const char *exported(const char *name, const char *key)
{
	static char line[4096];
	char path[256], *at = NULL;
	FILE *file;

	snprintf(path, sizeof path, "%s/test.json", unit_folder());
	capture.health.bytes = 1000;
	CHECK_OK(gt_export(&gt_exporter_chrome, &capture, path, true, NULL));
	file = fopen(path, "r");
	CHECK_NOT_NULL(file);
	while (!at && fgets(line, sizeof line, file))
		at = strstr(line, name) ? strstr(line, key) : NULL;
	fclose(file);
	if (at)
		at[strcspn(at, "}\n")] = '\0';
	return at ? at : "not there";
}

static struct gt_item *activity(const struct gt_object_info *queue, enum gt_device_op op,
				uint32_t name)
{
	struct gt_item *w = fake_activity(&capture, queue, op, name, 5000, 6000, 0);

	w->op = GT_DEVICE_REF(GT_DOMAIN_CUDA_DRIVER, 1);
	return w;
}

UNIT_TEST(a_cuda_kernel_and_a_copy_have_what_torch_profiler_says_of_them)
{
	struct gt_object_info *queue, *symbol;
	struct gt_item *w;

	fake_capture_init(&capture);
	capture.object[0].text = H100;
	queue = &capture.object[1];
	queue->text = "context=3\0label=copies\0";
	symbol = &capture.object[capture.objects++];
	*symbol = (struct gt_object_info){.type = GT_OBJECT_KERNEL_SYMBOL,
					  .domain = GT_DOMAIN_CUDA_DRIVER,
					  .number = 7,
					  .text = "name=add\0registers=40\0"};
	capture.string[1] = "add";
	capture.string[2] = "Memcpy HtoD (Pageable -> Device)";
	w = activity(queue, GT_DEVICE_KERNEL, 1);
	w->object[1] = GT_KERNEL_DETAIL(7, 4096, 0);
	w->global[0] = 66 * 256;
	w->local[0] = 256;
	w->global[1] = w->global[2] = w->local[1] = w->local[2] = 1;
	w = activity(queue, GT_DEVICE_WRITE, 2);
	w->bytes = 4000;

	CHECK_STR(exported("\"add\"", "\"context\""),
		  "\"context\":3,\"stream\":1,\"registers per thread\":40,\"shared memory\":4096,"
		  "\"blocks per SM\":0.500000,\"warps per SM\":4.000000,"
		  "\"global size\":[16896,1,1],\"grid\":[66,1,1],\"block\":[256,1,1],"
		  "\"est. achieved occupancy %\":6");
	CHECK_STR(exported("\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\"",
			   "\"bytes\""),
		  "\"bytes\":4000,\"memory bandwidth (GB/s)\":4.000");
	CHECK_STR(exported("thread_name\",\"pid\":0", "\"name\":\"stream"),
		  "\"name\":\"stream 1: copies\"");
	CHECK_STR(exported("NVIDIA H100", "\"totalGlobalMem\""),
		  "\"totalGlobalMem\":85029158912,\"computeMajor\":9,\"computeMinor\":0,"
		  "\"maxThreadsPerBlock\":1024,\"maxThreadsPerMultiprocessor\":2048,"
		  "\"regsPerBlock\":65536,\"warpSize\":32,\"sharedMemPerBlock\":49152,"
		  "\"numSms\":132,\"regsPerMultiprocessor\":65536,"
		  "\"sharedMemPerBlockOptin\":232448,\"sharedMemPerMultiprocessor\":233472");
	fake_capture_fini(&capture);
}
