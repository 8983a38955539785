/* SPDX-License-Identifier: MIT */
/* Modules, their build logs, kernels, and launches, each with a copy of its kernel's arguments at
 * the time when the launch was appended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/level_zero/level_zero_newer.h"
#include "soft/level_zero/level_zero_parts.h"

enum { GROUP_MOST = 1024, SUGGESTED_MOST = 256, INPUTS_MOST = 64 };

struct inputs {
	struct soft_cl_input each[INPUTS_MOST];
	const ze_module_constants_t *constants[INPUTS_MOST];
	unsigned count;
	const char *options;
};

static ze_result_t build_failed(char *why, struct soft_ze_log *log)
{
	soft_ze_set_error("cannot build a module: %s", why ? why : "no memory");
	if (log)
		log->text = why;
	else
		free(why);
	return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

/* Modules -------------------------------------------------------------------------------- */

/* Collect the inputs: a single one, or those of a program description. */
static bool collect_inputs(const ze_module_desc_t *desc, struct inputs *in)
{
	const ze_module_program_exp_desc_t *program = NULL;

	for (const ze_base_desc_t *next = desc->pNext; next; next = next->pNext)
		if (next->stype == ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
			program = (const void *)next;
	*in = (struct inputs){.count = program ? program->count : 1,
			      .options = desc->pBuildFlags ? desc->pBuildFlags : ""};
	if (!in->count || in->count > INPUTS_MOST)
		return false;
	for (unsigned i = 0; i < in->count; i++) {
		in->each[i].bytes = program ? program->pInputModules[i] : desc->pInputModule;
		in->each[i].size = program ? program->inputSizes[i] : desc->inputSize;
		in->constants[i] = !program              ? desc->pConstants
				   : program->pConstants ? program->pConstants[i]
							 : NULL;
		if (!in->each[i].bytes)
			return false;
	}
	return true;
}

static bool is_spirv(const struct soft_cl_input *input)
{
	uint32_t magic;

	if (input->size < sizeof magic)
		return false;
	memcpy(&magic, input->bytes, sizeof magic);
	return magic == SOFT_SPIRV_MAGIC;
}

static bool is_text(const struct soft_cl_input *input)
{
	size_t n = strlen(SOFT_CL_TEXT_MAGIC);

	return input->size > n && !memcmp(input->bytes, SOFT_CL_TEXT_MAGIC, n);
}

/* Read the code. SPIR-V is counted in words, the size of the program in bytes. */
static bool read_code(struct soft_ze_module *m, const struct soft_cl_input *input)
{
	uint32_t *words = malloc(input->size);
	bool good = words != NULL;

	if (good) {
		memcpy(words, input->bytes, input->size);
		good = soft_spirv_read(&m->code, words, input->size / sizeof *words);
	}
	free(words);
	return good;
}

/* Match the values from the program with the constants of this input, using the sizes declared in
 * the input. Return an array that the caller owns, or NULL if there are no values. */
static struct soft_cl_constant *match_constants(const struct soft_spirv *code, unsigned from,
						const ze_module_constants_t *given, unsigned *count)
{
	unsigned most = given ? given->numConstants : 0;
	struct soft_cl_constant *all = most ? calloc(most, sizeof *all) : NULL;

	*count = 0;
	for (unsigned i = 0; all && i < most; i++)
		for (unsigned k = from; k < code->constant_count; k++)
			if (code->constants[k].id == given->pConstantIds[i])
				all[(*count)++] =
					(struct soft_cl_constant){code->constants[k].id,
								  code->constants[k].bytes,
								  given->pConstantValues[i]};
	return all;
}

static ze_result_t build_spirv(struct soft_ze_module *m, struct inputs *in, struct soft_ze_log *log)
{
	struct soft_cl_constant *constants[INPUTS_MOST] = {NULL};
	const char *opencl = *soft_ze_config.opencl ? soft_ze_config.opencl : NULL;
	bool good = true;
	char *why = NULL;

	for (unsigned i = 0; i < in->count && good; i++) {
		unsigned before = m->code.constant_count;
		good = read_code(m, &in->each[i]);
		constants[i] = match_constants(&m->code, before, in->constants[i],
					       &in->each[i].constant_count);
		in->each[i].constants = constants[i];
	}
	if (!good)
		why = strdup("the SPIR-V is invalid");
	else if (soft_ze_config.execute) {
		m->program = soft_cl_build(opencl, SOFT_CL_SPIRV, in->each, in->count, "", &why);
		good = m->program != NULL;
	}
	for (unsigned i = 0; i < in->count; i++)
		free(constants[i]);
	return good ? ZE_RESULT_SUCCESS : build_failed(why, log);
}

static ze_result_t build_text(struct soft_ze_module *m, const struct inputs *in,
			      struct soft_ze_log *log)
{
	const char *opencl = *soft_ze_config.opencl ? soft_ze_config.opencl : NULL;
	char *why = NULL;

	m->program = soft_cl_build(opencl, SOFT_CL_TEXT, in->each, in->count, in->options, &why);
	if (!m->program)
		return build_failed(why, log);
	return soft_cl_describe(m->program, &m->code) ? ZE_RESULT_SUCCESS
						      : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t build_module(struct soft_ze_module *m, const ze_module_desc_t *desc,
				struct soft_ze_log *log)
{
	struct inputs in;
	bool spirv = true;

	if (!collect_inputs(desc, &in))
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (soft_ze_fails(SOFT_ZE_FAIL_MODULE))
		return build_failed(strdup("a requested fault (SOFT_LEVEL_ZERO_FAIL)"), log);
	for (unsigned i = 0; i < in.count; i++)
		spirv = spirv && is_spirv(&in.each[i]);
	m->input = malloc(in.each[0].size);
	if (!m->input)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	memcpy(m->input, in.each[0].bytes, in.each[0].size);
	m->input_bytes = in.each[0].size;
	if (spirv)
		return build_spirv(m, &in, log);
	if (desc->format == ZE_MODULE_FORMAT_IL_SPIRV)
		return build_failed(strdup("this is not SPIR-V"), log);
	return is_text(&in.each[0]) ? build_text(m, &in, log)
				    : ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
}

static void put_module(struct soft_ze_module *m)
{
	if (__atomic_sub_fetch(&m->users, 1, __ATOMIC_ACQ_REL))
		return;
	soft_cl_program_put(m->program);
	soft_spirv_fini(&m->code);
	free(m->input);
	soft_ze_object_destroy(m, SOFT_ZE_MODULE);
}

static struct soft_ze_module *get_module(struct soft_ze_module *m)
{
	__atomic_add_fetch(&m->users, 1, __ATOMIC_RELAXED);
	return m;
}

ze_result_t zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
			   const ze_module_desc_t *desc, ze_module_handle_t *out,
			   ze_module_build_log_handle_t *out_log)
{
	SOFT_ZE_OBJECT(c, soft_ze_context, context, SOFT_ZE_CONTEXT);
	SOFT_ZE_OBJECT(d, soft_ze_device, device, SOFT_ZE_DEVICE);
	struct soft_ze_log *log = NULL;
	struct soft_ze_module *m;
	ze_result_t status;

	if (!desc || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (out_log) {
		log = soft_ze_object_create(SOFT_ZE_LOG, sizeof *log);
		if (!log)
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		*out_log = (ze_module_build_log_handle_t)log;
	}
	m = soft_ze_object_create(SOFT_ZE_MODULE, sizeof *m);
	if (!m)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	m->users = 1;
	m->context = c;
	m->device = d;
	status = build_module(m, desc, log);
	if (status)
		put_module(m);
	else
		*out = (ze_module_handle_t)m;
	return status;
}

ze_result_t zeModuleDestroy(ze_module_handle_t handle)
{
	SOFT_ZE_OBJECT(m, soft_ze_module, handle, SOFT_ZE_MODULE);

	m->kind = 0;
	put_module(m);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t handle)
{
	SOFT_ZE_OBJECT(log, soft_ze_log, handle, SOFT_ZE_LOG);

	free(log->text);
	soft_ze_object_destroy(log, SOFT_ZE_LOG);
	return ZE_RESULT_SUCCESS;
}

/* Write a terminated text of at most *@bytes to @out, unless @out is NULL. Set *@bytes to the full
 * size. */
static ze_result_t give_text(const char *text, size_t *bytes, char *out)
{
	size_t all = strlen(text) + 1;

	if (!bytes)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (out && *bytes)
		memcpy(out, text, *bytes < all ? *bytes : all);
	*bytes = all;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t handle, size_t *bytes, char *out)
{
	SOFT_ZE_OBJECT(log, soft_ze_log, handle, SOFT_ZE_LOG);

	return give_text(log->text ? log->text : "", bytes, out);
}

/* Check the modules. The inputs of a module are linked when it is built. NEEDSWORK: symbols between
 * modules are not resolved, because OpenCL would require building the modules again. */
ze_result_t zeModuleDynamicLink(uint32_t count, ze_module_handle_t *modules,
				ze_module_build_log_handle_t *out_log)
{
	struct soft_ze_log *log;

	for (uint32_t i = 0; i < count; i++)
		if (!modules || !soft_ze_check(modules[i], SOFT_ZE_MODULE))
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	if (out_log) {
		log = soft_ze_object_create(SOFT_ZE_LOG, sizeof *log);
		if (!log)
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		*out_log = (ze_module_build_log_handle_t)log;
	}
	return ZE_RESULT_SUCCESS;
}

/* The native format of the device is the format of the module's input. */
ze_result_t zeModuleGetNativeBinary(ze_module_handle_t handle, size_t *bytes, uint8_t *out)
{
	SOFT_ZE_OBJECT(m, soft_ze_module, handle, SOFT_ZE_MODULE);

	if (!bytes)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (out)
		memcpy(out, m->input, *bytes < m->input_bytes ? *bytes : m->input_bytes);
	*bytes = m->input_bytes;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetGlobalPointer(ze_module_handle_t handle, const char *name, size_t *bytes,
				     void **out)
{
	SOFT_ZE_OBJECT(m, soft_ze_module, handle, SOFT_ZE_MODULE);
	size_t size = 0;
	void *address = NULL;

	if (!name)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!m->program || !soft_cl_find_global(m->program, name, &size, &address))
		return ZE_RESULT_ERROR_INVALID_GLOBAL_NAME;
	if (bytes)
		*bytes = size;
	if (out)
		*out = address;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetFunctionPointer(ze_module_handle_t handle, const char *name, void **out)
{
	SOFT_ZE_OBJECT(m, soft_ze_module, handle, SOFT_ZE_MODULE);

	if (!name || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	return m->program && soft_cl_find_function(m->program, name, out)
		       ? ZE_RESULT_SUCCESS
		       : ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
}

ze_result_t zeModuleGetKernelNames(ze_module_handle_t handle, uint32_t *count, const char **out)
{
	SOFT_ZE_OBJECT(m, soft_ze_module, handle, SOFT_ZE_MODULE);

	if (!count)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (!*count || *count > m->code.kernel_count)
		*count = m->code.kernel_count;
	for (uint32_t i = 0; out && i < *count; i++)
		out[i] = m->code.kernels[i].name;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetProperties(ze_module_handle_t handle, ze_module_properties_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_MODULE);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	out->flags = 0;
	return ZE_RESULT_SUCCESS;
}

/* Kernels -------------------------------------------------------------------------------- */

ze_result_t zeKernelCreate(ze_module_handle_t handle, const ze_kernel_desc_t *desc,
			   ze_kernel_handle_t *out)
{
	SOFT_ZE_OBJECT(m, soft_ze_module, handle, SOFT_ZE_MODULE);
	const struct soft_spirv_kernel *about;
	struct soft_ze_kernel *k;

	if (!desc || !desc->pKernelName || !out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	about = soft_spirv_find(&m->code, desc->pKernelName);
	if (!about)
		return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
	k = soft_ze_object_create(SOFT_ZE_KERNEL, sizeof *k);
	if (!k)
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	k->about = about;
	k->arguments = calloc(about->parameter_count + 1, sizeof *k->arguments);
	if (m->program && soft_ze_config.execute)
		k->code = soft_cl_kernel_create(m->program, about->name);
	if (!k->arguments || (m->program && soft_ze_config.execute && !k->code)) {
		free(k->arguments);
		soft_ze_object_destroy(k, SOFT_ZE_KERNEL);
		return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	}
	for (unsigned i = 0; i < 3; i++)
		k->group[i] = about->group[i] ? about->group[i] : 1;
	k->module = get_module(m);
	*out = (ze_kernel_handle_t)k;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelDestroy(ze_kernel_handle_t handle)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);

	for (unsigned i = 0; i < k->about->parameter_count; i++) {
		soft_cl_object_put(k->arguments[i].object);
		free(k->arguments[i].value);
	}
	free(k->arguments);
	soft_cl_kernel_put(k->code);
	put_module(k->module);
	soft_ze_object_destroy(k, SOFT_ZE_KERNEL);
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);
	const uint32_t *required = k->about->group;

	if (!x || !y || !z || (uint64_t)x * y * z > GROUP_MOST ||
	    (required[0] && (x != required[0] || y != required[1] || z != required[2])))
		return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
	k->group[0] = x;
	k->group[1] = y;
	k->group[2] = z;
	return ZE_RESULT_SUCCESS;
}

static uint32_t find_divisor(uint32_t size, uint32_t most)
{
	for (uint32_t n = most < size ? most : size; n > 1; n--)
		if (size % n == 0)
			return n;
	return 1;
}

ze_result_t zeKernelSuggestGroupSize(ze_kernel_handle_t handle, uint32_t size_x, uint32_t size_y,
				     uint32_t size_z, uint32_t *x, uint32_t *y, uint32_t *z)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);

	if (!x || !y || !z)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (k->about->group[0]) {
		*x = k->about->group[0];
		*y = k->about->group[1];
		*z = k->about->group[2];
		return ZE_RESULT_SUCCESS;
	}
	*x = find_divisor(size_x, SUGGESTED_MOST);
	*y = find_divisor(size_y, SUGGESTED_MOST / *x);
	*z = find_divisor(size_z, SUGGESTED_MOST / (*x * *y));
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t handle, uint32_t *out)
{
	SOFT_ZE_VALID(handle, SOFT_ZE_KERNEL);
	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = 1; /* OpenCL does not guarantee that two groups make progress at the same time */
	return ZE_RESULT_SUCCESS;
}

static bool is_handle(const struct soft_spirv_parameter *p)
{
	return p->kind == SOFT_SPIRV_IMAGE || p->kind == SOFT_SPIRV_SAMPLER;
}

/* Return the image or sampler whose handle is at @value, or NULL if the handle is invalid. */
static struct soft_cl_object *find_object(const struct soft_spirv_parameter *p, const void *value,
					  size_t bytes)
{
	const void *handle;

	if (!value || bytes != sizeof handle)
		return NULL;
	memcpy(&handle, value, sizeof handle);
	return soft_ze_find_object(p->kind, handle);
}

ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t index, size_t bytes,
				     const void *value)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);
	const struct soft_spirv_parameter *p;
	struct soft_cl_object *object;
	struct soft_ze_argument *a;
	void *room;

	if (index >= k->about->parameter_count)
		return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
	p = &k->about->parameters[index];
	a = &k->arguments[index];
	if (is_handle(p)) {
		object = soft_cl_object_get(find_object(p, value, bytes));
		if (!object)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		soft_cl_object_put(a->object);
		a->object = object;
	} else if (value && p->kind != SOFT_SPIRV_LOCAL) {
		room = realloc(a->value, bytes ? bytes : 1);
		if (!room)
			return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
		memcpy(room, value, bytes);
		a->value = room;
	}
	a->set = true;
	a->is_null = !value;
	a->bytes = bytes;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetIndirectAccess(ze_kernel_handle_t handle,
				      ze_kernel_indirect_access_flags_t flags)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);

	k->indirect = flags;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetIndirectAccess(ze_kernel_handle_t handle,
				      ze_kernel_indirect_access_flags_t *out)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	*out = k->indirect;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetCacheConfig(ze_kernel_handle_t handle, ze_cache_config_flags_t flags)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);

	(void)k, (void)flags;
	return ZE_RESULT_SUCCESS;
}

