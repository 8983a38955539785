# SPDX-License-Identifier: MIT
"""Run the 24 checks of the validation plan in rocm-trace-lite's RFC for HIP calls, under the names
of the RFC's tests. These checks are stricter than the RFC's:

- 5 without a device (schema, re-entrancy, correlation ids) check a written file, not source text,
  and use a library that really makes calls to itself
- 6 on capture, timing, pid and tid, and modes check every launch with its number, times inside the
  run, and the kernel's thread id
- 4 on correlation require a linked share of 100 %, where upstream pins 0, and check order and
  uniqueness, which upstream skips
- 5 end to end require that the result equals the truth, where upstream requires "more than
  nothing". PyTorch for ROCm is not available here, which is a listed skip, so tests with HIP run
  instead.
- 2 on overhead count allocations instead of measuring time: a launch makes no additional
  allocation. bench/run.py measures 10 % and 2 %.
- 2 guards require that the built library needs only libc's family, where upstream requires no
  libamdhip64
"""

import gzip
import json
import re
import shutil
import sqlite3
import subprocess

import pytest

from truth import CLOCK_NS, Truth, read_capture

TRUTH = Truth(threads=2, streams=4, launches=12, copies=2, graphs=5, nodes=6)


@pytest.fixture(scope="session")
def modes(hip_program, softgpu, gputap, tmp_path_factory):
    """Return a function: modes("hip") returns a folder with a.gputap, a.rpd and a.json.gz of one
    run. RTL_MODE selects the mode, as it does for upstream's users."""
    made = {}

    def run(mode):
        if mode not in made:
            from conftest import run_command
            folder = tmp_path_factory.mktemp(mode)
            run_command([
                gputap, "run", "-q", "-o", folder / "a.gputap", "--",
                *TRUTH.command(hip_program("truth"))
            ],
                        env={**softgpu, "RTL_MODE": mode})
            for kind in ("rpd", "json.gz"):
                run_command([gputap, "export", folder / "a.gputap", "-o", folder / f"a.{kind}"])
            made[mode] = folder
        return made[mode]
    return run


@pytest.fixture
def sql(modes):
    """Return a function: sql("select ..", mode="hip") queries the RPD file."""
    def ask(query, mode="hip"):
        with sqlite3.connect(modes(mode) / "a.rpd") as db:
            return db.execute(query).fetchall()
    return ask


@pytest.fixture
def found(modes, tap):
    return read_capture(tap, modes("hip") / "a.gputap")


NAMED = "select s.string from rocpd_api a join rocpd_string s on a.apiName_id = s.id"
LINKED = (
    "select a.start, a.end, o.start, o.end from rocpd_api_ops l join rocpd_api a on l.api_id = a.id"
    " join rocpd_op o on l.op_id = o.id"
)


# 5 without a device ------------------------------------------------------------------

def columns(sql, table):
    return {row[1] for row in sql(f"pragma table_info({table})")}


def test_rocpd_api_table_exists(sql):
    assert {"rocpd_api", "rocpd_op", "rocpd_string"} <= {
        row[0] for row in sql("select name from sqlite_master where type = 'table'")
    }


def test_rocpd_api_columns(sql):
    assert {"id", "pid", "tid", "start", "end", "apiName_id", "args_id"} <= columns(
        sql, "rocpd_api")


def test_rocpd_api_ops_columns(sql):
    assert {"api_id", "op_id"} <= columns(sql, "rocpd_api_ops")
    assert sql("select count(*) from rocpd_api_ops where api_id is null or op_id is null") == [(0,)]


def test_reentrance_guard_present(found):
    """The library calls its own exports, for hipMemset and others. Those nested calls are not
    recorded as calls of the program."""
    asked = TRUTH.lanes * TRUTH.copies
    memset = [c for c in found.calls.values() if c["operation"] == "hipMemsetAsync"]
    assert len(memset) == asked
    assert all(c["depth"] == "0" for c in found.calls.values() if c["domain"] == "hip")


def test_correlation_map_present(found):
    """Every id belongs to one call, and every activity has the id of a recorded call."""
    assert all(found.call_of(row) for row in found.device)
    assert len(found.calls) == len(
        {(c["tid"], c["start"], c["operation"]) for c in found.calls.values()})


# 6 with a device ----------------------------------------------------------------------

def test_hip_api_capture_basic(sql):
    launches = [name for name, in sql(NAMED) if name == "hipLaunchKernel"]
    # includes the captured launches
    assert len(launches) == TRUTH.first_node + TRUTH.threads * TRUTH.nodes


def test_hip_api_capture_malloc_free(sql):
    names = [name for name, in sql(NAMED)]
    assert names.count("hipMalloc") == 3 + 2 * TRUTH.lanes
    assert names.count("hipFree") == 2 * TRUTH.lanes


def test_hip_api_timing(found):
    """Calls of a thread follow each other without overlap."""
    by_thread = {}
    for call in found.calls.values():
        if call["domain"] == "hip":
            by_thread.setdefault(call["tid"], []).append((call["start"], call["end"]))
    assert len(by_thread) == 1 + TRUTH.threads
    for times in by_thread.values():
        times.sort()
        assert all(0 < start <= end for start, end in times)
        assert all(a[1] <= b[0] for a, b in zip(times, times[1:]))


def test_hip_api_pid_tid(found, modes, tap):
    info = json.loads(tap("info", "--json", modes("hip") / "a.gputap").out)
    pids = {p["pid"] for p in info["processes"]}
    assert {int(c["pid"]) for c in found.calls.values()} == pids
    launching = {c["tid"] for c in found.calls.values() if c["operation"] == "hipGraphLaunch"}
    assert len(launching) == TRUTH.threads and str(pids.pop()) not in launching


