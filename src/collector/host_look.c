/* SPDX-License-Identifier: MIT */
/* See host_look.h. */
#include "collector/host_look.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "collector/host_lock.h"
#include "collector/system_calls.h"

#define MS UINT64_C(1000000)

enum {
	/* Time between two readings that decides whether a running thread has a processor. The
	 * kernel counts CPU time at ticks of up to 10 ms. */
	RUNNING_MS = 12,
	PATH_BYTES = 128,
	/* CPU time in ns of a page fault: with the clearing of 4 KiB and the later removal of the
	 * page 0.5 to 2 us */
	FAULT_NS = 1000,
	/* CPU time of reads and writes of cached data, at least */
	IO_BYTES_PER_NS = 8,
	IO_CALL_NS = 250,
};

/* System calls --------------------------------------------------------------------- */

static bool is_write(long call)
{
	switch (call) {
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_pwritev:
	case SYS_pwritev2:
	case SYS_vmsplice:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg: return true;
	default: return false;
	}
}

static void look_at_descriptor(const struct gt_host_thread *t, const struct gt_host_reading *r,
			       const struct gt_system_call *call, struct gt_host_look *out)
{
	uint32_t descriptor = (uint32_t)r->arguments[call->descriptor];

	out->object = (uint64_t)descriptor + 1;
	out->writes = is_write(r->call);
	out->state = gt_host_descriptor_look(t->process, t->tid, descriptor, out->text);
	if (out->state == GT_HOST_STATE_WAITING && call->kind == GT_SYSTEM_CALL_SOCKET)
		out->state = GT_HOST_STATE_SOCKET;
	/* a read of an eventfd or a timer */
	if (r->letter == 'D' && out->state == GT_HOST_STATE_WAITING)
		out->state = GT_HOST_STATE_DISK;
}

/* Return true if the call waits for a time only. */
static bool is_only_timeout(const struct gt_host_reading *r)
{
	switch (r->call) {
#ifdef SYS_poll
	case SYS_poll: return !r->arguments[1];
	case SYS_select: return !r->arguments[0];
#endif
	case SYS_ppoll: return !r->arguments[1];
	case SYS_pselect6: return !r->arguments[0];
	default: return false;
	}
}

/* Describe the descriptor, if poll() waits for one only. */
static void look_at_poll(const struct gt_host_thread *t, const struct gt_host_reading *r,
			 struct gt_host_look *out)
{
	struct pollfd p;
	bool is_poll = r->call == SYS_ppoll;

#ifdef SYS_poll
	is_poll |= r->call == SYS_poll;
#endif
	out->state = is_only_timeout(r) ? GT_HOST_STATE_SLEEPING : GT_HOST_STATE_POLLING;
	if (!is_poll || r->arguments[1] != 1 ||
	    !gt_host_read_memory(t->process, r->arguments[0], &p, sizeof p) || p.fd < 0)
		return;
	out->object = (uint64_t)(uint32_t)p.fd + 1;
	out->writes = (p.events & POLLOUT) && !(p.events & POLLIN);
	gt_host_descriptor_look(t->process, t->tid, (uint32_t)p.fd, out->text);
}

/* Read the path that is an argument of the call. */
static void look_at_path(const struct gt_host_thread *t, const struct gt_host_reading *r,
			 struct gt_host_look *out)
{
	const char *name = gt_system_call_find(r->call)->name;
	/* the names of calls that take a folder before the path end with "at" */
	bool has_folder = !strcmp(name, "statx") || strstr(name, "at2") ||
			  (strlen(name) > 2 && !strcmp(name + strlen(name) - 2, "at") &&
			   strcmp(name, "stat") && strcmp(name, "lstat") && strcmp(name, "creat"));
	uint64_t address = r->arguments[has_folder ? 1 : 0];
	char path[PATH_BYTES], seen[PATH_BYTES + 32];
	struct stat st;
	unsigned bytes = PATH_BYTES - 1;

	out->state = r->call == SYS_sync ? GT_HOST_STATE_DISK : GT_HOST_STATE_FILE;
	/* up to the end of the page if the next one cannot be read */
	if (r->call == SYS_sync)
		return;
	if (!gt_host_read_memory(t->process, address, path, bytes)) {
		bytes = 4096 - (unsigned)(address & 4095);
		if (bytes >= PATH_BYTES || !gt_host_read_memory(t->process, address, path, bytes))
			return;
	}
	path[bytes] = '\0';
	snprintf(out->text, sizeof out->text, "%s", path);
	/* a path in the folder of another descriptor is not found here */
	snprintf(seen, sizeof seen, "%u/%s/%s", t->tid, path[0] == '/' ? "root" : "cwd", path);
	if (!fstatat(t->process->tasks, seen, &st, 0) && S_ISFIFO(st.st_mode))
		out->state = GT_HOST_STATE_PIPE;
}

