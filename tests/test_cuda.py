# SPDX-License-Identifier: MIT
"""Test CUDA's driver API on the software driver: every call of a program is recorded, however the
program obtained the function."""
import csv
import json
import re
import subprocess

import pytest

from conftest import REPO

LAUNCHES, THREADS = 10, 3
# ways in which the program obtains its functions; "linked" is a separate program
WAYS = ["linked", "symbols", "address", "per-thread", "address-old"]


@pytest.fixture(scope="session")
def driver(build):
    return build / "soft/cuda/libcuda.so.1"


@pytest.fixture(scope="session")
def programs(driver, tmp_path_factory):
    """Return a folder with the module, the program, and a variant of the program that is linked
    with libcuda.so.1."""
    folder = tmp_path_factory.mktemp("cuda")
    common = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}"]
    source = REPO / "tests/cuda/driver_program.c"
    for command in ([
            *common, "-shared", "-fPIC", REPO / "tests/cuda/driver_kernels.c", "-o",
            folder / "kernels.so"
    ], [*common, source, "-o", folder / "program", "-lpthread"
        ], [*common, "-DLINKED", source, "-o", folder / "linked", driver, "-lpthread"]):
        subprocess.run(list(map(str, command)), check=True)
    return folder


def words(programs, way, *arguments):
    program = programs / ("linked" if way == "linked" else "program")
    return [program, programs / "kernels.so", *arguments] + ([] if way == "linked" else [way])


def counts(out):
    """Return the program's own counts of its calls, per function."""
    found = json.loads(out.strip().splitlines()[-1])
    del found["total"]
    return found


@pytest.fixture
def trace(run, gputap, work):
    """Return a function: trace("program", ...) runs the program on the software driver and returns
    its output and a report."""

    def call(*command, status=0, options=(), env=None):
        done = run([
            gputap, "run", "-q", "-f", "-o", "cuda.gputap", *options, "--", gputap, "soft", "cuda",
            "--", *command
        ], status=status, env=env)
        report = json.loads(
            run([gputap, "report", "--json", "--top", "0", "cuda.gputap"]).out)
        return done, report

    return call


def calls(report):
    return {row["name"]: row["calls"] for row in report["operations"]}


@pytest.mark.parametrize("way", WAYS)
def test_every_call_is_recorded_however_its_function_was_got(trace, programs, way):
    done, report = trace(*words(programs, way, str(LAUNCHES), str(THREADS)))
    assert calls(report) == counts(done.out)
    assert report["dropped"] == 0


@pytest.mark.parametrize("way", WAYS)
def test_the_program_runs_as_without_gputap(run, gputap, programs, way):
    done = run([gputap, "soft", "cuda", "--",
                *words(programs, way, str(LAUNCHES), str(THREADS))])
    assert counts(done.out)["cuLaunchKernel_ptsz" if way ==
                            "per-thread" else "cuLaunchKernel"] == LAUNCHES // 2 * THREADS


def rows(run, gputap):
    """Return {name: [arguments of each call]} for the calls in the capture."""
    run([gputap, "export", "-f", "cuda.gputap", "-o", "cuda.csv"])
    found = {}
    with open("cuda.csv", newline="") as file:
        for row in csv.reader(file):
            if row[0] == "call":
                found.setdefault(row[6], []).append(row[-1])
    return found


def test_arguments_are_recorded_with_what_they_point_to(trace, run, gputap, programs):
    trace(*words(programs, "address", "2", "1"))
    found = rows(run, gputap)
    launch = found["cuLaunchKernel"][0]
    assert re.search(r"gridDimX=4, gridDimY=1, gridDimZ=1, blockDimX=256", launch), launch
    assert re.search(r"gridDimX=4, .*blockDimX=256, .*hStream=0x[0-9a-f]+",
                     found["cuLaunchKernelEx"][0])
    assert 'name="add_numbers"' in found["cuModuleGetFunction"][0]
    assert any(
        re.search(r"dptr=0x[0-9a-f]+, bytesize=4000", text) for text in found["cuMemAlloc_v2"])
    assert "Flags=CU_STREAM_NON_BLOCKING" in found["cuStreamCreate"][0]
    assert "Flags=CU_STREAM_DEFAULT" in found["cuStreamCreate"][1]
    assert "attrib=CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR" in found["cuDeviceGetAttribute"][0]
    assert 'pStr="CUDA_ERROR_NOT_FOUND"' in found["cuGetErrorName"][0]
    assert 'name="gputap software CUDA device"' in found["cuDeviceGetName"][0]
    assert re.search(r'symbol="cuMemAlloc", pfn=0x[0-9a-f]+, cudaVersion=13000, '
                     r'flags=CU_GET_PROC_ADDRESS_DEFAULT, '
                     r'symbolStatus=CU_GET_PROC_ADDRESS_SUCCESS',
                     "\n".join(found["cuGetProcAddress_v2"]))


