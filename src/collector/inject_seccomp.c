/* SPDX-License-Identifier: MIT */
/* See inject_seccomp.h. The kernel shows filters only to a process with CAP_SYS_ADMIN. Without it,
 * the filters of a container are recognised: gputap runs in the same container under the same
 * number of filters, and makes the same calls itself. */
#include "collector/inject_seccomp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/system_calls.h"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

enum {
	CLASSIC_WORDS = 16,
	LINE_BYTES = 256,
	NAMESPACE_BYTES = 64,
	MODE_STRICT = 1,
	MODE_FILTER = 2
};
#define CLONE_OF_THREAD UINT64_C(0x3d0f00) /* flags with which libc creates threads */

/* A call that the worker, pthread_create(), dlopen() or gputap's library makes. */
struct needed_call {
	int number;
	const char *name;
	uint64_t args[4];
	bool may_fail; /* the caller does without the call if the filter returns an error */
};

static const struct needed_call needed[] = {
	{SYS_mmap, "mmap", {0, 4096, 5 /* PROT_READ | PROT_EXEC */, 0x22}, false},
	{SYS_mmap, "mmap", {0, 4096, 3, 0x22}, false},
	{SYS_mprotect, "mprotect", {0, 4096, 3}, false},
	{SYS_munmap, "munmap", {0}, false},
	{SYS_clone, "clone", {CLONE_OF_THREAD}, false},
	{SYS_clone3, "clone3", {0}, true},
	{SYS_openat, "openat", {0}, false},
	{SYS_read, "read", {0}, false},
	{SYS_pread64, "pread64", {0}, false},
	{SYS_newfstatat, "newfstatat", {0}, false},
	{SYS_close, "close", {0}, false},
	{SYS_futex, "futex", {0}, false},
	{SYS_set_robust_list, "set_robust_list", {0}, false},
	{SYS_rseq, "rseq", {0}, true},
	{SYS_madvise, "madvise", {0}, true},
	{SYS_nanosleep, "nanosleep", {0}, false},
	{SYS_rt_sigprocmask, "rt_sigprocmask", {0}, false},
	{SYS_prctl, "prctl", {15 /* PR_SET_NAME */}, true},
	{SYS_getpid, "getpid", {0}, false},
	{SYS_gettid, "gettid", {0}, false},
	{SYS_tgkill, "tgkill", {0}, false},
	{SYS_rt_sigreturn, "rt_sigreturn", {0}, false},
	{SYS_memfd_create, "memfd_create", {0}, true},
	{SYS_exit, "exit", {0}, false},
	/* gputap's library, in all threads of the program */
	{SYS_openat, "openat", {0, 0, 02000302 /* O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC */}, true},
	{SYS_mmap, "mmap", {0, 4096, 3, 1 /* MAP_SHARED */}, true},
	{SYS_process_vm_readv, "process_vm_readv", {0}, true},
	{SYS_clock_gettime, "clock_gettime", {0}, true},
	{SYS_clock_nanosleep, "clock_nanosleep", {0}, true},
	{SYS_getdents64, "getdents64", {0}, true},
	{SYS_readlink, "readlink", {0}, true},
	{SYS_readlinkat, "readlinkat", {0}, true},
	{SYS_access, "access", {0}, true},
	{SYS_faccessat, "faccessat", {0}, true},
	{SYS_fstatfs, "fstatfs", {0}, true},
	{SYS_fgetxattr, "fgetxattr", {0}, true},
	{SYS_write, "write", {0}, true},
	{SYS_pipe2, "pipe2", {0}, true},
	{SYS_ftruncate, "ftruncate", {0}, true},
	{SYS_fallocate, "fallocate", {0}, true},
	{SYS_fchmod, "fchmod", {0}, true},
	{SYS_renameat, "renameat", {0}, true},
	{SYS_unlinkat, "unlinkat", {0}, true},
	{SYS_symlinkat, "symlinkat", {0}, true},
	{SYS_brk, "brk", {0}, true},
	{SYS_mremap, "mremap", {0}, true},
	{SYS_mincore, "mincore", {0}, true},
	{SYS_membarrier, "membarrier", {0}, true},
	{SYS_prlimit64, "prlimit64", {0}, true},
	{SYS_getrusage, "getrusage", {0}, true},
	{SYS_getppid, "getppid", {0}, true},
	{SYS_getuid, "getuid", {0}, true},
	{SYS_geteuid, "geteuid", {0}, true},
	{SYS_getgid, "getgid", {0}, true},
	{SYS_getegid, "getegid", {0}, true},
	{SYS_sched_yield, "sched_yield", {0}, true},
	{SYS_sched_getaffinity, "sched_getaffinity", {0}, true},
	{SYS_sched_setaffinity, "sched_setaffinity", {0}, true},
	{SYS_sched_getattr, "sched_getattr", {0}, true},
	{SYS_sched_setattr, "sched_setattr", {0}, true},
	{SYS_sigaltstack, "sigaltstack", {0}, true},
	{SYS_rt_sigaction, "rt_sigaction", {0}, true},
};

