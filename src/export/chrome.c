/* SPDX-License-Identifier: MIT */
/* Writes Chrome JSON in torch.profiler's form, for programs that read such files: Holistic Trace
 * Analysis, TraceLens, scripts. docs/reference/export-formats.md describes the rules. These readers
 * require:
 *   calls        cat cuda_runtime (the only runtime that they support); pid and tid of the system
 *   activities   cat kernel, gpu_memcpy or gpu_memset; pid: number of the device; args.stream:
 *                number of the queue from 1 (0 counts as none); tid: the same number. An activity
 *                that overlaps another activity of its queue gets a separate row with the number
 *                100000 x row + stream, because Perfetto drops overlapping slices of a row
 *   link         args.correlation on both sides, and an ac2g flow whose ends have the same pid, tid
 *                and ts
 *   times        us with three decimals since baseTimeNanoseconds, a multiple of about ten days:
 *                readers compute in doubles, see choose_base(). All ranks of a job have the same
 *                base
 *   rank         `"rank": 3` with the blank, near the start of the file
 *
 * Some statistics (HTA's launches and queue lengths) recognise only CUDA's names of calls. The
 * .hta.json.gz variant gives launching calls those names and stores the real names in args.api.
 * Ranges of the program (ROCTx) are cat user_annotation, from push to pop; pushing and popping
 * calls are not written. The launch of a graph is cat gpu_graph, from the start of its first node
 * to the end of its last node, in a separate row next to the stream. A graph launch has no stream
 * and no args.correlation, which belongs to the call and the nodes. A launch recorded as one item
 * is written as a kernel of the same length. Memory in use is a counter (ph C) of its process. A
 * pause is an instant at its start. Markers and barriers are cat gpu_marker without a stream, so
 * that they do not count as device time. Arguments of calls are omitted, because these readers keep
 * everything in memory; .pftrace and .csv contain them. Recurring text is generated once per
 * operation, thread, row and name. */
#include "export/chrome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "export/formats.h"
#include "export/records.h"
#include "util/error.h"

#define BASE_STEP_NS   (UINT64_C(876582) * 1000000000) /* a ninth of kineto's 7,889,238 s */
/* A device's clock may place activities before the start of the session. */
#define BASE_MARGIN_NS (UINT64_C(3600) * 1000000000)

/* Write names and sort order of processes and threads. Return 0 or -ENOMEM. */
static int write_processes(struct gt_chrome *x)
{
	const struct gt_capture *c = x->view.capture;
	uint32_t count = (uint32_t)gt_capture_process_count(c);
	uint32_t *order = gt_view_order_processes(&x->view);

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct gt_process_info *process = gt_capture_process(c, order[i]);
		uint64_t pid = gt_view_pid(&x->view, order[i]);
		char label[256];

		gt_chrome_write_label(x, "process_name", pid, 0, "name",
				      gt_view_process_title(&x->view, process, label,
							    sizeof label));
		gt_chrome_write_label(x, "process_labels", pid, 0, "labels", "CPU");
		gt_chrome_write_sort(x, "process_sort_index", pid, 0, i);
	}
	free(order);
	return 0;
}

/* File header and end ---------------------------------------------------------- */

static char *put_pair(char *p, const char *key, const char *text)
{
	if (!text)
		return p;
	*p++ = ',';
	p = gt_chrome_put_quoted(p, key);
	*p++ = ':';
	return gt_chrome_put_quoted(p, text);
}

/* Write the device properties that torch.profiler writes, under their CUDA names. */
static char *put_numbers(char *p, const struct gt_object_info *device)
{
	static const char *const keys[] = {"totalGlobalMem",
					   "computeMajor",
					   "computeMinor",
					   "maxThreadsPerBlock",
					   "maxThreadsPerMultiprocessor",
					   "regsPerBlock",
					   "warpSize",
					   "sharedMemPerBlock",
					   "numSms",
					   "regsPerMultiprocessor",
					   "sharedMemPerBlockOptin",
					   "sharedMemPerMultiprocessor",
					   NULL};

	for (const char *const *key = keys; *key; key++) {
		const char *text = gt_object_value(device, *key);

		if (!text || !*text || text[strspn(text, "0123456789")] ||
		    (!strcmp(text, "0") && strcmp(*key, "computeMinor") != 0))
			continue;
		*p++ = ',';
		p = gt_chrome_put_quoted(p, *key);
		*p++ = ':';
		p = gt_put(p, text, strlen(text));
	}
	return p;
}

