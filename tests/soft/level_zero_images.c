/* SPDX-License-Identifier: MIT */
/* Uses images and samplers in Level Zero, for tests of the software devices and of their tracing.
 *
 *   level_zero_images copies          between images and memory, whole and in regions
 *   level_zero_images kernels FILE    kernels in FILE (SPIR-V or text) on images of each shape
 *   level_zero_images errors          refused arguments, and their errors */
#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                       \
	do {                                                                              \
		ze_result_t check_status = (call);                                        \
		if (check_status) {                                                       \
			printf("%d: %s: %#x\n", __LINE__, #call, (unsigned)check_status); \
			exit(1);                                                          \
		}                                                                         \
	} while (0)
#define EXPECT(condition)                                                 \
	do {                                                              \
		if (!(condition)) {                                       \
			printf("%d: not so: %s\n", __LINE__, #condition); \
			exit(1);                                          \
		}                                                         \
	} while (0)

enum { WIDTH = 16, HEIGHT = 8, DEPTH = 4, PIXELS = WIDTH * HEIGHT * DEPTH };

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;
static ze_command_list_handle_t list;

static ze_command_list_handle_t make_list(uint32_t ordinal)
{
	ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					.ordinal = ordinal,
					.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
	ze_command_list_handle_t made;

	CHECK(zeCommandListCreateImmediate(context, device, &desc, &made));
	return made;
}

static void start(void)
{
	ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	uint32_t count = 1;

	CHECK(zeInit(0));
	CHECK(zeDriverGet(&count, &driver));
	count = 1;
	CHECK(zeDeviceGet(driver, &count, &device));
	CHECK(zeContextCreate(driver, &desc, &context));
	list = make_list(0);
}

static void stop(void)
{
	CHECK(zeCommandListDestroy(list));
	CHECK(zeContextDestroy(context));
}

static void *allocate(size_t bytes)
{
	ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	void *memory;

	CHECK(zeMemAllocHost(context, &desc, bytes, 64, &memory));
	return memory;
}

static ze_image_desc_t describe(ze_image_type_t type, ze_image_format_layout_t layout,
				ze_image_format_type_t channel)
{
	return (ze_image_desc_t){.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
				 .flags = ZE_IMAGE_FLAG_KERNEL_WRITE,
				 .type = type,
				 .format = {layout, channel, ZE_IMAGE_FORMAT_SWIZZLE_R,
					    ZE_IMAGE_FORMAT_SWIZZLE_G, ZE_IMAGE_FORMAT_SWIZZLE_B,
					    ZE_IMAGE_FORMAT_SWIZZLE_A},
				 .width = WIDTH,
				 .height = HEIGHT,
				 .depth = DEPTH,
				 .arraylevels = DEPTH};
}

static ze_image_handle_t make_image(ze_image_type_t type, ze_image_format_layout_t layout,
				    ze_image_format_type_t channel)
{
	ze_image_desc_t desc = describe(type, layout, channel);
	ze_image_handle_t image;

	CHECK(zeImageCreate(context, device, &desc, &image));
	return image;
}

#define MAKE_UINT(type) \
	make_image(type, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, ZE_IMAGE_FORMAT_TYPE_UINT)

struct pixel {
	uint32_t channel[4];
};

/* Give each channel of each pixel a different number. */
static struct pixel *make_pixels(void)
{
	struct pixel *p = allocate(PIXELS * sizeof *p);

	for (uint32_t i = 0; i < PIXELS * 4; i++)
		p[i / 4].channel[i % 4] = i;
	return p;
}

/* Copies ------------------------------------------------------------------------------- */

/* Images of buffers, which PoCL has, are not used. */
static bool is_there(ze_image_type_t type)
{
	ze_image_desc_t desc =
		describe(type, ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, ZE_IMAGE_FORMAT_TYPE_UINT);
	ze_image_properties_t about = {.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES};

	return !zeImageGetProperties(device, &desc, &about);
}

static void try_whole(ze_image_type_t type, size_t pixels)
{
	struct pixel *in = make_pixels(), *out = allocate(PIXELS * sizeof *out);
	ze_image_handle_t one = MAKE_UINT(type), two = MAKE_UINT(type);

	memset(out, 0, PIXELS * sizeof *out);
	CHECK(zeCommandListAppendImageCopyFromMemory(list, one, in, NULL, NULL, 0, NULL));
	CHECK(zeCommandListAppendImageCopy(list, two, one, NULL, 0, NULL));
	CHECK(zeImageDestroy(one));
	CHECK(zeCommandListAppendImageCopyToMemory(list, out, two, NULL, NULL, 0, NULL));
	EXPECT(!memcmp(in, out, pixels * sizeof *out));
	if (pixels < PIXELS)
		EXPECT(out[pixels].channel[3] == 0);
	CHECK(zeImageDestroy(two));
	CHECK(zeMemFree(context, in));
	CHECK(zeMemFree(context, out));
}

/* Copy 3 x 2 x 2 pixels of one image to another position in another image, and to rows of 8 in
 * memory. */
static void try_regions(void)
{
	ze_image_region_t from = {4, 2, 1, 3, 2, 2}, to = {9, 5, 2, 3, 2, 2};
	struct pixel *in = make_pixels(), *out = allocate(PIXELS * sizeof *out);
	ze_image_handle_t one = MAKE_UINT(ZE_IMAGE_TYPE_3D), two = MAKE_UINT(ZE_IMAGE_TYPE_3D);

	memset(out, 0, PIXELS * sizeof *out);
	CHECK(zeCommandListAppendImageCopyFromMemory(list, one, in, NULL, NULL, 0, NULL));
	CHECK(zeCommandListAppendImageCopyRegion(list, two, one, &to, &from, NULL, 0, NULL));
	CHECK(zeCommandListAppendImageCopyToMemoryExt(list, out, two, &to, 8 * sizeof *out,
						      32 * sizeof *out, NULL, 0, NULL));
	for (size_t i = 0; i < 12; i++) {
		size_t x = i % 3, y = i / 3 % 2, z = i / 6;
		struct pixel *p = &in[((z + 1) * HEIGHT + y + 2) * WIDTH + x + 4];
		EXPECT(!memcmp(p, &out[z * 32 + y * 8 + x], sizeof *p));
	}
	EXPECT(!out[3].channel[3] && !out[16].channel[3]);
	CHECK(zeCommandListAppendImageCopyFromMemoryExt(list, two, in, &to, 8 * sizeof *in,
							32 * sizeof *in, NULL, 0, NULL));
	CHECK(zeCommandListAppendImageCopyToMemory(list, out, two, &to, NULL, 0, NULL));
	EXPECT(!memcmp(out + 3, in + 8, 3 * sizeof *in)); /* rows are contiguous now */
	EXPECT(!memcmp(out + 6, in + 32, 3 * sizeof *in));
	CHECK(zeImageDestroy(one));
	CHECK(zeImageDestroy(two));
	CHECK(zeMemFree(context, in));
	CHECK(zeMemFree(context, out));
}

/* Copy in a list that runs twice, on the copy engine, with an event. */
static void try_lists(void)
{
	ze_command_list_handle_t copies = make_list(1);
	ze_image_handle_t image = MAKE_UINT(ZE_IMAGE_TYPE_2D);
	ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
					  .flags = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
					  .count = 1};
	ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
	ze_kernel_timestamp_result_t times;
	struct pixel *in = make_pixels();
	ze_event_pool_handle_t pool;
	ze_event_handle_t event;

	CHECK(zeEventPoolCreate(context, &pool_desc, 1, &device, &pool));
	CHECK(zeEventCreate(pool, &event_desc, &event));
	CHECK(zeCommandListAppendImageCopyFromMemory(copies, image, in, NULL, event, 0, NULL));
	CHECK(zeEventHostSynchronize(event, UINT64_MAX));
	CHECK(zeEventQueryKernelTimestamp(event, &times));
	EXPECT(times.global.kernelStart != times.global.kernelEnd);
	CHECK(zeCommandListDestroy(copies));
	CHECK(zeEventDestroy(event));
	CHECK(zeEventPoolDestroy(pool));
	CHECK(zeImageDestroy(image));
	CHECK(zeMemFree(context, in));
}

static void try_copies(void)
{
	try_whole(ZE_IMAGE_TYPE_1D, WIDTH);
	try_whole(ZE_IMAGE_TYPE_1DARRAY, WIDTH * DEPTH);
	try_whole(ZE_IMAGE_TYPE_2D, WIDTH * HEIGHT);
	try_whole(ZE_IMAGE_TYPE_2DARRAY, WIDTH * HEIGHT * DEPTH);
	try_whole(ZE_IMAGE_TYPE_3D, WIDTH * HEIGHT * DEPTH);
	try_whole(ZE_IMAGE_TYPE_BUFFER, WIDTH);
	try_regions();
	try_lists();
}

/* Kernels ------------------------------------------------------------------------------ */

static ze_module_handle_t build(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = malloc(1 << 20);
	ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
				 .format = ZE_MODULE_FORMAT_NATIVE};
	ze_module_handle_t module;

	EXPECT(file && text);
	desc.inputSize = fread(text, 1, 1 << 20, file);
	desc.pInputModule = (uint8_t *)text;
	fclose(file);
	CHECK(zeModuleCreate(context, device, &desc, &module, NULL));
	free(text);
	return module;
}

