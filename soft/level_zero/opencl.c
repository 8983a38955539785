/* SPDX-License-Identifier: MIT */
/* The OpenCL that runs kernels: see opencl.h.
 *
 * Locking: a kernel's lock is held from setting its first argument until the kernel is enqueued,
 * because arguments are state of the OpenCL kernel. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/level_zero/opencl_parts.h"

#define NO_TEXT      "no OpenCL driver supports the CPU: install PoCL (see 'gputap doctor')"
#define TEXT_OPTIONS "-cl-kernel-arg-info"
enum { INPUTS_MOST = 64 };

struct soft_cl_program {
	const struct soft_cl_runtime *runtime;
	cl_program handle;
	uint32_t users; /* atomic */
};

struct soft_cl_kernel {
	struct soft_cl_program *program;
	cl_kernel handle;
	pthread_mutex_t lock;
	uint32_t users; /* atomic */
};

struct soft_cl_queue {
	const struct soft_cl_runtime *runtime;
	cl_command_queue handle;
	struct soft_cl_queue *next; /* queue of another OpenCL runtime */
};

/* Programs ----------------------------------------------------------------------------- */

static char *get_log(const struct soft_cl_runtime *r, cl_program program, cl_int status)
{
	char *text = NULL;
	size_t n = 0;

	if (program)
		r->call->clGetProgramBuildInfo(program, r->device, CL_PROGRAM_BUILD_LOG, 0, NULL,
					       &n);
	if (n > 1) {
		text = calloc(1, n + 1);
		if (text)
			r->call->clGetProgramBuildInfo(program, r->device, CL_PROGRAM_BUILD_LOG, n,
						       text, NULL);
		return text;
	}
	if (asprintf(&text, "OpenCL status %d", status) < 0)
		return NULL;
	return text;
}

static cl_program create_part(const struct soft_cl_runtime *r, enum soft_cl_language language,
			      const struct soft_cl_input *input, cl_int *status)
{
	const char *text = input->bytes;
	cl_program p;

	if (language == SOFT_CL_TEXT)
		return r->call->clCreateProgramWithSource(r->context, 1, &text, &input->size,
							  status);
	p = r->call->clCreateProgramWithIL(r->context, input->bytes, input->size, status);
	for (unsigned i = 0; p && !*status && i < input->constant_count; i++)
		*status = r->call->clSetProgramSpecializationConstant(p, input->constants[i].id,
								      input->constants[i].bytes,
								      input->constants[i].value);
	return p;
}

static cl_program link_parts(const struct soft_cl_runtime *r, cl_program *parts, unsigned count,
			     const char *options, cl_int *status, char **log)
{
	cl_program p = NULL;

	for (unsigned i = 0; i < count && !*status; i++) {
		*status = r->call->clCompileProgram(parts[i], 1, &r->device, options, 0, NULL, NULL,
						    NULL, NULL);
		if (*status)
			*log = get_log(r, parts[i], *status);
	}
	if (!*status) {
		p = r->call->clLinkProgram(r->context, 1, &r->device, "", count, parts, NULL, NULL,
					   status);
		if (*status)
			*log = get_log(r, p, *status);
	}
	return p;
}

static cl_program build_parts(const struct soft_cl_runtime *r, enum soft_cl_language language,
			      const struct soft_cl_input *inputs, unsigned count,
			      const char *options, char **log)
{
	cl_program parts[INPUTS_MOST] = {NULL}, p = NULL;
	cl_int status = 0;
	unsigned n;

	for (n = 0; n < count && !status; n++)
		parts[n] = create_part(r, language, &inputs[n], &status);
	if (status)
		*log = get_log(r, NULL, status);
	else if (count == 1) {
		p = parts[0];
		parts[0] = NULL;
		status = r->call->clBuildProgram(p, 1, &r->device, options, NULL, NULL);
		if (status)
			*log = get_log(r, p, status);
	} else
		p = link_parts(r, parts, count, options, &status, log);
	for (unsigned i = 0; i < n; i++)
		if (parts[i])
			r->call->clReleaseProgram(parts[i]);
	if (status && p) {
		r->call->clReleaseProgram(p);
		p = NULL;
	}
	return p;
}

