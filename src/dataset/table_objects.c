/* SPDX-License-Identifier: MIT */
/* Tables `devices` and `queues`. */
#include "analysis/model/view.h"
#include "dataset/table_reader.h"
#include "record/operation.h"

/* Devices -------------------------------------------------------------------------- */

struct device_row {
	int32_t session, device, domain, machine;
	const char *name, *vendor, *uuid, *pci, *driver, *type;
};

static bool build_device(struct reader *r, size_t i, void *out)
{
	const struct gt_capture *c = r->dataset->capture;
	const struct gt_object_info *o = gt_capture_device(c, (uint32_t)i);
	const struct gt_process_info *p = gt_capture_process(c, o->process);
	struct device_row *row = out;

	if (!p || !reader_has_session(r, p->session))
		return false;
	*row = (struct device_row){
		.session = (int32_t)p->session,
		.device = (int32_t)i,
		.domain = reader_text(r, DICTIONARY_DOMAIN, gt_domain_name(o->domain)),
		.machine = (int32_t)gt_capture_session_at(c, p->session)->machine,
		.name = gt_object_value(o, "name"),
		.vendor = gt_object_value(o, "vendor"),
		.uuid = gt_object_value(o, "uuid"),
		.pci = gt_object_value(o, "pci"),
		.driver = gt_object_value(o, "driver"),
		.type = gt_object_value(o, "type"),
	};
	return true;
}

#define D(field, type, unit, null, text) \
	COLUMN_MEMBER(struct device_row, field, type, unit, null, text)

static const struct column device_columns[] = {
	D(session, COLUMN_I32, "", false, "first session that used the device"),
	D(device, COLUMN_I32, "", false, "number of the device"),
	D(machine, COLUMN_I32, "", false, "number of the machine"),
	COLUMN_TEXTS(struct device_row, domain, DICTIONARY_DOMAIN, false,
		     "API that described the device"),
	D(name, COLUMN_TEXT, "", true, "name of the device"),
	D(vendor, COLUMN_TEXT, "", true, "vendor"),
	D(uuid, COLUMN_TEXT, "", true, "UUID"),
	D(pci, COLUMN_TEXT, "", true, "PCI address"),
	D(driver, COLUMN_TEXT, "", true, "version of the driver"),
	D(type, COLUMN_TEXT, "", true, "such as gpu or cpu"),
};

static int next_devices(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most, gt_capture_device_count(r->dataset->capture),
				   build_device);
}

const struct table table_devices = {
	.name = "devices",
	.text = "devices; one that several processes use is one row",
	.columns = device_columns,
	.column_count = sizeof device_columns / sizeof *device_columns,
	.row_bytes = sizeof(struct device_row),
	.next = next_devices,
};

/* Queues --------------------------------------------------------------------------- */

struct queue_row {
	int32_t session, process, queue, device, number, domain;
	int64_t handle;
	const char *name;
};

static bool build_queue(struct reader *r, size_t i, void *out)
{
	const struct gt_object_info *o = gt_capture_object(r->dataset->capture, i);
	struct queue_row *row = out;

	if (o->type != GT_OBJECT_QUEUE || !reader_has_process(r, o->process))
		return false;
	*row = (struct queue_row){
		.session = reader_session_of(r, o->process),
		.process = (int32_t)o->process,
		.queue = r->dataset->queue_numbers[i],
		.device = o->device_index == UINT32_MAX ? INT32_MIN : (int32_t)o->device_index,
		.number = (int32_t)o->ordinal,
		.domain = reader_text(r, DICTIONARY_DOMAIN, gt_domain_name(o->domain)),
		.handle = (int64_t)o->handle,
		.name = gt_object_called(o),
	};
	return true;
}

#define Q(field, type, unit, null, text) \
	COLUMN_MEMBER(struct queue_row, field, type, unit, null, text)

static const struct column queue_columns[] = {
	Q(session, COLUMN_I32, "", false, "number of the session"),
	Q(process, COLUMN_I32, "", false, "number of the process"),
	Q(queue, COLUMN_I32, "", false, "number of the queue"),
	Q(device, COLUMN_I32, "", true, "number of the device"),
	Q(number, COLUMN_I32, "", false, "number in its process and device, as in reports"),
	COLUMN_TEXTS(struct queue_row, domain, DICTIONARY_DOMAIN, false, "API of the queue"),
	Q(handle, COLUMN_I64, "", false, "handle in the program, as calls.stream"),
	Q(name, COLUMN_TEXT, "", true, "name that the program gave the queue"),
};

static int next_queues(struct reader *r, struct rows *rows, size_t most)
{
	return reader_next_entries(r, rows, most, gt_capture_object_count(r->dataset->capture),
				   build_queue);
}

const struct table table_queues = {
	.name = "queues",
	.text = "queues and streams of devices",
	.columns = queue_columns,
	.column_count = sizeof queue_columns / sizeof *queue_columns,
	.row_bytes = sizeof(struct queue_row),
	.next = next_queues,
};
