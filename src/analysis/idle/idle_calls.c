/* SPDX-License-Identifier: MIT */
/* Classifies calls for idle.h, based on the descriptions of operations in all runtimes. */
#include <string.h>

#include "analysis/idle/idle_steps.h"
#include "analysis/tables/selection.h"
#include "record/operation.h"

/* Groups of operations that build, load or search device code. */
static const char *const code_groups[] = {"program", "module", "compiler",        "code",
					  "library", "rtc",    "module_build_log"};

/* Substrings of the names of calls that only query, release an object, or compute a launch's
 * size. */
static const char *const asking[] = {"Get",    "_get_",     "Release",
				     "Retain", "Destroy",   "_destroy",
				     "Query",  "_iterate_", "CallConfiguration"};

static bool is_any_in(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

static bool builds_code(const struct gt_operation_info *info)
{
	for (size_t i = 0; info->group && i < sizeof code_groups / sizeof *code_groups; i++)
		if (!strcmp(info->group, code_groups[i]))
			return !is_any_in(info->name, asking, sizeof asking / sizeof *asking);
	return false;
}

static enum gt_idle_cause cause_of(const struct gt_operation_info *info)
{
	if (info->collective)
		return GT_IDLE_COLLECTIVE;
	switch ((enum gt_operation_kind)info->kind) {
	case GT_KIND_SYNCHRONISATION: return GT_IDLE_SYNCHRONISING;
	case GT_KIND_ALLOCATION: return GT_IDLE_ALLOCATING;
	case GT_KIND_FREE: return GT_IDLE_FREEING;
	case GT_KIND_COPY:
	case GT_KIND_SET: return GT_IDLE_COPYING;
	default: break;
	}
	return builds_code(info) ? GT_IDLE_COMPILING
	       : info->waits     ? GT_IDLE_SYNCHRONISING
				 : GT_IDLE_OTHER_CALL;
}

static int8_t find_blocks(const struct gt_operation_info *info)
{
	if (info->waits)
		return IDLE_ALWAYS;
	for (unsigned i = 0; i < info->nargs && i < INT8_MAX; i++)
		if (info->args[i].role == GT_ROLE_BLOCKS)
			return (int8_t)i;
	return IDLE_NEVER;
}

static uint8_t find_waits(const struct gt_operation_info *info)
{
	for (unsigned i = 0; i < info->nargs && i < UINT8_MAX; i++)
		if (info->args[i].role == GT_ROLE_DEPENDENCIES)
			return (uint8_t)i;
	return UINT8_MAX;
}

struct idle_operation idle_describe_operation(uint32_t op)
{
	const struct gt_operation_info *info = gt_operation(op);

	if (!info)
		return (struct idle_operation){.cause = GT_IDLE_OTHER_CALL};
	return (struct idle_operation){.cause = (uint8_t)cause_of(info),
				       .hold = (uint8_t)idle_call_hold(info->op),
				       .waits_arg = find_waits(info),
				       .copies = info->kind == GT_KIND_COPY ||
						 info->kind == GT_KIND_SET,
				       .blocks = find_blocks(info)};
}

const struct idle_operation *idle_find_operation(const struct idle *s, uint32_t op)
{
	static const struct idle_operation other = {.cause = GT_IDLE_OTHER_CALL};
	uint32_t domain = GT_OP_DOMAIN(op) % GT_DOMAIN_COUNT, number = GT_OP_NUMBER(op);

	return number < s->operation_counts[domain] ? &s->operations[domain][number] : &other;
}

enum gt_idle_cause idle_call_cause(const struct idle *s, const struct gt_item *call)
{
	const struct idle_operation *o = idle_find_operation(s, call->op);

	if (!o->copies || o->blocks == IDLE_ALWAYS)
		return (enum gt_idle_cause)o->cause;
	return o->blocks >= 0 && call->args && (unsigned)o->blocks < GT_OP_NARGS(call->op) &&
			       call->args[o->blocks]
		       ? GT_IDLE_COPYING
		       : GT_IDLE_OTHER_CALL;
}

/* Queues ---------------------------------------------------------------------------- */

static bool has_role(const struct gt_operation_info *info, enum gt_role role)
{
	for (unsigned i = 0; i < info->nargs; i++)
		if (info->args[i].role == role)
			return true;
	return false;
}

bool idle_names_events(const struct gt_operation_info *info)
{
	return has_role(info, GT_ROLE_DEPENDENCIES);
}

static bool gives_activity(const struct gt_operation_info *info)
{
	return info->kind == GT_KIND_LAUNCH || info->kind == GT_KIND_COPY ||
	       info->kind == GT_KIND_SET;
}

/* Return how a call blocks its stream. A call that names events and adds no activity to its stream
 * blocks later activities in the stream. A call that waits itself, or records the event, does not
 * block its stream. */
enum idle_hold idle_call_hold(uint32_t op)
{
	const struct gt_operation_info *info = gt_operation(op);

	if (!info || info->finished != GT_FINISHED_NOTHING || info->waits)
		return IDLE_HOLDS_NOT;
	if (idle_names_events(info))
		return gives_activity(info) ? IDLE_HOLDS_ACTIVITY : IDLE_HOLDS_STREAM;
	if (!has_role(info, GT_ROLE_STREAM) || !has_role(info, GT_ROLE_EVENT))
		return IDLE_HOLDS_NOT;
	return info->kind == GT_KIND_SYNCHRONISATION || strstr(info->name, "WaitEvent")
		       ? IDLE_HOLDS_STREAM
		       : IDLE_HOLDS_NOT;
}

bool idle_call_holds(const struct gt_item *call, enum idle_hold *how)
{
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	const struct gt_operation_info *info = gt_operation(call->op);
	uint64_t events;

	*how = idle_call_hold(call->op);
	if (*how == IDLE_HOLDS_NOT || !info)
		return false;
	if (!has_role(info, GT_ROLE_DEPENDENCIES))
		return true;
	return !call->args || (gt_call_role(&view, GT_ROLE_DEPENDENCIES, 0, &events) && events);
}

/* Processes ------------------------------------------------------------------------- */

/* Return a mask with one bit for each domain in a list in the format of --domains. */
static uint32_t find_listed(const char *list)
{
	uint64_t set = 0;

	while (*(list += strspn(list, ", "))) {
		size_t bytes = strcspn(list, ", ");

		set |= gt_domains_find(list, bytes);
		list += bytes;
	}
	return set;
}

/* Return true if the requested domains include the domains whose calls submitted the device's
 * activities. HSA's activities are submitted by calls of other domains, such as HIP, which may have
 * been excluded. */
static bool has_calls_of_activity(const struct gt_counts *counts, const char *domains)
{
	const uint64_t listed = find_listed(domains);

	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		if (counts->seen[GT_CLASS_DEVICE][d] &&
		    (d == GT_DOMAIN_HSA_CORE || !counts->seen[GT_CLASS_CALL][d] ||
		     !(listed >> d & 1)))
			return false;
	return true;
}

/* Return true if no calls are missing because they were not requested or were lost. Calls that were
 * open at the end of the process may be missing. */
bool idle_host_is_known(const struct gt_capture *capture, uint32_t process)
{
	const struct gt_process_info *info = gt_capture_process(capture, process);
	const struct gt_counts *counts = gt_capture_counts(capture, process);
	const struct gt_capture_session *session;
	struct capture_selection selection;

	if (!info || !counts || info->session >= gt_capture_session_count(capture))
		return false;
	session = gt_capture_session_at(capture, info->session);
	selection_read(session->info.options, &selection);
	if (!selection_has_calls(&selection) || *selection.operations ||
	    (*selection.domains && !has_calls_of_activity(counts, selection.domains)))
		return false;
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++)
			if (why != GT_DROP_UNFINISHED && counts->dropped[why][GT_CLASS_CALL][d])
				return false;
	return gt_capture_is_whole(&session->health);
}
