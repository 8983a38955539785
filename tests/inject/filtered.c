/* SPDX-License-Identifier: MIT */
/* filtered openat|readv|strict|harmless|thread: sleeps under a filter of system calls: one that
 * ends the process at openat() or process_vm_readv(), seccomp's strict mode, or a filter that
 * allows everything, in all threads or in one. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *sleep_long(void *unused)
{
	while (!usleep(100000))
		;
	return unused;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	const int strict = !strcmp(way, "strict");
	pthread_t thread;
	struct sock_filter list[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof list / sizeof *list, list};

	if (!strcmp(way, "harmless") || !strcmp(way, "thread"))
		list[2].k = SECCOMP_RET_ALLOW;
	if (!strcmp(way, "readv"))
		list[1].k = SYS_process_vm_readv;
	if (!strcmp(way, "thread"))
		pthread_create(&thread, NULL, sleep_long, NULL);
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
