/* SPDX-License-Identifier: MIT */
/* Programs that are executed where they cannot be traced. */
#ifndef GPUTAP_CORE_EXEC_LOST_H
#define GPUTAP_CORE_EXEC_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/segment.h"

#define GT_LOST_NOWHERE UINT32_MAX

/**
 * gt_exec_lose() - can a program that is about to be executed reach the session and our library? If
 * not, the segment says so
 * @path:    of the program; NULL: it is @fd
 * @fd:      folder of a relative @path, or AT_FDCWD
 * @library: path of libgputap.so, as LD_PRELOAD has it
 * @place:   receives what gt_exec_take_back() wants
 * Return: why not, also if there is no such program; GT_LOST_NONE: it can.
 * Thread: any. Signal: safe; also in the child of a vfork.
 */
enum gt_lost_why gt_exec_lose(int fd, const char *path, const char *library, uint32_t *place);

/* For a program that can reach them, but gets an environment that says nothing of us. Return: as
 * @place above. */
uint32_t gt_exec_lose_environment(const char *path);

/* Is there a ring for an event, or can there be? */
bool gt_exec_can_report(void);

/* Exec has failed: nothing was lost. */
void gt_exec_take_back(uint32_t place);

#endif
