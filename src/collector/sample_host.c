/* SPDX-License-Identifier: MIT */
/* See sample_host.h. */
#include "collector/sample_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "clock/counter.h"
#include "clock/hostclock.h"
#include "collector/batch.h"
#include "collector/folder.h"
#include "collector/guard.h"
#include "collector/remote_thread.h"
#include "collector/sample_stacks.h"
#include "collector/thread_calls.h"
#include "record/host_state.h"
#include "util/clock_ns.h"
#include "util/error.h"
#include "util/grow.h"
#include "util/short_slice.h"

enum { DYING_MOST = 256, REFUSALS_MOST = 3 };
/* rows are written after this time, so that snapshots have them */
static const uint64_t ROW_NS = 200000000;
static const uint64_t MAPS_NS = 2000000000;
/* A process that has ended is removed in less than this time. */
static const uint64_t ELSEWHERE_NS = 100000000;
/* longest wait for a processor of a thread that was running when it was told to stop */
static const uint64_t WAIT_NS = 100000;

/* A thread of a traced process. */
struct sampled_thread {
	uint32_t ordinal, tid; /* ordinal 0: no thread */
	bool is_open;          /* `files` are open */
	bool is_blocked;       /* the last sample found the thread in a system call */
	struct gt_remote_files files;
	struct gt_thread_calls calls;
	uint64_t runs; /* gt_remote_look.runs of the last sample */
	/* the row that is not written yet; number 0: none */
	uint32_t number, count, state;
	uint64_t start, end;       /* host ticks */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
};

struct sampled_process {
	struct gt_process *process;
	struct gt_sample_stacks *stacks; /* NULL: not sampled yet */
	uint64_t maps_ns;                /* time at which the mappings were read */
	bool is_refused;
	bool is_noted;     /* the process was checked for being in another pid namespace */
	uint64_t seen_ns;  /* time of the first look; 0: none */
	unsigned refusals; /* consecutive refusals; a thread that is ending refuses once */
	struct sampled_thread *threads; /* by slot */
	uint32_t thread_count;
};

struct gt_sample_host {
	struct gt_drain *drain;
	uint32_t child_pid;
	uint64_t period_ns, next_ns, first_ns;
	struct sampled_process **list;
	size_t count, room;
	struct gt_remote_memory memory;
	struct gt_sample_stack stack;
	struct gt_sample_totals totals;
	/* a thread that was told to stop and has not stopped yet; pid 0: none */
	uint32_t pending_pid, pending_tid;
	/* threads that ended while they were traced */
	uint32_t dying[DYING_MOST];
	unsigned dying_count;
};

static uint64_t get_ticks(const struct gt_sample_host *s)
{
	return s->drain->folder->host_clock == GT_HOST_CLOCK_COUNTER ? gt_counter_read()
								     : gt_clock_ns(CLOCK_BOOTTIME);
}

/* Rows -------------------------------------------------------------------------------------- */

static void write_row(struct gt_sample_host *s, const struct sampled_process *p, uint32_t slot)
{
	struct sampled_thread *t = &p->threads[slot];
	const struct gt_ring *ring =
		slot < p->process->rings_known ? &p->process->rings[slot] : NULL;
	struct gt_record_host row = {
		.head = {sizeof row / 8, GT_RECORD_HOST, GT_HOST_SAMPLE, 0},
		.start = t->start,
		.end = t->end,
		.value = {t->number, t->state, t->count},
	};
	struct gt_counts counts = {0};

	if (!t->number)
		return;
	t->number = 0;
	if (!ring || !ring->stream || ring->done || ring->ordinal != t->ordinal)
		return;
	s->drain->batch_dirty = true;
	if (gt_capture_write_records(ring->stream, (const uint8_t *)&row, sizeof row, &counts))
		gt_error_clear(); /* the file takes no more data: reported once, at the end */
}

