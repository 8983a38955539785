/* SPDX-License-Identifier: MIT */
/* Finds the kernel that a call launches, the names of kernels, and the last release of a kernel.
 *
 * OpenCL counts references to a kernel. To the program, the clReleaseKernel() that releases its
 * last reference destroys the kernel. The entry of the kernel's handle contains the count:
 *
 *   creation, EXIT              1
 *   clRetainKernel(), EXIT      + 1, if the call succeeded
 *   clReleaseKernel(), ENTER    - 1, at the call's first pti_kernel_is_destroyed() or
 *                               pti_kernel_count(). The call that takes the last reference destroys
 *                               the kernel
 *   clReleaseKernel(), EXIT     + 1, if the call failed
 *
 * If two threads release at the same time, each takes one reference, so exactly one of the two
 * threads destroys the kernel. The thread that makes the call keeps the decision from ENTER for
 * later queries.
 *
 * Locking: none. The count is atomic, and decisions are local to the thread. */
#include <pti/pti_driver_levelzero_api_ids.h>
#include <pti/pti_driver_opencl_api_ids.h>
#include <pti/pti_runtime_sycl_api_ids.h>
#include <string.h>

#include "pti.h"

enum { RELEASES = 16, NAMES_BYTES = 512 };

/* Launches ----------------------------------------------------------------------------------- */

/* Return the kernels that the call launches. *count is 0 if the call launches no kernel. */
static void *const *kernels_of(const struct pti_operation *op, const struct gputap_call *call,
			       uint32_t *count)
{
	void *const *kernels = NULL;

	if (op->kernel && op->kernels)
		kernels = pti_argument(call, op->kernel);
	else if (op->kernel)
		kernels = (void **)(void *)((char *)call->args + op->kernel);
	*count = !kernels ? 0 : op->kernels ? pti_argument_u32(call, op->kernels) : 1;
	return kernels;
}

struct pti_handle *pti_kernel_of(const struct pti_operation *op, const struct gputap_call *call)
{
	uint32_t count;
	void *const *kernels = kernels_of(op, call, &count);

	return count == 1 ? pti_handle_find(PTI_KERNEL, kernels[0]) : NULL;
}

static const char *name_of(const void *kernel)
{
	const struct pti_handle *h = pti_handle_find(PTI_KERNEL, kernel);

	return h ? atomic_load_explicit(&h->name, memory_order_relaxed) : NULL;
}

/* Return the name of a GPU activity that runs several kernels. The name lists as many kernel names
 * as fit. */
static const char *join_names(void *const *kernels, uint32_t count)
{
	char text[NAMES_BYTES];
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		const char *name = name_of(kernels[i]);
		size_t length = name ? strlen(name) : 0;

		if (!length || bytes + length + 3 > sizeof text)
			continue;
		if (bytes) {
			memcpy(text + bytes, ", ", 2);
			bytes += 2;
		}
		memcpy(text + bytes, name, length);
		bytes += length;
	}
	text[bytes] = '\0';
	return bytes ? pti_text_keep(text) : NULL;
}

const char *pti_kernel_name_of(const struct pti_operation *op, const struct gputap_call *call)
{
	uint32_t count;
	void *const *kernels = kernels_of(op, call, &count);

	return count == 1 ? name_of(kernels[0]) : count ? join_names(kernels, count) : NULL;
}

/* Creation ----------------------------------------------------------------------------------- */

/* First members of ze_kernel_desc_t, up to the name. */
struct kernel_desc {
	uint32_t type;
	const void *next;
	uint32_t flags;
	const char *name;
};

/* NEEDSWORK: clCreateKernelsInProgram() gets no names, and this function does not query the driver
 * for names. Such kernels have no name before their GPU activity has completed. */
const char *pti_kernel_name_of_made(const struct gputap_call *call)
{
	const uint32_t id = pti_operation_of(call->domain, call->operation)->id;
	const struct kernel_desc *desc;

	if (call->domain == GPUTAP_DOMAIN_LEVEL_ZERO) {
		desc = pti_argument(call, 8);
		return desc ? desc->name : NULL;
	}
	/* other calls than urKernelCreate() create a kernel with the name of the driver's kernel */
	if (call->domain == GPUTAP_DOMAIN_UNIFIED_RUNTIME)
		return id == urKernelCreate_id ? pti_argument(call, 8)
					       : name_of(pti_argument(call, 0));
	return id == clCreateKernel_id  ? pti_argument(call, 8)
	       : id == clCloneKernel_id ? name_of(pti_argument(call, 0))
					: NULL;
}

/* References --------------------------------------------------------------------------------- */

/* The latest releases that this thread has started. A release inside a callback is stored after the
 * release to which the callback belongs. */
static _Thread_local struct {
	unsigned next;
	struct {
		uint64_t call; /* number of the call */
		bool is_last;
	} decided[RELEASES];
} releases __attribute__((tls_model("initial-exec")));

static bool take_reference(const struct gputap_call *call)
{
	struct pti_handle *kernel = pti_handle_find(PTI_KERNEL, pti_argument(call, 0));

	return kernel && atomic_fetch_sub(&kernel->references, 1) == 1;
}

static bool is_last_release(const struct gputap_call *call)
{
	for (unsigned i = 0; i < RELEASES; i++)
		if (releases.decided[i].call == call->correlation)
			return releases.decided[i].is_last;
	if (call->phase != GPUTAP_CALL_PHASE_ENTER)
		return false;
	releases.next = (releases.next + 1) % RELEASES;
	releases.decided[releases.next].is_last = take_reference(call);
	releases.decided[releases.next].call = call->correlation;
	return releases.decided[releases.next].is_last;
}

bool pti_kernel_may_be_destroyed(const struct pti_operation *op, uint32_t domain)
{
	return (domain == GPUTAP_DOMAIN_OPENCL && op->id == clReleaseKernel_id) ||
	       (domain == GPUTAP_DOMAIN_LEVEL_ZERO && op->id == zeKernelDestroy_id);
}

bool pti_kernel_is_destroyed(const struct pti_operation *op, const struct gputap_call *call)
{
	return pti_kernel_may_be_destroyed(op, call->domain) &&
	       (call->domain != GPUTAP_DOMAIN_OPENCL || is_last_release(call));
}

bool pti_kernel_is_counted(const struct pti_operation *op, uint32_t domain)
{
	return domain == GPUTAP_DOMAIN_OPENCL &&
	       (op->id == clRetainKernel_id || op->id == clReleaseKernel_id);
}

void pti_kernel_count(const struct pti_operation *op, const struct gputap_call *call)
{
	struct pti_handle *kernel = pti_handle_find(PTI_KERNEL, pti_argument(call, 0));
	int32_t status;

	if (call->phase == GPUTAP_CALL_PHASE_ENTER) {
		if (op->id == clReleaseKernel_id)
			is_last_release(call);
		return;
	}
	if (!kernel)
		return;
	status = call->ret ? *(const int32_t *)call->ret : 0;
	if ((op->id == clRetainKernel_id) == (status == 0))
		atomic_fetch_add(&kernel->references, 1);
}