/* Return the group size attributes in the source. A vector type hint is not reported. */
ze_result_t zeKernelGetSourceAttributes(ze_kernel_handle_t handle, uint32_t *bytes, char **out)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);
	const uint32_t *hint = k->about->hint, *group = k->about->group;
	char text[256] = "";
	size_t n = 0, all = bytes ? *bytes : 0;
	ze_result_t status;

	if (!bytes)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (hint[0])
		n += (size_t)snprintf(text, sizeof text, "work_group_size_hint(%u,%u,%u)", hint[0],
				      hint[1], hint[2]);
	if (group[0])
		n += (size_t)snprintf(text + n, sizeof text - n, "%sreqd_work_group_size(%u,%u,%u)",
				      n ? " " : "", group[0], group[1], group[2]);
	if (k->about->subgroup)
		snprintf(text + n, sizeof text - n, "%sintel_reqd_sub_group_size(%u)", n ? " " : "",
			 k->about->subgroup);
	status = give_text(text, &all, out ? *out : NULL);
	*bytes = (uint32_t)all;
	return status;
}

ze_result_t zeKernelSetGlobalOffsetExp(ze_kernel_handle_t handle, uint32_t x, uint32_t y,
				       uint32_t z)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);

	k->offset[0] = x;
	k->offset[1] = y;
	k->offset[2] = z;
	return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetName(ze_kernel_handle_t handle, size_t *bytes, char *out)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);

	return give_text(k->about->name, bytes, out);
}

