/* SPDX-License-Identifier: MIT */
/* A module is a shared object of the host, whose kernels are functions (cuda_api.h). The image of a
 * module is copied into an unnamed file, so that each loaded module has separate variables. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soft/cuda/cuda_parts.h"

enum { SHARED_OF_BLOCK = 48 << 10 };

/* Loading -------------------------------------------------------------------------- */

/* Return the size of the shared object at this address, up to the section headers at its end.
 * Return 0 if it is not a shared object. */
static size_t image_bytes(const void *image)
{
	const ElfW(Ehdr) *e = image;

	if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_type != ET_DYN)
		return 0;
	return e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
}

static bool write_all(int file, const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = write(file, bytes, count);

		if (n <= 0)
			return false;
		bytes += n;
		count -= (size_t)n;
	}
	return true;
}

static void *open_image(const void *image, size_t bytes)
{
	char path[64];
	void *library = NULL;
	int file = memfd_create("soft-cuda-module", MFD_CLOEXEC);

	if (file >= 0 && write_all(file, image, bytes)) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", file);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (file >= 0)
		close(file);
	return library;
}

static int load_image(CUmodule *module, const void *image, size_t bytes)
{
	if (!bytes || soft_cu_fails(SOFT_CU_FAIL_MODULE))
		return CUDA_ERROR_INVALID_IMAGE;
	*module = calloc(1, sizeof **module);
	if (!*module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*module)->library = open_image(image, bytes);
	if ((*module)->library)
		return CUDA_SUCCESS;
	free(*module);
	*module = NULL;
	return CUDA_ERROR_INVALID_IMAGE;
}

static int load_file(CUmodule *module, const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), status;
	struct stat st;
	void *image = MAP_FAILED;

	if (fd < 0)
		return CUDA_ERROR_FILE_NOT_FOUND;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(ElfW(Ehdr)))
		image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		return CUDA_ERROR_INVALID_IMAGE;
	status = load_image(module, image, image_bytes(image) ? (size_t)st.st_size : 0);
	munmap(image, (size_t)st.st_size);
	return status;
}

static void unload(CUmodule module)
{
	for (struct soft_cu_function *f = module->functions, *next; f; f = next) {
		next = f->next;
		free(f);
	}
	dlclose(module->library);
	free(module);
}

/* Modules require a context; libraries do not. */
static int check_context(void)
{
	CUcontext context;
	const int status = soft_cu_enter(&context);

	return status ? status : soft_cu_leave(CUDA_SUCCESS);
}

int soft_cuModuleLoadData(CUmodule *module, const void *image)
{
	const int status = module && image ? check_context() : CUDA_ERROR_INVALID_VALUE;

	return status ? status : load_image(module, image, image_bytes(image));
}

int soft_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
			    unsigned int *options, void **values)
{
	(void)count;
	(void)options;
	(void)values;
	return soft_cuModuleLoadData(module, image);
}

int soft_cuModuleLoad(CUmodule *module, const char *file)
{
	const int status = module && file ? check_context() : CUDA_ERROR_INVALID_VALUE;

	return status ? status : load_file(module, file);
}

int soft_cuModuleUnload(CUmodule module)
{
	CUcontext context;
	const int status =
		module && !module->owner ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_HANDLE;

	if (status)
		return status;
	soft_cu_drain_context(context);
	soft_cu_leave(0);
	unload(module);
	return CUDA_SUCCESS;
}

/* Libraries ------------------------------------------------------------------------- */

static int make_library(CUlibrary *out, const void *image, const char *file)
{
	CUmodule module;
	int status = out && (image || file) ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		status = image ? load_image(&module, image, image_bytes(image))
			       : load_file(&module, file);
	if (status)
		return status;
	*out = malloc(sizeof **out);
	if (!*out) {
		unload(module);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	(*out)->module = module;
	module->owner = *out;
	return CUDA_SUCCESS;
}

/* Options are ignored, because they are for the compiler, which this driver does not have. */
int soft_cuLibraryLoadData(CUlibrary *library, const void *image,
			   int *options __attribute__((unused)),
			   void **values __attribute__((unused)),
			   unsigned int count __attribute__((unused)),
			   int *library_options __attribute__((unused)),
			   void **library_values __attribute__((unused)),
			   unsigned int library_count __attribute__((unused)))
{
	return make_library(library, image, NULL);
}

int soft_cuLibraryLoadFromFile(CUlibrary *library, const char *file,
			       int *options __attribute__((unused)),
			       void **values __attribute__((unused)),
			       unsigned int count __attribute__((unused)),
			       int *library_options __attribute__((unused)),
			       void **library_values __attribute__((unused)),
			       unsigned int library_count __attribute__((unused)))
{
	return make_library(library, NULL, file);
}

/* Waits until all tasks of all contexts have finished. */
int soft_cuLibraryUnload(CUlibrary library)
{
	const int status = library ? soft_cu_check_driver() : CUDA_ERROR_INVALID_HANDLE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	for (CUcontext c = soft_cu_contexts; c;) {
		soft_cu_drain_context(c);
		/* the context may be gone, and the list may have changed */
		c = soft_cu_knows_context(c) ? c->next : soft_cu_contexts;
	}
	pthread_mutex_unlock(&soft_cu_lock);
	unload(library->module);
	free(library);
	return CUDA_SUCCESS;
}

int soft_cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	if (!module || !library)
		return CUDA_ERROR_INVALID_VALUE;
	*module = library->module;
	return soft_cu_check_driver();
}

