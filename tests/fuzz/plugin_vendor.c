/* SPDX-License-Identifier: MIT */
/* A vendor's library that is its own plug-in and delivers hostile records: mutants of good records,
 * and noise. FUZZ_SEED selects the records, FUZZ_RECORDS their number. Its pu1GetNextRecord()
 * ignores the size that a record contains when it steps to the next record, so that the host sees
 * each record. At exit the library prints the number of delivered records.
 *
 * Pointers always point into the library or the buffer, because no host could survive an invalid
 * pointer. */
#include <gputap/PrivateUse1TracingApi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pu1BufferRequestFn request;
static pu1BufferCompleteFn complete;
static uint8_t *buffer;
static size_t room, used;
static unsigned enabled;
static unsigned long delivered, dropped;
static uint64_t state;
static char long_name[100000];

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? state % below : state;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Return a number that often causes errors: a small number, a power of two minus one, or any
 * number. */
static uint64_t odd_number(void)
{
	switch (draw(4)) {
	case 0: return draw(4);
	case 1: return (UINT64_C(1) << draw(64)) - draw(2);
	case 2: return ~draw(16);
	default: return draw(0);
	}
}

static const char *odd_text(void)
{
	static const char *const texts[] = {"",
					    "kernel",
					    "\xff\xfe\x80",
					    "a\"b\\c\n\t\x1b[31m",
					    "=cmd|' /C calc'!A0",
					    "\xed\xa0\x80",
					    "</script><script>alert(1)</script>",
					    "\xc2\x9b"
					    "31m"};

	switch (draw(6)) {
	case 0: return NULL;
	case 1: return long_name;
	case 2: return (const char *)buffer + draw(room); /* up to the buffer's end or beyond */
	case 3: return (const char *)buffer + room - 1;
	default: return texts[draw(sizeof texts / sizeof *texts)];
	}
}

static pu1ActivityRecord good_record(void)
{
	uint64_t start = now();

	return (pu1ActivityRecord){.size = sizeof(pu1ActivityRecord),
				   .kind = 1 + (uint32_t)draw(5),
				   .start_time = start - draw(1000),
				   .end_time = start + draw(1000),
				   .device_id = (int32_t)draw(3),
				   .stream_id = 1 + (int32_t)draw(3),
				   .correlation_id = draw(500),
				   .name = "good",
				   .bytes = draw(1 << 20),
				   .grid = {4, 1, 1},
				   .block = {64, 1, 1},
				   .thread_id = (uint32_t)gettid()};
}

static void mutate(pu1ActivityRecord *r)
{
	switch (draw(14)) {
	case 0: r->size = (uint32_t)odd_number(); break;
	case 1: r->kind = (uint32_t)odd_number(); break;
	case 2: r->start_time = odd_number(); break;
	case 3: r->end_time = odd_number(); break;
	case 4: r->device_id = (int32_t)odd_number(); break;
	case 5: r->stream_id = (int32_t)odd_number(); break;
	case 6: r->correlation_id = odd_number(); break;
	case 7: r->name = odd_text(); break;
	case 8: r->metadata = odd_text(); break;
	case 9: r->bytes = odd_number(); break;
	case 10: r->grid[draw(3)] = r->block[draw(3)] = (uint32_t)odd_number(); break;
	case 11: r->thread_id = (uint32_t)odd_number(); break;
	case 12:
		r->graph_id = odd_number();
		r->graph_node = (uint32_t)odd_number();
		r->graph_replay = (uint32_t)odd_number();
		break;
	default:
		r->external_id = odd_number();
		r->user_id = odd_number();
		r->status = (uint32_t)odd_number();
		r->copy_direction = (uint32_t)odd_number();
	}
}

static void hand_over(void)
{
	if (buffer)
		complete(buffer, room, used);
	buffer = NULL;
}

static void deliver(void)
{
	pu1ActivityRecord r;

	if (buffer && room - used < sizeof r)
		hand_over();
	if (!buffer) {
		request(&buffer, &room);
		used = 0;
	}
	if (!buffer) {
		dropped++;
		return;
	}
	r = good_record();
	for (uint64_t i = draw(4); i--;)
		mutate(&r);
	if (!draw(50)) { /* fill the record with noise, except for its pointers */
		for (size_t i = 0; i < sizeof r; i++)
			((uint8_t *)&r)[i] = (uint8_t)draw(256);
		r.name = odd_text();
		r.metadata = odd_text();
	}
	memcpy(buffer + used, &r, sizeof r);
	used += sizeof r;
	delivered++;
}

/* Functions that the program calls. */
__attribute__((visibility("default"))) int fuzz_activity(void)
{
	const char *seed = getenv("FUZZ_SEED"), *count = getenv("FUZZ_RECORDS");

	state = (seed ? strtoull(seed, NULL, 10) : 0) * UINT64_C(0x9e3779b97f4a7c15) +
		88172645463325252;
	for (unsigned long i = count ? strtoul(count, NULL, 10) : 1000; i--;) {
		pthread_mutex_lock(&lock);
		if (enabled)
			deliver();
		pthread_mutex_unlock(&lock);
	}
	printf("delivered %lu dropped %lu\n", delivered, dropped);
	return 0;
}

PU1_API uint32_t pu1GetVersion(void)
{
	return PU1_VERSION;
}

PU1_API pu1Result pu1TracingSetCallbacks(pu1BufferRequestFn r, pu1BufferCompleteFn c)
{
	request = r;
	complete = c;
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1TracingEnable(pu1ActivityKind kind)
{
	enabled |= 1u << kind;
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1TracingDisable(pu1ActivityKind kind)
{
	enabled &= ~(1u << kind);
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1PushExternalCorrelationId(uint64_t id)
{
	(void)id;
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1PopExternalCorrelationId(void)
{
	return PU1_ERROR_EMPTY;
}

PU1_API pu1Result pu1FlushAll(void)
{
	pthread_mutex_lock(&lock);
	hand_over();
	pthread_mutex_unlock(&lock);
	return PU1_SUCCESS;
}

PU1_API pu1Result pu1GetNextRecord(const uint8_t *at, size_t size, const pu1ActivityRecord **record)
{
	const uint8_t *next = *record ? (const uint8_t *)*record + sizeof **record : at;

	if (next + sizeof **record > at + size)
		return PU1_END;
	*record = (const pu1ActivityRecord *)next;
	return PU1_SUCCESS;
}

PU1_API pu1Result kineto_register_privateuse1_plugin(const pu1Host *host, pu1Plugin *plugin)
{
	(void)host;
	memset(long_name, 'x', sizeof long_name - 1);
	plugin->name = "fuzz";
	plugin->kinds = (1u << PU1_KIND_COUNT) - 2;
	return PU1_SUCCESS;
}
