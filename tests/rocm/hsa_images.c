/* SPDX-License-Identifier: MIT */
/* HSA's image and finalizer extensions: hsa_images [exported | table]. Calls each function once,
 * with known arguments: either those that the library exports or those from
 * hsa_system_get_major_extension_table(). Prints each result. */
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>
#include <stdio.h>
#include <string.h>

#include "hsa_gpu.h"

static hsa_ext_images_1_pfn_t exported_images(void)
{
	return (hsa_ext_images_1_pfn_t){
		.hsa_ext_image_get_capability = hsa_ext_image_get_capability,
		.hsa_ext_image_data_get_info = hsa_ext_image_data_get_info,
		.hsa_ext_image_create = hsa_ext_image_create,
		.hsa_ext_image_destroy = hsa_ext_image_destroy,
		.hsa_ext_image_copy = hsa_ext_image_copy,
		.hsa_ext_image_import = hsa_ext_image_import,
		.hsa_ext_image_export = hsa_ext_image_export,
		.hsa_ext_image_clear = hsa_ext_image_clear,
		.hsa_ext_sampler_create = hsa_ext_sampler_create,
		.hsa_ext_sampler_destroy = hsa_ext_sampler_destroy,
		.hsa_ext_image_get_capability_with_layout =
			hsa_ext_image_get_capability_with_layout,
		.hsa_ext_image_data_get_info_with_layout = hsa_ext_image_data_get_info_with_layout,
		.hsa_ext_image_create_with_layout = hsa_ext_image_create_with_layout,
	};
}

#define SAY(call) printf("%s 0x%x\n", strtok((char[]){#call}, "("), (call))

static void images(const hsa_ext_images_1_pfn_t *f)
{
	const hsa_ext_image_format_t format = {HSA_EXT_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8,
					       HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA};
	const hsa_ext_image_descriptor_t d = {HSA_EXT_IMAGE_GEOMETRY_2D, 64, 32, 0, 0, format};
	const hsa_ext_sampler_descriptor_t s = {HSA_EXT_SAMPLER_COORDINATE_MODE_UNNORMALIZED,
						HSA_EXT_SAMPLER_FILTER_MODE_LINEAR,
						HSA_EXT_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE};
	hsa_ext_image_data_info_t info = {0, 0};
	hsa_ext_image_t image = {0}, linear = {0};
	hsa_ext_sampler_t sampler = {0};
	uint32_t mask = 0, layout_mask = 0;
	void *memory = NULL;

	SAY(f->hsa_ext_image_get_capability(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &format, &mask));
	SAY(f->hsa_ext_image_get_capability_with_layout(gpu, HSA_EXT_IMAGE_GEOMETRY_2D, &format,
							HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR,
							&layout_mask));
	SAY(f->hsa_ext_image_data_get_info(gpu, &d, HSA_ACCESS_PERMISSION_RO, &info));
	printf("mask 0x%x 0x%x, size %zu\n", mask, layout_mask, info.size);
	hsa_amd_memory_pool_allocate(pool, 1 << 20, 0, &memory);
	SAY(f->hsa_ext_image_data_get_info_with_layout(gpu, &d, HSA_ACCESS_PERMISSION_RO,
						       HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 256, 8192,
						       &info));
	SAY(f->hsa_ext_image_create(gpu, &d, memory, HSA_ACCESS_PERMISSION_RO, &image));
	SAY(f->hsa_ext_image_create_with_layout(gpu, &d, memory, HSA_ACCESS_PERMISSION_RO,
						HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR, 256, 8192,
						&linear));
	SAY(f->hsa_ext_sampler_create(gpu, &s, &sampler));
	SAY(f->hsa_ext_sampler_destroy(gpu, sampler));
	SAY(f->hsa_ext_image_destroy(gpu, linear));
	SAY(f->hsa_ext_image_destroy(gpu, image));
	hsa_amd_memory_pool_free(memory);
}

/* Call the functions that move texels, with arguments that every runtime refuses. */
static void refused(const hsa_ext_images_1_pfn_t *f)
{
	const hsa_agent_t nobody = {0};
	const hsa_ext_image_t none = {0};
	const hsa_dim3_t zero = {0, 0, 0}, two = {2, 2, 1};
	const hsa_ext_image_region_t region = {zero, two};
	char texels[64] = {0};

	SAY(f->hsa_ext_image_import(nobody, texels, 8, 16, none, &region));
	SAY(f->hsa_ext_image_export(nobody, none, texels, 8, 16, &region));
	SAY(f->hsa_ext_image_copy(nobody, none, &zero, none, &zero, &two));
	SAY(f->hsa_ext_image_clear(nobody, none, texels, &region));
}

static void programs(void)
{
	const hsa_ext_control_directives_t directives = {.max_dynamic_group_size = 4096};
	const hsa_ext_program_t none = {0};
	const hsa_isa_t isa = {0};
	hsa_ext_program_t program = {0};
	hsa_code_object_t code = {0};
	uint32_t value;

	SAY(hsa_ext_program_create(HSA_MACHINE_MODEL_LARGE, HSA_PROFILE_FULL,
				   HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, "-O2", &program));
	SAY(hsa_ext_program_add_module(none, NULL));
	SAY(hsa_ext_program_iterate_modules(none, NULL, NULL));
	SAY(hsa_ext_program_get_info(none, HSA_EXT_PROGRAM_INFO_PROFILE, &value));
	SAY(hsa_ext_program_finalize(none, isa, HSA_EXT_FINALIZER_CALL_CONVENTION_AUTO, directives,
				     "-fast", HSA_CODE_OBJECT_TYPE_PROGRAM, &code));
	SAY(hsa_ext_program_destroy(none));
}

int main(int argc, char **argv)
{
	hsa_ext_images_1_pfn_t f = exported_images();

	if (hsa_init())
		return 1;
	hsa_iterate_agents(find_gpu, NULL);
	hsa_amd_agent_iterate_memory_pools(gpu, first_pool, NULL);
	if (argc > 1 && !strcmp(argv[1], "table")) {
		memset(&f, 0, sizeof f);
		if (hsa_system_get_major_extension_table(HSA_EXTENSION_IMAGES, 1, sizeof f, &f))
			return 2;
	}
	images(&f);
	refused(&f);
	programs();
	return hsa_shut_down() != 0;
}
