/* SPDX-License-Identifier: MIT */
/* See filter_process.h. A condition is evaluated for all records of a process together: all records
 * meet it, no record meets it, or the result depends on the record. */
#include "analysis/query/filter_process.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/query/filter_tree.h"
#include "util/file_name.h"

enum known { NONE_DOES, DEPENDS, ALL_DO };

static enum known match_texts(const struct filter_node *n, const char *const *texts, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count && !any; i++)
		any = filter_match_text(n, texts[i]);
	if (n->compare == CMP_NE || n->compare == CMP_NO_MATCH)
		any = !any;
	return any ? ALL_DO : NONE_DOES;
}

static enum known match_condition(const struct filter_node *n, const struct gt_capture *c,
				  const struct gt_process_info *p)
{
	const struct filter_record record = {.rank = p->rank.rank};
	char pid[16];

	switch (n->field) {
	case FILTER_RANK: return filter_match_number(n, &record) ? ALL_DO : NONE_DOES;
	case FILTER_HOST:
		return match_texts(n, &gt_capture_session_at(c, p->session)->info.hostname, 1);
	case FILTER_PROCESS:
		snprintf(pid, sizeof pid, "%" PRIu32, p->pid);
		return match_texts(n, (const char *[]){pid, gt_file_name(p->exe), p->exe}, 3);
	default: return DEPENDS;
	}
}

static enum known match_process(const struct filter_node *n, const struct gt_capture *c,
				const struct gt_process_info *p)
{
	enum known left, right;

	switch (n->type) {
	case NODE_AND:
	case NODE_OR:
		left = match_process(n->left, c, p);
		right = match_process(n->right, c, p);
		return (n->type == NODE_AND) == (left < right) ? left : right;
	case NODE_NOT: return ALL_DO - match_process(n->left, c, p);
	case NODE_TEXT:
	case NODE_REGEX:
	case NODE_NUMBER: return match_condition(n, c, p);
	default: return DEPENDS;
	}
}

bool filter_find_processes(const struct filter *f, const struct gt_capture *capture,
			   bool *processes)
{
	bool some = false;

	for (uint32_t i = 0; i < gt_capture_process_count(capture); i++) {
		processes[i] = match_process(f->root, capture, gt_capture_process(capture, i)) !=
			       NONE_DOES;
		some |= !processes[i];
	}
	return some;
}
