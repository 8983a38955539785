# SPDX-License-Identifier: MIT
"""Test kinds that librocprofiler-sdk.so.1 reports in addition to the calls that cause them:
allocations, HIP streams, ROCTx ranges, and functions of the host. Uses one client
(tests/rocprofiler/kinds.c) and one program on the software GPU."""

import re
import shutil
import subprocess

import pytest

from conftest import run_command

# messages of ROCr 7 about the software GPU and about ROCr's own signals
ROCR = re.compile(
    r"Load (libdtif.so|all DTIF)|Dtif(Create|Destroy) OK|Unload libdtif.so|Warning: Resource leak"
    r" detected by SharedSignalPool"
)


@pytest.fixture(scope="module")
def said(tmp_path_factory, repo, build, hip_headers, softgpu):
    """Return a function: said(kinds, word...) returns the client's output lines about a run of the
    program."""
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder, sdk, roctx = tmp_path_factory.mktemp(
        "kinds"), build / "src/compat/rocprofiler", build / "src/compat/roctx"
    subprocess.run([
        "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-DGPUTAP_ROCPROFILER_OPAQUE",
        f"-I{repo}/include/compat", "-shared", "-fPIC", repo / "tests/rocprofiler/kinds.c", "-o",
        folder / "kinds.so", f"-L{sdk}", "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}",
        f"-Wl,-rpath,{sdk}"
    ],
                   check=True)
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O1", "-Wno-unused", f"-I{repo}/include/compat/roctx",
        repo / "tests/rocprofiler/kinds_program.hip", "-o", folder / "program", "-lhsa-runtime64",
        f"-L{roctx}", "-l:libroctx64.so.4", "-lpthread"
    ],
                   check=True)

    def lines(kinds, *words, **more):
        done = run_command(
            [folder / "program", *words],
            env={
                **softgpu, "KINDS": kinds, "LD_PRELOAD": folder / "kinds.so",
                **more, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}:{roctx}"
            })
        return [line for line in done.err.splitlines() if not ROCR.match(line)]
    return lines


def test_streams_are_created_used_and_destroyed_and_their_numbers_are_never_used_again(said):
    assert said("stream") == [
        "buffered streams: ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED",
        "HIP_STREAM_CREATE none kept 0 corr 0 stream 1",
        "HIP_STREAM_CREATE none kept 0 corr 0 stream 2", "streams are there",
        "HIP_STREAM_SET enter kept 0 corr 0 stream 1", "HIP_STREAM_SET exit kept 1 corr 0 stream 1",
        "HIP_STREAM_SET enter kept 0 corr 0 stream 2", "HIP_STREAM_SET exit kept 1 corr 0 stream 2",
        "HIP_STREAM_SET enter kept 0 corr 0 stream 0 null",
        "HIP_STREAM_SET exit kept 1 corr 0 stream 0 null",
        "HIP_STREAM_DESTROY none kept 0 corr 0 stream 1",
        "HIP_STREAM_CREATE none kept 0 corr 0 stream 3",
        "HIP_STREAM_DESTROY none kept 0 corr 0 stream 3",
        "HIP_STREAM_DESTROY none kept 0 corr 0 stream 2", "streams are gone", "directly"
    ]


def test_calls_that_only_name_streams_use_up_no_correlation_id(said):
    lines = said("stream hip")
    assert [line for line in lines if line.startswith("hip")] == [
        "hipMalloc enter 1", "hipMalloc exit 1", "hipFree enter 2", "hipFree exit 2"
    ]


ALLOCATION = re.compile(
    r"MEMORY_ALLOCATION_(ALLOCATE|FREE) (enter|exit) kept (\d) corr (\d+)( of HIP)? agent (\d+)"
    r" bytes (\d+) address (\d) time (\d)"
)


def test_an_allocation_has_the_id_of_the_call_around_it_or_one_of_its_own(said):
    lines = said("memory hip retired")
    told = [m.groups() for m in map(ALLOCATION.fullmatch, lines) if m]
    # GPU memory for hipMalloc(12345)
    assert ("ALLOCATE", "enter", "0", "1", " of HIP", "2", "12345", "0", "0") in told
    assert ("ALLOCATE", "exit", "1", "1", " of HIP", "2", "12345", "1", "1") in told
    # HSA allocations outside of HIP calls
    direct = [m.groups() for m in map(ALLOCATION.fullmatch, lines[lines.index("directly"):]) if m]
    assert [(d[0], d[1], d[4], d[5], d[6], d[7])
            for d in direct] == [("ALLOCATE", "enter", None, "2", "54321", "0"),
                                 ("ALLOCATE", "exit", None, "2", "54321", "1"),
                                 ("FREE", "enter", None, "0", "0", "1"),
                                 ("FREE", "exit", None, "0", "0", "1")]
    assert {m[5] for m in told if m[0] == "ALLOCATE"} == {"1", "2"}  # agents include the CPU
    # ids are contiguous, and each id is retired once, after its records
    ids = {int(m[3])
           for m in told} | {int(line.split()[2]) for line in lines if line.startswith("hip")}
    retired = [int(line.split()[2]) for line in lines if line.startswith("record retired")]
    assert sorted(ids) == list(range(1, len(ids) + 1)) == sorted(retired)
    records = [line for line in lines if line.startswith("record")]
    for n, line in enumerate(records):
        assert not line.startswith("record retired") or not any(
            f"corr {line.split()[2]}" == r[-len(f"corr {line.split()[2]}"):] for r in records[n:])
    assert sum("record MEMORY_ALLOCATION" in r for r in records) == len(told) // 2


def test_ranges_are_one_thing_from_push_to_pop_and_from_start_to_stop(said):
    lines = said("range retired", "ranges")
    assert [line for line in lines if not line.startswith(("record", "buffered"))] == [
        "roctxMarkA enter kept 0 corr 1 mark", "roctxMarkA exit kept 1 corr 1 mark",
        "roctxThreadRangeA enter kept 0 corr 2 outer",
        "roctxThreadRangeA enter kept 0 corr 3 inner", "roctxThreadRangeA exit kept 1 corr 3 inner",
        "roctxProcessRangeA enter kept 0 corr 4 everywhere",
        "roctxProcessRangeA exit kept 1 corr 4 everywhere",
        "roctxThreadRangeA exit kept 1 corr 2 outer"
    ]
    records = [line.removeprefix("record ") for line in lines if line.startswith("record")]
    for n, name in ((1, "roctxMarkA"), (3, "roctxThreadRangeA"), (4, "roctxProcessRangeA"),
                    (2, "roctxThreadRangeA")):
        assert records.index(f"MARKER_CORE_RANGE_API {name} corr {n}") < records.index(
            f"retired {n}")
    assert len(records) == 8


def test_a_kernel_symbol_is_followed_by_the_function_of_the_host_that_stands_for_it(said):
    assert [line for line in said("host")
            if line.startswith("host")] == ["host _Z4fillPi phase 1 same kernel 1 function 1"]
