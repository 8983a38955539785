/* SPDX-License-Identifier: MIT */
/* The tables and views of a ROCm 7 rocpd file. Table names end with the uuid of the file and view
 * names do not, so that files of several ranks can be combined under one set of views. A row with a
 * NULL in a column that readers join on is lost (see rocpd.h).
 *
 * %U is the uuid with underscores, %G the guid. Pages are written directly, so defaults do not
 * apply: every row contains its guid and its JSON. */
/* SQL: one statement or list of columns per string. */
/* clang-format off */
#ifndef GPUTAP_EXPORT_ROCPD_SCHEMA_H
#define GPUTAP_EXPORT_ROCPD_SCHEMA_H

#define T(name, columns) \
	"CREATE TABLE \"" name "%U\" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, " columns \
	");"
#define GUID "guid TEXT NOT NULL DEFAULT '%G', "
#define JSON(column) column " JSONB NOT NULL DEFAULT '{}'"
#define EXTRA ", " JSON("extdata")
#define REF(column, table) \
	", FOREIGN KEY (" column ") REFERENCES \"" table "%U\" (id) ON UPDATE CASCADE"
#define NODE REF("nid", "rocpd_info_node")
#define PROCESS REF("pid", "rocpd_info_process")
#define THREAD REF("tid", "rocpd_info_thread")
#define AGENT(column) REF(column, "rocpd_info_agent")
#define QUEUE REF("queue_id", "rocpd_info_queue") REF("stream_id", "rocpd_info_stream")
#define TEXT_OF(column) REF(column, "rocpd_string")
#define EVENT REF("event_id", "rocpd_event")
#define OWNER "nid INTEGER NOT NULL, pid INTEGER NOT NULL, "
#define SPAN "start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, "

