/* SPDX-License-Identifier: MIT */
/* A program that exports rocprofiler_configure() and also forces the configuration: in its
 * constructor, or in main() (IN_MAIN). Prints the two results, and how often it was configured and
 * finalised. */
#include <stdio.h>
#include <stdlib.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static unsigned configured;

static void finalize(void *data)
{
	(void)data;
	printf(", finalized %u\n", configured);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, NULL, finalize, NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "forces";
	configured++;
	return &result;
}

static void force(void)
{
	rocprofiler_status_t first = rocprofiler_force_configure(NULL);

	printf("force %d, again %d, configured %u", (int)first,
	       (int)rocprofiler_force_configure(NULL), configured);
}

#ifdef IN_CONSTRUCTOR
__attribute__((constructor)) static void construct(void)
{
	force();
}
#endif

int main(void)
{
#ifdef IN_MAIN
	force();
#endif
	return 0;
}
