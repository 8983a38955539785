/* SPDX-License-Identifier: MIT */
/* Encodes the records of a capture in several threads. The file has the same bytes as with one.
 *
 *     pieces of the capture:  | 1 | 2 | 3 | 4 | 5 | ..
 *     encoders (threads)        A   B   A   C   B       each takes the next piece and encodes it
 *     exporter (main thread)  appends the parts in order
 *
 * An encoder writes a part to memory. It knows the capture, but not what other pieces contain. It
 * adds notes where its bytes depend on that, and the exporter completes these places when it
 * appends the part. If that is not enough, the encoder leaves the piece to the exporter, which then
 * encodes it as without threads. The exporter's state after a part is the same as if it had encoded
 * the piece.
 * Memory: a few parts per thread. An encoder leaves a piece whose part is too large. */
#ifndef GPUTAP_EXPORT_PARALLEL_H
#define GPUTAP_EXPORT_PARALLEL_H

#include "analysis/model/view.h"
#include "export/out.h"
#include "export/records.h"

struct gt_part {
	struct gt_out out; /* in memory */
	/* notes of the encoder, in the order of their places in `out` */
	char *notes;
	size_t note_bytes, note_room;
};

/* Append room for a note of @bytes. Return NULL if out of memory. */
void *gt_part_note(struct gt_part *part, size_t bytes);

struct gt_encoder_type {
	/* Create an encoder for one thread; called in the main thread. NULL with a cause: out of
	 * memory. */
	void *(*create)(void *exporter);
	void (*destroy)(void *encoder);
	/* Encode records into the part given to begin(). end() returns false to leave the piece to
	 * the exporter. */
	void (*begin)(void *encoder, struct gt_part *part);
	gt_export_items_fn *encode;
	bool (*end)(void *encoder, struct gt_part *part);
	/* Append a part to the file, in the main thread. */
	int (*append)(void *exporter, const struct gt_part *part);
	/* Encode and write records in the main thread. */
	gt_export_items_fn *write;
};

/* Write all records, in several threads if the options allow it and the capture has enough pieces.
 * Otherwise like gt_export_records(). Filters of a capture need one thread. */
int gt_export_in_parallel(const struct gt_view *view, const struct gt_out *out,
			  const struct gt_view_options *options, void *exporter,
			  const struct gt_encoder_type *type);

#endif
