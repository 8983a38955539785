/* SPDX-License-Identifier: MIT */
/* Inside of the stand-in for CUPTI: what its files have of each other.
 *
 *   cupti_activity.c  kinds that are on; calls and work become records; Finalize
 *   cupti_callback.c  the subscriber, and what it is called for
 *   cupti_v2.c        the functions _v2
 *   cupti_buffer.c    records on their way into the client's buffers
 *   cupti_layout.c    how long a record is in which version
 *   cupti_attach.c    the driver below, settings, clock, ids
 *
 * Behaviour is what was measured of NVIDIA's library (docs/runtimes/cuda.md says which versions);
 * where it was not measured the comments say so.
 *
 * Locking: one lock for records and buffers (cupti_buffer.c); tables of switches are atomic bytes.
 * No function of the client's is called with a lock held. */
#ifndef SOFT_CUPTI_PARTS_H
#define SOFT_CUPTI_PARTS_H

#include <stdbool.h>

#include "soft/cuda/config.h"
#include "soft/cuda/cupti/cupti_api.h"
#include "soft/cuda/tools.h"

enum { SOFT_CUPTI_NUMBERS = 1024 }; /* callback ids of a domain */

/* The settings: read at the first use. */
extern struct soft_cu_config soft_cupti_config;
bool soft_cupti_fails(enum soft_cupti_fault fault);

/* The driver's table, attached to: 0, or why not. In the child of a fork it says which function was
 * called, and aborts: NVIDIA's hangs there. */
int soft_cupti_attach(const char *function);
/* The same without attaching: for functions that work before. */
int soft_cupti_open(const char *function);
extern const struct soft_cu_tools_table *soft_cupti_table; /* set by both */
/* Functions of the first form and functions _v2 exclude each other until Finalize: whichever comes
 * first. Return: whether the caller's may go on. */
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
/* Whether the driver's function of that number launches work, or waits for it. */
bool soft_cupti_launches(uint32_t number);

int soft_cupti_subscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
			 void *user);
int soft_cupti_check_subscriber(const char *function, CUpti_SubscriberHandle subscriber);
/* Kinds, whichever form asks. */
int soft_cupti_enable(int kind);
int soft_cupti_disable(int kind);
int soft_cupti_register(CUpti_BuffersCallbackRequestFunc requested,
			CUpti_BuffersCallbackCompleteFunc completed);

/* Records: soft_cupti_add_record() copies @size bytes of @record; its buffer may be asked for by
 * soft_cupti_request_buffer(), in the thread of a call. */
void soft_cupti_add_record(const void *record, size_t size);
void soft_cupti_request_buffer(void);
void soft_cupti_drop_records(void);
size_t soft_cupti_record_bytes(uint32_t kind);
/* The same text as long as the process lives. */
const char *soft_cupti_keep_name(const char *name);

#endif
