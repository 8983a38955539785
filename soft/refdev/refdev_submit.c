/* SPDX-License-Identifier: MIT */
/* Submits kernels, copies and fills to streams: the runtime functions, and the driver functions
 * that they call. */
#include <stdlib.h>
#include <string.h>

#include "soft/refdev/refdev_parts.h"

static struct refdevKernel *kernels; /* never freed, because profilers keep pointers to the names */
static pthread_mutex_t kernels_lock = PTHREAD_MUTEX_INITIALIZER;

static refdevError_t submit(struct ref_task *t, refdevStream_t stream)
{
	struct refdevStream *s = t ? ref_stream_of(stream) : NULL;

	if (!s) {
		free(t);
		return refdevErrorNoMemory;
	}
	return ref_submit(s, t);
}

static bool is_dim(refdevDim3 d)
{
	return d.x && d.y && d.z;
}

/* Kernels ---------------------------------------------------------------------- */

static refdevError_t add_kernel(refdevKernel_t *out, const char *name, refdevFunction function)
{
	refdevKernel_t k;

	if (!out || !name || !*name || !function)
		return refdevErrorInvalid;
	pthread_mutex_lock(&kernels_lock);
	for (k = kernels; k && strcmp(k->name, name); k = k->next)
		;
	if (!k) {
		k = calloc(1, sizeof *k);
		if (k)
			k->name = strdup(name);
		if (!k || !k->name) {
			free(k);
			pthread_mutex_unlock(&kernels_lock);
			return refdevErrorNoMemory;
		}
		k->next = kernels;
		kernels = k;
	}
	k->function = function;
	pthread_mutex_unlock(&kernels_lock);
	*out = k;
	return refdevSuccess;
}

refdevError_t refdevRegisterKernel(refdevKernel_t *kernel, const char *name,
				   refdevFunction function)
{
	REF_RUNTIME(add_kernel(kernel, name, function));
}

static refdevError_t launch(refdevKernel_t kernel, refdevDim3 grid, refdevDim3 block,
			    const void *arguments, size_t bytes, refdevStream_t stream)
{
	if (!kernel || !is_dim(grid) || !is_dim(block) || bytes > REF_ARGUMENT_BYTES ||
	    (bytes && !arguments))
		return refdevErrorInvalid;
	if (ref_fails(REF_FAULT_LAUNCH))
		return refdevErrorDevice;
	return submit(ref_task_kernel(kernel, grid, block, arguments, bytes), stream);
}

refdevError_t refdevDrvLaunchKernel(refdevKernel_t kernel, refdevDim3 grid, refdevDim3 block,
				    const void *arguments, size_t bytes, refdevStream_t stream)
{
	REF_DRIVER(launch(kernel, grid, block, arguments, bytes, stream));
}

refdevError_t refdevLaunchKernel(refdevKernel_t kernel, refdevDim3 grid, refdevDim3 block,
				 const void *arguments, size_t bytes, refdevStream_t stream)
{
	REF_RUNTIME(refdevDrvLaunchKernel(kernel, grid, block, arguments, bytes, stream));
}

/* Copies and fills --------------------------------------------------------------- */

static refdevError_t submit_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
				 size_t width, size_t height, refdevMemcpyKind kind,
				 refdevStream_t stream)
{
	if (!to || !from || (unsigned)kind > refdevMemcpyDeviceToDevice || to_pitch < width ||
	    from_pitch < width)
		return refdevErrorInvalid;
	if (ref_fails(REF_FAULT_COPY))
		return refdevErrorDevice;
	return submit(ref_task_copy(to, to_pitch, from, from_pitch, width, height, kind), stream);
}

refdevError_t refdevDrvMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
				size_t width, size_t height, refdevMemcpyKind kind,
				refdevStream_t stream)
{
	REF_DRIVER(submit_copy(to, to_pitch, from, from_pitch, width, height, kind, stream));
}

static refdevError_t copy_and_wait(void *to, size_t to_pitch, const void *from, size_t from_pitch,
				   size_t width, size_t height, refdevMemcpyKind kind)
{
	refdevError_t status =
		refdevDrvMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind, NULL);

	return status ? status : refdevDrvStreamSynchronize(NULL);
}

refdevError_t refdevMemcpy(void *to, const void *from, size_t bytes, refdevMemcpyKind kind)
{
	REF_RUNTIME(copy_and_wait(to, bytes, from, bytes, bytes, 1, kind));
}

refdevError_t refdevMemcpyAsync(void *to, const void *from, size_t bytes, refdevMemcpyKind kind,
				refdevStream_t stream)
{
	REF_RUNTIME(refdevDrvMemcpy2D(to, bytes, from, bytes, bytes, 1, kind, stream));
}

refdevError_t refdevMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			     size_t width, size_t height, refdevMemcpyKind kind)
{
	REF_RUNTIME(copy_and_wait(to, to_pitch, from, from_pitch, width, height, kind));
}

refdevError_t refdevMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
				  size_t width, size_t height, refdevMemcpyKind kind,
				  refdevStream_t stream)
{
	REF_RUNTIME(refdevDrvMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind, stream));
}

static refdevError_t submit_fill(void *to, size_t pitch, int value, size_t width, size_t height,
				 refdevStream_t stream)
{
	if (!to || pitch < width)
		return refdevErrorInvalid;
	if (ref_fails(REF_FAULT_FILL))
		return refdevErrorDevice;
	return submit(ref_task_fill(to, pitch, value, width, height), stream);
}

refdevError_t refdevDrvMemset2D(void *to, size_t pitch, int value, size_t width, size_t height,
				refdevStream_t stream)
{
	REF_DRIVER(submit_fill(to, pitch, value, width, height, stream));
}

static refdevError_t fill_and_wait(void *to, size_t pitch, int value, size_t width, size_t height)
{
	refdevError_t status = refdevDrvMemset2D(to, pitch, value, width, height, NULL);

	return status ? status : refdevDrvStreamSynchronize(NULL);
}

refdevError_t refdevMemset(void *to, int value, size_t bytes)
{
	REF_RUNTIME(fill_and_wait(to, bytes, value, bytes, 1));
}

refdevError_t refdevMemsetAsync(void *to, int value, size_t bytes, refdevStream_t stream)
{
	REF_RUNTIME(refdevDrvMemset2D(to, bytes, value, bytes, 1, stream));
}

refdevError_t refdevMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	REF_RUNTIME(fill_and_wait(to, pitch, value, width, height));
}

refdevError_t refdevMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
				  refdevStream_t stream)
{
	REF_RUNTIME(refdevDrvMemset2D(to, pitch, value, width, height, stream));
}
