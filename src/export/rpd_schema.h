/* SPDX-License-Identifier: MIT */
/* The tables of an RPD file ("hybrid v3"), which suit readers of schema 3 and older readers of
 * schema 2. Every column is NOT NULL. Numbers that refer to a text are ids of rocpd_string; args_id
 * is an id of rocpd_ustring.
 *
 * Tables with the prefix gputap_ are additions that other readers ignore. */
/* SQL: one statement or list of columns per string. */
/* clang-format off */
#ifndef GPUTAP_EXPORT_RPD_SCHEMA_H
#define GPUTAP_EXPORT_RPD_SCHEMA_H

#define RPD_ID "id integer NOT NULL PRIMARY KEY AUTOINCREMENT, "
#define RPD_REF(column, type, table) \
	column " " type " NOT NULL REFERENCES " table "(id) DEFERRABLE INITIALLY DEFERRED"
#define RPD_TEXT(column) RPD_REF(column, "bigint", "rocpd_string")

static const char rpd_tables[] =
	"CREATE TABLE rocpd_metadata (" RPD_ID "tag varchar(4096) NOT NULL, "
	  "value varchar(4096) NOT NULL);"
	"CREATE TABLE rocpd_string (" RPD_ID "string varchar(4096) NOT NULL);"
	"CREATE TABLE rocpd_ustring (" RPD_ID "string varchar(4096) NOT NULL);"
	"CREATE TABLE rocpd_api (" RPD_ID "pid integer NOT NULL, tid integer NOT NULL, "
	  "start integer NOT NULL, \"end\" integer NOT NULL, " RPD_TEXT("apiName_id") ", "
	  RPD_TEXT("category_id") ", " RPD_TEXT("domain_id") ", " RPD_REF("args_id", "bigint",
	  "rocpd_ustring") ");"
	"CREATE TABLE rocpd_copyapi (" RPD_REF("api_ptr_id", "bigint", "rocpd_api") " PRIMARY KEY, "
	  "stream varchar(18) NOT NULL, size integer NOT NULL, width integer NOT NULL, "
	  "height integer NOT NULL, kind integer NOT NULL, dst varchar(18) NOT NULL, "
	  "src varchar(18) NOT NULL, dstDevice integer NOT NULL, srcDevice integer NOT NULL, "
	  "sync bool NOT NULL, pinned bool NOT NULL);"
	"CREATE TABLE rocpd_kernelapi (" RPD_REF("api_ptr_id", "bigint", "rocpd_api")
	  " PRIMARY KEY, stream varchar(18) NOT NULL, gridX integer NOT NULL, "
	  "gridY integer NOT NULL, gridZ integer NOT NULL, workgroupX integer NOT NULL, "
	  "workgroupY integer NOT NULL, workgroupZ integer NOT NULL, groupSegmentSize integer NOT "
	  "NULL, privateSegmentSize integer NOT NULL, " RPD_TEXT("kernelName_id") ");"
	"CREATE TABLE rocpd_op (" RPD_ID "gpuId integer NOT NULL, queueId integer NOT NULL, "
	  "sequenceId integer NOT NULL, start integer NOT NULL, \"end\" integer NOT NULL, "
	  RPD_TEXT("description_id") ", " RPD_TEXT("opType_id") ");"
	"CREATE TABLE rocpd_api_ops (" RPD_ID RPD_REF("api_id", "bigint", "rocpd_api") ", "
	  RPD_REF("op_id", "bigint", "rocpd_op") ");"
	"CREATE TABLE rocpd_monitor (" RPD_ID "deviceType varchar(16) NOT NULL, "
	  "deviceId integer NOT NULL, monitorType varchar(16) NOT NULL, start integer NOT NULL, "
	  "\"end\" integer NOT NULL, value varchar(255) NOT NULL);"
	"CREATE TABLE rocpd_counter (" RPD_ID "value real NOT NULL, " RPD_REF("op_id", "bigint",
	  "rocpd_op") ", " RPD_TEXT("name_id") ");"
	"CREATE TABLE rocpd_stackframe (" RPD_ID RPD_REF("api_ptr_id", "bigint", "rocpd_api") ", "
	  "depth integer NOT NULL, " RPD_TEXT("name_id") ");"
	"CREATE TABLE gputap_process (pid integer NOT NULL, forks integer NOT NULL, "
	  "ppid integer NOT NULL, exe text NOT NULL, command text NOT NULL, "
	  "start integer NOT NULL, \"end\" integer);"
	"CREATE TABLE gputap_thread (pid integer NOT NULL, tid integer NOT NULL, "
	  "name text NOT NULL);"
	"CREATE TABLE gputap_queue (gpuId integer NOT NULL, queueId integer NOT NULL, "
	  "pid integer NOT NULL, stream text NOT NULL, device text NOT NULL);"
	/* the indexes of RPD's own schema, and two that its views use */
	"CREATE INDEX rocpd_string_by_string ON rocpd_string (string);"
	"CREATE INDEX rocpd_ustring_by_string ON rocpd_ustring (string);"
	"CREATE INDEX rocpd_api_ops_by_api ON rocpd_api_ops (api_id);"
	"CREATE INDEX rocpd_api_ops_by_op ON rocpd_api_ops (op_id);";

