/* SPDX-License-Identifier: MIT */
/* Destroys Python's capsules of streams, see gputap/capture.h. Python's functions are passed as
 * addresses, so the library needs no Python. */
#include <stdlib.h>

#include "gputap/capture.h"

static const char capsule_name[] = "arrow_array_stream";
/* the same function for each interpreter of a process; atomic */
static gputap_capture_capsule_pointer *capsule_pointer;

static void release_capsule(void *capsule)
{
	gputap_capture_capsule_pointer *get = __atomic_load_n(&capsule_pointer, __ATOMIC_RELAXED);
	struct ArrowArrayStream *stream = get(capsule, capsule_name);

	if (!stream)
		return;
	if (stream->release)
		stream->release(stream);
	free(stream);
}

gputap_capture_capsule_release *gputap_capture_capsule_destructor(
	gputap_capture_capsule_pointer *get_pointer)
{
	if (!get_pointer)
		return NULL;
	__atomic_store_n(&capsule_pointer, get_pointer, __ATOMIC_RELAXED);
	return release_capsule;
}
