# SPDX-License-Identifier: MIT
"""Compare the rocpd export with the capture, in SQL, and test it with rocprofiler-sdk's own tools
and schema."""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

import pytest

import conftest
from test_export_rpd import COPY, KERNEL, READ, WRITE, read_items

EVERYTHING = ("--calls", 400, "--threads", 3, "--processes", 2, "--devices", 2, "--queues", 2,
              "--kernels", 12, "--names", "tricky", "--overlap", "--nested", "--failed",
              "--external", "--drops", "--events")
COPIES = {
    READ: "MEMORY_COPY_DEVICE_TO_HOST", WRITE: "MEMORY_COPY_HOST_TO_DEVICE",
    COPY: "MEMORY_COPY_DEVICE_TO_DEVICE"
}


class Export:
    def __init__(self, run, build, tap, folder, options, name="t"):
        self.capture, self.path = folder / f"{name}.gputap", folder / f"{name}.rocpd"
        run([build / "tests/synth/synth", *options, "-o", self.capture])
        tap("export", self.capture, "-o", self.path, status=1 if "--cut" in options else 0)
        self.items = read_items(run, build, self.capture)
        self.db = sqlite3.connect(self.path)

    def of(self, kind, *ops):
        return [i for i in self.items if i.kind == kind and (not ops or i.device_op in ops)]

    def rows(self, query):
        return self.db.execute(query).fetchall()

    def one(self, query):
        return self.rows(query)[0][0]


@pytest.fixture
def export(run, build, tap, work):
    def write(*options, name="t"):
        return Export(run, build, tap, work, options or EVERYTHING, name)
    return write


def sound(db):
    return db.execute("PRAGMA integrity_check").fetchall() == [
        ("ok", )
    ] and not db.execute("PRAGMA foreign_key_check").fetchall()


def test_the_database_is_sound_and_every_reference_leads_somewhere(export):
    assert sound(export().db)


def test_every_table_ends_in_the_uuid_and_has_a_view_without_it(export):
    rocpd = export()
    uuid, guid = (rocpd.one(f"SELECT value FROM rocpd_metadata WHERE tag = '{tag}'")
                  for tag in ("uuid", "guid"))
    assert re.fullmatch(r"_[0-9a-f]{8}(_[0-9a-f]{4}){3}_[0-9a-f]{12}",
                        uuid) and guid == uuid[1:].replace("_", "-")
    tables = {
        row[0] for row in rocpd.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd%'")
    }
    views = {
        row[0] for row in rocpd.rows(
            "SELECT name FROM sqlite_master WHERE type = 'view' AND name LIKE 'rocpd%'")
    }
    assert {view + uuid for view in views} == tables and len(tables) == 20
    for table in views - {"rocpd_metadata"}:
        assert rocpd.rows(f"SELECT DISTINCT guid FROM {table}") in ([(guid,)], [])
    assert rocpd.one("SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'") == "3"


def test_every_call_is_a_region_with_its_thread_and_times(export):
    rocpd = export()
    rows = rocpd.rows("SELECT pid, tid, start, end FROM regions WHERE category = 'OPENCL_API'")
    assert sorted(rows) == sorted((i.pid, i.tid, i.start, i.end) for i in rocpd.of("call"))


def test_every_dispatch_and_copy_comes_back_from_the_views(export):
    rocpd = export()
    assert sorted(rocpd.rows("SELECT pid, start, end FROM kernels")) == sorted(
        (i.pid, i.start, i.end) for i in rocpd.of("device", KERNEL))
    assert sorted(rocpd.rows("SELECT pid, start, end, name FROM memory_copies")) == \
        sorted((i.pid, i.start, i.end, COPIES[i.device_op]) for i in rocpd.of("device", *COPIES))
    assert rocpd.one("SELECT sum(total_calls) FROM top_kernels") == len(rocpd.of("device", KERNEL))
    assert len(rocpd.of("device", KERNEL)) > 100 and len(rocpd.of("device", *COPIES)) > 100


def test_work_carries_the_stack_id_of_its_call(export):
    rocpd = export()
    calls = {(i.process, i.id): i for i in rocpd.of("call")}
    truth = sorted((i.start, calls[i.process, i.id].start) for i in rocpd.of("device", KERNEL))
    assert sorted(
        rocpd.rows(
            "SELECT k.start, r.start FROM kernels k JOIN regions r ON r.stack_id = k.stack_id")
    ) == truth


