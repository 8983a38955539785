# SPDX-License-Identifier: MIT
"""Test datasets of Parquet files: what pyarrow, DuckDB, polars and Spark read equals the tables of
the captures, row by row; interrupted exports are completed; problems end in one sentence."""
import filecmp
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import conftest
import duckdb
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

# for this process; conftest.clean_environment() removes the variable for others
os.environ["GPUTAP_CAPTURE_LIBRARY"] = str(conftest.BUILD / "libgputap-capture.so.0")
SOURCES = conftest.REPO / "python/src"
sys.path.insert(0, str(SOURCES))

import gputap as package  # noqa: E402
from gputap import parquet, parquet_files, parquet_jobs, parquet_plan  # noqa: E402

# xdist could not send the package's warnings to its controller, which does not import the package
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
BUSY = ["--threads", 3, "--devices", 2, "--queues", 3, "--kernels", 8, "--nested", "--failed",
        "--steps", 50, "--noise", 20]
NULL = "__HIVE_DEFAULT_PARTITION__"
PYTHON = {"GPUTAP_PYTHON": sys.executable}


@pytest.fixture
def synth(run, build, work):
    """Return a function: synth("a", "--calls", 100) writes a.gputap and returns its name."""
    def write(name, *options):
        run([build / "tests/synth/synth", "--calls", 3000, *options, "-o", f"{name}.gputap"])
        return f"{name}.gputap"
    return write


@pytest.fixture
def job(synth):
    """Return the captures of a job: ranks 0 to 2, on two hosts, and a session without a rank."""
    ranks = [synth(f"r{i}", *BUSY, "--job", 3, "--rank", i, "--pid", 5000 + 1000 * i, "--seed",
                   i + 1, "--late-rank", 1, "--late-by", 2000000, "--every", 100,
                   *(["--host", "host-b", "--boot", "2222"] if i == 2 else []))
             for i in range(3)]
    return [*ranks, synth("other", *BUSY, "--pid", 9000, "--processes", 2)]


@pytest.fixture
def export(tap):
    """Return a function: export(captures, "x.parquet", options..) runs `gputap export`."""
    def call(captures, folder, *options, env=None, **keywords):
        return tap("export", *captures, "-o", folder, *options, env={**PYTHON, **(env or {})},
                   **keywords)
    return call


def files_of(folder):
    folder = pathlib.Path(folder)
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*")
                  if p.is_file() and p.name != "_gputap.json")


def are_equal(a, b):
    names = files_of(a)
    return names == files_of(b) and filecmp.cmpfiles(a, b, names, shallow=False) == (names, [], [])


# Readers ------------------------------------------------------------------------

def by_pyarrow(folder):
    table = pyarrow.dataset.dataset(folder, partitioning="hive").to_table()
    return table.to_pylist()


def by_duckdb(folder):
    found = duckdb.connect().execute(
        f"select * from read_parquet('{folder}/**/*.parquet', hive_partitioning = true)")
    names = [d[0] for d in found.description]
    return [dict(zip(names, row)) for row in found.fetchall()]


def by_polars(folder):
    return polars.read_parquet(f"{folder}/**/*.parquet", hive_partitioning=True).to_dicts()


@pytest.fixture(scope="session", autouse=True)
def started_readers(tmp_path_factory):
    """Start the threads and open the descriptors that readers keep."""
    folder = tmp_path_factory.mktemp("readers")
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), folder / "a.parquet")
    for read in READERS.values():
        read(folder)


READERS = {"pyarrow": by_pyarrow, "duckdb": by_duckdb, "polars": by_polars}


def sorted_rows(rows, names):
    return sorted(repr([row[name] for name in names]) for row in rows)


def check_table(capture, folder, name, read, columns=None):
    table = capture.tables[name]
    names = columns or [c.name for c in table.columns]
    want = table.select(*names).reader().read_all().to_pylist()
    have = read(f"{folder}/table={name}")
    assert sorted_rows(have, names) == sorted_rows(want, names), name
    return len(want)


def check_dataset(captures, folder, reader="pyarrow", where=None):
    """Compare all tables. Return {table: number of rows}."""
    with package.open(captures, where=where) as capture:
        return {name: check_table(capture, folder, name, READERS[reader])
                for name in capture.tables}


