# SPDX-License-Identifier: MIT
"""Test the tables of captures in Python, with the readers that users have: pyarrow, pandas, polars
and DuckDB. Values are compared with `gputap export x.csv` and `gputap report --json`."""
import json
import os
import pickle
import shutil
import subprocess

import duckdb
import pandas
import polars
import pyarrow
import pytest

from python_tables import check_with_csv, gputap as package, rows_of

# xdist could not send the package's warnings to its controller, which does not import the package
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
BUSY = ["--threads", 3, "--devices", 2, "--queues", 3, "--kernels", 8, "--nested", "--failed",
        "--steps", 100, "--noise", 20]
SHAPES = {
    "busy": BUSY,
    "graphs": ["--threads", 2, "--devices", 2, "--phases", 50, "--graphs", "--late", "--external"],
    "lost": ["--lose", 7, "--processes", 2, "--compress"],
    "layered": ["--layered", "--waits", "--processes", 2, "--device-clock", "timer"],
    "names": ["--kernels", 900, "--calls", 20000],
    "plain": ["--plain", "--device-clock", "mono", "--dense"],
}
TYPES = {"bool": "bool", "int16": "int16", "int32": "int32", "int64": "int64", "string": "string",
         "dictionary<string>": "dictionary<values=string, indices=int32, ordered=0>",
         "list<int32>": "list<item: int32 not null>"}


@pytest.fixture
def synth(run, build, work):
    """Return a function: synth("a", "--calls", 100) writes a.gputap and returns its name."""
    def write(name, *options):
        run([build / "tests/synth/synth", "--calls", 3000, *options, "-o", f"{name}.gputap"])
        return f"{name}.gputap"
    return write


@pytest.fixture
def job(synth):
    """Return the captures of three ranks on two hosts."""
    return [synth(f"r{i}", "--rank", i, "--pid", 5000 + 1000 * i, "--threads", 1 + i,
                  "--processes", 2, *(["--host", "host-b", "--boot", "2222"] if i == 2 else []))
            for i in range(3)]


@pytest.fixture(scope="module")
def traced(build, gputap, tmp_path_factory):
    """Trace 10 steps of the example, an OpenCL program. Step 7 loads its data 30 ms longer."""
    program = build / "examples/steps"
    if not program.exists():
        pytest.skip("needs the examples, which are built where OpenCL's loader is")
    capture = tmp_path_factory.mktemp("steps") / "steps.gputap"
    subprocess.run([gputap, "run", "-q", "-o", capture, "--stacks", program, "10", "7"], check=True,
                   stdout=subprocess.DEVNULL)
    return capture


def all_tables(capture):
    return {name: rows_of(table) for name, table in capture.tables.items()}


# Values ------------------------------------------------------------------------------

@pytest.mark.parametrize("shape", SHAPES)
def test_calls_and_activities_are_those_of_the_csv(synth, tap, shape):
    path = synth("a", *SHAPES[shape])
    with package.open(path) as capture:
        tables = check_with_csv(capture, tap, path)
    assert len(tables.calls) >= 3000 and len(tables.activities) > 500


def test_calls_and_activities_of_a_real_program_are_those_of_the_csv(traced, tap, work):
    with package.open(traced) as capture:
        tables = check_with_csv(capture, tap, traced)
        assert capture.health.is_whole and capture.health.seen == 289
    launches = {c["id"]: c for c in tables.calls if c["kind"] == "launch"}
    kernels = [a for a in tables.activities if a["kind"] == "kernel"]
    assert len(launches) == len(kernels) == 80
    assert all(launches[a["call"]]["start_ns"] == a["call_start_ns"] for a in kernels)


def test_activities_of_hip_are_those_of_the_csv(hip_program, softgpu, gputap, tap, run, work):
    run([gputap, "run", "-q", "-o", "g.gputap", hip_program("graph")], env=softgpu)
    with package.open("g.gputap") as capture:
        tables = check_with_csv(capture, tap, "g.gputap")
    assert {a["domain"] for a in tables.activities} == {"hsa_core"}


@pytest.mark.parametrize("where", [None, "duration>20us", "kind=kernel", "at=10ms..20ms",
                                   "range=step#7", "domain=ranges"])
