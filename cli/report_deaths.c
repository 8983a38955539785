/* SPDX-License-Identifier: MIT */
/* Finds the calls in which processes died, if the capture contains them (GT_RECORD_OPEN). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/base/lookup.h"
#include "cli/report.h"
#include "cli/ui.h"
#include "record/operation.h"

enum { THREADS_MOST = 4 };

struct sentence {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void add_words(struct sentence *s, const char *format,
							    ...)
{
	size_t used = strlen(s->text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(s->text + used, s->size - used, format, ap);
	va_end(ap);
}

static bool is_open_call(const struct gt_event_info *e, uint32_t process)
{
	return e->code == GT_EVENT_OPEN_CALL && e->process == process &&
	       e->domain < GT_DOMAIN_COUNT;
}

/* A call that was open when the process died. */
struct dead_call {
	uint32_t ordinal;
	enum gt_domain domain;
	const char *name;
	uint64_t open_ns; /* 0: not known */
};

static void add_dead_thread(struct sentence *s, const struct gt_capture *capture, uint32_t process,
			    const struct dead_call *call)
{
	const struct gt_thread_info *t = gt_capture_thread_find(capture, process, call->ordinal);

	if (t)
		add_words(s, ", thread %u%s%s%s", t->tid, t->name && *t->name ? " (" : "",
			  t->name ? t->name : "", t->name && *t->name ? ")" : "");
}

/* Read the open calls from GT_RECORD_OPEN or, in captures from versions without it, from
 * GT_EVENT_OPEN_CALL. Calls of one thread are adjacent, outermost call first. @list: has room for
 * all of them, or NULL. Return their number. */
static size_t read_dead_calls(const struct gt_capture *capture, uint32_t process,
			      struct dead_call *list)
{
	size_t count, n = 0;
	const struct gt_open_call_info *open = gt_capture_open_calls(capture, &count);

	for (size_t i = 0; i < count; i++) {
		const struct gt_open_call_info *o = &open[i];
		const struct gt_operation_info *operation = gt_operation(o->op);

		if (o->process != process || !operation)
			continue;
		if (list)
			list[n] = (struct dead_call){
				.ordinal = o->ordinal,
				.domain = (enum gt_domain)GT_OP_DOMAIN(o->op),
				.name = operation->name,
				.open_ns = o->start_ns && o->seen_ns > o->start_ns
						   ? o->seen_ns - o->start_ns
						   : 0,
			};
		n++;
	}
	if (n)
		return n;
	for (size_t i = 0; i < gt_capture_event_count(capture); i++) {
		const struct gt_event_info *e = gt_capture_event(capture, i);

		if (!is_open_call(e, process))
			continue;
		if (list)
			list[n] = (struct dead_call){(uint32_t)e->value, e->domain, e->text, 0};
		n++;
	}
	return n;
}

/* Add the open calls of a process. @domains: domains for which an open call has been named. */
static void add_open_calls(struct sentence *s, const struct gt_capture *capture, uint32_t process,
			   uint64_t *domains)
{
	size_t count = read_dead_calls(capture, process, NULL);
	struct dead_call *calls = allocate_list(count + 1, sizeof *calls);
	const struct dead_call *last = NULL;
	uint32_t skipped = 0;
	unsigned threads = 0, more = 0;

	*domains = 0;
	memset(calls, 0, (count + 1) * sizeof *calls);
	read_dead_calls(capture, process, calls);
	for (const struct dead_call *call = calls; call < calls + count; call++) {
		bool is_inner = last && last->ordinal == call->ordinal;

		*domains |= GT_DOMAIN_BIT(call->domain);
		if (!is_inner && threads == THREADS_MOST) {
			more += call->ordinal != skipped;
			skipped = call->ordinal;
			continue;
		}
		if (last && !is_inner)
			add_dead_thread(s, capture, process, last);
		add_words(s,
			  is_inner  ? ", inside it %s"
			  : threads ? "; in %s"
				    : ", in %s",
			  call->name);
		if (call->open_ns)
			add_words(s, " for %s", show_duration(call->open_ns));
		threads += !is_inner;
		last = call;
	}
	if (last)
		add_dead_thread(s, capture, process, last);
	if (more)
		add_words(s, "; and %u more threads in calls", more);
	free(calls);
}

bool report_death(const struct gt_capture *capture, uint32_t process, char *text, size_t size)
{
	const struct gt_process_info *p = gt_capture_process(capture, process);
	const struct gt_counts *counts = gt_capture_counts(capture, process);
	const char *slash = p->exe ? strrchr(p->exe, '/') : NULL;
	struct sentence s = {text, size};
	uint64_t named, unnamed = 0;

	/* only the first process of the tree is a child of gputap with a known status; the status
	 * of other processes is in their rings */
	if (!p->ended || p->proper_end || !counts ||
	    (p->wait_status >= 0 && !WIFSIGNALED(p->wait_status) && !WEXITSTATUS(p->wait_status)))
		return false;
	*text = '\0';
	add_words(&s, "process %u (%s): %s", p->pid,
		  slash    ? slash + 1
		  : p->exe ? p->exe
			   : "",
		  report_process_end(true, false, p->wait_status, false));
	add_open_calls(&s, capture, process, &named);
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
		if (!counts->dropped[GT_DROP_UNFINISHED][GT_CLASS_CALL][d] || named >> d & 1)
			continue;
		add_words(&s,
			  unnamed ? ", %s"
			  : named ? "; in a call of %s"
				  : ", in a call of %s",
			  gt_domain_name((enum gt_domain)d));
		unnamed |= GT_DOMAIN_BIT(d);
	}
	return named | unnamed;
}
