# SPDX-License-Identifier: MIT
"""Test librocprofiler-sdk.so.1 with runtimes of ROCm 6 and later, which register their tables. The
runtimes are small stand-ins (tests/rocm/modern.c), with a stand-in for librocprofiler-register or
the real library that GPUTAP_ROCPROFILER_REGISTER names."""

import os
import subprocess

import pytest

from test_interception_register import COLLECTED, COLLECTIVES, build_modern


@pytest.fixture(scope="session", params=["stand-in", "real"])
def modern(request, tmp_path_factory, repo, build):
    register = os.environ.get("GPUTAP_ROCPROFILER_REGISTER")
    if request.param == "real" and not register:
        pytest.skip(
            "needs librocprofiler-register.so.0 of ROCm 6 or later, named by"
            " GPUTAP_ROCPROFILER_REGISTER"
        )
    folder = build_modern(tmp_path_factory.mktemp("registered"), repo / "tests/rocm/modern.c",
                          register if request.param == "real" else None)
    sdk = build / "src/compat/rocprofiler"
    # replace the mock with our library, which the register library then finds
    (folder / "librocprofiler-sdk.so.1").unlink()
    (folder / "librocprofiler-sdk.so").symlink_to(sdk / "librocprofiler-sdk.so.1")
    for source, client, option in (("registered.c", "client.so", "-DGPUTAP_ROCPROFILER_OPAQUE"),
                                   ("kinds.c", "kinds.so", "-DGPUTAP_ROCPROFILER_OPAQUE"),
                                   ("extensions.c", "extensions.so", "-D__HIP_PLATFORM_AMD__"),
                                   ("collectives.c", "collectives.so", "-D__HIP_PLATFORM_AMD__")):
        subprocess.run([
            "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", option, f"-I{repo}/include/compat",
            "-shared", "-fPIC", repo / "tests/rocprofiler" / source, "-o", folder / client,
            f"-L{sdk}", "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}", f"-Wl,-rpath,{sdk}"
        ],
                       check=True)
    return folder


@pytest.mark.parametrize("way", ["LD_PRELOAD", "ROCP_TOOL_LIBRARIES"])
def test_a_registering_runtimes_tables_calls_and_initialisations_come_to_a_client(
        run, build, modern, way):
    done = run([modern / "program", modern / "copy1.so"],
               env={way: modern / "client.so", "LD_LIBRARY_PATH": f"{modern}:{build}"})
    assert done.out == "copy 1\n42\n42\n"
    said = done.err.splitlines()
    # a second copy of the HIP library is a second instance; HSA is one copy that is initialised
    # twice
    assert [line for line in said if not line.startswith("calls")] == [
        "RUNTIME_INITIALIZATION_HIP 0 of 60300", "table HIP (runtime) 0 of 60300, 1",
        "RUNTIME_INITIALIZATION_HIP 1 of 60300", "table HIP (runtime) 1 of 60300, 1",
        *["RUNTIME_INITIALIZATION_HSA 0 of 11600", "table HSA 0 of 11600, 1"] * 2], said
    assert said[-1] == "calls: 12 of HIP, 4 of HSA"


SCRATCH = """\
SCRATCH_MEMORY_ALLOC enter kept 0 corr 0 queue 7 flags 1 kind 1 dispatch 42 bytes 0 slots 0
the runtime's own: kind 1
SCRATCH_MEMORY_ALLOC exit kept 1 corr 0 queue 7 flags 1 kind 2 dispatch 42 bytes 65536 slots 16
the runtime's own: kind 2
SCRATCH_MEMORY_FREE enter kept 0 corr 0 queue 7 flags 1 kind 3 dispatch 0 bytes 0 slots 0
the runtime's own: kind 3
SCRATCH_MEMORY_FREE exit kept 1 corr 0 queue 7 flags 1 kind 4 dispatch 0 bytes 0 slots 0
the runtime's own: kind 4
SCRATCH_MEMORY_ASYNC_RECLAIM enter kept 0 corr 0 queue 7 flags 1 kind 5 dispatch 0 bytes 0 slots 0
the runtime's own: kind 5
SCRATCH_MEMORY_ASYNC_RECLAIM exit kept 1 corr 0 queue 7 flags 1 kind 6 dispatch 0 bytes 0 slots 0
the runtime's own: kind 6
"""