ze_result_t zeKernelGetProperties(ze_kernel_handle_t handle, ze_kernel_properties_t *out)
{
	SOFT_ZE_OBJECT(k, soft_ze_kernel, handle, SOFT_ZE_KERNEL);
	uint64_t local = 0, private_bytes = 0;

	if (!out)
		return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
	if (k->code)
		soft_cl_kernel_memory(k->code, &local, &private_bytes);
	out->numKernelArgs = k->about->parameter_count;
	out->requiredGroupSizeX = k->about->group[0];
	out->requiredGroupSizeY = k->about->group[1];
	out->requiredGroupSizeZ = k->about->group[2];
	out->requiredNumSubGroups = 0;
	out->requiredSubgroupSize = k->about->subgroup;
	out->maxSubgroupSize = 32;
	out->maxNumSubgroups = GROUP_MOST / 32;
	out->localMemSize = (uint32_t)local;
	out->privateMemSize = (uint32_t)private_bytes;
	out->spillMemSize = 0;
	memset(&out->uuid, 0, sizeof out->uuid);
	for (ze_base_properties_t *next = out->pNext; next; next = next->pNext) {
		if (next->stype == ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES)
			((ze_kernel_preferred_group_size_properties_t *)next)->preferredMultiple =
				16;
		if ((int)next->stype == NEWER_STYPE_MAX_GROUP_SIZE)
			((struct newer_max_group_size *)next)->most = GROUP_MOST;
	}
	return ZE_RESULT_SUCCESS;
}