@pytest.fixture(scope="module")
def traced(build, gputap, tmp_path_factory):
    """Trace an OpenCL program, with call stacks."""
    capture = tmp_path_factory.mktemp("parquet") / "real.gputap"
    subprocess.run([gputap, "run", "-q", "-o", capture, "--stacks",
                    build / "tests/opencl/cl_basic", "100"], check=True,
                   stdout=subprocess.DEVNULL)
    return capture


@pytest.mark.parametrize("reader", READERS)
def test_a_job_comes_back_row_by_row(export, job, reader):
    export(job, "job.parquet")
    counts = check_dataset(job, "job.parquet", reader)
    assert counts["sessions"] == 4 and counts["processes"] == 5
    for table in "calls", "activities", "ranges", "idle", "waits", "counts", "queues", "threads":
        assert counts[table]


@pytest.mark.parametrize("reader", READERS)
def test_a_real_program_comes_back_row_by_row(export, work, traced, reader):
    export([traced], "real.parquet")
    counts = check_dataset(traced, "real.parquet", reader)
    for table in "calls", "activities", "memory", "stacks", "frames", "devices":
        assert counts[table]


def test_rows_are_in_the_folders_of_their_host_and_rank(export, job):
    export(job, "job.parquet")
    processes = by_duckdb("job.parquet/table=processes")
    ranks = {row["process"]: row["rank"] for row in processes}
    for table in "calls", "activities", "waits":
        for row in by_duckdb(f"job.parquet/table={table}"):
            assert row["rank"] == ranks[row["process"]]
    assert {row["session"]: (row["host"], row["rank"])
            for row in by_duckdb("job.parquet/table=sessions")} == {
                0: ("synthetic-host", 0), 1: ("synthetic-host", 1), 2: ("host-b", 2),
                3: ("synthetic-host", None)}
    assert {row["process"] for row in processes if row["rank"] is None} == {
        row[0] for row in duckdb.connect().execute(
            "select distinct process from read_parquet('job.parquet/table=calls/**/*.parquet',"
            " hive_partitioning = true) where rank is null").fetchall()}


SPARK = """
import json, sys
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.driver.host", "127.0.0.1").getOrCreate())
for folder in sys.argv[1:]:
    rows = [row.asDict() for row in spark.read.parquet(folder).collect()]
    print(json.dumps({"folder": folder, "rows": rows}))
spark.stop()
"""


def test_spark_reads_the_dataset(run, export, job):
    export(job, "job.parquet")
    names = "calls", "activities", "sessions", "processes", "waits", "stacks"
    out = run([sys.executable, "-c", SPARK, *(f"job.parquet/table={name}" for name in names)]).out
    found = {d["folder"]: d["rows"] for d in map(json.loads, out.splitlines())}
    with package.open(job) as capture:
        for name in names:
            check_table(capture, "job.parquet", name, found.__getitem__)


def test_views_read_a_dataset_without_ranks(export, synth):
    from gputap import sql
    export([synth("a", *BUSY)], "a.parquet")
    connection = sql.connect("a.parquet")
    assert connection.execute("select host, rank from sessions").fetchall() == [
        ("synthetic-host", None)]
    assert connection.execute("select count(*) from time_by_call").fetchone()[0] > 0


# Content of files -----------------------------------------------------------------

def test_files_are_encoded_as_documented(export, synth):
    export([synth("a", *BUSY, "--calls", 200000)], "a.parquet")
    for path in pathlib.Path("a.parquet").rglob("*.parquet"):
        found = pyarrow.parquet.ParquetFile(path)
        assert b"ARROW:schema" not in found.metadata.metadata
        for field in found.schema_arrow:
            assert not pyarrow.types.is_dictionary(field.type)
        for g in range(found.metadata.num_row_groups):
            group = found.metadata.row_group(g)
            last = g == found.metadata.num_row_groups - 1
            assert group.num_rows <= 131072 and (last or group.num_rows == 131072), path
            for i in range(group.num_columns):
                column = group.column(i)
                assert column.compression == "ZSTD" and column.is_stats_set
                wanted = {"INT32": "DELTA_BINARY_PACKED", "INT64": "DELTA_BINARY_PACKED",
                          "BYTE_ARRAY": "RLE_DICTIONARY"}.get(column.physical_type, "PLAIN")
                assert wanted in column.encodings, (path, column)