static ze_kernel_handle_t make_kernel(ze_module_handle_t module, const char *name, uint32_t size)
{
	ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
	ze_kernel_handle_t kernel;

	CHECK(zeKernelCreate(module, &desc, &kernel));
	CHECK(zeKernelSetGroupSize(kernel, size, 1, 1));
	return kernel;
}

/* Read from a plane, or from the second slice or layer. The kernel increments each number. */
static void try_adding(ze_module_handle_t module, const char *name, ze_image_type_t type,
		       size_t first)
{
	ze_kernel_handle_t kernel = make_kernel(module, name, WIDTH);
	ze_image_handle_t in = MAKE_UINT(type), out = MAKE_UINT(ZE_IMAGE_TYPE_2D);
	struct pixel *pixels = make_pixels();
	ze_group_count_t groups = {1, HEIGHT, 1};

	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &in));
	CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof(void *), &out));
	for (uint32_t round = 1; round < 3; round++) { /* also sees changes by the host */
		struct pixel *sum = allocate(WIDTH * HEIGHT * sizeof *sum);
		for (uint32_t i = 0; i < PIXELS; i++)
			pixels[i].channel[2] = i * round;
		CHECK(zeCommandListAppendImageCopyFromMemory(list, in, pixels, NULL, NULL, 0,
							     NULL));
		CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
		CHECK(zeCommandListAppendImageCopyToMemory(list, sum, out, NULL, NULL, 0, NULL));
		for (uint32_t i = 0; i < WIDTH * HEIGHT * 4; i++)
			EXPECT(sum[i / 4].channel[i % 4] ==
			       pixels[first + i / 4].channel[i % 4] + 1);
		CHECK(zeMemFree(context, sum));
	}
	CHECK(zeImageDestroy(in));
	CHECK(zeImageDestroy(out));
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeMemFree(context, pixels));
}

