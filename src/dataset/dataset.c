/* SPDX-License-Identifier: MIT */
/* Opens and closes captures, see gputap/capture.h. */
#include "dataset/dataset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/query/filter.h"
#include "analysis/tables/losses.h"
#include "util/error.h"

enum { SESSIONS_MOST = 32767, SESSION_SHIFT = 48 };

static void number_threads(struct dataset *d)
{
	const size_t count = gt_capture_thread_count(d->capture);

	for (size_t i = 0; i < count; i++) {
		const struct gt_thread_info *t = gt_capture_thread(d->capture, i);
		struct dataset_session *s =
			&d->sessions[gt_capture_process(d->capture, t->process)->session];

		/* threads are sorted by process, and the processes of a session are adjacent */
		if (!s->thread_count)
			s->first_thread = (uint32_t)i;
		s->thread_count++;
	}
}

static void number_queues(struct dataset *d)
{
	int32_t count = 0;

	for (size_t i = 0; i < gt_capture_object_count(d->capture); i++)
		d->queue_numbers[i] =
			gt_capture_object(d->capture, i)->type == GT_OBJECT_QUEUE ? count++ : -1;
}

static int number_all(struct dataset *d)
{
	const struct gt_session_info *first = gt_capture_session(d->capture);

	d->realtime_offset_ns = (int64_t)(first->start_realtime_ns - first->start_ns);
	d->session_count = gt_capture_session_count(d->capture);
	if (d->session_count > SESSIONS_MOST)
		return gt_error(-E2BIG, "%zu sessions: at most %d can be opened together",
				d->session_count, SESSIONS_MOST);
	d->sessions = calloc(d->session_count, sizeof *d->sessions);
	d->queue_numbers =
		calloc(gt_capture_object_count(d->capture) + 1, sizeof *d->queue_numbers);
	if (!d->sessions || !d->queue_numbers)
		return gt_error(-ENOMEM, "cannot open the captures");
	number_threads(d);
	number_queues(d);
	return 0;
}

static int open_files(struct dataset *d, const char *const *paths, size_t count)
{
	char **files;
	size_t file_count;
	int status = dataset_list_files(paths, count, &files, &file_count);

	if (status)
		return status;
	status = gt_capture_open_several((const char *const *)files, file_count, &d->capture);
	for (size_t i = 0; i < file_count; i++)
		free(files[i]);
	free(files);
	return status ? status : number_all(d);
}

int dataset_open(const char *const *paths, size_t count, struct dataset **out)
{
	struct dataset *d = calloc(1, sizeof *d);
	int status;

	if (!d)
		return gt_error(-ENOMEM, "cannot open the captures");
	d->users = 1;
	status = open_files(d, paths, count);
	if (status) {
		dataset_put(d);
		return status;
	}
	*out = d;
	return 0;
}

struct dataset *dataset_take(struct dataset *d)
{
	__atomic_add_fetch(&d->users, 1, __ATOMIC_RELAXED);
	return d;
}

void dataset_put(struct dataset *d)
{
	if (__atomic_sub_fetch(&d->users, 1, __ATOMIC_ACQ_REL))
		return;
	gt_capture_close(d->capture);
	free(d->sessions);
	free(d->queue_numbers);
	free(d);
}

/* Numbers ---------------------------------------------------------------------- */

struct thread_number dataset_find_thread(const struct dataset *d, uint32_t process,
					 uint32_t ordinal)
{
	struct thread_number t = {.process = process, .ordinal = ordinal, .number = -1};
	const struct gt_thread_info *info = gt_capture_thread_find(d->capture, process, ordinal);
	const struct gt_process_info *p = gt_capture_process(d->capture, process);
	const struct dataset_session *s;

	if (!p)
		return t;
	t.session = (int32_t)p->session;
	if (!info)
		return t;
	s = &d->sessions[p->session];
	t.number = (int32_t)(info - gt_capture_thread(d->capture, 0));
	t.step = s->thread_count;
	t.base = (int64_t)t.session << SESSION_SHIFT |
		 (int64_t)((uint32_t)t.number - s->first_thread) << ID_COUNT_BITS;
	return t;
}

/* The calls of a thread are numbered in blocks of 2^24. The first blocks of all threads come first,
 * then all second blocks, and so on. Calls beyond 2^48 of a session have no id. */
int64_t dataset_long_id(const struct thread_number *t, uint64_t id)
{
	const uint64_t count = GT_ID_SEQ(id), block = count >> ID_COUNT_BITS,
		       mask = (UINT64_C(1) << ID_COUNT_BITS) - 1,
		       blocks_most = UINT64_C(1) << (SESSION_SHIFT - ID_COUNT_BITS);
	uint64_t thread;

	if (t->number < 0)
		return GPUTAP_UNKNOWN;
	thread = ((uint64_t)t->base >> ID_COUNT_BITS) & (blocks_most - 1);
	if (block * t->step + thread >= blocks_most)
		return GPUTAP_UNKNOWN;
	return (int64_t)((uint64_t)t->session << SESSION_SHIFT |
			 (block * t->step + thread) << ID_COUNT_BITS | (count & mask));
}

/* Health ----------------------------------------------------------------------- */

static void add_counts(struct gputap_capture_health *h, const struct gt_counts *counts)
{
	for (unsigned i = 0; counts && i < GT_CLASS_COUNT * GT_DOMAIN_COUNT; i++) {
		h->seen += (&counts->seen[0][0])[i];
		h->recorded += (&counts->recorded[0][0])[i];
		h->evicted += (&counts->evicted[0][0])[i];
	}
}

