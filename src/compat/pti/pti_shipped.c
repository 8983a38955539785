/* SPDX-License-Identifier: MIT */
/* PTI's callback API in the form of PTI 1.0 to 1.2: appended and completed GPU operations, created
 * and destroyed kernels, internal events.
 *
 * An operation's id is the correlation of the call that appended the operation. A call that
 * launches several kernels with one command (zeCommandListAppendLaunchMultipleKernelsIndirect)
 * appends one operation, because the command is one GPU activity. The operation has the names of
 * all kernels, and no kernel handle. */
#define PTI_CALLBACK_SHIPPED
#include <pti/pti_callback.h>
#include <stdlib.h>
#include <string.h>

#include "pti.h"
#include "pti_lists.h"

enum { TEXT_BYTES = 512 };

/* Indexes in pti_subscriber.phases, and bits of its elements: ENABLED, and the wanted phases. */
enum { APPENDED, COMPLETED, CREATED, DESTROYED, EVENTS };
enum { ENABLED = 1, ENTER = 2, LEAVE = 4 };
_Static_assert(EVENTS + 1 == PTI_SHIPPED_DOMAINS, "one place for each domain");

static bool wants(const struct pti_subscriber *s, int place, bool enters)
{
	uint8_t phases = atomic_load_explicit(&s->phases[place], memory_order_relaxed);

	return phases & (enters ? ENTER : LEAVE);
}

static bool is_enter(const struct gputap_call *call)
{
	return call->phase == GPUTAP_CALL_PHASE_ENTER;
}

static pti_callback_phase phase_of(const struct gputap_call *call)
{
	return is_enter(call) ? PTI_CB_PHASE_API_ENTER : PTI_CB_PHASE_API_EXIT;
}

static uint32_t status_of(const struct gputap_call *call)
{
	int32_t status = 0;

	return call->phase == GPUTAP_CALL_PHASE_EXIT && gputap_call_has_failed(call, &status) >= 0
		       ? (uint32_t)status
		       : 0;
}

static void call_back(const struct pti_subscriber *s, pti_callback_domain domain, uint32_t group,
		      uint32_t id, void *context, void *cb_data, uint64_t *data)
{
	const pti_callback_function fn = (pti_callback_function)s->callback;

	fn(domain, (pti_api_group_id)group, id, context, cb_data, s->user, (void **)(void *)data);
}

/* Appended ----------------------------------------------------------------------------------- */

static void notify_appended(const struct pti_subscriber *s, const struct pti_operation *op,
			    const struct gputap_call *call, uint64_t *data)
{
	const bool is_opencl = call->domain == GPUTAP_DOMAIN_OPENCL;
	void *to = pti_argument(call, 0);
	const struct pti_handle *h = pti_handle_find(is_opencl ? PTI_QUEUE : PTI_LIST, to);
	const bool is_immediate = h && atomic_load(&h->immediate);
	const struct pti_handle *kernel = pti_kernel_of(op, call);
	pti_gpu_op_details details = {
		._operation_kind = (pti_gpu_operation_kind)op->appended,
		._operation_id = call->correlation,
		._kernel_handle = kernel ? atomic_load(&kernel->number) : 0,
		._name = pti_appended_name(op, call),
	};
	pti_callback_gpu_op_data d = {
		._domain = PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED,
		._cmd_list_properties = is_immediate ? PTI_BACKEND_COMMAND_LIST_TYPE_IMMEDIATE
						     : PTI_BACKEND_COMMAND_LIST_TYPE_UNKNOWN,
		._cmd_list_handle = is_opencl ? NULL : to,
		._queue_handle = is_opencl || is_immediate ? to : NULL,
		._device_handle = h ? atomic_load(&h->device) : NULL,
		._phase = phase_of(call),
		._return_code = status_of(call),
		._correlation_id = (uint32_t)call->correlation,
		._operation_count = 1,
		._operation_details = &details,
	};

	call_back(s, d._domain, pti_group_of(call->domain), op->id, pti_context_of(op, call), &d,
		  data);
}

/* Kernels ------------------------------------------------------------------------------------ */

static void set_kernel(pti_callback_kernel_data *d, void *handle)
{
	const struct pti_handle *kernel = pti_handle_find(PTI_KERNEL, handle);

	d->_device_kernel_handle = handle;
	d->_kernel_handle = kernel ? atomic_load(&kernel->number) : 0;
	if (kernel && !d->_device_handle)
		d->_device_handle = atomic_load(&kernel->device);
}

/* Call the callback once at ENTER, and once without a handle at EXIT of a failed call. At EXIT of a
 * call that has created kernels, call the callback once for each kernel. */
