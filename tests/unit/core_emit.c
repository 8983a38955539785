/* SPDX-License-Identifier: MIT */
/* Strings, objects and modules as records, and the records that a fork child writes again. */
#include <fcntl.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/emit.h"
#include "core/recording.h"
#include "ring/session.h"
#include "runtime/module.h"
#include "unit.h"

enum { TEXTS = 300, THREADS = 6 };

/* Execute this program again with a session, as in ring_threads.c. */
static void with_session(const char *test)
{
	struct gt_session s = {.magic = GT_SESSION_MAGIC,
			       .version = GT_SESSION_VERSION,
			       .bytes = sizeof s,
			       .host_clock = GT_HOST_CLOCK_BOOTTIME,
			       .block_bytes = 16384,
			       .pool_bytes = 4 << 20,
			       .slot_count = 32};
	char path[256], folder[128];
	int fd;

	if (getenv(GT_SESSION_ENV))
		return;
	snprintf(folder, sizeof folder, "%s", unit_folder());
	snprintf(path, sizeof path, "%s/session", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK_EQ(write(fd, &s, sizeof s), (ssize_t)sizeof s);
	close(fd);
	setenv(GT_SESSION_ENV, folder, 1);
	execl("/proc/self/exe", "core_emit", "--no-fork", test, (char *)NULL);
}

static struct gt_segment *segment(void)
{
	return atomic_load(&gt_recording.segment);
}

/* Call @each for every record in the segment. */
static void for_records(void (*each)(const struct gt_record *, void *), void *data)
{
	const struct gt_segment *r = segment();

	for (uint32_t i = 1; i < atomic_load(&r->slots_used); i++)
		for (uint32_t n = atomic_load(&gt_segment_slot(r, i)->first); n;
		     n = atomic_load(&gt_segment_block(r, n)->next)) {
			struct gt_block *b = gt_segment_block(r, n);

			for (uint32_t at = 0; at < atomic_load(&b->committed);) {
				const struct gt_record *h = (const void *)(gt_block_data(b) + at);

				CHECK_GT(h->words, 0);
				each(h, data);
				at += h->words * 8u;
			}
		}
}

struct found {
	unsigned strings, objects, modules, events;
	char text[2 * TEXTS * THREADS][24]; /* by id */
};

static void find(const struct gt_record *h, void *data)
{
	struct found *f = data;
	const struct gt_record_string *s = (const void *)h;
	const struct gt_record_object *o = (const void *)h;

	switch (h->kind) {
	case GT_RECORD_STRING:
		CHECK_GT(h->op, 0);
		CHECK_LT(h->op, 2 * TEXTS * THREADS);
		f->strings++;
		if (s->bytes < 24)
			memcpy(f->text[h->op], s->text, s->bytes);
		break;
	case GT_RECORD_OBJECT: f->objects++; break;
	case GT_RECORD_MODULE:
		f->modules++;
		CHECK_STR(o->text, "path=/lib/x.so");
		break;
	case GT_RECORD_EVENT: f->events++; break;
	}
}

static struct found *found(void)
{
	static struct found f;

	memset(&f, 0, sizeof f);
	for_records(find, &f);
	return &f;
}

static uint32_t id_of(unsigned n)
{
	char text[24];

	snprintf(text, sizeof text, "kernel_%u", n);
	return gt_string_id(gt_thread_get(), text, strlen(text));
}

UNIT_TEST(a_text_has_one_id_and_is_written_once)
{
	struct found *f;
	uint32_t ids[TEXTS];

	with_session("a_text_has_one_id_and_is_written_once");
	for (unsigned i = 0; i < TEXTS; i++)
		ids[i] = id_of(i);
	for (unsigned i = 0; i < TEXTS; i++)
		CHECK_EQ(id_of(i), ids[i]);
	f = found();
	CHECK_EQ(f->strings, TEXTS);
	for (unsigned i = 0; i < TEXTS; i++) {
		char text[24];

		snprintf(text, sizeof text, "kernel_%u", i);
		CHECK_STR(f->text[ids[i]], text);
	}
	CHECK_EQ(gt_string_id(NULL, "x", 1), 0);
}

static void *intern_all(void *ids)
{
	for (unsigned i = 0; i < TEXTS; i++)
		((uint32_t *)ids)[i] = id_of(i);
	return NULL;
}

UNIT_TEST(threads_that_meet_the_same_texts_agree_on_their_ids)
{
	static uint32_t ids[THREADS][TEXTS];
	pthread_t threads[THREADS];
	struct found *f;

	with_session("threads_that_meet_the_same_texts_agree_on_their_ids");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, intern_all, ids[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	f = found();
	for (unsigned n = 0; n < TEXTS; n++) {
		char text[24];

		snprintf(text, sizeof text, "kernel_%u", n);
		for (int i = 0; i < THREADS; i++)
			CHECK_EQ(ids[i][n], ids[0][n]);
		CHECK_STR(f->text[ids[0][n]], text);
	}
}

enum { LIBRARIES = 100 };

UNIT_TEST(each_library_has_one_record_also_in_a_fork_child)
{
	pid_t pid;
	int status;

	unit_need_the_kernel();
	with_session("each_library_has_one_record_also_in_a_fork_child");
	for (int again = 0; again < 2; again++)
		for (uint64_t base = 1; base <= LIBRARIES; base++)
			gt_runtime_module_named(GT_DOMAIN_OPENCL, "/lib/x.so", base, "layer", 0);
	CHECK_EQ(found()->modules, LIBRARIES);
	pid = fork();
	if (pid == 0) {
		CHECK_NOT_NULL(gt_thread_get()); /* only attaches */
		CHECK_EQ(found()->modules, LIBRARIES);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

UNIT_TEST(a_fork_child_writes_again_what_it_inherited)
{
	struct gt_text text = {0};
	uint32_t ids[TEXTS];
	uint64_t object;
	pid_t pid;
	int status;

	unit_need_the_kernel();
	with_session("a_fork_child_writes_again_what_it_inherited");
	gt_text_add(&text, "path", "/lib/x.so");
	gt_module_add(gt_thread_own(), GT_DOMAIN_OPENCL, 1, &text);
	for (unsigned i = 0; i < TEXTS; i++)
		ids[i] = id_of(i);
	object = gt_object_number(GT_OBJECT_QUEUE);
	CHECK(gt_object_write(gt_thread_get(), GT_OBJECT_QUEUE, GT_DOMAIN_OPENCL, object, 2, 0,
			      NULL));
	pid = fork();
	if (pid == 0) {
		struct found *f;

		CHECK_NOT_NULL(gt_thread_get()); /* only attaches */
		f = found();
		CHECK_EQ(f->strings, TEXTS);
		CHECK_EQ(f->modules, 1);
		CHECK_EQ(f->objects, 0); /* the owners of objects write them */
		for (unsigned i = 0; i < TEXTS; i++) {
			char name[24];

			snprintf(name, sizeof name, "kernel_%u", i);
			CHECK_STR(f->text[ids[i]], name);
			CHECK_EQ(id_of(i), ids[i]);
		}
		CHECK_GT(id_of(TEXTS), TEXTS); /* numbers continue */
		CHECK_EQ(gt_object_number(GT_OBJECT_QUEUE), object + 1);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

UNIT_TEST(a_text_that_cannot_be_written_now_is_written_later)
{
	struct gt_thread *t;
	uint32_t id;

	with_session("a_text_that_cannot_be_written_now_is_written_later");
	t = gt_thread_get();
	t->writing = 1; /* as in a signal handler */
	CHECK_EQ(gt_string_id(t, "late", 4), 0);
	CHECK(!gt_event_write(t, GT_EVENT_CLOCK, GT_DOMAIN_OPENCL, 1, "late"));
	t->writing = 0;
	id = gt_string_id(t, "late", 4);
	CHECK_GT(id, 0);
	CHECK_EQ(gt_string_id(t, "late", 4), id);
	CHECK_EQ(found()->strings, 1);
}

UNIT_TEST(a_long_text_is_cut_and_key_value_texts_stay_well_formed)
{
	static char longer[70000];
	struct gt_text text = {0};
	unsigned keys = 0;

	with_session("a_long_text_is_cut_and_key_value_texts_stay_well_formed");
	memset(longer, 'x', sizeof longer - 1);
	CHECK_GT(gt_string_id(gt_thread_get(), longer, sizeof longer - 1), 0);
	CHECK_EQ(found()->strings, 1);
	gt_text_add_number(&text, "n", 0);
	gt_text_add_number(&text, "m", UINT64_MAX);
	gt_text_add_hex(&text, "h", "\x01\xab", 2);
	CHECK_MEM(text.data, "n=0\0m=18446744073709551615\0h=01ab", text.bytes);
	gt_text_add(&text, "long", longer);
	gt_text_add(&text, "none", "there is no room for this one");
	CHECK_LE(text.bytes, sizeof text.data);
	CHECK_EQ(text.data[text.bytes - 1], 0);
	for (size_t at = 0; at < text.bytes; at += strlen(text.data + at) + 1, keys++)
		CHECK_NOT_NULL(strchr(text.data + at, '='));
	CHECK_EQ(keys, 4);
}