struct soft_cl_program *soft_cl_build(const char *opencl, enum soft_cl_language language,
				      const struct soft_cl_input *inputs, unsigned count,
				      const char *options, char **log)
{
	const struct soft_cl_runtime *r = soft_cl_find_runtime(opencl, language);
	struct soft_cl_program *program = calloc(1, sizeof *program);
	char *all = NULL;

	*log = NULL;
	if (!r)
		*log = strdup(language == SOFT_CL_SPIRV ? SOFT_CL_ADVICE : NO_TEXT);
	else if (program && count <= INPUTS_MOST &&
		 asprintf(&all, "%s%s", language == SOFT_CL_TEXT ? TEXT_OPTIONS " " : "",
			  options) >= 0)
		program->handle = build_parts(r, language, inputs, count, all, log);
	free(all);
	if (!program || !program->handle) {
		free(program);
		return NULL;
	}
	program->runtime = r;
	program->users = 1;
	return program;
}

void soft_cl_program_put(struct soft_cl_program *p)
{
	if (p && !__atomic_sub_fetch(&p->users, 1, __ATOMIC_ACQ_REL)) {
		p->runtime->call->clReleaseProgram(p->handle);
		free(p);
	}
}

bool soft_cl_find_global(struct soft_cl_program *p, const char *name, size_t *bytes, void **address)
{
	const struct soft_cl_runtime *r = p->runtime;
	cl_int (*find)(cl_device_id, cl_program, const char *, size_t *, void **);

	*(void **)&find = r->call->clGetExtensionFunctionAddressForPlatform(
		r->platform, "clGetDeviceGlobalVariablePointerINTEL");
	return find && !find(r->device, p->handle, name, bytes, address);
}

bool soft_cl_find_function(struct soft_cl_program *p, const char *name, void **address)
{
	const struct soft_cl_runtime *r = p->runtime;
	cl_int (*find)(cl_device_id, cl_program, const char *, cl_ulong *);
	cl_ulong found = 0;

	*(void **)&find = r->call->clGetExtensionFunctionAddressForPlatform(
		r->platform, "clGetDeviceFunctionPointerINTEL");
	if (!find || find(r->device, p->handle, name, &found) || !found)
		return false;
	*address = (void *)(uintptr_t)found;
	return true;
}

/* Kernels of OpenCL C -------------------------------------------------------------------- */

/* Return the bytes of "uint", "float4", "size_t"; 0 for a type that is not built into OpenCL. */
static size_t measure_type(const char *name)
{
	static const struct {
		const char *name;
		size_t bytes;
	} types[] = {{"char", 1},  {"uchar", 1},  {"bool", 1},  {"short", 2}, {"ushort", 2},
		     {"half", 2},  {"int", 4},    {"uint", 4},  {"float", 4}, {"long", 8},
		     {"ulong", 8}, {"double", 8}, {"size_t", 8}};
	size_t n = strcspn(name, "0123456789");
	unsigned lanes = name[n] ? (unsigned)atoi(name + n) : 1;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].name) == n && !strncmp(types[i].name, name, n))
			return types[i].bytes * (lanes == 3 ? 4 : lanes);
	return 0;
}

static bool describe_parameter(const struct soft_cl_runtime *r, cl_kernel kernel, cl_uint index,
			       struct soft_spirv_kernel *out)
{
	cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
	char type[256] = "";