def test_each_file_says_what_its_session_lacks(export, synth):
    names = [synth("whole", "--rank", 0), synth("lost", "--rank", 1, "--lose", 7, "--events")]
    export(names, "x.parquet")
    for name, rank in zip(names, range(2)):
        with package.open(name) as capture:
            health, uuid = capture.health, by_pyarrow("x.parquet/table=sessions")[rank]["uuid"]
        assert rank == 0 or health.lost
        for path in pathlib.Path("x.parquet").rglob(f"rank={rank}/*.parquet"):
            metadata = pyarrow.parquet.read_metadata(path).metadata
            for key in "seen", "recorded", "lost", "evicted", "open_ranges", "uncounted", \
                    "untraced", "bad_bytes":
                assert int(metadata[b"gputap." + key.encode()]) == getattr(health, key), key
            assert metadata[b"gputap.version"].decode() == package.__version__
            assert metadata[b"gputap.uuid"].decode() == uuid
            assert metadata[b"gputap.session"] == str(rank).encode()
            assert metadata[b"gputap.where"] == b""
    units = json.loads(pyarrow.parquet.read_metadata(
        f"x.parquet/table=activities/host=synthetic-host/rank=0/part-0.parquet").metadata[
            b"gputap.units"])
    assert units["start_ns"] == "ns" and units["bytes"] == "bytes"


@pytest.mark.parametrize("host, folder", [
    ("a/../b=c%20 d", "a%2F..%2Fb%3Dc%2520 d"), ("..", ".."), ("'\"\\\n\t?*[x]", None),
    ("été € 😀", "été € 😀"), (NULL, None), ("h" * 3000, "h" * 200)])
def test_any_name_of_a_host_is_a_folder(export, synth, host, folder):
    name = synth("a", "--host", host, "--kernel-name", "k\n\x01'\"é€")
    export([name], "a.parquet")
    assert sorted(os.listdir()) == ["a.gputap", "a.parquet"]
    hosts = os.listdir("a.parquet/table=calls")
    assert len(hosts) == 1 and folder in (None, hosts[0].removeprefix("host="))
    with package.open(name) as capture:
        for read in READERS.values() if host != NULL and len(host) <= 200 else ():
            check_table(capture, "a.parquet", "sessions", read)
        for read in READERS.values():
            check_table(capture, "a.parquet", "activities", read)


def test_arguments_and_columns_are_written_on_request(synth, work):
    name = synth("a", *BUSY)
    parquet.export(name, "a.parquet", tables=["calls"], arguments=True)
    parquet.export(name, "b.parquet", tables=["activities"], columns={
        "activities": ["duration_ns", "name"]})
    with package.open(name) as capture:
        columns = [*(c.name for c in capture.calls.columns), "arguments"]
        assert check_table(capture, "a.parquet", "calls", by_duckdb, columns)
        assert check_table(capture, "b.parquet", "activities", by_duckdb, ["duration_ns", "name"])
    found = pyarrow.parquet.read_schema(next(pathlib.Path("b.parquet").rglob("*.parquet")))
    assert found.names == ["duration_ns", "name"]
    for wrong in {"tables": ["nosuch"]}, {"columns": {"nosuch": ["a"]}}, {"part": (4, 3)}:
        with pytest.raises(ValueError):
            parquet.export(name, "c.parquet", **wrong)
    with pytest.raises(ValueError, match="no column 'nam'"):
        parquet.export(name, "c.parquet", columns={"calls": ["nam"]})


def test_an_expression_selects_rows(export, job):
    export(job, "x.parquet", "-w", "rank=1")
    check_dataset(job, "x.parquet", where="rank=1")
    assert {row["rank"] for row in by_duckdb("x.parquet/table=calls")} == {1}
    result = export(job, "y.parquet", "-w", "rank=", status=2)
    assert result.err.endswith("^\n") and "Traceback" not in result.err
    assert not os.path.exists("y.parquet")


