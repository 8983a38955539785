# SPDX-License-Identifier: MIT
"""Test unmodified third-party clients of rocprofiler-sdk with gputap's library and the software
GPU. Each client must count the program's actions (tests/truth.py) and the activities that `gputap
run` records."""

import collections
import json
import os
import pathlib
import re
import sqlite3
import sys

import pytest

from conftest import REPO
from truth import Capture, Truth

TRUTH = Truth(threads=2, streams=3, launches=20, copies=2, graphs=3, nodes=6)


def from_outside(*names):
    """Return the paths in the variables GPUTAP_<name>."""
    paths = [os.environ.get(f"GPUTAP_{name}") for name in names]
    if not all(paths):
        pytest.skip(" and ".join(f"GPUTAP_{name}" for name in names) + " not set")
    return [pathlib.Path(path) for path in paths]


@pytest.fixture
def environment(build, softgpu):
    """Return the environment of a program on the software GPU with gputap's rocprofiler-sdk
    libraries."""
    folders = [softgpu["LD_LIBRARY_PATH"], build, build / "src/compat/rocprofiler",
               build / "src/compat/roctx"]
    return softgpu | {"LD_LIBRARY_PATH": ":".join(map(str, folders))}


@pytest.fixture
def recorded(gputap, hip_program, softgpu, run, work):
    """Return the activities that `gputap run` records: kernels by name, and memcpys by
    direction."""
    run([gputap, "run", "-q", "-o", "own.gputap", "--", *TRUTH.command(hip_program("truth"))],
        env=softgpu)
    run([gputap, "export", "own.gputap", "-o", "own.csv"])
    found = Capture(work / "own.csv")
    TRUTH.check(found)
    return found


def kernels(found):
    """Return the names of all kernels, including those that the runtime uses for copies and fills,
    with counts."""
    return collections.Counter(row["name"] for row in found.device if row["name"])


def check_kernels(names, found):
    names = collections.Counter({name.removesuffix(".kd"): n for name, n in names.items()})
    assert names["numbered"] == TRUTH.launched.total()
    assert names["node"] == TRUTH.replayed.total()
    assert names == kernels(found)


def check_calls(calls, found):
    own = collections.Counter(call["operation"] for call in found.calls.values())
    launches = TRUTH.launched.total() + TRUTH.threads * TRUTH.nodes
    assert calls["hipLaunchKernel"] == launches
    assert calls["hipGraphLaunch"] == TRUTH.threads * TRUTH.graphs
    for name in ("hipLaunchKernel", "hipGraphLaunch", "hipMemcpyAsync", "hipMemcpy",
                 "hipMemsetAsync", "hipStreamSynchronize", "hipMalloc", "hipFree"):
        assert calls[name] == own[name], name


def test_kineto_linked_into_the_program(build, environment, hip_headers, recorded, run, work):
    checkout, library = from_outside("KINETO_CHECKOUT", "KINETO_LIBRARY")
    source, sdk = checkout / "libkineto", build / "src/compat/rocprofiler"
    run(["g++", "-std=c++20", "-DHAS_ROCTRACER", "-D__HIP_PLATFORM_AMD__", f"-I{source}",
         f"-I{source}/include", "-c", REPO / "tests/foreign/kineto_session.cpp"])
    run(["hipcc", "--offload-arch=gfx906", "-O1", "-Dmain=truth_main", "-c",
         REPO / "tests/hip/truth.hip"])
    run(["hipcc", "kineto_session.o", "truth.o", library, f"-L{sdk}", "-lrocprofiler-sdk",
         f"-Wl,-rpath-link,{build}", "-o", "session"])
    run([work / "session", "trace.json", *TRUTH.command("truth")[1:]], env=environment)
    events = json.loads((work / "trace.json").read_text())["traceEvents"]
    names = collections.defaultdict(collections.Counter)
    for event in events:
        names[event.get("cat")][event["name"]] += 1
    check_kernels(names["kernel"], recorded)
    check_calls(names["cuda_runtime"], recorded)
    copies = collections.Counter(row["operation"] for row in recorded.device if not row["name"])
    assert names["gpu_memcpy"].total() == copies.total()
    # each activity is linked to a call
    calls = {e["args"]["correlation"] for e in events if e.get("cat") == "cuda_runtime"}
    work_of = [e["args"]["correlation"] for e in events if e.get("cat") in ("kernel", "gpu_memcpy")]
    assert len(work_of) == len(recorded.device) and set(work_of) <= calls


def test_calipers_service(build, environment, hip_headers, recorded, run, work):
    checkout, made = from_outside("CALIPER_CHECKOUT", "CALIPER_BUILD")
    run(["g++", f"-I{checkout}/include", f"-I{made}/include", "-c",
         REPO / "tests/foreign/caliper_session.cpp"])
    run(["hipcc", "--offload-arch=gfx906", "-O1", "-Dmain=truth_main", "-c",
         REPO / "tests/hip/truth.hip"])
    folders = f"{environment['LD_LIBRARY_PATH']}:{made}/src"
    run(["hipcc", "caliper_session.o", "truth.o", f"-L{made}/src", "-lcaliper",
         f"-Wl,-rpath-link,{folders}", "-o", "session"])
    said = run([work / "session", *TRUTH.command("truth")[1:]],
               env=environment | {"LD_LIBRARY_PATH": folders, "CALI_LOG_VERBOSITY": "2",
                                  "CALI_CONFIG": "rocm-activity-report"}).err
    written = re.search(r"wrote (\d+) activity records, 0 counter records", said)
    assert written and int(written[1]) == len(recorded.device)


def test_rpds_own_tracer(environment, hip_program, recorded, run, work):
    checkout, library = from_outside("RPD_CHECKOUT", "RPD_TRACER")
    run([sys.executable, "-m", "rocpd.schema", "--create", "t.rpd"],
        env={"PYTHONPATH": checkout / "rocpd_python"})
    folders = f"{environment['LD_LIBRARY_PATH']}:{library.parent}"
    run(["env", f"LD_PRELOAD=librocprofiler-sdk-roctx.so:{library.name}",
         *TRUTH.command(hip_program("truth"))],
        env=environment | {"LD_LIBRARY_PATH": folders, "RPDT_FILENAME": "t.rpd"})
    with sqlite3.connect(work / "t.rpd") as db:
        ops = db.execute("SELECT id, opType, description FROM op").fetchall()
        calls = collections.Counter(name for (name,) in db.execute("SELECT apiName FROM api"))
        linked = {op for (op,) in db.execute("SELECT op_id FROM rocpd_api_ops JOIN rocpd_api a"
                                             " ON a.id = rocpd_api_ops.api_id")}
    check_kernels(collections.Counter(name for _, kind, name in ops if kind == "KernelExecution"),
                  recorded)
    check_calls(calls, recorded)
    assert len(ops) == len(recorded.device)
    assert linked == {number for number, _, _ in ops}
