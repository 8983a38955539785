/* SPDX-License-Identifier: MIT */
/* Ranges that one thread starts and any other stops, and marks: NVTX's. Texts stay. A range that is
 * started in a pause of the program is not recorded; one that is stopped in a pause is. */
#ifndef GPUTAP_RUNTIME_TORCH_RANGES_H
#define GPUTAP_RUNTIME_TORCH_RANGES_H

#include <stdint.h>

uint64_t gt_range_start(const char *name); /* never 0 */
void gt_range_stop(uint64_t id);
void gt_range_mark(const char *name);

#endif