int soft_cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
			    const char *name)
{
	return library ? soft_cuModuleGetGlobal_v2(address, bytes, library->module, name)
		       : CUDA_ERROR_INVALID_VALUE;
}

int soft_cuModuleGetLoadingMode(int *mode)
{
	enum { EAGER = 1 };

	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = EAGER;
	return soft_cu_check_driver();
}

/* Functions and variables ---------------------------------------------------------- */

/* Call with the lock held. Return NULL if the module has no function of this name. */
static CUfunction find_function(CUmodule module, const char *name)
{
	struct soft_cu_function *f = module->functions;
	char symbol[256];

	while (f && strcmp(f->name, name) != 0)
		f = f->next;
	if (f || snprintf(symbol, sizeof symbol, "%s_parameters", name) >= (int)sizeof symbol)
		return f;
	f = malloc(sizeof *f + strlen(name) + 1);
	if (!f)
		return NULL;
	strcpy(f->name, name);
	f->module = module;
	f->dynamic_shared = SHARED_OF_BLOCK;
	f->parameters = dlsym(module->library, symbol);
	*(void **)&f->call = dlsym(module->library, name);
	if (!f->parameters || !f->call || f->parameters->count > 16) {
		free(f);
		return NULL;
	}
	f->next = module->functions;
	module->functions = f;
	return f;
}

