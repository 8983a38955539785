/* SPDX-License-Identifier: MIT */
/* Reports executed programs that cannot be traced. */
#ifndef GPUTAP_CORE_EXEC_LOST_H
#define GPUTAP_CORE_EXEC_LOST_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/segment.h"

#define GT_LOST_NOWHERE UINT32_MAX

/**
 * gt_exec_lose() - check whether a program to be executed can reach the session and gputap's
 * library; record the program in the segment if it cannot
 * @path:    path of the program; NULL: @fd is the program
 * @fd:      folder of a relative @path, or AT_FDCWD
 * @library: path of libgputap.so, as given in LD_PRELOAD
 * @place:   receives the argument for gt_exec_take_back()
 * Return: the reason, even if the program does not exist; GT_LOST_NONE: the program can reach both.
 * Thread: any. Signal: safe; also in the child of a vfork.
 */
enum gt_lost_why gt_exec_lose(int fd, const char *path, const char *library, uint32_t *place);

/* Record a program that can reach the session and the library but gets an environment without
 * gputap's variables. Return the argument for gt_exec_take_back(). */
uint32_t gt_exec_lose_environment(const char *path);

/* Return true if the process has a ring for an event, or can create one. */
bool gt_exec_can_report(void);

/* Remove the entry after exec has failed, because no program was lost. */
void gt_exec_take_back(uint32_t place);

#endif
