/* SPDX-License-Identifier: MIT */
/* Records and the client's buffers.
 *
 *   a call or GPU activity ends ─► waiting records ─► buffer ─► the client's completed()
 *                                  (ours)             (theirs)
 *
 * As in NVIDIA's library, the thread of the first observed call requests a buffer, and records are
 * written into the buffer only when it is handed back. If the process is killed, its records are
 * lost. A thread of this library, or a caller of FlushAll(), hands back a full buffer. The client
 * that registered last provides new buffers, and receives all completed buffers, even those that
 * other clients provided.
 *
 * One thread at a time hands back (`is_busy`). Meanwhile other threads continue to add records. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "soft/common/bell.h"
#include "soft/cuda/cupti/cupti_parts.h"

struct record {
	struct record *next;
	size_t bytes;
	_Alignas(8) char data[];
};

struct name {
	struct name *next;
	char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static struct record *first, **last = &first;
static size_t waiting_bytes, waiting_records;
static size_t dropped; /* number of records dropped since the last query */
static bool is_busy, has_thread, is_asking;
static _Thread_local bool in_client;
static struct name *names;

/* The client's buffer, while this library holds it. */
static struct {
	uint8_t *bytes;
	size_t size, records; /* records: maximum number of records; 0: as many as fit */
} buffer;

/* Return true if more records wait than fit into the buffer. Call with the lock held. */
static bool is_full(void)
{
	return buffer.bytes && (waiting_bytes > buffer.size ||
				(buffer.records && waiting_records >= buffer.records) ||
				buffer.size - waiting_bytes < 256);
}

/* Requesting and handing back ------------------------------------------------------------ */

/* Request a buffer. One thread at a time does so. Call with the lock held; the client's function is
 * called without it. */
static void ask(void)
{
	const CUpti_BuffersCallbackRequestFunc function = request;
	uint8_t *bytes = NULL;
	size_t size = 0, records = 0;

	while (is_asking)
		pthread_cond_wait(&changed, &lock);
	if (buffer.bytes || !function || soft_cupti_fails(SOFT_CUPTI_FAIL_BUFFERS))
		return;
	is_asking = true;
	pthread_mutex_unlock(&lock);
	in_client = true;
	function(&bytes, &size, &records);
	in_client = false;
	pthread_mutex_lock(&lock);
	is_asking = false;
	if (bytes) {
		buffer.bytes = bytes;
		buffer.size = size;
		buffer.records = records;
	}
	pthread_cond_broadcast(&changed);
}

static struct record *take_record(void)
{
	struct record *r = first;

	first = r->next;
	if (!first)
		last = &first;
	waiting_bytes -= r->bytes;
	waiting_records--;
	return r;
}

/* Copy as many waiting records as fit. Call with the lock held. */
static size_t fill(void)
{
	size_t used = 0, count = 0;

	while (first && first->bytes <= buffer.size - used &&
	       (!buffer.records || count < buffer.records)) {
		struct record *r = take_record();

		memcpy(buffer.bytes + used, r->data, r->bytes);
		used += r->bytes;
		count++;
		free(r);
	}
	return used;
}

/* Hand the buffer back. Call with the lock held; the client's function is called without it. */
static void hand_back(void)
{
	const CUpti_BuffersCallbackCompleteFunc function = complete;
	uint8_t *bytes = buffer.bytes;
	const size_t size = buffer.size, valid = fill();

	if (!valid && first) { /* the buffer is too small for one record */
		free(take_record());
		dropped++;
	}
	memset(&buffer, 0, sizeof buffer);
	pthread_mutex_unlock(&lock);
	in_client = true;
	if (function)
		function(NULL, 0, bytes, size, valid);
	in_client = false;
	pthread_mutex_lock(&lock);
}

/* Wait until no thread hands back buffers, then become the thread that does. Call with the lock
 * held. */
static void become_busy(void)
{
	while (is_busy)
		pthread_cond_wait(&changed, &lock);
	is_busy = true;
}

static void end_busy(void)
{
	is_busy = false;
	pthread_cond_broadcast(&changed);
}

static void drop_waiting(void)
{
	while (first) {
		free(take_record());
		dropped++;
	}
}

/* Thread function: hand back full buffers. Requests a buffer only if a record is waiting. */
static void *serve(void *data)
{
	(void)data;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (is_busy || !(is_full() || (first && !buffer.bytes)))
			pthread_cond_wait(&changed, &lock);
		is_busy = true;
		if (!buffer.bytes)
			ask();
		if (!buffer.bytes)
			drop_waiting();
		else if (is_full())
			hand_back();
		end_busy();
	}
	return NULL;
}

/* Records ----------------------------------------------------------------------------- */

void soft_cupti_request_buffer(void)
{
	pthread_mutex_lock(&lock);
	if (!buffer.bytes && !is_busy)
		ask();
	pthread_mutex_unlock(&lock);
}