static void notify_created(const struct pti_subscriber *s, const struct pti_operation *op,
			   const struct gputap_call *call, uint64_t *data,
			   pti_callback_kernel_data *d)
{
	const struct pti_handle *parent =
		pti_handle_find((enum pti_kind)op->parent, pti_argument(call, 0));
	void *const *made = NULL;
	uint32_t count = 0;

	d->_module_handle = op->parent == PTI_MODULE ? pti_argument(call, 0)
			    : parent                 ? atomic_load(&parent->module)
						     : NULL;
	d->_name = pti_kernel_name_of_made(call);
	d->_device_handle = parent ? atomic_load(&parent->device) : NULL;
	if (call->phase == GPUTAP_CALL_PHASE_EXIT && d->_return_code == 0)
		made = pti_made_by(op, call, &count);
	for (uint32_t i = 0; i < count || i == 0; i++) {
		if (i < count)
			set_kernel(d, made[i]);
		call_back(s, d->_domain, pti_group_of(call->domain), op->id,
			  pti_context_of(op, call), d, data);
	}
}

static void notify_kernel(const struct pti_subscriber *s, const struct pti_operation *op,
			  const struct gputap_call *call, uint64_t *data)
{
	pti_callback_kernel_data d = {
		._domain = op->made == PTI_KERNEL ? PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED
						  : PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED,
		._phase = phase_of(call),
		._return_code = status_of(call),
		._correlation_id = (uint32_t)call->correlation,
	};

	if (op->made == PTI_KERNEL) {
		notify_created(s, op, call, data, &d);
		return;
	}
	set_kernel(&d, pti_argument(call, 0));
	call_back(s, d._domain, pti_group_of(call->domain), op->id, pti_context_of(op, call), &d,
		  data);
}

/* Return true if the call creates kernels. Without an address for kernels,
 * clCreateKernelsInProgram() only queries the number of kernels. */
static bool is_created(const struct pti_operation *op, const struct gputap_call *call)
{
	return op->made == PTI_KERNEL &&
	       (op->made_at < 0 || pti_argument(call, (unsigned)op->made_at));
}

static void notify_call(const struct gputap_call *call, uint64_t *data, void *subscriber)
{
	const struct pti_subscriber *s = subscriber;
	const struct pti_operation *op = pti_operation_of(call->domain, call->operation);

	if (op->appended) {
		if (wants(s, APPENDED, is_enter(call)))
			notify_appended(s, op, call, data);
	} else if (is_created(op, call)) {
		if (wants(s, CREATED, is_enter(call)))
			notify_kernel(s, op, call, data);
	} else if (pti_kernel_is_destroyed(op, call) && wants(s, DESTROYED, is_enter(call))) {
		notify_kernel(s, op, call, data);
	}
}

/* Completed ---------------------------------------------------------------------------------- */

static pti_gpu_operation_kind kind_of(const struct gputap_activity *activity)
{
	switch (activity->type) {
	case GPUTAP_ACTIVITY_KERNEL:
	case GPUTAP_ACTIVITY_NATIVE: return PTI_GPU_OPERATION_KIND_KERNEL;
	case GPUTAP_ACTIVITY_MARKER:
	case GPUTAP_ACTIVITY_BARRIER:
	case GPUTAP_ACTIVITY_COMMAND_BUFFER:
	case GPUTAP_ACTIVITY_OTHER: return PTI_GPU_OPERATION_KIND_OTHER;
	default: return PTI_GPU_OPERATION_KIND_MEMORY;
	}
}

/* Report a completion. As in PTI, the function id is the id of the call in which this thread
 * learned of the completion. In a gputap thread, it is the id of the call that appended the
 * operation. */
static void notify_completed(const struct pti_subscriber *s, const struct gputap_activity *activity,
			     const struct pti_append *append)
{
	const uint32_t group = pti_group_of(activity->domain), collecting = pti_collecting(group);
	void *to = (void *)(uintptr_t)activity->queue_handle;
	const struct pti_handle *list = pti_handle_find(PTI_LIST, to);
	const struct pti_handle *h = list ? list : pti_handle_find(PTI_QUEUE, to);
	const char *name = append->name ? append->name : activity->name;
	uint64_t data = 0;
	pti_gpu_op_details details = {
		._operation_kind = kind_of(activity),
		._operation_id = append->id ? append->id : activity->correlation,
		._kernel_handle = append->kernel,
		._name = name ? name : gputap_activity_name(activity->type),
	};
	pti_callback_gpu_op_data d = {
		._domain = PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED,
		._cmd_list_properties = list ? PTI_BACKEND_COMMAND_LIST_TYPE_IMMEDIATE
					     : PTI_BACKEND_COMMAND_LIST_TYPE_UNKNOWN,
		._cmd_list_handle = list ? to : NULL,
		._queue_handle = to,
		._device_handle = (void *)(uintptr_t)activity->device_handle,
		._phase = PTI_CB_PHASE_API_EXIT,
		._return_code =
			activity->status < 0 && activity->status != -61 /* -ENODATA: no times */
				? (uint32_t)activity->status
				: 0,
		._correlation_id = (uint32_t)activity->correlation,
		._operation_count = 1,
		._operation_details = &details,
	};

	call_back(s, d._domain, group, collecting ? collecting : append->function,
		  h ? atomic_load(&h->context) : NULL, &d, &data);
}

