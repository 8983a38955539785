/* SPDX-License-Identifier: MIT */
/* Writes speedscope's JSON format (https://www.speedscope.app/file-format-schema.json): each frame
 * of a call tree once, and one profile each for device time and host time, with a list of stacks
 * and their times in ns. */
#include <string.h>

#include "analysis/base/number.h"
#include "analysis/base/text.h"
#include "analysis/model/calltree.h"
#include "config.h"
#include "export/formats.h"
#include "export/out.h"

enum { FRAME_BYTES = 4096, FRAMES_MOST = 1024 };

static void write_text(struct gt_out *out, const char *text)
{
	char *p = gt_out_room(out);

	*p++ = '"';
	p = gt_put_json(p, text, gt_cut_utf8(text, strlen(text), FRAME_BYTES));
	*p++ = '"';
	gt_out_end(out, p);
}

static void write_frames(struct gt_out *out, const struct gt_calltree *t)
{
	gt_out_text(out, "\"shared\": {\"frames\": [");
	/* Frame 0 belongs to the root, which is in no stack. */
	for (size_t i = 1; i < t->frame_count; i++) {
		gt_out_text(out, i > 1 ? ",\n{\"name\": " : "\n{\"name\": ");
		write_text(out, *t->frames[i].text ? t->frames[i].text : "?");
		gt_out_text(out, "}");
	}
	gt_out_text(out, "\n]},\n");
}

static uint64_t get_weight(const struct gt_calltree *t, uint32_t node, enum gt_view_weight weight)
{
	return weight == GT_WEIGHT_DEVICE ? t->nodes[node].device_ns
					  : (uint64_t)t->nodes[node].host_ns;
}

static void write_number(struct gt_out *out, uint64_t v)
{
	gt_out_end(out, gt_put_u64(gt_out_room(out), v));
}

static void write_sample(struct gt_out *out, const struct gt_calltree *t, uint32_t node)
{
	uint32_t path[FRAMES_MOST], depth = 0;

	for (; node && depth < FRAMES_MOST; node = t->nodes[node].parent)
		path[depth++] = t->nodes[node].frame;
	gt_out_text(out, "[");
	while (depth) {
		write_number(out, path[--depth] - 1);
		gt_out_text(out, depth ? "," : "]");
	}
}

static void write_profile(struct gt_out *out, const struct gt_calltree *t,
			  enum gt_view_weight weight)
{
	const char *before = "";

	gt_out_text(out, "{\"type\": \"sampled\", \"name\": ");
	gt_out_text(out, weight == GT_WEIGHT_DEVICE ? "\"device time\"" : "\"host time\"");
	gt_out_text(out, ", \"unit\": \"nanoseconds\", \"startValue\": 0, \"endValue\": ");
	write_number(out, weight == GT_WEIGHT_DEVICE ? t->device_ns : t->host_ns);
	gt_out_text(out, ",\n\"samples\": [");
	for (uint32_t i = 0; (i = gt_calltree_next(t, i)) != 0;)
		if (get_weight(t, i, weight)) {
			gt_out_text(out, before);
			write_sample(out, t, i);
			before = ",\n";
		}
	gt_out_text(out, "],\n\"weights\": [");
	before = "";
	for (uint32_t i = 0; (i = gt_calltree_next(t, i)) != 0;)
		if (get_weight(t, i, weight)) {
			gt_out_text(out, before);
			write_number(out, get_weight(t, i, weight));
			before = ",";
		}
	gt_out_text(out, "]}");
}

static void write_all(struct gt_out *out, const struct gt_calltree *t,
		      const struct gt_view_options *options)
{
	bool device = options->weight != GT_WEIGHT_HOST, host = options->weight != GT_WEIGHT_DEVICE;

	/* Writes both profiles, unless one has no data. */
	if (options->weight == GT_WEIGHT_USUAL && !t->device_ns)
		device = false;
	else if (options->weight == GT_WEIGHT_USUAL && !t->host_ns)
		host = false;
	gt_out_text(out, "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
			 "\"exporter\": \"gputap " GPUTAP_VERSION "\",\n\"name\": ");
	write_text(out, options->command_line ? options->command_line : "gputap");
	gt_out_text(out, ",\n\"activeProfileIndex\": 0,\n");
	write_frames(out, t);
	gt_out_text(out, "\"profiles\": [\n");
	if (device)
		write_profile(out, t, GT_WEIGHT_DEVICE);
	if (device && host)
		gt_out_text(out, ",\n");
	if (host)
		write_profile(out, t, GT_WEIGHT_HOST);
	gt_out_text(out, "\n]}\n");
}

static int write_speedscope(const struct gt_capture *c, const char *path,
			    const struct gt_view_options *options)
{
	struct gt_calltree tree = {.nodes = NULL};
	struct gt_out out;
	int status = gt_calltree_build(&tree, c, options);

	if (!status)
		status = gt_out_open(&out, path, false);
	if (!status) {
		write_all(&out, &tree, options);
		status = gt_out_finish(&out, 0);
	}
	gt_calltree_fini(&tree);
	return status;
}

static const char *const extensions[] = {".speedscope.json", NULL};

const struct gt_exporter gt_exporter_speedscope = {
	.name = "speedscope",
	.extensions = extensions,
	.text = "range, call and kernel stacks for speedscope",
	.weighs = true,
	.write = write_speedscope,
};