def test_sums_are_those_of_the_report(synth, tap, where):
    path = synth("a", *BUSY)
    report = json.loads(tap("report", "--json", path, *(["-w", where] if where else [])).out)
    connection = duckdb.connect()
    with package.open(path, where) as capture:
        for name, table in capture.tables.items():
            connection.register(name, table)
        found = {name: sorted(connection.sql(query).fetchall()) for name, query in {
            "operations": "select domain, operation, count(*), sum(duration_ns), min(duration_ns),"
            " max(duration_ns), count(error) filter (not refused), count(*) filter (refused) from"
            " calls where domain <> 'ranges' group by all",
            "kernels": "select device, name, count(*), sum(duration_ns) from activities where kind"
            " = 'kernel' group by all",
            "copies": "select device, kind, count(*), sum(duration_ns), sum(bytes) from activities"
            " where kind like 'memcpy%' group by all",
            "idle": "select device, cause, sum(duration_ns) from idle group by all",
            "ranges": "select name, count(*), sum(duration_ns) from ranges group by all",
        }.items()}
    fields = {"operations": ("domain", "name", "calls", "total_ns", "min_ns", "max_ns", "failed",
                             "refused"),
              "kernels": ("device", "name", "count", "total_ns"),
              "copies": ("device", "operation", "count", "total_ns", "bytes"),
              "idle": ("device", "cause", "idle_ns"), "ranges": ("name", "count", "total_ns")}
    for name, keys in fields.items():
        assert found[name] == sorted(tuple(row[key] for key in keys) for row in report[name]), name
    assert found["operations"] or found["kernels"] or found["ranges"]


def test_idle_time_of_a_real_program_is_that_of_the_report(traced, tap):
    report = json.loads(tap("report", "--json", traced).out)
    with package.open(traced) as capture:
        idle = capture.idle.to_pandas()
    sums = idle.groupby("cause", observed=True)["duration_ns"].sum().to_dict()
    assert sums == {row["cause"]: row["idle_ns"] for row in report["idle"]}
    load = idle[(idle["cause"] == "host_sleeping") & (idle["range"] == "load")]
    assert load["duration_ns"].max() > 25_000_000  # step 7


def test_counts_of_the_tables_are_what_the_health_states(synth):
    path = synth("a", *SHAPES["lost"])
    with pytest.warns(package.IncompleteWarning, match=r"a\.gputap: [\d,]+ records lost"):
        capture = package.open(path)
    with capture:
        health, counts = capture.health, rows_of(capture.counts)
        rows = capture.calls.to_arrow().num_rows + capture.activities.to_arrow().num_rows
    assert health.recorded == rows == sum(c["recorded"] for c in counts)
    assert health.seen == rows + health.lost == sum(c["seen"] for c in counts)
    assert health.lost > 0 and not health.is_whole


# Columns -------------------------------------------------------------------------------

def test_columns_have_the_types_that_the_package_states(traced):
    with package.open(traced) as capture:
        assert len(capture.tables) == 19
        for table in capture.tables.values():
            table = table.select(*(c.name for c in table.all_columns))
            schema = pyarrow.table(table).schema
            assert schema.names == [c.name for c in table.columns]
            for column, field in zip(table.columns, schema):
                assert str(field.type) == TYPES[column.type], (table.name, column)
                assert field.nullable == column.nullable, (table.name, column)
                assert column.description, column
                assert column.unit == ("ns" if column.name.endswith("_ns") else column.unit)
                assert column.unit in ("ns", "bytes", "")


@pytest.mark.parametrize("shape", SHAPES)
def test_only_nullable_columns_have_nulls_and_arrow_finds_no_fault(synth, shape):
    path = synth("a", *SHAPES[shape])
    with package.open(path) as capture:
        for table in capture.tables.values():
            names = [c.name for c in table.all_columns]
            for batch in table.select(*names).batches_of(1000).reader():
                batch.validate(full=True)
                assert batch.num_rows <= 1000
                for field, column in zip(batch.schema, batch.columns):
                    assert field.nullable or not column.null_count, (table.name, field.name)