/* *data points to a copy of the activity's append, valid from ENTER to COMPLETE. */
static void notify_activity(const struct gputap_activity *activity, uint64_t *data,
			    void *subscriber)
{
	const struct pti_subscriber *s = subscriber;
	const struct pti_append unknown = {0};
	struct pti_append *append = (struct pti_append *)(uintptr_t)*data;

	if (activity->phase == GPUTAP_ACTIVITY_PHASE_ENTER) {
		append = malloc(sizeof *append);
		if (append)
			*append = pti_append_of(activity);
		*data = (uintptr_t)append;
	} else if (activity->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE) {
		if (atomic_load(&s->phases[COMPLETED]) & ENABLED)
			notify_completed(s, activity, append ? append : &unknown);
		free(append);
	}
}

/* Request GPU activities. Only the first call does so, and the request is permanent.
 * notify_activity() skips activities that are no longer wanted. */
static uint32_t follow_activity(struct pti_subscriber *s)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = s->activity ? 0 : gputap_context_create(&opts, &s->activity);

	if (rc || gputap_context_is_active(s->activity))
		return rc ? PTI_FAILED : PTI_OK;
	rc = gputap_context_activities(s->activity, GPUTAP_DOMAIN_LEVEL_ZERO, GPUTAP_ACTIVITY_ALL,
				       notify_activity, s);
	rc = rc ? rc
		: gputap_context_activities(s->activity, GPUTAP_DOMAIN_OPENCL, GPUTAP_ACTIVITY_ALL,
					    notify_activity, s);
	rc = rc ? rc : gputap_context_start(s->activity);
	if (rc) {
		gputap_context_destroy(s->activity);
		s->activity = NULL;
	}
	return rc ? PTI_FAILED : PTI_OK;
}

/* Events ------------------------------------------------------------------------------------- */

static pti_internal_event_type severity_of(uint32_t code)
{
	switch (code) {
	case GPUTAP_EVENT_LOSS:
	case GPUTAP_EVENT_CLOCK:
	case GPUTAP_EVENT_FAULT:
	case GPUTAP_EVENT_TOOL:
	case GPUTAP_EVENT_UNKNOWN_ENTRY:
	case GPUTAP_EVENT_NOT_TRACED: return PTI_INTERNAL_EVENT_TYPE_CRITICAL;
	default: return PTI_INTERNAL_EVENT_TYPE_WARNING;
	}
}

static void notify_event(struct pti_subscriber *s, const struct gputap_event *event)
{
	char text[TEXT_BYTES];
	uint64_t data = 0;
	pti_internal_callback_data d = {PTI_CB_DOMAIN_INTERNAL_EVENT, PTI_CB_PHASE_INTERNAL_EVENT,
					severity_of(event->code), text};

	pti_event_text(event, text, sizeof text);
	call_back(s, d._domain, PTI_API_GROUP_RESERVED, 0, NULL, &d, &data);
}

/* Functions ------------------------------------------------------------------------------------ */

static const struct pti_form shipped = {notify_call, notify_event};

PTI_EXPORT pti_result ptiCallbackSubscribe(pti_callback_subscriber_handle *subscriber,
					   pti_callback_function callback, void *user_data)
{
	return (pti_result)pti_subscriber_create((void **)subscriber, &shipped,
						 (void (*)(void))callback, user_data);
}

/* Return the domain's index in phases[], or a negative value if the domain has no callbacks or is
 * invalid.
 * NEEDSWORK: contexts, modules, dispatches, host waits, calls and threads have no callbacks:
 * PTI_ERROR_NOT_IMPLEMENTED, as in PTI 1.2, whose header has no data for most of them. */
static int place_of(pti_callback_domain domain)
{
	switch (domain) {
	case PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED: return APPENDED;
	case PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED: return COMPLETED;
	case PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED: return CREATED;
	case PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED: return DESTROYED;
	case PTI_CB_DOMAIN_INTERNAL_EVENT: return EVENTS;
	default: return -1;
	}
}

static bool is_domain(pti_callback_domain domain)
{
	return strcmp(ptiCallbackDomainTypeToString(domain), "INVALID") != 0 &&
	       domain != PTI_CB_DOMAIN_INVALID && domain != PTI_CB_DOMAIN_MAX;
}

struct selection {
	struct pti_subscriber *s;
	int place;
	bool selected;
	uint32_t result;
};

