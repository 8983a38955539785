/* SPDX-License-Identifier: MIT */
/* The output file of an exporter: one large buffer that is written when full, optionally through
 * gzip (one member, ISA-L level 1). Or an output in memory, whose buffer grows. An exporter gets
 * room, fills it through a pointer, and passes back the end. The first error is stored; later
 * output is discarded. */
#ifndef GPUTAP_EXPORT_OUT_H
#define GPUTAP_EXPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gt_gzip;
struct gt_background;

enum {
	/* Bytes per write(). Smaller writes would keep the kernel from using its largest page-cache
	 * pages. */
	GT_OUT_WRITE = 1 << 19,
	GT_OUT_ROOM_MAX = 1 << 18, /* maximum room that gt_out_room() guarantees */
};

struct gt_out {
	char *base, *next, *flush_at;
	struct gt_gzip *gzip;
	const char *path; /* borrowed, for error messages */
	int fd;
	int status;        /* first error; its cause has been reported */
	uint64_t bytes;    /* bytes passed to write() so far */
	uint64_t reserved; /* offset up to which blocks are allocated */
	bool has_reserved; /* true if an allocation succeeded */
	size_t most;       /* output in memory: maximum size of the buffer; 0: a file */
	/* thread that writes `job`, whose buffer is then `spare`; NULL: no thread */
	struct gt_background *background;
	char *spare;
	struct {
		char *data;
		size_t bytes;
		int status; /* first error of a write */
	} job;
};

/* Create @path, which must not exist. Return 0 or negative errno with a cause. */
int gt_out_open(struct gt_out *out, const char *path, bool gzip);
/* Create an output in memory: the bytes from `base` to `next`. If it needs more than @most bytes,
 * `status` is set without a cause. gt_out_clear() must succeed before the first use. */
void gt_out_open_memory(struct gt_out *out, size_t most);
/* Remove all bytes and the error of an output in memory. Return 0, or -ENOMEM without a cause. */
int gt_out_clear(struct gt_out *out);
/* Compress and write in another thread from now on, if one can be started. Errors are reported by
 * a later call. */
void gt_out_use_thread(struct gt_out *out);
/* Write the rest and close. If the exporter's @status is not 0, close without writing. Return
 * @status if it is not 0, otherwise the first error or 0. @out needs no other clean-up. */
int gt_out_finish(struct gt_out *out, int status);
/* Write most of the buffer, to make room. */
void gt_out_flush(struct gt_out *out);

/* Return room for at least GT_OUT_ROOM_MAX bytes. */
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

/* Write data of any length. */
void gt_out_write(struct gt_out *out, const void *data, size_t bytes);
static inline void gt_out_text(struct gt_out *out, const char *text)
{
	gt_out_write(out, text, strlen(text));
}

#endif