/* Write the health of sessions [first, first + count). @file: sum of their files' states */
static void read_health(const struct dataset *d, const struct losses *losses,
			const struct gt_capture_health *file, size_t first, size_t count,
			struct gputap_capture_health *health)
{
	const size_t size = health->size;
	struct gputap_capture_health h = {.size = size,
					  .lost = losses->dropped,
					  .open_ranges = losses->open_ranges,
					  .uncounted = losses->missing + losses->failed,
					  .untraced = losses->untraced,
					  .bytes = file->bytes,
					  .bad_bytes = file->bad_bytes,
					  .sessions = (uint32_t)count};

	for (uint32_t p = 0; p < gt_capture_process_count(d->capture); p++) {
		const size_t session = gt_capture_process(d->capture, p)->session;

		if (session >= first && session - first < count)
			add_counts(&h, gt_capture_counts(d->capture, p));
	}
	for (size_t i = first; i < first + count; i++)
		h.unfinished += gt_capture_session_at(d->capture, i)->health.end == GT_CAPTURE_CUT;
	h.is_whole = losses_are_none(losses) && !losses->damaged && !h.evicted && !h.untraced &&
		     !h.unfinished && gt_capture_is_whole(file);
	memcpy(health, &h, size < sizeof h ? size : sizeof h);
}

void dataset_read_health(const struct dataset *d, struct gputap_capture_health *health)
{
	struct losses losses;

	gt_capture_lock_health();
	losses = losses_read(d->capture);
	read_health(d, &losses, gt_capture_health(d->capture), 0, d->session_count, health);
	gt_capture_unlock_health();
}

void dataset_read_session_health(const struct dataset *d, uint32_t session,
				 struct gputap_capture_health *health)
{
	struct losses losses;

	gt_capture_lock_health();
	losses = losses_read_session(d->capture, session);
	read_health(d, &losses, &gt_capture_session_at(d->capture, session)->health, session, 1,
		    health);
	gt_capture_unlock_health();
}

/* Public functions --------------------------------------------------------------- */

static bool is_health(const struct gputap_capture_health *health)
{
	return health && health->size > offsetof(struct gputap_capture_health, recorded);
}

/* Return a handle, or NULL if out of memory. Takes over @d and @where. */
static struct gputap_capture *make_handle(struct dataset *d, char *where)
{
	struct gputap_capture *c = malloc(sizeof *c);

	if (!c) {
		gt_error(-ENOMEM, "cannot open the captures");
		dataset_put(d);
		free(where);
		return NULL;
	}
	*c = (struct gputap_capture){d, where};
	return c;
}

int gputap_capture_open(const char *const *paths, size_t count,
			struct gputap_capture_health *health, struct gputap_capture **out)
{
	struct dataset *d;
	int status;

	gt_error_clear();
	if (!out || !paths || !count || !is_health(health))
		return gt_error(0, "gputap_capture_open: no %s",
				!out               ? "result"
				: !paths || !count ? "path"
				: !health          ? "health record"
						   : "size in the health record");
	*out = NULL;
	for (size_t i = 0; i < count; i++)
		if (!paths[i] || !*paths[i])
			return gt_error(0, "the name of a capture is empty");
	status = dataset_open(paths, count, &d);
	if (status)
		return status;
	dataset_read_health(d, health);
	*out = make_handle(d, NULL);
	return *out ? 0 : -ENOMEM;
}

void gputap_capture_close(struct gputap_capture *capture)
{
	if (!capture)
		return;
	dataset_put(capture->dataset);
	free(capture->where);
	free(capture);
}

static unsigned no_texts(void *data, enum filter_field field, uint32_t number, const char **texts)
{
	(void)data, (void)field, (void)number, (void)texts;
	return 0;
}

/* Return an expression that matches if both match. @a: may be NULL. The caller frees it. */
static char *join_expressions(const char *a, const char *b)
{
	char *both;

	if (!a)
		return strdup(b);
	return asprintf(&both, "(%s) and (%s)", a, b) < 0 ? NULL : both;
}

int gputap_capture_where(const struct gputap_capture *capture, const char *expression,
			 size_t *error_at, struct gputap_capture **out)
{
	struct filter_error error;
	struct filter *filter;
	char *where;

	gt_error_clear();
	if (!capture || !expression || !out)
		return gt_error(0, "gputap_capture_where: no %s",
				!capture      ? "capture"
				: !expression ? "expression"
					      : "result");
	*out = NULL;
	filter = filter_create(expression, no_texts, NULL, &error);
	if (!filter) {
		if (error_at)
			*error_at = error.at;
		return gt_error(0, "%s", error.text);
	}
	filter_destroy(filter);
	where = join_expressions(capture->where, expression);
	if (!where)
		return gt_error(-ENOMEM, "cannot store the expression");
	*out = make_handle(dataset_take(capture->dataset), where);
	return *out ? 0 : -ENOMEM;
}

int gputap_capture_health(const struct gputap_capture *capture,
			  struct gputap_capture_health *health)
{
	gt_error_clear();
	if (!capture || !is_health(health))
		return gt_error(0, "gputap_capture_health: no %s",
				capture ? "health record with its size" : "capture");
	dataset_read_health(capture->dataset, health);
	return 0;
}

int gputap_capture_session_health(const struct gputap_capture *capture, size_t session,
				  struct gputap_capture_health *health)
{
	gt_error_clear();
	if (!capture || !is_health(health))
		return gt_error(0, "gputap_capture_session_health: no %s",
				capture ? "health record with its size" : "capture");
	if (session >= capture->dataset->session_count) {
		gt_error(0, "no session %zu: sessions are numbered from 0 to %zu", session,
			 capture->dataset->session_count - 1);
		return -ENOENT;
	}
	dataset_read_session_health(capture->dataset, (uint32_t)session, health);
	return 0;
}

const char *gputap_capture_error(void)
{
	return gt_error_text();
}
