/* SPDX-License-Identifier: MIT */
/* See descendants.h.
 *
 *   look: the first program, known processes, traced processes -> children of each, recursively
 *   each process, once per exec:
 *     maps the session                   traced
 *     not readable in /proc              another user's: missed; otherwise unknown: ignored
 *     lacks gputap's variables           missed; a statically linked program uses no runtime
 *     has them, but has an obstacle      missed; usually reported by the process that executed it
 *     has them, cannot reach the session missed, unless its parent cannot reach it either
 *     has them                           about to be traced: examined again
 *   end: processes that were reported (drain_state.h, struct gt_untraced_notice) are omitted; the
 *   others become processes of the capture, with the reason
 *
 * These decisions rest on evidence, not on timing: gputap waits for a process with gputap's
 * variables for as long as it takes, and a process without the variables can no longer be traced.
 * Only a fork child that still equals its parent is given some time, because it is usually about to
 * execute a program.
 *
 * A look reads each thread's children from the kernel (CONFIG_PROC_CHILDREN), one line of each
 * process, and once per exec a process's mappings. It takes no lock of the program except the
 * kernel's lock of its mappings, for reading. Looks follow after 16 ms, 32 ms, up to 250 ms, and
 * are spaced so that they take at most 1/50 of a processor.
 *
 * A process is not seen if it, or its parent, ended before a look. */
#include "collector/descendants.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock.h"
#include "collector/not_traced.h"
#include "collector/own_threads.h"
#include "collector/proc_files.h"
#include "collector/target.h"
#include "util/clock_ns.h"
#include "util/grow.h"

#define MS             UINT64_C(1000000)
#define FIRST_NS       (16 * MS)
#define EVERY_NS       (250 * MS)
#define COST_SHARE     50         /* looks take at most 1/COST_SHARE of a processor */
#define FORK_NS        (300 * MS) /* time in which a fork child may still equal its parent */
#define PROCESSES_MOST 16384
#define MISSED_MOST    10000
#define WHY_BYTES      192

enum verdict {
	VERDICT_NONE = 0, /* not examined, or changed during the look */
	VERDICT_TRACED,
	VERDICT_COMING,  /* has gputap's variables */
	VERDICT_MISSED,  /* not traced, and in the list of missed processes */
	VERDICT_COVERED, /* cannot reach the session, like its parent, which is reported */
	VERDICT_UNKNOWN, /* unreadable, or belongs to another session */
};

struct gt_descendant {
	uint32_t pid, look; /* `look`: number of the last look that saw the process */
	uint64_t start, exec_id;
	uint64_t since_ns; /* time at which the process started to execute this file */
	enum verdict verdict;
	/* true if the process mapped torch without gputap's package at the last look */
	bool lacks_torch;
	/* false: the pid is known only from a segment, and may be another process's */
	bool is_of_tree;
};

struct gt_missed {
	uint32_t pid, inner_pid, ppid;
	uint64_t ticks;
	char name[GT_PROC_NAME_BYTES];
	char *program;
	char why[WHY_BYTES];
	int error; /* 0: the program uses no runtime */
};

/* Result of examining one process in a look. */
struct findings {
	struct gt_proc_stat stat;
	struct gt_proc_ids ids;
	char program[PATH_MAX], why[WHY_BYTES];
	int error;
};

void gt_descendants_init(struct gt_descendants *d, struct gt_drain *drain, const char *library)
{
	memset(d, 0, sizeof *d);
	d->drain = drain;
	d->library = library;
	d->every_ns = FIRST_NS;
	snprintf(d->session_path, sizeof d->session_path, "%.*s/session", PATH_MAX - 16,
		 gt_folder_inner_path(drain->folder));
}

void gt_descendants_fini(struct gt_descendants *d)
{
	for (size_t i = 0; i < d->missed_count; i++)
		free(d->missed[i].program);
	free(d->missed);
	free(d->known);
	free(d->waiting);
}

/* Live processes ------------------------------------------------------------------- */

