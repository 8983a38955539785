/* SPDX-License-Identifier: MIT */
/* filtered openat|strict|harmless: sleeps under a filter of system calls: one that ends the process
 * at openat(), seccomp's strict mode, or a filter that allows everything. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const int strict = argc > 1 && !strcmp(argv[1], "strict");
	struct sock_filter list[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof list / sizeof *list, list};

	if (argc > 1 && !strcmp(argv[1], "harmless"))
		list[2].k = SECCOMP_RET_ALLOW;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	puts("ready");
	fflush(stdout);
	if (strict) {
		char byte;

		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		while (read(0, &byte, 1) > 0)
			;
		syscall(SYS_exit, 0);
	}
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 2;
	while (!usleep(100000))
		;
	return 1;
}
