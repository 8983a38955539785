/* SPDX-License-Identifier: MIT */
/* Writes the small tables of a rocpd file with SQL, after all records: metadata, texts, nodes,
 * processes, threads, agents, queues, kernels, tracks. If several processes or threads had the same
 * number, the newest one defines the row. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/text.h"
#include "export/export.h"
#include "export/rocpd.h"
#include "util/error.h"

enum { TEXT_BYTES = 4096 };

int64_t gt_rocpd_host_agent(const struct rocpd *r, uint32_t process)
{
	const struct gt_process_info *info = gt_capture_process(r->view.capture, process);
	const struct gt_capture_session *session =
		info ? gt_capture_session_at(r->view.capture, info->session) : NULL;

	return session ? session->machine : 0;
}

int64_t gt_rocpd_agent(const struct rocpd *r, uint32_t device)
{
	size_t devices = gt_capture_device_count(r->view.capture);

	return (int64_t)r->machine_count + (int64_t)(device < devices ? device : devices);
}

static const char *machine_id(const struct gt_capture_session *s)
{
	return s->info.hostname && *s->info.hostname ? s->info.hostname
	       : s->info.boot_id                     ? s->info.boot_id
						     : "";
}

/* Return the id of a node, which is equal in all files from the same machine. */
static int64_t node_id(const struct gt_capture_session *s)
{
	const char *id = machine_id(s);

	return (int64_t)(gt_text_hash(id, strlen(id), 3) & 0x7fffffff) + s->machine + 1;
}

static const struct gt_capture_session *first_of(const struct rocpd *r, uint32_t machine)
{
	size_t i = 0;

	while (i + 1 < gt_capture_session_count(r->view.capture) &&
	       gt_capture_session_at(r->view.capture, i)->machine != machine)
		i++;
	return gt_capture_session_at(r->view.capture, i);
}

int64_t gt_rocpd_node_id(const struct rocpd *r, uint32_t process)
{
	return node_id(first_of(r, (uint32_t)gt_rocpd_host_agent(r, process)));
}

int64_t gt_rocpd_thread_id(const struct gt_view_thread *thread)
{
	/* A thread without a number, because of damage, still needs a row. */
	return thread->tid ? (int64_t)thread->tid : (INT64_C(1) << 40) + thread->index;
}

/* SQL ------------------------------------------------------------------------ */

/* Begin INSERT INTO "rocpd_<table>_<uuid>" (guid, <columns>) VALUES ('<guid>' */
static void begin_insert(struct rocpd *r, struct gt_sql *sql, const char *table,
			 const char *columns)
{
	gt_sql_put(sql, "INSERT OR IGNORE INTO \"rocpd_%s%s\" (guid, %s) VALUES ('%s'", table,
		   r->uuid, columns, r->guid);
}

static void put_all_metadata(struct rocpd *r, struct gt_sql *sql,
			     const struct gt_view_options *options)
{
	char sessions[32];

	snprintf(sessions, sizeof sessions, "%zu", gt_capture_session_count(r->view.capture));
	gt_sql_put_metadata(sql, "schema_version", "3");
	gt_sql_put_metadata(sql, "uuid", r->uuid);
	gt_sql_put_metadata(sql, "guid", r->guid);
	gt_sql_put_version(sql, &r->view);
	gt_sql_put_export(sql, &r->view, options);
	gt_sql_put_metadata(sql, "gputap::sessions", sessions);
	gt_sql_put_counts(sql, &r->view, r->untimed);
}

static void put_nodes(struct rocpd *r, struct gt_sql *sql)
{
	for (uint32_t m = 0; m < r->machine_count; m++) {
		const struct gt_capture_session *s = first_of(r, m);

		begin_insert(r, sql, "info_node",
			     "id, hash, machine_id, system_name, hostname, release, version, "
			     "hardware_name, domain_name");
		gt_sql_put(sql, ", %lld, %lld", (long long)node_id(s), (long long)node_id(s));
		gt_sql_put_text(sql, machine_id(s));
		gt_sql_put_text(sql, "Linux");
		gt_sql_put_text(sql, s->info.hostname);
		gt_sql_put_text(sql, s->info.kernel);
		gt_sql_put(sql, ", '', 'x86_64', '');");
	}
}

