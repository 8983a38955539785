/* SPDX-License-Identifier: MIT */
/* Linked statically, so that nothing can be injected. static_program [become PROGRAM ARGUMENT ...]:
 * executes PROGRAM after more than a second. */
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "become")) {
		usleep(2500000); /* because the collector checks for ended processes every second */
		execv(argv[2], argv + 2);
	}
	return 7;
}
