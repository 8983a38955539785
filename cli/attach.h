/* SPDX-License-Identifier: MIT */
#ifndef GPUTAP_CLI_ATTACH_H
#define GPUTAP_CLI_ATTACH_H

#include "cli/run_options.h"

/**
 * attach_process() - record a running process until it ends or gputap detaches
 * @r: options, with r->pid
 * @rest: further arguments, of which there may be none
 * Return: the exit status.
 */
int attach_process(struct run_request *r, char **rest);

#endif
