/* SPDX-License-Identifier: MIT */
/* Internals of the CUPTI substitute, shared between its files.
 *
 *   cupti_activity.c  enabled kinds; calls and GPU activities become records; Finalize
 *   cupti_callback.c  the subscriber and its callbacks
 *   cupti_v2.c        the _v2 functions
 *   cupti_buffer.c    records and the client's buffers
 *   cupti_layout.c    length of a record in each version
 *   cupti_attach.c    the driver below, settings, clock, ids
 *
 * Behaviour was measured with NVIDIA's library (docs/runtimes/cuda.md lists the versions); comments
 * mark behaviour that was not measured.
 *
 * Locking: one lock for records and buffers (cupti_buffer.c); tables of switches are atomic bytes.
 * No lock is held while a function of the client is called. */
#ifndef SOFT_CUPTI_PARTS_H
#define SOFT_CUPTI_PARTS_H

#include <stdbool.h>

#include "soft/cuda/config.h"
#include "soft/cuda/cupti/cupti_api.h"
#include "soft/cuda/tools.h"

enum { SOFT_CUPTI_NUMBERS = 1024 }; /* number of callback ids in a domain */

/* Settings, read on first use. */
extern struct soft_cu_config soft_cupti_config;
bool soft_cupti_fails(enum soft_cupti_fault fault);

/* Attach to the driver's table. Return 0, or the reason of a failure. In a fork child, where
 * NVIDIA's library hangs, print the called function and abort. */
int soft_cupti_attach(const char *function);
/* Initialise as soft_cupti_attach() does, but without attaching, for functions that do not require
 * it. */
int soft_cupti_open(const char *function);
/* set by soft_cupti_attach() and soft_cupti_open() */
extern const struct soft_cu_tools_table *soft_cupti_table;
/* Claim a form of the API. Until Finalize, a process can use either the functions of the first form
 * or the _v2 functions; the first call decides. Return true if the caller's form may continue. */
enum soft_cupti_form { SOFT_CUPTI_NO_FORM, SOFT_CUPTI_V1, SOFT_CUPTI_V2 };
bool soft_cupti_take_form(enum soft_cupti_form form);
void soft_cupti_drop_form(void);
extern const struct soft_cu_tool *soft_cupti_tool; /* set when the library is loaded */
uint64_t soft_cupti_now(void);
void soft_cupti_drop_clock(void);
uint32_t soft_cupti_thread_id(void);

/* Callbacks. */
bool soft_cupti_has_callback(int domain, uint32_t id);
void soft_cupti_call_back(int site, struct soft_cu_call *call);
void soft_cupti_call_resource(const struct soft_cu_resource_notice *notice);
void soft_cupti_call_synchronize(const struct soft_cu_call *call);
void soft_cupti_drop_subscriber(void);
/* Return true if the driver function with that number launches GPU activities or waits for them. */
bool soft_cupti_launches(uint32_t number);

int soft_cupti_subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
			 void *user);
int soft_cupti_check_subscriber(const char *function, CUpti_SubscriberHandle subscriber);
/* Kinds of activity, shared by both forms of the API. */
int soft_cupti_enable(int kind);
int soft_cupti_disable(int kind);
int soft_cupti_register(CUpti_BuffersCallbackRequestFunc requested,
			CUpti_BuffersCallbackCompleteFunc completed);

/* Records. soft_cupti_add_record() copies @size bytes of @record; soft_cupti_request_buffer(),
 * called in the thread of a call, may request a buffer for the record. */
void soft_cupti_add_record(const void *record, size_t size);
void soft_cupti_request_buffer(void);
void soft_cupti_drop_records(void);
size_t soft_cupti_record_bytes(uint32_t kind);
/* Return a copy of the text that lives as long as the process. */
const char *soft_cupti_keep_name(const char *name);

#endif
