# SPDX-License-Identifier: MIT
"""Compare the RPD export with the capture, as tests/synth/dump prints it, and test the export with
RPD's own tools."""

import collections
import dataclasses
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

import pytest

KERNEL, READ, WRITE, COPY, FILL = 1, 2, 3, 4, 5
TYPES = {
    KERNEL: "KernelExecution", READ: "CopyDeviceToHost", WRITE: "CopyHostToDevice",
    COPY: "CopyDeviceToDevice", FILL: "FillBuffer"
}


@dataclasses.dataclass
class Item:
    kind: str
    process: int
    ordinal: int
    id: int
    start: int
    end: int
    device_op: int = 0
    value: int = 0
    depth: int = 0
    op: int = 0

    @property
    def pid(self):
        return 4000 + 100 * self.process  # as tests/synth numbers processes

    @property
    def tid(self):
        return self.pid + self.ordinal


ITEM = re.compile(
    r"(call|device|external) (\d+)/(\d+) op=(\S+) depth=(\d+) id=(\S+) parent=\S+ ext=\S+"
    r" (\d+)\.\.(\d+)(.*)"
)


def read_items(run, build, capture):
    """Return all records, as printed by tests/synth/dump, which shares no code with exports."""
    items = []
    for line in run([build / "tests/synth/dump", capture, "--items"]).out.splitlines():
        match = ITEM.match(line)
        if match:
            kind, process, ordinal, op, depth, ident, start, end, rest = match.groups()
            item = Item(kind,
                        int(process),
                        int(ordinal),
                        int(ident, 16) if ident != "0" else 0,
                        int(start),
                        int(end),
                        depth=int(depth),
                        op=int(op, 16))
            if kind == "device":
                item.device_op = int(rest.split()[0])
            if kind == "external":
                item.value = int(rest.split("value=")[1])
            items.append(item)
    return items


class Export:
    def __init__(self, run, build, tap, folder, *options):
        self.capture, self.path = folder / "t.gputap", folder / "t.rpd"
        run([build / "tests/synth/synth", *options, "-o", self.capture])
        tap("export", self.capture, "-o", self.path, status=1 if "--cut" in options else 0)
        self.items = read_items(run, build, self.capture)
        self.db = sqlite3.connect(self.path)

    def of(self, kind):
        return [i for i in self.items if i.kind == kind]

    def rows(self, query, *arguments):
        return self.db.execute(query, arguments).fetchall()

    def one(self, query):
        return self.rows(query)[0][0]


EVERYTHING = ("--calls", "400", "--threads", "3", "--processes", "2", "--devices", "2", "--queues",
              "2", "--kernels", "12", "--names", "tricky", "--overlap", "--nested", "--failed",
              "--drops", "--external", "--events")


@pytest.fixture
def export(run, build, tap, work):
    made = []

    def make(*options):
        made.append(Export(run, build, tap, work, *(options or EVERYTHING)))
        return made[-1]
    yield make
    for one in made:
        one.db.close()


@pytest.mark.parametrize("options", [
    EVERYTHING,
    ("--calls", "0"),
    ("--calls", "1"),
    ("--calls", "50", "--plain"),
    ("--calls", "500", "--cut"),
    ("--calls", "500", "--crash", "--processes", "2"),
    # a large file: 64 KiB pages, several levels of tree pages
    ("--calls", "60000", "--threads", "2", "--kernels", "300"),
])
def test_rpd_file_is_a_sound_database(export, options):
    rpd = export(*options)
    assert rpd.rows("PRAGMA integrity_check") == [("ok",)]
    assert rpd.rows("PRAGMA foreign_key_check") == []
    assert rpd.one("SELECT count(*) FROM rocpd_api") >= len(rpd.of("call"))


def test_rpd_has_each_call_once_with_its_thread_and_times(export):
    rpd = export()
    expected = collections.Counter((i.pid, i.tid, i.start, i.end) for i in rpd.of("call"))
    found = collections.Counter(
        rpd.rows(
            "SELECT pid, tid, start, end FROM api WHERE apiName NOT IN ('UserMarker', '(call not"
            " recorded)')"
        )
    )
    assert found == expected