/* Read bytes as fractions of 255. */
static void try_normalized(ze_module_handle_t module)
{
	ze_kernel_handle_t kernel = make_kernel(module, "read_1d", WIDTH);
	ze_image_handle_t in = make_image(ZE_IMAGE_TYPE_1D, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
					  ZE_IMAGE_FORMAT_TYPE_UNORM);
	unsigned char bytes[WIDTH * 4];
	float *out = allocate(sizeof(float) * WIDTH * 4);
	ze_group_count_t groups = {1, 1, 1};

	for (int i = 0; i < WIDTH * 4; i++)
		bytes[i] = (unsigned char)(i * 4);
	CHECK(zeCommandListAppendImageCopyFromMemory(list, in, bytes, NULL, NULL, 0, NULL));
	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &in));
	CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof(void *), &out));
	CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	for (int i = 0; i < WIDTH * 4; i++)
		EXPECT(out[i] > (float)(i * 4) / 255 - 0.001f &&
		       out[i] < (float)(i * 4) / 255 + 0.001f);
	CHECK(zeImageDestroy(in));
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeMemFree(context, out));
}

static void try_buffer(ze_module_handle_t module)
{
	ze_kernel_handle_t kernel = make_kernel(module, "read_buffer", WIDTH);
	ze_image_handle_t in = MAKE_UINT(ZE_IMAGE_TYPE_BUFFER);
	struct pixel *pixels = make_pixels(), *out = allocate(WIDTH * sizeof *out);
	ze_group_count_t groups = {1, 1, 1};

	CHECK(zeCommandListAppendImageCopyFromMemory(list, in, pixels, NULL, NULL, 0, NULL));
	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &in));
	CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof(void *), &out));
	CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	EXPECT(!memcmp(out, pixels, WIDTH * sizeof *out));
	CHECK(zeImageDestroy(in));
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeMemFree(context, pixels));
	CHECK(zeMemFree(context, out));
}