def test_nested_calls_name_the_call_around_them(export):
    rocpd = export()
    pairs = rocpd.rows(
        "SELECT i.start, i.end, o.start, o.end FROM regions i JOIN regions o ON o.stack_id ="
        " i.parent_stack_id WHERE i.category = 'OPENCL_API' AND i.parent_stack_id > 0 AND"
        " i.stack_id != o.stack_id"
    )
    assert len(pairs) > 10 and all(o_start <= start <= end <= o_end
                                   for start, end, o_start, o_end in pairs)


def test_copies_have_both_agents_and_one_of_them_is_the_host(export):
    rows = set(export().rows("SELECT name, src_agent_type, dst_agent_type FROM memory_copies"))
    assert rows == {("MEMORY_COPY_DEVICE_TO_HOST", "GPU", "CPU"),
                    ("MEMORY_COPY_HOST_TO_DEVICE", "CPU", "GPU")}


def test_external_ids_are_markers_and_stand_in_the_events_of_calls_and_work(export):
    rocpd = export()
    assert rocpd.one("SELECT count(*) FROM regions WHERE category = 'MARKER_CORE_RANGE_API'") == \
        sum(i.depth for i in rocpd.of("external"))
    assert (
        rocpd.rows(
            "SELECT * FROM regions WHERE category LIKE 'MARKER%' AND json_extract(extdata,"
            " '$.message') NOT LIKE '%' || corr_id"
        )
        == []
    )
    assert rocpd.one("SELECT count(*) FROM kernels WHERE corr_id > 0") > 0
    assert (
        rocpd.rows(
            "SELECT 1 FROM kernels k JOIN regions r ON r.stack_id = k.stack_id WHERE k.corr_id !="
            " r.corr_id"
        )
        == []
    )


def test_arguments_stand_in_their_rows_by_position(export):
    rocpd = export()
    names = rocpd.rows(
        "SELECT DISTINCT a.position, a.type, a.name FROM rocpd_arg a JOIN regions r ON r.event_id ="
        " a.event_id WHERE r.name = 'clEnqueueNDRangeKernel' ORDER BY 1"
    )
    assert [name for _, _, name in names] == [
        "command_queue", "kernel", "work_dim", "global_work_offset", "global_work_size",
        "local_work_size", "num_events_in_wait_list", "event_wait_list", "event"
    ]
    assert names[0] == (0, "cl_command_queue", "command_queue")
    assert rocpd.one("SELECT count(*) FROM region_args WHERE value IS NULL OR value = ''") == 0


def test_json_columns_hold_json_whatever_the_names_are(export):
    rocpd = export()
    for table, column in (("rocpd_info_kernel_symbol", "extdata"), ("rocpd_info_agent", "extdata"),
                          ("rocpd_event", "extdata")):
        assert rocpd.one(f"SELECT count(*) FROM {table} WHERE NOT json_valid({column})") == 0
    names = rocpd.rows("SELECT display_name, demangled_kernel_name FROM kernel_symbols")
    assert all(shown == told for shown, told in names) and any('"' in shown for shown, _ in names)


def test_exporting_twice_gives_the_same_file(export, tap, work):
    rocpd = export()
    tap("export", rocpd.capture, "-o", work / "again.db", "--format", "rocpd")
    again = sqlite3.connect(work / "again.db")
    dump = [[line
             for line in db.iterdump()
             if "exported_by" not in line]
            for db in (rocpd.db, again)]
    assert dump[0] == dump[1]


def test_rows_can_be_added_behind_ours(export):
    rocpd = export()
    uuid = rocpd.one("SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")
    last = rocpd.one("SELECT max(id) FROM rocpd_event")
    cursor = rocpd.db.execute(f"INSERT INTO rocpd_event{uuid} (stack_id) VALUES (1)")
    assert cursor.lastrowid == last + 1


def test_an_empty_and_a_cut_capture_are_databases_too(export):
    for i, options in enumerate([("--calls", 0), ("--calls", 50, "--cut"),
                                 ("--calls", 50, "--plain"), ("--calls", 400, "--lose", 3)]):
        rocpd = export(*options, name=f"t{i}")
        assert sound(rocpd.db)
        assert rocpd.one("SELECT count(*) FROM kernels") == len(rocpd.of("device", KERNEL))
        rocpd.db.close()