def test_rpd_has_each_work_item_once_with_its_type_and_times(export):
    rpd = export()
    expected = collections.Counter(
        (TYPES.get(i.device_op), i.start, i.end) for i in rpd.of("device") if i.device_op in TYPES)
    found = collections.Counter(
        rpd.rows(f"SELECT opType, start, end FROM op WHERE opType IN {tuple(TYPES.values())}"))
    assert found == expected
    assert rpd.one("SELECT count(*) FROM op") == len(rpd.of("device"))


def test_rpd_links_each_work_item_to_the_call_that_caused_it(export):
    rpd = export()
    calls = {(i.process, i.id): i for i in rpd.of("call")}
    linked = rpd.rows(
        "SELECT o.start, o.end, a.pid, a.tid, a.start, n.string FROM rocpd_op o JOIN rocpd_api_ops"
        " l ON l.op_id = o.id JOIN rocpd_api a ON a.id = l.api_id JOIN rocpd_string n ON n.id ="
        " a.apiName_id"
    )
    assert len(linked) == len(rpd.of("device"))
    expected = collections.Counter()
    for work in rpd.of("device"):
        call = calls.get((work.process, work.id))
        expected[(work.start, work.end) + (
            (call.pid, call.tid, call.start, True) if call else (work.pid, None, None, False))] += 1
    found = collections.Counter()
    for start, end, pid, tid, at, name in linked:
        seen = name != "(call not recorded)"
        found[(start, end, pid) + ((tid, at, True) if seen else (None, None, False))] += 1
    assert found == expected


def test_rpd_views_leave_nothing_out(export):
    rpd = export()
    kernels = sum(i.device_op == KERNEL for i in rpd.of("device"))
    copies = sum(i.device_op in (READ, WRITE, COPY) for i in rpd.of("device"))
    assert rpd.one("SELECT count(*) FROM api") == rpd.one("SELECT count(*) FROM rocpd_api")
    assert rpd.one("SELECT count(*) FROM napi") == rpd.one("SELECT count(*) FROM rocpd_api")
    assert rpd.one("SELECT count(*) FROM nop") == len(rpd.of("device"))
    assert rpd.one("SELECT count(*) FROM kernel") == kernels
    assert rpd.one("SELECT count(*) FROM copyop") == copies
    assert rpd.one("SELECT count(*) FROM copy") == copies
    assert rpd.one("SELECT count(*) FROM stackframe") == 0