/* Read a pixel left of the image. The sampler returns the pixel at the edge, or the border. */
static void try_sampler(ze_module_handle_t module, ze_sampler_address_mode_t mode, uint32_t wanted)
{
	ze_sampler_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
				  .addressMode = mode,
				  .filterMode = ZE_SAMPLER_FILTER_MODE_NEAREST};
	ze_kernel_handle_t kernel = make_kernel(module, "sample", 1);
	ze_image_handle_t in = MAKE_UINT(ZE_IMAGE_TYPE_2D);
	struct pixel *pixels = make_pixels(), *out = allocate(sizeof *out);
	ze_group_count_t groups = {1, 1, 1};
	ze_sampler_handle_t sampler;
	int x = -3, y = 2;

	CHECK(zeSamplerCreate(context, device, &desc, &sampler));
	CHECK(zeCommandListAppendImageCopyFromMemory(list, in, pixels, NULL, NULL, 0, NULL));
	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &in));
	CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof(void *), &sampler));
	CHECK(zeKernelSetArgumentValue(kernel, 2, sizeof(void *), &out));
	CHECK(zeKernelSetArgumentValue(kernel, 3, sizeof x, &x));
	CHECK(zeKernelSetArgumentValue(kernel, 4, sizeof y, &y));
	CHECK(zeSamplerDestroy(sampler)); /* the kernel holds a reference to the sampler */
	CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	EXPECT(out->channel[0] == wanted);
	CHECK(zeImageDestroy(in));
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeMemFree(context, pixels));
	CHECK(zeMemFree(context, out));
}

/* Check that a view shows the pixels of the image. */
static void try_view(ze_module_handle_t module)
{
	ze_image_desc_t desc = describe(ZE_IMAGE_TYPE_1D, ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
					ZE_IMAGE_FORMAT_TYPE_UNORM);
	ze_kernel_handle_t kernel = make_kernel(module, "read_1d", WIDTH);
	ze_image_handle_t whole =
		make_image(ZE_IMAGE_TYPE_1D, ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_UINT);
	ze_image_memory_properties_exp_t about = {
		.stype = ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES};
	float *out = allocate(sizeof(float) * WIDTH * 4);
	ze_group_count_t groups = {1, 1, 1};
	uint32_t pixels[WIDTH] = {0xff00ff00};
	ze_image_handle_t view;

	CHECK(zeImageViewCreateExp(context, device, &desc, whole, &view));
	CHECK(zeImageGetMemoryPropertiesExp(view, &about));
	EXPECT(about.rowPitch == WIDTH * 4 && about.size == WIDTH * 4);
	CHECK(zeCommandListAppendImageCopyFromMemory(list, whole, pixels, NULL, NULL, 0, NULL));
	CHECK(zeImageDestroy(whole));
	CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof(void *), &view));
	CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof(void *), &out));
	CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
	EXPECT(out[0] == 0 && out[1] > 0.999f && out[2] == 0 && out[3] > 0.999f);
	CHECK(zeImageDestroy(view));
	CHECK(zeKernelDestroy(kernel));
	CHECK(zeMemFree(context, out));
}