static void put_processes(struct rocpd *r, struct gt_sql *sql)
{
	char command[ROCPD_COMMAND_BYTES];

	for (uint32_t i = (uint32_t)gt_capture_process_count(r->view.capture); i-- > 0;) {
		const struct gt_process_info *p = gt_capture_process(r->view.capture, i);

		begin_insert(
			r, sql, "info_process",
			"id, nid, ppid, pid, init, fini, start, \"end\", command, environment, "
			"extdata");
		gt_sql_put(sql,
			   ", %lld, %lld, %u, %u, %lld, nullif(%lld, 0), %lld, nullif(%lld, 0)",
			   (long long)gt_view_pid(&r->view, i), (long long)gt_rocpd_node_id(r, i),
			   p->ppid, p->pid, (long long)p->start_ns, (long long)p->end_ns,
			   (long long)p->start_ns, (long long)p->end_ns);
		gt_sql_put_text(sql, gt_view_command(p->argv, command, sizeof command));
		gt_sql_put(sql, ", '{}', '{}');");
	}
}

static void put_threads(struct rocpd *r, struct gt_sql *sql)
{
	for (uint32_t i = r->view.thread_count; i-- > 0;) {
		const struct gt_view_thread *t = r->view.threads[i];
		const struct gt_thread_info *info =
			gt_capture_thread_find(r->view.capture, t->process, t->ordinal);
		const struct gt_process_info *p = gt_capture_process(r->view.capture, t->process);
		const struct gt_host_clock_map *clock =
			gt_capture_process_clock(r->view.capture, t->process);
		uint64_t start = info && clock && info->start_ticks
					 ? gt_host_clock_to_ns(clock, info->start_ticks)
					 : 0;
		uint64_t end = info && clock && info->end_ticks
				       ? gt_host_clock_to_ns(clock, info->end_ticks)
				       : 0;

		begin_insert(r, sql, "info_thread",
			     "id, nid, ppid, pid, tid, name, start, \"end\"");
		gt_sql_put(sql, ", %lld, %lld, %u, %lld, %u", (long long)gt_rocpd_thread_id(t),
			   (long long)gt_rocpd_node_id(r, t->process), p ? p->ppid : 0,
			   (long long)t->pid, info ? info->tid : 0);
		gt_sql_put_text(sql, t->name);
		gt_sql_put(sql, ", nullif(%lld, 0), nullif(%lld, 0));", (long long)start,
			   (long long)end);
	}
}

struct rocpd_agent {
	int64_t id, node, pid;
	const char *type;
	size_t type_index;
	const char *name, *vendor, *uuid, *pci;
};

/* Properties of an agent that a capture does not contain. ROCm's `rocpd convert` aborts if one of
 * these members is missing. */
