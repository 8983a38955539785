/* SPDX-License-Identifier: MIT */
/* Numbers contexts and kernels for records, and notifies tools of them.
 *
 * An object with a reused handle gets a new number. A context's object record lists its devices,
 * whose records precede it. Kernels have no object record: each launch's record contains the string
 * id of the kernel's name. Tools are notified of contexts and kernels once for each number. */
#include "runtime/opencl/activity.h"

#include "core/kernels.h"
#include "core/recording.h"

#include <string.h>

struct context {
	struct gt_cl_node node;
	_Atomic uint64_t number;
	_Atomic uint32_t epoch;
	/* number under which tools were last notified of the context */
	_Atomic uint64_t notified_number;
	struct gt_tool_object *object;
};

struct kernel_object {
	struct gt_cl_node node;
	_Atomic uint32_t name; /* string id; 0: queried at launch */
	/* whether --kernels selects the kernel: 0 (not checked yet), WANTED or UNWANTED */
	_Atomic uint32_t choice;
	/* number under which tools were last notified of the kernel; 0: none */
	_Atomic uint64_t notified_number;
	struct gt_tool_object *object;
};
enum { WANTED = 1, UNWANTED };

GT_CL_MAP(contexts, 8);
GT_CL_MAP(kernels, 12);
/* Ensures that two threads that find a context at the same time create only one entry for it. Taken
 * before the lock of devices. */
static struct gt_cl_lock learning;

/* Contexts ------------------------------------------------------------------ */

static struct context *add_context(struct gt_thread *t, cl_context handle)
{
	struct context *c = gt_cl_memory_take(t->epoch, sizeof *c);

	if (c)
		gt_cl_map_add(&contexts, &c->node, handle);
	return c;
}

static void add_devices(const struct gt_table *table, struct gt_thread *t, struct gt_text *text,
			cl_context handle)
{
	cl_device_id ids[32];
	char list[32 * 8], *p = list;
	size_t bytes = 0;

	if (GT_CL(table, clGetContextInfo)(handle, CL_CONTEXT_DEVICES, sizeof ids, ids, &bytes) !=
		    CL_SUCCESS ||
	    bytes > sizeof ids)
		return;
	for (size_t i = 0; i < bytes / sizeof ids[0]; i++) {
		struct gt_cl_device *d = gt_cl_device_get(table, t, ids[i]);
		uint64_t n = d ? d->number : 0, unit = 1;

		while (n / unit >= 10 && unit < 100000)
			unit *= 10;
		if (i)
			*p++ = ' ';
		for (; unit; unit /= 10)
			*p++ = (char)('0' + n / unit % 10);
	}
	gt_text_add_bytes(text, "devices", list, (size_t)(p - list));
}

/* Return a context's number if this process has written its record; otherwise 0. */
static uint64_t known_context(const struct context *c, const struct gt_thread *t)
{
	return c && atomic_load_explicit(&c->epoch, memory_order_acquire) == t->epoch ? c->number
										      : 0;
}

static uint64_t learn_context(const struct gt_table *table, struct gt_thread *t, cl_context handle)
{
	struct context *c = gt_cl_map_find(&contexts, handle);
	uint64_t number = known_context(c, t);
	struct gt_text text = {0};

	if (number || (!c && !(c = add_context(t, handle))))
		return number;
	if (!c->number)
		c->number = gt_object_number(GT_OBJECT_CONTEXT);
	add_devices(table, t, &text, handle);
	if (gt_object_write(t, GT_OBJECT_CONTEXT, GT_DOMAIN_OPENCL, c->number, (uintptr_t)handle, 0,
			    &text))
		atomic_store_explicit(&c->epoch, t->epoch, memory_order_release);
	return c->number;
}

/* Notify tools of an object. Return its tool object. The caller must hold no lock. */
static struct gt_tool_object *notify_object(uint32_t type, uint64_t number, const void *handle,
					    const char *name)
{
	const struct gputap_object o = {
		.domain = GPUTAP_DOMAIN_OPENCL,
		.type = type,
		.number = number,
		.handle = (uintptr_t)handle,
		.name = name,
		.storage_file = -1,
	};
	struct gt_tool_object *x = gt_tool_object_add(&o, NULL);

	gt_tool_object_loaded(x);
	return x;
}

static void notify_context(struct context *c, uint64_t number)
{
	if (atomic_exchange_explicit(&c->notified_number, number, memory_order_acq_rel) == number)
		return;
	gt_tool_object_unload(c->object); /* previous context with this handle */
	c->object = notify_object(GPUTAP_OBJECT_CONTEXT, number, c->node.handle, NULL);
}

