/* SPDX-License-Identifier: MIT */
/* Reads arguments of calls in progress, for layers over the tool API that format arguments
 * differently. */
#ifndef GPUTAP_TOOL_TOOL_ARGS_H
#define GPUTAP_TOOL_TOOL_ARGS_H

#include <stddef.h>
#include <stdint.h>

/* Exported for librocprofiler-sdk.so.1, a layer that ships with this library. Not for users. */
#pragma GCC visibility push(default)

/* Return an argument's type in the form of C++'s typeid(): "PKv", "P12ihipStream_t",
 * "18rocprofiler_dim3_t". Return NULL if the domain is not AMD's or has no such argument. */
const char *gt_tool_argument_mangled(uint32_t domain, uint32_t operation, unsigned argument);

/* Return the address of an argument in the C struct of the operation's arguments, or NULL if no
 * such argument exists. */
const void *gt_tool_argument_value(uint32_t domain, uint32_t operation, unsigned argument,
				   const void *args, uint32_t *bytes);

enum gt_text_style {
	/* as in exports: "kind=hipMemcpyDeviceToHost", "{x=310, y=310, z=1}", "NULL" */
	GT_TEXT_OWN = 0,
	/* as in rocprofiler-sdk: "DeviceToHost", "{z=1, y=310, x=310}", "(null)"; always shows
	 * strings, without quotes */
	GT_TEXT_UPSTREAM,
};

/**
 * gt_tool_argument_text() - format an argument's value
 * @args:         struct of the operation's arguments
 * @dereference:  maximum number of pointers to follow
 * @dereferenced: receives the number of pointers followed
 * Return: length of the text, like snprintf().
 */
size_t gt_tool_argument_text(uint32_t domain, uint32_t operation, unsigned argument,
			     const void *args, uint32_t dereference, enum gt_text_style style,
			     char *buffer, size_t size, uint32_t *dereferenced);

#pragma GCC visibility pop

#endif
