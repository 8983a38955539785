/* SPDX-License-Identifier: MIT */
/* Implements cupti_client.h: the client's requests to CUPTI, and the client's share of callbacks
 * and buffers.
 *
 *   the client's turn:  first Enable ────── last Disable ────── FlushAll
 *   buffers:            the client's, since it refuses unknown buffer addresses ──┤ ours again
 *
 * If one of our buffers is completed during the client's turn, its records are copied into a
 * client's buffer. A client's buffer that is completed after the turn is still returned to the
 * client.
 *
 * Locking: `lock` protects everything except the callbacks, which launching threads read as atomic
 * words. The lock is not held while CUPTI or the client is called. */
#include "runtime/cuda/cupti_client.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "core/thread.h"

enum {
	BUFFERS_MAX = 1024,
	/* All buffers that CUPTI can hold, plus the buffer being filled. CUPTI requests new buffers
	 * only when all spare buffers are in use, so `filled` is never full. */
	FILLED_MAX = BUFFERS_MAX + 1,
	KEPT_MAX = 16,
	CONTEXTS_MAX = 64,
	IDS = CUPTI_CALLBACK_IDS,
	WORDS = (IDS + 31) / 32
};

struct reading {
	uint64_t ticks, time;
};

static struct {
	pthread_mutex_t lock;
	cuptiActivityGetNextRecord_fn *next; /* NULL before a client was served */
	_Atomic bool subscribed;
	_Atomic bool adopted; /* true if the client has another handle than ours */
	_Atomic(cupti_callback_fn *) callback;
	void *user;
	_Atomic uint32_t callbacks[CUPTI_DOMAIN_COUNT][WORDS];
	cupti_request_fn *request;
	cupti_complete_fn *complete;
	cupti_time_fn *clock; /* NULL for CLOCK_REALTIME */
	/* enabled kinds: for all contexts, for one context, for single functions */
	bool kinds[CUPTI_KIND_COUNT];
	struct {
		void *context;
		uint32_t kind;
	} contexts[CONTEXTS_MAX];
	unsigned context_count;
	uint32_t functions[2][WORDS];
	_Atomic bool active; /* true during the client's turn */
	/* correlations of the first and last launch in the turn; 0 before the first launch */
	_Atomic uint32_t first, last;
	struct reading began;
	struct gt_cupti_turn turn;
	uint8_t *buffers[BUFFERS_MAX]; /* client's buffers that CUPTI holds */
	unsigned buffer_count;
	/* Buffers completed between the client's own flushes. The CUPTI session flushes ten times a
	 * second, which would return many nearly empty buffers to the client. Their records are
	 * therefore merged here. */
	struct filled {
		uint8_t *buffer;
		size_t bytes, valid;
	} filled[FILLED_MAX]; /* the last buffer is still being filled */
	unsigned filled_count, spare_count;
	struct filled spare[FILLED_MAX]; /* emptied buffers, for CUPTI's next requests */
	unsigned flushing;               /* nonzero while the client itself flushes CUPTI */
	bool holds;                      /* true while the client must not be called */
	struct filled kept[KEPT_MAX];    /* copies of our buffers completed while `holds` is true */
	unsigned kept_count;
	size_t dropped; /* number of records reported to the client as dropped by CUPTI */
} client = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
	pthread_mutex_lock(&client.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&client.lock);
}

void *gt_cupti_client_handle(void)
{
	return &client;
}

void gt_cupti_client_walk_by(cuptiActivityGetNextRecord_fn *next)
{
	lock();
	client.next = next;
	unlock();
}

/* Callbacks -------------------------------------------------------------------------------- */

bool gt_cupti_client_subscribe(cupti_callback_fn *callback, void *user)
{
	bool mine;

	lock();
	mine = !atomic_load(&client.subscribed);
	if (mine) {
		atomic_store(&client.subscribed, true);
		client.user = user;
		atomic_store_explicit(&client.callback, callback, memory_order_release);
	}
	unlock();
	return mine;
}

void gt_cupti_client_unsubscribe(void)
{
	lock();
	atomic_store(&client.callback, NULL);
	for (unsigned d = 0; d < CUPTI_DOMAIN_COUNT; d++)
		for (unsigned w = 0; w < WORDS; w++)
			atomic_store(&client.callbacks[d][w], 0);
	atomic_store(&client.subscribed, false);
	atomic_store(&client.adopted, false);
	unlock();
}

