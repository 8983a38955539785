/* SPDX-License-Identifier: MIT */
/* See range_window.h. */
#include "core/range_window.h"

#include <errno.h>
#include <string.h>

#include "core/context.h"
#include "core/recording.h"

/* number of bytes of a range's name that are compared; equals the number that are recorded */
enum { NAME_MAX_BYTES = 1024 };

static const struct gt_range_bound *bound_of(enum gt_range_edge edge)
{
	return &gt_recording.session->ranges[edge];
}

/* Names -------------------------------------------------------------------------- */

/* Match @c against the set at *pattern, after the set's '['. Move *pattern past the set's ']'.
 * Return 1 if the set contains @c, 0 if not, and -1 if the ']' is missing, so that the '[' does not
 * start a set. */
static int match_set(const char **pattern, char c)
{
	const char *p = *pattern;
	const bool negated = *p == '!' || *p == '^';
	bool found = false;

	p += negated;
	for (const char *first = p; *p && (*p != ']' || p == first); p++) {
		unsigned char from = (unsigned char)*p, to = from;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			to = (unsigned char)p[2];
			p += 2;
		}
		found |= from <= (unsigned char)c && (unsigned char)c <= to;
	}
	if (!*p)
		return -1;
	*pattern = p + 1;
	return found != negated;
}

/* Match @c against one character or set of the pattern, and move *pattern past it. */
static bool match_one(const char **pattern, char c)
{
	const char *p = *pattern;
	int in_set;

	*pattern = p + 1;
	if (*p == '?')
		return true;
	if (*p == '[') {
		*pattern = p + 1;
		in_set = match_set(pattern, c);
		if (in_set >= 0)
			return in_set;
		*pattern = p + 1;
	}
	return *p == c;
}

/* Match bytes as fnmatch() with FNM_NOESCAPE does. libc's fnmatch() is not used because it
 * allocates memory. */
static bool match_glob(const char *pattern, const char *name, size_t bytes)
{
	const char *end = name + bytes, *star = NULL, *retry = NULL;

	while (name < end) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (*pattern && match_one(&pattern, *name)) {
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* As with --where, a name equal to the pattern's text matches even if the text contains special
 * characters. */
static bool matches(const struct gt_range_bound *bound, const char *name, size_t bytes)
{
	return (!strncmp(bound->name, name, bytes) && !bound->name[bytes]) ||
	       match_glob(bound->name, name, bytes);
}

/* The window ----------------------------------------------------------------------- */

/* Return this process's segment; NULL: the process is not recorded at all. */
static struct gt_segment *own_segment(void)
{
	if (!gt_recording_epoch() || !gt_recording_is_run() ||
	    atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		return NULL;
	return atomic_load_explicit(&gt_recording.segment, memory_order_acquire);
}

/* Count a range at this edge. Return true if the range is the requested one. */
static bool count(struct gt_segment *r, enum gt_range_edge edge, const char *name, size_t bytes)
{
	const struct gt_range_bound *bound = bound_of(edge);

	if (!(atomic_load_explicit(&gt_range_edges, memory_order_relaxed) & 1u << edge) ||
	    !matches(bound, name, bytes) ||
	    atomic_fetch_add_explicit(&r->ranges_begun[edge], 1, memory_order_relaxed) + 1 !=
		    bound->number)
		return false;
	atomic_fetch_and_explicit(&gt_range_edges, ~(1u << edge), memory_order_relaxed);
	return true;
}

bool gt_range_count(const char *name)
{
	int saved = errno;
	struct gt_segment *r = name ? own_segment() : NULL;
	size_t bytes = name ? strnlen(name, NAME_MAX_BYTES) : 0;
	bool is_last = false;

	if (r) {
		is_last = count(r, GT_RANGE_TO, name, bytes);
		if (count(r, GT_RANGE_FROM, name, bytes)) {
			gt_contexts_pause(GT_PAUSE_RANGES, false, GT_WINDOW_RANGE);
			atomic_fetch_or_explicit(&r->range_window, GT_RANGE_WINDOW_BEGAN,
						 memory_order_relaxed);
		}
	}
	errno = saved;
	return is_last;
}

void gt_range_window_end(void)
{
	int saved = errno;
	struct gt_segment *r = own_segment();

	/* false in a fork's child, because the --to range belongs to the parent */
	if (r && atomic_load_explicit(&r->ranges_begun[GT_RANGE_TO], memory_order_relaxed) >=
			 bound_of(GT_RANGE_TO)->number) {
		/* if the --from range has not started yet, stop waiting for it */
		atomic_store_explicit(&gt_range_edges, 0, memory_order_relaxed);
		atomic_fetch_or_explicit(&r->range_window, GT_RANGE_WINDOW_ENDED,
					 memory_order_relaxed);
		gt_contexts_pause(GT_PAUSE_RANGES, true, GT_WINDOW_RANGE);
	}
	errno = saved;
}