def test_row_groups_have_only_their_texts_and_dictionaries_of_bounded_size():
    texts = pyarrow.array([f"{i:0100000}" for i in range(1000)])  # 100 MB
    indices = pyarrow.array([i % 1000 for i in range(4000)] + [None], pyarrow.int32())
    column = pyarrow.DictionaryArray.from_arrays(indices, texts)
    batch = pyarrow.record_batch([column], names=["name"])
    groups = list(parquet_files.row_groups(pyarrow, batch))
    assert max(g.column(0).dictionary.nbytes for g in groups) <= parquet_files.DICTIONARY_BYTES
    assert pyarrow.Table.from_batches(groups).column(0).to_pylist() == column.to_pylist()


# Parts and processes --------------------------------------------------------------

@pytest.fixture
def small_parts(monkeypatch):
    """Divide sessions of this test's size."""
    monkeypatch.setattr(parquet_plan, "PART_ROWS", 1000)


def test_any_number_of_processes_writes_the_same_files(job, small_parts):
    parquet.export(job, "one.parquet", jobs=1)
    parquet.export(job, "three.parquet", jobs=3)
    assert are_equal("one.parquet", "three.parquet")
    assert any(name.endswith("-2.parquet") for name in files_of("one.parquet"))
    check_dataset(job, "three.parquet", "duckdb")


def test_the_command_takes_a_number_of_processes(export, job):
    export(job, "one.parquet", "-j", 1)
    export(job, "three.parquet", "-j3")
    assert are_equal("one.parquet", "three.parquet")
    assert "-j 0: a number from 1" in export(job, "x.parquet", "-j", "0", status=2).err


def test_all_shares_together_are_the_dataset(export, job):
    export(job, "whole.parquet")
    seen = []
    for share in 3, 1, 2:
        export(job, "parts.parquet", "--part", f"{share}/3")
        seen.append(len(files_of("parts.parquet")))
    assert 0 < seen[0] < seen[1] < seen[2] and are_equal("whole.parquet", "parts.parquet")
    for wrong in "0/3", "4/3", "3", "x/y":
        assert "not a share" in export(job, "parts.parquet", "--part", wrong, status=2).err


def test_shares_are_of_similar_size(job):
    with package.open(job) as capture:
        plan = parquet_plan.Plan(capture, None, None, None, False)
        shares = [plan.share((i, 3)) for i in (1, 2, 3)]
        loads = [sum(u.weight for u in share) for share in shares]
        assert sorted(map(id, sum(shares, []))) == sorted(map(id, plan.units))
    assert max(loads) < 2 * min(loads)


# A second run -----------------------------------------------------------------------

def test_a_second_run_writes_only_what_is_missing_or_broken(export, job):
    export(job, "x.parquet")
    shutil.copytree("x.parquet", "first.parquet")
    names = files_of("x.parquet")
    missing = next(n for n in names if "table=calls" in n)
    broken = next(n for n in names if "table=activities" in n)
    foreign = next(n for n in names if "table=memory" in n)
    os.unlink(f"x.parquet/{missing}")
    os.truncate(f"x.parquet/{broken}", 1000)
    shutil.copy(f"x.parquet/{names[0]}", f"x.parquet/{foreign}")
    times = {n: os.stat(f"x.parquet/{n}").st_mtime_ns for n in names if n != missing}
    err = export(job, "x.parquet").err
    assert f"{len(names) - 3} files of x.parquet were already there; 3 were written" in err
    assert {n for n in times if os.stat(f"x.parquet/{n}").st_mtime_ns != times[n]} == {
        broken, foreign}
    assert are_equal("x.parquet", "first.parquet")


def test_another_dataset_is_replaced_only_on_request(export, job):
    export(job[:2], "x.parquet")
    for captures, options, why in (
            (job, [], "from other captures"), (job[:2], ["-w", "rank=1"], "with other options"),
            (job, ["-f", "--part", "1/2"], "remove it")):
        before = files_of("x.parquet")
        result = export(captures, "x.parquet", *options, status=1)
        assert why in result.err and result.err.count("\n") == 1
        assert files_of("x.parquet") == before
    pathlib.Path("x.parquet/notes.txt").write_text("mine")
    export(job, "x.parquet", "-f")
    check_dataset(job, "x.parquet")
    assert pathlib.Path("x.parquet/notes.txt").read_text() == "mine"