#define RPD_NAME_OF(alias, column) " JOIN rocpd_string " alias " ON " alias ".id = " column
#define RPD_STRIDE(tag) "(SELECT value FROM rocpd_metadata WHERE tag = '" tag "')"
#define RPD_KERNEL_COLUMNS \
	"k.stream, k.gridX, k.gridY, k.gridZ, k.workgroupX, k.workgroupY, k.workgroupZ, " \
	"k.groupSegmentSize, k.privateSegmentSize"
#define RPD_COPY_COLUMNS \
	"c.stream, c.size, c.width, c.height, c.kind, c.dst, c.src, c.dstDevice, c.srcDevice, " \
	"c.sync, c.pinned"
#define RPD_API_NAMES \
	RPD_NAME_OF("d", "a.domain_id") RPD_NAME_OF("g", "a.category_id") RPD_NAME_OF("n", \
	"a.apiName_id") " JOIN rocpd_ustring u ON u.id = a.args_id"
#define RPD_OP_NAMES RPD_NAME_OF("n", "o.description_id") RPD_NAME_OF("t", "o.opType_id")

static const char rpd_views[] =
	"CREATE VIEW api AS SELECT a.id, a.pid, a.tid, a.start, a.\"end\", d.string AS domain, "
	  "g.string AS category, n.string AS apiName, u.string AS args FROM rocpd_api a"
	  RPD_API_NAMES ";"
	"CREATE VIEW op AS SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o.\"end\", "
	  "n.string AS description, t.string AS opType FROM rocpd_op o" RPD_OP_NAMES ";"
	"CREATE VIEW busy AS SELECT g.gpuId, g.GpuTime, w.WallTime, g.GpuTime * 1.0 / w.WallTime "
	  "AS Busy FROM (SELECT gpuId, sum(\"end\" - start) AS GpuTime FROM rocpd_op "
	  "GROUP BY gpuId) g, (SELECT max(\"end\") - min(start) AS WallTime FROM rocpd_op) w;"
	/* An op without a description uses its type. Unlike RPD's view, this view counts each of
	 * several equal intervals. */
	"CREATE VIEW top AS SELECT Name, count(*) AS TotalCalls, "
	  "sum(ns) / 1000 AS TotalDuration_us, sum(ns) / count(*) / 1000.0 AS Ave_us, "
	  "sum(ns) * 100.0 / (SELECT sum(\"end\" - start) FROM rocpd_op) AS Percentage "
	  "FROM (SELECT CASE WHEN n.string = '' THEN t.string ELSE n.string END AS Name, "
	  "o.\"end\" - o.start AS ns FROM rocpd_op o" RPD_OP_NAMES ") GROUP BY Name "
	  "ORDER BY TotalDuration_us DESC;"
	"CREATE VIEW kernel AS SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o.\"end\", "
	  "o.\"end\" - o.start AS duration, " RPD_KERNEL_COLUMNS ", n.string AS kernelName "
	  "FROM rocpd_api_ops l JOIN rocpd_op o ON o.id = l.op_id JOIN rocpd_kernelapi k ON "
	  "k.api_ptr_id = l.api_id" RPD_NAME_OF("n", "k.kernelName_id") ";"
	"CREATE VIEW copy AS SELECT a.id, a.pid, a.tid, a.start, a.\"end\", n.string AS apiName, "
	  RPD_COPY_COLUMNS " FROM rocpd_copyapi c JOIN rocpd_api a ON a.id = c.api_ptr_id"
	  RPD_NAME_OF("n", "a.apiName_id") ";"
	"CREATE VIEW copyop AS SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o.\"end\", "
	  "o.\"end\" - o.start AS duration, " RPD_COPY_COLUMNS ", n.string AS apiName "
	  "FROM rocpd_api_ops l JOIN rocpd_op o ON o.id = l.op_id "
	  "JOIN rocpd_copyapi c ON c.api_ptr_id = l.api_id JOIN rocpd_api a ON a.id = l.api_id"
	  RPD_NAME_OF("n", "a.apiName_id") ";"
	"CREATE VIEW stackframe AS SELECT a.id, n.string AS apiName, f.depth, s.string AS frame "
	  "FROM rocpd_stackframe f JOIN rocpd_api a ON a.id = f.api_ptr_id" RPD_NAME_OF("n",
	  "a.apiName_id") RPD_NAME_OF("s", "f.name_id") ";"
	/* If a file contains several nodes, pid and gpuId contain the number of the node times the
	 * stride. */
	"CREATE VIEW napi AS SELECT a.id, a.pid / " RPD_STRIDE("pid_stride") " AS node, a.pid % "
	  RPD_STRIDE("pid_stride") " AS pid, a.tid % " RPD_STRIDE("pid_stride") " AS tid, a.start, "
	  "a.\"end\", d.string AS domain, g.string AS category, n.string AS apiName, "
	  "u.string AS args FROM rocpd_api a" RPD_API_NAMES ";"
	"CREATE VIEW nop AS SELECT o.id, o.gpuId / " RPD_STRIDE("gpu_stride") " AS node, o.gpuId % "
	  RPD_STRIDE("gpu_stride") " AS gpuId, o.queueId % " RPD_STRIDE("gpu_stride")
	  " AS queueId, o.sequenceId, o.start, o.\"end\", n.string AS description, "
	  "t.string AS opType FROM rocpd_op o" RPD_OP_NAMES ";";

#endif
