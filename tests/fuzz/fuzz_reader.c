/* SPDX-License-Identifier: MIT */
/* Takes any bytes as a capture file: opens the file, calls every query, walks through all items.
 * The first byte selects whether the checksums are repaired first (to test the code after the
 * checks) and which row decoder is used. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/callstacks.h"
#include "capture/capture.h"
#include "capture/frame_names.h"
#include "capture/summary_block.h"
#include "fuzz.h"
#include "util/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static uint64_t touch(const char *text)
{
	return text ? strlen(text) : 0;
}

static uint64_t look_at_lists(struct gt_capture *c)
{
	const struct gt_session_info *s = gt_capture_session(c);
	uint64_t sum = touch(s->hostname) + touch(s->command) + touch(s->options);
	size_t i;

	for (i = 0; i < gt_capture_session_count(c); i++) {
		const struct gt_capture_session *one = gt_capture_session_at(c, i);

		sum += touch(one->path) + touch(one->info.hostname) + one->node + one->machine +
		       (uint64_t)one->shift_ns;
	}

	for (i = 0; i < gt_capture_process_count(c); i++) {
		const struct gt_process_info *p = gt_capture_process(c, (uint32_t)i);

		sum += touch(p->exe) + touch(p->argv) +
		       gt_capture_counts(c, (uint32_t)i)->seen[0][1];
	}
	for (i = 0; i < gt_capture_thread_count(c); i++) {
		const struct gt_thread_info *t = gt_capture_thread(c, i);

		sum += touch(t->name) + (gt_capture_thread_find(c, t->process, t->ordinal) == t);
	}
	for (i = 0; i < gt_capture_object_count(c); i++) {
		const struct gt_object_info *o = gt_capture_object(c, i);

		sum += touch(gt_object_value(o, "name")) + o->ordinal;
		if (gt_capture_device(c, o->device_index))
			sum += touch(gt_capture_device(c, o->device_index)->text);
		if (gt_capture_device_clock(c, o->process, o->number))
			sum += gt_device_clock_violations(
				gt_capture_device_clock(c, o->process, o->number));
	}
	for (i = 0; i < gt_capture_event_count(c); i++)
		sum += touch(gt_capture_event(c, i)->text) + gt_capture_event(c, i)->time_ns;
	return sum;
}

/* Read the frames of stacks, and their modules and names. */
static uint64_t look_at_stacks(struct gt_capture *c)
{
	struct gt_frame_name list[GT_FRAME_NAMES_MOST];
	uint64_t sum = 0;

	for (size_t i = 0; i < gt_capture_stack_count(c); i++) {
		const struct gt_stack_info *s = gt_capture_stack_at(c, i);

		for (uint32_t k = 0; k < s->native + s->python; k++) {
			const struct gt_code_info *code =
				k < s->native ? gt_capture_module_find(c, s->process, s->generation,
								       s->frames[k])
					      : gt_capture_python_find(c, s->process,
								       (uint32_t)s->frames[k]);
			const struct gt_names_info *names =
				gt_capture_names_find(c, s->process, code ? code->generation : 0,
						      s->frames[k]);
			size_t count = names ? gt_names_unpack(names, list) : 0;

			sum += code ? touch(code->name) + touch(code->detail) : 0;
			for (size_t n = 0; n < count; n++)
				sum += touch(list[n].function) + touch(list[n].file) + list[n].line;
		}
	}
	return sum;
}

static uint64_t look_at_summary(const struct gt_capture *c)
{
	const struct gt_summary_info info = gt_capture_summary_info(c);
	size_t bytes;
	const uint8_t *content = gt_capture_summary(c, info.version, &bytes);
	uint64_t sum = info.wrong;

	for (size_t i = 0; content && i < bytes; i++)
		sum += content[i];
	return sum;
}

static uint64_t look_at_items(struct gt_capture *c)
{
	const struct gt_item *i;
	struct gt_cursor *k;
	uint64_t sum = 0, n;

	if (gt_cursor_create(c, &k))
		return 0;
	while (gt_cursor_next(k, &i) > 0) {
		if (i->end_ns < i->start_ns && i->kind == GT_RECORD_CALL)
			abort();
		for (n = 0; i->args && n < GT_OP_NARGS(i->op); n++)
			sum += i->args[n];
		for (n = 0; n < i->payload_bytes; n++)
			sum += i->payload[n];
		if (i->kind == GT_RECORD_DEVICE)
			sum += touch(gt_capture_string(c, i->process, i->name)) +
			       (i->queue ? i->queue->ordinal : 0);
		sum += i->id + i->parent + i->external[0];
	}
	if (gt_cursor_position(k) > gt_capture_health(c)->bytes)
		abort();
	gt_cursor_destroy(k);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static int fd = -1;
	static char path[64];
	struct gt_capture *c;
	volatile uint64_t sum;
	uint8_t *file;

	if (bytes < 1)
		return 0;
	fuzz_file(&fd, path);
	file = malloc(bytes);
	if (!file)
		return 0;
	memcpy(file, data + 1, bytes - 1);
	if (data[0] & 1)
		fuzz_mend(file, bytes - 1);
	if (ftruncate(fd, 0) || pwrite(fd, file, bytes - 1, 0) != (ssize_t)bytes - 1)
		abort();
	free(file);
	if (gt_capture_open(path, &c)) {
		if (!gt_error_text()[0])
			abort(); /* the file was refused without an error message */
		gt_error_clear();
		return 0;
	}
	sum = look_at_lists(c) + look_at_stacks(c) + look_at_summary(c) + look_at_items(c);
	(void)gt_capture_verify(c);
	sum += look_at_items(c);
	(void)sum;
	gt_capture_close(c);
	gt_error_clear();
	return 0;
}
