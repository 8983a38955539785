/* SPDX-License-Identifier: MIT */
/* Programs that are executed where they cannot be traced. */
#ifndef GPUTAP_CORE_EXEC_LOST_H
#define GPUTAP_CORE_EXEC_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/segment.h"

#define GT_LOST_NOWHERE UINT32_MAX

/**
 * gt_exec_lose() - check that a program to be executed can reach the session and our library, and
 * note it in the segment if not
 * @path:    path of the program; NULL: @fd is the program
 * @fd:      folder of a relative @path, or AT_FDCWD
 * @library: path of libgputap.so, as LD_PRELOAD has it
 * @place:   receives the argument for gt_exec_take_back()
 * Return: the reason, also if the program does not exist; GT_LOST_NONE: it can.
 * Thread: any. Signal: safe; also in the child of a vfork.
 */
enum gt_lost_why gt_exec_lose(int fd, const char *path, const char *library, uint32_t *place);

/* Note a program that can reach them, but gets an environment without our variables. Return as
 * @place above. */
uint32_t gt_exec_lose_environment(const char *path);

/* Return true if there is a ring for an event, or can be. */
bool gt_exec_can_report(void);

/* Remove the entry after exec has failed: nothing was lost. */
void gt_exec_take_back(uint32_t place);

#endif