def test_a_file_or_a_foreign_folder_is_not_overwritten(export, synth, work):
    name = synth("a")
    pathlib.Path("file.parquet").write_text("mine")
    assert "file.parquet exists: -f" in export([name], "file.parquet", status=1).err
    os.mkdir("folder.parquet")
    pathlib.Path("folder.parquet/x").write_text("mine")
    assert "was not written by gputap" in export([name], "folder.parquet", status=1).err
    assert "one of the inputs" in export([name], name, "-f", "--format", "parquet", status=2).err
    os.mkdir("empty.parquet")
    export([name], "empty.parquet/")
    export([name], "file.parquet", "-f")
    assert os.path.isdir("file.parquet")


def test_others_may_read_the_files_only_on_request(export, synth):
    name = synth("a")
    old = os.umask(0o022)
    try:
        export([name], "private.parquet")
        export([name], "shared.parquet", "--share")
    finally:
        os.umask(old)
    for folder, mode in ("private.parquet", 0o600), ("shared.parquet", 0o644):
        assert {os.stat(p).st_mode & 0o777 for p in pathlib.Path(folder).rglob("*")
                if p.is_file()} == {mode}


# Problems ---------------------------------------------------------------------------

def unfinished(folder):
    return [p for p in pathlib.Path(folder).rglob("*.part")]


# Runs the export, with a change to its process: `write` replaces write_unit() in the processes.
SCRIPT = """
import os, signal, sys, time
from gputap import parquet, parquet_files, parquet_jobs
write_unit = parquet_files.write_unit
def add(self, batch, values, add=parquet_files.Spread.add):
    add(self, batch, values)
    self._flush(next(iter(self.wanted)))
    {action}
parquet_files.Spread.add = add
sys.exit(parquet.main(sys.argv[1:]))
"""


