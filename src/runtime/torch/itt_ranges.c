/* SPDX-License-Identifier: MIT */
/* Records the tasks of Intel's ITT as ranges. Users of ITT are torch.autograd.profiler.emit_itt(),
 * OpenVINO, oneTBB and others.
 *
 * A program that uses ITT contains a small part of ITT. At its first call, this part opens the
 * library that INTEL_LIBITTNOTIFY64 names and looks up each ITT function in the library. `gputap
 * run` sets the variable to libgputap.so, unless the user has set it to another library. ITT looks
 * up the functions of the groups in INTEL_ITTNOTIFY_GROUPS, if the library defines
 * __itt_api_version. ITT functions that are not defined here do nothing.
 *
 * NEEDSWORK: start and end of a task in different threads (__itt_task_begin_overlapped), frames and
 * regions are not recorded. */
#include <stdint.h>
#include <string.h>

#include "core/emit.h"
#include "gputap/gputap.h"
#include "runtime/range_texts.h"

#define EXPORT __attribute__((visibility("default")))

/* ITT's own layouts, which the part of ITT in the program reads. */
struct itt_id {
	unsigned long long d1, d2, d3;
};

struct itt_domain {
	volatile int flags; /* 0 if the program does not call gputap for this domain */
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

EXPORT const char *__itt_api_version(void);
EXPORT struct itt_domain *__itt_domain_create(const char *name);
EXPORT struct gt_range_text *__itt_string_handle_create(const char *name);
EXPORT void __itt_task_begin(const struct itt_domain *domain, struct itt_id task,
			     struct itt_id parent, const struct gt_range_text *name);
EXPORT void __itt_task_end(const struct itt_domain *domain);

/* Key of all tasks, because a task's end does not identify its start. It differs from all
 * addresses, which other callers pass as keys. */
static const uint64_t KEY = UINT64_C(1) << 56;
static _Thread_local uint32_t depth __attribute__((tls_model("initial-exec")));

const char *__itt_api_version(void)
{
	return "gputap";
}

struct itt_domain *__itt_domain_create(const char *name)
{
	struct gt_range_text *text = gt_range_text(name);
	struct itt_domain *domain = text ? gt_arena_take(sizeof *domain) : NULL;

	if (domain)
		*domain = (struct itt_domain){.flags = 1, .name = text->text};
	return domain;
}

struct gt_range_text *__itt_string_handle_create(const char *name)
{
	return name ? gt_range_text(name) : NULL;
}

void __itt_task_begin(const struct itt_domain *domain, struct itt_id task, struct itt_id parent,
		      const struct gt_range_text *name)
{
	(void)domain, (void)task, (void)parent;
	gputap_range_begin(name && name->text ? name->text : "(no name)", KEY + ++depth, NULL);
}

void __itt_task_end(const struct itt_domain *domain)
{
	(void)domain;
	if (depth)
		gputap_range_end(KEY + depth--);
}
