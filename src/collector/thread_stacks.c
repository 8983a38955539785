/* SPDX-License-Identifier: MIT */
/* See thread_stacks.h. */
#include "collector/thread_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/python_lines.h"
#include "collector/control.h"
#include "collector/remote_thread.h"
#include "record/record.h"
#include "util/clock_ns.h"

enum { ATTEMPTS_MOST = 5 };

struct reading {
	uint32_t pid;
	const uint32_t *tids;
	size_t count, done; /* done: number of threads whose result was passed on */
	uint64_t until_ns;
	gt_thread_stack_fn *each;
	void *data;
	int error; /* of the whole process */
	struct gt_sample_stacks stacks;
	struct gt_remote_memory memory;
	struct gt_sample_stack stack;
};

/* Reading ----------------------------------------------------------------------------------- */

static void read_frames(struct reading *r, uint32_t tid,
			const struct gt_remote_registers *registers)
{
	gt_remote_begin(&r->memory, r->pid);
	gt_remote_fetch_stack(&r->memory, registers->sp);
	r->stack.python_count =
		gt_remote_python_walk(&r->stacks.python, &r->memory, tid, r->stack.python);
}

static void unwind(struct reading *r, const struct gt_remote_registers *registers)
{
	r->stack.end = gt_remote_unwind(&r->stacks.modules, &r->memory, registers, r->stack.pcs,
					&r->stack.count);
}

/* Return 0 or an errno. */
static int read_running(struct reading *r, uint32_t tid)
{
	const struct timespec nap = {.tv_nsec = 200000};
	struct gt_remote_registers registers;
	uint64_t since_ns;
	enum gt_remote_stop stop = gt_remote_thread_stop(tid, &registers, &since_ns);

	while (stop == GT_REMOTE_PENDING && gt_clock_ns(CLOCK_MONOTONIC) < r->until_ns) {
		nanosleep(&nap, NULL);
		stop = gt_remote_thread_wait(tid, &registers);
	}
	if (stop != GT_REMOTE_STOPPED)
		return stop == GT_REMOTE_PENDING ? ETIMEDOUT : errno;
	read_frames(r, tid, &registers);
	gt_remote_thread_release(r->pid, tid);
	unwind(r, &registers);
	return 0;
}

/* Return 0 or an errno. */
static int read_once(struct reading *r, uint32_t tid, const struct gt_remote_files *files)
{
	struct gt_remote_look look, again;

	switch (gt_remote_thread_look(files, &look)) {
	case GT_REMOTE_GONE: return EAGAIN;
	case GT_REMOTE_REFUSED: return EPERM;
	case GT_REMOTE_RUNNING: return read_running(r, tid);
	case GT_REMOTE_BLOCKED: break;
	}
	read_frames(r, tid, &look.registers);
	unwind(r, &look.registers);
	/* the memory is consistent only if the thread has not run */
	return gt_remote_thread_look(files, &again) != GT_REMOTE_BLOCKED ||
			       again.runs != look.runs || again.registers.sp != look.registers.sp
		       ? EAGAIN
		       : 0;
}

static int read_thread(struct reading *r, uint32_t tid)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	struct gt_remote_files files;
	int error = EAGAIN;

	gt_remote_files_open(&files, r->pid, tid);
	if (files.error == ENOENT)
		error = ESRCH;
	for (int i = 0; i < ATTEMPTS_MOST && error == EAGAIN; i++) {
		if (i)
			nanosleep(&nap, NULL);
		error = gt_clock_ns(CLOCK_MONOTONIC) < r->until_ns ? read_once(r, tid, &files)
								   : ETIMEDOUT;
	}
	gt_remote_files_close(&files);
	return error;
}

