/* SPDX-License-Identifier: MIT */
/* The collector's main loop and life cycle: see collector.h.
 *
 *   signals, folder, journal, capture -> program -> loop -> stop -> read what is left -> end
 *   mark -> folder removed
 *
 * With options->targets, "program" means to attach to running processes, and the loop also ends
 * while they run (attached.h).
 *
 * The loop sleeps in epoll_wait() until a signal comes, or the program or a traced process ends
 * (pidfd). Writers never wake the collector. Instead, the loop reads the rings every 1 to 20 ms,
 * less often if it finds fewer records. This costs a busy writer nothing and an idle machine next
 * to nothing. While records arrive, the loop waits until some blocks are likely to be full, because
 * it needs a processor that the program may want. A new segment changes the folder's modification
 * time. (inotify is not used, because the kernel takes 10 to 25 ms to remove a watch, more than all
 * the rest of a short run.)
 *
 * A process has ended when its pid has ended (pidfd), or when its segment is no longer mapped
 * (gt_file_in_use()): exec ends a process in this sense, but its pid lives on, and a pid from
 * another namespace means nothing here. Waiting for the whole tree includes the pids of such
 * processes, because they may be about to create another segment, or run a program that is not
 * traced. */
#include "collector/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/attached.h"
#include "collector/child.h"
#include "collector/batch.h"
#include "collector/control.h"
#include "collector/descendants.h"
#include "collector/drain.h"
#include "collector/environment.h"
#include "collector/folder.h"
#include "collector/guard.h"
#include "collector/host_watch.h"
#include "collector/load.h"
#include "collector/memory.h"
#include "collector/proc_files.h"
#include "collector/session_status.h"
#include "collector/session_threads.h"
#include "collector/session_windows.h"
#include "collector/no_progress.h"
#include "collector/snapshots.h"
#include "collector/survivors.h"
#include "collector/target.h"
#include "config.h"
#include "ring/segment.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/rank.h"
#include "util/grow.h"
#include "util/static_tls.h"

#define MS               UINT64_C(1000000)
#define PARTIAL_EVERY_NS (50 * MS)
#define SLOW_EVERY_NS    (1000 * MS)
#define COUNTS_EVERY_NS  (5000 * MS)
/* if other processes still map the segment of a process that is gone, the process has ended after
 * the segment was silent for this long */
#define LINGER_NS        (1000 * MS)
/* helper processes of a program's language end shortly after the program, so no records are missing
 * in that case */
#define GRACE_NS         (1000 * MS)
#define IDLE_SLEEP_MS    20
#define BUSY_SLEEP_MS    10
/* if one look finds this many bytes, more data is left, and the loop does not sleep */
#define BACKLOG_BYTES    (UINT64_C(1) << 20)
/* time in which attached processes detach */
#define DETACH_NS        (5000 * MS)
/* number of new bytes to wait for before the next look: 1/500 of the pool, in blocks that are still
 * warm */
#define FILL_BYTES       (UINT64_C(512) << 10)

struct collector {
	struct gt_libraries libraries;
	struct gt_folder folder;
	/* where the control socket is, if other commands cannot find `folder`; fd -1: not needed */
	struct gt_folder door;
	struct gt_capture_writer *writer;
	struct gt_drain drain;
	struct gt_child child;
	struct gt_attached attached;
	struct gt_memory_budgets memory;
	struct gt_descendants descendants;
	struct gt_snapshots snapshots;
	struct gt_triggers *triggers;
	struct gt_progress *progress;
	int snapshot_signal;
	struct gt_control control;
	struct gt_session_windows windows;
	struct gt_load load;
	struct gt_session_status status;
	int epoll;
	struct gt_survivors survivors; /* filled in when the first program has ended */
	bool are_survivors_known;
	int *kept_pidfds; /* pidfds of pids that outlived their processes through exec */
	size_t kept_count, kept_room;
	struct timespec folder_time; /* modification time at the last scan */
	/* true if a file could not be opened yet, so that the folder must be scanned again */
	bool rescan;
	bool exec_failed, has_files_limit, wait_tree;
	struct rlimit files_limit;
	uint32_t host_clock;
	uint64_t start_ns; /* start of the session */
	/* end of the first program in a session that does not wait for other processes; 0: not
	 * ended yet */
	uint64_t ended_ns;
	uint64_t partial_ns, slow_ns;
};

static uint64_t get_monotonic_ns(void)
{
	return gt_clock_ns(CLOCK_MONOTONIC);
}

/* Description of the session ----------------------------------------------------- */

struct session_text {
	char boot_id[64], cpu[128], kernel[3 * 65], directory[PATH_MAX];
	struct utsname uts;
	char *command;
};