def test_sessions_of_several_hosts_stay_apart(run, build, tap, work):
    for name, options in {"a": [], "b": ["--host", "b", "--boot", "2"], "c": ["--pid",
                                                                              7000]}.items():
        run([build / "tests/synth/synth", *options, "-o", f"{name}.gputap"])
    tap("merge", "a.gputap", "b.gputap", "c.gputap", "-o", "job.rocpd")
    db = sqlite3.connect("job.rocpd")
    assert sound(db)
    assert sorted(db.execute("SELECT hostname, pid FROM processes")) == [("b", 4000),
                                                                         ("synthetic-host", 4000),
                                                                         ("synthetic-host", 7000)]
    assert sorted(
        db.execute("SELECT nid, pid, count(*) FROM regions GROUP BY 1, 2").fetchall(),
        key=lambda r: r[1:],
    ) == sorted(db.execute("SELECT nid, pid, 1000 FROM processes").fetchall(), key=lambda r: r[1:])
    assert db.execute("SELECT count(*) FROM rocpd_info_agent WHERE type = 'CPU'").fetchone() == (2,)


def test_memory_does_not_grow_with_the_capture(run, build, gputap, work):
    def peak(calls):
        run([build / "tests/synth/synth", "--calls", calls, "-o", "t.gputap"])
        return int(
            run(["/usr/bin/time", "-f", "%M", gputap, "export", "-fo", "t.rocpd",
                 "t.gputap"]).err.split()[-1])
    assert peak(400000) < peak(4000) + 8192


def test_a_real_program_comes_back_whole(tap, build, work):
    tap("run", "-q", "-o", "t.gputap", build / "tests/opencl/cl_basic")
    tap("export", "t.gputap", "-o", "t.rocpd")
    info = json.loads(tap("info", "--json", "t.gputap").out)
    db = sqlite3.connect("t.rocpd")
    assert sound(db)
    assert db.execute("SELECT count(*) FROM regions").fetchone() == (info["calls"],)
    work_rows = db.execute(
        "SELECT (SELECT count(*) FROM kernels) + (SELECT count(*) FROM memory_copies) + (SELECT"
        " count(*) FROM samples)"
    )
    assert work_rows.fetchone()[0] == info["activities"] - info["untimed"]


# rocprofiler-sdk's own tools -----------------------------------------------------

@pytest.fixture
def upstream(work):
    """Return a folder with the Python part of rocpd and its SQL, from a checkout of
    rocprofiler-sdk."""
    checkout = pathlib.Path(os.environ.get("GPUTAP_ROCPD_CHECKOUT", ""))
    source = checkout / "source/lib/python/rocpd"
    if not os.environ.get("GPUTAP_ROCPD_CHECKOUT") or not source.is_dir():
        pytest.skip("GPUTAP_ROCPD_CHECKOUT does not name a checkout of rocprofiler-sdk")
    package = work / "python/rocpd"
    shutil.copytree(source, package)
    text = (package / "__init__.py").read_text()
    (package / "__init__.py").write_text(re.sub(r"@\w+@", "1", text))
    shutil.copy(conftest.REPO / "tests/consumers/libpyrocpd.py", package)
    return {
        "PYTHONPATH": str(work / "python"), "ROCPD_SCHEMA": str(
            checkout / "source/share/rocprofiler-sdk-rocpd")
    }


def rocpd_tool(upstream, *arguments):
    result = subprocess.run([sys.executable, "-m", "rocpd", *map(str, arguments)],
                            env={**os.environ, **upstream},
                            capture_output=True,
                            text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_upstream_tables_and_views_have_the_same_columns(export, upstream):
    rocpd = export("--calls", 100)
    uuid = rocpd.one("SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")
    theirs = sqlite3.connect(":memory:")
    for file in ("rocpd_tables", "rocpd_views", "data_views", "marker_views", "summary_views"):
        text = (pathlib.Path(upstream["ROCPD_SCHEMA"]) / f"{file}.sql").read_text()
        theirs.executescript(
            text.replace("{{uuid}}", uuid).replace("{{guid}}", uuid[1:].replace("_", "-")))
    names = [
        row[0]
        for row in theirs.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE"
            " 'sqlite%'"
        )
    ]
    assert len(names) > 50
    for name in names:
        shape = (
            "SELECT lower(name), upper(type), \"notnull\", pk FROM pragma_table_info('{}')".format(
                name
            )
        )
        if not name.endswith(uuid): # a view declares only column names
            shape = f"SELECT lower(name) FROM pragma_table_info('{name}')"
        assert rocpd.rows(shape) == theirs.execute(shape).fetchall(), name
        keys = (
            f"SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list('{name}') ORDER BY"
            " 1, 2"
        )
        assert rocpd.rows(keys) == theirs.execute(keys).fetchall(), name


