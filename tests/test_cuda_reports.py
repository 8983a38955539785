# SPDX-License-Identifier: MIT
"""Test how commands, exports and tools show CUDA, with the driver and CUPTI in software."""
import json
import subprocess
import warnings

import pytest

from conftest import REPO
from consumers import perfetto

WAITS = {"cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize"}


def compile_c(*words):
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-O1", *map(str, words)], check=True)


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuda_reports")
    compile_c(f"-I{REPO}", "-shared", "-fPIC", REPO / "tests/cuda/driver_kernels.c", "-o",
              folder / "kernels.so")
    compile_c(f"-I{REPO}", REPO / "tests/cuda/report_program.c", "-o", folder / "program",
              build / "soft/cuda/libcuda.so.1")
    return [folder / "program", folder / "kernels.so"]


@pytest.fixture(scope="session")
def tool(build, tmp_path_factory):
    path = tmp_path_factory.mktemp("cuda_tool") / "work_counter.so"
    compile_c("-shared", "-fPIC", f"-I{REPO}/include", REPO / "tests/cuda/activity_counter.c", "-o",
              path, build / "libgputap.so.0", f"-Wl,-rpath,{build}")
    return path


@pytest.fixture
def trace(run, gputap, program, work):  # pylint: disable=unused-argument
    def call(*scene, options=(), env=None):
        return run([
            gputap, "run", "-q", "-f", "-o", "r.gputap", *options, "--", gputap, "soft", "cuda",
            "--", *program, *scene
        ], env=env)
    return call


@pytest.fixture
def report(run, gputap):
    return lambda *words: json.loads(
        run([gputap, "report", "--json", "--top", "0", *words, "r.gputap"]).out)


def test_a_wait_is_split_by_the_work_that_it_waited_for(trace, report):
    """Calls wait for a kernel whose launch names the stream in a struct."""
    trace("waits")
    rows = {row["name"]: row for row in report()["operations"] if row["name"] in WAITS}
    assert set(rows) == WAITS
    for row in rows.values():
        assert row["wait_ns"] > 0
        parts = ("wait_ns", "transfer_ns", "runtime_ns", "unattributed_ns")
        assert sum(row[key] for key in parts) == row["total_ns"]
    assert rows["cuCtxSynchronize"]["unattributed_ns"] == 0


def test_what_stands_at_the_end_of_a_run_fits_80_columns(run, gputap, program, work):
    # pylint: disable=unused-argument
    said = run([gputap, "run", "--", gputap, "soft", "cuda", "--", *program, "work", "3"],
               env={"COLUMNS": "80"}).err
    assert "memcpy H2D" in said
    assert not [line for line in said.splitlines()
                if len(line) > 80 and not line.startswith("gputap: wrote")]


def test_copies_are_told_apart_by_the_memory_that_they_are_between(trace, report):
    trace("work", "3")
    rows = {row["direction"]: row["count"] for row in report()["copies"]}
    assert rows == {
        "memcpy H2D (Pageable)": 3,
        "memcpy D2H (Pageable)": 3,
        "memset": 3
    }
    by_device = report("--by", "device")["copies"]
    assert {row["direction"]: row["count"] for row in by_device} == {
        "memcpy H2D": 3, "memcpy D2H": 3, "memset": 3}


@pytest.fixture
def analysis(trace, run, gputap, work):
    trace("work", "500")  # HTA fails on files with only a hundred events
    run([gputap, "export", "-f", "r.gputap", "-o", "r.hta.json.gz"])
    warnings.simplefilter("ignore")
    from hta.trace_analysis import TraceAnalysis
    return TraceAnalysis(trace_files={0: str(work / "r.hta.json.gz")})


def test_hta_links_all_work_and_knows_each_launch(analysis):
    trace_rows = analysis.t.get_trace(0)
    work = trace_rows[trace_rows["stream"] > 0]
    assert len(work) == 2000 and (work["index_correlation"] > 0).all()
    assert len(analysis.get_cuda_kernel_launch_stats(visualize=False)[0]) == 2000
    assert {name for _, name in analysis.get_memory_bw_summary().index} <= {
        "Memcpy DtoH", "Memcpy HtoD", "Memset"}