def test_failures_and_memory_are_reported(trace, programs):
    _, report = trace(*words(programs, "symbols", "2", "1"))
    failed = {(row["name"], row["error"]) for row in report["failures"]}
    assert failed == {("cuMemAlloc_v2", "CUDA_ERROR_INVALID_VALUE"),
                      ("cuMemFree_v2", "CUDA_ERROR_INVALID_VALUE"),
                      ("cuModuleGetFunction", "CUDA_ERROR_NOT_FOUND")}
    memory = {row["memory"]: row for row in report["memory"]}
    assert {kind: (row["bytes"], row["peak_bytes"], row["left_bytes"])
            for kind, row in memory.items()} == {
                "device": (4000, 4000, 0),
                "host": (4000, 4000, 0),
                "pool": (4096, 4096, 0)
            }


def test_a_kernel_that_faults_breaks_its_context_alone(trace, programs):
    done, report = trace(programs / "program", programs / "kernels.so", "fault")
    assert calls(report) == counts(done.out)
    assert {(row["name"], row["error"])
            for row in report["failures"]} == {
                ("cuCtxSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS"),
                ("cuMemAlloc_v2", "CUDA_ERROR_ILLEGAL_ADDRESS")}


def test_calls_of_a_forks_child_are_recorded(trace, programs):
    done, report = trace(programs / "program", programs / "kernels.so", "fork")
    assert calls(report) == counts(done.out)
    assert len(report["processes"]) >= 2


@pytest.fixture(scope="session")
def counter(build, tmp_path_factory):
    """Return the path of a tool that is linked with libgputap."""
    path = tmp_path_factory.mktemp("tool") / "call_counter.so"
    library = build / "libgputap.so.0"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{REPO}/include",
        REPO / "tests/cuda/call_counter.c", "-o", path, library, f"-Wl,-rpath,{build}"
    ],
                   check=True)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_without_a_session_is_notified_of_every_call(run, build, driver, programs, counter,
                                                            way):
    """Without the auditor, gputap finds the driver when the program calls dlsym(), before the
    program gets an address."""
    done = run(words(programs, way, str(LAUNCHES), str(THREADS)),
               env={
                   "LD_LIBRARY_PATH": driver.parent,
                   "LD_PRELOAD": build / "libgputap.so.0",
                   "GPUTAP_TOOLS": counter
               })
    assert counts(done.err) == counts(done.out)


def test_the_driver_brings_a_tool_in_and_what_is_linked_is_notified(run, build, driver, programs,
                                                                    counter):
    done = run(words(programs, "linked", str(LAUNCHES), str(THREADS)),
               env={
                   "LD_LIBRARY_PATH": driver.parent,
                   "CUDA_INJECTION64_PATH": build / "libgputap.so.0",
                   "GPUTAP_TOOLS": counter
               })
    expected = counts(done.out)
    del expected["cuInit"]  # cuInit() has already started when the tool is loaded
    assert counts(done.err) == expected


def test_only_these_operations_when_asked(trace, programs):
    done, report = trace(*words(programs, "address", str(LAUNCHES), "1"),
                         options=["--ops", "cuLaunch*"])
    expected = {n: c for n, c in counts(done.out).items() if n.startswith("cuLaunch")}
    assert calls(report) == expected


def test_the_software_driver_exports_what_the_description_has(driver):
    """The names must be equal, because programs would not find a function whose name has a typo."""
    described = set(
        re.findall(r"^\d+ CUresult (cu\w+)\(", (REPO / "api/cuda.api").read_text(), re.M))
    out = subprocess.run(["nm", "-D", "--defined-only", str(driver)],
                         text=True,
                         capture_output=True,
                         check=True).stdout
    exported = {line.split()[2] for line in out.splitlines()}
    assert len(described) > 700 and len(exported) > 100
    assert exported <= described


@pytest.mark.parametrize("settings,status", [
    (["--devices", "0"], "cuInit: 100"),
    (["--fail", "module"], "cuModuleLoad: 200"),
    (["--fail", "allocate:2"], "cuMemHostAlloc: 2"),
    (["--fail", "launch"], "cuLaunchKernel: 719"),
])
def test_what_is_to_fail_fails(run, gputap, programs, settings, status):
    done = run([gputap, "soft", "cuda", *settings, "--", *words(programs, "symbols", "1", "1")],
               status=1)
    assert status in done.err


def test_settings_that_mean_nothing_are_refused(run, gputap):
    done = run([gputap, "soft", "cuda", "--devices", "9", "--", "true"], status=2)
    assert "--devices 9: expected 0 to 8" in done.err