static void add_sample(struct gt_sample_host *s, struct sampled_process *p, uint32_t slot,
		       uint32_t number, enum gt_host_state state, uint64_t now_ns)
{
	struct sampled_thread *t = &p->threads[slot];

	s->totals.samples++;
	p->refusals = 0;
	if (t->number &&
	    (t->number != number || t->state != state || now_ns - t->start_ns >= ROW_NS))
		write_row(s, p, slot);
	if (!t->number) {
		t->number = number;
		t->state = state;
		t->count = 0;
		t->start = get_ticks(s);
		t->start_ns = now_ns;
	}
	t->count++;
	t->end = t->start_ns == now_ns ? t->start : get_ticks(s);
	t->end_ns = now_ns;
}

/* Return the state of a thread in this system call. */
static enum gt_host_state get_state(int system_call)
{
	switch (system_call) {
	case SYS_nanosleep:
	case SYS_clock_nanosleep: return GT_HOST_STATE_SLEEPING;
#if defined(SYS_poll)
	case SYS_poll:
	case SYS_select:
	case SYS_epoll_wait:
#endif
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait: return GT_HOST_STATE_POLLING;
	case SYS_wait4:
	case SYS_waitid: return GT_HOST_STATE_CHILD;
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_connect: return GT_HOST_STATE_SOCKET;
	case SYS_ioctl: return GT_HOST_STATE_DRIVER;
	default: return GT_HOST_STATE_WAITING;
	}
}

/* Threads that end while they are traced ---------------------------------------------------- */

static void note_dying(struct gt_sample_host *s, uint32_t tid)
{
	/* the collector waits for the program itself elsewhere */
	if (tid != s->child_pid && s->dying_count < DYING_MOST)
		s->dying[s->dying_count++] = tid;
}

/* Take the statuses of threads that ended while they were traced. Their processes do not end
 * before. */
static void reap(struct gt_sample_host *s)
{
	for (unsigned i = 0; i < s->dying_count;) {
		int status;
		pid_t found = waitpid((pid_t)s->dying[i], &status, __WALL | WNOHANG | __WNOTHREAD);

		if (found == 0 || (found < 0 && errno == EINTR)) {
			i++;
			continue;
		}
		if (found > 0 && WIFSTOPPED(status)) {
			gt_remote_thread_release(s->dying[i], s->dying[i]);
			i++;
			continue;
		}
		s->dying[i] = s->dying[--s->dying_count];
	}
}

/* Samples ----------------------------------------------------------------------------------- */

static void refuse(struct gt_sample_host *s, struct sampled_process *p, int error)
{
	if (++p->refusals < REFUSALS_MOST)
		return;
	p->is_refused = true;
	s->totals.refused++;
	s->totals.refusal = error;
}

/* Get ready to read the stacks of a process. Return false if that is impossible. */
static bool prepare(struct gt_sample_host *s, struct sampled_process *p, uint64_t now_ns)
{
	struct gt_remote_modules *m;

	if (p->stacks && now_ns - p->maps_ns < MAPS_NS)
		return true;
	if (!p->stacks) {
		p->stacks = malloc(sizeof *p->stacks);
		if (!p->stacks)
			return false;
		gt_sample_stacks_init(p->stacks, p->process->pid);
		s->totals.processes++;
	}
	m = &p->stacks->modules;
	p->maps_ns = now_ns;
	if (!gt_remote_modules_read(m)) {
		refuse(s, p, errno);
		return false;
	}
	gt_remote_begin(&s->memory, p->process->pid);
	for (size_t i = 0; i < m->count; i++) {
		if (m->list[i].is_met)
			continue;
		m->list[i].is_met = true;
		if (strstr(m->list[i].path, "python"))
			gt_remote_python_meet(&p->stacks->python, m,
					      gt_remote_modules_find(m, m->list[i].start),
					      &s->memory);
	}
	if (p->stacks->python.version && !p->stacks->python.runtime)
		s->totals.python_version = p->stacks->python.version;
	return true;
}

/* Read everything that changes when the thread runs. */
static void read_thread(struct gt_sample_host *s, const struct sampled_process *p, uint32_t tid,
			const struct gt_remote_registers *registers)
{
	gt_remote_begin(&s->memory, p->process->pid);
	gt_remote_fetch_stack(&s->memory, registers->sp);
	s->stack.python_count =
		gt_remote_python_walk(&p->stacks->python, &s->memory, tid, s->stack.python);
}

