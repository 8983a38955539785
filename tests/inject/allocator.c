/* SPDX-License-Identifier: MIT */
/* An allocator that is linked into the program: pages from mmap(), one lock that is not recursive.
 * A call inside a call would wait for ever, and pthread_create() calls calloc(). */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAD = 16, CLASSES = 40, CHUNK = 1 << 20 };

static volatile int lock;
static void *free_blocks[CLASSES];
static char *chunk;
static size_t left;

static void take_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void give_lock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

void *malloc(size_t bytes)
{
	unsigned class = 6;
	char *p;

	while (((size_t)1 << class) < bytes + HEAD)
		class ++;
	take_lock();
	p = free_blocks[class];
	if (p) {
		memcpy(&free_blocks[class], p + HEAD, sizeof(void *));
	} else {
		const size_t size = (size_t)1 << class;

		if (left < size) {
			left = size > CHUNK ? size : CHUNK;
			chunk = mmap(NULL, left, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		}
		p = chunk;
		chunk += size;
		left -= size;
	}
	give_lock();
	memcpy(p, &class, sizeof class);
	return p + HEAD;
}

void free(void *block)
{
	char *p = (char *)block - HEAD;
	unsigned class;

	if (!block)
		return;
	memcpy(&class, p, sizeof class);
	take_lock();
	memcpy(block, &free_blocks[class], sizeof(void *));
	free_blocks[class] = p;
	give_lock();
}

void *calloc(size_t count, size_t bytes)
{
	void *p = malloc(count * bytes);

	return memset(p, 0, count * bytes);
}

void *realloc(void *block, size_t bytes)
{
	void *p = malloc(bytes);
	unsigned class;

	if (block) {
		memcpy(&class, (char *)block - HEAD, sizeof class);
		class = (unsigned)((1u << class) - HEAD);
		memcpy(p, block, class < bytes ? class : bytes);
		free(block);
	}
	return p;
}