static void look_at_child(const struct gt_host_reading *r, struct gt_host_look *out)
{
	int32_t pid = (int32_t)r->arguments[r->call == SYS_waitid ? 1 : 0];
	struct gt_host_process child;
	char name[16] = "";

	out->state = GT_HOST_STATE_CHILD;
	if (pid <= 0 || (r->call == SYS_waitid && r->arguments[0] != 1))
		return;
	if (!gt_host_process_open((uint32_t)pid, &child)) {
		gt_host_read_name(&child, (uint32_t)pid, name, sizeof name);
		gt_host_process_close(&child);
	}
	snprintf(out->text, sizeof out->text, "%s%s(pid %d)", name, name[0] ? " " : "", pid);
}

static void look_at_futex(const struct gt_host_thread *t, const struct gt_host_reading *r,
			  struct gt_host_look *out)
{
	struct gt_host_lock lock;

	gt_host_lock_find(t->process, r, &lock);
	out->state = lock.is_lock ? GT_HOST_STATE_LOCK : GT_HOST_STATE_CONDITION;
	out->object = lock.address;
	out->holder = lock.holder;
	out->is_join = lock.is_join;
}

/* Name the kernel's function in which the thread waits, or the system call. */
static void name_wait(const struct gt_host_thread *t, const char *call, struct gt_host_look *out)
{
	char channel[64];

	if (call)
		snprintf(out->text, sizeof out->text, "%s", call);
	else if (gt_host_read_file(t->process, t->tid, "wchan", channel, sizeof channel) > 0 &&
		 strcmp(channel, "0") != 0)
		snprintf(out->text, sizeof out->text, "%s", channel);
}

/* A call with a timeout continues as restart_syscall after a stop, with the arguments of the first
 * call. The kernel restarts sleeps, poll() and futexes only, and the function in which the thread
 * waits shows which; the functions of sleeps are hidden. */
static long find_restarted(const struct gt_host_thread *t)
{
	char channel[64];

	if (gt_host_read_file(t->process, t->tid, "wchan", channel, sizeof channel) <= 0)
		return SYS_restart_syscall;
	if (strstr(channel, "futex"))
		return SYS_futex;
#ifdef SYS_poll
	if (strstr(channel, "poll"))
		return SYS_poll;
#endif
	return strcmp(channel, "0") ? SYS_clock_nanosleep : SYS_restart_syscall;
}

static void look_at_call(const struct gt_host_thread *t, const struct gt_host_reading *r,
			 struct gt_host_look *out)
{
	const struct gt_system_call *call = gt_system_call_find(r->call);
	struct gt_host_reading first;

	if (r->call == SYS_restart_syscall) {
		first = *r;
		first.call = find_restarted(t);
		if (first.call != r->call) {
			look_at_call(t, &first, out);
			return;
		}
	}

	out->call = (uint32_t)r->call + 1;
	switch (call->kind) {
	case GT_SYSTEM_CALL_DESCRIPTOR:
	case GT_SYSTEM_CALL_SOCKET: look_at_descriptor(t, r, call, out); break;
	case GT_SYSTEM_CALL_PATH: look_at_path(t, r, out); break;
	case GT_SYSTEM_CALL_POLL: look_at_poll(t, r, out); break;
	case GT_SYSTEM_CALL_SLEEP: out->state = GT_HOST_STATE_SLEEPING; break;
	case GT_SYSTEM_CALL_FUTEX: look_at_futex(t, r, out); break;
	case GT_SYSTEM_CALL_CHILD: look_at_child(r, out); break;
	case GT_SYSTEM_CALL_SIGNAL:
		out->state = GT_HOST_STATE_WAITING;
		snprintf(out->text, sizeof out->text, "a signal");
		break;
	case GT_SYSTEM_CALL_IPC:
		out->state = GT_HOST_STATE_CONDITION;
		snprintf(out->text, sizeof out->text, "%s", call->name);
		break;
	case GT_SYSTEM_CALL_MEMORY:
	case GT_SYSTEM_CALL_OTHER:
		out->state = r->letter == 'D' ? GT_HOST_STATE_DISK : GT_HOST_STATE_WAITING;
		name_wait(t, call->name, out);
		break;
	}
}

