/* SPDX-License-Identifier: MIT */
/* ROCTx's tables, as a library that registers them offers them. */
#ifndef GPUTAP_RUNTIME_ROCTX_ROCTX_ATTACH_H
#define GPUTAP_RUNTIME_ROCTX_ROCTX_ATTACH_H

#include <stdint.h>

/**
 * gt_roctx_attach_tables() - take the library's three tables: taps into them
 * @version: of the library
 * @tables:  core, control and name table, each with its size in bytes in front
 * @count:   how many of them there are
 * Return: 0, also for tables that are known already; -EINVAL; -ENOSPC: no instance is free, which
 * an event reports.
 */
int gt_roctx_attach_tables(uint64_t version, void **tables, uint64_t count)
	__attribute__((visibility("hidden")));

#endif