/* Return the number of the stack that read_thread() has read. */
static uint32_t number_stack(struct gt_sample_host *s, const struct sampled_process *p,
			     uint32_t slot, const struct gt_remote_registers *registers)
{
	s->stack.end = gt_remote_unwind(&p->stacks->modules, &s->memory, registers, s->stack.pcs,
					&s->stack.count);
	s->totals.broken += s->stack.end == GT_FRAMES_BROKEN;
	return gt_sample_stacks_number(p->stacks, &s->memory, &s->stack,
				       p->process->rings[slot].stream);
}

static void sample_blocked(struct gt_sample_host *s, struct sampled_process *p, uint32_t slot,
			   const struct gt_remote_look *look, uint64_t now_ns)
{
	struct sampled_thread *t = &p->threads[slot];
	struct gt_remote_look again;
	uint32_t number;

	if (t->number && t->is_blocked && look->runs && look->runs == t->runs) {
		add_sample(s, p, slot, t->number, (enum gt_host_state)t->state, now_ns);
		return;
	}
	read_thread(s, p, t->tid, &look->registers);
	number = number_stack(s, p, slot, &look->registers);
	/* the memory is consistent only if the thread has not run */
	if (gt_remote_thread_look(&t->files, &again) != GT_REMOTE_BLOCKED ||
	    again.runs != look->runs || again.registers.sp != look->registers.sp) {
		s->totals.moved++;
		return;
	}
	t->is_blocked = true;
	t->runs = look->runs;
	if (number)
		add_sample(s, p, slot, number, get_state(look->system_call), now_ns);
}

/* Return the counter of a time: the power of two, and the next two bits. */
static unsigned find_time(uint64_t ns)
{
	const unsigned power = 63u - (unsigned)__builtin_clzll(ns | 4);

	return 4 * power + (unsigned)(ns >> (power - 2) & 3);
}

uint64_t gt_sample_stop_p99_ns(const struct gt_sample_totals *totals)
{
	uint64_t count = 0, ns;

	for (unsigned i = 0; i < GT_SAMPLE_TIMES; i++) {
		count += totals->stop_times[i];
		if (!count || count * 100 < totals->stops * 99)
			continue;
		ns = ((uint64_t)(i % 4) + 5) << (i / 4 - 2); /* the start of the next counter */
		return ns < totals->longest_ns ? ns : totals->longest_ns;
	}
	return 0;
}

static void count_stop(struct gt_sample_host *s, uint64_t start_ns)
{
	const uint64_t ns = gt_clock_ns(CLOCK_MONOTONIC) - start_ns;

	s->totals.stops++;
	s->totals.stop_times[find_time(ns)]++;
	s->totals.stopped_ns += ns;
	s->totals.longest_ns = ns > s->totals.longest_ns ? ns : s->totals.longest_ns;
}

/* Return the state of a thread that was stopped. A thread that had no processor had to wait for one
 * before it could stop. */
static enum gt_host_state get_running_state(const struct sampled_thread *t,
					    const struct gt_remote_look *before)
{
	struct gt_remote_look after;

	gt_remote_thread_look(&t->files, &after);
	return after.delay_ns - before->delay_ns > WAIT_NS ? GT_HOST_STATE_RUNNABLE
							   : GT_HOST_STATE_COMPUTING;
}

static void sample_running(struct gt_sample_host *s, struct sampled_process *p, uint32_t slot,
			   const struct gt_remote_look *look, uint64_t now_ns)
{
	struct sampled_thread *t = &p->threads[slot];
	struct gt_remote_registers registers;
	enum gt_host_state state;
	uint64_t since_ns = 0;
	uint32_t number;

	t->is_blocked = false;
	switch (gt_remote_thread_stop(t->tid, &registers, &since_ns)) {
	case GT_REMOTE_PENDING:
		s->pending_pid = p->process->pid;
		s->pending_tid = t->tid;
		return;
	case GT_REMOTE_FAILED:
		if (errno == ESRCH)
			note_dying(s, t->tid);
		else
			refuse(s, p, errno);
		return;
	case GT_REMOTE_STOPPED: break;
	}
	read_thread(s, p, t->tid, &registers);
	state = get_running_state(t, look);
	if (!gt_remote_thread_release(p->process->pid, t->tid))
		note_dying(s, t->tid);
	count_stop(s, since_ns);
	number = number_stack(s, p, slot, &registers);
	if (number)
		add_sample(s, p, slot, number, state, now_ns);
}