/* States --------------------------------------------------------------------------- */

void gt_host_look_at(const struct gt_host_thread *t, const struct gt_host_reading *r,
		     struct gt_host_look *out)
{
	memset(out, 0, sizeof *out);
	switch (r->letter) {
	case 'R': out->state = GT_HOST_STATE_COMPUTING; return;
	case 'T':
	case 't':
		out->state = GT_HOST_STATE_STOPPED;
		snprintf(out->text, sizeof out->text, "%s",
			 r->letter == 't' ? "by a debugger" : "by a signal");
		return;
	case 'S':
	case 'D': break;
	default: out->state = GT_HOST_STATE_UNKNOWN; return;
	}
	if (r->call >= 0) {
		look_at_call(t, r, out);
		return;
	}
	if (t->syscall_error)
		out->state = r->letter == 'D' ? GT_HOST_STATE_DISK : GT_HOST_STATE_WAITING;
	else /* waits outside a system call */
		out->state = GT_HOST_STATE_FAULTS;
	name_wait(t, NULL, out);
}

void gt_host_look_describe(const struct gt_host_thread *t, struct gt_host_peers *peers,
			   struct gt_host_look *look)
{
	if (!look->holder)
		gt_host_descriptor_describe(peers, t->process->pid, look->writes, look->text);
}

/* Return the activity of a thread in a state, as a clause. */
static const char *get_activity(enum gt_host_state state)
{
	switch (state) {
	case GT_HOST_STATE_COMPUTING: return "which computes";
	case GT_HOST_STATE_RUNNABLE: return "which waits for a processor";
	case GT_HOST_STATE_LOCK: return "which waits for a lock";
	case GT_HOST_STATE_CONDITION: return "which waits for another thread";
	case GT_HOST_STATE_SLEEPING: return "which sleeps";
	case GT_HOST_STATE_FILE: return "which reads or writes a file";
	case GT_HOST_STATE_PIPE: return "which reads or writes a pipe";
	case GT_HOST_STATE_SOCKET: return "which waits for the network";
	case GT_HOST_STATE_POLLING: return "which waits for descriptors";
	case GT_HOST_STATE_CHILD: return "which waits for a process";
	case GT_HOST_STATE_FAULTS: return "which has page faults";
	case GT_HOST_STATE_STOPPED: return "which is stopped";
	case GT_HOST_STATE_DRIVER: return "which is in the driver";
	case GT_HOST_STATE_DISK: return "which waits for storage";
	case GT_HOST_STATE_WAITING: return "which waits";
	default: return NULL;
	}
}

void gt_host_look_describe_holder(const struct gt_host_thread *t, enum gt_host_state state,
				  const char *operation, struct gt_host_look *look)
{
	const char *activity = get_activity(state);
	char name[16] = "thread";

	if (!look->holder)
		return;
	if (look->holder == t->tid) {
		snprintf(look->text, sizeof look->text, "this thread holds it itself");
		return;
	}
	gt_host_read_name(t->process, look->holder, name, sizeof name);
	snprintf(look->text, sizeof look->text, "%s%s (thread %u)%s%s%s%s",
		 look->is_join ? "the end of " : "", name, look->holder, activity ? ", " : "",
		 activity ? activity : "", operation ? activity ? " in " : ", which is in " : "",
		 operation ? operation : "");
}

enum gt_host_state gt_host_used_state(const struct gt_host_reading *before,
				      const struct gt_host_reading *after)
{
	uint64_t cpu = after->cpu_ns - before->cpu_ns,
		 faults = after->minor_faults - before->minor_faults,
		 system = after->system_ns - before->system_ns,
		 bytes = after->io_bytes - before->io_bytes,
		 calls = after->io_calls - before->io_calls;

	if (before->has_io && after->has_io &&
	    bytes / IO_BYTES_PER_NS + calls * IO_CALL_NS > cpu / 3)
		return GT_HOST_STATE_FILE;
	/* Times in the kernel are exact to 10 ms. With huge pages, there are few faults. */
	if (before->has_faults && after->has_faults && faults && cpu > 40 * MS)
		return system > cpu / 3 ? GT_HOST_STATE_FAULTS : GT_HOST_STATE_COMPUTING;
	if (before->has_faults && after->has_faults && faults * FAULT_NS > cpu / 3)
		return GT_HOST_STATE_FAULTS;
	return GT_HOST_STATE_COMPUTING;
}

