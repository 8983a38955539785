/* SPDX-License-Identifier: MIT */
/* Writes folded stacks as read by flamegraph.pl and similar tools: one line for each call path that
 * has own time. A line consists of the frames joined with ';', a space, and the time in ns.
 *
 *   train;step;forward;hipLaunchKernel;gemm 1200
 *
 * Each line is a node of a call tree (calltree.h). */
#include <string.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/model/calltree.h"
#include "export/formats.h"
#include "export/out.h"

enum { FRAME_BYTES = 4096, FRAMES_MOST = 1024 };

static char *put_frame(char *p, const char *text)
{
	const size_t bytes = gt_cut_utf8(text, strlen(text), FRAME_BYTES);

	return bytes ? gt_put_frame(p, text, bytes) : GT_PUT(p, "?");
}

static void write_stack(struct gt_out *out, const struct gt_calltree *t, uint32_t node, uint64_t ns)
{
	uint32_t path[FRAMES_MOST], depth = 0;
	char *p;

	for (; node && depth < FRAMES_MOST; node = t->nodes[node].parent)
		path[depth++] = node;
	while (depth) {
		p = put_frame(gt_out_room(out), t->frames[t->nodes[path[--depth]].frame].text);
		*p++ = depth ? ';' : ' ';
		gt_out_end(out, p);
	}
	p = gt_put_u64(gt_out_room(out), ns);
	*p++ = '\n';
	gt_out_end(out, p);
}

static int write_folded(const struct gt_capture *c, const char *path,
			const struct gt_view_options *options)
{
	struct gt_calltree tree = {.nodes = NULL};
	struct gt_out out;
	int status = gt_calltree_build(&tree, c, options);
	bool device = options->weight == GT_WEIGHT_DEVICE ||
		      (options->weight == GT_WEIGHT_USUAL && tree.device_ns);

	if (!status)
		status = gt_out_open(&out, path, false);
	if (status)
		goto fini_tree;
	for (uint32_t i = 0; (i = gt_calltree_next(&tree, i)) != 0;) {
		uint64_t ns = device ? tree.nodes[i].device_ns : (uint64_t)tree.nodes[i].host_ns;

		if (ns)
			write_stack(&out, &tree, i, ns);
	}
	status = gt_out_finish(&out, 0);
fini_tree:
	gt_calltree_fini(&tree);
	return status;
}

static const char *const extensions[] = {".folded", NULL};

const struct gt_exporter gt_exporter_folded = {
	.name = "folded",
	.extensions = extensions,
	.text = "range, call and kernel stacks for flame graphs",
	.weighs = true,
	.write = write_folded,
};