/* Launches ------------------------------------------------------------------------------- */

void soft_ze_launch_destroy(struct soft_ze_launch *l)
{
	for (unsigned i = 0; i < l->argument_count; i++) {
		soft_cl_object_put(l->arguments[i].object);
		free(l->arguments[i].value);
	}
	free(l->arguments);
	soft_cl_kernel_put(l->code);
	put_module(l->module);
	free(l);
}

/* Set an argument. Use the size that the kernel declares, because programs pass larger sizes, and
 * NULL for a value of zero. */
static bool fill_argument(struct soft_cl_argument *a, const struct soft_spirv_parameter *p,
			  const void *value, size_t given, struct soft_cl_object *object)
{
	void *room;

	a->kind = p->kind;
	if (is_handle(p)) {
		soft_cl_object_get(object);
		soft_cl_object_put(a->object);
		a->object = object;
		return true;
	}
	a->is_null = !value;
	a->bytes = p->kind == SOFT_SPIRV_LOCAL || !p->bytes ? given : p->bytes;
	if (p->kind == SOFT_SPIRV_LOCAL)
		return true;
	room = calloc(1, a->bytes ? a->bytes : 1);
	if (!room)
		return false;
	if (value)
		memcpy(room, value, given < a->bytes ? given : a->bytes);
	free(a->value);
	a->value = room;
	return true;
}