def test_upstream_views_say_the_same_of_our_tables(export, upstream):
    rocpd = export()
    views = {}
    for file in ("data_views", "summary_views"):
        text = (pathlib.Path(upstream["ROCPD_SCHEMA"]) / f"{file}.sql").read_text()
        for statement in re.split(r";\s*", re.sub(r"--.*", "", text)):
            match = re.match(r"\s*CREATE VIEW(?: IF NOT EXISTS)?\s*`(\w+)` AS(.*)", statement, re.S)
            if match:
                views[match[1]] = match[2]
    assert {"kernels", "memory_copies", "regions", "top", "busy"} <= views.keys()
    for name, body in views.items():
        ours, theirs = rocpd.rows(f"SELECT * FROM {name}"), rocpd.rows(body)
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs)), name
    assert rocpd.one("SELECT count(*) FROM kernels") > 0


def test_upstream_query_reads_our_files(export, upstream):
    rocpd = export()
    out = rocpd_tool(upstream, "query", "-i", rocpd.path, "--query",
                     "SELECT count(*) AS kernels FROM kernels")
    assert str(len(rocpd.of("device", KERNEL))) in out


def test_upstream_summary_adds_up_what_is_there(export, upstream, work):
    rocpd = export()
    rocpd_tool(upstream, "summary", "-i", rocpd.path, "--format", "csv", "--domain-summary", "-d",
               work / "out", "-o", "s")
    text = (work / "out/s_kernels_summary.csv").read_text()
    calls = sum(
        int(m) for m in re.findall(r"^.*,(\d+),\d+,[\d.]+,[\d.]+,\d+,\d+,[\d.e+-]*$", text, re.M))
    assert calls == len(rocpd.of("device", KERNEL))
    assert "OPENCL" in (work / "out/s_domain_summary.csv").read_text()


LOADER = """
#include <iostream>
#include <rocprofiler-sdk/cxx/serialization/load.hpp>
int main()
{
	for (std::string line; std::getline(std::cin, line);) {
		std::stringstream text{line};
		cereal::JSONInputArchive archive{text};
		rocprofiler_agent_v0_t agent{};
		cereal::load(archive, agent);
		std::cout << agent.name << '|' << agent.type << '|' << agent.node_id << '|'
			  << agent.logical_node_type_id << "\\n";
	}
}
"""


def test_upstream_c_plus_plus_loads_our_agents_as_its_convert_does(export, upstream, work):
    if subprocess.run(["g++", "-E", "-xc++", "-include", "cereal/cereal.hpp", "/dev/null"],
                      capture_output=True).returncode:
        pytest.skip("needs cereal: apt install libcereal-dev")
    rocpd = export()
    (work / "load.cpp").write_text(LOADER)
    include = pathlib.Path(os.environ["GPUTAP_ROCPD_CHECKOUT"]) / "source/include"
    subprocess.run([
        "g++", "-std=c++17", "-w", f"-I{conftest.REPO}/include/compat", "-idirafter", include,
        work / "load.cpp", "-o", work / "load"
    ],
                   check=True,
                   timeout=600)
    rows = rocpd.rows(
        "SELECT extdata, name || '|' || ((type = 'GPU') + 1) || '|' || absolute_index || '|' ||"
        " type_index FROM rocpd_info_agent"
    )
    out = subprocess.run([work / "load"],
                         input="".join(row[0] + "\n" for row in rows),
                         text=True,
                         capture_output=True,
                         check=True).stdout
    assert out.splitlines() == [row[1] for row in rows] and len(rows) > 1


def test_upstream_reads_two_ranks_as_one_job(export, upstream):
    ranks = [export("--calls", 200, "--pid", 5000 + 1000 * i, name=f"r{i}") for i in range(2)]
    out = rocpd_tool(upstream, "query", "-i", *[r.path for r in ranks], "--query",
                     "SELECT count(*) AS regions, count(DISTINCT pid) AS pids FROM regions")
    assert re.search(r"\b400\b.*\b2\b", out, re.S)