/* Resume a thread that stopped late, without a sample. */
static void look_at_pending(struct gt_sample_host *s)
{
	struct gt_remote_registers registers;

	if (!s->pending_pid)
		return;
	switch (gt_remote_thread_wait(s->pending_tid, &registers)) {
	case GT_REMOTE_PENDING: return;
	case GT_REMOTE_FAILED: note_dying(s, s->pending_tid); break;
	case GT_REMOTE_STOPPED:
		s->totals.moved++;
		if (!gt_remote_thread_release(s->pending_pid, s->pending_tid))
			note_dying(s, s->pending_tid);
		break;
	}
	s->pending_pid = 0;
}

static void sample_thread(struct gt_sample_host *s, struct sampled_process *p, uint32_t slot,
			  uint64_t now_ns)
{
	struct sampled_thread *t = &p->threads[slot];
	struct gt_remote_look look;

	if (!p->process->rings[slot].stream || !prepare(s, p, now_ns))
		return;
	if (!t->is_open)
		gt_remote_files_open(&t->files, p->process->pid, t->tid);
	t->is_open = true;
	switch (gt_remote_thread_look(&t->files, &look)) {
	case GT_REMOTE_BLOCKED: sample_blocked(s, p, slot, &look, now_ns); break;
	case GT_REMOTE_RUNNING:
		if (!s->pending_pid)
			sample_running(s, p, slot, &look, now_ns);
		break;
	case GT_REMOTE_REFUSED: refuse(s, p, errno); break;
	case GT_REMOTE_GONE: break;
	}
}

/* Threads and processes --------------------------------------------------------------------- */

static void forget_thread(struct gt_sample_host *s, const struct sampled_process *p, uint32_t slot)
{
	struct sampled_thread *t = &p->threads[slot];

	write_row(s, p, slot);
	if (t->is_open)
		gt_remote_files_close(&t->files);
	*t = (struct sampled_thread){.ordinal = 0};
}

/* Read which thread has the slot. Return false if none has. */
static bool read_owner(struct gt_sample_host *s, struct gt_process *process, uint32_t slot,
		       uint32_t *ordinal, uint32_t *tid)
{
	const struct gt_slot *from = gt_process_slot(process, slot);
	volatile bool is_active;

	if (!GT_GUARD()) {
		gt_batch_lose(s->drain, process);
		return false;
	}
	is_active = atomic_load_explicit(&from->state, memory_order_acquire) == GT_SLOT_ACTIVE;
	*ordinal = from->ordinal;
	*tid = from->tid;
	gt_guard_end();
	return is_active;
}

static void look_at_thread(struct gt_sample_host *s, struct sampled_process *p, uint32_t slot,
			   uint64_t now_ns)
{
	struct sampled_thread *t = &p->threads[slot];
	uint32_t ordinal = 0, tid = 0; /* not set if the segment was truncated */
	enum gt_thread_calls_state state;

	if (!read_owner(s, p->process, slot, &ordinal, &tid) || ordinal != t->ordinal) {
		if (t->ordinal)
			forget_thread(s, p, slot);
		t->ordinal = ordinal;
		t->tid = tid;
		return;
	}
	state = gt_thread_calls_look(s->drain, p->process, slot, &t->calls);
	if (state == GT_CALLS_RETURNED)
		sample_thread(s, p, slot, now_ns);
	else if (t->number)
		write_row(s, p, slot);
}

static bool can_be_sampled(const struct gt_process *process)
{
	/* a thread id from another pid namespace is meaningless here */
	return process->segment && !process->lost && !process->exited && !process->replaced &&
	       process->pidfd >= 0 && !process->is_unseen && process->pid == process->name_pid;
}

static struct sampled_process *find_process(struct gt_sample_host *s, struct gt_process *process)
{
	struct sampled_process **more, *p;

	for (size_t i = 0; i < s->count; i++)
		if (s->list[i]->process == process)
			return s->list[i];
	more = gt_grow(s->list, s->count, &s->room, sizeof *more);
	if (!more)
		return NULL;
	s->list = more;
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->process = process;
	s->list[s->count++] = p;
	return p;
}

