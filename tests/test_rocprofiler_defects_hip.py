# SPDX-License-Identifier: MIT
"""Test that our library does not repeat defects of upstream's library. Each test fails if its
defect is present. tests/rocprofiler/defects.c is the client. test_rocprofiler_sdk.py covers more
defects (the last library of a list, bad kinds, half-configured services, failing initialize(),
missing libraries, finalising twice), and test_rocprofiler_register.py covers simultaneous
registrations."""

import re
import shutil
import subprocess

import pytest

from conftest import run_command


@pytest.fixture(scope="module")
def folder(tmp_path_factory, repo, build, hip_headers, softgpu):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder, sources, sdk, roctx = tmp_path_factory.mktemp(
        "defects"
    ), repo / "tests/rocprofiler", build / "src/compat/rocprofiler", build / "src/compat/roctx"
    subprocess.run([
        "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-DGPUTAP_ROCPROFILER_OPAQUE",
        f"-I{repo}/include/compat", "-shared", "-fPIC", sources / "defects.c", "-o",
        folder / "defects.so", f"-L{sdk}", "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}",
        f"-Wl,-rpath,{sdk}"
    ],
                   check=True)
    subprocess.run([
        "cc", "-w", "-D__HIP_PLATFORM_AMD__", sources / "copies.c", "-o", folder / "copies",
        "-lamdhip64"
    ],
                   check=True)
    hipcc = ["hipcc", "--offload-arch=gfx906", "-O1", "-Wno-unused", sources / "reload.hip"]
    subprocess.run([*hipcc, "-o", folder / "reload"], check=True)
    subprocess.run([*hipcc, "--genco", "-o", folder / "reload.co"], check=True)
    subprocess.run([
        "cc", "-O1", "-Wall", f"-I{repo}/include/compat/roctx", sources / "interrupted.c", "-o",
        folder / "interrupted", f"-L{roctx}", "-l:libroctx64.so.4", "-lpthread"
    ],
                   check=True)
    client = [
        "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-DGPUTAP_ROCPROFILER_OPAQUE",
        f"-I{repo}/include/compat", "-shared", "-fPIC"
    ]
    subprocess.run([
        *client, sources / "flushed.c", "-o", folder / "libflushed.so", f"-L{sdk}",
        "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}", f"-Wl,-rpath,{sdk}"
    ],
                   check=True)
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O1", "-w", sources / "flushed.hip", "-o",
        folder / "flushed", f"-L{folder}", "-lflushed", f"-L{sdk}", "-lrocprofiler-sdk",
        f"-Wl,-rpath-link,{build}", f"-Wl,-rpath,{sdk}:{folder}"
    ],
                   check=True)
    return folder


@pytest.fixture
def out(folder, build, softgpu):
    def started(mode, program, *words, **more):
        words = [folder / word if (folder / word).exists() else word for word in words]
        return run_command(
            [folder / program, *words],
            env={
                **softgpu,
                "DEFECT": mode,
                "LD_PRELOAD": folder / "defects.so",
                **more,
                "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}:{build}/src/compat/roctx",
            },
        ).out.splitlines()
    return started


def test_what_a_full_buffer_drops_is_counted(out):
    # the client holds back the first batch until 700 calls have been made
    calls, received, dropped = map(
        int,
        re.fullmatch(r"calls (\d+) received (\d+) dropped (\d+) retired 0",
                     out("discard", "copies", "400")[-1]).groups())
    assert calls == 803 == received + dropped and dropped > 400


def test_correlation_ids_take_no_memory_once_they_are_retired(out):
    # upstream keeps some hundred bytes per id forever: 80,000 calls would be megabytes on the heap
    calls, retired, heap, _ = map(
        int,
        re.fullmatch(r"calls (\d+) retired (\d+) heap grew by (-?\d+) pages by (-?\d+)",
                     out("ids", "reload", "100000")[-1]).groups())
    assert calls == retired == 100000 and heap < 262144


def test_memory_of_records_and_ids_does_not_grow_with_the_number_of_calls(out):
    few, many = (int(out("ids", "reload", n)[-1].split()[-1]) for n in ("100000", "500000"))
    assert many - few < 1024  # pages; 400,000 ids of 16 bytes alone would take more


def test_a_kernel_that_is_loaded_again_at_the_same_address_is_not_taken_for_the_old_one(out):
    lines = out("stale", "reload", "reload.co", "12")
    dispatches = [line.split() for line in lines if line.startswith("dispatch")]
    assert [d[1]
            for d in dispatches] == ["again.kd"] * 12 and "two kernels at one address" not in lines
    assert len({d[3] for d in dispatches}) < 12, "this run loaded it elsewhere each time"


def test_a_context_that_starts_late_is_notified_of_what_is_there_and_of_its_end_with_its_own_data(
        out):
    lines = out("late", "reload", "reload.co")
    told = [line.removeprefix("late: ") for line in lines if line.startswith("late: ")]
    # the context starts in the middle of the first launch
    assert told[:2] == ["load object kept 0", "load again.kd kept 0"]
    loads, unloads = ([line.split()[1]
                       for line in told
                       if line.startswith(what)]
                      for what in ("load", "unload"))
    assert sorted(loads) == sorted(unloads) and loads.count("again.kd") == 3
    assert all(line.endswith(" kept 7") for line in told if line.startswith("unload"))


def test_without_replay_as_upstream_has_it_nothing_is_unloaded_that_was_not_loaded(out):
    told = [
        line for line in out("late", "reload", "reload.co", GPUTAP_ROCPROFILER_REPLAY="0")
        if line.startswith("late: ")
    ]
    assert told[:2] == ["late: load object kept 0", "late: load again.kd kept 0"] and sum(
        "load again.kd" in line for line in told) == 4


def test_no_call_waits_for_one_that_was_stopped_in_the_middle(out):
    # a stopped thread would sooner or later hold a lock that each call takes
    lines = out("lock", "interrupted")
    calls, received = map(
        int,
        re.fullmatch(r"calls (\d+) received (\d+) dropped 0 retired 0", lines[-1]).groups())
    assert lines[0] == "went on each time" and calls == received > 40000


def test_work_that_no_reported_call_causes_has_an_id_of_its_own_which_retires(out):
    lines = out("work", "reload", "reload.co")
    assert [line.split()[-2:]
            for line in lines
            if line.startswith("dispatch")] == [["correlation", "1"]] * 3
    assert lines[-1] == "calls 0 received 3 dropped 0 retired 3"


@pytest.mark.parametrize("way", ["flush", "stop"])
def test_what_was_waited_for_is_in_the_buffer_that_is_flushed(run, folder, build, softgpu, way):
    environment = {**softgpu, "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"}
    for _ in range(5):
        assert run([folder / "flushed", way], env=environment).out == "wrong 0 of 40, 1000\n"