static void write_devices(struct gt_chrome *x)
{
	static const char *const keys[] = {"vendor", "version", "driver", "uuid",
					   "pci",    "type",    NULL};
	const struct gt_capture *c = x->view.capture;

	gt_out_text(&x->out, "\"deviceProperties\": [");
	for (uint32_t i = 0; i < gt_capture_device_count(c); i++) {
		const struct gt_object_info *device = gt_capture_device(c, i);
		char *p = gt_out_room(&x->out);

		p = i ? GT_PUT(p, ",\n{\"id\":") : GT_PUT(p, "\n{\"id\":");
		p = gt_put_u64(p, i);
		p = put_pair(p, "name", gt_object_value(device, "name"));
		for (const char *const *key = keys; *key; key++)
			p = put_pair(p, *key, gt_object_value(device, *key));
		p = put_numbers(p, device);
		*p++ = '}';
		gt_out_end(&x->out, p);
	}
	gt_out_text(&x->out, "],\n");
}

static char *put_count(char *p, const char *key, struct gt_view_counts counts)
{
	*p++ = ',';
	p = gt_chrome_put_quoted(p, key);
	p = GT_PUT(p, ":{\"seen\":");
	p = gt_put_u64(p, counts.seen);
	p = GT_PUT(p, ",\"recorded\":");
	p = gt_put_u64(p, counts.recorded);
	p = GT_PUT(p, ",\"dropped\":");
	p = gt_put_u64(p, counts.dropped);
	*p++ = '}';
	return p;
}

