/* SPDX-License-Identifier: MIT */
/* A test tool for PTI's callback API in its shipped form: prints its notifications to stderr.
 * PTI_SHIPPED contains letters for the requested domains: a(ppended), d(one), c(reated),
 * r(eleased), i(nternal events). */
#define PTI_CALLBACK_SHIPPED
#include <inttypes.h>
#include <pti/pti_callback.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *phase_name(pti_callback_phase phase)
{
	return strrchr(ptiCallbackPhaseTypeToString(phase), '_') + 1;
}

static void print_operations(const char *what, uint32_t function, const pti_callback_gpu_op_data *d)
{
	for (uint32_t i = 0; i < d->_operation_count; i++) {
		const pti_gpu_op_details *op = &d->_operation_details[i];

		fprintf(stderr,
			"%s %s function=%u kind=%d id=%" PRIu64 " kernel=%" PRIu64
			" return=%u correlation=%u list=%d/%d queue=%d device=%d name=%s\n",
			what, phase_name(d->_phase), function, (int)op->_operation_kind,
			op->_operation_id, op->_kernel_handle, d->_return_code, d->_correlation_id,
			d->_cmd_list_handle != NULL, (int)d->_cmd_list_properties,
			d->_queue_handle != NULL, d->_device_handle != NULL,
			op->_name ? op->_name : "-");
	}
}

static void print_kernel(const char *what, pti_api_group_id group, pti_backend_ctx_t context,
			 const pti_callback_kernel_data *d)
{
	fprintf(stderr,
		"%s %s group=%d context=%d return=%d correlation=%d kernel=%" PRIu64
		" handle=%d device=%d module=%d name=%s\n",
		what, phase_name(d->_phase), (int)group, context != NULL, (int)d->_return_code,
		d->_correlation_id != 0, d->_kernel_handle, d->_device_kernel_handle != NULL,
		d->_device_handle != NULL, d->_module_handle != NULL, d->_name ? d->_name : "-");
}

static void on_callback(pti_callback_domain domain, pti_api_group_id group, uint32_t id,
			pti_backend_ctx_t context, void *data, void *user, void **instance)
{
	const pti_internal_callback_data *event = data;

	(void)user, (void)instance;
	switch (domain) {
	case PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED:
		print_operations("appended", id, data);
		break;
	case PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED:
		print_operations("completed", id, data);
		break;
	case PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED:
		print_kernel("created", group, context, data);
		break;
	case PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED:
		print_kernel("destroyed", group, context, data);
		break;
	default: fprintf(stderr, "internal %u %s\n", event->_detail, event->_message); break;
	}
}

__attribute__((constructor)) static void begin(void)
{
	static const struct {
		char letter;
		pti_callback_domain domain;
	} domains[] = {{'a', PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_APPENDED},
		       {'d', PTI_CB_DOMAIN_DRIVER_GPU_OPERATION_COMPLETED},
		       {'c', PTI_CB_DOMAIN_DRIVER_KERNEL_CREATED},
		       {'r', PTI_CB_DOMAIN_DRIVER_KERNEL_DESTROYED},
		       {'i', PTI_CB_DOMAIN_INTERNAL_EVENT}};
	const char *letters = getenv("PTI_SHIPPED") ? getenv("PTI_SHIPPED") : "";
	pti_callback_subscriber_handle s;

	if (ptiCallbackSubscribe(&s, on_callback, NULL) != PTI_SUCCESS)
		fprintf(stderr, "not subscribed\n");
	for (unsigned i = 0; i < sizeof domains / sizeof *domains; i++)
		if (strchr(letters, domains[i].letter) &&
		    ptiCallbackEnableDomain(s, domains[i].domain, 1, 1) != PTI_SUCCESS)
			fprintf(stderr, "not enabled: %c\n", domains[i].letter);
}