void gt_cupti_client_adopt(void)
{
	lock();
	if (!atomic_load(&client.subscribed)) {
		atomic_store(&client.callback, NULL);
		atomic_store(&client.adopted, true);
		atomic_store(&client.subscribed, true);
	}
	unlock();
}

bool gt_cupti_client_is_handle(const void *subscriber)
{
	return atomic_load_explicit(&client.subscribed, memory_order_relaxed) &&
	       (subscriber == &client ||
		atomic_load_explicit(&client.adopted, memory_order_relaxed));
}

bool gt_cupti_client_subscribed(void)
{
	return atomic_load_explicit(&client.subscribed, memory_order_relaxed);
}

static bool is_callback(int domain, uint32_t id)
{
	return (unsigned)domain < CUPTI_DOMAIN_COUNT && id < IDS;
}

void gt_cupti_client_set_callback(int domain, uint32_t id, bool on)
{
	if (is_callback(domain, 0) && id == UINT32_MAX)
		for (unsigned w = 0; w < WORDS; w++)
			atomic_store(&client.callbacks[domain][w], on ? UINT32_MAX : 0);
	else if (is_callback(domain, id) && on)
		atomic_fetch_or(&client.callbacks[domain][id / 32], 1u << id % 32);
	else if (is_callback(domain, id))
		atomic_fetch_and(&client.callbacks[domain][id / 32], ~(1u << id % 32));
}

bool gt_cupti_client_has_callback(int domain, uint32_t id)
{
	return is_callback(domain, id) &&
	       (atomic_load_explicit(&client.callbacks[domain][id / 32], memory_order_relaxed) >>
			id % 32 &
		1);
}

/* Return true if the client needs a callback. During the client's turn this includes the callbacks
 * that note launches. */
bool gt_cupti_client_needs_callback(int domain, uint32_t id)
{
	return gt_cupti_client_has_callback(domain, id) ||
	       (domain == CUPTI_DOMAIN_DRIVER &&
		atomic_load_explicit(&client.active, memory_order_relaxed));
}

/* Note the first and the last launch that started in the client's turn. */
static void note_launch(const struct cupti_callback *call)
{
	uint32_t none = 0;

	if (call->site != CUPTI_ENTER)
		return;
	if (!atomic_load_explicit(&client.first, memory_order_relaxed))
		atomic_compare_exchange_strong(&client.first, &none, call->correlation);
	atomic_store_explicit(&client.last, call->correlation, memory_order_relaxed);
}

void gt_cupti_client_callback(int domain, uint32_t id, const void *data)
{
	cupti_callback_fn *callback;

	if (gt_thread.internal) /* gputap's own call */
		return;
	if (domain == CUPTI_DOMAIN_DRIVER &&
	    atomic_load_explicit(&client.active, memory_order_relaxed))
		note_launch(data);
	if (!gt_cupti_client_has_callback(domain, id))
		return;
	callback = atomic_load_explicit(&client.callback, memory_order_acquire);
	if (callback)
		callback(client.user, domain, id, data);
}

/* Clock ------------------------------------------------------------------------------------ */

void gt_cupti_client_set_clock(cupti_time_fn *clock)
{
	lock();
	client.clock = clock;
	unlock();
}

static uint64_t time_of(cupti_time_fn *clock)
{
	struct timespec t;

	if (clock)
		return clock();
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t gt_cupti_client_time(void)
{
	return time_of(client.clock);
}

/* Read both clocks a few times, and keep the best reading. Return false if the client's clock is
 * our clock. */
static bool read_clock(cupti_time_fn *clock, struct reading *out)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < 8; i++) {
		uint64_t before = gt_ticks(), time = time_of(clock), after = gt_ticks();

		if (time >= before && time <= after)
			return false;
		if (after - before < best) {
			best = after - before;
			*out = (struct reading){before + best / 2, time};
		}
	}
	return true;
}

/* Fit a line through the clock readings at the start of the turn and now. */
static void set_conversion(struct gt_cupti_turn *turn, cupti_time_fn *clock,
			   const struct reading *began)
{
	struct reading now;

	turn->convert = read_clock(clock, &now) && now.ticks > began->ticks;
	if (!turn->convert)
		return;
	turn->time_from = now.ticks;
	turn->time_to = now.time;
	turn->time_rate =
		(double)(int64_t)(now.time - began->time) / (double)(now.ticks - began->ticks);
}