uint64_t gt_cl_context_number(const struct gt_table *table, struct gt_thread *t, cl_context handle)
{
	uint64_t number;
	bool locked;

	if (!t || !table || !handle)
		return 0;
	number = known_context(gt_cl_map_find(&contexts, handle), t);
	if (gt_likely(number != 0))
		return number;
	gt_internal_enter();
	locked = gt_cl_lock_take(&learning, t->epoch);
	number = learn_context(table, t, handle);
	if (locked)
		gt_cl_lock_release(&learning);
	gt_internal_leave();
	if (number)
		notify_context(gt_cl_map_find(&contexts, handle), number);
	return number;
}

/* Discard the previous context of a reused handle. */
static void context_created(const struct gt_call *call, cl_context handle)
{
	struct context *c = gt_cl_map_find(&contexts, handle);

	if (!handle)
		return;
	if (c)
		atomic_store_explicit(&c->number, 0, memory_order_relaxed);
	gt_cl_context_number(gt_cl_table_find(call), gt_cl_thread_find(call), handle);
}

cl_context gt_opencl_wrap_clCreateContext(const struct gt_call *call,
					  const cl_context_properties *properties,
					  cl_uint num_devices, const cl_device_id *device_list,
					  gt_cl_context_notify pfn_notify, void *user_data,
					  cl_int *errcode_ret)
{
	const struct gt_cl_context_callback n =
		gt_cl_context_callback_make(call, pfn_notify, user_data);
	cl_context c = GT_CL_REAL(call, clCreateContext)(properties, num_devices, device_list,
							 n.function, n.user, errcode_ret);

	if (!c)
		gt_cl_context_callback_drop(&n);
	context_created(call, c);
	return c;
}

cl_context gt_opencl_wrap_clCreateContextFromType(const struct gt_call *call,
						  const cl_context_properties *properties,
						  cl_device_type device_type,
						  gt_cl_context_notify pfn_notify, void *user_data,
						  cl_int *errcode_ret)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	const struct gt_cl_context_callback n =
		gt_cl_context_callback_make(call, pfn_notify, user_data);
	cl_context c;

	gt_cl_devices_begin_making(epoch);
	c = GT_CL_REAL(call, clCreateContextFromType)(properties, device_type, n.function, n.user,
						      errcode_ret);
	gt_cl_devices_end_making(epoch);
	if (!c)
		gt_cl_context_callback_drop(&n);
	context_created(call, c);
	return c;
}

/* Kernels ------------------------------------------------------------------- */

/* Query a kernel's name. Return its string id. *wanted: receives whether the kernel is recorded */
static uint32_t ask_name(const struct gt_table *table, struct gt_thread *t, cl_kernel handle,
			 bool *wanted)
{
	char name[2048];
	size_t bytes = 0;
	uint32_t id = 0;
	cl_int ret;

	gt_internal_enter();
	ret = GT_CL(table, clGetKernelInfo)(handle, CL_KERNEL_FUNCTION_NAME, sizeof name, name,
					    &bytes);
	if (ret == CL_SUCCESS && bytes > 0 && bytes <= sizeof name) {
		id = gt_string_id(t, name, strnlen(name, bytes));
		*wanted = gt_kernel_wanted(name, strnlen(name, bytes));
	} else if (GT_CL(table, clGetKernelInfo)(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL,
						 &bytes) == CL_SUCCESS &&
		   bytes > sizeof name && bytes <= 1 << 20) {
		/* memory is taken at most once per such kernel */
		char *longer = gt_cl_memory_take(t->epoch, bytes);

		if (longer && GT_CL(table, clGetKernelInfo)(handle, CL_KERNEL_FUNCTION_NAME, bytes,
							    longer, NULL) == CL_SUCCESS) {
			id = gt_string_id(t, longer, strnlen(longer, bytes));
			*wanted = gt_kernel_wanted(longer, strnlen(longer, bytes));
		}
	}
	gt_internal_leave();
	return id;
}

static struct kernel_object *kernel_get(struct gt_thread *t, cl_kernel handle)
{
	struct kernel_object *k = gt_cl_map_find(&kernels, handle);

	if (!k && t && (k = gt_cl_memory_take(t->epoch, sizeof *k)))
		gt_cl_map_add(&kernels, &k->node, handle);
	return k;
}