enum gt_host_state gt_host_running_state(const struct gt_host_reading *before,
					 const struct gt_host_reading *after)
{
	uint64_t cpu = after->cpu_ns - before->cpu_ns, delay = after->delay_ns - before->delay_ns;

	if (!cpu && !delay)
		/* the kernel counts the wait when it ends */
		return after->ns - before->ns >= RUNNING_MS * MS ? GT_HOST_STATE_RUNNABLE
								 : GT_HOST_STATE_UNKNOWN;
	return delay > cpu ? GT_HOST_STATE_RUNNABLE : gt_host_used_state(before, after);
}

/* The present state ------------------------------------------------------------------ */

struct now_reading {
	struct gt_host_process process;
	struct gt_host_thread thread, holder;
	struct gt_host_reading reading, holder_reading;
	struct gt_host_look look;
	enum gt_host_state holder_state;
};

static void read_holder(struct now_reading *n)
{
	struct gt_host_look look;

	gt_host_thread_init(&n->holder, &n->process, n->look.holder);
	if (gt_host_thread_read(&n->holder, NULL, &n->holder_reading))
		return;
	gt_host_look_at(&n->holder, &n->holder_reading, &look);
	n->holder_state = look.state;
}

static void read_now(struct gt_host_now *out, struct now_reading *n)
{
	out->status = gt_host_process_open(out->pid, &n->process);
	gt_host_thread_init(&n->thread, &n->process, out->tid);
	gt_host_thread_init(&n->holder, &n->process, 0);
	if (out->status)
		return;
	out->status = gt_host_thread_read(&n->thread, NULL, &n->reading);
	if (out->status)
		return;
	gt_host_look_at(&n->thread, &n->reading, &n->look);
	if (n->look.holder)
		read_holder(n);
}

/* Distinguish a thread that computes from one that waits for a processor. */
static void settle_running(struct gt_host_thread *t, const struct gt_host_reading *before,
			   enum gt_host_state *state)
{
	struct gt_host_reading after;
	enum gt_host_state found;

	if (*state != GT_HOST_STATE_COMPUTING || gt_host_thread_read(t, NULL, &after))
		return;
	found = gt_host_running_state(before, &after);
	if (found != GT_HOST_STATE_UNKNOWN)
		*state = found;
}

static void write_now(struct gt_host_now *out, struct now_reading *n)
{
	struct gt_host_look *look = &n->look;

	settle_running(&n->thread, &n->reading, &look->state);
	if (look->holder) {
		settle_running(&n->holder, &n->holder_reading, &n->holder_state);
		gt_host_look_describe_holder(&n->thread, n->holder_state, NULL, look);
	}
	gt_host_look_describe(&n->thread, NULL, look);
	out->state = look->state;
	out->call = look->call;
	out->call_name = look->call ? gt_system_call_find((long)look->call - 1)->name : NULL;
	out->holder = look->holder;
	memcpy(out->text, look->text, sizeof out->text);
}

void gt_host_states_now(struct gt_host_now *threads, unsigned count)
{
	const struct timespec pause = {0, RUNNING_MS * 1000000};
	struct now_reading *n = calloc(count, sizeof *n);
	bool is_running = false;

	for (unsigned i = 0; i < count; i++) {
		threads[i] = (struct gt_host_now){.pid = threads[i].pid,
						  .tid = threads[i].tid,
						  .status = -ENOMEM};
		if (!n)
			continue;
		read_now(&threads[i], &n[i]);
		is_running |= n[i].look.state == GT_HOST_STATE_COMPUTING ||
			      n[i].holder_state == GT_HOST_STATE_COMPUTING;
	}
	if (is_running)
		nanosleep(&pause, NULL);
	for (unsigned i = 0; n && i < count; i++) {
		if (!threads[i].status)
			write_now(&threads[i], &n[i]);
		gt_host_thread_close(&n[i].thread);
		gt_host_thread_close(&n[i].holder);
		gt_host_process_close(&n[i].process);
	}
	free(n);
}

int gt_host_state_now(uint32_t pid, uint32_t tid, struct gt_host_now *out)
{
	out->pid = pid;
	out->tid = tid;
	gt_host_states_now(out, 1);
	return out->status;
}