/* Filters ----------------------------------------------------------------------------------- */

struct machine {
	uint32_t a, x, memory[CLASSIC_WORDS];
	const struct seccomp_data *data;
};

static uint32_t load(const struct machine *m, const struct sock_filter *f)
{
	uint32_t v = 0;

	switch (BPF_MODE(f->code)) {
	case BPF_ABS:
		if (f->k % sizeof v == 0 && f->k <= sizeof *m->data - sizeof v)
			memcpy(&v, (const char *)m->data + f->k, sizeof v);
		return v;
	case BPF_MEM: return m->memory[f->k % CLASSIC_WORDS];
	case BPF_LEN: return sizeof *m->data;
	default: return f->k;
	}
}

static bool compute(struct machine *m, const struct sock_filter *f)
{
	const uint32_t v = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD: m->a += v; break;
	case BPF_SUB: m->a -= v; break;
	case BPF_MUL: m->a *= v; break;
	case BPF_DIV: m->a = v ? m->a / v : 0; break;
	case BPF_AND: m->a &= v; break;
	case BPF_OR: m->a |= v; break;
	case BPF_XOR: m->a ^= v; break;
	case BPF_LSH: m->a = v < 32 ? m->a << v : 0; break;
	case BPF_RSH: m->a = v < 32 ? m->a >> v : 0; break;
	case BPF_NEG: m->a = 0 - m->a; break;
	default: return false;
	}
	return true;
}

/* Return the number of instructions that a jump skips. */
static uint32_t jump(const struct machine *m, const struct sock_filter *f)
{
	const uint32_t v = BPF_SRC(f->code) == BPF_X ? m->x : f->k;
	bool is_true;

	switch (BPF_OP(f->code)) {
	case BPF_JA: return f->k;
	case BPF_JEQ: is_true = m->a == v; break;
	case BPF_JGT: is_true = m->a > v; break;
	case BPF_JGE: is_true = m->a >= v; break;
	default: is_true = (m->a & v) != 0; break; /* BPF_JSET */
	}
	return is_true ? f->jt : f->jf;
}