/* Kinds ------------------------------------------------------------------------------------ */

void gt_cupti_client_register(cupti_request_fn *request, cupti_complete_fn *complete)
{
	lock();
	client.request = request;
	client.complete = complete;
	unlock();
}

static bool has_kinds(void)
{
	for (unsigned k = 0; k < CUPTI_KIND_COUNT; k++)
		if (client.kinds[k])
			return true;
	for (unsigned w = 0; w < 2 * WORDS; w++)
		if (client.functions[w / WORDS][w % WORDS])
			return true;
	return client.context_count != 0;
}

/* Return true if the client has enabled a kind. The caller holds the lock. */
static bool has_kind(uint32_t kind)
{
	for (unsigned i = 0; i < client.context_count; i++)
		if (client.contexts[i].kind == kind)
			return true;
	return client.kinds[kind];
}

bool gt_cupti_client_begins(void)
{
	bool begins;

	lock();
	begins = !atomic_load(&client.active);
	unlock();
	return begins;
}

/* Start the client's turn. The client may not have registered its callbacks yet; it is asked for
 * buffers only after the registration. The caller holds the lock. */
static void begin_turn(const struct reading *now)
{
	if (atomic_load(&client.active))
		return;
	memset(&client.turn, 0, sizeof client.turn);
	atomic_store(&client.first, 0);
	atomic_store(&client.last, 0);
	client.began = *now;
	atomic_store(&client.active, true);
}

static void set_context(void *context, uint32_t kind, bool on)
{
	for (unsigned i = 0; i < client.context_count; i++)
		if (client.contexts[i].context == context && client.contexts[i].kind == kind) {
			if (!on)
				client.contexts[i] = client.contexts[--client.context_count];
			return;
		}
	if (on && client.context_count < CONTEXTS_MAX) {
		client.contexts[client.context_count].context = context;
		client.contexts[client.context_count++].kind = kind;
	}
}

static void set_kind(void *context, uint32_t kind, bool on)
{
	if (context)
		set_context(context, kind, on);
	else
		client.kinds[kind] = on;
}

void gt_cupti_client_add_kind(void *context, uint32_t kind, bool owned)
{
	struct reading now = {0};
	struct gt_cupti_span *span;

	if (kind >= CUPTI_KIND_COUNT)
		return;
	read_clock(client.clock, &now);
	lock();
	begin_turn(&now);
	span = &client.turn.kinds[kind];
	if (!span->asked)
		*span = (struct gt_cupti_span){.asked = true, .after = owned};
	span->before = false;
	set_kind(context, kind, true);
	unlock();
}

void gt_cupti_client_remove_kind(void *context, uint32_t kind, bool owned)
{
	struct gt_cupti_span *span;

	if (kind >= CUPTI_KIND_COUNT)
		return;
	lock();
	span = &client.turn.kinds[kind];
	if (has_kind(kind)) {
		set_kind(context, kind, false);
		span->before = owned && !has_kind(kind);
		span->last = atomic_load_explicit(&client.last, memory_order_relaxed);
	}
	unlock();
}

void gt_cupti_client_set_function(uint32_t kind, uint32_t id, bool on)
{
	uint32_t *word = &client.functions[kind == CUPTI_KIND_RUNTIME][id % IDS / 32];
	struct reading now = {0};

	read_clock(client.clock, &now);
	lock();
	if (on) {
		begin_turn(&now);
		client.turn.kinds[kind].asked = true;
		*word |= 1u << id % 32;
	} else {
		*word &= ~(1u << id % 32);
	}
	unlock();
}

bool gt_cupti_client_needs_kind(uint32_t kind)
{
	bool needs;

	lock();
	needs = kind < CUPTI_KIND_COUNT && has_kind(kind);
	unlock();
	return needs;
}

/* The caller holds the lock. */
static bool is_busy(void)
{
	return atomic_load(&client.active) || has_kinds() || client.buffer_count ||
	       client.filled_count;
}

bool gt_cupti_client_busy(void)
{
	bool busy;

	lock();
	busy = is_busy();
	unlock();
	return busy;
}