def test_hip_api_disabled_by_default(sql):
    """The standard mode records all activities and no call."""
    assert sql(
        NAMED.replace("s.string", "count(*)") +
        " where s.string like 'hip%' and s.string not like 'hipGraph%'", "standard") == [(0, )]


def test_gpu_ops_still_captured_in_hip_mode(found):
    TRUTH.check(found)


# 4 correlation -----------------------------------------------------------------------

def test_phase1_link_count_is_zero(sql):
    """Upstream pins a link count of 0. gputap links every activity."""
    ops = sql("select count(*) from rocpd_op")[0][0]
    assert ops >= TRUTH.launched.total() + TRUTH.replayed.total()
    assert sql("select count(distinct op_id) from rocpd_api_ops") == [(ops,)]


def test_correlation_timing_order(sql):
    links = sql(LINKED)
    assert len(links) >= TRUTH.launched.total()
    for api_start, api_end, op_start, op_end in links:
        assert api_start <= op_start + CLOCK_NS and op_start <= op_end


def test_multi_kernel_unique_correlation(found):
    """No two launches share a kernel. All kernels of a graph are linked to the graph's launch."""
    ids = [row["correlation"] for row in found.kernels("numbered")]
    assert len(ids) == len(set(ids)) == TRUTH.launched.total()
    assert len(
        {row["correlation"] for row in found.kernels("node")}) == TRUTH.threads * TRUTH.graphs


def test_both_tables_populated(sql, found):
    assert sql("select count(*) from rocpd_op")[0][0] >= len(found.device)
    assert sql("select count(*) from rocpd_api")[0][0] >= len(
        [c for c in found.calls.values() if c["domain"] == "hip"])


# 5 end to end ------------------------------------------------------------------------

def test_pytorch_mm():
    # without PyTorch, Python would find the folder torch/ next to the tests
    torch = pytest.importorskip("torch.cuda", reason="needs PyTorch for ROCm")
    if not torch.is_available():
        pytest.skip("needs PyTorch for ROCm, which is not built for the HIP that is packaged here")


def test_cudagraph_safe(found):
    """Replays compute correct results (the program checks), and every kernel of each replay is
    recorded."""
    TRUTH.check_graphs(found)


def test_standard_mode_no_hip_api(modes, tap):
    standard = read_capture(tap, modes("standard") / "a.gputap")
    assert not [c for c in standard.calls.values() if c["domain"].startswith("hip")]
    assert len(standard.kernels("numbered")) == TRUTH.launched.total()
    assert len(standard.kernels("node")) == TRUTH.replayed.total()


def test_perfetto_output(modes, found):
    events = json.loads(gzip.open(modes("hip") / "a.json.gz").read())["traceEvents"]
    names = [e["name"] for e in events if e.get("ph") == "X"]
    assert names.count("numbered") == TRUTH.launched.total() and names.count(
        "node") == TRUTH.replayed.total()
    assert names.count("hipGraphLaunch") == TRUTH.threads * TRUTH.graphs


def test_roctracer_parity_kernel_count(found):
    """roctracer is not available here, so the expected count is that of the program's launches."""
    kernels = [
        row for row in found.device
        if row["operation"] == "kernel" and not row["name"].startswith("__amd")
    ]
    assert len(kernels) == TRUTH.launched.total() + TRUTH.replayed.total()


# 2 overhead, counted ------------------------------------------------------------------

@pytest.fixture(scope="session")
def counter(tmp_path_factory, repo):
    library = tmp_path_factory.mktemp("counter") / "allocations.so"
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", repo / "tests/hip/allocations.c", "-o", library, "-ldl"],
        check=True)
    return library


@pytest.mark.parametrize("mode", ["hip", "standard", "lite"])
def test_overhead_hip_mode(hip_program, softgpu, counter, run, tap, work, mode):
    """HIP's own launches allocate memory, traced or not. The number of allocations differs by a few
    per thousand, depending on the number of activities in progress."""
    command = Truth(threads=1, streams=1, launches=2000).command(hip_program("truth"))
    env = {**softgpu, "LD_PRELOAD": counter, "SOFT_AMDGPU_EXECUTE": "0"}
    command.append("verify=0")

    def count(result):
        return int(re.search(r"allocations (\d+)", result.err)[1])
    bare = count(run(command, env=env))
    traced = count(tap("run", "-q", "-o", "a.gputap", "--mode", mode, "--", *command, env=env))
    assert bare > 500
    assert traced <= bare + 100


def test_standard_mode_overhead_unchanged(repo):
    """bench/run.py measures both modes and checks the promised limits."""
    ratios = json.loads((repo / "bench/ratios.json").read_text())
    promised = {name: row[3] for name, row in ratios.items() if "HIP loop" in name}
    assert sum("1.10" in wanted
               for wanted in promised.values()) and sum("1.02" in wanted
                                                        for wanted in promised.values()), promised


# 2 guards -----------------------------------------------------------------------------

@pytest.mark.parametrize("library", ["libgputap.so.0", "libgputap-audit.so"])
def test_no_libamdhip64_in_binary(build, library):
    """Injected libraries need only libc's family."""
    text = subprocess.run(["readelf", "-d", build / library],
                          stdout=subprocess.PIPE,
                          text=True,
                          check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    assert needed <= {
        "libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1"
    }, needed


def test_no_roctracer_symbols_in_source(build):
    """The library requires no symbol of a vendor's library at link time."""
    text = subprocess.run([shutil.which("nm"), "-D", "--undefined-only", build / "libgputap.so.0"],
                          stdout=subprocess.PIPE,
                          text=True,
                          check=True).stdout
    assert not re.findall(r" U ((?:hip|hsa_|roctracer|rocprofiler|cl[A-Z])\w*)", text)