/* Return what a filter answers to a call. */
static uint32_t run_filter(const struct sock_filter *list, uint32_t count,
			   const struct seccomp_data *data)
{
	struct machine m = {.data = data};

	for (uint64_t i = 0; i < count; i++) {
		const struct sock_filter *f = &list[i];

		switch (BPF_CLASS(f->code)) {
		case BPF_LD: m.a = load(&m, f); break;
		case BPF_LDX: m.x = load(&m, f); break;
		case BPF_ST: m.memory[f->k % CLASSIC_WORDS] = m.a; break;
		case BPF_STX: m.memory[f->k % CLASSIC_WORDS] = m.x; break;
		case BPF_RET: return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
		case BPF_MISC:
			if (BPF_MISCOP(f->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
			break;
		case BPF_ALU:
			if (!compute(&m, f))
				return SECCOMP_RET_KILL_PROCESS;
			break;
		case BPF_JMP: i += jump(&m, f); break;
		default: return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

/* Return the call that a filter forbids; NULL: none. */
static const struct needed_call *find_forbidden(const struct sock_filter *list, uint32_t count)
{
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		const struct needed_call *c = &needed[i];
		struct seccomp_data data = {.nr = c->number, .arch = AUDIT_ARCH_X86_64};
		uint32_t action;

		for (size_t k = 0; k < sizeof c->args / sizeof *c->args; k++)
			data.args[k] = c->args[k];
		action = run_filter(list, count, &data) & SECCOMP_RET_ACTION_FULL;
		if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG &&
		    !(c->may_fail && action == SECCOMP_RET_ERRNO))
			return c;
	}
	return NULL;
}

/* Without the right to read filters --------------------------------------------------------- */

/* Return false if the thread has ended. */
static bool read_mode(const char *path, int *mode, int *filters)
{
	char line[LINE_BYTES];
	FILE *f = fopen(path, "re");

	*mode = *filters = 0;
	while (f && fgets(line, sizeof line, f)) {
		sscanf(line, "Seccomp: %d", mode);
		sscanf(line, "Seccomp_filters: %d", filters);
	}
	if (f)
		fclose(f);
	return f != NULL;
}

static bool is_in_our_container(pid_t pid)
{
	static const char *const kinds[] = {"pid", "mnt"};
	char path[64], ours[NAMESPACE_BYTES], theirs[NAMESPACE_BYTES];

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		ssize_t n, k;

		snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kinds[i]);
		n = readlink(path, theirs, sizeof theirs);
		snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i]);
		k = readlink(path, ours, sizeof ours);
		if (n <= 0 || n != k || memcmp(ours, theirs, (size_t)n) != 0)
			return false;
	}
	return true;
}

int gt_inject_check_modes(pid_t pid, struct gt_inject_why *why)
{
	int mode, filters, thread_mode, thread_filters, status = 0;
	char path[64];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, pid);
	read_mode(path, &mode, &filters);
	snprintf(path, sizeof path, "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !status && (e = readdir(dir))) {
		const int tid = atoi(e->d_name);

		snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
		if (!tid || !read_mode(path, &thread_mode, &thread_filters))
			continue;
		if (thread_mode == MODE_STRICT)
			status = gt_inject_say(
				why, -ENOTSUP,
				"thread %d of process %d is in seccomp's strict mode, in which any "
				"call other than read() and write() ends it: start the program "
				"with gputap run",
				tid, pid);
		else if (thread_mode != mode || thread_filters != filters)
			status = gt_inject_say(
				why, -ENOTSUP,
				"threads of process %d have different filters of system calls "
				"(seccomp), which could end a thread that gputap records: start "
				"the program with gputap run",
				pid);
	}
	if (dir)
		closedir(dir);
	return status;
}

int gt_inject_check_filters(pid_t pid, pid_t tid, struct gt_inject_why *why)
{
	struct sock_filter list[BPF_MAXINSNS];
	int mode, filters, our_mode, our_filters;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
	read_mode(path, &mode, &filters);
	if (mode != MODE_FILTER)
		return 0;
	for (long k = 0;; k++) {
		const long n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, k, list);
		const struct needed_call *forbidden;

		if (n < 0 && errno == ENOENT)
			return 0; /* that was the last */
		if (n < 0)
			break;
		forbidden = find_forbidden(list, (uint32_t)n);
		if (forbidden)
			return gt_inject_say(
				why, -ENOTSUP,
				"process %d has a filter of system calls (seccomp) that "
				"forbids %s(): allow the call in the filter, or start "
				"the program with gputap run",
				pid, forbidden->name);
	}
	read_mode("/proc/self/status", &our_mode, &our_filters);
	if (our_mode == mode && our_filters == filters && filters && is_in_our_container(pid))
		return 0;
	return gt_inject_say(why, -EPERM,
			     "process %d has a filter of system calls (seccomp) that only root may "
			     "read, and that could kill it: run gputap as root (sudo gputap attach "
			     "%d)",
			     pid, pid);
}
