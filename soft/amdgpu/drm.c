/* SPDX-License-Identifier: MIT */
/* The libdrm functions through which ROCr 5.5 to 6.1 reads the GPU clock rate. This library
 * precedes libdrm among ROCr's dependencies, so ROCr's calls arrive here. Calls from other callers,
 * such as an OpenGL used together with HIP, are forwarded to libdrm.
 * NEEDSWORK: in a program that is itself linked with libdrm, libdrm comes first, and ROCr 5.7 finds
 * no GPU.
 *
 *   ROCr 5.5 to 5.7  drmOpenRender(), amdgpu_device_initialize() ─► device ─► query_gpu_info()
 *   ROCr 6           hsaKmtGetAMDGPUDeviceHandle() ───────────────► device ─► query_gpu_info() */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "soft/amdgpu/amdgpu.h"
#include "soft/amdgpu/drm.h"

THUNK_API int drmOpenRender(int minor);
THUNK_API int drmClose(int fd);
THUNK_API int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **device);
THUNK_API int amdgpu_device_deinitialize(void *device);
THUNK_API int amdgpu_query_gpu_info(void *device, struct soft_drm_gpu_info *info);

#define CALLER __builtin_return_address(0)

static char the_device; /* one device for all GPUs, because their clock rate is the same */

/* Return an open file for ROCr to close. Any file works. */
int drmOpenRender(int minor)
{
	int (*next)(int);

	if (soft_is_rocr(CALLER))
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	next = (int (*)(int))dlsym(RTLD_NEXT, "drmOpenRender");
	return next ? next(minor) : -ENOSYS;
}

int drmClose(int fd)
{
	int (*next)(int);

	if (soft_is_rocr(CALLER))
		return close(fd);
	next = (int (*)(int))dlsym(RTLD_NEXT, "drmClose");
	return next ? next(fd) : -ENOSYS;
}

int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, void **device)
{
	int (*next)(int, uint32_t *, uint32_t *, void **);

	if (soft_is_rocr(CALLER)) {
		*major = 3; /* versions of the kernel driver, which ROCr ignores */
		*minor = 0;
		*device = &the_device;
		return 0;
	}
	next = (int (*)(int, uint32_t *, uint32_t *, void **))dlsym(RTLD_NEXT,
								    "amdgpu_device_initialize");
	return next ? next(fd, major, minor, device) : -ENOSYS;
}

int amdgpu_device_deinitialize(void *device)
{
	int (*next)(void *);

	if (soft_is_rocr(CALLER))
		return 0;
	next = (int (*)(void *))dlsym(RTLD_NEXT, "amdgpu_device_deinitialize");
	return next ? next(device) : -ENOSYS;
}

int amdgpu_query_gpu_info(void *device, struct soft_drm_gpu_info *info)
{
	int (*next)(void *, struct soft_drm_gpu_info *);

	if (soft_is_rocr(CALLER)) {
		*info = (struct soft_drm_gpu_info){.counter_khz = SOFT_AMDGPU_CLOCK_HZ / 1000};
		return 0;
	}
	next = (int (*)(void *, struct soft_drm_gpu_info *))dlsym(RTLD_NEXT,
								  "amdgpu_query_gpu_info");
	return next ? next(device, info) : -ENOSYS;
}