def test_work_has_what_torch_profiler_says_of_it(trace, report, run, gputap, work):
    trace("work", "3")
    run([gputap, "export", "-f", "r.gputap", "-o", "r.json"])
    trace_file = json.loads((work / "r.json").read_text())
    found = {}
    for event in trace_file["traceEvents"]:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            found.setdefault((event["cat"], event["name"]), []).append(event["args"])
    assert {key: len(rows) for key, rows in found.items()} == {
        ("kernel", "add_numbers"): 3,
        ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)"): 3,
        ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)"): 3,
        ("gpu_memset", "Memset (Device)"): 3
    }
    (device, ) = trace_file["deviceProperties"]
    for kernel in found["kernel", "add_numbers"]:
        assert kernel["grid"] == [4, 1, 1] and kernel["block"] == [256, 1, 1]
        assert kernel["blocks per SM"] == 4 / device["numSms"]
        assert kernel["warps per SM"] == 4 * 8 / device["numSms"]
        assert kernel["context"] >= 1 and kernel["stream"] >= 1
        assert kernel["shared memory"] == 0 and kernel["registers per thread"] == 32
    (symbol, ) = report("--table", "kernel_symbols")["kernel_symbols"]
    assert (symbol["name"], symbol["registers"], symbol["dispatches"]) == ("add_numbers", 32, 3)
    assert device["warpSize"] == 32 and device["totalGlobalMem"] == 8 << 30


@pytest.mark.parametrize("scene,expected", [
    (["work", "5"], {"kernel": 5, "read": 5, "write": 5, "fill": 5, "from_graphs": 0}),
    (["graph", "4"], {"kernel": 4, "read": 0, "write": 0, "fill": 4, "from_graphs": 8}),
])
@pytest.mark.parametrize("with_session", [True, False])
def test_tools_are_notified_of_all_work(trace, run, build, program, tool, scene, expected,
                                        with_session):
    if with_session:
        done = trace(*scene, env={"GPUTAP_TOOLS": tool})
    else:
        done = run([*program, *scene],
                   env={
                       "LD_LIBRARY_PATH": f"{build}/soft/cuda:{build}/soft/cuda/cupti",
                       "LD_PRELOAD": build / "libgputap.so.0",
                       "GPUTAP_TOOLS": tool
                   })
    told = json.loads(done.err.splitlines()[-1])
    work = sum(expected[kind] for kind in ("kernel", "read", "write", "fill"))
    assert {kind: told[kind] for kind in expected} == expected
    assert (told["enter"], told["exit"], told["complete"]) == (work, work, work)
    assert told["linked"] == work and told["wrong"] == 0


def test_what_is_refused_is_begun_and_not_completed(run, gputap, program, tool, work):
    # pylint: disable=unused-argument
    done = run([
        gputap, "run", "-q", "-o", "r.gputap", "--", gputap, "soft", "cuda", "--fail", "launch",
        "--", *program, "work", "1"
    ], status=3, env={"GPUTAP_TOOLS": tool})
    told = json.loads(done.err.splitlines()[-1])
    assert (told["enter"], told["exit"], told["complete"]) == (2, 2, 1)


def test_a_queue_of_cuda_is_called_a_stream(trace, run, gputap):
    trace("work", "3")
    timeline = run([gputap, "report", "--timeline", "r.gputap"]).out
    assert "  stream 1 " in timeline and "queue" not in timeline
    latency = run([gputap, "report", "-t", "latency", "--by", "queue", "r.gputap"]).out
    assert " stream " in latency and " queue " not in latency
    answer = json.loads(
        run([gputap, "report", "--json", "-t", "latency", "--by", "queue", "r.gputap"]).out)
    assert {row["queue"] for row in answer["latency"]} == {1}  # all runtimes have this key
    run([gputap, "export", "-o", "r.pftrace", "r.gputap"])
    tracks = perfetto.ask("r.pftrace", rows="select distinct name from track")["rows"]
    assert [t["name"] for t in tracks if "stream 1" in str(t["name"])]
