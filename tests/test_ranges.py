# SPDX-License-Identifier: MIT
"""Test ranges of the program and of frameworks: gputap_range_begin() and gputap_range_end()."""
import contextlib
import csv
import io
import json
import sqlite3
import subprocess

import pytest

from consumers import perfetto


@pytest.fixture(scope="module")
def program(tmp_path_factory, repo, build):
    path = tmp_path_factory.mktemp("ranges") / "ranges"
    subprocess.run([
        "cc", "-O1", "-Wall", f"-I{repo}/include", repo / "tests/ranges/ranges.c", "-o", path,
        f"-L{build}", "-l:libgputap.so.0", f"-Wl,-rpath,{build}", "-lpthread"
    ], check=True)
    return path


@pytest.fixture
def trace(tap, program, work):
    """Return a function: run() returns the program's output and its recorded ranges."""
    def run(*words):
        result = tap("run", "-f", "-o", "a.gputap", "--", program, *words)
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = csv.DictReader(io.StringIO((work / "a.csv").read_text()))
        return result.out, [r for r in rows if r["domain"] == "ranges"]
    return run


def names(rows):
    return [r["arguments"].split('"')[1] for r in rows]


def test_without_gputap_nothing_is_begun(run, program):
    assert run([program]).out.split() == ["-107"] * 9


def test_pushes_and_pops_nest_and_a_pop_without_a_push_changes_nothing(trace):
    out, rows = trace("push")
    assert out.split() == ["0", "-61", "-22", "0", "0", "0", "0", "0", "0", "0", "-61"]
    assert names(rows) == ["load", "store", "keyed", "step"]
    assert {r["operation"] for r in rows} == {"range_user"}


def test_a_pop_ends_the_ranges_inside_it_and_deep_pushes_are_counted(trace):
    out, rows = trace("push_deep")
    assert out.split() == ["0", "0", "-61", "50", "0", "-61"]
    assert names(rows) == ["keyed", "outer"] + ["deep"] * 250


def test_a_push_and_a_pop_without_gputap_have_no_effect(run, program):
    assert run([program, "push"]).out.split() == ["-107", "-107", "-22"] + ["-107"] * 8


def test_options_of_a_newer_caller_must_end_in_zeroes(trace):
    out, rows = trace("options")
    assert out.split() == ["0", "0", "-22", "-22", "-22", "0"]
    assert names(rows) == ["longer"]


def test_a_range_is_recorded_when_it_ends_with_what_it_says_of_itself(trace):
    out, rows = trace("nest")
    assert out.split() == ["0"] * 9
    assert [(r["operation"], r["arguments"]) for r in rows] == [
        ("range_operator", 'name="aten::empty", sequence=-1, shapes=NULL, shape_count=0'),
        ("range_operator", 'name="aten::add", sequence=7, shapes=[2, 4, 8, -1, 0], shape_count=5'),
        ("range_backward", 'name="AddBackward0", sequence=-1, shapes=NULL, shape_count=0'),
        ("range_user", 'name="step", sequence=-1, shapes=NULL, shape_count=0'),
    ]


@pytest.mark.parametrize("wanted, unmet", [("range_user", ""), ("range_op*,range_user", ""),
                                           ("range_user,clFinish", " --ops clFinish")])
def test_a_range_is_met_by_the_name_of_its_operation(tap, program, wanted, unmet):
    """--ops selects ranges by operation name, although reports show the program's own text as a
    range's name."""
    short = tap("run", "-f", "-o", "a.gputap", "--ops", wanted, "--", program, "nest").err
    head = tap("report", "--all", "a.gputap").out
    assert "step" in head
    for said in (short, head):
        assert ("nothing matched" + unmet in said) == bool(unmet), said


def test_a_range_names_the_last_call_that_was_begun_in_it(trace):
    rows = {names([r])[0]: r for r in trace("nest")[1]}
    ids = {name: int(r["correlation"]) for name, r in rows.items()}
    lasts = {name: int(r["return"], 16) & (1 << 40) - 1 for name, r in rows.items()}
    assert ids == {"step": 1, "aten::add": 2, "aten::empty": 3, "AddBackward0": 4}
    assert lasts == {"step": 4, "aten::add": 3, "aten::empty": 3, "AddBackward0": 4}


def test_an_outer_ranges_end_ends_what_is_in_it(trace):
    out, rows = trace("cross")
    assert out.split() == ["0", "-61", "-61", "0", "-61", "-22", "-22"]
    assert names(rows) == ["inner", "outer"]