bool gt_cupti_client_present(void)
{
	bool present;

	lock();
	present = atomic_load(&client.subscribed) || is_busy();
	unlock();
	return present;
}

void gt_cupti_client_forget(void)
{
	gt_cupti_client_unsubscribe();
	lock();
	memset(client.kinds, 0, sizeof client.kinds);
	memset(client.functions, 0, sizeof client.functions);
	client.context_count = 0;
	client.request = NULL;
	client.clock = NULL;
	atomic_store(&client.active, false);
	unlock();
}

/* Buffers ---------------------------------------------------------------------------------- */

static bool remember_buffer(uint8_t *buffer)
{
	bool room;

	lock();
	room = client.buffer_count < BUFFERS_MAX;
	if (room)
		client.buffers[client.buffer_count++] = buffer;
	unlock();
	return room;
}

/* Forget a client's buffer. Search from the newest buffer, because CUPTI usually returns a recent
 * buffer. */
static bool forget_buffer(uint8_t *buffer)
{
	bool found = false;

	lock();
	for (unsigned i = client.buffer_count; i-- && !found;)
		if (client.buffers[i] == buffer) {
			client.buffers[i] = client.buffers[--client.buffer_count];
			found = true;
		}
	unlock();
	return found;
}

bool gt_cupti_client_has_buffer(const uint8_t *buffer)
{
	bool found = false;

	lock();
	for (unsigned i = client.buffer_count; i-- && !found;)
		found = client.buffers[i] == buffer;
	unlock();
	return found;
}

bool gt_cupti_client_request(uint8_t **buffer, size_t *bytes, size_t *records)
{
	struct filled spare = {NULL, 0, 0};
	cupti_complete_fn *complete;
	cupti_request_fn *request;

	lock();
	request = atomic_load(&client.active) && !client.holds ? client.request : NULL;
	complete = client.complete;
	if (request && client.spare_count)
		spare = client.spare[--client.spare_count];
	unlock();
	if (!request)
		return false;
	*buffer = spare.buffer;
	*bytes = spare.bytes;
	*records = 0;
	if (!spare.buffer)
		request(buffer, bytes, records);
	if (*buffer && *bytes && remember_buffer(*buffer))
		return true;
	if (*buffer)
		complete(NULL, 0, *buffer, *bytes, 0);
	return false;
}

/* Copy records from one of our buffers. The buffer stays unchanged, because the CUPTI session reads
 * it later. Records that do not fit into the client's buffers are dropped and counted, as in
 * CUPTI. */
static void copy_records(const struct gt_cupti_turn *turn, cuptiActivityGetNextRecord_fn *next,
			 cupti_request_fn *request, cupti_complete_fn *complete, uint8_t *records,
			 size_t valid)
{
	while (valid) {
		uint8_t *buffer = NULL;
		size_t bytes = 0, most = 0, fits, left;

		request(&buffer, &bytes, &most);
		fits = buffer ? gt_cupti_client_fit(next, records, valid, bytes) : 0;
		if (fits)
			memcpy(buffer, records, fits);
		left = fits ? gt_cupti_client_filter(turn, next, buffer, fits) : 0;
		if (buffer)
			complete(NULL, 0, buffer, bytes, left);
		if (!fits) {
			gt_cupti_client_dropped(gt_cupti_client_count(turn, next, records, valid));
			return;
		}
		records += fits;
		valid -= fits;
	}
}

void gt_cupti_client_hold(bool hold)
{
	lock();
	client.holds = hold;
	unlock();
}

/* Return the client's turn, with the current values of its first and last launch. The caller holds
 * the lock. */
static struct gt_cupti_turn get_turn(void)
{
	struct gt_cupti_turn turn = client.turn;

	turn.first = atomic_load(&client.first);
	return turn;
}

/* Pass a buffer's records to the client. */
static void give_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid,
			bool is_clients)
{
	cuptiActivityGetNextRecord_fn *next;
	cupti_complete_fn *complete;
	cupti_request_fn *request;
	struct gt_cupti_turn turn;
	struct reading began;
	cupti_time_fn *clock;
	bool active;

	lock();
	active = atomic_load(&client.active);
	request = client.request;
	complete = client.complete;
	clock = client.clock;
	next = client.next;
	began = client.began;
	turn = get_turn();
	unlock();
	if (!complete || !next || (!is_clients && (!active || !request || !valid)))
		return;
	set_conversion(&turn, clock, &began);
	if (is_clients)
		complete(context, stream, buffer, bytes,
			 gt_cupti_client_filter(&turn, next, buffer, valid));
	else if (gt_cupti_client_count(&turn, next, buffer, valid))
		copy_records(&turn, next, request, complete, buffer, valid);
}

