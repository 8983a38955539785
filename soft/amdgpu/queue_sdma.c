/* SPDX-License-Identifier: MIT */
/* SDMA queues: the copy engine of gfx9. The ring contains packets of dwords. Read and write index
 * are byte counts that only increase, and the doorbell is the write index. A packet does not wrap
 * around, because ROCr pads the end of the ring with NOPs. */
#include <string.h>

#include "soft/amdgpu/queue.h"
#include "soft/common/guard.h"

enum { /* opcodes, and the sub-opcodes that the engine distinguishes */
       SDMA_NOP = 0,
       SDMA_COPY = 1,
       SDMA_FENCE = 5,
       SDMA_TRAP = 6,
       SDMA_POLL = 8,
       SDMA_ATOMIC = 10,
       SDMA_FILL = 11,
       SDMA_TIMESTAMP = 13,
       SDMA_CACHE = 17,
       COPY_LINEAR = 0,
       COPY_WINDOW = 4,
       ATOMIC_ADD32 = 15,
       ATOMIC_ADD64 = 47,
};

struct sdma_step { /* copy of one packet, for the guarded call */
	struct soft_queue *q;
	const uint32_t *p;
	unsigned dwords; /* 0: invalid packet */
};

static char *pointer(const uint32_t *p)
{
	return soft_host(p[0] | (uint64_t)p[1] << 32);
}

static void copy_linear(const uint32_t *p)
{
	memmove(pointer(p + 5), pointer(p + 3), (size_t)(p[1] & 0x3fffff) + 1);
}

struct window { /* position in a pitched image, in elements */
	char *base;
	uint64_t x, y, z, pitch, slice;
};

static struct window window_at(const uint32_t *p)
{
	return (struct window){
		.base = pointer(p),
		.x = p[2] & 0x3fff,
		.y = p[2] >> 16 & 0x3fff,
		.z = p[3] & 0x7ff,
		.pitch = (p[3] >> 13 & 0x7ffff) + 1ull,
		.slice = (p[4] & 0xfffffff) + 1ull,
	};
}

static char *window_row(const struct window *w, uint64_t y, uint64_t z, unsigned shift)
{
	return w->base + ((w->x + (w->y + y) * w->pitch + (w->z + z) * w->slice) << shift);
}

static void copy_window(const uint32_t *p)
{
	unsigned shift = p[0] >> 29; /* element size */
	struct window from = window_at(p + 1), to = window_at(p + 6);
	uint64_t width = (p[11] & 0x3fff) + 1ull, height = (p[11] >> 16 & 0x3fff) + 1ull,
		 depth = (p[12] & 0x7ff) + 1ull;

	for (uint64_t z = 0; z < depth; z++)
		for (uint64_t y = 0; y < height; y++)
			memmove(window_row(&to, y, z, shift), window_row(&from, y, z, shift),
				width << shift);
}

static void fill_memory(const uint32_t *p)
{
	uint64_t bytes = (p[4] & 0x3fffff) + 1ull;
	uint32_t *words = (uint32_t *)pointer(p + 1);

	if (p[0] >> 30 != 2) { /* bytes */
		memset(words, (int)p[3], bytes);
		return;
	}
	/* the field contains (number of dwords - 1) * 4 */
	for (uint64_t i = 0; i < (bytes + 3) / 4; i++)
		words[i] = p[3];
}

static bool poll_holds(const uint32_t *p)
{
	uint32_t value = __atomic_load_n((uint32_t *)pointer(p + 1), __ATOMIC_ACQUIRE) & p[4],
		 wanted = p[3];

	switch (p[0] >> 28 & 7) {
	case 0: return true;
	case 1: return value < wanted;
	case 2: return value <= wanted;
	case 3: return value == wanted;
	case 4: return value != wanted;
	case 5: return value >= wanted;
	default: return value > wanted;
	}
}

