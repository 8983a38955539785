/* SPDX-License-Identifier: MIT */
/* Calls rocprofiler_force_configure(NULL) without any client. Prints the result, whether the
 * library is initialised, and the result of a second call. */
#include <stdio.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

int main(void)
{
	rocprofiler_status_t first = rocprofiler_force_configure(NULL);
	int initialized = 0;

	rocprofiler_is_initialized(&initialized);
	printf("%d %d %d\n", (int)first, initialized, (int)rocprofiler_force_configure(NULL));
	return 0;
}