static const char agent_numbers[] =
	"\"size\":312,\"cpu_cores_count\":0,\"simd_count\":0,\"mem_banks_count\":0,\"caches_"
	"count\":0,\"io_links_count\":0,"
	"\"cpu_core_id_base\":0,\"simd_id_base\":0,\"max_waves_per_simd\":0,\"lds_size_in_kb\":0,"
	"\"gds_size_in_kb\":0,\"num_gws\":0,"
	"\"wave_front_size\":0,\"num_xcc\":0,\"cu_count\":0,\"array_count\":0,\"num_shader_banks\":"
	"0,\"simd_arrays_per_engine\":0,"
	"\"cu_per_simd_array\":0,\"simd_per_cu\":0,\"max_slots_scratch_cu\":0,\"gfx_target_"
	"version\":0,\"vendor_id\":0,\"device_id\":0,"
	"\"location_id\":0,\"domain\":0,\"drm_render_minor\":0,\"num_sdma_engines\":0,\"num_sdma_"
	"xgmi_engines\":0,"
	"\"num_sdma_queues_per_engine\":0,\"num_cp_queues\":0,\"max_engine_clk_ccompute\":0,\"max_"
	"engine_clk_fcompute\":0,"
	"\"sdma_fw_version\":{\"uCodeSDMA\":0,\"uCodeRes\":0},\"fw_version\":{\"uCode\":0,"
	"\"Major\":0,\"Minor\":0,\"Stepping\":0},"
	"\"capability\":{\"HotPluggable\":0,\"HSAMMUPresent\":0,\"SharedWithGraphics\":0,"
	"\"QueueSizePowerOfTwo\":0,\"QueueSize32bit\":0,"
	"\"QueueIdleEvent\":0,\"VALimit\":0,\"WatchPointsSupported\":0,\"WatchPointsTotalBits\":0,"
	"\"DoorbellType\":0,"
	"\"AQLQueueDoubleMap\":0,\"DebugTrapSupported\":0,\"WaveLaunchTrapOverrideSupported\":0,"
	"\"WaveLaunchModeSupported\":0,"
	"\"PreciseMemoryOperationsSupported\":0,\"DEPRECATED_SRAM_EDCSupport\":0,\"Mem_"
	"EDCSupport\":0,\"RASEventNotify\":0,"
	"\"ASICRevision\":0,\"SRAM_EDCSupport\":0,\"SVMAPISupported\":0,\"CoherentHostAccess\":0,"
	"\"DebugSupportedFirmware\":0},"
	"\"cu_per_engine\":0,\"max_waves_per_cu\":0,\"family_id\":0,\"workgroup_max_size\":0,"
	"\"grid_max_size\":0,\"local_mem_size\":0,"
	"\"hive_id\":0,\"gpu_id\":0,\"workgroup_max_dim\":{\"x\":0,\"y\":0,\"z\":0},\"grid_max_"
	"dim\":{\"x\":0,\"y\":0,\"z\":0},"
	"\"mem_banks\":[],\"caches\":[],\"io_links\":[]";

static char *put_json_text(char *p, const char *key, const char *text)
{
	p = stpcpy(stpcpy(stpcpy(p, ",\""), key), "\":\"");
	p = gt_put_json(p, text ? text : "", text ? strnlen(text, 512) : 0);
	return stpcpy(p, "\"");
}

/* Write an agent as rocprofiler-sdk does, plus the identity of the device. */
static void put_agent_json(char *p, const struct rocpd_agent *a)
{
	p += sprintf(p,
		     "{%s,\"id\":{\"handle\":%lld},\"type\":%d,\"node_id\":%lld,\"logical_node_"
		     "id\":%lld,\"logical_node_type_id\":%lld",
		     agent_numbers, (long long)a->id, strcmp(a->type, "CPU") ? 2 : 1,
		     (long long)a->id, (long long)a->id, (long long)a->type_index);
	p = put_json_text(p, "name", a->name);
	p = put_json_text(p, "vendor_name", a->vendor);
	p = put_json_text(p, "product_name", a->name);
	p = put_json_text(p, "model_name", a->name);
	p = put_json_text(p, "uuid", a->uuid);
	p = put_json_text(p, "pci", a->pci);
	strcpy(p, "}");
}

static void put_agent(struct rocpd *r, struct gt_sql *sql, const struct rocpd_agent *a)
{
	char *extra = r->text + ROCPD_TEXT_ROOM / 2;

	begin_insert(r, sql, "info_agent",
		     "id, nid, pid, type, absolute_index, logical_index, type_index, uuid, name, "
		     "model_name, vendor_name, "
		     "product_name, user_name, extdata");
	gt_sql_put(sql, ", %lld, %lld, %lld, %Q, %lld, %lld, %lld, NULL", (long long)a->id,
		   (long long)a->node, (long long)a->pid, a->type, (long long)a->id,
		   (long long)a->id, (long long)a->type_index);
	gt_sql_put_text(sql, a->name);
	gt_sql_put_text(sql, a->name);
	gt_sql_put_text(sql, a->vendor);
	gt_sql_put_text(sql, a->name);
	gt_sql_put_text(sql, a->name);
	put_agent_json(extra, a);
	gt_sql_put(sql, ", %Q);", extra);
}

