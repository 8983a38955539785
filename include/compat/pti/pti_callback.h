/* SPDX-License-Identifier: MIT */
/* Intel PTI's callback API on gputap: callbacks before and after calls of Level Zero and OpenCL.
 * Link with -lpti_callback (pkg-config gputap-pti).
 *
 * The API has two forms. One program may contain source files of both forms:
 *   as proposed (intel/pti-gpu issue 82), the default of this header: callbacks for each driver
 *       function, enabled one by one, with the call's arguments; critical events
 *   as shipped (PTI 1.0 to 1.2), if PTI_CALLBACK_SHIPPED is defined before the header is included:
 *       appended and completed GPU operations, created and destroyed kernels, internal events.
 *       Files compiled with Intel's own header use this form.
 * Functions of both forms have the same name in C. The library exports the shipped form as NAME and
 * the proposed form as NAME_proposed. ptiCallbackUnsubscribe() serves both forms.
 *
 * PTI types outside the callback API (pti_result and others) come from Intel's headers if the
 * compiler finds them, otherwise from this header.
 *
 * For all functions:
 *   - Return: PTI_SUCCESS; PTI_ERROR_BAD_ARGUMENT for NULL, for an invalid or removed subscriber,
 *     or for a domain or group that does not exist. A call that fails changes nothing.
 *   - Functions may be called from any thread and inside any callback, but not in a signal handler.
 *   - Callbacks run in the thread that makes the call: on ENTER in the order in which subscribers
 *     subscribed, on EXIT in the reverse order. Subscribers are also notified of calls that a
 *     callback makes.
 *   - A subscriber that is notified of ENTER is also notified of EXIT, unless it has
 *     unsubscribed. */
#ifndef PTI_CALLBACK_H
#define PTI_CALLBACK_H

#include <stdint.h>

/* Disable Intel's header of the same name in case it is included later. */
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
	PTI_API_GROUP_ALL = 0x7fffffff /* valid only as an argument */
} pti_api_group_id;
#endif

/* Critical event that PTI does not define: records, or notifications of GPU activities, were
 * lost. */
#define PTI_ERROR_RECORDS_LOST ((pti_result)1000)

#ifndef PTI_CALLBACK_SHIPPED

/* As proposed --------------------------------------------------------------------------- */

typedef struct _pti_callback_subscriber *pti_callback_subscriber;

/* Id of a function, unique within its group. Defined in pti_driver_levelzero_api_ids.h,
 * pti_driver_opencl_api_ids.h and pti_runtime_sycl_api_ids.h. */
typedef uint32_t pti_api_id;

typedef enum _pti_callback_domain {
	PTI_DOMAIN_INVALID = 0,
	PTI_DOMAIN_DRIVER_API = 1,
	PTI_DOMAIN_RUNTIME_API = 2, /* SYCL's Unified Runtime */
	PTI_DOMAIN_PTI_CRITICAL_EVENT = 3
} pti_callback_domain;

typedef enum _pti_callback_site { PTI_SITE_ENTER = 0, PTI_SITE_EXIT = 1 } pti_callback_site;

/* A call. Valid during the callback; _api_name and _kernel_name stay valid. */
typedef struct _pti_apicall_callback_data {
	pti_callback_site _site;
	const char *_api_name;
	/* struct of the arguments, with types as in the prototype; NULL: none */
	const void *_args;
	const char *_kernel_name; /* kernel that the call submits; NULL: none, or not known */
	const void *_return_code; /* Level Zero, EXIT: address of the status; otherwise NULL */
	/* handle of the context; NULL: none, or not known */
	pti_backend_ctx_t _backend_context_handle;
	uint32_t _correlation_id; /* low 32 bits of gputap_call.correlation */
	/* subscriber's data for this call: 0 at ENTER, retained until EXIT */
	uint64_t *_local_data;
} pti_apicall_callback_data;

/* A critical event. Valid during the callback, which runs in the thread in which the event
 * occurred, possibly inside a call of the driver. Events:
 *   PTI_ERROR_RECORDS_LOST      buffers were full, or subscribers are not notified of the end of
 *                               some GPU activities
 *   PTI_ERROR_BAD_TIMESTAMP     a device's clock is broken, so its time stamps are invalid
 *   PTI_ERROR_BAD_API_ID        the program obtained an unknown function, whose calls are not
 *                               traced
 *   PTI_ERROR_DRIVER            a driver or a device has failed
 *   PTI_ERROR_INTERNAL          a plug-in or tool has failed; GPU activities are not linked to
 *                               their calls
 *   PTI_ERROR_TRACING_NOT_INITIALIZED            a program or library cannot be traced
 *   PTI_ERROR_L0_LOCAL_PROFILING_NOT_SUPPORTED   a queue's GPU activities have no times */
typedef struct _pti_critical_event_callback_data {
	pti_result _pti_event;
	char *_message;
} pti_critical_event_callback_data;

/**
 * typedef pti_callback_function - receive the start or end of a call, or a critical event
 * @group_id: RESERVED for critical events
 * @api_id:   0 for critical events
 * @cb_data:  pti_apicall_callback_data, or pti_critical_event_callback_data
 */
typedef void (*pti_callback_function)(void *user_data, pti_callback_domain domain,
				      pti_api_group_id group_id, uint32_t api_id, void *cb_data);

#define PTI_PROPOSED(name) __asm__(name "_proposed")

/**
 * ptiCallbackSubscribe() - add a subscriber without enabled functions or events
 * @callback: called for the functions and events that are enabled later
 * Return: also PTI_ERROR_INTERNAL: out of memory, or there are already 64 subscribers and tool
 *         contexts together.
 */