/* Read the first line of @path that starts with @key, without the key and the colon. @key: "" for
 * any line. */
static void read_line(const char *path, const char *key, char *out, size_t room)
{
	FILE *f = fopen(path, "re");
	char line[512], *value;

	out[0] = '\0';
	while (f && fgets(line, sizeof line, f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		value = *key && strchr(line, ':') ? strchr(line, ':') + 1 : line;
		value += strspn(value, " \t");
		value[strcspn(value, "\n")] = '\0';
		snprintf(out, room, "%s", value);
		break;
	}
	if (f)
		fclose(f);
}

static char *join_argv(char *const *argv)
{
	size_t bytes = 1;
	char *text, *p;

	for (int i = 0; argv[i]; i++)
		bytes += strlen(argv[i]) + 1;
	p = text = malloc(bytes);
	if (!text)
		return NULL;
	for (int i = 0; argv[i]; i++)
		p = stpcpy(p, argv[i]) + 1;
	*p = '\0';
	return text;
}

/* Return the program's name, for --no-command. The name is kept because the capture would be
 * useless without it. */
static char *join_name(const char *program)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
	char *const only[] = {(char *)(uintptr_t)name, NULL};

	return join_argv(only);
}

static int describe(char *const *argv, const struct gt_run_options *o, uint32_t host_clock,
		    struct session_text *text, struct gt_session_info *info)
{
	bool hide = o->session.hide_command;

	memset(info, 0, sizeof *info);
	uname(&text->uts);
	read_line("/proc/sys/kernel/random/boot_id", "", text->boot_id, sizeof text->boot_id);
	read_line("/proc/cpuinfo", "model name", text->cpu, sizeof text->cpu);
	snprintf(text->kernel, sizeof text->kernel, "%s %s", text->uts.sysname, text->uts.release);
	if (hide)
		text->directory[0] = '\0';
	else if (o->directory)
		snprintf(text->directory, sizeof text->directory, "%s", o->directory);
	else if (!getcwd(text->directory, sizeof text->directory))
		text->directory[0] = '\0';
	text->command = hide ? join_name(argv[0]) : join_argv(argv);
	if (!text->command)
		return gt_error(-ENOMEM, "no memory for the command line");
	*info = (struct gt_session_info){
		.hostname = text->uts.nodename,
		.boot_id = text->boot_id,
		.kernel = text->kernel,
		.cpu = text->cpu,
		.gputap_version = GPUTAP_VERSION,
		.command = text->command,
		.options = o->options_text ? o->options_text : "",
		.directory = text->directory,
		.host_clock = host_clock,
		.start_ns = gt_clock_ns(CLOCK_BOOTTIME),
		.start_realtime_ns = gt_clock_ns(CLOCK_REALTIME),
		.rank = o->targets ? -1 : gt_rank_of_environment(),
	};
	return 0;
}

void gt_session_defaults(struct gt_session *s)
{
	memset(s, 0, sizeof *s);
	s->block_bytes = 64 << 10;
	/* the pool holds the records of a quarter second at ten million calls per second */
	s->pool_bytes = UINT64_C(256) << 20;
	s->wait_ns = 1000 * MS;
	s->slot_count = 4096;
	s->payload_cap = 256;
	s->record_args = 1;
	s->device_activity = 1;
	s->host_state = 1;
	s->domains = ~GT_DOMAIN_BIT(GT_DOMAIN_NONE);
	memset(s->ops, 0xff, sizeof s->ops);
}

/* Setup and teardown ----------------------------------------------------------- */

static int watch_fd(struct collector *c, int fd, void *what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.ptr = what};

	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e);
}

/* Raise the descriptor limit as far as allowed, because each process needs two descriptors. The
 * program gets the original limit. */
static void raise_files_limit(struct collector *c)
{
	struct rlimit more;

	if (!c->has_files_limit)
		c->has_files_limit = getrlimit(RLIMIT_NOFILE, &c->files_limit) == 0;
	more = c->files_limit;
	more.rlim_cur = more.rlim_max;
	if (c->has_files_limit)
		setrlimit(RLIMIT_NOFILE, &more);
}

static void restore_files_limit(const struct collector *c)
{
	if (c->has_files_limit)
		setrlimit(RLIMIT_NOFILE, &c->files_limit);
}

static int absolute(const char *path, char *out)
{
	char directory[PATH_MAX];

	if (path[0] == '/' && snprintf(out, PATH_MAX, "%s", path) < PATH_MAX)
		return 0;
	if (path[0] != '/' && !getcwd(directory, sizeof directory))
		return gt_error(-errno, "cannot determine the working directory");
	if (path[0] != '/' && snprintf(out, PATH_MAX, "%s/%s", directory, path) < PATH_MAX)
		return 0;
	return gt_error(-ENAMETOOLONG, "the path of the capture is too long");
}