void soft_cupti_add_record(const void *record, size_t size)
{
	struct record *r = malloc(sizeof *r + size);

	pthread_mutex_lock(&lock);
	if (!r || !complete) {
		dropped++;
		free(r);
	} else {
		*r = (struct record){.bytes = size};
		memcpy(r->data, record, size);
		*last = r;
		last = &r->next;
		waiting_bytes += size;
		waiting_records++;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

void soft_cupti_drop_records(void)
{
	pthread_mutex_lock(&lock);
	become_busy();
	drop_waiting();
	dropped = 0;
	memset(&buffer, 0, sizeof buffer);
	request = NULL;
	complete = NULL;
	end_busy();
	pthread_mutex_unlock(&lock);
}

const char *soft_cupti_keep_name(const char *name)
{
	struct name *n;

	if (!name)
		return NULL;
	pthread_mutex_lock(&lock);
	for (n = names; n && strcmp(n->text, name) != 0;)
		n = n->next;
	if (!n) {
		n = malloc(sizeof *n + strlen(name) + 1);
		if (n) {
			strcpy(n->text, name);
			n->next = names;
			names = n;
		}
	}
	pthread_mutex_unlock(&lock);
	return n ? n->text : NULL;
}

/* The client's side ---------------------------------------------------------------------- */

int soft_cupti_register(CUpti_BuffersCallbackRequestFunc requested,
			CUpti_BuffersCallbackCompleteFunc completed)
{
	pthread_t thread;

	if (soft_cupti_fails(SOFT_CUPTI_FAIL_REGISTER))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	pthread_mutex_lock(&lock);
	request = requested;
	complete = completed;
	if (!has_thread && !soft_thread_start(&thread, "soft-cupti", serve, NULL)) {
		pthread_detach(thread);
		has_thread = true;
	}
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

int cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
				   CUpti_BuffersCallbackCompleteFunc completed)
{
	const int status = requested && completed
				   ? soft_cupti_attach("cuptiActivityRegisterCallbacks")
				   : CUPTI_ERROR_INVALID_PARAMETER;

	if (status)
		return status;
	return soft_cupti_take_form(SOFT_CUPTI_V1) ? soft_cupti_register(requested, completed)
						   : CUPTI_ERROR_NOT_COMPATIBLE;
}

/* @flag: 1: also hand back a buffer without records. */
int cuptiActivityFlushAll(uint32_t flag)
{
	const int status = soft_cupti_attach("cuptiActivityFlushAll");

	if (status)
		return status;
	if (in_client) /* otherwise the thread would wait for itself */
		return CUPTI_ERROR_INVALID_OPERATION;
	pthread_mutex_lock(&lock);
	become_busy();
	while (first || (buffer.bytes && flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)) {
		if (!buffer.bytes)
			ask();
		if (buffer.bytes)
			hand_back();
		else
			drop_waiting();
	}
	end_busy();
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

int cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flag)
{
	(void)context;
	(void)stream;
	return cuptiActivityFlushAll(flag);
}

/* The period has no effect, because this library hands back full buffers at once. NVIDIA's period
 * also applies only to full buffers. */
int cuptiActivityFlushPeriod(uint32_t ms)
{
	(void)ms;
	return soft_cupti_attach("cuptiActivityFlushPeriod");
}

int cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *out)
{
	(void)context;
	(void)stream;
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	*out = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

/* Attributes ----------------------------------------------------------------------------- */

enum { ATTRIBUTES = 25 };

/* Size and initial value of each attribute, indexed by CUpti_ActivityAttribute. */
static struct {
	uint8_t bytes;
	uint64_t value;
} attributes[ATTRIBUTES] = {
	[0] = {8, 3 << 20}, [1] = {8, 8 << 20}, [2] = {8, 250},      [3] = {8, 64 << 10},
	[4] = {8, 100},     [5] = {1, 0},       [6] = {8, 3},        [7] = {8, 1},
	[8] = {1, 0},       [9] = {1, 1},       [10] = {8, 8 << 20},
};

static int check_attribute(int attribute, const size_t *size, const void *value)
{
	if (!size || !value || attribute < 0 || attribute >= ATTRIBUTES ||
	    !attributes[attribute].bytes)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return *size < attributes[attribute].bytes ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT
						   : CUPTI_SUCCESS;
}

int cuptiActivityGetAttribute(int attribute, size_t *size, void *value)
{
	const int status = check_attribute(attribute, size, value);

	if (status)
		return status;
	pthread_mutex_lock(&lock);
	*size = attributes[attribute].bytes;
	memcpy(value, &attributes[attribute].value, *size);
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

/* Values are stored but have no effect. */
int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
	const int status = check_attribute(attribute, size, value);

	if (status)
		return status;
	pthread_mutex_lock(&lock);
	attributes[attribute].value = 0;
	memcpy(&attributes[attribute].value, value, attributes[attribute].bytes);
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}