static const char rocpd_tables[] =
	T("rocpd_metadata", "tag TEXT NOT NULL, value TEXT NOT NULL")
	T("rocpd_string", GUID "string TEXT NOT NULL UNIQUE ON CONFLICT ABORT")
	T("rocpd_info_node", GUID "hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, "
	  "system_name TEXT, hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, "
	  "domain_name TEXT")
	T("rocpd_info_process", GUID "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, "
	  "init BIGINT, fini BIGINT, start BIGINT, \"end\" BIGINT, command TEXT, "
	  JSON("environment") EXTRA NODE)
	T("rocpd_info_thread", GUID "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, "
	  "tid INTEGER NOT NULL, name TEXT, start BIGINT, \"end\" BIGINT" EXTRA NODE PROCESS)
	T("rocpd_info_agent", GUID OWNER "type TEXT CHECK (type IN ('CPU', 'GPU')), "
	  "absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER, "
	  "name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT" EXTRA
	  NODE PROCESS)
	T("rocpd_info_queue", GUID OWNER "name TEXT" EXTRA NODE PROCESS)
	T("rocpd_info_stream", GUID OWNER "name TEXT" EXTRA NODE PROCESS)
	T("rocpd_info_pmc", GUID OWNER "agent_id INTEGER, target_arch TEXT CHECK (target_arch IN "
	  "('CPU', 'GPU')), event_code INT, instance_id INTEGER, name TEXT NOT NULL, "
	  "symbol TEXT NOT NULL, description TEXT, long_description TEXT DEFAULT '', "
	  "component TEXT, units TEXT DEFAULT '', value_type TEXT CHECK (value_type IN ('ABS', "
	  "'ACCUM', 'RELATIVE')), block TEXT, expression TEXT, is_constant INTEGER, "
	  "is_derived INTEGER" EXTRA NODE PROCESS AGENT("agent_id"))
	T("rocpd_info_code_object", GUID OWNER "agent_id INTEGER, uri TEXT, load_base BIGINT, "
	  "load_size BIGINT, load_delta BIGINT, storage_type TEXT CHECK (storage_type IN ('FILE', "
	  "'MEMORY'))" EXTRA NODE PROCESS AGENT("agent_id"))
	T("rocpd_info_kernel_symbol", GUID OWNER "code_object_id INTEGER NOT NULL, "
	  "kernel_name TEXT, display_name TEXT, kernel_object INTEGER, "
	  "kernarg_segment_size INTEGER, kernarg_segment_alignment INTEGER, "
	  "group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count INTEGER, "
	  "arch_vgpr_count INTEGER, accum_vgpr_count INTEGER" EXTRA NODE PROCESS
	  REF("code_object_id", "rocpd_info_code_object"))
	T("rocpd_track", GUID "nid INTEGER NOT NULL, pid INTEGER, tid INTEGER, name_id INTEGER"
	  EXTRA NODE PROCESS THREAD TEXT_OF("name_id"))
	T("rocpd_event", GUID "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, "
	  "correlation_id INTEGER, " JSON("call_stack") ", " JSON("line_info") EXTRA
	  TEXT_OF("category_id"))
	T("rocpd_arg", GUID "event_id INTEGER NOT NULL, position INTEGER NOT NULL, "
	  "type TEXT NOT NULL, name TEXT NOT NULL, value TEXT" EXTRA EVENT)
	T("rocpd_pmc_event", GUID "event_id INTEGER, pmc_id INTEGER NOT NULL, "
	  "value REAL DEFAULT 0.0, extdata JSONB DEFAULT '{}'" REF("pmc_id", "rocpd_info_pmc")
	  EVENT)
	T("rocpd_region", GUID OWNER "tid INTEGER NOT NULL, " SPAN "name_id INTEGER NOT NULL, "
	  "event_id INTEGER" EXTRA NODE PROCESS THREAD TEXT_OF("name_id") EVENT)
	T("rocpd_sample", GUID "track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, "
	  "event_id INTEGER" EXTRA REF("track_id", "rocpd_track") EVENT)
	T("rocpd_kernel_dispatch", GUID OWNER "tid INTEGER, agent_id INTEGER NOT NULL, "
	  "kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL, "
	  "stream_id INTEGER NOT NULL, " SPAN "private_segment_size INTEGER, "
	  "group_segment_size INTEGER, workgroup_size_x INTEGER NOT NULL, "
	  "workgroup_size_y INTEGER NOT NULL, workgroup_size_z INTEGER NOT NULL, "
	  "grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL, "
	  "grid_size_z INTEGER NOT NULL, region_name_id INTEGER, event_id INTEGER" EXTRA NODE
	  PROCESS THREAD AGENT("agent_id") REF("kernel_id", "rocpd_info_kernel_symbol") QUEUE
	  TEXT_OF("region_name_id") EVENT)
	T("rocpd_memory_copy", GUID OWNER "tid INTEGER, " SPAN "name_id INTEGER NOT NULL, "
	  "dst_agent_id INTEGER, dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, "
	  "size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, region_name_id INTEGER, "
	  "event_id INTEGER" EXTRA NODE PROCESS THREAD TEXT_OF("name_id") AGENT("dst_agent_id")
	  AGENT("src_agent_id") QUEUE TEXT_OF("region_name_id") EVENT)
	T("rocpd_memory_allocate", GUID OWNER "tid INTEGER, agent_id INTEGER, "
	  "type TEXT CHECK (type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')), "
	  "level TEXT CHECK (level IN ('REAL', 'VIRTUAL', 'SCRATCH')), " SPAN "address INTEGER, "
	  "size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, event_id INTEGER" EXTRA NODE
	  PROCESS THREAD AGENT("agent_id") QUEUE EVENT);

#undef T
#undef GUID
#undef JSON
#undef EXTRA
#undef REF
#undef NODE
#undef PROCESS
#undef THREAD
#undef AGENT
#undef QUEUE
#undef TEXT_OF
#undef EVENT
#undef OWNER
#undef SPAN

static const char *const rocpd_table_names[] = {
	"rocpd_metadata", "rocpd_string", "rocpd_info_node", "rocpd_info_process",
	"rocpd_info_thread", "rocpd_info_agent", "rocpd_info_queue", "rocpd_info_stream",
	"rocpd_info_pmc", "rocpd_info_code_object", "rocpd_info_kernel_symbol", "rocpd_track",
	"rocpd_event", "rocpd_arg", "rocpd_pmc_event", "rocpd_region", "rocpd_sample",
	"rocpd_kernel_dispatch", "rocpd_memory_copy",
	"rocpd_memory_allocate",
};

#define V(name, body) "CREATE VIEW " name " AS SELECT " body ";"
/* Keys are unique within one guid. Joins therefore compare guids, which keeps rows of several files
 * apart. */