static int open_capture(struct collector *c, const struct gt_run_options *o, char *const *argv)
{
	struct gt_capture_options options = {.compress = o->compress, .shared = o->shared};
	struct gt_session_info info;
	struct session_text text;
	int status = describe(argv, o, c->host_clock, &text, &info);

	if (!status)
		status = gt_capture_writer_create(o->output, o->replace, &options, &info,
						  &c->writer);
	free(text.command);
	c->start_ns = info.start_ns;
	if (!status && o->keep.window_ns) {
		status = gt_capture_keep(c->writer, &o->keep, c->host_clock);
		if (status) {
			gt_capture_writer_discard(c->writer);
			unlink(o->output);
		}
	}
	return status;
}

static int create_folder(struct collector *c, const struct gt_run_options *o,
			 struct gt_session *session, const char *output)
{
	const struct gt_attach_target *first = o->targets;
	const struct gt_folder_owner owner = {.root = first ? first->root : "",
					      .uid = first ? first->uid : 0,
					      .gid = first ? first->gid : 0};

	return gt_folder_create(session, output, first ? &owner : NULL, &c->folder);
}

static int open_session(struct collector *c, const struct gt_run_options *o, char *const *argv)
{
	/* static, because the struct is too large for a small stack; a process has one collector */
	static struct gt_session session;
	uint8_t capture_id[GT_CAPTURE_ID_BYTES];
	char output[PATH_MAX];
	int status;

	session = o->session;
	session.magic = GT_SESSION_MAGIC;
	session.version = GT_SESSION_VERSION;
	session.bytes = sizeof session;
	session.host_clock = c->host_clock = gt_clock_host_choose();
	session.static_tls = (uint32_t)gt_static_tls_asked(getenv("GLIBC_TUNABLES"));
	atomic_store(&session.stop, 0);
	gt_session_windows_prepare(&session, &o->windows);
	status = absolute(o->output, output);
	if (!status)
		status = open_capture(c, o, argv);
	if (status)
		return status;
	status = create_folder(c, o, &session, output);
	if (!status) {
		gt_drain_init(&c->drain, &c->folder, c->writer);
		gt_capture_writer_id(c->writer, capture_id);
		status = gt_journal_create(&c->folder, capture_id, &c->drain.journal);
	}
	if (status) {
		if (c->folder.fd >= 0)
			gt_folder_remove(&c->folder);
		gt_capture_writer_discard(c->writer);
		unlink(o->output);
	}
	return status;
}

/* Open the control socket. If this fails, the session continues without control. */
static void open_control(struct collector *c, const struct gt_run_options *o, char *const *argv)
{
	c->status = (struct gt_session_status){.drain = &c->drain,
					       .child = &c->child,
					       .windows = &c->windows,
					       .argv = argv,
					       .output = o->output,
					       .wanted = o->wanted ? o->wanted : o->output,
					       .since_ns = gt_clock_ns(CLOCK_BOOTTIME)};
	gt_session_status_offer(&c->status, &c->control);
	gt_session_threads_offer(&c->drain, &c->control);
	gt_snapshots_offer(&c->snapshots, &c->control);
	gt_attached_offer(&c->attached, &c->control);
	if (c->folder.root_bytes && gt_folder_create_door(&c->folder, &c->door))
		gt_error_clear();
	if (gt_control_open(&c->control, c->door.fd >= 0 ? &c->door : &c->folder, c->epoll))
		gt_error_clear();
}

static int open_events(struct collector *c)
{
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0)
		return gt_error(-errno, "cannot create an epoll descriptor");
	if (watch_fd(c, c->child.signal_fd, &c->child))
		return gt_error(-errno, "cannot wait for signals");
	return 0;
}

static void take_clock(struct collector *c)
{
	struct gt_clock_tuple tuple;

	gt_clock_tuple_take(c->host_clock, &tuple);
	gt_drain_write_clock(&c->drain, &tuple);
}

/* Processes ----------------------------------------------------------------------- */

/* Return a process's start in ms since boot, or 0 if unknown. */
static uint64_t get_process_start_ms(uint32_t pid)
{
	struct gt_proc_stat stat;

	return gt_proc_read_stat(pid, &stat) ? stat.start * 1000 / (uint64_t)sysconf(_SC_CLK_TCK)
					     : 0;
}

/* Open a pidfd of the process that made the segment. Return -1 if the process is gone, or if the
 * pid belongs to another process. A pid of another namespace is often small. In this namespace,
 * such a pid belongs to a process older than the session. */