	r->call->clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space,
				    &space, NULL);
	r->call->clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof type - 1, type,
				    NULL);
	if (space == CL_KERNEL_ARG_ADDRESS_LOCAL)
		return soft_spirv_add_parameter(out, SOFT_SPIRV_LOCAL, 0);
	if (!strncmp(type, "image", 5))
		return soft_spirv_add_parameter(out, SOFT_SPIRV_IMAGE, sizeof(void *));
	if (!strncmp(type, "sampler_t", 9))
		return soft_spirv_add_parameter(out, SOFT_SPIRV_SAMPLER, sizeof(void *));
	if (space != CL_KERNEL_ARG_ADDRESS_PRIVATE)
		return soft_spirv_add_parameter(out, SOFT_SPIRV_POINTER, sizeof(void *));
	return soft_spirv_add_parameter(out, SOFT_SPIRV_VALUE, measure_type(type));
}

static bool describe_kernel(const struct soft_cl_runtime *r, cl_kernel kernel,
			    struct soft_spirv *out)
{
	struct soft_spirv_kernel *about;
	size_t group[3] = {0};
	char name[1024] = "";
	cl_uint count = 0;

	r->call->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name, NULL);
	r->call->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
	r->call->clGetKernelWorkGroupInfo(kernel, r->device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
					  sizeof group, group, NULL);
	about = soft_spirv_add_kernel(out, name);
	if (!about)
		return false;
	for (unsigned i = 0; i < 3; i++)
		about->group[i] = (uint32_t)group[i];
	for (cl_uint i = 0; i < count; i++)
		if (!describe_parameter(r, kernel, i, about))
			return false;
	return true;
}

bool soft_cl_describe(struct soft_cl_program *p, struct soft_spirv *out)
{
	const struct soft_cl_runtime *r = p->runtime;
	cl_uint count = 0;
	cl_kernel *all;
	bool good;

	if (r->call->clCreateKernelsInProgram(p->handle, 0, NULL, &count) || !count)
		return true;
	all = calloc(count, sizeof(cl_kernel));
	good = all && !r->call->clCreateKernelsInProgram(p->handle, count, all, NULL);
	for (cl_uint i = 0; all && i < count; i++) {
		good = good && describe_kernel(r, all[i], out);
		if (all[i])
			r->call->clReleaseKernel(all[i]);
	}
	free(all);
	return good;
}

/* Kernels -------------------------------------------------------------------------------- */

struct soft_cl_kernel *soft_cl_kernel_create(struct soft_cl_program *p, const char *name)
{
	struct soft_cl_kernel *k = calloc(1, sizeof *k);
	cl_int status = 0;

	if (!k)
		return NULL;
	k->handle = p->runtime->call->clCreateKernel(p->handle, name, &status);
	if (status) {
		free(k);
		return NULL;
	}
	pthread_mutex_init(&k->lock, NULL);
	k->program = p;
	k->users = 1;
	__atomic_add_fetch(&p->users, 1, __ATOMIC_RELAXED);
	return k;
}

struct soft_cl_kernel *soft_cl_kernel_get(struct soft_cl_kernel *k)
{
	if (k)
		__atomic_add_fetch(&k->users, 1, __ATOMIC_RELAXED);
	return k;
}

void soft_cl_kernel_put(struct soft_cl_kernel *k)
{
	if (k && !__atomic_sub_fetch(&k->users, 1, __ATOMIC_ACQ_REL)) {
		k->program->runtime->call->clReleaseKernel(k->handle);
		pthread_mutex_destroy(&k->lock);
		soft_cl_program_put(k->program);
		free(k);
	}
}

void soft_cl_kernel_memory(struct soft_cl_kernel *k, uint64_t *local, uint64_t *private_bytes)
{
	const struct soft_cl_runtime *r = k->program->runtime;
	cl_ulong bytes[2] = {0, 0};

	r->call->clGetKernelWorkGroupInfo(k->handle, r->device, CL_KERNEL_LOCAL_MEM_SIZE,
					  sizeof *bytes, &bytes[0], NULL);
	r->call->clGetKernelWorkGroupInfo(k->handle, r->device, CL_KERNEL_PRIVATE_MEM_SIZE,
					  sizeof *bytes, &bytes[1], NULL);
	*local = bytes[0];
	*private_bytes = bytes[1];
}

