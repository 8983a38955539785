/* SPDX-License-Identifier: MIT */
/* Objects: a tool that prints the queues and kernels that an OpenCL program creates.
 *
 *     cc -shared -fPIC objects.c -lgputap -o objects.so
 *     gputap run --tool ./objects.so ./program */
#include <gputap/tool.h>
#include <stdio.h>

static void on_object(const struct gputap_object *object, uint64_t *data, void *user)
{
	(void)data, (void)user;
	if (object->phase == GPUTAP_OBJECT_PHASE_LOAD)
		fprintf(stderr, "%s %llu %s\n", gputap_object_name(object->type),
			(unsigned long long)object->number, object->name ? object->name : "");
}

static int start(void *user)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *context;

	(void)user;
	if (gputap_context_create(&opts, &context) ||
	    gputap_context_objects(context, GPUTAP_DOMAIN_OPENCL,
				   1u << GPUTAP_OBJECT_QUEUE | 1u << GPUTAP_OBJECT_KERNEL_SYMBOL,
				   GPUTAP_OBJECTS_DEFAULT, on_object, NULL))
		return -1;
	return gputap_context_start(context);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "objects",
						.start = start};

	(void)version;
	return &tool;
}