static int open_pidfd(const struct collector *c, const struct gt_process *process)
{
	int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)process->pid, 0);
	struct timespec real, boot;
	struct stat st;
	uint64_t made_ms, start_ms;

	if (pidfd < 0 || fstat(process->fd, &st))
		return pidfd;
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	made_ms = (uint64_t)((st.st_ctim.tv_sec - real.tv_sec + boot.tv_sec) * 1000 +
			     (st.st_ctim.tv_nsec - real.tv_nsec + boot.tv_nsec) / 1000000);
	if (gt_attached_has(&c->attached, process->pid))
		return pidfd;
	start_ms = get_process_start_ms(process->pid);
	if (start_ms > made_ms + 100 || (start_ms && start_ms + 100 < c->start_ns / MS)) {
		close(pidfd);
		return -1;
	}
	return pidfd;
}

static void adopt_process(struct collector *c, struct gt_process *process)
{
	process->active_ns = process->counted_ns = get_monotonic_ns();
	process->pidfd = open_pidfd(c, process);
	if (process->pidfd < 0) {
		process->is_unseen = true;
		process->exited = true; /* other processes may still map the segment */
	} else if (watch_fd(c, process->pidfd, process)) {
		c->rescan = true;
	}
	/* exec replaced the previous process with this pid */
	for (size_t i = 0; i < c->drain.process_count; i++)
		if (c->drain.processes[i] != process &&
		    c->drain.processes[i]->pid == process->pid && process->number == 0)
			c->drain.processes[i]->replaced = true;
}

static void add_process(const char *name, void *data)
{
	struct collector *c = data;
	struct gt_process *process;

	if (gt_drain_add(&c->drain, name, &process))
		c->rescan = true;
	else if (process && process->segment)
		adopt_process(c, process);
	gt_error_clear(); /* refused segments are counted */
}

static void scan_folder(struct collector *c)
{
	c->rescan = false;
	gt_folder_rings(&c->folder, add_process, c);
}

/* Return true if the last scan may have missed files. */
static bool folder_changed(struct collector *c)
{
	struct timespec now;
	struct stat st;
	bool changed;

	if (fstat(c->folder.fd, &st))
		return false;
	changed = st.st_mtim.tv_sec != c->folder_time.tv_sec ||
		  st.st_mtim.tv_nsec != c->folder_time.tv_nsec;
	c->folder_time = st.st_mtim;
	/* modification times have a granularity of some ms, so a recent time may hide a second
	 * change */
	clock_gettime(CLOCK_REALTIME, &now);
	return changed || (now.tv_sec - st.st_mtim.tv_sec) * 1000 +
					  (now.tv_nsec - st.st_mtim.tv_nsec) / 1000000 <
				  50;
}

/* Return true if the process has ended. @slow: also check processes that show no sign of an end. */
static bool is_over(const struct gt_process *process, bool slow, uint64_t now)
{
	int in_use;

	if (!process->segment)
		return false;
	if (process->lost)
		return true;
	if (!process->exited && !process->replaced && !slow)
		return false;
	in_use = gt_file_in_use(process->fd);
	if (in_use == 0)
		return true;
	/* the process is gone or replaced, but others (fork children) still map its memory, or the
	 * file system cannot report the use. A process that was never seen may be alive and silent
	 * for a long time */
	return (process->exited || process->replaced) &&
	       (in_use < 0 || (!process->is_unseen && now - process->active_ns > LINGER_NS));
}

/* Remove a descriptor from the epoll set before closing the descriptor. A child of gputap that
 * looks up names (src/analysis/symbols/bounded_lines.h) may have a copy, which would keep the
 * descriptor in the set and report a process that is gone. */
static void unwatch_fd(const struct collector *c, int fd)
{
	epoll_ctl(c->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* Keep the pidfd, because the pid still exists and runs another program. */
static void keep_pidfd(struct collector *c, struct gt_process *process)
{
	int *more = gt_grow(c->kept_pidfds, c->kept_count, &c->kept_room, sizeof *c->kept_pidfds);

	if (!more)
		return;
	c->kept_pidfds = more;
	c->kept_pidfds[c->kept_count++] = process->pidfd;
	unwatch_fd(c, process->pidfd);
	process->pidfd = -1;
}

static void end_processes(struct collector *c, bool slow, uint64_t now)
{
	for (size_t i = 0; i < c->drain.process_count;) {
		struct gt_process *process = c->drain.processes[i];

		if (!is_over(process, slow, now)) {
			i++;
			continue;
		}
		if (c->wait_tree && !process->exited && !process->replaced && process->pidfd >= 0)
			keep_pidfd(c, process);
		if (process->pidfd >= 0)
			unwatch_fd(c, process->pidfd);
		process->exited = true;
		if (c->child.ended && (pid_t)process->pid == c->child.pid && !process->replaced)
			process->wait_status = c->child.wait_status;
		gt_host_watch_end(c->drain.host_watch, process);
		/* entry i now contains another process */
		gt_drain_end_process(&c->drain, process, now);
	}
}

static uint64_t drain_all(struct collector *c, enum gt_drain_how how, uint64_t now)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < c->drain.process_count; i++)
		bytes += gt_drain_process(&c->drain, c->drain.processes[i], how, now);
	return bytes;
}

