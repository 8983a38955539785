/* SPDX-License-Identifier: MIT */
/* Makes captures that have correct checksums, but that no writer would write: splits a good capture
 * into blocks and records, changes some of them, and assembles them again. The same number gives
 * the same file. */
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
 * @out: receives the file; the next call reuses its memory; the caller frees that memory
 */
void mutate(const uint8_t *capture, size_t bytes, uint64_t number, struct mutant *out);

/**
 * mutate_plausibly() - make a mutant that gputap's writer could have made, of another program
 * Most of these mutants are complete and can be compared with @capture, while most mutants from
 * mutate() are refused.
 * Return: false if @capture is merged or was cut out of another capture; neither is supported.
 */
bool mutate_plausibly(const uint8_t *capture, size_t bytes, uint64_t number, struct mutant *out);

/* Seed the random numbers. The same seed gives the same numbers. */
static inline uint64_t mutate_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
