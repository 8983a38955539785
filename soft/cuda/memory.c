/* SPDX-License-Identifier: MIT */
/* Device memory is host memory. The driver lists its allocations, so that it can refuse an invalid
 * address. As in NVIDIA's driver, pageable source memory is read during the call. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

enum { ALIGNMENT = 512 };

static struct soft_cu_allocation *allocations;
static uint64_t used[SOFT_CU_DEVICES_MOST];

static void *host_address(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

struct soft_cu_allocation *soft_cu_find_allocation(const void *address, size_t bytes)
{
	struct soft_cu_allocation *a = allocations;

	while (a && !((const char *)address >= a->address && bytes <= a->bytes &&
		      (size_t)((const char *)address - a->address) <= a->bytes - bytes))
		a = a->next;
	return a;
}

/* Remove an allocation. Call with the lock held. Return the memory, which the caller frees. */
static void *forget_allocation(struct soft_cu_allocation *a)
{
	struct soft_cu_allocation **link = &allocations;
	void *memory = a->address;

	while (*link != a)
		link = &(*link)->next;
	*link = a->next;
	if (!a->is_host)
		used[a->context->device] -= a->bytes;
	if (a->pool)
		soft_cu_change_pool(a->pool, -(int64_t)a->bytes);
	if (a->is_registered)
		memory = NULL; /* the program's own memory */
	free(a);
	return memory;
}

void soft_cu_free_allocations(CUcontext context)
{
	for (struct soft_cu_allocation *a = allocations, *next; a; a = next) {
		next = a->next;
		if (a->context == context)
			free(forget_allocation(a));
	}
}

/* Allocations ---------------------------------------------------------------------- */

static bool add_allocation(CUcontext context, const struct soft_cu_request *r, void *memory)
{
	struct soft_cu_allocation *a = calloc(1, sizeof *a);

	if (!a)
		return false;
	*a = (struct soft_cu_allocation){.next = allocations,
					 .context = context,
					 .address = memory,
					 .bytes = r->bytes,
					 .is_host = r->is_host,
					 .is_managed = r->is_managed,
					 .flags = r->flags,
					 .pool = r->pool};
	allocations = a;
	if (!r->is_host)
		used[context->device] += r->bytes;
	if (r->pool)
		soft_cu_change_pool(r->pool, (int64_t)r->bytes);
	return true;
}