#define WITH(alias, table, key, of) \
	" JOIN " table " " alias " ON " alias ".id = " key " AND " alias ".guid = " of ".guid"
#define MAYBE(alias, table, key, of) " LEFT" WITH(alias, table, key, of)
#define WORD(id, of) \
	"(SELECT w.string FROM rocpd_string w WHERE w.id = " id " AND w.guid = " of ".guid)"
#define STACK "e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id"
#define INDEXES(alias, prefix) \
	alias ".absolute_index AS " prefix "agent_abs_index, " alias ".logical_index AS " prefix \
	"agent_log_index, " alias ".type_index AS " prefix "agent_type_index, " alias ".type AS " \
	prefix "agent_type"
#define HOST \
	"n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, " \
	"n.version AS system_version"
#define SIZES(what) what "_x, " what "_y, " what "_z"
#define SAMPLE(times) \
	"s.id, s.guid, " WORD("e.category_id", "e") " AS category, " WORD("t.name_id", "t") \
	" AS name, t.nid, p.pid, th.tid, " times ", s.event_id, " STACK ", e.extdata, " \
	"e.call_stack, e.line_info FROM rocpd_sample s" WITH("t", "rocpd_track", "s.track_id", \
	"s") WITH("e", "rocpd_event", "s.event_id", "s") WITH("p", "rocpd_info_process", "t.pid", \
	"t") WITH("th", "rocpd_info_thread", "t.tid", "t")
#define ACTIVITY_SPANS \
	"SELECT start, \"end\" FROM rocpd_kernel_dispatch UNION ALL SELECT start, \"end\" " \
	"FROM rocpd_memory_copy"