def test_what_is_never_ended_is_counted_as_unfinished(trace, tap):
    trace("cross")
    counts = json.loads(tap("info", "--json", "a.gputap").out)
    assert "unfinished" in json.dumps(counts)


def test_a_program_that_never_saw_torch_is_not_reported_under_that_name(trace, tap, work):
    trace("push")
    tap("export", "a.gputap", "-o", "a.json")
    texts = [tap("info", "a.gputap").out, tap("report", "--all", "a.gputap").out,
             tap("list", "operations", "-d", "ranges").out, (work / "a.csv").read_text(),
             (work / "a.json").read_text()]
    assert [t for t in texts if "torch" in t] == []
    assert "range_user" in texts[2] and "ranges" in texts[0]
    tap("run", "-q", "-f", "-o", "b.gputap", "-d", "ranges", "--", "true")


def test_reports_and_exports_say_how_many_ranges_were_cut_off(trace, tap, work):
    trace("cross")
    report = tap("report", "--all", "a.gputap").out
    assert "nothing lost, 1 range open at the end" in report and "were lost" not in report
    lost = report.partition("\nLost\n")[2].splitlines()[1].split()
    assert lost == ["1", "3", "ranges", "calls", "unfinished"]
    tap("export", "a.gputap", "-o", "a.json")
    about = json.loads((work / "a.json").read_text())["gputap"]
    assert about["calls"] == {"seen": 3, "recorded": 2, "dropped": 1}
    tap("export", "a.gputap", "-o", "a.pftrace")
    assert perfetto.ask(work / "a.pftrace", about="""
        select extract_arg(arg_set_id, 'debug.calls dropped') as cut from slice
        where name = 'capture'""")["about"] == [{"cut": 1}]


def test_ranges_beyond_250_deep_are_counted_and_ended_in_order(trace):
    out, rows = trace("deep")
    assert out.split() == ["0", "50", "0"]
    assert len(rows) == 250


def test_a_long_name_is_cut_and_an_empty_one_is_none(trace):
    out, rows = trace("long")
    assert out.split() == ["0"] * 5
    assert len(rows) == 2 and "x" * 1024 in rows[1]["arguments"]
    assert "x" * 1025 not in rows[1]["arguments"]


def test_threads_have_ranges_of_their_own(trace):
    _, rows = trace("threads")
    assert len(rows) == 16 and len({r["thread"] for r in rows}) == 4


def test_a_range_that_is_open_at_a_fork_is_the_parents(trace):
    out, rows = trace("fork")
    assert out.split()[-2:] == ["0", "0"]
    assert sorted((r["process"], names([r])[0]) for r in rows) == [("0", "across the fork"),
                                                                   ("1", "the child's")]


def test_reports_tell_of_ranges_apart_from_calls(trace, tap):
    trace("nest")
    report = tap("report", "--all", "a.gputap").out
    assert "4 ranges, 0 calls" in report and "aten::add" in report


def test_chrome_json_has_ranges_as_torch_has_them(trace, tap, work):
    trace("nest")
    tap("export", "a.gputap", "-o", "a.json")
    events = {e["name"]: e for e in json.loads((work / "a.json").read_text())["traceEvents"]
              if e["ph"] == "X"}
    assert {n: e["cat"] for n, e in events.items()} == {
        "step": "user_annotation", "aten::add": "cpu_op", "aten::empty": "cpu_op",
        "AddBackward0": "cpu_op"}
    assert events["aten::add"]["args"] == {
        "External id": 2, "Sequence number": 7, "Input Dims": [[4, 8], [], []]}


def test_perfetto_nests_ranges_that_came_innermost_first(trace, tap, work):
    trace("nest")
    tap("export", "a.gputap", "-o", "a.pftrace")
    rows = perfetto.ask(work / "a.pftrace", ranges="""
        select s.name as name, p.name as parent, s.category as category
        from slice s left join slice p on s.parent_id = p.id
        where s.category in ('cpu_op', 'user_annotation') order by s.ts""")["ranges"]
    assert [tuple(r.values()) for r in rows] == [
        ("step", None, "user_annotation"), ("aten::add", "step", "cpu_op"),
        ("aten::empty", "aten::add", "cpu_op"), ("AddBackward0", "step", "cpu_op")]