/* The loop ----------------------------------------------------------------------- */

static void handle_events(struct collector *c, int timeout_ms)
{
	struct epoll_event events[32];
	int n = epoll_wait(c->epoll, events, 32, timeout_ms);

	for (int i = 0; i < n; i++) {
		void *what = events[i].data.ptr;

		if (what != &c->child && !gt_control_handle(&c->control, what)) {
			struct gt_process *process = what;

			process->exited = true;
			unwatch_fd(c, process->pidfd);
			close(process->pidfd);
			process->pidfd = -1;
		}
	}
	/* on every wakeup, because one SIGCHLD may stand for several changes */
	gt_child_poll(&c->child);
}

static bool take_signal(void *data, int number)
{
	struct collector *c = data;

	if (number == c->snapshot_signal && number) {
		gt_snapshots_ask(&c->snapshots, GT_RETAINED_SIGNAL, NULL, NULL, false, 0);
		return true;
	}
	return gt_session_windows_signal(&c->windows, number);
}

/* Do the work that is due once a second. */
static void slow_activity(struct collector *c, uint64_t now)
{
	take_clock(c);
	gt_folder_repair(&c->folder);
	gt_attached_write(&c->attached);
	end_processes(c, true, now);
	for (size_t i = 0; i < c->drain.process_count; i++) {
		struct gt_process *process = c->drain.processes[i];

		if (now - process->counted_ns < COUNTS_EVERY_NS ||
		    process->active_ns < process->counted_ns)
			continue;
		gt_drain_write_counts(&c->drain, process);
		process->counted_ns = now;
	}
	c->slow_ns = now;
}

static bool kept_have_ended(struct collector *c)
{
	for (size_t i = 0; i < c->kept_count;) {
		struct pollfd p = {.fd = c->kept_pidfds[i], .events = POLLIN};

		if (poll(&p, 1, 0) == 0) {
			i++;
			continue;
		}
		close(p.fd);
		c->kept_pidfds[i] = c->kept_pidfds[--c->kept_count];
	}
	return !c->kept_count;
}

/* Find the survivors. Return false if the search must be repeated. */
static bool find_survivors(struct collector *c)
{
	return gt_survivors_find(&c->survivors, &c->folder, (uint32_t)c->child.pid, c->start_ns);
}

static bool tree_has_ended(struct collector *c)
{
	gt_survivors_look(&c->survivors);
	if (!kept_have_ended(c) || c->survivors.count)
		return false;
	/* look twice, because a program has no segment and maps nothing between exec and its first
	 * recorded call */
	for (int i = 0; i < 2; i++) {
		if (c->drain.process_count > 0 || gt_file_in_use(c->folder.session_fd) == 1)
			return false;
		if (i == 0)
			handle_events(c, 100);
	}
	return find_survivors(c) && !c->survivors.count;
}

/* Give processes that outlive the first program some time, in a session that does not wait for
 * their end. Return true when that time is over. */
static bool have_survivors_had_time(struct collector *c, uint64_t now)
{
	if (!c->ended_ns)
		c->ended_ns = now;
	if (!c->are_survivors_known)
		c->are_survivors_known = find_survivors(c);
	gt_survivors_look(&c->survivors);
	return (c->are_survivors_known && !c->survivors.count) || now - c->ended_ns > GRACE_NS;
}

/* Return true if a session that is attached to processes must end while they run. */
static bool must_detach(struct collector *c)
{
	return c->child.is_attached &&
	       (c->child.interrupted || atomic_load(&c->attached.is_detach_asked) ||
		gt_session_windows_read(&c->windows).is_over);
}

/* Return true if there is nothing more to wait for. */
static bool is_finished(struct collector *c, uint64_t now)
{
	if (must_detach(c))
		return true;
	if (!c->child.ended)
		return false;
	if (c->wait_tree && !c->child.interrupted)
		return tree_has_ended(c);
	return have_survivors_had_time(c, now);
}

/* Return the time until the next look. @bytes: number of bytes found in the last look; @passed_ns:
 * time between the last two looks. */