def start(action, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    return subprocess.Popen([sys.executable, "-c", SCRIPT.format(action=action), *arguments],
                            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, start_new_session=True)


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("jobs", ["1", "3"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_export_is_completed_by_the_next(export, job, jobs, number):
    process = start("time.sleep(60)", "-j", jobs, "-o", "x.parquet", *job)
    wait_for(lambda: unfinished("x.parquet"))
    # as a terminal does
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and err == "gputap export: interrupted; the same command " \
        "continues\n"
    assert not unfinished("x.parquet")
    export(job, "x.parquet")
    check_dataset(job, "x.parquet")


def test_a_killed_worker_ends_the_export_and_the_next_completes_it(export, job):
    process = start("os.kill(os.getpid(), signal.SIGKILL)", "-j", "2", "-o", "x.parquet", *job)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "killed by SIGKILL; the same command continues" in err
    assert err.count("\n") == 1 and not unfinished("x.parquet")
    export(job, "x.parquet")
    check_dataset(job, "x.parquet")


def test_a_killed_export_leaves_no_process_and_the_next_completes_it(export, job):
    process = start("time.sleep(60)", "-j", "2", "-o", "x.parquet", *job)
    wait_for(lambda: len(unfinished("x.parquet")) == 2)
    process.kill()
    process.communicate(timeout=60)  # returns when the workers have closed the pipe, too
    wait_for(lambda: not unfinished("x.parquet"))
    export(job, "x.parquet")
    check_dataset(job, "x.parquet")


def test_two_exports_do_not_write_one_file(export, synth):
    name = synth("a")
    first = start("time.sleep(60)", "-j", "1", "-o", "x.parquet", name)
    wait_for(lambda: unfinished("x.parquet"))
    result = export([name], "x.parquet", status=1)
    first.kill()
    first.communicate(timeout=60)
    assert "another export is writing it" in result.err
    assert len(unfinished("x.parquet")) == 1  # of the killed process
    export([name], "x.parquet")
    assert not unfinished("x.parquet")
    check_dataset([name], "x.parquet")


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_full_disk_ends_the_export_and_the_next_completes_it(run, export, synth, work, jobs):
    name = synth("a", *BUSY, "--calls", 40000)
    os.mkdir("small")
    run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", work / "small"])
    try:
        result = export([name], "small/x.parquet", "-j", jobs, status=1)
        assert "No space left on device" in result.err and result.err.count("\n") == 1
        assert not unfinished("small")
        run(["mount", "-o", "remount,size=100m", work / "small"])
        export([name], "small/x.parquet", "-j", jobs)
        check_dataset([name], "small/x.parquet")
    finally:
        run(["umount", work / "small"])


def test_unfinished_and_damaged_captures_are_written_as_far_as_they_are_readable(export, synth):
    cut, damaged = synth("cut", "--cut", "--rank", 0), synth("damaged", "--rank", 1, "--plain")
    data = bytearray(pathlib.Path(damaged).read_bytes())
    for at in range(len(data) // 3, len(data) // 3 + 2000):
        data[at] ^= 0x55
    pathlib.Path(damaged).write_bytes(data)
    for jobs in "1", "2":
        result = export([cut, damaged], "x.parquet", "-f", "-j", jobs, status=1)
        assert "1 sessions unfinished" in result.err and "bytes damaged" in result.err
        check_dataset([cut, damaged], "x.parquet")
    ends = {row["rank"]: row["end"] for row in by_duckdb("x.parquet/table=sessions")}
    assert ends == {0: "unfinished", 1: "complete"}
    metadata = pyarrow.parquet.read_metadata(
        next(pathlib.Path("x.parquet/table=calls").rglob("rank=1/*.parquet"))).metadata
    assert int(metadata[b"gputap.bad_bytes"]) > 0


def test_files_that_are_no_captures_are_left_out(export, synth):
    name = synth("a")
    pathlib.Path("empty.gputap").write_bytes(b"")
    assert "left out" in export([name, "empty.gputap"], "x.parquet", status=1).err
    check_dataset([name], "x.parquet")
    assert "empty.gputap" in export(["empty.gputap"], "y.parquet", status=1).err


def test_a_capture_that_has_grown_needs_another_dataset(export, synth):
    name = synth("a", "--cut")
    export([name], "x.parquet", status=1)
    shutil.copy(synth("b"), name)
    assert "have changed since" in export([name], "x.parquet", status=1).err


def test_a_missing_package_is_named_in_one_line(run, export, synth, work):
    name = synth("a")
    run([sys.executable, "-m", "venv", "--without-pip", "bare"])
    for python, sentence in (("bare/bin/python", "-m pip install pyarrow"),
                             ("no/such/python", "cannot be executed"), ("false", "status 1")):
        result = export([name], "x.parquet", env={"GPUTAP_PYTHON": python}, status=1)
        assert sentence in result.err and result.err.count("\n") == 1
    assert not os.path.exists("x.parquet")


def test_modules_in_the_current_folder_are_not_imported(export, synth):
    name = synth("a")
    for module in "pyarrow", "gputap", "json":
        pathlib.Path(f"{module}.py").write_text("raise SystemExit('imported')")
    export([name], "x.parquet")


def test_options_of_other_formats_are_refused(export, tap, synth):
    name = synth("a")
    for option in ["--mangled"], ["--weight", "host"]:
        assert option[0] in export([name], "x.parquet", *option, status=2).err
    assert "--part applies to Parquet" in tap("export", name, "-o", "a.csv", "--part", "1/2",
                                              status=2).err


def test_memory_is_bounded(export, synth, run):
    """The peak of the export is measured by its parent."""
    name = synth("a", *BUSY, "--calls", 300000)
    script = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    out = run([sys.executable, "-c", script, conftest.BUILD / "gputap", "export", name, "-o",
               "x.parquet", "-j", "1"], env=PYTHON)
    assert int(out.out) < 200 << 10
    assert "without the table dependencies" in out.err
    assert not list(pathlib.Path("x.parquet").glob("table=dependencies"))
    assert list(pathlib.Path("x.parquet").glob("table=calls"))
