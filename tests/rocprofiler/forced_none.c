/* SPDX-License-Identifier: MIT */
/* rocprofiler_force_configure(NULL) where there is no client: prints what it says, whether it is
 * initialised, what a second call says. */
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