def test_columns_on_request_are_read_only_if_they_are_named(traced):
    with package.open(traced) as capture:
        assert "arguments" not in pyarrow.table(capture.calls).column_names
        chosen = capture.calls.select("arguments", "operation")
        table = pyarrow.table(chosen)
    assert table.column_names == ["arguments", "operation"]
    texts = [r["arguments"] for r in table.to_pylist() if r["operation"] == "clEnqueueReadBuffer"]
    assert len(texts) == 10 and all("blocking_read=CL_TRUE" in text for text in texts)


def test_stacks_refer_to_frames(traced):
    with package.open(traced) as capture:
        stacks = {(s["process"], s["stack"]): s for s in rows_of(capture.stacks)}
        frames = {f["frame"]: f for f in rows_of(capture.frames)}
        calls = [c for c in rows_of(capture.calls) if c["stack"] is not None]
    assert calls and stacks
    for call in calls:
        stack = stacks[call["process"], call["stack"]]
        assert stack["frames"] and set(stack["frames"]) <= set(frames)
    assert "load_batch" in {f["function"] for f in frames.values()}


# Ids -----------------------------------------------------------------------------------

@pytest.mark.parametrize("together", [False, True], ids=["files", "merged"])
def test_ids_of_several_captures_are_unique_and_refer_to_rows(job, tap, together):
    paths = job
    if together:
        tap("merge", *job, "-o", "job.gputap")
        paths = ["job.gputap"]
    with package.open(paths) as capture:
        tables = all_tables(capture)
    with package.open(paths) as again:
        assert all_tables(again) == tables
    calls = {c["id"]: c for c in tables["calls"]}
    ranges = {r["id"]: r for r in tables["ranges"]}
    assert len(calls) == len(tables["calls"]) and len(ranges) == len(tables["ranges"])
    assert len(tables["sessions"]) == 3
    assert {s["rank"] for s in tables["sessions"]} == {0, 1, 2}
    for call in tables["calls"]:
        assert call["parent"] is None or calls[call["parent"]]["thread"] == call["thread"]
        assert call["range"] is None or call["range"] in ranges
    for row in tables["ranges"]:
        assert row["parent"] is None or row["parent"] in ranges
    for activity in tables["activities"]:
        assert calls[activity["call"]]["start_ns"] == activity["call_start_ns"]
    for name, column in (("process", "processes"), ("thread", "threads"), ("device", "devices"),
                         ("queue", "queues")):
        numbers = [row[name] for row in tables[column]]
        assert numbers == list(range(len(numbers))), name
        used = {a[name] for a in tables["activities"]}
        assert used <= {*numbers, None} and len(used) > 1


def test_several_captures_have_the_times_of_one_clock(job, tap):
    with package.open(job) as capture:
        check_with_csv(capture, tap, *job)
        offsets = {s["realtime_offset_ns"] for s in rows_of(capture.sessions)}
    assert len(offsets) == 1


def test_parents_of_ranges_contain_them_and_steps_are_named_step(traced):
    with package.open(traced) as capture:
        ranges = {r["id"]: r for r in rows_of(capture.ranges)}
        calls = rows_of(capture.calls)
    assert len(ranges) == 40
    for row in ranges.values():
        assert ranges[row["step"]]["name"] == "step"
        if row["name"] == "step":
            assert row["parent"] is None and row["step"] == row["id"]
            continue
        parent = ranges[row["parent"]]
        assert parent["name"] == "step" and row["depth"] == 1
        assert parent["start_ns"] <= row["start_ns"]
        assert row["start_ns"] + row["duration_ns"] <= parent["start_ns"] + parent["duration_ns"]
    names = {c["operation"]: ranges[c["range"]]["name"] for c in calls if c["range"] is not None
             and c["domain"] == "opencl"}
    assert names["clEnqueueWriteBuffer"] == "load" and names["clEnqueueReadBuffer"] == "step"


# Parts ---------------------------------------------------------------------------------

@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_partitions_together_are_the_whole_table(job, count):
    with package.open(job) as capture:
        for name in ("calls", "activities", "ranges", "sessions"):
            whole = rows_of(capture.tables[name])
            parts = [rows_of(part) for part in capture.tables[name].partitions(count)]
            assert [row for part in parts for row in part] == whole
            if name == "calls" and count == 3:
                assert sum(bool(part) for part in parts) == 3