static void put_agents(struct rocpd *r, struct gt_sql *sql)
{
	const struct gt_capture *c = r->view.capture;
	size_t devices = gt_capture_device_count(c);

	for (uint32_t m = 0; m < r->machine_count; m++) {
		const struct gt_capture_session *s = first_of(r, m);
		const char *cpu = s->info.cpu && *s->info.cpu ? s->info.cpu : "CPU";

		put_agent(r, sql,
			  &(struct rocpd_agent){m, node_id(s),
						(int64_t)gt_view_pid(&r->view, s->first_process),
						"CPU", m, cpu, "", NULL, NULL});
	}
	for (size_t i = 0; i <= devices; i++) {
		const struct gt_object_info *o =
			i < devices ? gt_capture_device(c, (uint32_t)i) : NULL;
		uint32_t process = o ? o->process : 0;
		const char *name = o ? gt_object_value(o, "name") : NULL,
			   *type = o ? gt_object_value(o, "type") : NULL;

		put_agent(r, sql,
			  &(struct rocpd_agent){gt_rocpd_agent(r, (uint32_t)i),
						gt_rocpd_node_id(r, process),
						(int64_t)gt_view_pid(&r->view, process),
						type && !strcmp(type, "cpu") ? "CPU" : "GPU", i,
						name && *name ? name : "unknown device",
						o ? gt_object_value(o, "vendor") : "",
						o ? gt_object_value(o, "uuid") : NULL,
						o ? gt_object_value(o, "pci") : NULL});
	}
}

static void put_queues(struct rocpd *r, struct gt_sql *sql)
{
	static const char *const tables[] = {"info_queue", "info_stream"}, *const names[] = {
										   "Queue",
										   "Stream"};

	for (uint32_t i = 0; i < r->view.queue_count; i++) {
		const struct gt_view_queue *q = r->view.queues[i];

		for (unsigned k = 0; k < 2; k++) {
			begin_insert(r, sql, tables[k], "id, nid, pid, name, extdata");
			gt_sql_put(sql, ", %lld, %lld, %lld, '%s %u', '{\"handle\":%llu}');",
				   (long long)i + 1, (long long)gt_rocpd_node_id(r, q->process),
				   (long long)q->pid, names[k], q->stream,
				   (unsigned long long)(q->object ? q->object->handle : 0));
		}
	}
}

static long long number_of(const struct gt_object_info *o, const char *key)
{
	const char *value = o ? gt_object_value(o, key) : NULL;

	return value ? (long long)strtoull(value, NULL, 0) : 0;
}

/* Write recorded code objects, and one more per process for kernels without a recorded code
 * object. */
static void put_code_objects(struct rocpd *r, struct gt_sql *sql)
{
	static const char columns[] =
		"id, nid, pid, agent_id, uri, load_base, load_size, load_delta, storage_type";
	const struct gt_capture *c = r->view.capture;
	size_t objects = gt_capture_object_count(c);

	for (size_t i = 0; i < objects; i++) {
		const struct gt_object_info *o = gt_capture_object(c, i), *device;
		const char *storage = gt_object_value(o, "storage");

		if (o->type != GT_OBJECT_CODE_OBJECT)
			continue;
		device = gt_capture_object_find(c, o->process, GT_OBJECT_DEVICE, o->parent);
		begin_insert(r, sql, "info_code_object", columns);
		gt_sql_put(sql, ", %lld, %lld, %lld, %lld", (long long)i + 1,
			   (long long)gt_rocpd_node_id(r, o->process),
			   (long long)gt_view_pid(&r->view, o->process),
			   (long long)gt_rocpd_agent(r,
						     device ? device->device_index : UINT32_MAX));
		gt_sql_put_text(sql, gt_object_value(o, "uri"));
		gt_sql_put(sql, ", %lld, %lld, %lld, '%s');", number_of(o, "load_base"),
			   number_of(o, "load_bytes"), number_of(o, "load_delta"),
			   storage && !strcasecmp(storage, "file") ? "FILE" : "MEMORY");
	}
	for (uint32_t p = 0; p < gt_capture_process_count(c); p++) {
		begin_insert(r, sql, "info_code_object", columns);
		gt_sql_put(sql, ", %lld, %lld, %lld, %lld, '', 0, 0, 0, 'MEMORY');",
			   (long long)(objects + p + 1), (long long)gt_rocpd_node_id(r, p),
			   (long long)gt_view_pid(&r->view, p),
			   (long long)gt_rocpd_agent(r, UINT32_MAX));
	}
}

