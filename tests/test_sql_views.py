# SPDX-License-Identifier: MIT
"""Test the views of share/gputap/sql: DuckDB over captures, DuckDB over Parquet, Spark over Parquet
and `gputap report` agree to the nanosecond. Also check that Trino's grammar accepts the views."""
import collections
import fcntl
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import mpi_jobs

REPO = pathlib.Path(__file__).resolve().parent.parent
VIEWS = {path.stem: path.read_text() for path in sorted((REPO / "share/gputap/sql").glob("*.sql"))}
MARKS = ("marker", "barrier", "scratch")
COPIES = ("memcpy D2H", "memcpy H2D", "memcpy D2D", "memset", "map", "unmap", "migrate")
BIN_NS = 100_000_000
RANKS = 4
DIGITS = 1e-5  # the report prints six digits of shares and rates


# Captures and answers -------------------------------------------------------------------------


def check_output(command, **keywords):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=900,
                          **keywords)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def record_opencl(folder, build, gputap):
    """Record programs that use OpenCL: kernels, copies, ranges, memory, failures."""
    tap = [gputap, "run", "-q", "-f", "-o"]
    check_output([*tap, folder / "demo.gputap", "--", build / "examples/demo"])
    check_output([*tap, folder / "steps.gputap", "--", build / "examples/steps", 6, 2])
    check_output(["cc", "-O1", "-w", "-DCL_TARGET_OPENCL_VERSION=300",
                  REPO / "tests/opencl/cl_memory.c", "-o", folder / "cl_memory", "-lOpenCL"])
    check_output([*tap, folder / "cl_memory.gputap", "--", folder / "cl_memory"])
    check_output([*tap, folder / "cl_everything.gputap", "--",
                  build / "tests/opencl/cl_everything"])


def record_mpi(folder, gputap):
    """Record a job of MPI in which a rank is late, if an MPI is installed."""
    for kind in sorted(mpi_jobs.KINDS):
        if mpi_jobs.library_of(kind):
            program = mpi_jobs.build(kind, folder, "steps")
            check_output([gputap, "run", "-q", "-o", folder / "mpi.gputap",
                          *mpi_jobs.launcher(kind, RANKS), program, 5, 2, 20])
            return


def synthesize(folder, build):
    synth = build / "tests/synth/synth"
    check_output([synth, "--calls", 500, "--threads", 2, "--devices", 2, "--queues", 3, "--kernels",
                  4, "--nested", "--failed", "--drops", "--overlap", "--external", "--graphs",
                  "--noise", 30, "--phases", 50, "-o", folder / "odd.gputap"])
    check_output([synth, "--calls", 2000, "--threads", 2, "--gap", 200_000, "--overlap", "--nested",
                  "-o", folder / "long.gputap"])
    for rank in range(RANKS):
        host = rank * 2 // RANKS
        later_ns = host * 5 * 10**10
        check_output([synth, "--calls", 3000, "--job", RANKS, "--rank", rank, "--late-rank", 2,
                      "--late-by", 2_000_000, "--steps", 500, "--noise", 20, "--host",
                      f"node {host}/é", "--boot", f"{host}1111111-2222-3333-4444-55555", "--start",
                      10**9 + later_ns, "--realtime-offset", 17 * 10**17 - later_ns, "--pid",
                      4000 + rank * 10, "-o", folder / f"rank{rank}.gputap"])


CASES = {"demo": ["demo"], "steps": ["steps"], "memory": ["cl_memory"],
         "everything": ["cl_everything"], "mpi": ["mpi"], "odd": ["odd"], "long": ["long"],
         "job": [f"rank{rank}" for rank in range(RANKS)]}
CASES["together"] = [name for names in CASES.values() for name in names]


def sources_of(folder):
    """Return {case: captures} of the cases whose captures exist."""
    found = {case: [folder / f"{name}.gputap" for name in names] for case, names in CASES.items()}
    found["together"] = [path for path in found["together"] if path.exists()]
    return {case: paths for case, paths in found.items() if all(p.exists() for p in paths)}