def test_scratch_memory_is_reported_by_hsas_table_for_tools_which_is_chained(run, build, modern):
    done = run(
        [modern / "program"],
        env={
            "LD_PRELOAD": modern / "kinds.so", "KINDS": "scratch", "MODERN_SCRATCH": "1",
            "LD_LIBRARY_PATH": f"{modern}:{build}"
        })
    assert done.out == "42\n42\n"
    said = [line for line in done.err.splitlines() if not line.startswith(("record", "buffered"))]
    assert said == SCRATCH.splitlines() * 2  # hsa_shut_down() is followed by a new table
    assert [line for line in done.err.splitlines() if line.startswith("record")] == [
        "record SCRATCH_MEMORY SCRATCH_MEMORY_ALLOC corr 0 bytes 65536 time 1",
        "record SCRATCH_MEMORY SCRATCH_MEMORY_FREE corr 0 bytes 0 time 1",
        "record SCRATCH_MEMORY SCRATCH_MEMORY_ASYNC_RECLAIM corr 0 bytes 0 time 1"
    ] * 2


def test_the_tools_table_is_left_alone_where_nobody_asks_for_scratch_memory(run, build, modern):
    done = run(
        [modern / "program"],
        env={
            "LD_PRELOAD": modern / "kinds.so", "KINDS": "memory", "MODERN_SCRATCH": "1",
            "LD_LIBRARY_PATH": f"{modern}:{build}"
        })
    assert done.err.count("the runtime's own") == 12 and "SCRATCH" not in done.err


def test_no_table_is_lost_of_libraries_that_register_at_once(request, run, build, modern):
    if "real" in request.node.name:
        pytest.skip(
            "the register library of that version refuses all registrations but one, and forgets"
            " them"
        )
    for _ in range(8):
        done = run([modern / "program", "together", *(modern / f"copy{i}.so" for i in range(1, 7))],
                   env={"LD_PRELOAD": modern / "client.so", "LD_LIBRARY_PATH": f"{modern}:{build}"})
        said = done.err.splitlines()
        assert sorted(line for line in said if line.startswith("table HIP")) == [
            f"table HIP (runtime) {i} of 60300, 1" for i in range(6)
        ]
        assert "table HSA 0 of 11600, 1" in said and said[-1] == "calls: 36 of HIP, 1 of HSA", said


def test_a_registered_hsas_finalizer_is_reported_with_what_it_was_passed_by_value(
        run, build, modern):
    done = run([modern / "program", "extensions"],
               env={"LD_PRELOAD": modern / "extensions.so", "LD_LIBRARY_PATH": f"{modern}:{build}"})
    lines = done.out.splitlines()
    assert "4098 0 8448 0 39175" in lines  # as without a client
    assert (
        "tool: argument hsa_ext_program_finalize 28hsa_ext_control_directives_s control_directives"
        in lines
    )
    assert "tool: mask 256 last 0 options -fast code 39175" in lines
    assert [line for line in lines if line.startswith("tool: record")] == [
        "tool: record HSA_IMAGE_EXT_API hsa_ext_sampler_destroy",
        "tool: record HSA_IMAGE_EXT_API hsa_ext_image_create_with_layout",
        "tool: record HSA_FINALIZE_EXT_API hsa_ext_program_finalize"
    ]
    assert lines[-1] == "tool: calls 3 records 3 wrong 0"


def test_a_registered_rccls_calls_table_and_initialisation_come_to_a_client(run, build, modern):
    done = run(
        [modern / "program", "collectives"],
        env={"LD_PRELOAD": modern / "collectives.so", "LD_LIBRARY_PATH": f"{modern}:{build}"})
    lines = [
        line.removeprefix("tool: ") for line in done.out.splitlines() if line.startswith("tool: ")
    ]
    assert COLLECTED in done.out
    assert lines[:4] == [
        "RUNTIME_INITIALIZATION_RCCL 22103", "table RCCL 304", "RUNTIME_INITIALIZATION_ROCJPEG 600",
        "table rocJPEG 24"
    ]
    assert lines[4:6] == ["id 127 of 8 rank 3", "12ncclUniqueId commId"]
    assert lines[6:8] == [
        "reduced 8 op 2 through the table: 0", "reduced 0 op 0 through the table: 4"
    ]
    assert lines[8:] == [f"record RCCL_API {name}"
                         for name in COLLECTIVES] + ["calls 5 records 5 wrong 0"]