def test_sessions_together_are_the_whole_table(job):
    with package.open(job) as capture:
        for name, table in capture.tables.items():
            parts = [row for i in range(3) for row in rows_of(table.of_sessions(i))]
            key = lambda row: json.dumps(row, sort_keys=True)  # noqa: E731
            assert sorted(parts, key=key) == sorted(rows_of(table), key=key), name
        divided = [part.of_sessions(1, 2).to_arrow().num_rows
                   for part in capture.calls.partitions(2)]
        assert sum(divided) == capture.calls.of_sessions(1, 2).to_arrow().num_rows


def test_parts_can_be_pickled_for_other_processes(job):
    with package.open(job, "kind=kernel") as capture:
        part = capture.activities.select("call", "name").partitions(2)[1].batches_of(100)
        again = pickle.loads(pickle.dumps(part))
        assert again.to_arrow() == part.to_arrow() and again.to_arrow().num_rows
        assert repr(again) == repr(part)
        del again


# Expressions ---------------------------------------------------------------------------

def test_where_reads_the_records_of_one_step(traced, tap, work):
    with package.open(traced) as capture, capture.where("range=step#7") as step:
        tap("export", traced, "-o", "step.csv", "-w", "range=step#7")
        check_with_csv(step, lambda *_, **__: shutil.copy("step.csv", "all.csv"))
        assert step.expression == "(range=step#7)"
        both = step.where("kind=kernel")
        assert both.activities.to_arrow().num_rows == 8
        assert both.calls.to_arrow().num_rows == 0
        assert both.expression == "(range=step#7) and (kind=kernel)"
        # other tables stay complete; PoCL starts a linker if its cache is empty
        assert both.processes.to_arrow().equals(capture.processes.to_arrow())
        load = [r for r in rows_of(step.ranges) if r["name"] == "load"]
        assert len(load) == 1 and load[0]["duration_ns"] > 30_000_000
        assert capture.calls.to_arrow().num_rows == 189  # unchanged
        both.close()


def bytes_read():
    with open("/proc/self/io", encoding="ascii") as file:
        return int(file.readline().split()[1])


def test_where_finds_the_calls_of_a_millisecond_through_the_index(synth):
    path = synth("a", "--calls", 100000, "--flush-bytes", 20000)
    with package.open(path, "at=100ms..101ms") as few, package.open(path) as whole:
        before = bytes_read()
        some = few.calls.to_arrow()
        assert bytes_read() - before < os.path.getsize(path) / 5
        start = rows_of(whole.sessions)[0]["start_ns"]
        everything = whole.calls.to_arrow().to_pylist()
    wanted = [row["id"] for row in everything
              if start + 100_000_000 <= row["start_ns"] < start + 101_000_000]
    assert some.column("id").to_pylist() == wanted and len(wanted) > 10


# Readers -------------------------------------------------------------------------------

def test_each_reader_has_the_same_rows(synth):
    """With so many names, each batch has another dictionary."""
    path = synth("a", *SHAPES["names"])
    with package.open(path) as capture:
        table = capture.activities.batches_of(700)
        want = table.to_arrow().to_pylist()
        assert len(want) > 5000 and len({row["name"] for row in want}) > 800
        assert table.to_polars().to_dicts() == want
        assert polars.DataFrame(table).to_dicts() == want
        activities = table  # noqa: F841  the name in the query
        found = duckdb.sql("select * from activities")
        assert [dict(zip(found.columns, row)) for row in found.fetchall()] == want
        frame = table.to_pandas()
        columns = {name: frame[name].astype(object).where(frame[name].notna(), None).tolist()
                   for name in frame}
        assert columns == {name: [row[name] for row in want] for name in frame}


def test_pandas_has_categories_and_exact_ids(job):
    with package.open(job) as capture:
        frame = capture.calls.to_pandas()
        want = {c["id"]: c["parent"] for c in rows_of(capture.calls)}
    assert isinstance(frame["operation"].dtype, pandas.CategoricalDtype)
    assert (str(frame["parent"].dtype), str(frame["id"].dtype)) == ("Int64", "int64")
    assert max(want) > 1 << 48
    assert {i: None if p is pandas.NA else p for i, p in zip(frame["id"], frame["parent"])} == want


