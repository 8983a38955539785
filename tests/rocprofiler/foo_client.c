/* SPDX-License-Identifier: MIT */
/* A client that replaces foo() (examples/tool/foo) in the table with its own function. Clients
 * compiled with different NAMEs form a chain. */
#include <stdio.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "foo.h"

static int (*next)(int value);

static int my_foo(int value)
{
	int result;

	fprintf(stderr, NAME ": foo(%d)\n", value);
	result = next(value);
	fprintf(stderr, NAME ": foo(%d) = %d\n", value, result);
	return result;
}

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
		     void **tables, uint64_t count, void *data)
{
	struct foo_table *foo = tables[0];
	const char *name = NULL;

	(void)version, (void)data;
	if (rocprofiler_query_intercept_table_name(type, &name, NULL) !=
		    ROCPROFILER_STATUS_SUCCESS ||
	    strcmp(name, "foo"))
		return;
	if (count != 1 || instance || foo->size < offsetof(struct foo_table, foo) + sizeof foo->foo)
		return;
	next = foo->foo;
	foo->foo = my_foo;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	return rocprofiler_at_intercept_table_registration(on_table,
							   ROCPROFILER_GPUTAP_OFFERED_TABLES, NULL);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = NAME;
	return &result;
}