/* Append records to the previously completed buffer if they fit. The caller holds the lock. */
static bool append_records(const struct filled *more)
{
	struct filled *last = client.filled_count ? &client.filled[client.filled_count - 1] : NULL;

	if (!last || last->bytes - last->valid < more->valid || client.spare_count == FILLED_MAX)
		return false;
	memcpy(last->buffer + last->valid, more->buffer, more->valid);
	last->valid += more->valid;
	client.spare[client.spare_count++] = (struct filled){more->buffer, more->bytes, 0};
	return true;
}

/* Return a full buffer that may be returned to the client. If no buffer is full, the pointer in the
 * result is NULL. The caller holds the lock. */
static struct filled fill_up(const struct filled *back)
{
	struct filled full = {NULL, 0, 0};

	if (append_records(back))
		return full;
	if (client.filled_count == FILLED_MAX || (client.filled_count && !client.holds)) {
		full = client.filled[0];
		client.filled_count--;
		memmove(client.filled, client.filled + 1, client.filled_count * sizeof full);
	}
	client.filled[client.filled_count++] = *back;
	return full;
}

/* Copy one of our buffers that was completed while the client must not be called. If the copy does
 * not fit, the records are dropped and counted. The caller holds the lock. */
static void keep_copy(uint8_t *buffer, size_t valid)
{
	uint8_t *copy = MAP_FAILED;
	struct gt_cupti_turn turn;

	if (!valid || !atomic_load(&client.active))
		return;
	if (client.kept_count < KEPT_MAX)
		copy = mmap(NULL, valid, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	if (copy == MAP_FAILED) {
		turn = get_turn();
		if (client.next)
			client.dropped += gt_cupti_client_count(&turn, client.next, buffer, valid);
		return;
	}
	memcpy(copy, buffer, valid);
	client.kept[client.kept_count++] = (struct filled){copy, valid, valid};
}

static bool take(struct filled *list, unsigned *count, struct filled *out)
{
	bool any;

	lock();
	any = *count != 0;
	if (any) {
		*out = list[0];
		memmove(list, list + 1, --*count * sizeof *list);
	}
	unlock();
	return any;
}

void gt_cupti_client_begin_flush(void)
{
	lock();
	client.flushing++;
	unlock();
}

void gt_cupti_client_end_flush(void)
{
	struct filled f;

	while (take(client.kept, &client.kept_count, &f)) {
		give_buffer(NULL, 0, f.buffer, f.bytes, f.valid, false);
		munmap(f.buffer, f.bytes);
	}
	while (take(client.filled, &client.filled_count, &f) ||
	       take(client.spare, &client.spare_count, &f))
		give_buffer(NULL, 0, f.buffer, f.bytes, f.valid, true);
	lock();
	client.flushing--;
	if (!has_kinds())
		atomic_store(&client.active, false);
	unlock();
}

bool gt_cupti_client_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t valid)
{
	const struct filled back = {buffer, bytes, valid};
	bool is_clients = forget_buffer(buffer), flushing, holds;
	struct filled full = {NULL, 0, 0};

	lock();
	flushing = client.flushing != 0;
	holds = client.holds;
	if (is_clients && !flushing)
		full = fill_up(&back);
	else if (holds)
		keep_copy(buffer, valid);
	unlock();
	if (full.buffer)
		give_buffer(context, stream, full.buffer, full.bytes, full.valid, true);
	if (is_clients ? flushing : !holds)
		give_buffer(context, stream, buffer, bytes, valid, is_clients);
	return is_clients;
}

void gt_cupti_client_dropped(size_t count)
{
	lock();
	if (atomic_load(&client.active))
		client.dropped += count;
	unlock();
}

size_t gt_cupti_client_take_dropped(void)
{
	size_t count;

	lock();
	count = client.dropped;
	client.dropped = 0;
	unlock();
	return count;
}