static const char rocpd_views[] =
	V("code_objects", "c.id, c.guid, c.nid, p.pid, a.absolute_index AS agent_abs_index, c.uri, "
	  "c.load_base, c.load_size, c.load_delta, c.storage_type AS storage_type_str, "
	  "json_extract(c.extdata, '$.size') AS code_object_size, json_extract(c.extdata, "
	  "'$.storage_type') AS storage_type, json_extract(c.extdata, "
	  "'$.memory_base') AS memory_base, json_extract(c.extdata, "
	  "'$.memory_size') AS memory_size FROM rocpd_info_code_object c" WITH("a",
	  "rocpd_info_agent", "c.agent_id", "c") WITH("p", "rocpd_info_process", "c.pid", "c"))
	V("kernel_symbols", "k.id, k.guid, k.nid, p.pid, k.code_object_id, k.kernel_name, "
	  "k.display_name, k.kernel_object, k.kernarg_segment_size, k.kernarg_segment_alignment, "
	  "k.group_segment_size, k.private_segment_size, k.sgpr_count, k.arch_vgpr_count, "
	  "k.accum_vgpr_count, json_extract(k.extdata, '$.size') AS kernel_symbol_size, "
	  "json_extract(k.extdata, '$.kernel_id') AS kernel_id, json_extract(k.extdata, "
	  "'$.kernel_code_entry_byte_offset') AS kernel_code_entry_byte_offset, "
	  "json_extract(k.extdata, '$.formatted_kernel_name') AS formatted_kernel_name, "
	  "json_extract(k.extdata, '$.demangled_kernel_name') AS demangled_kernel_name, "
	  "json_extract(k.extdata, '$.truncated_kernel_name') AS truncated_kernel_name, "
	  "json_extract(k.extdata, '$.kernel_address.handle') AS kernel_address "
	  "FROM rocpd_info_kernel_symbol k" WITH("p", "rocpd_info_process", "k.pid", "k"))
	V("processes", HOST ", p.guid, p.ppid, p.pid, p.init, p.start, p.\"end\", p.fini, "
	  "p.command FROM rocpd_info_process p" WITH("n", "rocpd_info_node", "p.nid", "p"))
	V("threads", HOST ", p.guid, p.ppid, p.pid, t.tid, t.start, t.\"end\", t.name "
	  "FROM rocpd_info_thread t" WITH("p", "rocpd_info_process", "t.pid", "t") WITH("n",
	  "rocpd_info_node", "t.nid", "t"))
	V("regions", "r.id, r.guid, " WORD("e.category_id", "e") " AS category, s.string AS name, "
	  "r.nid, p.pid, t.tid, r.start, r.\"end\", r.\"end\" - r.start AS duration, r.event_id, "
	  STACK ", e.extdata, e.call_stack, e.line_info FROM rocpd_region r" WITH("e",
	  "rocpd_event", "r.event_id", "r") WITH("s", "rocpd_string", "r.name_id", "r") WITH("p",
	  "rocpd_info_process", "r.pid", "r") WITH("t", "rocpd_info_thread", "r.tid", "r"))
	V("region_args", "r.id, r.guid, r.nid, p.pid, a.type, a.name, a.value FROM rocpd_region r"
	  WITH("e", "rocpd_event", "r.event_id", "r") " JOIN rocpd_arg a ON a.event_id = e.id AND "
	  "a.guid = r.guid" WITH("p", "rocpd_info_process", "r.pid", "r"))
	V("samples", SAMPLE("s.timestamp"))
	V("sample_regions", SAMPLE("s.timestamp AS start, s.timestamp AS \"end\", 0 AS duration"))
	V("regions_and_samples", "* FROM regions UNION ALL SELECT * FROM sample_regions")
	V("kernels", "k.id, k.guid, t.tid, " WORD("e.category_id", "e") " AS category, "
	  "r.string AS region, s.display_name AS name, k.nid, p.pid, " INDEXES("a", "") ", "
	  "s.code_object_id, k.kernel_id, k.dispatch_id, k.stream_id, k.queue_id, q.name AS queue, "
	  "st.name AS stream, k.start, k.\"end\", k.\"end\" - k.start AS duration, "
	  "k.grid_size_x AS grid_x, k.grid_size_y AS grid_y, k.grid_size_z AS grid_z, "
	  "k.workgroup_size_x AS workgroup_x, k.workgroup_size_y AS workgroup_y, "
	  "k.workgroup_size_z AS workgroup_z, k.group_segment_size AS lds_size, "
	  "k.private_segment_size AS scratch_size, s.arch_vgpr_count AS vgpr_count, "
	  "s.accum_vgpr_count, s.sgpr_count, s.group_segment_size AS static_lds_size, "
	  "s.private_segment_size AS static_scratch_size, " STACK " FROM rocpd_kernel_dispatch k"
	  WITH("a", "rocpd_info_agent", "k.agent_id", "k") WITH("e", "rocpd_event", "k.event_id",
	  "k") WITH("r", "rocpd_string", "k.region_name_id", "k") WITH("s",
	  "rocpd_info_kernel_symbol", "k.kernel_id", "k") MAYBE("st", "rocpd_info_stream",
	  "k.stream_id", "k") MAYBE("q", "rocpd_info_queue", "k.queue_id", "k") WITH("p",
	  "rocpd_info_process", "k.pid", "k") WITH("t", "rocpd_info_thread", "k.tid", "k"))
	V("pmc_info", "i.id, i.guid, i.nid, p.pid, a.absolute_index AS agent_abs_index, "
	  "i.is_constant, i.is_derived, i.name, i.description, i.block, i.expression "
	  "FROM rocpd_info_pmc i" WITH("a", "rocpd_info_agent", "i.agent_id", "i") WITH("p",
	  "rocpd_info_process", "i.pid", "i"))
	V("pmc_events", "m.id, m.guid, m.pmc_id, e.id AS event_id, " WORD("e.category_id", "e")
	  " AS category, s.display_name AS name, k.nid, p.pid, k.dispatch_id, k.start, k.\"end\", "
	  "k.\"end\" - k.start AS duration, i.name AS counter_name, m.value AS counter_value "
	  "FROM rocpd_pmc_event m" WITH("i", "rocpd_info_pmc", "m.pmc_id", "m") WITH("e",
	  "rocpd_event", "m.event_id", "m") " JOIN rocpd_kernel_dispatch k ON k.event_id = "
	  "m.event_id AND k.guid = m.guid" WITH("p", "rocpd_info_process", "k.pid", "k") MAYBE("s",
	  "rocpd_info_kernel_symbol", "k.kernel_id", "k"))
	V("events_args", "e.id AS event_id, " WORD("e.category_id", "e") " AS category, "
	  "e.stack_id, e.parent_stack_id, e.correlation_id, a.position AS arg_position, "
	  "a.type AS arg_type, a.name AS arg_name, a.value AS arg_value, e.call_stack, "
	  "e.line_info, a.extdata FROM rocpd_event e JOIN rocpd_arg a ON a.event_id = e.id AND "
	  "a.guid = e.guid")
	V("stream_args", "a.id AS argument_id, a.event_id, a.position AS arg_position, "
	  "a.type AS arg_type, a.value AS arg_value, json_extract(a.extdata, "
	  "'$.stream_id') AS stream_id, s.nid, p.pid, s.name AS stream_name, s.extdata "
	  "FROM rocpd_arg a" WITH("s", "rocpd_info_stream", "json_extract(a.extdata, "
	  "'$.stream_id')", "a") WITH("p", "rocpd_info_process", "s.pid", "s") " "
	  "WHERE a.name = 'stream'")
	V("memory_copies", "m.id, m.guid, " WORD("e.category_id", "e") " AS category, m.nid, "
	  "p.pid, t.tid, m.start, m.\"end\", m.\"end\" - m.start AS duration, s.string AS name, "
	  "r.string AS region_name, m.stream_id, m.queue_id, st.name AS stream_name, "
	  "q.name AS queue_name, m.size, d.name AS dst_device, " INDEXES("d", "dst_") ", "
	  "m.dst_address, f.name AS src_device, " INDEXES("f", "src_") ", m.src_address, " STACK " "
	  "FROM rocpd_memory_copy m" WITH("s", "rocpd_string", "m.name_id", "m") MAYBE("r",
	  "rocpd_string", "m.region_name_id", "m") WITH("d", "rocpd_info_agent", "m.dst_agent_id",
	  "m") WITH("f", "rocpd_info_agent", "m.src_agent_id", "m") MAYBE("q", "rocpd_info_queue",
	  "m.queue_id", "m") MAYBE("st", "rocpd_info_stream", "m.stream_id", "m") WITH("e",
	  "rocpd_event", "m.event_id", "m") WITH("p", "rocpd_info_process", "m.pid", "m") WITH("t",
	  "rocpd_info_thread", "m.tid", "m"))
	V("memory_allocations", "m.id, m.guid, " WORD("e.category_id", "e") " AS category, m.nid, "
	  "p.pid, t.tid, m.start, m.\"end\", m.\"end\" - m.start AS duration, m.type, m.level, "
	  "a.name AS agent_name, " INDEXES("a", "") ", m.address, m.size, m.queue_id, "
	  "q.name AS queue_name, m.stream_id, st.name AS stream_name, " STACK " "
	  "FROM rocpd_memory_allocate m" MAYBE("a", "rocpd_info_agent", "m.agent_id", "m")
	  MAYBE("q", "rocpd_info_queue", "m.queue_id", "m") MAYBE("st", "rocpd_info_stream",
	  "m.stream_id", "m") WITH("e", "rocpd_event", "m.event_id", "m") WITH("p",
	  "rocpd_info_process", "m.pid", "m") WITH("t", "rocpd_info_thread", "m.tid", "m"))
	V("scratch_memory", "m.id, m.guid, m.nid, p.pid, m.type AS operation, "
	  "a.name AS agent_name, " INDEXES("a", "") ", m.queue_id, t.tid, json_extract(m.extdata, "
	  "'$.flags') AS alloc_flags, m.start, m.\"end\", m.\"end\" - m.start AS duration, m.size, "
	  "m.address, e.correlation_id, " STACK ", " WORD("e.category_id", "e") " AS category, "
	  "e.extdata AS event_extdata FROM rocpd_memory_allocate m" MAYBE("a", "rocpd_info_agent",
	  "m.agent_id", "m") WITH("e", "rocpd_event", "m.event_id", "m") WITH("p",
	  "rocpd_info_process", "m.pid", "m") WITH("t", "rocpd_info_thread", "m.tid", "m") " "
	  "WHERE m.level = 'SCRATCH' ORDER BY m.start")
	V("counters_collection", "min(m.id) AS id, m.guid, k.dispatch_id, k.kernel_id, "
	  "e.id AS event_id, e.correlation_id, e.stack_id, e.parent_stack_id, p.pid, t.tid, "
	  "k.agent_id, " INDEXES("a", "") ", k.queue_id, " SIZES("k.grid_size") ", "
	  "k.grid_size_x * k.grid_size_y * k.grid_size_z AS grid_size, "
	  "s.display_name AS kernel_name, " WORD("k.region_name_id", "k") " AS kernel_region, "
	  SIZES("k.workgroup_size") ", k.workgroup_size_x * k.workgroup_size_y * "
	  "k.workgroup_size_z AS workgroup_size, k.group_segment_size AS lds_block_size, "
	  "k.private_segment_size AS scratch_size, s.arch_vgpr_count AS vgpr_count, "
	  "s.accum_vgpr_count, s.sgpr_count, i.name AS counter_name, i.symbol AS counter_symbol, "
	  "i.component, i.description, i.block, i.expression, i.value_type, i.id AS counter_id, "
	  "sum(m.value) AS value, k.start, k.\"end\", i.is_constant, i.is_derived, "
	  "k.\"end\" - k.start AS duration, " WORD("e.category_id", "e") " AS category, k.nid, "
	  "e.extdata, s.code_object_id FROM rocpd_pmc_event m" WITH("i", "rocpd_info_pmc",
	  "m.pmc_id", "m") WITH("e", "rocpd_event", "m.event_id", "m") " "
	  "JOIN rocpd_kernel_dispatch k ON k.event_id = m.event_id AND k.guid = m.guid" WITH("a",
	  "rocpd_info_agent", "k.agent_id", "k") WITH("s", "rocpd_info_kernel_symbol",
	  "k.kernel_id", "k") WITH("p", "rocpd_info_process", "k.pid", "k") WITH("t",
	  "rocpd_info_thread", "k.tid", "k") " GROUP BY m.guid, k.dispatch_id, i.name, k.agent_id")
	V("top_kernels", "s.display_name AS name, count(*) AS total_calls, "
	  "sum(k.\"end\" - k.start) / 1000.0 AS total_duration, sum(k.\"end\" - k.start) / "
	  "count(*) / 1000.0 AS average, sum(k.\"end\" - k.start) * 100.0 / (SELECT sum(\"end\" - "
	  "start) FROM rocpd_kernel_dispatch) AS percentage FROM rocpd_kernel_dispatch k" WITH("s",
	  "rocpd_info_kernel_symbol", "k.kernel_id", "k") " GROUP BY 1 "
	  "ORDER BY total_duration DESC")
	V("busy", "g.agent_id, a.type, g.GpuTime, w.WallTime, g.GpuTime * 1.0 / w.WallTime AS Busy "
	  "FROM (SELECT agent_id, guid, sum(\"end\" - start) AS GpuTime FROM (SELECT agent_id, "
	  "guid, start, \"end\" FROM rocpd_kernel_dispatch UNION ALL SELECT dst_agent_id, guid, "
	  "start, \"end\" FROM rocpd_memory_copy) GROUP BY agent_id, guid) g, "
	  "(SELECT max(\"end\") - min(start) AS WallTime FROM (" ACTIVITY_SPANS ")) w" WITH("a",
	  "rocpd_info_agent", "g.agent_id", "g"))
	V("top", "name, count(*) AS total_calls, sum(ns) / 1000.0 AS total_duration, "
	  "sum(ns) / count(*) / 1000.0 AS average, sum(ns) * 100.0 / (SELECT sum(\"end\" - start) "
	  "FROM (" ACTIVITY_SPANS " UNION ALL SELECT start, \"end\" FROM rocpd_region)) "
	  "AS percentage FROM (SELECT s.display_name AS name, k.\"end\" - k.start AS ns "
	  "FROM rocpd_kernel_dispatch k" WITH("s", "rocpd_info_kernel_symbol", "k.kernel_id", "k")
	  " UNION ALL SELECT s.string, m.\"end\" - m.start FROM rocpd_memory_copy m" WITH("s",
	  "rocpd_string", "m.name_id", "m") " UNION ALL SELECT s.string, r.\"end\" - r.start "
	  "FROM rocpd_region r" WITH("s", "rocpd_string", "r.name_id", "r") ") GROUP BY name "
	  "ORDER BY total_duration DESC");

#undef V
#undef WITH
#undef MAYBE
#undef WORD
#undef STACK
#undef INDEXES
#undef HOST
#undef SIZES
#undef SAMPLE
#undef ACTIVITY_SPANS

#endif
