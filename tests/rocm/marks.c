/* SPDX-License-Identifier: MIT */
/* marks [pause]: makes known ranges with ROCTx. Prints the results of the functions. A range begins
 * in one thread and ends in another. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "compat/roctx/roctx.h"

static void *other(void *id)
{
	roctxNameOsThread("helper");
	roctxRangePushA("in the helper");
	roctxRangeStop(*(roctx_range_id_t *)id);
	printf("%d\n", roctxRangePop());
	return NULL;
}

int main(int argc, char **argv)
{
	roctx_thread_id_t tid = 0;
	roctx_range_id_t id;
	pthread_t thread;

	printf("%u.%u\n", roctx_version_major(), roctx_version_minor());
	if (argc > 1 && !strcmp(argv[1], "pause")) {
		roctxMarkA("before");
		roctxProfilerPause(0);
		roctxMarkA("between");
		roctxProfilerResume(0);
		roctxMarkA("after");
		return 0;
	}
	printf("%d\n", roctxRangePushA("outer"));
	for (int i = 0; i < 3; i++) {
		printf("%d\n", roctxRangePushA("step"));
		roctxMark("now");
		printf("%d\n", roctxRangePop());
	}
	printf("%d\n", roctxRangePop());
	printf("%d\n", roctxRangePop());
	id = roctxRangeStartA("across \"threads\"");
	pthread_create(&thread, NULL, other, &id);
	pthread_join(thread, NULL);
	printf("%d %d\n", id != 0, roctxGetThreadId(&tid) == 0 && tid != 0);
	roctxRangePushA("never popped");
	return 0;
}