def test_rpd_views_sum_up_what_the_capture_says(export):
    rpd = export()
    work = rpd.of("device")
    total = sum(i.end - i.start for i in work)
    wall = max(i.end for i in work) - min(i.start for i in work)
    assert rpd.one("SELECT sum(GpuTime) FROM busy") == total
    assert rpd.rows("SELECT DISTINCT WallTime FROM busy") == [(wall,)]
    assert rpd.one("SELECT sum(TotalCalls) FROM top") == len(work)
    assert abs(rpd.one("SELECT sum(Percentage) FROM top") - 100) < 1e-6
    for device_op, name in ((READ, "CopyDeviceToHost"), (WRITE, "CopyHostToDevice")):
        times = [i.end - i.start for i in work if i.device_op == device_op]
        assert rpd.rows("SELECT TotalCalls, TotalDuration_us FROM top WHERE Name = ?",
                        name) == [(len(times), sum(times) // 1000)]


def test_rpd_intervals_of_a_thread_nest(export):
    rpd = export()
    stack, last, depths = [], None, set()
    for pid, tid, start, end in rpd.rows(
            "SELECT pid, tid, start, end FROM rocpd_api ORDER BY pid, tid, start, end DESC"):
        if (pid, tid) != last:
            stack, last = [], (pid, tid)
        while stack and stack[-1] <= start:
            stack.pop()
        assert not stack or end <= stack[-1], f"{start}..{end} reaches out of what it lies in"
        stack.append(end)
        depths.add(len(stack))
    assert max(depths) > 1


def test_rpd_texts_keep_the_rules_of_both_schemas(export):
    rpd = export()
    assert rpd.rows("SELECT id FROM rocpd_string WHERE string = ''") == [(1,)]
    assert rpd.rows("SELECT id FROM rocpd_ustring WHERE string = ''") == [(1,)]
    both = (
        "SELECT count(*) FROM rocpd_ustring u JOIN rocpd_string s ON s.id = u.id AND s.string ="
        " u.string"
    )
    assert rpd.one(both) == rpd.one("SELECT count(*) FROM rocpd_ustring") > 10
    # RPD's tools print these strings into JSON without escaping
    texts = [row[0] for row in rpd.rows("SELECT string FROM rocpd_string")]
    assert any("'" in t for t in texts) and any(
        "/" in t for t in texts), "names that had quotes and backslashes are there"
    assert any(ord(c) > 127 for t in texts for c in t), "and other languages' letters"
    for text in texts:
        assert not set(text) & {'"', "\\"} and not any(ord(c) < 32 or ord(c) == 127
                                                       for c in text), text


def test_rpd_columns_are_those_of_schema_3(export):
    rpd = export("--calls", "1")
    columns = {
        "rocpd_api": "id pid tid start end apiName_id category_id domain_id args_id",
        "rocpd_op": "id gpuId queueId sequenceId start end description_id opType_id",
        "rocpd_api_ops": "id api_id op_id",
        "rocpd_copyapi": (
            "api_ptr_id stream size width height kind dst src dstDevice srcDevice sync pinned"
        ),
        "rocpd_kernelapi": (
            "api_ptr_id stream gridX gridY gridZ workgroupX workgroupY workgroupZ groupSegmentSize"
            " privateSegmentSize kernelName_id"
        ),
        "rocpd_monitor": "id deviceType deviceId monitorType start end value",
        "rocpd_counter": "id value op_id name_id",
        "rocpd_stackframe": "id api_ptr_id depth name_id",
    }
    for table, names in columns.items():
        info = rpd.rows(f"PRAGMA table_info({table})")
        assert [row[1] for row in info] == names.split()
        assert all(row[3] for row in info), f"every column of {table} is NOT NULL"
    metadata = dict(rpd.rows("SELECT tag, value FROM rocpd_metadata"))
    assert (metadata["schema_version"], metadata["gpu_stride"],
            metadata["pid_stride"]) == ("3", "1000", "10000000")


def test_rpd_new_rows_get_ids_behind_ours(export):
    rpd = export()
    for table in ("rocpd_string", "rocpd_ustring"):
        last = rpd.one(f"SELECT max(id) FROM {table}")
        rpd.db.execute(f"INSERT INTO {table}(string) VALUES ('new')")
        assert rpd.one(f"SELECT max(id) FROM {table}") > last
    assert rpd.rows("PRAGMA integrity_check") == [("ok",)]


def test_rpd_markers_are_the_external_ids(export):
    rpd = export()
    open_now, expected = collections.defaultdict(list), collections.Counter()
    for item in rpd.items:
        if item.kind == "external":
            key = item.process, item.ordinal, item.op
            if item.depth:
                open_now[key].append((item.value, item.start))
            elif open_now[key]:
                value, start = open_now[key].pop()
                expected[(item.pid, item.tid, start, item.start,
                          f"{'user' if item.op else 'operation'} {value}")] += 1
    assert expected
    found = collections.Counter(
        rpd.rows("SELECT pid, tid, start, end, args FROM api WHERE apiName = 'UserMarker'"))
    assert not expected - found, "each closed range is there"
    assert sum((found - expected).values()) == sum(map(
        len, open_now.values())), "and each that was never closed"


def test_rpd_shows_which_copies_the_program_waited_for(export):
    rpd = export()
    for name, args, sync in rpd.rows(
            "SELECT c.apiName, a.args, c.sync FROM copy c JOIN api a ON a.id = c.id"):
        assert sync == ("=CL_TRUE" in args), f"{name} {args}"


def test_rpd_metadata_shows_what_is_missing(export):
    rpd = export("--calls", "300", "--drops", "--cut")
    metadata = dict(rpd.rows("SELECT tag, value FROM rocpd_metadata"))
    assert metadata["gputap::complete"] == "no"
    assert int(metadata["gputap::calls_dropped"]) > 0
    assert int(metadata["gputap::calls_seen"]) == len(rpd.of("call")) + int(
        metadata["gputap::calls_dropped"])


# RPD's own tools ---------------------------------------------------------------


@pytest.fixture(scope="session")
def upstream():
    """Return the path of a rocmProfileData checkout with full history."""
    path = os.environ.get("GPUTAP_RPD_CHECKOUT")
    if not path:
        pytest.skip("GPUTAP_RPD_CHECKOUT does not name a checkout of rocmProfileData")
    return pathlib.Path(path)


def python(upstream, *arguments, cwd=None):
    done = subprocess.run([sys.executable, *map(str, arguments)],
                          cwd=cwd,
                          text=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT,
                          env={
                              **os.environ, "PYTHONPATH": str(upstream / "rocpd_python"),
                              "PYTHONDONTWRITEBYTECODE": "1"
                          },
                          timeout=600)
    assert done.returncode == 0, done.stdout
    return done.stdout


V2_CONVERTER = "92d13a0"  # last commit without schema 3


def convert(upstream, work, rpd, version):
    script = upstream / "tools/rpd2tracing.py"
    if version == 2:
        script = work / "rpd2tracing_v2.py"
        script.write_bytes(
            subprocess.run(["git", "-C", upstream, "show", f"{V2_CONVERTER}:tools/rpd2tracing.py"],
                           check=True,
                           stdout=subprocess.PIPE).stdout)
    out = work / f"v{version}.json"
    python(upstream, script, rpd.path, out)
    return json.loads(out.read_text())["traceEvents"]


@pytest.mark.parametrize("version", [2, 3])
def test_rpd2tracing_converts_every_record(export, upstream, work, version):
    rpd = export()
    events = [e for e in convert(upstream, work, rpd, version) if e]
    spans = [
        e for e in events if e["ph"] in "Xi"
        and not str(e.get("args", {}).get("desc", "")).startswith("UserMarker frame")
    ]
    assert len(spans) == rpd.one("SELECT count(*) FROM rocpd_api") + rpd.one(
        "SELECT count(*) FROM rocpd_op")
    assert sum(e["ph"] == "s" for e in events) == sum(e["ph"] == "f"
                                                      for e in events) == len(rpd.of("device"))
    markers = {row[0] for row in rpd.rows("SELECT args FROM api WHERE apiName = 'UserMarker'")}
    assert markers <= {e["name"] for e in spans}


def test_rpd2tracing_of_both_generations_say_the_same(export, upstream, work):
    rpd = export()
    assert convert(upstream, work, rpd, 2) == convert(upstream, work, rpd, 3)


def test_rpd_trim_keeps_what_lies_in_the_range(export, upstream):
    rpd = export()
    before = rpd.one("SELECT count(*) FROM rocpd_op"), rpd.one("SELECT count(*) FROM rocpd_api")
    rpd.db.close()
    python(upstream, upstream / "tools/rpd_trim.py", rpd.path, "--start", "0%", "--end", "100%")
    rpd.db = sqlite3.connect(rpd.path)
    assert (rpd.one("SELECT count(*) FROM rocpd_op"),
            rpd.one("SELECT count(*) FROM rocpd_api")) == before
    assert rpd.one("SELECT count(*) FROM api") == before[1] and rpd.one(
        "SELECT count(*) FROM op") == before[0]
    rpd.db.close()
    python(upstream, upstream / "tools/rpd_trim.py", rpd.path, "--start", "25%", "--end", "50%")
    rpd.db = sqlite3.connect(rpd.path)
    assert 0 < rpd.one("SELECT count(*) FROM rocpd_api") < before[1]
    assert rpd.one("SELECT count(*) FROM api") == rpd.one("SELECT count(*) FROM rocpd_api")
    assert rpd.rows("PRAGMA integrity_check") == [("ok",)]


def test_rocpd_call_stacks_adds_up_the_gpu_time(export, upstream):
    rpd = export()
    work = rpd.one("SELECT sum(end - start) FROM rocpd_op")
    rpd.db.close()
    python(upstream, "-m", "rocpd.call_stacks", rpd.path)
    rpd.db = sqlite3.connect(rpd.path)
    own = "FROM ext_callstack WHERE depth = 0"
    assert rpd.one(f"SELECT sum(gpu_time) {own}") == work > 0
    assert rpd.one(f"SELECT count(*) {own}") == rpd.one("SELECT count(*) FROM rocpd_api")


def add_api(db, name, args, start, end, pid=4000, tid=4001):
    """Add a call of another runtime. As in an export, both string tables contain the call's
    arguments under one id."""
    ids = []
    for text in (name, args, "hip"):
        ids.append(db.execute("INSERT INTO rocpd_string(string) VALUES (?)", (text,)).lastrowid)
        db.execute("INSERT INTO rocpd_ustring(id, string) VALUES (?, ?)", (ids[-1], text))
    return db.execute(
        "INSERT INTO rocpd_api(pid, tid, start, end, apiName_id, category_id, domain_id, args_id) "
        "VALUES (?, ?, ?, ?, ?, 1, ?, ?)", (pid, tid, start, end, ids[0], ids[2], ids[1])).lastrowid


def test_rocpd_autograd_finds_annotated_operators(export, upstream):
    rpd = export()
    start, end = rpd.rows(
        "SELECT min(start), max(end) FROM rocpd_api WHERE pid = 4000 AND tid = 4001")[0]
    add_api(
        rpd.db, "UserMarker",
        "aten::mm, seq = 3, op_id = 7, sizes = [[2, 2], [2, 2]], input_op_ids = ((5, 0), (6, 0))",
        start - 1, end + 1)
    rpd.db.commit()
    rpd.db.close()
    python(upstream, "-m", "rocpd.autograd", rpd.path)
    rpd.db = sqlite3.connect(rpd.path)
    assert rpd.rows("PRAGMA integrity_check") == [("ok",)]
    assert rpd.rows("SELECT autogradName, seq, op_id FROM autograd") == [("aten::mm", 3, 7)]
    assert rpd.one("SELECT count(*) FROM op") == len(rpd.of("device"))


def test_rocpd_graph_finds_captured_graphs_added_by_our_rule(export, upstream):
    """The test adds graph calls, because OpenCL has none, and rocpd.graph fails on files without
    graph calls."""
    rpd = export()
    end = rpd.one("SELECT max(end) FROM rocpd_api")
    for i, (name, args) in enumerate((("hipStreamBeginCapture", "stream = 0x10"),
                                      ("hipStreamEndCapture", "stream = 0x10 | graph = 0x20"),
                                      ("hipGraphInstantiate", "graphExec = 0x30 | graph = 0x20"),
                                      ("hipGraphLaunch", "stream = 0x10 | graphExec = 0x30"))):
        add_api(rpd.db, name, args, end + 100 * i, end + 100 * i + 50)
    rpd.db.commit()
    rpd.db.close()
    python(upstream, "-m", "rocpd.graph", rpd.path)
    rpd.db = sqlite3.connect(rpd.path)
    assert rpd.rows("SELECT graph, graphExec, stream FROM ext_graph") == [("0x20", "0x30", "0x10")]


def test_raptor_sees_all_kernels(export, upstream):
    rpd = export()
    out = python(upstream,
                 upstream / "raptor/raptor.py",
                 rpd.path,
                 "--categorize",
                 "--kernelseq",
                 cwd=upstream / "raptor")
    assert "plain" in out
