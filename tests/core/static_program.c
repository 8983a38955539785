/* SPDX-License-Identifier: MIT */
/* Linked statically: nothing can be injected. static_program [become PROGRAM ARGUMENT ..]: after
 * a while it becomes that program. */
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "become")) {
		usleep(2500000); /* each second the collector looks for processes that have gone */
		execv(argv[2], argv + 2);
	}
	return 7;
}
