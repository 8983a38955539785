/* SPDX-License-Identifier: MIT */
/* Intel PTI's callback API on gputap: be called before and after calls of Level Zero and OpenCL.
 * Link with -lpti_callback (pkg-config gputap-pti).
 *
 * It has two forms, and a program may have files of either:
 *   as proposed (intel/pti-gpu issue 82), which this header declares: every function of each
 *       driver, with its arguments, switched on one by one; critical events
 *   as shipped (PTI 1.0 to 1.2), if PTI_CALLBACK_SHIPPED is defined before: GPU operations that
 *       are appended and completed, kernels that are created and destroyed, internal events. A
 *       file that was compiled with Intel's own header is of this form.
 * The functions of both have the same names. Those of the proposed form are symbols of their own,
 * NAME_proposed; the plain symbols are the shipped form's.
 *
 * Types of PTI's that are not of its callback API (pti_result, ..) come from Intel's headers where
 * these are found, else from here.
 *
 * For all functions:
 *   - Return: PTI_SUCCESS; PTI_ERROR_BAD_ARGUMENT for NULL, for a subscriber that is gone or never
 *     was, for a domain or group that does not exist; nothing is half done then.
 *   - Any may be called from any thread, and inside any callback. Not in a signal's handler.
 *   - Callbacks run in the thread that makes the call; for several subscribers in the order of
 *     their subscriptions on ENTER, in the reverse order on EXIT. Calls that a callback makes are
 *     notified like the program's.
 *   - A subscriber that got ENTER gets EXIT, unless it has unsubscribed. */
#ifndef PTI_CALLBACK_H
#define PTI_CALLBACK_H

#include <stdint.h>

/* Intel's own file of this name, if it comes later, has nothing to add. */
#define PTI_CALLBACK_H_

#if defined(__has_include)
#if __has_include("pti/pti_view.h")
#include "pti/pti_view.h"
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef INCLUDE_PTI_H_
typedef enum {
	PTI_SUCCESS = 0,
	PTI_STATUS_END_OF_BUFFER = 1,
	PTI_ERROR_NOT_IMPLEMENTED = 2,
	PTI_ERROR_BAD_ARGUMENT = 3,
	PTI_ERROR_NO_CALLBACKS_SET = 4,
	PTI_ERROR_EXTERNAL_ID_QUEUE_EMPTY = 5,
	PTI_ERROR_BAD_TIMESTAMP = 6,
	PTI_ERROR_BAD_API_ID = 7,
	PTI_ERROR_NO_GPU_VIEWS_ENABLED = 8,
	PTI_ERROR_DRIVER = 50,
	PTI_ERROR_TRACING_NOT_INITIALIZED = 51,
	PTI_ERROR_L0_LOCAL_PROFILING_NOT_SUPPORTED = 52,
	PTI_ERROR_INTERNAL = 200,
	PTI_RESULT_FORCE_UINT32 = 0x7fffffff
} pti_result;

typedef void *pti_device_handle_t;
typedef void *pti_backend_ctx_t;
typedef void *pti_backend_queue_t;
typedef void *pti_backend_evt_t;
typedef void *pti_backend_command_list_t;
typedef void *pti_backend_kernel_t;
typedef void *pti_backend_module_t;
#endif

#ifndef INCLUDE_PTI_VIEW_H_
typedef enum _pti_api_group_id {
	PTI_API_GROUP_RESERVED = 0,
	PTI_API_GROUP_LEVELZERO = 1,
	PTI_API_GROUP_OPENCL = 2,
	PTI_API_GROUP_SYCL = 3,
	PTI_API_GROUP_ALL = 0x7fffffff /* as input only */
} pti_api_group_id;
#endif

/* What a critical event is called, beside pti_result: records, or notifications of work, are
 * lost. */
#define PTI_ERROR_RECORDS_LOST ((pti_result)1000)

#ifndef PTI_CALLBACK_SHIPPED

/* As proposed --------------------------------------------------------------------------- */

typedef struct _pti_callback_subscriber *pti_callback_subscriber;

/* Of a function in its group: pti_driver_levelzero_api_ids.h, pti_driver_opencl_api_ids.h,
 * pti_runtime_sycl_api_ids.h. */
typedef uint32_t pti_api_id;

typedef enum _pti_callback_domain {
	PTI_DOMAIN_INVALID = 0,
	PTI_DOMAIN_DRIVER_API = 1,
	PTI_DOMAIN_RUNTIME_API = 2, /* SYCL's Unified Runtime */
	PTI_DOMAIN_PTI_CRITICAL_EVENT = 3
} pti_callback_domain;

typedef enum _pti_callback_site { PTI_SITE_ENTER = 0, PTI_SITE_EXIT = 1 } pti_callback_site;