/* Count a process whose number means another process here, or none, unless it has only just
 * ended. */
static void note_elsewhere(struct gt_sample_host *s, struct gt_process *process, uint64_t now_ns)
{
	struct sampled_process *p;

	if (!process->segment || process->lost ||
	    (!process->is_unseen && process->pid == process->name_pid))
		return;
	p = find_process(s, process);
	if (!p || p->is_noted)
		return;
	p->seen_ns = p->seen_ns ? p->seen_ns : now_ns;
	if (now_ns - p->seen_ns < ELSEWHERE_NS)
		return;
	p->is_noted = true;
	s->totals.elsewhere += gt_file_in_use(process->fd) > 0;
}

static bool know_threads(struct sampled_process *p)
{
	const uint32_t count = p->process->rings_known;
	struct sampled_thread *more;

	if (count <= p->thread_count)
		return true;
	more = realloc(p->threads, count * sizeof *more);
	if (!more)
		return false;
	memset(more + p->thread_count, 0, (count - p->thread_count) * sizeof *more);
	p->threads = more;
	p->thread_count = count;
	return true;
}

static void look_at_process(struct gt_sample_host *s, struct gt_process *process, uint64_t now_ns)
{
	struct sampled_process *p = find_process(s, process);

	if (!p || p->is_refused || !know_threads(p))
		return;
	for (uint32_t i = 1; i < p->thread_count && !process->lost && !p->is_refused; i++)
		look_at_thread(s, p, i, now_ns);
}

void gt_sample_host_look(struct gt_sample_host *s, uint64_t now_ns)
{
	uint64_t cpu_ns;

	if (!s)
		return;
	look_at_pending(s);
	if (now_ns < s->next_ns)
		return;
	cpu_ns = gt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	s->first_ns = s->first_ns ? s->first_ns : now_ns;
	s->next_ns = now_ns + s->period_ns;
	reap(s);
	for (size_t i = 0; i < s->drain->process_count; i++)
		if (can_be_sampled(s->drain->processes[i]))
			look_at_process(s, s->drain->processes[i], now_ns);
		else
			note_elsewhere(s, s->drain->processes[i], now_ns);
	s->totals.span_ns = now_ns - s->first_ns;
	s->totals.cpu_ns += gt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
}

int gt_sample_host_due_ms(const struct gt_sample_host *s, uint64_t now_ns)
{
	const uint64_t ms = 1000000;

	if (!s)
		return -1;
	return now_ns >= s->next_ns ? 0 : (int)((s->next_ns - now_ns + ms - 1) / ms);
}

static void free_process(struct gt_sample_host *s, struct sampled_process *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		if (p->threads[i].ordinal)
			forget_thread(s, p, i);
	if (p->stacks)
		gt_sample_stacks_fini(p->stacks);
	free(p->stacks);
	free(p->threads);
	free(p);
}

void gt_sample_host_end(struct gt_sample_host *s, const struct gt_process *process)
{
	for (size_t i = 0; s && i < s->count; i++)
		if (s->list[i]->process == process) {
			free_process(s, s->list[i]);
			s->list[i] = s->list[--s->count];
			return;
		}
}

int gt_sample_host_create(struct gt_drain *d, uint64_t period_ns, uint32_t child_pid,
			  struct gt_sample_host **out)
{
	struct gt_sample_host *s = calloc(1, sizeof *s);

	*out = s;
	if (!s)
		return gt_error(-ENOMEM, "no memory for --sample-host");
	/* a thread that was stopped waits until the collector has a processor */
	gt_short_slice_take();
	s->drain = d;
	s->period_ns = period_ns;
	s->child_pid = child_pid;
	return 0;
}

void gt_sample_host_destroy(struct gt_sample_host *s)
{
	if (!s)
		return;
	while (s->count)
		free_process(s, s->list[--s->count]);
	free(s->list);
	free(s);
}

void gt_sample_host_totals(const struct gt_sample_host *s, struct gt_sample_totals *out)
{
	*out = s ? s->totals : (struct gt_sample_totals){.samples = 0};
}