static void try_kernels(const char *path)
{
	ze_module_handle_t module = build(path);

	try_adding(module, "add_2d", ZE_IMAGE_TYPE_2D, 0);
	try_adding(module, "add_3d", ZE_IMAGE_TYPE_3D, WIDTH * HEIGHT);
	try_adding(module, "add_layers", ZE_IMAGE_TYPE_2DARRAY, WIDTH * HEIGHT);
	try_normalized(module);
	if (is_there(ZE_IMAGE_TYPE_BUFFER))
		try_buffer(module);
	else
		printf("no images of buffers\n");
	try_sampler(module, ZE_SAMPLER_ADDRESS_MODE_CLAMP, 2 * WIDTH * 4);
	try_sampler(module, ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, 0);
	try_view(module);
	CHECK(zeModuleDestroy(module));
}

/* Errors ------------------------------------------------------------------------------- */

static void tell(const char *what, ze_result_t status)
{
	printf("%s: %#x\n", what, (unsigned)status);
}

/* Check that the third dimension of a region is ignored for a plane. */
static void try_third_dimension(void)
{
	ze_image_handle_t image = MAKE_UINT(ZE_IMAGE_TYPE_2D);
	ze_image_region_t region = {1, 1, 1, 1, 1, 1};
	struct pixel *in = make_pixels(), out;

	CHECK(zeCommandListAppendImageCopyFromMemory(list, image, in, NULL, NULL, 0, NULL));
	CHECK(zeCommandListAppendImageCopyToMemory(list, &out, image, &region, NULL, 0, NULL));
	EXPECT(out.channel[0] == in[WIDTH + 1].channel[0]);
	CHECK(zeImageDestroy(image));
	CHECK(zeMemFree(context, in));
}

static void try_errors(void)
{
	ze_image_desc_t desc =
		describe(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_NV12, ZE_IMAGE_FORMAT_TYPE_UINT);
	ze_image_handle_t image = MAKE_UINT(ZE_IMAGE_TYPE_2D), other;
	ze_image_region_t outside = {1, 0, 0, WIDTH, 1, 1};
	ze_image_properties_t about = {.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES};
	char bytes[100];

	tell("format of media", zeImageCreate(context, device, &desc, &other));
	desc.format.layout = ZE_IMAGE_FORMAT_LAYOUT_8;
	desc.format.type = ZE_IMAGE_FORMAT_TYPE_FLOAT;
	tell("float of 8 bits", zeImageGetProperties(device, &desc, &about));
	desc.format.type = ZE_IMAGE_FORMAT_TYPE_UINT;
	desc.width = 1 << 20;
	tell("image that is too wide", zeImageCreate(context, device, &desc, &other));
	tell("region outside",
	     zeCommandListAppendImageCopyToMemory(list, bytes, image, &outside, NULL, 0, NULL));
	tell("no handle", zeImageDestroy(NULL));
	tell("handle of another kind", zeImageDestroy((ze_image_handle_t)device));
	CHECK(zeImageDestroy(image));
	tell("image that was destroyed",
	     zeCommandListAppendImageCopyToMemory(list, bytes, image, NULL, NULL, 0, NULL));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	start();
	if (!strcmp(what, "copies"))
		try_copies();
	else if (!strcmp(what, "kernels") && argc > 2)
		try_kernels(argv[2]);
	else if (!strcmp(what, "errors")) {
		try_third_dimension();
		try_errors();
	} else
		return 2;
	stop();
	return 0;
}