int soft_cu_allocate(CUcontext context, const struct soft_cu_request *r, void **out)
{
	void *memory = NULL;

	if (!r->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (soft_cu_fails(SOFT_CU_FAIL_ALLOCATE) ||
	    (!r->is_host && r->bytes > soft_cu_config.memory_bytes - used[context->device]) ||
	    posix_memalign(&memory, ALIGNMENT, r->bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!add_allocation(context, r, memory)) {
		free(memory);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*out = memory;
	return CUDA_SUCCESS;
}

int soft_cu_register_memory(CUcontext context, void *address, size_t bytes, unsigned flags)
{
	const struct soft_cu_request r = {.bytes = bytes, .is_host = true, .flags = flags};

	if (!address || !bytes || soft_cu_find_allocation(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	if (!add_allocation(context, &r, address))
		return CUDA_ERROR_OUT_OF_MEMORY;
	allocations->is_registered = true;
	return CUDA_SUCCESS;
}

bool soft_cu_unregister_memory(void *address)
{
	struct soft_cu_allocation *a = soft_cu_find_allocation(address, 0);

	if (!a || a->address != address || !a->is_registered)
		return false;
	forget_allocation(a);
	return true;
}

static int allocate(void **out, const struct soft_cu_request *request)
{
	CUcontext context;
	const int status = out ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	return status ? status : soft_cu_leave(soft_cu_allocate(context, request, out));
}

static int allocate_device(CUdeviceptr *address, size_t bytes, bool is_managed)
{
	void *memory;
	const int status =
		address ? allocate(&memory, &(struct soft_cu_request){.bytes = bytes,
								      .is_managed = is_managed})
			: CUDA_ERROR_INVALID_VALUE;

	if (!status)
		*address = (uintptr_t)memory;
	return status;
}

/* Find the allocation that starts at the address. Call with the lock held. */
static struct soft_cu_allocation *find_begin(const void *address, bool is_host)
{
	struct soft_cu_allocation *a = soft_cu_find_allocation(address, 0);

	return a && a->address == address && a->is_host == is_host ? a : NULL;
}

static int release(void *address, bool is_host)
{
	struct soft_cu_allocation *a;
	CUcontext context;
	const int status = soft_cu_enter(&context);

	if (status || !address)
		return status ? status : soft_cu_leave(CUDA_SUCCESS);
	a = find_begin(address, is_host);
	if (!a)
		return soft_cu_leave(CUDA_ERROR_INVALID_VALUE);
	soft_cu_drain_context(a->context);
	a = find_begin(address, is_host); /* another thread may have freed the allocation */
	if (a)
		free(forget_allocation(a));
	return soft_cu_leave(a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

int soft_cuMemGetInfo_v2(size_t *available, size_t *total)
{
	CUcontext context;
	const int status = available && total ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*total = soft_cu_config.memory_bytes;
	*available = *total - used[context->device];
	return soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
	return allocate_device(address, bytes, false);
}

int soft_cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
			    unsigned int element)
{
	(void)element;
	if (!pitch)
		return CUDA_ERROR_INVALID_VALUE;
	*pitch = (width + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	return allocate_device(address, *pitch * height, false);
}

int soft_cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
	return flags == 1 || flags == 2 ? allocate_device(address, bytes, true)
					: CUDA_ERROR_INVALID_VALUE;
}

int soft_cuMemFree_v2(CUdeviceptr address)
{
	return release(host_address(address), false);
}

int soft_cuMemAllocHost_v2(void **address, size_t bytes)
{
	return soft_cuMemHostAlloc(address, bytes, 0);
}

int soft_cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	return allocate(address,
			&(struct soft_cu_request){.bytes = bytes, .is_host = true, .flags = flags});
}

int soft_cuMemFreeHost(void *address)
{
	return release(address, true);
}

int soft_cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned int flags)
{
	struct soft_cu_allocation *a;
	CUcontext context;
	const int status = device && !flags ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	a = soft_cu_find_allocation(host, 1);
	*device = (uintptr_t)host;
	return soft_cu_leave(a && a->is_host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

int soft_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	struct soft_cu_allocation *a;
	CUcontext context;
	const int status = soft_cu_enter(&context);

	if (status)
		return status;
	a = soft_cu_find_allocation(host_address(address), 1);
	if (a && base)
		*base = (uintptr_t)a->address;
	if (a && bytes)
		*bytes = a->bytes;
	return soft_cu_leave(a ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

/* @pool: NULL for the device's pool. */
static int allocate_async(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream,
			  bool per_thread)
{
	struct soft_cu_request r = {.bytes = bytes, .pool = pool};
	struct soft_cu_stream *s;
	void *memory;
	CUcontext context;
	int status = address ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	s = soft_cu_find_stream(context, stream, per_thread);
	if (!pool)
		r.pool = soft_cu_get_pool(context->device);
	if (!s || !r.pool || !soft_cu_knows_pool(r.pool))
		status = CUDA_ERROR_INVALID_HANDLE;
	else if (s->capture)
		status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	else
		status = soft_cu_allocate(context, &r, &memory);
	if (!status)
		*address = (uintptr_t)memory;
	return soft_cu_leave(status);
}

SOFT_CU_BOTH(cuMemAllocAsync, _ptsz, (CUdeviceptr * address, size_t bytes, CUstream stream),
	     allocate_async(address, bytes, NULL, stream, per_thread))
SOFT_CU_BOTH(cuMemAllocFromPoolAsync, _ptsz,
	     (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
	     pool ? allocate_async(address, bytes, pool, stream, per_thread)
		  : CUDA_ERROR_INVALID_VALUE)

static int free_async(void *address, CUstream stream, bool per_thread)
{
	struct soft_cu_task *task = soft_cu_make_task(SOFT_CU_TASK_FREE);
	struct soft_cu_allocation *a;
	struct soft_cu_stream *s;
	CUcontext context;
	int status = task ? soft_cu_enter(&context) : CUDA_ERROR_OUT_OF_MEMORY;

	if (status) {
		free(task);
		return status;
	}
	s = soft_cu_find_stream(context, stream, per_thread);
	a = s && !s->capture ? find_begin(address, false) : NULL;
	if (!a) {
		free(task);
		return soft_cu_leave(s ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
	}
	task->to = forget_allocation(a);
	return soft_cu_leave(soft_cu_submit(s, task, false));
}

SOFT_CU_BOTH(cuMemFreeAsync, _ptsz, (CUdeviceptr address, CUstream stream),
	     free_async(host_address(address), stream, per_thread))

/* Copies and sets ------------------------------------------------------------------ */

enum side { DEVICE, HOST, ANY };

struct copy {
	void *to;
	const void *from;
	size_t bytes;
	enum side to_side, from_side;
	CUstream stream;
	bool per_thread, waits;
};

/* Call with the lock held. */
static bool is_allowed(const void *address, size_t bytes, enum side side)
{
	return side != DEVICE || soft_cu_find_allocation(address, bytes);
}

/* Call with the lock held. The kinds of memory and of copies have CUPTI's numbers. */
static uint8_t find_memory_kind(const void *address, size_t bytes, int *device)
{
	enum { PAGEABLE = 1, PINNED = 2, ON_DEVICE = 3, MANAGED = 5 };
	const struct soft_cu_allocation *a = soft_cu_find_allocation(address, bytes);

	*device = a && !a->is_host ? a->context->device : -1;
	if (!a)
		return PAGEABLE;
	return a->is_host ? PINNED : a->is_managed ? MANAGED : ON_DEVICE;
}

static void describe_copy(struct soft_cu_activity *activity, const struct copy *c)
{
	enum { HTOD = 1, DTOH = 2, DTOD = 8, HTOH = 9, PTOP = 10 };
	int to_device, from_device;

	activity->bytes = c->bytes;
	activity->is_async = !c->waits;
	activity->to_kind = find_memory_kind(c->to, c->bytes, &to_device);
	activity->from_kind = find_memory_kind(c->from, c->bytes, &from_device);
	if (to_device < 0)
		activity->copy_kind = from_device < 0 ? HTOH : DTOH;
	else
		activity->copy_kind = from_device < 0            ? HTOD
				      : from_device == to_device ? DTOD
								 : PTOP;
	if (activity->copy_kind == PTOP) {
		activity->to_device = (uint32_t)to_device;
		activity->from_device = (uint32_t)from_device;
		activity->to_context_id = soft_cu_find_allocation(c->to, c->bytes)->context->id;
		activity->from_context_id = soft_cu_find_allocation(c->from, c->bytes)->context->id;
	}
}

static int submit_copy(const struct copy *c)
{
	struct soft_cu_task *task = soft_cu_make_task(SOFT_CU_TASK_COPY);
	bool waits = c->waits;
	struct soft_cu_stream *s;
	CUcontext context;
	int status = task ? soft_cu_enter(&context) : CUDA_ERROR_OUT_OF_MEMORY;

	if (status) {
		free(task);
		return status;
	}
	s = soft_cu_find_stream(context, c->stream, c->per_thread);
	if (!s)
		status = CUDA_ERROR_INVALID_HANDLE;
	else if (!is_allowed(c->to, c->bytes, c->to_side) ||
		 !is_allowed(c->from, c->bytes, c->from_side))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status) {
		free(task);
		return soft_cu_leave(status);
	}
	task->to = c->to;
	task->from = (void *)(uintptr_t)c->from;
	task->bytes = c->bytes;
	describe_copy(&task->activity, c);
	/* pageable memory */
	if (!soft_cu_find_allocation(c->to, c->bytes))
		waits = true;
	if (s->capture)
		return soft_cu_leave(soft_cu_submit(s, task, c->waits));
	if (!waits && !soft_cu_find_allocation(c->from, c->bytes)) {
		task->staged = malloc(c->bytes ? c->bytes : 1);
		if (task->staged)
			memcpy(task->staged, c->from, c->bytes);
		else
			waits = true;
	}
	return soft_cu_leave(soft_cu_submit(s, task, waits));
}

#define COPY(to, from, bytes, to_side, from_side, stream, waits)                                  \
	submit_copy(&(struct copy){(to), (from), (bytes), to_side, from_side, stream, per_thread, \
				   waits})

SOFT_CU_BOTH(cuMemcpy, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
	     COPY(host_address(to), host_address(from), bytes, ANY, ANY, NULL, true))
SOFT_CU_BOTH(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr to, const void *from, size_t bytes),
	     COPY(host_address(to), from, bytes, DEVICE, HOST, NULL, true))
SOFT_CU_BOTH(cuMemcpyDtoH_v2, _ptds, (void *to, CUdeviceptr from, size_t bytes),
	     COPY(to, host_address(from), bytes, HOST, DEVICE, NULL, true))
SOFT_CU_BOTH(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
	     COPY(host_address(to), host_address(from), bytes, DEVICE, DEVICE, NULL, true))
SOFT_CU_BOTH(cuMemcpyAsync, _ptsz,
	     (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	     COPY(host_address(to), host_address(from), bytes, ANY, ANY, stream, false))
SOFT_CU_BOTH(cuMemcpyHtoDAsync_v2, _ptsz,
	     (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
	     COPY(host_address(to), from, bytes, DEVICE, HOST, stream, false))
SOFT_CU_BOTH(cuMemcpyDtoHAsync_v2, _ptsz,
	     (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
	     COPY(to, host_address(from), bytes, HOST, DEVICE, stream, false))
SOFT_CU_BOTH(cuMemcpyDtoDAsync_v2, _ptsz,
	     (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	     COPY(host_address(to), host_address(from), bytes, DEVICE, DEVICE, stream, false))
SOFT_CU_BOTH(cuMemcpyPeer, _ptds,
	     (CUdeviceptr to, CUcontext to_context __attribute__((unused)), CUdeviceptr from,
	      CUcontext from_context __attribute__((unused)), size_t bytes),
	     COPY(host_address(to), host_address(from), bytes, DEVICE, DEVICE, NULL, true))
SOFT_CU_BOTH(cuMemcpyPeerAsync, _ptsz,
	     (CUdeviceptr to, CUcontext to_context __attribute__((unused)), CUdeviceptr from,
	      CUcontext from_context __attribute__((unused)), size_t bytes, CUstream stream),
	     COPY(host_address(to), host_address(from), bytes, DEVICE, DEVICE, stream, false))

static int submit_set(CUdeviceptr to, unsigned value, unsigned width, size_t count, CUstream stream,
		      bool per_thread, bool waits)
{
	struct soft_cu_task *task = soft_cu_make_task(SOFT_CU_TASK_SET);
	struct soft_cu_stream *s;
	CUcontext context;
	int status = task ? soft_cu_enter(&context) : CUDA_ERROR_OUT_OF_MEMORY;

	if (status) {
		free(task);
		return status;
	}
	s = soft_cu_find_stream(context, stream, per_thread);
	if (!s || !soft_cu_find_allocation(host_address(to), count * width) || to % width) {
		free(task);
		return soft_cu_leave(s ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
	}
	task->to = host_address(to);
	task->value = value;
	task->width = width;
	task->bytes = count;
	task->activity.value = value;
	task->activity.bytes = count * width;
	task->activity.is_async = !waits;
	task->activity.to_kind = 3; /* CUPTI's number for device memory */
	return soft_cu_leave(soft_cu_submit(s, task, waits));
}

#define SET(bits, type)                                                                       \
	SOFT_CU_BOTH(cuMemsetD##bits##_v2, _ptds, (CUdeviceptr to, type value, size_t count), \
		     submit_set(to, value, bits / 8, count, NULL, per_thread, true))          \
	SOFT_CU_BOTH(cuMemsetD##bits##Async, _ptsz,                                           \
		     (CUdeviceptr to, type value, size_t count, CUstream stream),             \
		     submit_set(to, value, bits / 8, count, stream, per_thread, false))
SET(8, unsigned char)
SET(16, unsigned short)
SET(32, unsigned int)

/* Copies and sets of rows ------------------------------------------------------------ */

/* Return the start of one side of a copy, or NULL if it is an array or memory outside our
 * allocations. */
static char *find_side(int type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t z,
		       size_t pitch, size_t height)
{
	char *base = NULL;

	if (type == CU_MEMORYTYPE_HOST)
		base = (char *)(uintptr_t)host;
	else if (type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED)
		base = host_address(device);
	return base ? base + x + (z * height + y) * pitch : NULL;
}

int soft_cu_make_copy_task(const CUDA_MEMCPY3D *c, struct soft_cu_task **out)
{
	const size_t to_pitch = c->dstPitch ? c->dstPitch : c->WidthInBytes;
	const size_t from_pitch = c->srcPitch ? c->srcPitch : c->WidthInBytes;
	const size_t to_height = c->dstHeight ? c->dstHeight : c->Height;
	const size_t from_height = c->srcHeight ? c->srcHeight : c->Height;
	struct copy copy = {
		.to = find_side(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes, c->dstY,
				c->dstZ, to_pitch, to_height),
		.from = find_side(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes,
				  c->srcY, c->srcZ, from_pitch, from_height),
		.bytes = c->WidthInBytes * c->Height * c->Depth,
		.to_side = c->dstMemoryType == CU_MEMORYTYPE_DEVICE ? DEVICE : ANY,
		.from_side = c->srcMemoryType == CU_MEMORYTYPE_DEVICE ? DEVICE : ANY,
	};
	const size_t to_bytes =
		((c->Depth - 1) * to_height + c->Height - 1) * to_pitch + c->WidthInBytes;
	const size_t from_bytes =
		((c->Depth - 1) * from_height + c->Height - 1) * from_pitch + c->WidthInBytes;
	struct soft_cu_task *task;

	if (!copy.bytes || !copy.to || !copy.from || !is_allowed(copy.to, to_bytes, copy.to_side) ||
	    !is_allowed(copy.from, from_bytes, copy.from_side))
		return CUDA_ERROR_INVALID_VALUE;
	task = soft_cu_make_task(SOFT_CU_TASK_COPY);
	if (!task)
		return CUDA_ERROR_OUT_OF_MEMORY;
	task->to = copy.to;
	task->from = (void *)(uintptr_t)copy.from;
	task->bytes = c->WidthInBytes;
	task->rows = c->Height;
	task->slices = c->Depth;
	task->to_pitch = to_pitch;
	task->from_pitch = from_pitch;
	task->to_slice = to_pitch * to_height;
	task->from_slice = from_pitch * from_height;
	describe_copy(&task->activity, &copy);
	*out = task;
	return CUDA_SUCCESS;
}

int soft_cu_make_set_task(const CUDA_MEMSET_NODE_PARAMS *s, struct soft_cu_task **out)
{
	const size_t width = s->width * s->elementSize, rows = s->height ? s->height : 1;
	struct soft_cu_task *task;

	if ((s->elementSize != 1 && s->elementSize != 2 && s->elementSize != 4) ||
	    s->dst % s->elementSize ||
	    !soft_cu_find_allocation(host_address(s->dst), (rows - 1) * s->pitch + width))
		return CUDA_ERROR_INVALID_VALUE;
	task = soft_cu_make_task(SOFT_CU_TASK_SET);
	if (!task)
		return CUDA_ERROR_OUT_OF_MEMORY;
	task->to = host_address(s->dst);
	task->value = s->value;
	task->width = s->elementSize;
	task->bytes = s->width;
	task->rows = rows;
	task->to_pitch = s->pitch;
	task->activity.value = s->value;
	task->activity.bytes = width * rows;
	task->activity.is_async = true;
	task->activity.to_kind = 3;
	*out = task;
	return CUDA_SUCCESS;
}

/* Copy rows. Memory outside our allocations is read and written before the call returns. */
static int submit_rows(const CUDA_MEMCPY3D *copy, CUstream stream, bool per_thread, bool waits)
{
	struct soft_cu_task *task;
	struct soft_cu_stream *s;
	CUcontext context;
	int status = copy ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	s = soft_cu_find_stream(context, stream, per_thread);
	status = s ? soft_cu_make_copy_task(copy, &task) : CUDA_ERROR_INVALID_HANDLE;
	if (status)
		return soft_cu_leave(status);
	task->activity.is_async = !waits;
	if (!s->capture &&
	    (!soft_cu_find_allocation(task->to, 1) || !soft_cu_find_allocation(task->from, 1)))
		waits = true;
	return soft_cu_leave(soft_cu_submit(s, task, waits));
}

static int submit_plane(const CUDA_MEMCPY2D *c, CUstream stream, bool per_thread, bool waits)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	return submit_rows(&(CUDA_MEMCPY3D){.srcXInBytes = c->srcXInBytes,
					    .srcY = c->srcY,
					    .srcMemoryType = c->srcMemoryType,
					    .srcHost = c->srcHost,
					    .srcDevice = c->srcDevice,
					    .srcPitch = c->srcPitch,
					    .dstXInBytes = c->dstXInBytes,
					    .dstY = c->dstY,
					    .dstMemoryType = c->dstMemoryType,
					    .dstHost = c->dstHost,
					    .dstDevice = c->dstDevice,
					    .dstPitch = c->dstPitch,
					    .WidthInBytes = c->WidthInBytes,
					    .Height = c->Height,
					    .Depth = 1},
			   stream, per_thread, waits);
}

SOFT_CU_BOTH(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *copy),
	     submit_plane(copy, NULL, per_thread, true))
SOFT_CU_BOTH(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *copy, CUstream stream),
	     submit_plane(copy, stream, per_thread, false))
SOFT_CU_BOTH(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *copy),
	     submit_rows(copy, NULL, per_thread, true))
SOFT_CU_BOTH(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *copy, CUstream stream),
	     submit_rows(copy, stream, per_thread, false))

static int submit_set_rows(const CUDA_MEMSET_NODE_PARAMS *set, CUstream stream, bool per_thread,
			   bool waits)
{
	struct soft_cu_task *task;
	struct soft_cu_stream *s;
	CUcontext context;
	int status = soft_cu_enter(&context);

	if (status)
		return status;
	s = soft_cu_find_stream(context, stream, per_thread);
	status = s ? soft_cu_make_set_task(set, &task) : CUDA_ERROR_INVALID_HANDLE;
	if (status)
		return soft_cu_leave(status);
	task->activity.is_async = !waits;
	return soft_cu_leave(soft_cu_submit(s, task, waits));
}

#define SET_ROWS(bits, type)                                                                       \
	SOFT_CU_BOTH(cuMemsetD2D##bits##_v2, _ptds,                                                \
		     (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height),      \
		     submit_set_rows(&(CUDA_MEMSET_NODE_PARAMS){to, pitch, value, bits / 8, width, \
								height},                           \
				     NULL, per_thread, true))                                      \
	SOFT_CU_BOTH(cuMemsetD2D##bits##Async, _ptsz,                                              \
		     (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height,       \
		      CUstream stream),                                                            \
		     submit_set_rows(&(CUDA_MEMSET_NODE_PARAMS){to, pitch, value, bits / 8, width, \
								height},                           \
				     stream, per_thread, false))
SET_ROWS(8, unsigned char)
SET_ROWS(16, unsigned short)
SET_ROWS(32, unsigned int)
