/* SPDX-License-Identifier: MIT */
/* Finds the reasons in /proc that forbid attaching to a process: see inject.h. Stops nothing.
 * The kernel's own rules are not repeated here: gputap tries what they protect (opening the
 * process's memory), and explains a refusal afterwards. */
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/inject_seccomp.h"
#include "collector/inject_target.h"
#include "collector/proc_files.h"

enum { PATH_BYTES = 64, LINE_BYTES = 512, LINK_BYTES = 64 };

/* Lines of /proc/PID/status. */
struct status {
	int tgid, tracer, threads;
	bool is_kernel, has_shadow_stack;
};

static bool read_status(pid_t pid, struct status *out)
{
	char path[PATH_BYTES], line[LINE_BYTES];
	int kernel = 0;
	FILE *f;

	*out = (struct status){.tgid = 0};
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof line, f)) {
		sscanf(line, "Tgid: %d", &out->tgid);
		sscanf(line, "TracerPid: %d", &out->tracer);
		sscanf(line, "Threads: %d", &out->threads);
		sscanf(line, "Kthread: %d", &kernel);
		if (!strncmp(line, "x86_Thread_features:", 20) && strstr(line, "shstk"))
			out->has_shadow_stack = true;
	}
	fclose(f);
	out->is_kernel = kernel != 0;
	return out->tgid != 0;
}

static bool is_in_other_namespace(pid_t pid, const char *kind)
{
	char path[PATH_BYTES], theirs[LINK_BYTES], ours[LINK_BYTES];
	ssize_t n, k;

	snprintf(path, sizeof path, "/proc/%d/ns/%s", pid, kind);
	n = readlink(path, theirs, sizeof theirs);
	snprintf(path, sizeof path, "/proc/self/ns/%s", kind);
	k = readlink(path, ours, sizeof ours);
	return n > 0 && k > 0 && (n != k || memcmp(theirs, ours, (size_t)n) != 0);
}

static int read_ptrace_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
}

/* Explain why the kernel did not open the process's memory. */
static int explain_refusal(pid_t pid, int error, struct gt_inject_why *why)
{
	const int scope = read_ptrace_scope();
	struct gt_proc_ids ids;
	char path[PATH_BYTES];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d", pid);
	if (!gt_proc_read_ids((uint32_t)pid, &ids) || stat(path, &st))
		return gt_inject_say(why, -ESRCH, "process %d has ended", pid);
	if (scope == 3)
		return gt_inject_say(
			why, -EPERM,
			"process %d may not be traced: kernel.yama.ptrace_scope is 3, "
			"which forbids attaching until the next boot: start the program "
			"with gputap run",
			pid);
	if (ids.uid != geteuid() && geteuid() != 0)
		return gt_inject_say(why, -EPERM,
				     "process %d belongs to another user (uid %u): run gputap as "
				     "that user or as root (sudo gputap attach %d)",
				     pid, ids.uid, pid);
	if (is_in_other_namespace(pid, "user"))
		return gt_inject_say(
			why, -EPERM,
			"process %d is in another user namespace, in which gputap has "
			"no rights: run gputap inside its container, or as root of the "
			"host",
			pid);
	if (geteuid() != 0 && st.st_uid != geteuid())
		return gt_inject_say(why, -EPERM,
				     "process %d is protected because it was started set-user-ID, "
				     "has capabilities, or made itself undumpable: run gputap as "
				     "root (sudo gputap attach %d)",
				     pid, pid);
	if (scope == 1 || scope == 2)
		return gt_inject_say(
			why, -EPERM,
			"process %d may not be traced: kernel.yama.ptrace_scope is %d: "
			"run gputap as root (sudo gputap attach %d)%s",
			pid, scope, pid,
			scope == 1 ? ", or sudo sysctl kernel.yama.ptrace_scope=0" : "");
	return gt_inject_say(why, -EPERM,
			     "process %d may not be traced (%s): run gputap as root with "
			     "CAP_SYS_PTRACE, in a container with --cap-add=SYS_PTRACE",
			     pid, strerror(error));
}