static void put_kernel(struct rocpd *r, struct gt_sql *sql, size_t index)
{
	const struct gt_capture *c = r->view.capture;
	const struct rocpd_kernel *k = &r->kernels[index];
	const struct gt_object_info *symbol =
		k->symbol
			? gt_capture_object_find(c, k->process, GT_OBJECT_KERNEL_SYMBOL, k->symbol)
			: NULL;
	const struct gt_object_info *code =
		symbol ? gt_capture_object_find(c, k->process, GT_OBJECT_CODE_OBJECT,
						symbol->parent)
		       : NULL;
	struct gt_view_text *shown = k->name ? gt_view_name(&r->view, k->process, k->name) : NULL;
	const char *name = symbol ? gt_object_value(symbol, "name") : NULL,
		   *display = k->text ? k->text
			      : shown ? shown->text
				      : NULL;
	char *p = r->text + ROCPD_TEXT_ROOM / 2, *extra = p;

	if (!name || !*name)
		name = k->name ? gt_capture_string(c, k->process, k->name) : "";
	if (!display)
		display = *name ? name : "(name not recorded)";
	begin_insert(
		r, sql, "info_kernel_symbol",
		"id, nid, pid, code_object_id, kernel_name, display_name, kernel_object, "
		"kernarg_segment_size, "
		"kernarg_segment_alignment, group_segment_size, private_segment_size, sgpr_count, "
		"arch_vgpr_count, accum_vgpr_count, extdata");
	gt_sql_put(sql, ", %lld, %lld, %lld, %lld", (long long)index + 1,
		   (long long)gt_rocpd_node_id(r, k->process),
		   (long long)gt_view_pid(&r->view, k->process),
		   code ? (long long)(code - gt_capture_object(c, 0)) + 1
			: (long long)(gt_capture_object_count(c) + k->process + 1));
	gt_sql_put_text(sql, *name ? name : display);
	gt_sql_put_text(sql, display);
	gt_sql_put(sql, ", %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld",
		   symbol ? (long long)symbol->handle : 0LL, number_of(symbol, "kernarg_bytes"),
		   number_of(symbol, "kernarg_alignment"), number_of(symbol, "group_bytes"),
		   number_of(symbol, "private_bytes"), number_of(symbol, "sgprs"),
		   number_of(symbol, "vgprs"), number_of(symbol, "accum_vgprs"));
	p = stpcpy(p, "{\"demangled_kernel_name\":\"");
	p = gt_put_json(p, display, strnlen(display, 1024));
	p = stpcpy(p, "\",\"formatted_kernel_name\":\"");
	p = gt_put_json(p, display, strnlen(display, 1024));
	strcpy(p, "\"}");
	gt_sql_put(sql, ", %Q);", extra);
}

void gt_rocpd_put_info(struct rocpd *r, struct gt_sql *sql, const struct gt_view_options *options)
{
	put_all_metadata(r, sql, options);
	put_nodes(r, sql);
	put_processes(r, sql);
	put_threads(r, sql);
	put_agents(r, sql);
	put_queues(r, sql);
	put_code_objects(r, sql);
	for (size_t i = 0; i < r->kernel_count; i++)
		put_kernel(r, sql, i);
	for (size_t i = 0; i < r->track_count; i++) {
		const struct gt_view_thread *t = r->view.threads[r->tracks[i].thread];

		begin_insert(r, sql, "track", "id, nid, pid, tid, name_id");
		gt_sql_put(sql, ", %lld, %lld, %lld, %lld, %lld);", (long long)i + 1,
			   (long long)gt_rocpd_node_id(r, t->process), (long long)t->pid,
			   (long long)gt_rocpd_thread_id(t), (long long)r->tracks[i].name);
	}
	for (size_t i = 0; i < r->name_count; i++) {
		begin_insert(r, sql, "string", "id, string");
		gt_sql_put(sql, ", %lld, %Q);", (long long)i + 1, r->name_text[i]);
	}
}
