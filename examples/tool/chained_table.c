/* SPDX-License-Identifier: MIT */
/* Wrap a runtime's function in its table: OpenCL buffers get one page more than the program
 * requests.
 *
 * Several tools form a chain: the last tool to register is called first, and calls the function
 * that it found in the table. To build two tools, compile this file with -DNAME='"inner"', and
 * again with -DNAME='"outer"'.
 * LD_PRELOAD=libgputap.so.0 GPUTAP_TOOLS=./inner.so:./outer.so program */
#define CL_TARGET_OPENCL_VERSION 300
#include <gputap/tool.h>

#include <CL/cl_icd.h>
#include <stddef.h>
#include <stdio.h>

#ifndef NAME
#define NAME "chained_table"
#endif

enum { MORE = 4096 };

typedef cl_mem(CL_API_CALL *create_buffer_fn)(cl_context context, cl_mem_flags flags, size_t size,
					      void *host_ptr, cl_int *errcode_ret);

static create_buffer_fn next;

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
					void *host_ptr, cl_int *errcode_ret)
{
	cl_mem made;

	/* if the size were enlarged, the runtime would read past the end of the program's data */
	if (host_ptr)
		return next(context, flags, size, host_ptr, errcode_ret);
	fprintf(stderr, NAME ": a buffer of %zu bytes, asks for %zu\n", size, size + MORE);
	made = next(context, flags, size + MORE, host_ptr, errcode_ret);
	fprintf(stderr, NAME ": done\n");
	return made;
}

static void on_table(const struct gputap_table *table, void *user)
{
	size_t entry = offsetof(cl_icd_dispatch, clCreateBuffer) / sizeof(void *);

	(void)user;
	/* A shorter table belongs to an older runtime. A second copy of the runtime would need a
	 * separate function */
	if (table->domain != GPUTAP_DOMAIN_OPENCL || next ||
	    table->bytes < (entry + 1) * sizeof(void *))
		return;
	next = (create_buffer_fn)table->entries[entry];
	table->entries[entry] = (void *)create_buffer;
}

static int start(void *user)
{
	(void)user;
	return gputap_table_subscribe(on_table, NULL);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = NAME,
						.start = start};

	(void)version;
	return &tool;
}
