/* SPDX-License-Identifier: MIT */
/* runtime/cuda/cupti_client.c returns the buffers of another CUPTI client. Runs without CUPTI. The
 * records are memcpys, in sequence, and the session's buffers belong to the test. */
#include <stdlib.h>

#include "runtime/cuda/cupti_client.h"
#include "unit.h"

enum { BYTES = 16 * sizeof(struct cupti_copy), MADE_MOST = 4096 };

static struct {
	uint8_t *made[MADE_MOST]; /* buffers that the client has provided */
	bool out[MADE_MOST];      /* true while the buffer is not returned */
	unsigned made_count;
	unsigned records, returned_twice, called_while_held;
	bool held;
} client;

static int next_record(uint8_t *buffer, size_t valid, struct cupti_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + sizeof(struct cupti_copy) : buffer;

	if (next + sizeof(struct cupti_copy) > buffer + valid)
		return 12; /* CUPTI_ERROR_MAX_LIMIT_REACHED */
	*record = (struct cupti_record *)(void *)next;
	return CUPTI_SUCCESS;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *records)
{
	client.called_while_held += client.held;
	CHECK(client.made_count < MADE_MOST);
	*buffer = calloc(1, BYTES);
	*bytes = BYTES;
	*records = 0;
	client.out[client.made_count] = true;
	client.made[client.made_count++] = *buffer;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	unsigned i = 0;

	(void)context, (void)stream, (void)bytes;
	client.called_while_held += client.held;
	while (i < client.made_count && client.made[i] != buffer)
		i++;
	CHECK(i < client.made_count);
	client.returned_twice += !client.out[i];
	client.out[i] = false;
	client.records += (unsigned)(valid / sizeof(struct cupti_copy));
}

static void begin(void)
{
	gt_cupti_client_walk_by(next_record);
	gt_cupti_client_register(request, complete);
	gt_cupti_client_add_kind(NULL, CUPTI_KIND_COPY, false);
}

static void hold(bool held)
{
	gt_cupti_client_hold(held);
	client.held = held;
}

static void flush(void)
{
	gt_cupti_client_begin_flush();
	gt_cupti_client_end_flush();
}

static void fill(uint8_t *buffer, unsigned records)
{
	for (unsigned i = 0; i < records; i++)
		((struct cupti_copy *)(void *)buffer)[i] =
			(struct cupti_copy){.kind = CUPTI_KIND_COPY, .correlation = 1};
}

/* Return one of the session's buffers, with one record. */
static void complete_owners(void)
{
	struct cupti_copy record;

	fill((uint8_t *)&record, 1);
	CHECK(!gt_cupti_client_complete(NULL, 0, (uint8_t *)&record, sizeof record, sizeof record));
}

static uint8_t *request_clients(void)
{
	uint8_t *buffer = NULL;
	size_t bytes, records;

	return gt_cupti_client_request(&buffer, &bytes, &records) ? buffer : NULL;
}

static unsigned count_out(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < client.made_count; i++)
		count += client.out[i];
	return count;
}

UNIT_TEST(a_guest_gets_what_came_while_it_was_not_called)
{
	begin();
	hold(true);
	for (int i = 0; i < 5; i++)
		complete_owners();
	hold(false);
	CHECK_EQ(client.records, 0);
	flush();
	CHECK_EQ(client.records, 5);
	CHECK_EQ(gt_cupti_client_take_dropped(), 0);
}

UNIT_TEST(records_that_nobody_could_keep_for_a_guest_are_counted_as_dropped)
{
	begin();
	hold(true);
	for (int i = 0; i < 40; i++)
		complete_owners();
	hold(false);
	flush();
	CHECK_EQ(client.records + gt_cupti_client_take_dropped(), 40);
}

UNIT_TEST(a_guest_that_must_not_be_called_is_not_called_however_many_buffers_come_back)
{
	uint8_t *buffers[200];

	begin();
	for (int i = 0; i < 200; i++) {
		buffers[i] = request_clients();
		CHECK(buffers[i]);
		fill(buffers[i], 16);
	}
	hold(true);
	for (int i = 0; i < 200; i++)
		CHECK(gt_cupti_client_complete(NULL, 0, buffers[i], BYTES, BYTES));
	hold(false);
	CHECK_EQ(client.called_while_held, 0);
	flush();
	CHECK_EQ(client.records, 200 * 16);
	CHECK_EQ(client.returned_twice, 0);
	CHECK_EQ(count_out(), 0);
}

UNIT_TEST(a_guests_buffer_goes_back_to_it_once)
{
	enum { HERE = 100 };
	uint8_t *here[HERE] = {NULL}; /* buffers that CUPTI holds */
	unsigned filled = 0, seed = 1;

	begin();
	for (int step = 0; step < 2000; step++) {
		unsigned i = (seed = seed * 1103515245 + 12345) >> 16 & 0x7fff, n = i / HERE % 17;

		i %= HERE;
		if (!here[i]) {
			here[i] = request_clients();
		} else {
			fill(here[i], n);
			filled += n;
			CHECK(gt_cupti_client_complete(NULL, 0, here[i], BYTES,
						       n * sizeof(struct cupti_copy)));
			here[i] = NULL;
		}
		if (step % 97 == 0)
			hold(!client.held);
		if (step % 61 == 0 && !client.held)
			flush();
	}
	hold(false);
	for (int i = 0; i < HERE; i++)
		if (here[i])
			gt_cupti_client_complete(NULL, 0, here[i], BYTES, 0);
	flush();
	CHECK_EQ(client.records, filled);
	CHECK_EQ(client.returned_twice, 0);
	CHECK_EQ(client.called_while_held, 0);
	CHECK_EQ(count_out(), 0);
}
