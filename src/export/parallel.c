/* SPDX-License-Identifier: MIT */
/* See parallel.h.
 *
 * Parts are slots of a ring. Piece n uses slot n % slot_count:
 *   1. an encoder takes the next piece if its slot is free, and encodes it without the lock;
 *   2. it sets the slot's state under the lock and wakes the main thread;
 *   3. the main thread appends the part without the lock, sets the slot free, and wakes encoders.
 * Errors of an encoder need no report: it leaves the piece, and the main thread meets the same
 * error. */
#include "export/parallel.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "util/error.h"

enum {
	PIECE_MIN = 64 << 10, /* sizes of pieces, in bytes */
	PIECE_MAX = 128 << 10,
	PIECES_EACH = 4,     /* number of pieces for each thread, if the capture is small */
	PART_MAX = 64 << 20, /* maximum size of a part; usually ten times its piece */
	PIECES_MIN = 4,      /* a capture with fewer pieces is written in one thread */
	THREADS_MAX = 64,
};

enum slot_state { SLOT_FREE, SLOT_ENCODED, SLOT_LEFT };

struct slot {
	struct gt_part part;
	enum slot_state state; /* under the lock */
};

struct parallel {
	const struct gt_encoder_type *type;
	const struct gt_capture *capture;
	void *exporter;
	struct gt_capture_piece *pieces;
	size_t piece_count;
	struct slot *slots;
	size_t slot_count;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock: next: first piece that no encoder has taken; appended: number of pieces
	 * in the file */
	size_t next, appended;
	bool stop;
};

struct encoder {
	struct parallel *parallel;
	void *encoder;
	struct gt_cursor *cursor;
	pthread_t thread;
};

void *gt_part_note(struct gt_part *part, size_t bytes)
{
	void *note;

	if (part->note_room - part->note_bytes < bytes) {
		size_t room = part->note_room * 2 + bytes + 4096;
		char *more = room < PART_MAX ? realloc(part->notes, room) : NULL;

		if (!more)
			return NULL;
		part->notes = more;
		part->note_room = room;
	}
	note = part->notes + part->note_bytes;
	part->note_bytes += bytes;
	return note;
}

/* Pass the records of a piece to @write. Return 0 or negative errno. */
static int read_piece(struct gt_cursor *cursor, const struct gt_capture_piece *piece,
		      const struct gt_out *out, gt_export_items_fn *write, void *exporter)
{
	const struct gt_item *item;
	int count, status = gt_cursor_take_piece(cursor, piece);

	while (!status && !out->status && (count = gt_cursor_next_several(cursor, &item)) != 0)
		status = count < 0 ? count : write(exporter, item, item + count);
	return status;
}

/* Encoders --------------------------------------------------------------------- */

/* Return the index of the next piece; the number of pieces: no more pieces. */
static size_t take_piece(struct parallel *p)
{
	size_t taken;

	pthread_mutex_lock(&p->lock);
	while (!p->stop && p->next < p->piece_count && p->next >= p->appended + p->slot_count)
		pthread_cond_wait(&p->changed, &p->lock);
	taken = p->stop ? p->piece_count : p->next;
	p->next += taken < p->piece_count;
	pthread_mutex_unlock(&p->lock);
	return taken;
}

static bool encode_piece(struct encoder *e, const struct gt_capture_piece *piece,
			 struct gt_part *part)
{
	const struct gt_encoder_type *type = e->parallel->type;
	int status;

	if (piece->is_large || gt_out_clear(&part->out))
		return false;
	part->note_bytes = 0;
	type->begin(e->encoder, part);
	status = read_piece(e->cursor, piece, &part->out, type->encode, e->encoder);
	return type->end(e->encoder, part) && !status && !part->out.status;
}