/* Valid during the callback; _api_name and _kernel_name stay. */
typedef struct _pti_apicall_callback_data {
	pti_callback_site _site;
	const char *_api_name;
	/* the arguments, each as in the prototype, as members of one struct; NULL: none */
	const void *_args;
	const char *_kernel_name; /* calls that submit one; else, or where not known, NULL */
	const void *_return_code; /* Level Zero's calls at EXIT: of its status; else NULL */
	pti_backend_ctx_t _backend_context_handle; /* NULL: the call is of none, or not known */
	uint32_t _correlation_id; /* low 32 bits of the number in struct gputap_call */
	uint64_t *_local_data;    /* of this subscriber for this call: 0 at ENTER, kept to EXIT */
} pti_apicall_callback_data;

/* What happened, and where: valid during the callback, which is made in the thread where it
 * happened, maybe inside a call of the driver. Events:
 *   PTI_ERROR_RECORDS_LOST      buffers were full, or work is not notified to its end
 *   PTI_ERROR_BAD_TIMESTAMP     the clock of a device is broken: its time stamps cannot be right
 *   PTI_ERROR_BAD_API_ID        the program obtained a function that is not known: its calls are
 *                               not seen
 *   PTI_ERROR_DRIVER            a driver or a device has failed
 *   PTI_ERROR_INTERNAL          a plug-in or tool has failed; work is not linked to its call
 *   PTI_ERROR_TRACING_NOT_INITIALIZED            a program or library cannot be traced
 *   PTI_ERROR_L0_LOCAL_PROFILING_NOT_SUPPORTED   a queue's work has no times */
typedef struct _pti_critical_event_callback_data {
	pti_result _pti_event;
	char *_message;
} pti_critical_event_callback_data;

/**
 * typedef pti_callback_function - a call begins or has ended, or a critical event
 * @group_id: RESERVED for critical events
 * @api_id:   0 for critical events
 * @cb_data:  pti_apicall_callback_data, or pti_critical_event_callback_data
 */
typedef void (*pti_callback_function)(void *user_data, pti_callback_domain domain,
				      pti_api_group_id group_id, uint32_t api_id, void *cb_data);

#define PTI_PROPOSED(name) __asm__(name "_proposed")

/**
 * ptiCallbackSubscribe() - have @callback called for what is enabled later
 * Return: and PTI_ERROR_INTERNAL: no memory, or 64 subscribers and contexts of tools are there.
 */
pti_result ptiCallbackSubscribe(pti_callback_subscriber *subscriber, pti_callback_function callback,
				void *user_data) PTI_PROPOSED("ptiCallbackSubscribe");

/**
 * ptiCallbackUnsubscribe() - it is not called any more
 * No callback of the subscriber begins any more. It waits for those that run in other threads,
 * five seconds at most, for one that was left by longjmp() never ends. Two are not waited for, and
 * may go on after this has returned: the callback that this is called in, and one that is itself
 * in ptiCallbackUnsubscribe(), so that two that unsubscribe each other do not wait for ever.
 */
pti_result ptiCallbackUnsubscribe(pti_callback_subscriber subscriber);

/**
 * ptiCallbackEnableDomain() - all functions of a domain, or critical events
 * PTI_DOMAIN_RUNTIME_API: Unified Runtime's functions, on adapters of Level Zero (Intel's 2026.2).
 */
pti_result ptiCallbackEnableDomain(uint32_t enable, pti_callback_subscriber subscriber,
				   pti_callback_domain domain)
	PTI_PROPOSED("ptiCallbackEnableDomain");

/**
 * ptiCallbackEnable() - one function
 * Return: and PTI_ERROR_BAD_API_ID: the group has no such function, or has it no more.
 */
pti_result ptiCallbackEnable(uint32_t enable, pti_callback_subscriber subscriber,
			     pti_api_group_id api_group_id, pti_api_id api_id);

#else

/* As shipped ----------------------------------------------------------------------------- */

typedef struct _pti_callback_subscriber *pti_callback_subscriber_handle;

/* Without a comment: PTI_ERROR_NOT_IMPLEMENTED, as in PTI itself. */
typedef enum _pti_callback_domain {
	PTI_CB_DOMAIN_INVALID = 0,
	PTI_CB_DOMAIN_DRIVER_CONTEXT_CREATED = 1,
	PTI_CB_DOMAIN_DRIVER_MODULE_LOADED = 2,
	PTI_CB_DOMAIN_DRIVER_MODULE_UNLOADED = 3,
	PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED = 4, /* pti_callback_gpu_op_data */
	PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_DISPATCHED = 5,
	PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED = 6, /* the same; API_EXIT alone */
	PTI_CB_DOMAIN_DRIVER_HOST_SYNCHRONIZATION = 7,
	PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED = 8,   /* pti_callback_kernel_data */
	PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED = 9, /* the same */
	PTI_CB_DOMAIN_DRIVER_API = 1023,
	PTI_CB_DOMAIN_INTERNAL_THREADS = 1024,
	PTI_CB_DOMAIN_INTERNAL_EVENT = 1025, /* pti_internal_callback_data */
	PTI_CB_DOMAIN_MAX = 0x7fffffff
} pti_callback_domain;

