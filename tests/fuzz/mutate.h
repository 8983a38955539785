/* SPDX-License-Identifier: MIT */
/* Captures with right checksums that no writer makes: take a good one apart into blocks and
 * records, change some of them, and put all together again. The same number gives the same file. */
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
 * @capture: a readable capture
 * @out: receives the file; the next call reuses its memory; the caller frees it
 */
void mutate(const uint8_t *capture, size_t bytes, uint64_t number, struct mutant *out);

/**
 * mutate_plausibly() - make a mutant that gputap's writer could have made, of another program
 * Most are complete and can be compared with @capture; mutants of mutate() are mostly refused.
 * Return: false if @capture is merged or cut out of another one, which is not supported.
 */
bool mutate_plausibly(const uint8_t *capture, size_t bytes, uint64_t number, struct mutant *out);

/* Start the random numbers; the same seed gives the same ones. */
static inline uint64_t mutate_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