static int next_sleep_ms(int sleep_ms, uint64_t bytes, uint64_t passed_ns)
{
	uint64_t fills_ms;

	if (bytes >= BACKLOG_BYTES)
		return 0;
	if (!bytes)
		return sleep_ms < IDLE_SLEEP_MS / 2 ? 2 * sleep_ms + !sleep_ms : IDLE_SLEEP_MS;
	fills_ms = passed_ns * FILL_BYTES / bytes / MS;
	return fills_ms < 1 ? 1 : fills_ms < BUSY_SLEEP_MS ? (int)fills_ms : BUSY_SLEEP_MS;
}

static bool is_recording(struct collector *c)
{
	return !GT_CONTROL_IS_PAUSED(gt_session_windows_read(&c->windows).control);
}

static void look_for_snapshots(struct collector *c, uint64_t now)
{
	if (c->triggers)
		gt_triggers_advance(c->triggers, now);
	if (c->progress)
		gt_progress_advance(c->progress, now, is_recording(c));
	gt_snapshots_advance(&c->snapshots, now);
}

static void on_trigger(void *data, const char *text)
{
	struct collector *c = data;

	gt_snapshots_trigger(&c->snapshots, text, get_monotonic_ns());
}

static int open_snapshots(struct collector *c, const struct gt_run_options *o)
{
	int status = 0;

	gt_snapshots_init(&c->snapshots, o, &c->drain, c->start_ns);
	c->snapshot_signal = o->snapshot_signal;
	if (o->trigger_count)
		status = gt_triggers_create(o->triggers, o->trigger_count, c->host_clock,
					    on_trigger, c, &c->triggers);
	if (!status && o->trigger_count)
		status = gt_progress_create(o->triggers, o->trigger_count, &c->drain, c->host_clock,
					    on_trigger, c, &c->progress);
	c->drain.triggers = c->triggers;
	c->drain.progress = c->progress;
	return status;
}

static void collect(struct collector *c)
{
	uint64_t last_ns = get_monotonic_ns();
	int sleep_ms = 1;

	for (;;) {
		uint64_t now, bytes;
		int due_ms;

		handle_events(c, sleep_ms);
		now = get_monotonic_ns();
		if (folder_changed(c) || c->rescan)
			scan_folder(c);
		gt_sample_host_look(c->drain.sampler, now);
		bytes = drain_all(c, GT_DRAIN_FULL, now);
		if (now - c->partial_ns >= PARTIAL_EVERY_NS) {
			bytes += drain_all(c, GT_DRAIN_PARTIAL, now);
			c->partial_ns = now;
		}
		if (now - c->slow_ns >= SLOW_EVERY_NS)
			slow_activity(c, now);
		else
			end_processes(c, false, now);
		gt_descendants_look(&c->descendants, c->child.ended ? 0 : (uint32_t)c->child.pid,
				    now);
		gt_host_watch_write(c->drain.host_watch);
		gt_batch_commit(&c->drain);
		look_for_snapshots(c, now);
		gt_memory_balance(&c->memory, &c->drain, now);
		if (is_finished(c, now))
			return;
		sleep_ms = next_sleep_ms(sleep_ms, bytes, now - last_ns);
		due_ms = gt_session_windows_look(&c->windows, get_monotonic_ns(),
						 gt_capture_writer_kernels(c->writer));
		if (due_ms >= 0 && due_ms < sleep_ms)
			sleep_ms = due_ms;
		due_ms = gt_sample_host_due_ms(c->drain.sampler, get_monotonic_ns());
		if (due_ms >= 0 && due_ms < sleep_ms)
			sleep_ms = due_ms;
		last_ns = now;
	}
}

/* End the session in attached processes. Wait until they have given back what costs them time, and
 * read what they record meanwhile. */
static void detach_processes(struct collector *c, struct gt_run_result *result)
{
	const uint64_t deadline_ns = get_monotonic_ns() + DETACH_NS;

	result->is_detached = !c->child.ended;
	c->drain.detached_ns = gt_clock_ns(CLOCK_BOOTTIME);
	gt_folder_stop(&c->folder);
	gt_session_windows_end(&c->windows);
	for (;;) {
		uint64_t now = get_monotonic_ns();

		result->not_detached = gt_attached_remaining(&c->attached);
		if (!result->not_detached || now >= deadline_ns)
			return;
		handle_events(c, 1);
		scan_folder(c);
		drain_all(c, GT_DRAIN_PARTIAL, now);
		end_processes(c, false, now);
		gt_batch_commit(&c->drain);
	}
}

/* Request that every process stop, and read all remaining records, even from processes still
 * running. */