int soft_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	CUcontext context;
	const int status =
		function && module && name ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*function = find_function(module, name);
	return soft_cu_leave(*function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

int soft_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
			      const char *name)
{
	const ElfW(Sym) *symbol = NULL;
	void *variable = module && name ? dlsym(module->library, name) : NULL;
	Dl_info info;

	if (!module || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!variable || !dladdr1(variable, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return CUDA_ERROR_NOT_FOUND;
	if (address)
		*address = (uintptr_t)variable;
	if (bytes)
		*bytes = symbol->st_size;
	return CUDA_SUCCESS;
}

int soft_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	const int status =
		kernel && library && name ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	*kernel = find_function(library->module, name);
	return soft_cu_leave(*kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

/* Launches ------------------------------------------------------------------------- */

/* Unpack `extra`: a list of keys and values that ends with END. The parameters in the buffer are
 * laid out like a struct. Return an allocated array of addresses, or NULL if `extra` is invalid or
 * out of memory. */
static void **unpack_extra(const struct soft_cuda_parameters *p, void **extra)
{
	const char *buffer = NULL;
	size_t bytes = 0, at = 0;
	void **out;

	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			bytes = *(const size_t *)extra[1];
		else
			return NULL;
	}
	out = calloc(p->count + 1, sizeof *out);
	for (uint32_t i = 0; out && i < p->count; i++) {
		const size_t size = p->bytes[i], aligned = size & -size; /* a power of two */
		const size_t alignment = aligned > 8 ? 8 : aligned ? aligned : 1;

		at = (at + alignment - 1) & ~(alignment - 1);
		if (!buffer || at + size > bytes) {
			free(out);
			return NULL;
		}
		out[i] = (char *)(uintptr_t)buffer + at;
		at += size;
	}
	return out;
}

/* Take the arguments from @parameters or @extra. Return NULL if the arguments are invalid or memory
 * is short. */
static void **take_arguments(CUfunction f, void **parameters, void **extra)
{
	void **unpacked, **out;

	if (!extra)
		return f->parameters->count && !parameters
			       ? NULL
			       : soft_cu_copy_arguments(f->parameters, parameters);
	unpacked = parameters ? NULL : unpack_extra(f->parameters, extra);
	out = unpacked ? soft_cu_copy_arguments(f->parameters, unpacked) : NULL;
	free(unpacked);
	return out;
}

/* Return true if the launch has the attribute @id with a value other than 0. */
static bool has_attribute(const CUlaunchConfig *config, int id)
{
	enum { BYTES = 72 }; /* id, 4 bytes of padding, and a union of 64 bytes */
	const char *attribute = config->attrs;

	for (unsigned i = 0; i < config->numAttrs; i++, attribute += BYTES)
		if (*(const int *)(const void *)attribute == id &&
		    *(const int *)(const void *)(attribute + 8))
			return true;
	return false;
}

int soft_cu_make_kernel_task(const CUlaunchConfig *config, CUfunction f, void **parameters,
			     void **extra, struct soft_cu_task **out)
{
	enum { COOPERATIVE = 2 };
	const uint64_t threads =
		(uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
	struct soft_cu_task *task;

	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!threads || threads > SOFT_CU_THREADS_OF_BLOCK || !config->gridDimX ||
	    !config->gridDimY || !config->gridDimZ)
		return CUDA_ERROR_INVALID_VALUE;
	task = soft_cu_make_task(SOFT_CU_TASK_KERNEL);
	if (!task)
		return CUDA_ERROR_OUT_OF_MEMORY;
	task->function = f;
	task->arguments = take_arguments(f, parameters, extra);
	task->shared = config->sharedMemBytes;
	task->position = (struct soft_cuda_position){
		.grid_dim = {config->gridDimX, config->gridDimY, config->gridDimZ},
		.block_dim = {config->blockDimX, config->blockDimY, config->blockDimZ},
	};
	task->activity = (struct soft_cu_activity){
		.name = f->name,
		.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
		.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
		.dynamic_shared = config->sharedMemBytes,
		.registers = SOFT_CU_REGISTERS_OF_THREAD,
		.is_cooperative = has_attribute(config, COOPERATIVE),
	};
	if (!task->arguments) {
		free(task);
		return CUDA_ERROR_INVALID_VALUE;
	}
	*out = task;
	return CUDA_SUCCESS;
}

static int launch(const CUlaunchConfig *config, CUfunction f, void **parameters, void **extra,
		  bool per_thread)
{
	struct soft_cu_task *task = NULL;
	struct soft_cu_stream *s;
	CUcontext context;
	int status = soft_cu_make_kernel_task(config, f, parameters, extra, &task);

	if (!status)
		status = soft_cu_fails(SOFT_CU_FAIL_LAUNCH) ? CUDA_ERROR_LAUNCH_FAILED
							    : soft_cu_enter(&context);
	if (status) {
		if (task)
			soft_cu_discard_task(task);
		return status;
	}
	s = soft_cu_find_stream(context, config->hStream, per_thread);
	if (s)
		return soft_cu_leave(soft_cu_submit(s, task, false));
	soft_cu_discard_task(task);
	return soft_cu_leave(CUDA_ERROR_INVALID_HANDLE);
}

/* All blocks run at once, so all must fit. */
static int launch_cooperative(const CUlaunchConfig *c, CUfunction f, void **parameters,
			      bool per_thread)
{
	enum { BYTES = 72, COOPERATIVE = 2 };
	const uint64_t threads = (uint64_t)c->blockDimX * c->blockDimY * c->blockDimZ;
	const uint64_t blocks = (uint64_t)c->gridDimX * c->gridDimY * c->gridDimZ;
	uint32_t attribute[BYTES / 4] = {[0] = COOPERATIVE, [2] = 1};
	CUlaunchConfig config = *c;

	if (threads &&
	    blocks > SOFT_CU_MULTIPROCESSORS * (SOFT_CU_THREADS_OF_MULTIPROCESSOR / threads))
		return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	config.attrs = attribute;
	config.numAttrs = 1;
	return launch(&config, f, parameters, NULL, per_thread);
}

SOFT_CU_BOTH(cuLaunchCooperativeKernel, _ptsz,
	     (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	      unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
	      CUstream stream, void **parameters),
	     launch_cooperative(&(CUlaunchConfig){grid_x, grid_y, grid_z, block_x, block_y, block_z,
						  shared, stream, NULL, 0},
				function, parameters, per_thread))
SOFT_CU_BOTH(cuLaunchKernelEx, _ptsz,
	     (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra),
	     config ? launch(config, function, parameters, extra, per_thread)
		    : CUDA_ERROR_INVALID_VALUE)
SOFT_CU_BOTH(cuLaunchKernel, _ptsz,
	     (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	      unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
	      CUstream stream, void **parameters, void **extra),
	     launch(&(CUlaunchConfig){grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
				      stream, NULL, 0},
		    function, parameters, extra, per_thread))
