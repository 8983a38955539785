/* SPDX-License-Identifier: MIT */
/* Assigns numbers to HIP streams. HIP reuses the address of a destroyed stream; a number is never
 * reused. */
#include <pthread.h>
#include <stdlib.h>

#include "sdk.h"

enum { BUCKETS = 256 };

struct named_stream {
	struct named_stream *next;
	uint64_t address, id;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct named_stream *streams[BUCKETS];
static uint64_t stream_count;

static unsigned bucket_of(uint64_t address)
{
	return (unsigned)(address >> 4 ^ address >> 12) % BUCKETS;
}

uint64_t sdk_stream_id(uint64_t address)
{
	struct named_stream **bucket = &streams[bucket_of(address)], *s;
	uint64_t id = 0;

	if (!address)
		return 0; /* the default stream */
	pthread_mutex_lock(&mutex);
	for (s = *bucket; s && s->address != address; s = s->next)
		;
	if (!s && (s = malloc(sizeof *s)) != NULL) {
		*s = (struct named_stream){*bucket, address, ++stream_count};
		*bucket = s;
	}
	if (s)
		id = s->id;
	pthread_mutex_unlock(&mutex);
	return id;
}

void sdk_forget_stream(uint64_t address)
{
	pthread_mutex_lock(&mutex);
	for (struct named_stream **at = &streams[bucket_of(address)]; *at; at = &(*at)->next)
		if ((*at)->address == address) {
			struct named_stream *gone = *at;

			*at = gone->next;
			free(gone);
			break;
		}
	pthread_mutex_unlock(&mutex);
}