def test_duckdb_reads_tables_of_python_by_their_names(traced):
    with package.open(traced) as capture:
        calls = capture.calls  # noqa: F841
        found = duckdb.sql("select operation, count(*) as n from calls where kind = 'launch'"
                           " group by operation")
        assert found.fetchall() == [("clEnqueueNDRangeKernel", 80)]
        assert found.fetchall() == [("clEnqueueNDRangeKernel", 80)]  # read anew


def test_a_capture_without_records_has_empty_tables(tap, run, build, work):
    tap("run", "-q", "-o", "empty.gputap", "--", "true")
    with package.open("empty.gputap") as capture:
        for name, table in capture.tables.items():
            assert table.to_arrow().num_rows == (name in ("sessions", "processes")), name
        assert polars.DataFrame(capture.calls).width == len(capture.calls.columns)


# Reports -------------------------------------------------------------------------------

def test_the_summary_is_the_first_screen_as_text_and_in_a_notebook(traced, tap):
    with package.open(traced) as capture:
        summary = capture.summary()
        step = capture.where("range=step#7").summary("-t", "kernels")
    wanted = tap("report", traced, env={"COLUMNS": 100}).out
    assert str(summary) == wanted and repr(summary) == wanted.rstrip("\n")
    assert summary._repr_html_().startswith("<pre") and "backward" in summary._repr_html_()
    assert str(step) == tap("report", traced, "-w", "(range=step#7)", "-t", "kernels",
                            env={"COLUMNS": 100}).out


def test_parts_of_a_run_are_compared_as_diff_does(traced, tap):
    with package.open(traced) as capture:
        usual = capture.where("range=step and not range=step#7")
        found = usual.compare(capture.where("range=step#7"), "-t", "ranges")
        assert str(found) == tap("diff", "-t", "ranges", "--baseline",
                                 "(range=step and not range=step#7)", "--candidate",
                                 "(range=step#7)", traced, env={"COLUMNS": 100}).out
        [load] = [r for r in found.data["ranges"] if r["name"] == "load"]
        assert load["median_candidate_ns"] > load["median_baseline_ns"] > 0
        with pytest.raises(RuntimeError, match="name a second run, or select two parts"):
            capture.compare(traced)


def test_two_runs_are_compared_as_diff_does(synth, tap):
    first = synth("a", "--noise", 20, "--calls", 2000)
    second = synth("b", "--noise", 20, "--calls", 2000, "--seed", 7)
    wanted = tap("diff", first, "--vs", second, env={"COLUMNS": 100}).out
    with package.open(first) as capture, package.open(second) as other:
        assert str(capture.compare(other)) == str(capture.compare(second)) == wanted
        part = other.where("duration>10us")
        assert str(capture.compare(part, "-t", "kernels")) == tap(
            "diff", "-t", "kernels", "--candidate", "(duration>10us)", first, "--vs", second,
            env={"COLUMNS": 100}).out


def test_a_table_describes_itself(traced):
    with package.open(traced) as capture:
        assert "duration_ns" in repr(capture.calls) and "calls of runtimes" in repr(capture.calls)
        assert "<td>duration_ns</td><td>int64</td><td>ns</td>" in capture.calls._repr_html_()
        assert repr(capture).startswith(f"<gputap {traced}: sessions, processes, ")
        assert {"calls", "where", "summary"} <= set(dir(capture))


def test_folders_and_patterns_are_opened_like_their_files(job, tmp_path):
    with package.open(job) as files, package.open(".") as folder, package.open(
            ["r[01].gputap", "r2.gputap"]) as pattern, package.open(tmp_path / "*.gputap") as all_:
        counts = [c.calls.to_arrow().num_rows for c in (files, folder, pattern, all_)]
        assert len(set(counts)) == 1
        assert pattern.paths == job
        assert folder.paths == [f"./{path}" for path in job]
        assert str(folder.summary()).count("on synthetic-host") == 2