/* Running -------------------------------------------------------------------------------- */

static cl_int set_argument(struct soft_cl_kernel *k, cl_uint index,
			   const struct soft_cl_argument *a)
{
	const struct soft_cl_runtime *r = k->program->runtime;
	void *pointer = NULL;

	if (a->kind == SOFT_SPIRV_VALUE)
		return r->call->clSetKernelArg(k->handle, index, a->bytes, a->value);
	if (a->kind == SOFT_SPIRV_LOCAL)
		return r->call->clSetKernelArg(k->handle, index, a->bytes, NULL);
	if (a->kind == SOFT_SPIRV_IMAGE || a->kind == SOFT_SPIRV_SAMPLER)
		return a->object ? soft_cl_object_set(a->object, r, k->handle, index)
				 : CL_INVALID_ARG_VALUE;
	if (!a->is_null)
		memcpy(&pointer, a->value, sizeof pointer);
	if (r->set_pointer)
		return r->set_pointer(k->handle, index, pointer);
	return r->call->clSetKernelArgSVMPointer(k->handle, index, pointer);
}

/* Synchronise pixels: pass writes by the host to OpenCL, or fetch writes by a kernel. */
static cl_int sync_images(const struct soft_cl_queue *q, const struct soft_cl_argument *arguments,
			  unsigned count, bool to_device)
{
	cl_int status = CL_SUCCESS;

	for (unsigned i = 0; i < count && !status; i++)
		if (arguments[i].kind == SOFT_SPIRV_IMAGE && arguments[i].object)
			status = soft_cl_image_sync(arguments[i].object, q->runtime, q->handle,
						    to_device);
	return status;
}

static struct soft_cl_queue *get_queue(struct soft_cl_queue **first,
				       const struct soft_cl_runtime *r)
{
	struct soft_cl_queue *q;
	cl_int status = 0;

	for (q = *first; q; q = q->next)
		if (q->runtime == r)
			return q;
	q = calloc(1, sizeof *q);
	if (!q)
		return NULL;
	q->runtime = r;
	q->handle =
		r->call->clCreateCommandQueueWithProperties(r->context, r->device, NULL, &status);
	if (status) {
		free(q);
		return NULL;
	}
	q->next = *first;
	*first = q;
	return q;
}

int soft_cl_run(struct soft_cl_queue **queue, struct soft_cl_kernel *k, const uint32_t offset[3],
		const uint32_t groups[3], const uint32_t group[3],
		const struct soft_cl_argument *arguments, unsigned count)
{
	const struct soft_cl_runtime *r = k->program->runtime;
	struct soft_cl_queue *q = get_queue(queue, r);
	size_t from[3], all[3], each[3];
	cl_event event = NULL;
	cl_int status = q ? sync_images(q, arguments, count, true) : CL_OUT_OF_RESOURCES;

	for (unsigned i = 0; i < 3; i++) {
		from[i] = offset[i];
		each[i] = group[i];
		all[i] = (size_t)group[i] * groups[i];
	}
	pthread_mutex_lock(&k->lock);
	for (unsigned i = 0; i < count && !status; i++)
		status = set_argument(k, i, &arguments[i]);
	if (!status)
		status = r->call->clEnqueueNDRangeKernel(q->handle, k->handle, 3, from, all, each,
							 0, NULL, &event);
	pthread_mutex_unlock(&k->lock);
	if (status)
		return status;
	status = r->call->clWaitForEvents(1, &event);
	r->call->clReleaseEvent(event);
	return status ? status : sync_images(q, arguments, count, false);
}

void soft_cl_queue_destroy(struct soft_cl_queue *q)
{
	struct soft_cl_queue *next;

	for (; q; q = next) {
		next = q->next;
		q->runtime->call->clReleaseCommandQueue(q->handle);
		free(q);
	}
}
