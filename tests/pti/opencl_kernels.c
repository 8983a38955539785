/* SPDX-License-Identifier: MIT */
/* Creates and releases OpenCL kernels: with additional references, several at once, as copies.
 * Checks the notifications that subscribers get to PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED and
 * PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED. Prints errors only. */
#define PTI_CALLBACK_SHIPPED
#include <pthread.h>
#include <pti/pti_callback.h>
#include <pti/pti_driver_opencl_api_ids.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "../opencl/program.h"

#define CREATED   PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED
#define DESTROYED PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED

enum { ROUNDS = 300 };

static _Atomic int failures;
#define CHECK(condition)                                                   \
	do {                                                               \
		if (!(condition)) {                                        \
			printf("line %d: not %s\n", __LINE__, #condition); \
			failures++;                                        \
		}                                                          \
	} while (0)

/* Notifications of one of two subscribers since forget(). */
static struct seen {
	_Atomic int enters, exits, gone, left;       /* created; destroyed */
	pti_callback_kernel_data created, destroyed; /* last notifications */
	uint32_t id;
} seen[2];
static cl_program program;
static cl_kernel inner; /* kernel to release in a callback */

static void on_callback(pti_callback_domain domain, pti_api_group_id group, uint32_t id,
			pti_backend_ctx_t in, void *data, void *user, void **instance)
{
	const pti_callback_kernel_data *d = data;
	const bool exits = d->_phase == PTI_CB_PHASE_API_EXIT;
	struct seen *s = user;
	cl_kernel k;

	CHECK(group == PTI_API_GROUP_OPENCL && in == context && d->_correlation_id);
	CHECK(d->_device_handle == device);
	CHECK((*instance != NULL) == exits);
	*instance = s;
	if (domain == CREATED) {
		(exits ? &s->exits : &s->enters)[0]++;
		s->created = *d;
	} else {
		(exits ? &s->left : &s->gone)[0]++;
		s->destroyed = *d;
	}
	s->id = id;
	if (inner && !exits && s == &seen[1]) {
		k = inner;
		inner = NULL;
		OK(clReleaseKernel(k));
	}
}

static void forget(void)
{
	memset((void *)seen, 0, sizeof seen);
}

static void expect(int enters, int exits, int gone, int left, int line)
{
	for (int i = 0; i < 2; i++)
		if (seen[i].enters != enters || seen[i].exits != exits || seen[i].gone != gone ||
		    seen[i].left != left) {
			printf("line %d: subscriber %d: %d %d %d %d\n", line, i, seen[i].enters,
			       seen[i].exits, seen[i].gone, seen[i].left);
			failures++;
		}
}
#define EXPECT_SEEN(...) expect(__VA_ARGS__, __LINE__)

static void the_last_reference_destroys(void)
{
	cl_kernel k;
	uint64_t number;

	forget();
	k = open_kernel(program, "scale");
	EXPECT_SEEN(1, 1, 0, 0);
	CHECK(seen[0].id == clCreateKernel_id && strcmp(seen[0].created._name, "scale") == 0);
	CHECK(seen[0].created._device_kernel_handle == k);
	CHECK(seen[0].created._module_handle == program);
	number = seen[0].created._kernel_handle;
	CHECK(number != 0);
	OK(clRetainKernel(k));
	OK(clReleaseKernel(k));
	EXPECT_SEEN(1, 1, 0, 0);
	OK(clReleaseKernel(k));
	EXPECT_SEEN(1, 1, 1, 1);
	CHECK(seen[0].destroyed._device_kernel_handle == k && !seen[0].destroyed._name);
	CHECK(seen[0].destroyed._kernel_handle == number && !seen[0].destroyed._module_handle);
}

static void several_are_created_by_one_call(void)
{
	cl_kernel both[2] = {NULL, NULL}, more[4];
	cl_uint count = 0;

	forget();
	OK(clCreateKernelsInProgram(program, 0, NULL, &count));
	EXPECT_SEEN(0, 0, 0, 0); /* because the call was only a query */
	CHECK(count == 2);
	OK(clCreateKernelsInProgram(program, 2, both, NULL));
	EXPECT_SEEN(1, 2, 0, 0);
	CHECK(seen[0].created._device_kernel_handle == both[1] && seen[0].created._kernel_handle);
	OK(clReleaseKernel(both[0]));
	OK(clReleaseKernel(both[1]));
	EXPECT_SEEN(1, 2, 2, 2);
	/* the number of notifications is the number of created kernels */
	OK(clCreateKernelsInProgram(program, 4, more, &count));
	EXPECT_SEEN(2, 4, 2, 2);
	OK(clReleaseKernel(more[0]));
	OK(clReleaseKernel(more[1]));
}

static void a_copy_is_a_kernel(void)
{
	cl_kernel k = open_kernel(program, "add"), copy;
	cl_int error;

	forget();
	copy = clCloneKernel(k, &error);
	EXPECT_SEEN(1, 1, 0, 0);
	CHECK(strcmp(seen[0].created._name, "add") == 0);
	CHECK(seen[0].created._module_handle == program);
	CHECK(seen[0].created._return_code == (uint32_t)error);
	CHECK(seen[0].created._device_kernel_handle == copy);
	if (copy)
		OK(clReleaseKernel(copy));
	OK(clReleaseKernel(k));
}

static void what_fails_creates_and_destroys_nothing(void)
{
	cl_int error;

	forget();
	CHECK(clCreateKernel(program, "none", &error) == NULL);
	EXPECT_SEEN(1, 1, 0, 0);
	CHECK(seen[0].created._return_code == (uint32_t)error && error);
	CHECK(!seen[0].created._device_kernel_handle && !seen[0].created._kernel_handle);
	CHECK(clReleaseKernel(NULL) != CL_SUCCESS);
	EXPECT_SEEN(1, 1, 0, 0);
}

static void a_callback_releases_another_one(void)
{
	cl_kernel k = open_kernel(program, "scale");

	inner = open_kernel(program, "add");
	forget();
	OK(clReleaseKernel(k));
	EXPECT_SEEN(0, 0, 2, 2);
	CHECK(seen[0].destroyed._device_kernel_handle == k);
}

static void *release(void *kernel)
{
	OK(clReleaseKernel(kernel));
	return NULL;
}

static void two_threads_release_at_once(void)
{
	pthread_t thread;

	forget();
	for (int i = 0; i < ROUNDS; i++) {
		cl_kernel k = open_kernel(program, "scale");

		OK(clRetainKernel(k));
		pthread_create(&thread, NULL, release, k);
		release(k);
		pthread_join(thread, NULL);
	}
	EXPECT_SEEN(ROUNDS, ROUNDS, ROUNDS, ROUNDS);
}

int main(void)
{
	pti_callback_subscriber_handle s[2];

	open_device();
	program = build_program("kernel void scale(global float *x) { x[get_global_id(0)] *= 2; }\n"
				"kernel void add(global float *x) { x[get_global_id(0)] += 1; }\n");
	for (int i = 0; i < 2; i++) {
		CHECK(ptiCallbackSubscribe(&s[i], on_callback, &seen[i]) == PTI_SUCCESS);
		CHECK(ptiCallbackEnableDomain(s[i], CREATED, 1, 1) == PTI_SUCCESS);
		CHECK(ptiCallbackEnableDomain(s[i], DESTROYED, 1, 1) == PTI_SUCCESS);
	}
	the_last_reference_destroys();
	several_are_created_by_one_call();
	a_copy_is_a_kernel();
	what_fails_creates_and_destroys_nothing();
	a_callback_releases_another_one();
	two_threads_release_at_once();
	/* meanwhile, no subscriber is enabled, but references are still counted */
	CHECK(ptiCallbackDisableDomain(s[0], DESTROYED) == PTI_SUCCESS);
	CHECK(ptiCallbackDisableDomain(s[1], DESTROYED) == PTI_SUCCESS);
	forget();
	{
		cl_kernel k = open_kernel(program, "add");

		OK(clRetainKernel(k));
		OK(clReleaseKernel(k));
		CHECK(ptiCallbackEnableDomain(s[0], DESTROYED, 1, 1) == PTI_SUCCESS);
		OK(clReleaseKernel(k));
		CHECK(seen[0].gone == 1 && seen[0].left == 1 && seen[1].gone == 0);
	}
	OK(clReleaseProgram(program));
	OK(clReleaseContext(context));
	return failures != 0;
}
