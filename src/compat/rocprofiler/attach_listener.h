/* SPDX-License-Identifier: MIT */
/* Common to the files of librocprofiler-sdk-attach.so.1. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_ATTACH_LISTENER_H
#define GPUTAP_COMPAT_ROCPROFILER_ATTACH_LISTENER_H

#include <stdint.h>

#define ATTACH_EXPORT __attribute__((visibility("default")))

/* rocprofiler_register_library_api_table() */
typedef int attach_register_fn(const char *name, uint32_t (*import)(void), uint32_t version,
			       void **tables, uint64_t count, uint64_t *id);

/* Register the table that marks this process as attachable. Return @add's status. */
int attach_mark(attach_register_fn *add);

#endif
