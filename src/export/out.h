/* SPDX-License-Identifier: MIT */
/* The file that an exporter writes: one large buffer, written out when it is full, optionally
 * through gzip (one member, ISA-L level 1). An exporter asks for room, fills it by pointer, and
 * says where it stopped. The first error stays; what is written after it goes nowhere. */
#ifndef GPUTAP_EXPORT_OUT_H
#define GPUTAP_EXPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gt_gzip;

enum {
	/* bytes of one write(); the kernel makes pages of its cache as large as it may, so not
	 * less */
	GT_OUT_WRITE = 1 << 19,
	GT_OUT_ROOM_MAX = 1 << 18, /* most that gt_out_room() gives */
};

struct gt_out {
	char *base, *next, *flush_at;
	struct gt_gzip *gzip;
	const char *path; /* borrowed, for causes */
	int fd;
	int status;        /* first error; it has its cause already */
	uint64_t bytes;    /* given to write() so far */
	uint64_t reserved; /* blocks up to here were asked for .. */
	bool has_reserved; /* .. and some were given */
};

/* Create @path, which must not exist. Return: 0 or negative errno with a cause. */
int gt_out_open(struct gt_out *out, const char *path, bool gzip);
/* Write what is left and close; with a @status of the exporter's that is not 0, only close.
 * Return: that, else the first error of all, or 0. @out needs no more care. */
int gt_out_finish(struct gt_out *out, int status);
/* Write most of what there is: the buffer has room again. */
void gt_out_flush(struct gt_out *out);

/* At least GT_OUT_ROOM_MAX bytes to write to. */
static inline char *gt_out_room(struct gt_out *out)
{
	if (__builtin_expect(out->next >= out->flush_at, 0))
		gt_out_flush(out);
	return out->next;
}

static inline void gt_out_end(struct gt_out *out, char *end)
{
	out->next = end;
}

/* Any length. */
void gt_out_write(struct gt_out *out, const void *data, size_t bytes);
static inline void gt_out_text(struct gt_out *out, const char *text)
{
	gt_out_write(out, text, strlen(text));
}

#endif