static void poll_memory(struct soft_queue *q, const uint32_t *p)
{
	struct soft_idle idle = {0};

	if (!(p[0] >> 31)) /* register access: a flush of the host data path, which completes at
	 * once */
		return;
	while (!poll_holds(p) && !soft_queue_stopped(q))
		soft_value_wait(&idle);
}

static bool add_atomic(const uint32_t *p)
{
	uint64_t value = p[3] | (uint64_t)p[4] << 32;

	switch (p[0] >> 25) {
	case ATOMIC_ADD64:
		__atomic_fetch_add((uint64_t *)pointer(p + 1), value, __ATOMIC_ACQ_REL);
		break;
	case ATOMIC_ADD32:
		__atomic_fetch_add((uint32_t *)pointer(p + 1), (uint32_t)value, __ATOMIC_ACQ_REL);
		break;
	default: return false;
	}
	soft_value_changed();
	return true;
}

static unsigned run_copy(const uint32_t *p)
{
	switch (p[0] >> 8 & 0xff) {
	case COPY_LINEAR: copy_linear(p); return 7;
	case COPY_WINDOW: copy_window(p); return 13;
	default: return 0;
	}
}

static void run_packet(void *argument)
{
	struct sdma_step *s = argument;
	const uint32_t *p = s->p;

	switch (p[0] & 0xff) {
	case SDMA_NOP: s->dwords = 1 + (p[0] >> 16 & 0x3fff); break;
	case SDMA_COPY: s->dwords = run_copy(p); break;
	case SDMA_FENCE:
		__atomic_store_n((uint32_t *)pointer(p + 1), p[3], __ATOMIC_RELEASE);
		soft_value_changed();
		s->dwords = 4;
		break;
	case SDMA_TRAP:
		soft_event_signal(p[1] & 0xfffffff);
		s->dwords = 2;
		break;
	case SDMA_POLL:
		poll_memory(s->q, p);
		s->dwords = 6;
		break;
	case SDMA_ATOMIC: s->dwords = add_atomic(p) ? 8 : 0; break;
	case SDMA_FILL:
		fill_memory(p);
		s->dwords = 5;
		break;
	case SDMA_TIMESTAMP:
		__atomic_store_n((uint64_t *)pointer(p + 1), soft_gpu_ticks(s->q->node),
				 __ATOMIC_RELAXED);
		s->dwords = 3;
		break;
	case SDMA_CACHE: s->dwords = 5; break;
	default: s->dwords = 0;
	}
}

/* Run a packet. Return false if the engine hangs, as the real engine does. */
static bool run_one(struct soft_queue *q, uint64_t *read)
{
	const uint32_t *p = (const uint32_t *)(q->ring + (*read & (q->bytes - 1)));
	struct sdma_step step = {.q = q, .p = p};
	uint64_t address;

	if (!soft_guard_call(run_packet, &step, &address)) {
		soft_queue_memory_fault(q, address, "a copy");
		return false;
	}
	if (!step.dwords) {
		soft_say("GPU %u queue %u hangs: unknown SDMA packet %#010x", q->node, q->number,
			 p[0]);
		return false;
	}
	*read += step.dwords * 4ull;
	q->packets++;
	__atomic_store_n(q->read_index, *read, __ATOMIC_RELEASE);
	return true;
}

void *soft_queue_sdma_activity(void *queue)
{
	struct soft_queue *q = queue;
	uint64_t read = 0;
	struct soft_idle idle = {0};

	while (!soft_queue_stopped(q)) {
		uint64_t limit = __atomic_load_n(q->doorbell, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&q->suspended, __ATOMIC_ACQUIRE)) {
			soft_queue_halt(q);
			break;
		}
		if (limit == UINT64_MAX || read >= limit) {
			soft_bell_wait(&q->bell, limit, &idle);
			continue;
		}
		while (read < limit && !soft_queue_stopped(q))
			if (!run_one(q, &read)) {
				soft_queue_halt(q);
				break;
			}
		idle = (struct soft_idle){0};
	}
	return NULL;
}