/* A child of vfork() runs in its parent's memory until it calls exec. */
static bool shares_memory(pid_t pid, uint32_t parent)
{
	return parent > 1 && syscall(SYS_kcmp, pid, (pid_t)parent, KCMP_VM, 0, 0) == 0;
}

static bool is_of_other_size(pid_t pid)
{
	unsigned char head[EI_NIDENT] = {0};
	char path[PATH_BYTES];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, head, sizeof head) : -1;
	if (fd >= 0)
		close(fd);
	return n == sizeof head && !memcmp(head, ELFMAG, SELFMAG) && head[EI_CLASS] != ELFCLASS64;
}

/* The process exists, and is not stopped. */
static int check_kind(pid_t pid, const struct status *s, const struct gt_proc_stat *stat,
		      struct gt_inject_why *why)
{
	char path[PATH_BYTES], program[LINE_BYTES];
	int fd, status;

	if (s->is_kernel ||
	    (!gt_proc_read_program((uint32_t)pid, program, sizeof program) && errno == ENOENT))
		return gt_inject_say(why, -ENOTSUP,
				     "process %d (%s) is a thread of the kernel, which runs no "
				     "program",
				     pid, stat->name);
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return explain_refusal(pid, errno, why);
	close(fd);
	if (is_of_other_size(pid))
		return gt_inject_say(why, -ENOTSUP,
				     "process %d is a 32-bit program and gputap's libraries are "
				     "64-bit: use a 64-bit build of the program",
				     pid);
	status = gt_inject_check_modes(pid, why);
	if (status)
		return status;
	if (s->has_shadow_stack)
		return gt_inject_say(why, -ENOTSUP,
				     "process %d uses a shadow stack, which forbids calls from "
				     "outside: start the program with "
				     "GLIBC_TUNABLES=glibc.cpu.x86_shstk=off",
				     pid);
	if (shares_memory(pid, stat->ppid))
		return gt_inject_say(
			why, -EAGAIN,
			"process %d has just been started by vfork() and still uses the "
			"memory of process %u: try again",
			pid, stat->ppid);
	return 0;
}

int gt_inject_check_process(pid_t pid, struct gt_inject_why *why)
{
	struct gt_proc_stat stat, tracer;
	struct status s;

	if (pid <= 0 || !read_status(pid, &s) || !gt_proc_read_stat((uint32_t)pid, &stat))
		return gt_inject_say(why, -ESRCH, "there is no process %d", pid);
	if (pid == getpid())
		return gt_inject_say(why, -ENOTSUP, "process %d is gputap itself", pid);
	if (s.tgid != pid)
		return gt_inject_say(why, -ENOTSUP,
				     "%d is a thread of process %d: attach to process %d", pid,
				     s.tgid, s.tgid);
	if (s.tracer) {
		gt_proc_read_stat((uint32_t)s.tracer, &tracer);
		return gt_inject_say(
			why, -EBUSY,
			"process %d is traced by process %d (%s): detach that debugger "
			"first",
			pid, s.tracer, tracer.name[0] ? tracer.name : "unknown");
	}
	if ((stat.state == 'Z' || stat.state == 'X') && s.threads <= 1)
		return gt_inject_say(why, -ESRCH,
				     "process %d (%s) has ended; its parent %u has not noticed yet",
				     pid, stat.name, stat.ppid);
	if (stat.state == 'Z' || stat.state == 'X')
		return gt_inject_say(
			why, -ENOTSUP,
			"the first thread of process %d has ended, so that the kernel "
			"shows nothing of the process: start the program with gputap run",
			pid);
	if (stat.state == 'T')
		return gt_inject_say(why, -EBUSY,
				     "process %d is stopped: resume it with kill -CONT %d", pid,
				     pid);
	return check_kind(pid, &s, &stat, why);
}