static void write_head(struct gt_chrome *x, const struct gt_view_options *options)
{
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	bool complete = gt_capture_health(x->view.capture)->end == GT_CAPTURE_COMPLETE;
	char command[TEXT_MAX], *p;

	gt_out_text(&x->out, "{\n\"schemaVersion\": 1,\n");
	write_devices(x);
	p = gt_out_room(&x->out);
	/* Readers apply the rank to the whole file. */
	if (session->rank >= 0 && gt_capture_session_count(x->view.capture) == 1) {
		/* Readers search for this text including the blank. */
		p = GT_PUT(p, "\"distributedInfo\": {\"rank\": ");
		p = gt_put_u64(p, (uint64_t)session->rank);
		p = GT_PUT(p, "},\n");
	}
	p = GT_PUT(p, "\"gputap\": {\"version\":");
	p = gt_chrome_put_quoted(p, session->gputap_version ? session->gputap_version : "");
	p = put_pair(p, "command", gt_view_command(session->command, command, sizeof command));
	p = put_pair(p, "options", session->options);
	p = put_pair(p, "host", session->hostname);
	p = put_pair(p, "kernel", session->kernel);
	p = put_pair(p, "cpu", session->cpu);
	p = put_pair(p, "exported_by", options->command_line);
	p = complete ? GT_PUT(p, ",\"complete\":true") : GT_PUT(p, ",\"complete\":false");
	p = put_count(p, "calls", gt_view_counts(&x->view, GT_CLASS_CALL));
	p = put_count(p, "device_work", gt_view_counts(&x->view, GT_CLASS_DEVICE));
	p = GT_PUT(p, "},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": ");
	p = gt_put_u64(p, x->base_ns);
	p = GT_PUT(p, ",\n\"traceEvents\": [\n");
	gt_out_end(&x->out, p);
}

static void write_event(struct gt_chrome *x, const struct gt_event_info *e)
{
	char *p = gt_out_room(&x->out);

	p = GT_PUT(p, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"gputap\",\"name\":");
	p = gt_chrome_put_quoted(p, gt_event_code_name(e->code));
	p = GT_PUT(p, ",\"pid\":");
	p = gt_put_u64(p, gt_view_pid(&x->view, e->process));
	p = GT_PUT(p, ",\"tid\":");
	p = gt_put_u64(p, gt_view_pid(&x->view, e->process));
	p = GT_PUT(p, ",\"ts\":");
	p = gt_put_us(p, gt_chrome_shift(x, e->time_ns));
	p = GT_PUT(p, ",\"args\":{\"value\":");
	p = gt_put_u64(p, e->value);
	p = put_pair(p, "domain", e->domain ? gt_domain_name(e->domain) : NULL);
	p = put_pair(p, "text", e->text);
	p = GT_PUT(p, "}},\n");
	gt_out_end(&x->out, p);
}

/* Choose the base of all times. The clock offset at the start of the session is used throughout, so
 * that durations are exact. Readers compute us x 1000 in doubles and round. From 2^42 us (51 days)
 * on, the double and the product each have an error of nearly half a ns. Together, these errors
 * reach one ns, and Perfetto then drops slices that seem to overlap. kineto's step is 91 days; with
 * this step a session can last 40 days before it reaches that limit. Sessions of one job have the
 * same base unless a multiple of the step lies between their starts. kineto's bases are multiples
 * of this step as well. */
static void choose_base(struct gt_chrome *x)
{
	const struct gt_host_clock_map *map = gt_capture_host_clock(x->view.capture);
	const struct gt_session_info *session = gt_capture_session(x->view.capture);
	uint64_t real =
		map ? session->start_ns +
				(uint64_t)gt_host_clock_realtime_offset_ns(map, session->start_ns)
		    : session->start_realtime_ns;

	x->base_ns = real > BASE_MARGIN_NS ? real - BASE_MARGIN_NS : 0;
	x->base_ns -= x->base_ns % BASE_STEP_NS;
	x->shift_ns = real - session->start_ns - x->base_ns;
}

static int write_records(struct gt_chrome *x, const struct gt_view_options *options)
{
	/* Call stacks are looked up in one buffer, and operations of relayed domains are numbered
	 * in the order of reading. */
	if (x->launches.calls || gt_capture_is_relayed(x->view.capture))
		return gt_export_records(&x->view, &x->out, options, x, gt_chrome_write_items);
	return gt_export_in_parallel(&x->view, &x->out, options, x, &gt_chrome_encoder);
}

static int write_chrome(const struct gt_capture *c, const char *path,
			const struct gt_view_options *options, bool gzip, bool cuda_names)
{
	struct gt_chrome x = {.cuda_names = cuda_names};
	int status = gt_chrome_begin(&x, c, options);

	if (status)
		return status;
	status = gt_innermost_read(&x.innermost, c);
	if (!status)
		status = gt_launch_frames_read(&x.launches, c);
	if (status)
		goto fini;
	status = gt_out_open(&x.out, path, gzip);
	if (status)
		goto fini;
	if (options->jobs > 1)
		gt_out_use_thread(&x.out);
	choose_base(&x);
	write_head(&x, options);
	status = write_processes(&x);
	for (size_t i = 0; i < gt_capture_event_count(c) && !status; i++)
		write_event(&x, gt_capture_event(c, i));
	if (!status)
		status = write_records(&x, options);
	if (!status)
		status = gt_chrome_write_open_ranges(&x);
	if (!status)
		status = gt_replays_each(&x.replays, &x.view, 0, gt_chrome_write_replay, &x);
	if (!status)
		status = gt_chrome_write_memory(&x);
	if (!status)
		status = gt_chrome_write_pauses(&x);
	/* The last event of the list has no trailing comma. Its kind is one that every reader
	 * knows, because TraceLens rejects other kinds. Its process does not exist. */
	gt_out_text(&x.out, "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":4294967295,"
			    "\"tid\":0,\"args\":{\"sort_index\":2147483647}}"
			    "\n]\n}\n");
	status = gt_out_finish(&x.out, status);
fini:
	gt_innermost_fini(&x.innermost);
	gt_launch_frames_fini(&x.launches);
	gt_chrome_fini(&x);
	return status;
}

static int write_plain(const struct gt_capture *c, const char *path,
		       const struct gt_view_options *options)
{
	return write_chrome(c, path, options, false, false);
}

static int write_gzip(const struct gt_capture *c, const char *path,
		      const struct gt_view_options *options)
{
	return write_chrome(c, path, options, true, false);
}

static int write_cuda_names(const struct gt_capture *c, const char *path,
			    const struct gt_view_options *options)
{
	return write_chrome(c, path, options, true, true);
}

static const char *const plain_extensions[] = {".json", NULL};
static const char *const gzip_extensions[] = {".json.gz", NULL};
static const char *const cuda_extensions[] = {".hta.json.gz", NULL};

const struct gt_exporter gt_exporter_chrome = {
	.name = "chrome",
	.extensions = plain_extensions,
	.text = "Chrome JSON as torch.profiler writes it",
	.write = write_plain,
};

const struct gt_exporter gt_exporter_chrome_gz = {
	.name = "chrome-gz",
	.extensions = gzip_extensions,
	.text = "Chrome JSON, compressed",
	.write = write_gzip,
};

const struct gt_exporter gt_exporter_hta = {
	.name = "hta",
	.extensions = cuda_extensions,
	.text = "Chrome JSON with CUDA's names for calls",
	.write = write_cuda_names,
};