static __attribute__((noinline, cold)) uint32_t learn_name(const struct gt_table *table,
							   struct gt_thread *t, cl_kernel handle)
{
	uint32_t name = ask_name(table, t, handle, &(bool){true});
	struct kernel_object *k = kernel_get(t, handle);

	if (k)
		atomic_store_explicit(&k->name, name, memory_order_relaxed);
	return name;
}

uint32_t gt_cl_kernel_name(const struct gt_table *table, struct gt_thread *t, cl_kernel handle)
{
	const struct kernel_object *k = gt_cl_map_find(&kernels, handle);
	uint32_t name = k ? atomic_load_explicit(&k->name, memory_order_relaxed) : 0;

	return gt_likely(name != 0) ? name : learn_name(table, t, handle);
}

bool gt_cl_kernel_chosen(const struct gt_call *call, cl_kernel handle)
{
	const struct gt_table *table = gt_cl_table_find(call);
	struct kernel_object *k = kernel_get(call->thread, handle);
	uint32_t choice = k ? atomic_load_explicit(&k->choice, memory_order_relaxed) : 0;
	bool wanted = true;

	if (choice || !table)
		return choice != UNWANTED;
	ask_name(table, call->thread, handle, &wanted);
	if (k)
		atomic_store_explicit(&k->choice, wanted ? WANTED : UNWANTED, memory_order_relaxed);
	return wanted;
}

uint64_t gt_cl_notify_kernel(const struct gt_table *table, struct gt_thread *t, cl_kernel handle)
{
	struct kernel_object *k = t && handle ? kernel_get(t, handle) : NULL;
	uint64_t number = k ? atomic_load_explicit(&k->notified_number, memory_order_acquire) : 0,
		 fresh;

	if (!k || number)
		return number;
	fresh = gt_object_number(GT_OBJECT_KERNEL_SYMBOL);
	if (!atomic_compare_exchange_strong_explicit(&k->notified_number, &number, fresh,
						     memory_order_acq_rel, memory_order_acquire))
		return number;
	gt_tool_object_unload(k->object); /* previous kernel with this handle */
	k->object = notify_object(GPUTAP_OBJECT_KERNEL_SYMBOL, fresh, handle,
				  gt_string_text(gt_cl_kernel_name(table, t, handle)));
	return fresh;
}

/* Note a created kernel. @name: 0: the first launch queries the name */
static void kernel_created(const struct gt_call *call, cl_kernel handle, uint32_t name)
{
	const struct gt_table *table = gt_cl_table_find(call);
	const bool tools = atomic_load_explicit(&gt_recording.tools, memory_order_relaxed);
	struct gt_thread *t = tools ? gt_cl_thread_find(call) : call->thread;
	struct kernel_object *k =
		handle ? (t ? kernel_get(t, handle) : gt_cl_map_find(&kernels, handle)) : NULL;

	if (!k)
		return;
	atomic_store_explicit(&k->name, name, memory_order_relaxed);
	/* The handle may be reused. */
	atomic_store_explicit(&k->choice, 0, memory_order_relaxed);
	atomic_store_explicit(&k->notified_number, 0, memory_order_relaxed);
	if (tools && table)
		gt_cl_notify_kernel(table, t, handle);
}

cl_kernel gt_opencl_wrap_clCreateKernel(const struct gt_call *call, cl_program program,
					const char *kernel_name, cl_int *errcode_ret)
{
	cl_kernel k = GT_CL_REAL(call, clCreateKernel)(program, kernel_name, errcode_ret);

	if (k)
		kernel_created(call, k,
			       gt_string_id(call->thread, kernel_name, strlen(kernel_name)));
	return k;
}

cl_int gt_opencl_wrap_clCreateKernelsInProgram(const struct gt_call *call, cl_program program,
					       cl_uint num_kernels, cl_kernel *list,
					       cl_uint *num_kernels_ret)
{
	cl_uint own = 0, *count = num_kernels_ret ? num_kernels_ret : &own;
	cl_int ret = GT_CL_REAL(call, clCreateKernelsInProgram)(program, num_kernels, list,
								list ? count : num_kernels_ret);

	for (cl_uint i = 0; ret == CL_SUCCESS && list && i < *count && i < num_kernels; i++)
		kernel_created(call, list[i], 0);
	return ret;
}

cl_kernel gt_opencl_wrap_clCloneKernel(const struct gt_call *call, cl_kernel source,
				       cl_int *errcode_ret)
{
	cl_kernel k = GT_CL_REAL(call, clCloneKernel)(source, errcode_ret);

	kernel_created(call, k, 0);
	return k;
}
