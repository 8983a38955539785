/* SPDX-License-Identifier: MIT */
/* Arguments of calls in progress, for layers over the tool API that show them differently. */
#ifndef GPUTAP_TOOL_TOOL_ARGS_H
#define GPUTAP_TOOL_TOOL_ARGS_H

#include <stddef.h>
#include <stdint.h>

/* librocprofiler-sdk.so.1, which comes with this library, is such a layer: these are exported
 * for it, not for users. */
#pragma GCC visibility push(default)

/* Return an argument's type as C++'s typeid() names it: "PKv", "P12ihipStream_t",
 * "18rocprofiler_dim3_t"; NULL: the domain is not of AMD's runtimes, or has no such argument. */
const char *gt_tool_argument_mangled(uint32_t domain, uint32_t operation, unsigned argument);

/* Return the address of an argument in the C struct of the operation's arguments; NULL: no such
 * argument. */
const void *gt_tool_argument_value(uint32_t domain, uint32_t operation, unsigned argument,
				   const void *args, uint32_t *bytes);

enum gt_text_style {
	/* as exports: "kind=hipMemcpyDeviceToHost", "{x=310, y=310, z=1}", "NULL" */
	GT_TEXT_OWN = 0,
	/* as rocprofiler-sdk: "DeviceToHost", "{z=1, y=310, x=310}", "(null)"; strings always,
	 * without quotes */
	GT_TEXT_UPSTREAM,
};

/**
 * gt_tool_argument_text() - format an argument's value
 * @args:         struct of the operation's arguments
 * @dereference:  number of pointers that may be followed
 * @dereferenced: receives the number that was
 * Return: length of the text, as snprintf().
 */
size_t gt_tool_argument_text(uint32_t domain, uint32_t operation, unsigned argument,
			     const void *args, uint32_t dereference, enum gt_text_style style,
			     char *buffer, size_t size, uint32_t *dereferenced);

#pragma GCC visibility pop

#endif
