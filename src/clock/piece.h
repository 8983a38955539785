/* SPDX-License-Identifier: MIT */
/* A clock as pieces of straight lines, for those who convert many stamps: find the piece once,
 * use it while gt_clock_piece_holds(). */
#ifndef GPUTAP_CLOCK_PIECE_H
#define GPUTAP_CLOCK_PIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"

/* out = out0 + (in - in0) * mult / 2^shift, never more than cap; for `in` in [from, to]. */
struct gt_clock_piece {
	uint64_t in0, out0;
	uint64_t mult; /* below 2^63: the product of 128 bits never overflows */
	/* up to so far behind in0, the result is out0 + (high word of ((in - in0) << left) *
	 * mult) >> right */
	uint64_t plain;
	uint8_t left, right, shift;
	uint64_t from, to, cap;
};

struct gt_clock_pieces {
	/* by `from`; the first begins at 0, the last ends at UINT64_MAX, no holes */
	struct gt_clock_piece *list;
	size_t count;
};

struct gt_clock_ratio {
	uint64_t out, in;
};

static inline bool gt_clock_piece_holds(const struct gt_clock_piece *piece, uint64_t in)
{
	return in >= piece->from && in <= piece->to;
}

/* Any `in` of the piece. */
static inline uint64_t gt_clock_piece_convert_any(const struct gt_clock_piece *piece, uint64_t in)
{
	unsigned __int128 d;

	if (in >= piece->in0) {
		d = (unsigned __int128)(in - piece->in0) * piece->mult >> piece->shift;
		return d > piece->cap - piece->out0 ? piece->cap : piece->out0 + (uint64_t)d;
	}
	d = (unsigned __int128)(piece->in0 - in) * piece->mult >> piece->shift;
	return d > piece->out0 ? 0 : piece->out0 - (uint64_t)d;
}

/* The piece's own work for nearly all stamps of it: no shift of 128 bits, no cap to look at. */
static inline bool gt_clock_piece_is_plain(const struct gt_clock_piece *piece, uint64_t in)
{
	return in - piece->in0 < piece->plain;
}

static inline uint64_t gt_clock_piece_convert_plain(const struct gt_clock_piece *piece, uint64_t in)
{
	uint64_t high =
		(uint64_t)((unsigned __int128)((in - piece->in0) << piece->left) * piece->mult >>
			   64);

	return piece->out0 + (high >> piece->right);
}

static inline uint64_t gt_clock_piece_convert(const struct gt_clock_piece *piece, uint64_t in)
{
	return gt_clock_piece_is_plain(piece, in) ? gt_clock_piece_convert_plain(piece, in)
						  : gt_clock_piece_convert_any(piece, in);
}

/* One point on both clocks. */
struct gt_clock_point {
	uint64_t in, out;
};

/**
 * gt_clock_pieces_init() - lines through points
 * @points:   in any state: those that go backwards or lie nearer than 1 ms to the one before are
 *            left out, unless there are no others
 * @usual:    rate when nothing unusual happens, or NULL. A piece that is clearly faster holds a
 *            stop of the `in` clock (suspended host): it runs at the usual rate and jumps at its
 *            end.
 * Return: 0 or -ENOMEM. No points: the identity; one point: that offset and the usual rate, else 1.
 */
int gt_clock_pieces_init(struct gt_clock_pieces *pieces, const struct gt_clock_point *points,
			 size_t count, const struct gt_clock_ratio *usual);
/* The same where points are no readings and have no jitter: all that rise. */
int gt_clock_pieces_init_exact(struct gt_clock_pieces *pieces, const struct gt_clock_point *points,
			       size_t count);
void gt_clock_pieces_fini(struct gt_clock_pieces *pieces);
const struct gt_clock_piece *gt_clock_pieces_find(const struct gt_clock_pieces *pieces,
						  uint64_t in);

const struct gt_clock_pieces *gt_host_clock_pieces(const struct gt_host_clock_map *map);
const struct gt_clock_pieces *gt_host_clock_pieces_of(const struct gt_host_clock_map *map,
						      enum gt_clock_method method);
/* settled */
const struct gt_clock_pieces *gt_device_clock_pieces(const struct gt_device_clock *clock);

#endif