/* Return the index of the pid, or the index at which to insert the pid. */
static size_t find_place(const struct gt_descendants *d, uint32_t pid)
{
	size_t low = 0, high = d->known_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->known[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct gt_descendant *find_known(const struct gt_descendants *d, uint32_t pid)
{
	size_t at = find_place(d, pid);

	return at < d->known_count && d->known[at].pid == pid ? &d->known[at] : NULL;
}

/* Add a process. Return NULL if out of memory or if there are too many processes. */
static struct gt_descendant *add_known(struct gt_descendants *d, uint32_t pid)
{
	void *more = d->known_count < PROCESSES_MOST
			     ? gt_grow(d->known, d->known_count, &d->known_room, sizeof *d->known)
			     : NULL;
	size_t at = find_place(d, pid);

	if (!more)
		return NULL;
	d->known = more;
	memmove(d->known + at + 1, d->known + at, (d->known_count - at) * sizeof *d->known);
	d->known_count++;
	d->known[at] = (struct gt_descendant){.pid = pid};
	return &d->known[at];
}

/* Forget processes that this look did not find. */
static void forget_ended(struct gt_descendants *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->known_count; i++)
		if (d->known[i].look == d->look)
			d->known[kept++] = d->known[i];
		else
			d->lacks_torch |= d->known[i].lacks_torch;
	d->known_count = kept;
}

bool gt_descendants_lack_torch(const struct gt_descendants *d)
{
	bool lack = d->lacks_torch;

	for (size_t i = 0; i < d->known_count; i++)
		lack |= d->known[i].lacks_torch;
	return lack;
}

static void look_for_torch(struct gt_descendant *p)
{
	static const char *const parts[] = {"/libtorch_cpu.so", "/gputap/_shim/"};

	p->lacks_torch = gt_proc_find_mapped(p->pid, parts, 2) == 1;
}

/* Judging a process ------------------------------------------------------------------ */

struct variables {
	const char *folder;
	bool is_ours, is_others, has_library;
};

static void look_at_variable(const char *variable, void *data)
{
	static const char session[] = GT_SESSION_ENV "=", preload[] = "LD_PRELOAD=";
	struct variables *v = data;

	if (!strncmp(variable, session, sizeof session - 1)) {
		v->is_ours = !strcmp(variable + sizeof session - 1, v->folder);
		v->is_others = !v->is_ours && access(variable + sizeof session - 1, F_OK) == 0;
	}
	if (!strncmp(variable, preload, sizeof preload - 1))
		v->has_library = strstr(variable, "libgputap.so") != NULL;
}

/* Check that the session's folder is visible at its path in the root of the process. Return 0 or
 * errno. */
static int look_for_session(const struct gt_descendants *d, uint32_t pid)
{
	char path[PATH_MAX + 32];
	struct stat own, its;

	snprintf(path, sizeof path, "/proc/%u/root%s", pid, d->session_path);
	if (fstat(d->drain->folder->session_fd, &own))
		return 0;
	if (stat(path, &its))
		return errno == ENOENT || errno == ENOTDIR ? ENOENT : 0;
	return own.st_dev == its.st_dev && own.st_ino == its.st_ino ? 0 : ENOENT;
}

/* Find out why a process that has gputap's variables cannot reach the session. Return the errno, or
 * 0 if no reason is visible. */
static int find_distance(const struct gt_descendants *d, uint32_t pid, struct findings *f)
{
	char path[PATH_MAX + 32];

	if (f->ids.effective_uid != 0 && f->ids.effective_uid != (uint32_t)geteuid()) {
		snprintf(f->why, sizeof f->why,
			 "as user %u it cannot reach the session's folder: %s",
			 f->ids.effective_uid, strerror(EACCES));
		return EACCES;
	}
	if (look_for_session(d, pid)) {
		snprintf(f->why, sizeof f->why, "it cannot reach the session's folder: %s",
			 strerror(ENOENT));
		return ENOENT;
	}
	snprintf(path, sizeof path, "/proc/%u/root%s", pid, d->library);
	if (access(path, R_OK) && errno == ENOENT) {
		snprintf(f->why, sizeof f->why, "it cannot reach libgputap.so: %s",
			 strerror(ENOENT));
		return ENOENT;
	}
	return 0;
}

/* Judge a process that gputap may not read because the process belongs to another user or has extra
 * privileges. */
static enum verdict judge_hidden(struct findings *f, bool parent_is_traced)
{
	f->error = EPERM;
	if (f->ids.uid == (uint32_t)getuid() && f->ids.effective_uid != f->ids.uid) {
		snprintf(f->why, sizeof f->why, "%s", gt_target_reason(GT_TARGET_PRIVILEGED));
		return VERDICT_MISSED;
	}
	if (f->ids.uid == (uint32_t)getuid())
		return VERDICT_UNKNOWN;
	if (!parent_is_traced)
		return VERDICT_COVERED;
	snprintf(f->why, sizeof f->why, "as user %u it cannot reach the session's folder: %s",
		 f->ids.effective_uid, strerror(EACCES));
	f->error = EACCES;
	return VERDICT_MISSED;
}

static enum verdict judge_unmapped(struct gt_descendants *d, uint32_t pid,
				   const struct variables *v, bool parent_is_traced,
				   struct findings *f)
{
	enum gt_target_obstacle obstacle;
	struct gt_target target;
	char path[32];

	if (v->is_others)
		return VERDICT_UNKNOWN;
	snprintf(path, sizeof path, "/proc/%u/exe", pid);
	gt_target_look(path, &target);
	obstacle = target.obstacle == GT_TARGET_ALIGNMENT ? GT_TARGET_NONE : target.obstacle;
	f->error = obstacle == GT_TARGET_STATIC ? 0 : EPERM;
	if (obstacle) {
		snprintf(f->why, sizeof f->why, "%s", gt_target_reason(obstacle));
		return VERDICT_MISSED;
	}
	if (!v->is_ours || !v->has_library) {
		snprintf(f->why, sizeof f->why, "it was started without %s",
			 v->is_ours ? "LD_PRELOAD, so only runtimes that load gputap are traced"
				    : "gputap's environment variables");
		return VERDICT_MISSED;
	}
	f->error = find_distance(d, pid, f);
	return !f->error ? VERDICT_COMING : parent_is_traced ? VERDICT_MISSED : VERDICT_COVERED;
}

/* Judge the process with the exec_id in f->stat. Return VERDICT_NONE if the process has changed in
 * the meantime. */
static enum verdict judge_process(struct gt_descendants *d, uint32_t pid, bool parent_is_traced,
				  struct findings *f)
{
	struct variables v = {.folder = gt_folder_inner_path(d->drain->folder)};
	struct gt_proc_stat after;
	enum verdict verdict;
	int maps;

	maps = gt_proc_maps(pid, d->drain->folder->session_fd, d->session_path);
	if (maps > 0)
		return VERDICT_TRACED;
	if (!gt_proc_read_ids(pid, &f->ids))
		return VERDICT_NONE;
	if (maps < 0 || gt_proc_each_variable(pid, look_at_variable, &v))
		verdict = maps == -EACCES ? judge_hidden(f, parent_is_traced) : VERDICT_NONE;
	else if (!f->stat.exec_id) /* an exec is in progress */
		verdict = VERDICT_NONE;
	else
		verdict = judge_unmapped(d, pid, &v, parent_is_traced, f);
	if (!gt_proc_read_program(pid, f->program, sizeof f->program))
		snprintf(f->program, sizeof f->program, "%s", f->stat.name);
	if (!gt_proc_read_stat(pid, &after) || after.exec_id != f->stat.exec_id ||
	    after.start != f->stat.start || after.state == 'Z')
		return VERDICT_NONE;
	return verdict;
}

static void add_missed(struct gt_descendants *d, uint32_t pid, const struct findings *f)
{
	void *more = d->missed_count < MISSED_MOST ? gt_grow(d->missed, d->missed_count,
							     &d->missed_room, sizeof *d->missed)
						   : NULL;
	char *program = more ? strdup(f->program) : NULL;
	struct gt_clock_tuple now;
	struct gt_missed *m;

	if (more)
		d->missed = more;
	if (!program)
		return;
	gt_clock_tuple_take(d->drain->folder->host_clock, &now);
	m = &d->missed[d->missed_count++];
	*m = (struct gt_missed){
		.pid = pid,
		.inner_pid = f->ids.inner_pid,
		.ppid = f->stat.ppid,
		.ticks = now.ticks,
		.program = program,
		.error = f->error,
	};
	memcpy(m->name, f->stat.name, sizeof m->name);
	memcpy(m->why, f->why, sizeof m->why);
}

/* The walk ---------------------------------------------------------------------------- */

static void push_pid(uint32_t pid, void *data)
{
	struct gt_descendants *d = data;
	void *more = gt_grow(d->waiting, d->waiting_count, &d->waiting_room, sizeof *d->waiting);

	if (!more)
		return;
	d->waiting = more;
	d->waiting[d->waiting_count++] = pid;
}

static bool is_fork_of(const struct gt_descendant *p, const struct gt_descendant *parent)
{
	return parent && parent->verdict == VERDICT_MISSED && parent->exec_id == p->exec_id &&
	       p->exec_id;
}

/* Examine a process of the tree, or the pid of a segment (@is_seed), and queue its children. */
static void look_at_process(struct gt_descendants *d, uint32_t pid, bool is_seed, uint64_t now_ns)
{
	struct gt_descendant *p = find_known(d, pid);
	const struct gt_descendant *parent;
	struct findings f = {.error = 0};

	if (p && p->look == d->look && (p->is_of_tree || is_seed))
		return;
	if (!gt_proc_read_stat(pid, &f.stat) || f.stat.state == 'X' ||
	    (f.stat.state == 'Z' && f.stat.threads <= 1))
		return;
	if (!p && !(p = add_known(d, pid)))
		return;
	if (p->start != f.stat.start) /* the pid was reused */
		*p = (struct gt_descendant){.pid = pid, .start = f.stat.start, .since_ns = now_ns};
	if (p->exec_id != f.stat.exec_id) {
		p->exec_id = f.stat.exec_id;
		p->since_ns = now_ns;
		p->verdict = VERDICT_NONE;
	}
	p->look = d->look;
	p->is_of_tree |= !is_seed;
	parent = find_known(d, f.stat.ppid);
	if ((p->verdict == VERDICT_NONE || p->verdict == VERDICT_COMING) && f.stat.state != 'Z' &&
	    (!is_fork_of(p, parent) || now_ns - p->since_ns > FORK_NS)) {
		p->verdict = judge_process(d, pid,
					   !parent || parent->verdict == VERDICT_TRACED ||
						   parent->verdict == VERDICT_NONE,
					   &f);
		p->is_of_tree |= p->verdict == VERDICT_TRACED;
		if (p->verdict == VERDICT_MISSED && p->is_of_tree && !d->ignores_children)
			add_missed(d, pid, &f);
	}
	if (p->is_of_tree && d->looks_for_torch && f.stat.state != 'Z')
		look_for_torch(p);
	if (p->is_of_tree && !d->ignores_children)
		gt_proc_each_child(pid, f.stat.threads, push_pid, d);
	else if (!p->is_of_tree)
		p->verdict = VERDICT_NONE;
}

static void look_at_waiting(struct gt_descendants *d, uint64_t now_ns)
{
	while (d->waiting_count)
		look_at_process(d, d->waiting[--d->waiting_count], false, now_ns);
}

static void look_at_all(struct gt_descendants *d, uint32_t root, uint64_t now_ns)
{
	const struct gt_drain *drain = d->drain;

	d->look++;
	d->waiting_count = 0;
	if (root)
		push_pid(root, d);
	look_at_waiting(d, now_ns);
	/* processes that are no longer descendants of the first program */
	for (size_t i = 0; i < d->known_count; i++)
		if (d->known[i].is_of_tree && d->known[i].look != d->look)
			push_pid(d->known[i].pid, d);
	for (size_t i = d->waiting_count; i-- > 0;) {
		struct gt_descendant *p = find_known(d, d->waiting[i]);
		struct gt_proc_stat stat;

		if (!gt_proc_read_stat(p->pid, &stat) || stat.start != p->start)
			d->waiting[i] = d->waiting[--d->waiting_count]; /* the process has ended */
	}
	look_at_waiting(d, now_ns);
	for (size_t i = 0; i < drain->process_count; i++) {
		const struct gt_process *process = drain->processes[i];

		if (!process->segment || process->exited || process->pidfd < 0)
			continue;
		look_at_process(d, process->pid, true, now_ns);
		look_at_waiting(d, now_ns);
	}
	forget_ended(d);
}

void gt_descendants_look(struct gt_descendants *d, uint32_t root, uint64_t now_ns)
{
	uint64_t begin_ns, cost_ns;

	if (!d->next_ns)
		d->next_ns = now_ns + d->every_ns;
	if (now_ns < d->next_ns)
		return;
	begin_ns = gt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	look_at_all(d, root, now_ns);
	gt_own_threads_look(d->drain);
	cost_ns = gt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	d->every_ns = d->every_ns < EVERY_NS / 2 ? 2 * d->every_ns : EVERY_NS;
	d->next_ns =
		now_ns + (cost_ns * COST_SHARE > d->every_ns ? cost_ns * COST_SHARE : d->every_ns);
}

void gt_descendants_write(struct gt_descendants *d)
{
	for (size_t i = 0; i < d->missed_count; i++) {
		const struct gt_missed *m = &d->missed[i];

		if (!gt_not_traced_take_notice(d->drain, m->pid, m->inner_pid, m->ppid, m->name,
					       m->program))
			gt_not_traced_write_found(d->drain, m->pid, m->ticks, m->program, m->why,
						  m->error);
	}
}
