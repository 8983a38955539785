/* SPDX-License-Identifier: MIT */
/* Finds the calls in which processes died, if the capture contains them (GT_EVENT_OPEN_CALL). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/report.h"

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

static void add_dead_thread(struct sentence *s, const struct gt_capture *capture,
			    const struct gt_event_info *e)
{
	const struct gt_thread_info *t =
		gt_capture_thread_find(capture, e->process, (uint32_t)e->value);

	if (t)
		add_words(s, ", thread %u%s%s%s", t->tid, t->name && *t->name ? " (" : "",
			  t->name ? t->name : "", t->name && *t->name ? ")" : "");
}

/* Add the open calls of a process. Events of one thread are adjacent, outermost call first.
 * @domains: domains for which an open call has been named. */
static void add_open_calls(struct sentence *s, const struct gt_capture *capture, uint32_t process,
			   uint64_t *domains)
{
	const struct gt_event_info *last = NULL;
	uint64_t skipped = 0;
	unsigned threads = 0, more = 0;

	*domains = 0;
	for (size_t i = 0; i < gt_capture_event_count(capture); i++) {
		const struct gt_event_info *e = gt_capture_event(capture, i);
		bool is_inner = last && last->value == e->value;

		if (e->code != GT_EVENT_OPEN_CALL || e->process != process ||
		    e->domain >= GT_DOMAIN_COUNT)
			continue;
		*domains |= GT_DOMAIN_BIT(e->domain);
		if (!is_inner && threads == THREADS_MOST) {
			more += e->value != skipped;
			skipped = e->value;
			continue;
		}
		if (last && !is_inner)
			add_dead_thread(s, capture, last);
		add_words(s,
			  is_inner  ? ", inside it %s"
			  : threads ? "; in %s"
				    : ", in %s",
			  e->text);
		threads += !is_inner;
		last = e;
	}
	if (last)
		add_dead_thread(s, capture, last);
	if (more)
		add_words(s, "; and %u more threads in calls", more);
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
