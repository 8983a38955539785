/* SPDX-License-Identifier: MIT */
/* Allocates memory on two Level Zero devices. Second device: 3 MiB. First device: 1 MiB, 2 MiB that
 * it shares with the host, and an image of 64 x 32 elements of 4 bytes. Also 4 KiB of host
 * memory. */
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>

#define DO(call)                                                             \
	do {                                                                 \
		ze_result_t status_ = (call);                                \
		if (status_) {                                               \
			fprintf(stderr, "%s: status %#x\n", #call, status_); \
			exit(3);                                             \
		}                                                            \
	} while (0)

int main(void)
{
	ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	ze_device_mem_alloc_desc_t on_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	ze_host_mem_alloc_desc_t on_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	ze_image_desc_t image_desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
				      .type = ZE_IMAGE_TYPE_2D,
				      .format = {.layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
						 .type = ZE_IMAGE_FORMAT_TYPE_UINT,
						 .x = ZE_IMAGE_FORMAT_SWIZZLE_R,
						 .y = ZE_IMAGE_FORMAT_SWIZZLE_G,
						 .z = ZE_IMAGE_FORMAT_SWIZZLE_B,
						 .w = ZE_IMAGE_FORMAT_SWIZZLE_A},
				      .width = 64,
				      .height = 32};
	ze_device_handle_t devices[2];
	ze_context_handle_t context;
	ze_driver_handle_t driver;
	ze_image_handle_t image;
	void *first, *second, *shared, *host;
	uint32_t count = 1;

	DO(zeInit(0));
	DO(zeDriverGet(&count, &driver));
	count = 2;
	DO(zeDeviceGet(driver, &count, devices));
	DO(zeContextCreate(driver, &context_desc, &context));
	DO(zeMemAllocDevice(context, &on_device, 1 << 20, 64, devices[0], &first));
	DO(zeMemAllocDevice(context, &on_device, 3 << 20, 64, devices[1], &second));
	DO(zeMemAllocShared(context, &on_device, &on_host, 2 << 20, 64, devices[0], &shared));
	DO(zeMemAllocHost(context, &on_host, 4096, 64, &host));
	DO(zeImageCreate(context, devices[0], &image_desc, &image));
	DO(zeMemFree(context, second));
	return 0;
}
