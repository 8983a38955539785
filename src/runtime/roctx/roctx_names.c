/* SPDX-License-Identifier: MIT */
/* Records names that the program assigns through ROCTx. The name of a thread is a separate object;
 * other names are written with the named object. */
#include "core/emit.h"
#include "core/recording.h"
#include "generated/roctx_wraps.h"
#include "runtime/rocm.h"

static struct gt_thread *thread_of(const struct gt_call *call)
{
	return call->thread ? call->thread : gt_thread_own();
}

int gt_roctx_wrap_roctxNameOsThread(const struct gt_call *call, const char *name)
{
	struct gt_thread *t = thread_of(call);
	int ret = ((gt_roctx_roctxNameOsThread_fn *)call->tap->real)(name);
	struct gt_text text = {0};

	if (t && name && *name) {
		gt_text_add(&text, "name", name);
		gt_object_write(t, GT_OBJECT_THREAD, GT_DOMAIN_ROCTX, t->slot->ordinal, 0, 0,
				&text);
	}
	return ret;
}

/* Name an agent. @agent: points to the HSA handle */
int gt_roctx_wrap_roctxNameHsaAgent(const struct gt_call *call, const char *name, const void *agent)
{
	struct gt_thread *t = thread_of(call);
	int ret = ((gt_roctx_roctxNameHsaAgent_fn *)call->tap->real)(name, agent);

	if (t && name && *name && agent)
		gt_rocm_device_name(t, *(const uint64_t *)agent, NULL, name);
	return ret;
}

int gt_roctx_wrap_roctxNameHipDevice(const struct gt_call *call, const char *name, int device)
{
	struct gt_thread *t = thread_of(call);
	int ret = ((gt_roctx_roctxNameHipDevice_fn *)call->tap->real)(name, device);

	if (t && name && *name)
		gt_rocm_hip_device_name(t, device, name);
	return ret;
}

int gt_roctx_wrap_roctxNameHipStream(const struct gt_call *call, const char *name,
				     const void *stream)
{
	struct gt_thread *t = thread_of(call);
	int ret = ((gt_roctx_roctxNameHipStream_fn *)call->tap->real)(name, stream);

	if (t && name && *name && stream)
		gt_rocm_stream_name(t, stream, name);
	return ret;
}