static int select_operation(uint32_t domain, uint32_t number, const struct pti_operation *op,
			    void *user)
{
	struct selection *w = user;
	bool its = w->place == APPENDED ? op->appended != PTI_APPENDED_NONE
		   : w->place == CREATED
			   ? op->made == PTI_KERNEL && pti_group_of(domain) != PTI_SYCL
			   : pti_kernel_may_be_destroyed(op, domain);

	if (its)
		w->result = pti_subscriber_select(w->s, domain, &number, 1, w->selected);
	return (int)w->result;
}

static uint32_t switch_place(struct pti_subscriber *s, int place, uint8_t phases)
{
	struct selection w = {s, place, phases != 0, PTI_OK};

	if (place == COMPLETED && phases)
		w.result = follow_activity(s);
	else if (place != COMPLETED && place != EVENTS)
		pti_operations_each(select_operation, &w);
	if (w.result != PTI_OK)
		return w.result;
	atomic_store(&s->phases[place], phases);
	if (place == EVENTS)
		atomic_store(&s->events, phases != 0);
	return PTI_OK;
}

PTI_EXPORT pti_result ptiCallbackEnableDomain(pti_callback_subscriber_handle subscriber,
					      pti_callback_domain domain, uint32_t enter_cb,
					      uint32_t exit_cb)
{
	struct pti_subscriber *s = pti_subscriber_get(subscriber, &shipped);
	uint32_t result = is_domain(domain) ? PTI_NOT_IMPLEMENTED : PTI_BAD_ARGUMENT;
	int place = place_of(domain);

	if (!s)
		return PTI_ERROR_BAD_ARGUMENT;
	if (place >= 0 && !enter_cb && !exit_cb && place != COMPLETED)
		result = PTI_BAD_ARGUMENT;
	else if (place >= 0)
		result = pti_lists_start()
				 ? PTI_FAILED
				 : switch_place(s, place,
						(uint8_t)(ENABLED | (enter_cb ? ENTER : 0) |
							  (exit_cb ? LEAVE : 0)));
	pti_subscriber_put();
	return (pti_result)result;
}

PTI_EXPORT pti_result ptiCallbackDisableDomain(pti_callback_subscriber_handle subscriber,
					       pti_callback_domain domain)
{
	struct pti_subscriber *s = pti_subscriber_get(subscriber, &shipped);
	uint32_t result = PTI_BAD_ARGUMENT;
	int place = place_of(domain);

	if (!s)
		return PTI_ERROR_BAD_ARGUMENT;
	if (place >= 0 && atomic_load(&s->phases[place]))
		result = switch_place(s, place, 0);
	pti_subscriber_put();
	return (pti_result)result;
}

PTI_EXPORT pti_result ptiCallbackDisableAllDomains(pti_callback_subscriber_handle subscriber)
{
	struct pti_subscriber *s = pti_subscriber_get(subscriber, &shipped);
	uint32_t result = PTI_OK;

	if (!s)
		return PTI_ERROR_BAD_ARGUMENT;
	for (int place = 0; place < PTI_SHIPPED_DOMAINS && result == PTI_OK; place++)
		if (atomic_load(&s->phases[place]))
			result = switch_place(s, place, 0);
	pti_subscriber_put();
	return (pti_result)result;
}

#define NAME_OF(value) \
	case value: return #value

PTI_EXPORT const char *ptiCallbackDomainTypeToString(pti_callback_domain domain)
{
	switch (domain) {
		NAME_OF(PTI_CB_DOMAIN_INVALID);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_CONTEXT_CREATED);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_MODULE_LOADED);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_MODULE_UNLOADED);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_DISPATCHED);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_HOST_SYNCHRONIZATION);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED);
		NAME_OF(PTI_CB_DOMAIN_DRIVER_API);
		NAME_OF(PTI_CB_DOMAIN_INTERNAL_THREADS);
		NAME_OF(PTI_CB_DOMAIN_INTERNAL_EVENT);
		NAME_OF(PTI_CB_DOMAIN_MAX);
	}
	return "INVALID";
}

PTI_EXPORT const char *ptiCallbackPhaseTypeToString(pti_callback_phase phase)
{
	switch (phase) {
		NAME_OF(PTI_CB_PHASE_INVALID);
		NAME_OF(PTI_CB_PHASE_API_ENTER);
		NAME_OF(PTI_CB_PHASE_API_EXIT);
		NAME_OF(PTI_CB_PHASE_INTERNAL_THREAD_START);
		NAME_OF(PTI_CB_PHASE_INTERNAL_THREAD_END);
		NAME_OF(PTI_CB_PHASE_INTERNAL_EVENT);
		NAME_OF(PTI_CB_PHASE_MAX);
	}
	return "INVALID";
}