@pytest.fixture(scope="module")
def worker(tmp_path_factory, repo, build):
    path = tmp_path_factory.mktemp("ranges") / "work"
    subprocess.run([
        "cc", "-O1", "-Wall", "-Wno-deprecated-declarations", f"-I{repo}/include",
        repo / "tests/ranges/activity.c", "-o", path, f"-L{build}", "-l:libgputap.so.0",
        f"-Wl,-rpath,{build}", "-lOpenCL"
    ], check=True)
    return path


def operators(tap, *words):
    rows = csv.DictReader(io.StringIO(tap("report", "--csv", *words, "a.gputap").out))
    return {r["name"]: r for r in rows}


def test_device_work_is_the_innermost_ranges_and_counts_for_those_around_it(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    rows = operators(tap, "--by", "range")
    assert {n: int(r["activities"]) for n, r in rows.items()} == {
        "step": 2, "outer": 3, "inner": 15, "(in no range)": 2}
    assert {n: r["count"] for n, r in rows.items()} == {
        "step": "1", "outer": "3", "inner": "6", "(in no range)": ""}
    total = {n: int(r["gpu_total_ns"]) for n, r in rows.items()}
    own = {n: int(r["gpu_self_ns"]) for n, r in rows.items()}
    assert total["step"] == own["step"] + own["outer"] + own["inner"]
    assert total["outer"] == own["outer"] + own["inner"] and total["inner"] == own["inner"]


def test_a_filter_leaves_its_work_under_the_operators(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    assert operators(tap, "--by", "range", "--where", "kind=kernel") == {}



def test_chrome_json_links_calls_and_work_to_the_innermost_range(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    tap("export", "a.gputap", "-o", "a.json")
    events = json.loads((work / "a.json").read_text())["traceEvents"]
    owners = {e["args"]["External id"]: e["name"] for e in events
              if e.get("cat") in ("cpu_op", "user_annotation")}
    for kind, name in ("gpu_memset", "Memset (Device)"), ("cuda_runtime", "clEnqueueFillBuffer"):
        found = [owners.get(e["args"].get("External id")) for e in events
                 if e.get("cat") == kind and e["name"] == name]
        assert {n: found.count(n) for n in found} == {
            "step": 2, "outer": 3, "inner": 15, None: 2}


def test_perfetto_links_calls_and_work_to_the_innermost_range(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    tap("export", "a.gputap", "-o", "a.pftrace")
    number = "extract_arg(%s.arg_set_id, 'debug.external_id')"
    found = perfetto.ask(work / "a.pftrace", **{
        name: f"""
            select r.name as name, count(*) as count from slice s
            left join slice r on {number % "r"} = {number % "s"}
                and r.category in ('cpu_op', 'user_annotation')
            where s.name = '{name}' group by r.name""" for name in ("clEnqueueFillBuffer", "memset")
    }, flows="""
            select r.name as name, count(distinct s.id) as count from slice s
            join directly_connected_flow(s.id) f join slice r on r.id = f.slice_out
            where s.name = 'memset' and r.category in ('cpu_op', 'user_annotation')
            group by r.name""")
    counts = {what: {r["name"]: r["count"] for r in rows} for what, rows in found.items()}
    linked = {"step": 2, "outer": 3, "inner": 15, None: 2}
    assert counts["clEnqueueFillBuffer"] == counts["memset"] == linked
    assert set(counts["flows"]) == {"step", "outer", "inner"}


def test_rpds_markers_enclose_the_calls_whose_work_is_theirs(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    tap("export", "a.gputap", "-o", "a.rpd")
    query = """
        select (select m.args from api m where m.apiName = 'UserMarker' and m.pid = a.pid
                and m.tid = a.tid and m.start <= a.start and m.end >= a.end
                order by m.end - m.start limit 1) as marker, count(*)
        from api a join rocpd_api_ops l on l.api_id = a.id join op o on o.id = l.op_id
        where a.apiName = 'clEnqueueFillBuffer' group by marker"""
    with contextlib.closing(sqlite3.connect(work / "a.rpd")) as base:
        assert dict(base.execute(query)) == {"step": 2, "outer": 3, "inner": 15, None: 2}


@pytest.mark.parametrize("expression, count", [
    ("range=step", 20),
    ("range=outer", 18),
    ("range=inner", 15),
    ("range~^inn", 15),
    ("range!=inner", 5),  # in a range with another name, but not in `inner`
    ("range=step and not range=outer", 2),
    ("not range=step", 2),
    ("range=idle", None),
])
def test_where_range_takes_calls_and_work_in_a_range_of_that_name(tap, worker, work, expression,
                                                                  count):
    tap("run", "-o", "a.gputap", "--", worker)

    def counts(table, key, column):
        rows = csv.DictReader(io.StringIO(
            tap("report", "--csv", "-t", table, "--where", expression, "a.gputap").out))
        return {r[key]: int(r[column]) for r in rows}
    assert counts("operations", "name", "calls").get("clEnqueueFillBuffer") == count
    assert counts("copies", "operation", "count").get("memset") == count


@pytest.fixture(scope="module", params=["roctx", "nvtx"])
def across(request, tmp_path_factory, repo, build):
    path = tmp_path_factory.mktemp("ranges") / "across"
    roctx = build / "src/compat/roctx"
    words = ["-DNVTX", "-ldl"] if request.param == "nvtx" else [
        f"-L{roctx}", "-l:libroctx64.so.4", f"-Wl,-rpath,{roctx}"]
    subprocess.run([
        "cc", "-O1", "-Wall", f"-I{repo}/include", repo / "tests/ranges/across.c", "-o", path,
        *words, "-lOpenCL", "-lpthread"
    ], check=True)
    return path


@pytest.mark.parametrize("expression, count", [
    ("range=own", 3),
    ("range=others", 5),
    ("range=own and range=others", 1),
    ("range='never stopped'", 16),
    ("not range~.", 8),
])
def test_where_range_takes_what_is_between_start_and_stop(tap, across, work, expression, count):
    tap("run", "-o", "a.gputap", "--", across)
    rows = csv.DictReader(io.StringIO(
        tap("report", "--csv", "-t", "copies", "--where", expression, "a.gputap").out))
    assert {r["operation"]: int(r["count"]) for r in rows}["memset"] == count


# NVTX, and pauses --------------------------------------------------------------------

@pytest.fixture(scope="module")
def nvtx(tmp_path_factory, repo):
    path = tmp_path_factory.mktemp("ranges") / "nvtx"
    subprocess.run(["cc", "-O1", "-Wall", "-Wno-unused-function", repo / "tests/ranges/nvtx.c",
                    "-o", path, "-ldl"], check=True)
    return path


def test_nvtxs_marks_and_ranges_are_recorded_with_texts_of_each_kind(tap, nvtx, work):
    tap("run", "-o", "a.gputap", "--", nvtx)
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["seen"] == info["recorded"] == 10
    tap("export", "a.gputap", "-o", "a.json")
    events = json.loads((work / "a.json").read_text())["traceEvents"]
    found = {e["name"]: e for e in events if e.get("cat") == "user_annotation"}
    assert set(found) == {"outer", "käse \U0001f9c0", "a mark", "registered", "wide €",
                          "of a domain", "never ended"}
    times = {n: (e["ts"], e["ts"] + e.get("dur", 0)) for n, e in found.items()}
    outer, first, second = times["outer"], times["wide €"], times["of a domain"]
    assert outer[0] <= first[0] <= second[0] <= first[1] <= second[1] <= outer[1]


def test_nvtxs_started_ranges_and_marks_are_in_each_format(tap, nvtx, work):
    tap("run", "-o", "a.gputap", "--", nvtx)
    for name in "a.pftrace", "a.rpd":
        tap("export", "a.gputap", "-o", name)
    rows = perfetto.ask(work / "a.pftrace", ranges="""
        select name from slice where category = 'user_annotation'""")["ranges"]
    assert {"outer", "wide €", "of a domain", "never ended", "a mark"} <= {
        r["name"] for r in rows}
    with contextlib.closing(sqlite3.connect(work / "a.rpd")) as base:
        markers = {r[0] for r in base.execute(
            "select args from api where apiName = 'UserMarker'")}
    assert {"outer", "wide €", "of a domain"} <= markers
    report = tap("report", "--all", "a.gputap").out
    assert "of a domain" in report


@pytest.fixture(scope="module")
def paused(tmp_path_factory, repo, build):
    path = tmp_path_factory.mktemp("ranges") / "pauses"
    roctx = build / "src/compat/roctx"
    subprocess.run([
        "cc", "-O1", "-Wall", f"-I{repo}/include", repo / "tests/ranges/pauses.c", "-o", path,
        f"-L{roctx}", "-l:libroctx64.so.4", f"-L{build}", "-l:libgputap.so.0",
        f"-Wl,-rpath,{roctx}:{build}", "-lOpenCL"
    ], check=True)
    return path


def test_ranges_across_a_pause_have_what_is_called_before_and_after_it(tap, paused, work):
    tap("run", "-o", "a.gputap", "--", paused)
    rows = operators(tap, "--by", "range")
    assert {n: (int(r["count"]), int(r["activities"])) for n, r in rows.items()} == {
        "around": (1, 1), "before": (1, 2), "late": (1, 8), "inner": (1, 4), "between": (1, 16)}
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["seen"] == info["recorded"] and not info["dropped"]


def test_a_range_that_is_only_in_a_pause_is_not_recorded(tap, paused, work):
    tap("run", "-o", "a.gputap", "--", paused)
    rows = {r["name"]: r["count"] for r in csv.DictReader(io.StringIO(
        tap("report", "--csv", "-t", "ranges", "a.gputap").out))}
    assert rows == {"around": "1", "before": "1", "late": "1", "inner": "1", "between": "1",
                    "within": "1"}  # the range after the pauses


def exported(tap, work, *words):
    tap("export", "-f", "a.gputap", "-o", "a.csv", *words)
    return list(csv.DictReader(io.StringIO((work / "a.csv").read_text())))


@pytest.mark.parametrize("expression, count", [("range=step", 20), ("range=inner", 15),
                                               ("range=step and not range=outer", 2)])
def test_export_takes_what_the_report_takes(tap, worker, work, expression, count):
    tap("run", "-o", "a.gputap", "--", worker)
    rows = exported(tap, work, "--where", expression)
    calls = [r for r in rows if r["operation"] == "clEnqueueFillBuffer"]
    assert len(calls) == count
    assert len([r for r in rows if r["kind"] != "call" and r["operation"] == "memset"]) == count


def test_export_leaves_out_ranges_that_the_expression_does_not_take(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    rows = exported(tap, work, "--where", "range=outer")
    ranges = [r["arguments"].split('"')[1] for r in rows if r["domain"] == "ranges"]
    assert sorted(ranges) == ["idle"] * 3 + ["inner"] * 6 + ["outer"] * 3


def test_each_format_leaves_the_same_records_out(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    for name in "a.json", "a.pftrace", "a.rpd":
        tap("export", "a.gputap", "-o", name, "-w", "range=inner and kind=memset")
    events = json.loads((work / "a.json").read_text())["traceEvents"]
    assert sum(e.get("cat") == "gpu_memset" for e in events) == 15
    rows = perfetto.ask(work / "a.pftrace", fills="""
        select count(*) as count from slice where name = 'memset'""")["fills"]
    assert rows == [{"count": 15}]
    with contextlib.closing(sqlite3.connect(work / "a.rpd")) as base:
        assert base.execute("select count(*) from rocpd_op").fetchone() == (15,)


def test_export_says_what_is_wrong_with_an_expression_as_the_report_does(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    wrong = ["--where", "range=step andd name=x"]
    told = tap("export", "a.gputap", "-o", "a.json", *wrong, status=2).err
    assert told.replace("gputap export", "gputap report", 1) == tap(
        "report", "a.gputap", *wrong, status=2).err


def test_export_says_that_an_expression_holds_for_no_record(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    result = tap("export", "a.gputap", "-o", "a.json", "-w", "range=nothing")
    assert "--where 'range=nothing' matches no record" in result.err


def test_a_merged_capture_leaves_nothing_out(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    result = tap("merge", "a.gputap", "-o", "b.gputap", "--where", "range=step", status=2)
    assert "a merged capture contains all records" in result.err


def test_where_range_takes_a_range_and_the_ranges_in_it(tap, worker, work):
    tap("run", "-o", "a.gputap", "--", worker)
    out = tap("report", "--csv", "-t", "ranges", "--where", "range=outer", "a.gputap").out
    assert {r["name"]: r["count"] for r in csv.DictReader(io.StringIO(out))} == {
        "outer": "3", "inner": "6", "idle": "3"}


def test_where_range_tells_threads_apart(trace, tap):
    trace("threads")
    out = tap("report", "--csv", "-t", "ranges", "--where", "range=aten::add", "a.gputap").out
    assert {r["name"]: r["count"] for r in csv.DictReader(io.StringIO(out))} == {
        "aten::add": "4", "aten::empty": "4"}


def test_the_table_of_operators_is_there_only_where_ranges_have_work(tap, trace, worker):
    trace("nest")
    assert "by operator" not in tap("report", "--all", "a.gputap").out
    tap("run", "-f", "-o", "a.gputap", "--", worker)
    assert "GPU time by range" in tap("report", "--all", "a.gputap").out