pti_result ptiCallbackSubscribe(pti_callback_subscriber *subscriber, pti_callback_function callback,
				void *user_data) PTI_PROPOSED("ptiCallbackSubscribe");

/**
 * ptiCallbackUnsubscribe() - remove a subscriber
 * No callback of the subscriber starts after this call. The function waits until callbacks in other
 * threads have returned, for at most five seconds, because a callback that longjmp() left never
 * returns. It does not wait for two kinds of callbacks, which may still run after it has returned:
 *   - the callback that calls this function
 *   - a callback that is itself in ptiCallbackUnsubscribe(), because two callbacks that unsubscribe
 *     each other would deadlock
 */
pti_result ptiCallbackUnsubscribe(pti_callback_subscriber subscriber);

/**
 * ptiCallbackEnableDomain() - enable or disable all functions of a domain, or critical events
 * @domain: PTI_DOMAIN_RUNTIME_API covers the functions of Unified Runtime on its Level Zero
 *          adapters (Intel's release 2026.2)
 */
pti_result ptiCallbackEnableDomain(uint32_t enable, pti_callback_subscriber subscriber,
				   pti_callback_domain domain)
	PTI_PROPOSED("ptiCallbackEnableDomain");

/**
 * ptiCallbackEnable() - enable or disable one function
 * Return: also PTI_ERROR_BAD_API_ID: the group does not contain the function or no longer contains
 *         it.
 */
pti_result ptiCallbackEnable(uint32_t enable, pti_callback_subscriber subscriber,
			     pti_api_group_id api_group_id, pti_api_id api_id);

#else

/* As shipped ----------------------------------------------------------------------------- */

typedef struct _pti_callback_subscriber *pti_callback_subscriber_handle;

/* The comment of a domain names the type of cb_data. Domains without a comment return
 * PTI_ERROR_NOT_IMPLEMENTED, as in PTI itself. */
typedef enum _pti_callback_domain {
	PTI_CB_DOMAIN_INVALID = 0,
	PTI_CB_DOMAIN_DRIVER_CONTEXT_CREATED = 1,
	PTI_CB_DOMAIN_DRIVER_MODULE_LOADED = 2,
	PTI_CB_DOMAIN_DRIVER_MODULE_UNLOADED = 3,
	PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED = 4, /* pti_callback_gpu_op_data */
	PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_DISPATCHED = 5,
	PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED = 6, /* pti_callback_gpu_op_data; only EXIT */
	PTI_CB_DOMAIN_DRIVER_HOST_SYNCHRONIZATION = 7,
	PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED = 8,   /* pti_callback_kernel_data */
	PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED = 9, /* pti_callback_kernel_data */
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
	/* unique in the process; a command in a command list keeps its id each time the list is
	 * executed */
	uint64_t _operation_id;
	uint64_t _kernel_handle; /* number of the driver's kernel object; 0: none */
	const char *_name;
} pti_gpu_op_details;

typedef struct _pti_callback_gpu_op_data {
	pti_callback_domain _domain;
	pti_backend_command_list_type _cmd_list_properties;
	pti_backend_command_list_t _cmd_list_handle;
	pti_backend_queue_t _queue_handle;
	pti_device_handle_t _device_handle;
	pti_callback_phase _phase;
	uint32_t _return_code; /* set at EXIT */
	uint32_t _correlation_id;
	uint32_t _operation_count;
	pti_gpu_op_details *_operation_details;
} pti_callback_gpu_op_data;

typedef struct _pti_callback_kernel_data {
	pti_callback_domain _domain;
	pti_callback_phase _phase;
	uint32_t _return_code; /* set at EXIT */
	uint32_t _correlation_id;
	uint64_t _kernel_handle;
	pti_backend_kernel_t _device_kernel_handle; /* KERNEL_CREATED: set at EXIT */
	pti_device_handle_t _device_handle;
	pti_backend_module_t _module_handle; /* set for KERNEL_CREATED */
	const char *_name;                   /* set for KERNEL_CREATED */
} pti_callback_kernel_data;

typedef struct _pti_internal_callback_data {
	pti_callback_domain _domain;
	pti_callback_phase _phase;
	uint32_t _detail; /* pti_internal_event_type */
	const char *_message;
} pti_internal_callback_data;

/** @instance_user_data: the subscriber's data for this call: NULL at ENTER, retained until EXIT */
typedef void (*pti_callback_function)(pti_callback_domain domain,
				      pti_api_group_id driver_api_group_id, uint32_t driver_api_id,
				      pti_backend_ctx_t backend_context, void *cb_data,
				      void *global_user_data, void **instance_user_data);

pti_result ptiCallbackSubscribe(pti_callback_subscriber_handle *subscriber,
				pti_callback_function callback, void *user_data);
pti_result ptiCallbackUnsubscribe(pti_callback_subscriber_handle subscriber);

/** @enter_cb, @exit_cb: 0 or 1. COMPLETED and INTERNAL_EVENT have one callback, which either of
 * them enables */
pti_result ptiCallbackEnableDomain(pti_callback_subscriber_handle subscriber,
				   pti_callback_domain domain, uint32_t enter_cb, uint32_t exit_cb);
pti_result ptiCallbackDisableDomain(pti_callback_subscriber_handle subscriber,
				    pti_callback_domain domain);
pti_result ptiCallbackDisableAllDomains(pti_callback_subscriber_handle subscriber);

/** Return the name of an enumerator as spelled above, or "INVALID" for an unknown value. */
const char *ptiCallbackDomainTypeToString(pti_callback_domain domain);
const char *ptiCallbackPhaseTypeToString(pti_callback_phase phase);

#endif

#ifdef __cplusplus
}
#endif

#endif
