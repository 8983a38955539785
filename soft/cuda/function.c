/* SPDX-License-Identifier: MIT */
/* Answers queries about functions and kernels: names, attributes, occupancy. A library's kernel and
 * its function are the same object. */
#include "soft/cuda/cuda_parts.h"

enum { BLOCKS_OF_MULTIPROCESSOR = 32, SHARED_OF_MULTIPROCESSOR = 128 << 10 };

/* Numbers are those of CUfunction_attribute. */
enum { MAX_THREADS = 0, REGISTERS = 4, PTX = 5, BINARY = 6, DYNAMIC_SHARED = 8, ATTRIBUTES = 16 };

int soft_cuFuncGetAttribute(int *value, unsigned int attribute, CUfunction function)
{
	if (!value || !function || attribute >= ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case MAX_THREADS: *value = SOFT_CU_THREADS_OF_BLOCK; break;
	case REGISTERS: *value = SOFT_CU_REGISTERS_OF_THREAD; break;
	case PTX:
	case BINARY: *value = 90; break; /* compute capability 9.0 */
	case DYNAMIC_SHARED: *value = function->dynamic_shared; break;
	default: *value = 0; break;
	}
	return soft_cu_check_driver();
}

int soft_cuFuncSetAttribute(CUfunction function, unsigned int attribute, int value)
{
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (attribute >= ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == DYNAMIC_SHARED)
		function->dynamic_shared = value;
	return soft_cu_check_driver();
}

int soft_cuFuncSetCacheConfig(CUfunction function, int config)
{
	(void)config;
	return function ? soft_cu_check_driver() : CUDA_ERROR_INVALID_HANDLE;
}

int soft_cuFuncGetName(const char **name, CUfunction function)
{
	if (!name || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*name = function->name;
	return soft_cu_check_driver();
}

int soft_cuFuncGetModule(CUmodule *module, CUfunction function)
{
	if (!module || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*module = function->module;
	return soft_cu_check_driver();
}

/* Offsets of the parameters, laid out as in a struct (`extra`). */
int soft_cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
	size_t at = 0;

	if (!function || !offset || index >= function->parameters->count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0;; i++) {
		const size_t size = function->parameters->bytes[i], power = size & -size;
		const size_t alignment = power > 8 ? 8 : power ? power : 1;

		at = (at + alignment - 1) & ~(alignment - 1);
		if (i == index)
			break;
		at += size;
	}
	*offset = at;
	if (bytes)
		*bytes = function->parameters->bytes[index];
	return soft_cu_check_driver();
}

int soft_cuFuncIsLoaded(int *state, CUfunction function)
{
	enum { LOADED = 1 };

	if (!state || !function)
		return CUDA_ERROR_INVALID_VALUE;
	*state = LOADED;
	return soft_cu_check_driver();
}

int soft_cuFuncLoad(CUfunction function)
{
	return function ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;
}

/* Kernels ---------------------------------------------------------------------------- */

int soft_cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	if (!function || !kernel)
		return CUDA_ERROR_INVALID_VALUE;
	*function = kernel;
	return soft_cu_check_driver();
}

int soft_cuKernelGetName(const char **name, CUkernel kernel)
{
	return soft_cuFuncGetName(name, kernel);
}

int soft_cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
	if (!library || !kernel || !kernel->module->owner)
		return CUDA_ERROR_INVALID_VALUE;
	*library = kernel->module->owner;
	return soft_cu_check_driver();
}

int soft_cuKernelGetAttribute(int *value, unsigned int attribute, CUkernel kernel, CUdevice device)
{
	(void)device;
	return soft_cuFuncGetAttribute(value, attribute, kernel);
}

int soft_cuKernelSetAttribute(unsigned int attribute, int value, CUkernel kernel, CUdevice device)
{
	(void)device;
	return soft_cuFuncSetAttribute(kernel, attribute, value);
}

/* Occupancy --------------------------------------------------------------------------- */

static int count_blocks(int block, size_t shared)
{
	int blocks = SOFT_CU_THREADS_OF_MULTIPROCESSOR / block;

	if (shared && blocks > (int)(SHARED_OF_MULTIPROCESSOR / shared))
		blocks = (int)(SHARED_OF_MULTIPROCESSOR / shared);
	return blocks < BLOCKS_OF_MULTIPROCESSOR ? blocks : BLOCKS_OF_MULTIPROCESSOR;
}

int soft_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block,
						     size_t shared)
{
	if (!blocks || !function || block < 1 || block > SOFT_CU_THREADS_OF_BLOCK)
		return CUDA_ERROR_INVALID_VALUE;
	*blocks = count_blocks(block, shared);
	return soft_cu_check_driver();
}

int soft_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
							      int block, size_t shared,
							      unsigned int flags)
{
	(void)flags;
	return soft_cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block, shared);
}

/* Return the largest block size that is a power of two. */
int soft_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
					  CUoccupancyB2DSize *shared_of, size_t shared, int limit)
{
	int size = SOFT_CU_THREADS_OF_BLOCK;

	if (!grid || !block || !function || limit < 0)
		return CUDA_ERROR_INVALID_VALUE;
	while (limit && size > limit && size > 1)
		size /= 2;
	if (shared_of)
		shared = shared_of(size);
	*block = size;
	*grid = SOFT_CU_MULTIPROCESSORS * count_blocks(size, shared);
	return soft_cu_check_driver();
}

int soft_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
						   CUoccupancyB2DSize *shared_of, size_t shared,
						   int limit, unsigned int flags)
{
	(void)flags;
	return soft_cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared,
						     limit);
}

int soft_cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared, CUfunction function, int blocks,
						 int block)
{
	if (!shared || !function || blocks < 1 || block < 1)
		return CUDA_ERROR_INVALID_VALUE;
	*shared = SHARED_OF_MULTIPROCESSOR / (size_t)blocks;
	return soft_cu_check_driver();
}