/* Read the mappings and find Python. Return 0 or an errno. */
static int read_modules(struct reading *r)
{
	struct gt_remote_modules *m = &r->stacks.modules;

	if (!gt_remote_modules_read(m))
		return errno == EACCES ? EPERM : errno;
	gt_remote_begin(&r->memory, r->pid);
	for (size_t i = 0; i < m->count; i++)
		if (strstr(m->list[i].path, "python"))
			gt_remote_python_meet(&r->stacks.python, m,
					      gt_remote_modules_find(m, m->list[i].start),
					      &r->memory);
	return 0;
}

static void *read_all(void *data)
{
	struct reading *r = data;

	r->error = read_modules(r);
	for (; r->done < r->count && !r->error; r->done++) {
		int error = read_thread(r, r->tids[r->done]);

		r->each(r->data, r->done, error, &r->stacks, &r->memory, error ? NULL : &r->stack);
	}
	return NULL;
}

void gt_thread_stacks_read(const struct gt_process *process, const uint32_t *tids, size_t count,
			   uint64_t until_ns, uint32_t *skipped, gt_thread_stack_fn *each,
			   void *data)
{
	struct reading *r = count ? calloc(1, sizeof *r) : NULL;
	/* an id from another pid namespace is meaningless here */
	bool is_here = !process->is_unseen && process->pid == process->name_pid;
	int error = process->exited ? ESRCH : !is_here ? EXDEV : ENOMEM;
	pthread_t thread;
	size_t done = 0;

	if (r && error == ENOMEM) {
		gt_sample_stacks_init(&r->stacks, process->pid);
		r->stacks.skipped = skipped ? *skipped : 0;
		r->stacks.modules.generation += r->stacks.skipped;
		r->pid = process->pid;
		r->tids = tids;
		r->count = count;
		r->until_ns = until_ns;
		r->each = each;
		r->data = data;
		error = pthread_create(&thread, NULL, read_all, r);
		if (!error) {
			pthread_join(thread, NULL);
			error = r->error;
			done = r->done;
		}
		if (skipped)
			*skipped += r->stacks.stacks.count + r->stacks.codes.count + 1;
		gt_sample_stacks_fini(&r->stacks);
	}
	free(r);
	for (; done < count; done++)
		each(data, done, error, NULL, NULL, NULL);
}

/* Printing ---------------------------------------------------------------------------------- */

static void put_native(struct gt_sample_stacks *s, uintptr_t pc, unsigned number, FILE *out)
{
	const struct gt_remote_module *module = gt_remote_modules_find(&s->modules, pc);

	fprintf(out, "frame=%u", number);
	if (module) {
		gt_control_put_word(out, "module", module->path, false);
		gt_control_put_word(out, "build", module->id, false);
		pc -= module->base;
	}
	fprintf(out, " address=%" PRIuPTR "\n", pc);
}

static void put_python(struct gt_sample_stacks *s, struct gt_remote_memory *memory,
		       const struct gt_remote_python_frame *f, unsigned number, FILE *out)
{
	struct gt_remote_python_code code;
	const char *name = "", *file = "";
	uint32_t line = 0;

	/* the code object is read later than the frame, and may be gone */
	if (gt_remote_python_read_code(&s->python, memory, f, &code)) {
		name = code.text;
		file = name + strlen(name) + 1;
		line = gt_python_line((const uint8_t *)code.text + code.text_bytes,
				      code.lines_bytes, code.first_line, f->offset);
	}
	fprintf(out, "frame=%u", number);
	gt_control_put_word(out, "python", name, false);
	gt_control_put_word(out, "file", file, false);
	fprintf(out, " line=%u entry=%s\n", line, f->is_entry ? "yes" : "no");
}

void gt_thread_stack_put(struct gt_sample_stacks *s, struct gt_remote_memory *memory,
			 const struct gt_sample_stack *stack, FILE *out)
{
	for (unsigned i = 0; i < stack->count; i++)
		put_native(s, stack->pcs[i], i, out);
	for (unsigned i = 0; i < stack->python_count; i++)
		put_python(s, memory, &stack->python[i], stack->count + i, out);
}
