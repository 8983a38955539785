/* SPDX-License-Identifier: MIT */
/* Makes calls of Level Zero while `gputap run`, its parent, is stopped, until buffers are full.
 * Then makes calls until log_tool.c, which is linked in, is notified of the loss. */
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "gpu.h"

extern _Atomic int log_tool_critical;

int main(void)
{
	alarm(100); /* an untraced program is never notified */
	gpu_open("immediate");
	kill(getppid(), SIGSTOP);
	for (int i = 0; i < 50000; i++)
		gpu_call();
	kill(getppid(), SIGCONT);
	while (!log_tool_critical)
		gpu_call();
	gpu_close();
	return 0;
}