static void *run_encoder(void *data)
{
	struct encoder *e = data;
	struct parallel *p = e->parallel;
	size_t n;

	while ((n = take_piece(p)) < p->piece_count) {
		struct slot *slot = &p->slots[n % p->slot_count];
		bool encoded = encode_piece(e, &p->pieces[n], &slot->part);

		gt_error_clear();
		pthread_mutex_lock(&p->lock);
		slot->state = encoded ? SLOT_ENCODED : SLOT_LEFT;
		pthread_cond_broadcast(&p->changed);
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

/* Main thread ------------------------------------------------------------------ */

static enum slot_state wait_for(struct parallel *p, const struct slot *slot)
{
	enum slot_state state;

	pthread_mutex_lock(&p->lock);
	while (slot->state == SLOT_FREE)
		pthread_cond_wait(&p->changed, &p->lock);
	state = slot->state;
	pthread_mutex_unlock(&p->lock);
	return state;
}

static void release(struct parallel *p, struct slot *slot, bool stop)
{
	pthread_mutex_lock(&p->lock);
	slot->state = SLOT_FREE;
	p->appended++;
	p->stop = stop;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static int append_pieces(struct parallel *p, struct gt_cursor *cursor, const struct gt_out *out,
			 const struct gt_view_options *options)
{
	const uint64_t total = gt_capture_health(p->capture)->bytes;
	uint64_t passed = 0;
	int status = 0;

	for (size_t n = 0; n < p->piece_count && !status && !out->status; n++) {
		struct slot *slot = &p->slots[n % p->slot_count];

		status = wait_for(p, slot) == SLOT_ENCODED
				 ? p->type->append(p->exporter, &slot->part)
				 : read_piece(cursor, &p->pieces[n], out, p->type->write,
					      p->exporter);
		release(p, slot, status || out->status);
		passed += p->pieces[n].bytes;
		if (options->progress)
			options->progress(options->progress_data, passed < total ? passed : total,
					  total);
	}
	return status;
}

/* Start the threads. Return their number; fewer than @count: not more could be started. */
static unsigned start_encoders(struct parallel *p, struct encoder *list, unsigned count)
{
	unsigned n = 0;

	for (; n < count; n++) {
		struct encoder *e = &list[n];

		*e = (struct encoder){.parallel = p, .encoder = p->type->create(p->exporter)};
		if (e->encoder && !gt_cursor_create(p->capture, &e->cursor) &&
		    !pthread_create(&e->thread, NULL, run_encoder, e))
			continue;
		gt_cursor_destroy(e->cursor);
		if (e->encoder)
			p->type->destroy(e->encoder);
		gt_error_clear();
		break;
	}
	return n;
}

static void join_encoders(struct parallel *p, struct encoder *list, unsigned count)
{
	for (unsigned n = 0; n < count; n++) {
		pthread_join(list[n].thread, NULL);
		gt_cursor_destroy(list[n].cursor);
		p->type->destroy(list[n].encoder);
	}
}

/* Write all pieces. Return 1 if no thread could be started, and nothing was written. */
static int write_pieces(struct parallel *p, unsigned threads, const struct gt_out *out,
			const struct gt_view_options *options)
{
	struct encoder encoders[THREADS_MAX];
	struct gt_cursor *cursor;
	unsigned started;
	int status = gt_cursor_create(p->capture, &cursor);

	if (status)
		return status;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	started = start_encoders(p, encoders, threads);
	status = started ? append_pieces(p, cursor, out, options) : 1;
	join_encoders(p, encoders, started);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	gt_cursor_destroy(cursor);
	return status;
}

static int write_in_threads(struct parallel *p, unsigned threads, const struct gt_out *out,
			    const struct gt_view_options *options)
{
	int status;

	p->slot_count = 2 * (size_t)threads + 1;
	p->slots = calloc(p->slot_count, sizeof *p->slots);
	if (!p->slots)
		return 1;
	for (size_t i = 0; i < p->slot_count; i++)
		gt_out_open_memory(&p->slots[i].part.out, PART_MAX);
	status = write_pieces(p, threads, out, options);
	for (size_t i = 0; i < p->slot_count; i++) {
		gt_out_finish(&p->slots[i].part.out, -ECANCELED);
		free(p->slots[i].part.notes);
	}
	free(p->slots);
	return status;
}

static uint64_t choose_piece_bytes(const struct gt_capture *c, unsigned threads)
{
	uint64_t bytes = gt_capture_health(c)->bytes / (PIECES_EACH * threads);

	return bytes < PIECE_MIN ? PIECE_MIN : bytes > PIECE_MAX ? PIECE_MAX : bytes;
}

int gt_export_in_parallel(const struct gt_view *view, const struct gt_out *out,
			  const struct gt_view_options *options, void *exporter,
			  const struct gt_encoder_type *type)
{
	struct parallel p = {.type = type, .capture = view->capture, .exporter = exporter};
	unsigned threads = options->jobs < THREADS_MAX ? options->jobs : THREADS_MAX;
	int status = 1;

	if (threads > 1 && !gt_capture_is_filtered(view->capture)) {
		status = gt_capture_split(view->capture, choose_piece_bytes(view->capture, threads),
					  &p.pieces, &p.piece_count);
		if (!status)
			status = p.piece_count < PIECES_MIN
					 ? 1
					 : write_in_threads(&p, threads, out, options);
		free(p.pieces);
	}
	return status == 1 ? gt_export_records(view, out, options, exporter, type->write) : status;
}