ze_result_t soft_ze_launch_set(struct soft_ze_launch *l, uint32_t index, size_t bytes,
			       const void *value)
{
	const struct soft_spirv_parameter *p;
	struct soft_cl_object *object;

	if (index >= l->argument_count)
		return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
	p = &l->about->parameters[index];
	object = is_handle(p) ? find_object(p, value, bytes) : NULL;
	if (is_handle(p) && !object)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	return fill_argument(&l->arguments[index], p, value, bytes, object)
		       ? ZE_RESULT_SUCCESS
		       : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

/* Set all arguments. @arguments: from a launch that passes its arguments; each points to a value,
 * or to the size of local memory. */
static bool fill_arguments(struct soft_ze_launch *l, const struct soft_ze_kernel *k,
			   void **arguments)
{
	for (unsigned i = 0; i < l->argument_count; i++) {
		const struct soft_spirv_parameter *p = &k->about->parameters[i];
		const struct soft_ze_argument *a = &k->arguments[i];
		const void *value = arguments               ? arguments[i]
				    : a->set && !a->is_null ? a->value
							    : NULL;
		size_t bytes = arguments ? p->bytes : a->bytes;
		struct soft_cl_object *object =
			arguments && is_handle(p) ? find_object(p, value, bytes) : a->object;
		if (arguments && p->kind == SOFT_SPIRV_LOCAL && value)
			memcpy(&bytes, value, sizeof bytes);
		if (!fill_argument(&l->arguments[i], p, value, bytes, object))
			return false;
	}
	return true;
}

struct soft_ze_launch *soft_ze_launch_create(struct soft_ze_kernel *k, const uint32_t groups[3],
					     const uint32_t group[3], void **arguments)
{
	struct soft_ze_launch *l = calloc(1, sizeof *l);

	if (!l)
		return NULL;
	l->module = get_module(k->module);
	l->about = k->about;
	l->code = soft_cl_kernel_get(k->code);
	memcpy(l->groups, groups, sizeof l->groups);
	memcpy(l->offset, k->offset, sizeof l->offset);
	for (unsigned i = 0; i < 3; i++)
		l->group[i] = group[i] ? group[i] : 1;
	l->arguments = calloc(k->about->parameter_count + 1, sizeof *l->arguments);
	if (l->arguments)
		l->argument_count = k->about->parameter_count;
	if (!l->arguments || !fill_arguments(l, k, arguments)) {
		soft_ze_launch_destroy(l);
		return NULL;
	}
	return l;
}