static void finish_processes(struct collector *c, struct gt_run_result *result)
{
	uint64_t now = get_monotonic_ns();

	gt_folder_stop(&c->folder);
	gt_session_windows_end(&c->windows);
	scan_folder(c);
	gt_attached_write(&c->attached);
	end_processes(c, true, now);
	gt_drain_stop(&c->drain);
	/* update the survivors, and add processes that they have started since the last search */
	if (c->survivors.count)
		find_survivors(c);
	result->still_running = (uint32_t)c->survivors.count;
	gt_survivors_write(&c->survivors, &c->drain);
	while (c->drain.process_count) {
		struct gt_process *process = c->drain.processes[0];

		gt_host_watch_end(c->drain.host_watch, process);
		gt_drain_end_process(&c->drain, process, now);
	}
	gt_drain_write_untraced(&c->drain);
	gt_descendants_write(&c->descendants);
	take_clock(c);
	gt_batch_commit(&c->drain);
}

static void write_load(struct collector *c)
{
	struct gt_machine_load load;

	gt_load_end(&c->load, &load);
	if (load.processors)
		gt_capture_write_load(c->writer, &load);
}

/* Write the end mark. Remove the folder only if the file contains all data. */
static void finish_capture(struct gt_drain *d, struct gt_capture_writer *writer,
			   struct gt_run_result *result)
{
	int status;

	gt_drain_result(d, result);
	result->complete &= !result->still_running;
	status = gt_capture_writer_finish(writer, result->complete);
	if (status && !result->output_error) {
		result->output_error = status;
		result->complete = false;
	}
	gt_error_clear();
}

static void report_obstacle(struct collector *c, const struct gt_target *target)
{
	struct gt_clock_tuple now;

	gt_clock_tuple_take(c->host_clock, &now);
	gt_drain_write_obstacle(&c->drain, (uint32_t)c->child.pid, now.ticks, target->path,
				gt_target_reason(target->obstacle));
}

static int start_program(struct collector *c, char *const *argv)
{
	char **environment = NULL;
	struct gt_target target;
	int status;

	gt_target_look_with(argv[0], &c->libraries, &target);
	status = gt_libraries_link(&c->libraries, c->folder.path);
	if (!status)
		status = gt_environment_make(environ, &c->libraries, c->folder.path,
					     gt_session_recordable(c->folder.session), &target,
					     &environment);
	if (!status) {
		take_clock(c);
		gt_batch_commit(&c->drain); /* recovery can start from this point */
		restore_files_limit(c);
		status = gt_child_start(&c->child, argv, environment);
		raise_files_limit(c);
		c->exec_failed = status && c->child.pid < 0;
		if (!status && target.obstacle)
			report_obstacle(c, &target);
	}
	gt_environment_free(environment);
	return status;
}

/* Attach to one target, and read what the targets before it have recorded. Return gt_attach()'s
 * result. */
static int attach_target(struct collector *c, const struct gt_run_options *o, size_t index)
{
	struct gt_attach_note note;
	int status = gt_attached_add(&c->attached, index, c->libraries.inject, &note);

	/* the caller reports the failure if nothing else can be attached to */
	if (status && c->attached.count == 1)
		return status;
	note.error = status ? gt_error_text() : NULL;
	if (o->on_attach)
		o->on_attach(&note, o->attach_data);
	gt_error_clear();
	scan_folder(c);
	gt_attached_write(&c->attached);
	drain_all(c, GT_DRAIN_FULL, get_monotonic_ns());
	gt_batch_commit(&c->drain);
	return status;
}

static int attach_targets(struct collector *c, const struct gt_run_options *o)
{
	const struct gt_attach_target *first = o->targets;
	int status = gt_child_attach(&c->child, (pid_t)first->pid, first->start), failure = 0;

	if (status)
		return status;
	if (o->session.late & GT_LATE_EXEC)
		status = gt_attached_write_environment(&c->attached, &c->libraries);
	if (status)
		return status;
	raise_files_limit(c);
	take_clock(c);
	gt_batch_commit(&c->drain);
	for (size_t i = 0; i < o->target_count && !c->child.interrupted; i++) {
		status = attach_target(c, o, i);
		failure = failure ? failure : status;
		gt_child_poll(&c->child);
	}
	if (c->attached.attached) {
		gt_session_windows_attached(&c->windows, get_monotonic_ns());
		return 0;
	}
	/* a thread may still be about to join */
	gt_folder_stop(&c->folder);
	gt_session_windows_end(&c->windows);
	if (c->attached.count > 1)
		gt_error(0, "none of the %zu processes can be attached to", c->attached.count);
	return failure ? failure : gt_error(-EINTR, "interrupted");
}

/* Start to read the states of threads. If this fails, the session continues without them. */
static void start_host_watch(struct collector *c, const struct gt_run_options *o)
{
	if (!o->session.host_state)
		return;
	c->drain.host_watch = gt_host_watch_start(&c->drain, c->host_clock, o->host_state_ns);
	if (!c->drain.host_watch)
		gt_error_clear();
}