typedef enum _pti_callback_phase {
	PTI_CB_PHASE_INVALID = 0,
	PTI_CB_PHASE_API_ENTER = 1,
	PTI_CB_PHASE_API_EXIT = 2,
	PTI_CB_PHASE_INTERNAL_THREAD_START = 3,
	PTI_CB_PHASE_INTERNAL_THREAD_END = 4,
	PTI_CB_PHASE_INTERNAL_EVENT = 5,
	PTI_CB_PHASE_MAX = 0x7fffffff
} pti_callback_phase;

typedef enum _pti_backend_command_list_type {
	PTI_BACKEND_COMMAND_LIST_TYPE_UNKNOWN = 1,
	PTI_BACKEND_COMMAND_LIST_TYPE_IMMEDIATE = 2,
	PTI_BACKEND_COMMAND_LIST_TYPE_MUTABLE = 4,
	PTI_BACKEND_COMMAND_LIST_TYPE_MAX = 0x7fffffff
} pti_backend_command_list_type;

typedef enum _pti_internal_event_type {
	PTI_INTERNAL_EVENT_TYPE_INFO = 0,
	PTI_INTERNAL_EVENT_TYPE_WARNING = 1,
	PTI_INTERNAL_EVENT_TYPE_CRITICAL = 2,
	PTI_INTERNAL_EVENT_TYPE_MAX = 0x7fffffff
} pti_internal_event_type;

typedef enum _pti_gpu_operation_kind {
	PTI_GPU_OPERATION_KIND_INVALID = 0,
	PTI_GPU_OPERATION_KIND_KERNEL = 1,
	PTI_GPU_OPERATION_KIND_MEMORY = 2,
	PTI_GPU_OPERATION_KIND_OTHER = 3,
	PTI_GPU_OPERATION_KIND_MAX = 0x7fffffff
} pti_gpu_operation_kind;

typedef struct _pti_gpu_op_details {
	pti_gpu_operation_kind _operation_kind;
	uint64_t _operation_id;  /* unique in the process; of a list's command: in each run of it */
	uint64_t _kernel_handle; /* number of the kernel's object in the driver; 0: none */
	const char *_name;
} pti_gpu_op_details;

typedef struct _pti_callback_gpu_op_data {
	pti_callback_domain _domain;
	pti_backend_command_list_type _cmd_list_properties;
	pti_backend_command_list_t _cmd_list_handle;
	pti_backend_queue_t _queue_handle;
	pti_device_handle_t _device_handle;
	pti_callback_phase _phase;
	uint32_t _return_code; /* at EXIT */
	uint32_t _correlation_id;
	uint32_t _operation_count;
	pti_gpu_op_details *_operation_details;
} pti_callback_gpu_op_data;

typedef struct _pti_callback_kernel_data {
	pti_callback_domain _domain;
	pti_callback_phase _phase;
	uint32_t _return_code; /* at EXIT */
	uint32_t _correlation_id;
	uint64_t _kernel_handle;
	pti_backend_kernel_t _device_kernel_handle; /* created: at EXIT */
	pti_device_handle_t _device_handle;
	pti_backend_module_t _module_handle; /* created */
	const char *_name;                   /* created */
} pti_callback_kernel_data;

typedef struct _pti_internal_callback_data {
	pti_callback_domain _domain;
	pti_callback_phase _phase;
	uint32_t _detail; /* pti_internal_event_type */
	const char *_message;
} pti_internal_callback_data;

/** @instance_user_data: of this subscriber for this call: NULL at ENTER, kept to EXIT */
typedef void (*pti_callback_function)(pti_callback_domain domain,
				      pti_api_group_id driver_api_group_id, uint32_t driver_api_id,
				      pti_backend_ctx_t backend_context, void *cb_data,
				      void *global_user_data, void **instance_user_data);

pti_result ptiCallbackSubscribe(pti_callback_subscriber_handle *subscriber,
				pti_callback_function callback, void *user_data);
pti_result ptiCallbackUnsubscribe(pti_callback_subscriber_handle subscriber);

/** @enter_cb, @exit_cb: 0 or 1; COMPLETED and INTERNAL_EVENT are one callback: either is enough */
pti_result ptiCallbackEnableDomain(pti_callback_subscriber_handle subscriber,
				   pti_callback_domain domain, uint32_t enter_cb, uint32_t exit_cb);
pti_result ptiCallbackDisableDomain(pti_callback_subscriber_handle subscriber,
				    pti_callback_domain domain);
pti_result ptiCallbackDisableAllDomains(pti_callback_subscriber_handle subscriber);

/** Their names as they are written here; "INVALID" for others */
const char *ptiCallbackDomainTypeToString(pti_callback_domain domain);
const char *ptiCallbackPhaseTypeToString(pti_callback_phase phase);

#endif

#ifdef __cplusplus
}
#endif

#endif
