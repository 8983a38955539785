/* SPDX-License-Identifier: MIT */
/* Captures that no writer makes, with right checksums: a good one is taken apart into blocks and
 * records, some of them are changed, and all is put together again. The same number gives the
 * same file. */
#ifndef GPUTAP_FUZZ_MUTATE_H
#define GPUTAP_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file in memory. */
struct mutant {
	uint8_t *bytes;
	size_t count, room;
};

/**
 * mutate() - make mutant @number of a capture
 * @capture: one that can be read
 * @out: receives the file; its memory is used again by the next call, and the caller's to free
 */
void mutate(const uint8_t *capture, size_t bytes, uint64_t number, struct mutant *out);

/**
 * mutate_plausibly() - make one that a writer of ours could have made, of another program
 * Most are complete, and can be compared with @capture: mutants of mutate() are mostly refused.
 * Return: false: of a capture that is merged or cut out of another one there is none.
 */
bool mutate_plausibly(const uint8_t *capture, size_t bytes, uint64_t number, struct mutant *out);

/* The same random numbers for the same seed. */
static inline uint64_t mutate_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