def python_environment(build):
    return {**os.environ, "PYTHONPATH": str(REPO / "python/src"), "PYTHONWARNINGS": "ignore",
            "GPUTAP_CAPTURE_LIBRARY": str(build / "libgputap-capture.so.0"),
            # a JVM that starts quickly
            "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def answer_all(folder, build, gputap):
    """Write folder/answers.json: {engine: {case: {view: rows}}}; engine `report`: its tables."""
    folder.mkdir()
    record_opencl(folder, build, gputap)
    record_mpi(folder, gputap)
    synthesize(folder, build)
    cases = sources_of(folder)

    def helper(*words):
        check_output([sys.executable, REPO / "tests/sql_answers.py", *words],
                     env=python_environment(build), cwd=folder)

    answers = {"report": {}}
    for case, paths in cases.items():
        helper("write", folder / f"{case}.parquet", *paths)
        # exit status 1: records are missing in `odd`
        answers["report"][case] = json.loads(subprocess.run(
            [gputap, "report", "--json", "--top", "0", *paths], stdout=subprocess.PIPE,
            check=False).stdout)
    captures = {"+".join(map(str, paths)): case for case, paths in cases.items()}
    datasets = {str(folder / f"{case}.parquet"): case for case in cases}
    shared = str(folder / "together.parquet")
    for engine, task, sources in (("capture", "duckdb", captures), ("parquet", "duckdb", datasets),
                                  ("spark", "spark", {shared: "together"})):
        helper(task, f"{engine}.answers", *sources)
        found = json.loads((folder / f"{engine}.answers").read_text())
        answers[engine] = {sources[source]: views for source, views in found.items()}
    (folder / "answers.json").write_text(json.dumps(answers))


@pytest.fixture(scope="module")
def made(tmp_path_factory, build, gputap):
    """Make captures and answers once for all xdist workers, and return their folder."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with open(base / "sql.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (base / "sql" / "answers.json").exists():
            answer_all(base / "sql", build, gputap)
    return base / "sql"


@pytest.fixture(scope="module")
def answers(made):
    return json.loads((made / "answers.json").read_text())


# Comparison with the report -------------------------------------------------------------------
#
# Each function returns {key: values} of a report's tables, as `keyed()` makes it of a view's rows.


def keyed(rows, key, *values):
    found = {tuple(row[k] for k in key): tuple(row[v] for v in values) for row in rows}
    assert len(found) == len(rows), f"keys {key} are not unique"
    return found


def summed(rows, key, *values):
    """Like keyed(), for rows that are finer than the key: the sums of the values."""
    found = collections.defaultdict(lambda: [0] * len(values))
    for row in rows:
        for i, value in enumerate(values):
            found[tuple(row[k] for k in key)][i] += row[value] or 0
    return {key: tuple(values) for key, values in found.items()}


def same_calls(view, report):
    columns = ("total_ns", "calls", "mean_ns", "min_ns", "max_ns", "failed", "refused")
    assert keyed(view, ("domain", "operation"), *columns) == keyed(
        report["operations"], ("domain", "name"), *columns)


def same_self_times(view, report):
    assert keyed(view, ("domain", "operation"), "self_ns", "calls") == keyed(
        report["operations"], ("domain", "name"), "self_ns", "calls")
    assert [row["share"] for row in view] == pytest.approx(
        sorted((row["share"] for row in report["operations"]), reverse=True), DIGITS, DIGITS)


def same_kernels(view, report):
    columns = ("total_ns", "count", "mean_ns", "min_ns", "max_ns", "failed")
    assert keyed(view, ("domain", "device", "name"), *columns) == keyed(
        report["kernels"], ("domain", "device", "name"), *columns)


def same_copies(view, report):
    columns = ("total_ns", "count", "bytes", "mean_ns", "min_ns", "max_ns", "failed")
    key = ("domain", "device", "operation")
    assert keyed(view, ("domain", "device", "kind"), *columns) == keyed(report["copies"], key,
                                                                        *columns)
    rates = keyed(report["copies"], key, "bytes_per_s")
    for key, (rate, ) in keyed(view, ("domain", "device", "kind"), "bytes_per_s").items():
        assert rate == (rates[key][0] and pytest.approx(rates[key][0], DIGITS))


def same_ranges(view, report):
    columns = ("total_ns", "count", "min_ns", "max_ns", "mean_ns", "markers")
    assert keyed(view, ("name", "scope", "category"), *columns) == {
        key: (values[0] if values[1] else None, *values[1:])
        for key, values in keyed(report["ranges"], ("name", "scope", "category"), *columns).items()}


def same_gpu_ranges(view, report):
    want = {(None if name == "(in no range)" else name, ): values for (name, ), values in keyed(
        report["gpu_by_range"], ("name", ), "gpu_self_ns", "activities").items() if values[1]}
    if want:  # the report leaves the table out if no range contains an activity
        assert keyed(view, ("name", ), "gpu_self_ns", "activities") == want
    else:
        assert {row["name"] for row in view} <= {None}


def same_idle(view, report):
    """The report has a row for each phase of a cause: start-up and steps."""
    key, rows = ("device", "cause"), report["idle"]
    sums = keyed(view, key, "idle_ns", "gaps", "share")
    longest = {}
    for row in rows:
        at = row["device"], row["cause"]
        longest[at] = max(longest.get(at, 0), row["max_ns"])
    found, want = summed(view, key, "idle_ns", "gaps"), summed(rows, key, "idle_ns", "gaps")
    for at, (idle_ns, gaps) in want.items():
        # the report counts a gap twice if the thread and then a worker waited for a processor
        assert found[at][0] == idle_ns
        assert found[at][1] == gaps or (at[1] == "host_runnable" and found[at][1] < gaps)
    for at, (max_ns, ) in keyed(view, key, "max_ns").items():
        assert max_ns == longest[at] or at[1] == "host_runnable"
    for at, (share, ) in summed(rows, key, "share").items():
        assert sums[at][2] == pytest.approx(share, DIGITS, DIGITS)


def same_latency(view, report):
    columns = ("count", "mean_ns", "min_ns", "max_ns", "early")
    stages = {row["stage"] for row in view} | {"call to start"}
    assert keyed(view, ("device", "stage"), *columns) == keyed(
        [row for row in report["latency"] if row["stage"] in stages], ("device", "stage"), *columns)
    assert {r["stage"] for r in report["latency"]} - stages <= {
        "through the runtime", "after its own queue's activities",
        "after other queues' activities", "after its own stream's activities",
        "after other streams' activities"}


def same_devices(view, report):
    columns = ("busy_ns", "kernel_ns", "copy_ns")
    timed = [row for row in report["devices"] if row["busy_ns"]]
    assert keyed(view, ("device", ), *columns, "span_ns") == {
        (row["device"], ): (*(row[c] for c in columns), row["span_ns"] + row["unrecorded_ns"])
        for row in timed}


def same_bins(view, report):
    want = {(row["device"], ): (row["busy_ns"], ) for row in report["devices"] if row["busy_ns"]}
    assert summed(view, ("device", ), "busy_ns") == want
    assert all(0 <= row["busy_ns"] <= BIN_NS for row in view)


def same_steps(view, report):
    want = {row["name"]: (row["count"], row["total_ns"]) for row in report["ranges"]
            if re.match("(?i)step|ProfilerStep", row["name"]) and row["count"]}
    found = collections.defaultdict(lambda: (0, 0))
    for row in view:
        count, total = found[row["name"]]
        found[row["name"]] = (count + 1, total + row["wall_ns"])
        parts = [value for key, value in row.items() if re.fullmatch(r"idle_\w+_ns", key)]
        assert sum(parts) == row["idle_ns"] and min(parts) >= 0
    assert dict(found) == want


def same_stragglers(view, report):
    columns = ("caused_ns", "wait_ns", "device_wait_ns", "message_wait_ns")
    if report["ranks"]:
        assert summed(view, ("rank", "host"), *columns) == summed(
            report["ranks"], ("rank", "host"), *columns)
        assert [row["caused_ns"] or 0 for row in view] == sorted(
            (row["caused_ns"] or 0 for row in report["ranks"]), reverse=True)


def same_rank_waits(view, report):
    columns = ("wait_ns", "device_wait_ns", "message_wait_ns", "calls")
    assert summed(view, ("rank", "for_rank"), *columns) == summed(
        report["rank_waits"], ("rank", "for_rank"), *columns)


def same_collectives(view, report):
    want = {(row["rank"], row["host"]): (row["collectives"], row["collective_ns"] or 0,
                                         (row["wait_ns"] or 0) - (row["message_wait_ns"] or 0))
            for row in report["ranks"] if row["collectives"]}
    found = summed(view, ("rank", "host"), "calls", "total_ns", "wait_ns")
    assert {key: values for key, values in found.items() if key[0] is not None} == want


def same_memory(view, report):
    columns = ("allocations", "bytes", "frees", "freed_bytes", "peak_bytes", "left_bytes")
    key = ("domain", "memory", "device")
    assert keyed(view, key, *columns) == keyed(report["memory"], key, *columns)


def same_failures(view, report):
    key = ("kind", "what", "domain", "status", "name")
    want = {(row["kind"], row["on"], row["domain"], row["status"], row["name"]):
            (row["count"], None if row["on"] == "device" else row["error"])
            for row in report["failures"]}
    for key, (_, error) in (found := keyed(view, key, "count", "error")).items():
        if want.get(key, (0, ""))[1] == "unknown":  # the report does not print the number twice
            assert error == str(key[3])
            found[key] = (found[key][0], "unknown")
    assert found == want


def same_losses(view, report):
    kinds = {"call": "calls", "activity": "GPU activities"}
    found = [{**row, "kind": kinds[row["kind"]]} for row in view]
    assert keyed(found, ("domain", "kind", "reason"), "lost", "seen") == keyed(
        report["loss"], ("domain", "class", "reason"), "dropped", "seen")


SAME = {"time_by_call": same_calls, "self_time_by_call": same_self_times,
        "time_by_kernel": same_kernels, "time_by_copy": same_copies, "time_by_range": same_ranges,
        "gpu_time_by_range": same_gpu_ranges, "idle_by_cause": same_idle,
        "launch_latency": same_latency, "copy_kernel_overlap": same_devices,
        "busy_over_time": same_bins, "steps": same_steps, "stragglers": same_stragglers,
        "rank_waits": same_rank_waits, "collectives": same_collectives, "memory_peak": same_memory,
        "failures": same_failures, "losses_by_reason": same_losses}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("case", CASES)
def test_views_on_all_engines_equal_the_report(answers, case, view):
    if case not in answers["report"]:
        pytest.skip("needs MPICH or Open MPI: apt install mpich openmpi-bin")
    report = answers["report"][case]
    SAME[view](answers["capture"][case][view], report)
    if case == "together":
        SAME[view](answers["spark"][case][view], report)
    SAME[view](answers["parquet"][case][view], report)


def without_order(rows):
    """Rows that can be compared: in an order of their own, and shares without the last digits,
    which depend on the order of a sum."""
    return sorted(json.dumps({key: round(value, 12) if isinstance(value, float) else value
                              for key, value in row.items()}) for row in rows)


@pytest.mark.parametrize("view", VIEWS)
def test_views_on_spark_equal_those_on_duckdb(answers, view):
    rows = without_order(answers["capture"]["together"][view])
    assert rows == without_order(answers["parquet"]["together"][view])
    assert rows == without_order(answers["spark"]["together"][view])


def test_each_view_has_rows_to_compare(answers):
    for view, rows in answers["spark"]["together"].items():
        assert rows, view


# Comparison with sums over the activities ---------------------------------------------------------


def spans_of(activities, device, kinds=None):
    """Return the disjoint, sorted busy spans of a device."""
    spans = []
    for start, end in sorted(
            (row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in activities
            if row["device"] == device and row["start_ns"] is not None
            and (row["kind"] in kinds if kinds else row["kind"] not in MARKS)):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    return spans


def length_of_common(left, right):
    sum_ns, i, j = 0, 0, 0
    while i < len(left) and j < len(right):
        sum_ns += max(0, min(left[i][1], right[j][1]) - max(left[i][0], right[j][0]))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return sum_ns


@pytest.mark.parametrize("case", ["demo", "everything", "odd", "long", "together"])
def test_overlap_is_the_time_in_which_kernels_and_copies_run(answers, case):
    activities = answers["capture"][case]["activities"]
    for row in answers["capture"][case]["copy_kernel_overlap"]:
        kernels = spans_of(activities, row["device"], ("kernel", "native"))
        copies = spans_of(activities, row["device"], COPIES)
        assert row["overlap_ns"] == length_of_common(kernels, copies)
        assert row["start_ns"] == spans_of(activities, row["device"])[0][0]


@pytest.mark.parametrize("case", ["demo", "odd", "long", "together"])
def test_an_activity_that_crosses_bins_is_divided_exactly(answers, case):
    activities = answers["capture"][case]["activities"]
    bins = collections.defaultdict(dict)
    for row in answers["capture"][case]["busy_over_time"]:
        bins[row["device"]][row["bin_start_ns"]] = row
    for device, rows in bins.items():
        want, starts = collections.Counter(), collections.Counter()
        for start, end in spans_of(activities, device):
            for at in range(start - start % BIN_NS, end, BIN_NS):
                want[at] += min(end, at + BIN_NS) - max(start, at)
        for row in activities:
            if row["device"] == device and row["kind"] not in MARKS and row["start_ns"]:
                starts[row["start_ns"] - row["start_ns"] % BIN_NS] += 1
        assert {at: row["busy_ns"] for at, row in rows.items() if row["busy_ns"]} == dict(+want)
        assert {at: r["activities"] for at, r in rows.items() if r["activities"]} == dict(starts)
        assert list(rows) == list(range(min(rows), max(rows) + 1, BIN_NS))  # no bin is missing


@pytest.mark.parametrize("case, rank", [("steps", None), ("job", 1)])
def test_a_step_equals_the_report_of_its_range(answers, made, tap, case, rank):
    """Each step has the activities, busy time and causes of idle time of `--where range=step#N`."""
    rows = [row for row in answers["capture"][case]["steps"] if row["session"] == (rank or 0)]
    assert len(rows) >= 6
    for number, row in enumerate(rows[:6], 1):
        where = f"range=step#{number}" + (f" and rank={rank}" if rank else "")
        report = json.loads(tap("report", "--json", "--top", "0", "--where", where,
                                *sources_of(made)[case]).out)
        assert row["kernels"] == sum(kernel["count"] for kernel in report["kernels"])
        assert row["kernel_ns"] == sum(kernel["total_ns"] for kernel in report["kernels"])
        assert row["busy_ns"] == sum(device["busy_ns"] for device in report["devices"])
        causes = collections.Counter()
        for idle in report["idle"]:
            causes[idle["cause"]] += idle["idle_ns"]
        assert row["idle_ns"] == sum(causes.values())
        for cause in ("host", "synchronising", "collective", "launching"):
            assert row[f"idle_{cause}_ns"] == causes[cause], cause
        assert row["idle_copying_ns"] == causes["copying"] + causes["pageable"]


# Trino -------------------------------------------------------------------------------------------

# Functions with the same meaning in DuckDB, Spark and Trino for the arguments that views pass.
FUNCTIONS = {"Count", "Sum", "Min", "Max", "Coalesce", "Nullif", "Greatest", "Least", "Round",
             "RowNumber", "Lag", "Cast", "Case", "If", "And", "Or"}
# https://trino.io/docs/current/language/reserved.html
RESERVED = set("""alter and as between by case cast constraint create cross cube current_catalog
current_date current_path current_role current_schema current_time current_timestamp current_user
deallocate delete describe distinct drop else end escape except execute exists extract false for
from full group grouping having in inner insert intersect into is join json_array json_exists
json_object json_query json_table json_value left like listagg localtime localtimestamp natural
normalize not null on or order outer prepare recursive right rollup select skip table then trim
true uescape union unnest using values when where with""".split())


@pytest.mark.parametrize("view", VIEWS)
def test_trinos_grammar_accepts_the_view(view):
    import sqlglot
    from sqlglot import exp
    tree = sqlglot.parse_one(VIEWS[view], read="trino", error_level=sqlglot.ErrorLevel.RAISE)
    used = {type(node).__name__ for node in tree.find_all(exp.Func)}
    assert used <= FUNCTIONS, f"functions that the engines do not share: {used - FUNCTIONS}"
    assert not list(tree.find_all(exp.Qualify, exp.Filter, exp.IntDiv, exp.Lateral, exp.Unnest))
    assert {t.sql() for t in tree.find_all(exp.DataType)} <= {"BIGINT", "DOUBLE"}
    names = {node.name.lower() for node in tree.find_all(exp.Identifier)}
    assert not names & RESERVED
    for select in tree.find_all(exp.Select):
        check_grouping(select, exp)


def check_grouping(select, exp):
    """Check what DuckDB and Spark allow, but not Trino: the name of a result in GROUP BY, HAVING
    and WHERE, and a result that is neither grouped nor aggregated."""
    made_here = {e.alias for e in select.expressions
                 if isinstance(e, exp.Alias) and not (isinstance(e.this, exp.Column)
                                                      and e.this.name == e.alias)}
    clauses = [select.args[name] for name in ("group", "where", "having") if select.args.get(name)]
    for clause in clauses:
        for column in clause.find_all(exp.Column):
            if column.find_ancestor(exp.Select) is select and not column.table:
                assert column.name not in made_here or is_source(select, column, exp), column.sql()
    group = select.args.get("group")
    if not group:
        return
    grouped = {e.sql() for e in group.expressions}
    for result in select.expressions:
        value = result.this if isinstance(result, exp.Alias) else result
        if value.sql() in grouped or isinstance(value, exp.Literal):
            continue
        for column in value.find_all(exp.Column):
            assert (column.find_ancestor(exp.AggFunc) or column.sql() in grouped), column.sql()


def is_source(select, column, exp):
    """Return true if a table of FROM certainly has the column: it is a named query's result."""
    return any(column.name in inner.named_selects
               for inner in select.find_all(exp.Select) if inner is not select)


def test_each_view_says_what_it_answers_and_describes_its_columns(answers):
    for view, rows in answers["capture"]["together"].items():
        if view not in VIEWS:
            continue
        comment = [line for line in VIEWS[view].splitlines() if line.startswith("-- ")]
        described = set(re.findall(r"\w+", " ".join(comment)))
        assert set(rows[0]) <= described, set(rows[0]) - described
