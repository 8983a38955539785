/* SPDX-License-Identifier: MIT */
/* A module for Level Zero bench programs that launch kernels which are never executed. */
#ifndef GPUTAP_BENCH_LEVEL_ZERO_MODULE_H
#define GPUTAP_BENCH_LEVEL_ZERO_MODULE_H

#include <stdint.h>

/* SPIR-V: an empty kernel "none". */
static const uint32_t module_words[] = {0x07230203,
					0x00010000,
					0,
					5,
					0,
					2u << 16 | 17,
					4,
					2u << 16 | 17,
					6,
					3u << 16 | 14,
					2,
					2,
					5u << 16 | 15,
					6,
					3,
					0x656e6f6e,
					0,
					2u << 16 | 19,
					1,
					3u << 16 | 33,
					2,
					1,
					5u << 16 | 54,
					1,
					3,
					0,
					2,
					2u << 16 | 248,
					4,
					1u << 16 | 253,
					1u << 16 | 56};

#endif
