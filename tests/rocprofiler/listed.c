/* SPDX-License-Identifier: MIT */
/* A tool that prints its name (NAME) when rocprofiler_configure() is called, when it is
 * initialised, and when it is finalised. */
#include <stdio.h>

#include <rocprofiler-sdk/registration.h>

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	fprintf(stderr, NAME " initialised\n");
	return RESULT;
}

static void finalize(void *data)
{
	(void)data;
	fprintf(stderr, NAME " finalised\n");
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	(void)version, (void)runtime_version;
	id->name = NAME;
	fprintf(stderr, NAME " asked, priority %u\n", priority);
	return &result;
}