/* Ignore the session's own signals. The mask is restored now, and a late signal must not end
 * gputap. */
static void ignore_own_signals(const struct gt_run_options *options)
{
	const int own[] = {options->windows.start_signal, options->windows.stop_signal,
			   options->snapshot_signal};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (own[i])
			signal(own[i], SIG_IGN);
}

static int run_session(struct collector *c, const struct gt_run_options *options, char *const *argv,
		       struct gt_run_result *result)
{
	int status;

	status = gt_libraries_find(&c->libraries);
	if (!status)
		status = gt_child_init(&c->child);
	c->child.take = take_signal;
	c->child.take_data = c;
	if (status)
		return status;
	gt_guard_install();
	status = open_session(c, options, argv);
	if (status)
		goto restore_signals;
	gt_memory_init(&c->memory, &c->drain);
	status = gt_attached_init(&c->attached, &c->drain, options->targets,
				  options->targets ? options->target_count : 0);
	gt_descendants_init(&c->descendants, &c->drain, c->libraries.inject);
	c->descendants.looks_for_torch = options->windows.ranges[GT_RANGE_FROM].number != 0;
	c->descendants.ignores_children =
		options->targets && !(options->session.late & GT_LATE_EXEC);
	if (!status)
		status = open_events(c);
	if (!status)
		status = open_snapshots(c, options);
	if (!status) {
		open_control(c, options, argv);
		gt_session_windows_begin(&c->windows, &c->folder, &options->windows,
					 get_monotonic_ns());
		gt_load_begin(&c->load);
		status = options->targets ? attach_targets(c, options) : start_program(c, argv);
	}
	if (status) {
		if (c->exec_failed)
			result->exec_errno = -status;
		gt_capture_writer_discard(c->writer);
		unlink(options->output);
		status = c->exec_failed ? 0 : status;
		goto remove_folder;
	}
	result->pid = (uint32_t)c->child.pid;
	gt_control_begin(&c->control);
	start_host_watch(c, options);
	if (options->sample_host_ns &&
	    gt_sample_host_create(&c->drain, options->sample_host_ns, (uint32_t)c->child.pid,
				  &c->drain.sampler))
		gt_error_clear(); /* the capture has no samples, which the result says */
	collect(c);
	gt_snapshots_finish(&c->snapshots);
	if (options->targets)
		detach_processes(c, result);
	finish_processes(c, result);
	if (c->triggers) /* decide the last triggers */
		gt_triggers_advance(c->triggers, get_monotonic_ns());
	gt_snapshots_finish(&c->snapshots);
	write_load(c);
	gt_sample_host_totals(c->drain.sampler, &result->samples);
	result->wait_status = c->child.wait_status;
	c->drain.ranges.lacks_torch = gt_descendants_lack_torch(&c->descendants);
	result->triggers_left_out = c->snapshots.left_out;
	result->triggers_undecided = gt_triggers_undecided(c->triggers);
	finish_capture(&c->drain, c->writer, result);
remove_folder:
	gt_host_watch_stop(c->drain.host_watch);
	gt_control_close(&c->control);
	gt_attached_fini(&c->attached);
	gt_descendants_fini(&c->descendants);
	gt_survivors_fini(&c->survivors);
	gt_memory_fini(&c->memory);
	gt_triggers_destroy(c->triggers);
	gt_progress_destroy(c->progress);
	c->drain.triggers = NULL;
	c->drain.progress = NULL;
	gt_sample_host_destroy(c->drain.sampler);
	c->drain.sampler = NULL;
	gt_drain_fini(&c->drain);
	if (c->door.fd >= 0)
		gt_folder_remove(&c->door);
	gt_folder_remove(&c->folder);
	restore_files_limit(c);
	while (c->kept_count)
		close(c->kept_pidfds[--c->kept_count]);
	free(c->kept_pidfds);
	if (c->epoll >= 0)
		close(c->epoll);
restore_signals:
	gt_guard_restore();
	ignore_own_signals(options);
	gt_child_fini(&c->child);
	return status;
}

int gt_collector_run(const struct gt_run_options *options, char *const *argv,
		     struct gt_run_result *result)
{
	/* 53 KiB, which must not be on the stack: the stack may have only 64 KiB */
	struct collector *c = calloc(1, sizeof *c);
	int status;

	memset(result, 0, sizeof *result);
	if (!c)
		return gt_error(-ENOMEM, "no memory for the collector");
	c->epoll = c->folder.fd = c->door.fd = c->control.listener = -1;
	c->wait_tree = options->wait_tree;
	status = run_session(c, options, argv, result);
	free(c);
	return status;
}
