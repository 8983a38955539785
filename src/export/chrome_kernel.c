/* SPDX-License-Identifier: MIT */
/* Writes details of a kernel in Chrome JSON, as torch.profiler writes them for CUDA: sizes,
 * registers, shared memory, occupancy. Only known values are written. Most kernels recur with the
 * same sizes, so the text is cached. */
#include <stdlib.h>

#include "analysis/model/occupancy.h"
#include "export/chrome.h"

enum { SLOTS = 256, SLOT_TEXT = 384 };

struct kernel_key {
	uint64_t detail; /* object[1] */
	uint32_t process, device, domain;
	uint32_t global[3], local[3], pad;
};

struct gt_chrome_kernel {
	struct kernel_key key;
	uint32_t bytes; /* 0: free entry */
	char text[SLOT_TEXT];
};

static char *put_triple(char *p, const uint32_t size[3])
{
	for (int i = 0; i < 3; i++) {
		*p++ = i ? ',' : '[';
		p = gt_put_u64(p, size[i] ? size[i] : 1);
	}
	*p++ = ']';
	return p;
}

static char *put_sizes(char *p, const struct kernel_key *key, const uint32_t groups[3])
{
	if (!key->global[0])
		return p;
	p = GT_PUT(p, ",\"global size\":");
	p = put_triple(p, key->global);
	if (!key->local[0]) /* chosen by the runtime and not reported */
		return p;
	p = GT_PUT(p, ",\"grid\":");
	p = put_triple(p, groups);
	p = GT_PUT(p, ",\"block\":");
	return put_triple(p, key->local);
}

/* Write @n / @by with six decimals. */
static char *put_ratio(char *p, uint64_t n, uint64_t by)
{
	uint64_t whole = n / by, rest = (uint64_t)((unsigned __int128)(n % by) * 1000000 / by);

	p = gt_put_u64(p, whole);
	*p++ = '.';
	for (uint64_t step = 100000; step; step /= 10)
		*p++ = (char)('0' + rest / step % 10);
	return p;
}

/* Count the blocks and the threads per block. Return false if not known. */
static bool count_blocks(const struct kernel_key *key, uint32_t groups[3],
			 struct gt_occupancy_kernel *k)
{
	bool known = key->global[0] && key->local[0];
	uint64_t threads = 1;

	k->blocks = 1;
	for (int i = 0; i < 3; i++) {
		groups[i] = key->local[i]
				    ? (uint32_t)(((uint64_t)key->global[i] + key->local[i] - 1) /
						 key->local[i])
				    : 1;
		k->blocks *= groups[i] ? groups[i] : 1;
		threads *= key->local[i] ? key->local[i] : 1;
	}
	k->block_threads = (uint32_t)threads;
	return known && threads <= UINT32_MAX;
}

static uint32_t read_registers(const struct gt_chrome *x, const struct kernel_key *key)
{
	const struct gt_object_info *symbol =
		gt_capture_object_find(x->view.capture, key->process, GT_OBJECT_KERNEL_SYMBOL,
				       GT_KERNEL_SYMBOL(key->detail));
	const char *text = symbol ? gt_object_value(symbol, "registers") : NULL;

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static char *put_kernel(const struct gt_chrome *x, char *p, const struct kernel_key *key)
{
	const struct gt_object_info *device =
		key->device == UINT32_MAX ? NULL : gt_capture_device(x->view.capture, key->device);
	struct gt_occupancy_kernel k = {0};
	struct gt_occupancy_device d = {0};
	uint32_t groups[3], percent;
	bool sized = count_blocks(key, groups, &k),
	     detailed = key->detail && gt_domain_traits[key->domain].symbols;

	if (device)
		gt_occupancy_device_read(&d, device);
	if (detailed) {
		k.registers = read_registers(x, key);
		k.shared_bytes = GT_KERNEL_GROUP_BYTES(key->detail);
		if (k.registers) {
			p = GT_PUT(p, ",\"registers per thread\":");
			p = gt_put_u64(p, k.registers);
		}
		p = GT_PUT(p, ",\"shared memory\":");
		p = gt_put_u64(p, k.shared_bytes);
	}
	if (sized && d.multiprocessors) {
		p = GT_PUT(p, ",\"blocks per SM\":");
		p = put_ratio(p, k.blocks, d.multiprocessors);
		if (d.warp_size) {
			p = GT_PUT(p, ",\"warps per SM\":");
			p = put_ratio(p, k.blocks * k.block_threads,
				      (uint64_t)d.multiprocessors * d.warp_size);
		}
	}
	p = put_sizes(p, key, groups);
	if (sized && detailed && gt_occupancy_percent(&d, &k, &percent)) {
		p = GT_PUT(p, ",\"est. achieved occupancy %\":");
		p = gt_put_u64(p, percent);
	}
	return p;
}

static uint64_t hash_key(const struct kernel_key *key)
{
	uint64_t words[sizeof *key / 8], hash = 0;

	memcpy(words, key, sizeof words);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 32;
	return hash;
}
static_assert(sizeof(struct kernel_key) % 8 == 0, "the hash reads whole words");

char *gt_chrome_put_kernel(struct gt_chrome *x, char *p, const struct gt_view_queue *q,
			   const struct gt_item *activity)
{
	struct kernel_key key = {.detail = activity->object[1],
				 .process = activity->process,
				 .device = q->device,
				 .domain = GT_OP_DOMAIN(activity->op) % GT_DOMAIN_COUNT};
	struct gt_chrome_kernel *slot;

	memcpy(key.global, activity->global, sizeof key.global);
	memcpy(key.local, activity->local, sizeof key.local);
	if (!x->kernels)
		x->kernels = calloc(SLOTS, sizeof *x->kernels);
	if (!x->kernels)
		return put_kernel(x, p, &key);
	slot = &x->kernels[hash_key(&key) % SLOTS];
	if (!slot->bytes || memcmp(&slot->key, &key, sizeof key)) {
		slot->key = key;
		slot->bytes = (uint32_t)(put_kernel(x, slot->text, &key) - slot->text);
	}
	return gt_put(p, slot->text, slot->bytes);
}
