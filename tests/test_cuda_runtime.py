# SPDX-License-Identifier: MIT
"""Test CUDA's runtime API, recorded on request through callbacks of the CUPTI in software: every
call of a program is recorded with its arguments, and the driver's calls are its children."""
import collections
import csv
import json
import re
import subprocess

import pytest

from conftest import BUILD, REPO

DRIVER = ["-d", "cuda_runtime,cuda_driver"]


@pytest.fixture(scope="session")
def programs(build, tmp_path_factory):
    """Return a folder with the module, the tool, and two variants of the program: one linked with
    the runtime, one that contains a copy of it."""
    folder = tmp_path_factory.mktemp("cuda_runtime")
    runtime = build / "soft/cuda/cudart"
    common = [
        "cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}", f"-I{BUILD}"
    ]
    program = REPO / "tests/cuda/runtime_program.c"
    inside = [REPO / "soft/cuda/cudart" / name for name in ("cudart.c", "cudart_driver.c")]
    for command in ([
            *common, "-shared", "-fPIC", REPO / "tests/cuda/driver_kernels.c", "-o",
            folder / "kernels.so"
    ], [
            *common, program, "-o", folder / "shared", runtime / "libcudart.so.13",
            f"-Wl,-rpath,{runtime}", "-lpthread", "-ldl"
    ], [*common, program, *inside, "-o", folder / "static", "-lpthread", "-ldl"], [
            *common, f"-I{REPO}/include", "-shared", "-fPIC", REPO / "tests/cuda/runtime_tool.c",
            "-o", folder / "tool.so"
    ]):
        subprocess.run(list(map(str, command)), check=True)
    return folder


@pytest.fixture
def trace(run, gputap, programs, work):
    """Return a function: trace("every", ...) runs a scene of the program and returns its output and
    the capture's rows."""

    def call(*scene, program="shared", options=tuple(DRIVER), status=0):
        done = run([
            gputap, "run", "-q", "-f", "-o", "r.gputap", *options, "--", gputap, "soft", "cuda",
            "--", programs / program, programs / "kernels.so", *scene
        ], status=status, timeout=60)
        run([gputap, "export", "-f", "r.gputap", "-o", "r.csv"])
        with open("r.csv", newline="") as file:
            return done, list(csv.DictReader(file))

    return call


def counted(done):
    """Return the program's own counts of its calls, per function."""
    return json.loads(done.out.strip().splitlines()[-1])


def calls(rows, domain):
    return [row for row in rows if row["kind"] == "call" and row["domain"] == domain]


def names(rows):
    return dict(collections.Counter(row["operation"] for row in rows))


def addresses(done):
    return dict(re.findall(r"^(memory|kernel) (0x\w+)$", done.out, re.M))


def test_the_word_cuda_means_the_runtime_and_the_driver(trace, run, gputap):
    _, both = trace("every")
    _, rows = trace("every", options=["-d", "cuda"])
    for domain in "cuda_runtime", "cuda_driver":
        assert names(calls(rows, domain)) == names(calls(both, domain)) != {}

    def table(*options):
        out = run([gputap, "report", "--json", "-t", "operations", *options, "r.gputap"]).out
        return {row["name"]: row["calls"] for row in json.loads(out)["operations"]}
    assert table("--where", "domain=cuda") == table()
    assert table("--where", "domain=cuda_driver") == names(calls(rows, "cuda_driver"))
    assert not table("--where", "domain!=cuda")
    assert "only domains cuda" in run([gputap, "info", "r.gputap"]).out
    listed = run([gputap, "list", "operations", "-d", "cuda", "--json"]).out
    assert {row["domain"] for row in json.loads(listed)["operations"]} == {
        "cuda_runtime", "cuda_driver"}


@pytest.mark.parametrize("program", ["shared", "static"])
def test_every_call_is_recorded_of_the_library_and_of_a_copy_inside(trace, program):
    done, rows = trace("every", program=program)
    found = calls(rows, "cuda_runtime")
    assert names(found) == counted(done)
    assert all(row["depth"] == "0" and not row["parent"] for row in found)


def test_each_call_has_its_arguments_and_its_status(trace):
    done, rows = trace("every")
    at, found = addresses(done), collections.defaultdict(list)
    for row in calls(rows, "cuda_runtime"):
        found[row["operation"]].append(row)
    memory, hexadecimal = at["memory"], r"0x[0-9a-f]+"
    for name, index, arguments in (
        ("cudaSetDevice", 1, "device=77"),
        ("cudaDeviceGetAttribute", 0, "value=1024, attr=cudaDevAttrMaxThreadsPerBlock, device=0"),
        ("cudaMallocPitch", 0, f"devPtr={hexadecimal}, pitch=512, width=100, height=5"),
        ("cudaHostAlloc", 0,
         f"pHost={hexadecimal}, size=8192, flags=cudaHostAllocPortable\\|cudaHostAllocMapped"),
        ("cudaMalloc", 0, f"devPtr=NULL, size={1 << 60}"),
        ("cudaMalloc", 1, f"devPtr={memory}, size=1024"),
        ("cudaMemcpy", 0, f"dst={memory}, src={hexadecimal}, count=1024, "
         "kind=cudaMemcpyHostToDevice"),
        ("cudaGetDriverEntryPointByVersion", 0,
         f'symbol="cuMemAlloc", funcPtr={hexadecimal}, cudaVersion=12000, flags=0, .*'),
        ("cudaLaunchKernel", 1, 'func="add_numbers", gridDim={x=4, y=1, z=1}, '
         f"blockDim={{x=64, y=1, z=1}}, args={hexadecimal}, sharedMem=16, stream=NULL"),
        ("cudaLaunchKernelExC", 0,
         "config={gridDim.x=8, gridDim.y=1, gridDim.z=1, blockDim.x=32, .*"
         f'dynamicSmemBytes=64, .*}}, func="add_numbers", args={hexadecimal}'),
        ("cudaEventElapsedTime", 0, rf"ms=\d+(\.\d+)?, start={hexadecimal}, end={hexadecimal}"),
        ("cudaDeviceSynchronize", 0, ""),
    ):
        assert re.fullmatch(arguments, found[name][index]["arguments"]), found[name][index]
    failed = [(row["operation"], row["error"]) for row in calls(rows, "cuda_runtime")
              if row["error"]]
    assert failed == [("cudaSetDevice", "cudaErrorInvalidDevice"),
                      ("cudaPeekAtLastError", "cudaErrorInvalidDevice"),
                      ("cudaGetLastError", "cudaErrorInvalidDevice"),
                      ("cudaMalloc", "cudaErrorMemoryAllocation")]


def test_without_arguments_there_are_none(trace):
    _, rows = trace("every", options=[*DRIVER, "--no-args"])
    assert not any(row["arguments"] for row in rows)
    assert [row["status"] for row in calls(rows, "cuda_runtime")
            if row["operation"] == "cudaSetDevice"] == ["0", "101"]


def test_the_drivers_calls_are_children_of_the_runtimes(trace):
    _, rows = trace("every")
    by_id = {row["correlation"]: row for row in calls(rows, "cuda_runtime")}
    inside = [row for row in calls(rows, "cuda_driver") if row["parent"]]
    assert {row["depth"] for row in inside} == {"1"}
    pairs = {(by_id[row["parent"]]["operation"], row["operation"]) for row in inside}
    assert {("cudaMalloc", "cuMemAlloc_v2"), ("cudaLaunchKernel", "cuLaunchKernel"),
            ("cudaDeviceSynchronize", "cuCtxSynchronize"),
            ("cudaStreamDestroy", "cuStreamDestroy_v2")} <= pairs
    for row in inside:
        outer = by_id[row["parent"]]
        assert int(outer["start_ns"]) <= int(row["start_ns"]) <= int(row["end_ns"]) <= int(
            outer["end_ns"])


def linked(rows):
    by_id = {row["correlation"]: row for row in rows if row["kind"] == "call"}
    return collections.Counter(by_id.get(row["correlation"], {}).get("operation")
                               for row in rows if row["kind"] == "device")


def test_work_is_linked_to_the_drivers_call_or_else_to_the_runtimes(trace):
    assert linked(trace("every")[1]) == {
        "cuLaunchKernel": 3, "cuMemcpy": 2, "cuMemcpyAsync": 1, "cuMemsetD8_v2": 1,
        "cuMemsetD8Async": 1
    }
    _, rows = trace("every", options=["-d", "cuda_runtime"])
    assert not calls(rows, "cuda_driver")
    assert linked(rows) == {
        "cudaLaunchKernel": 2, "cudaLaunchKernelExC": 1, "cudaMemcpy": 2, "cudaMemcpyAsync": 1,
        "cudaMemset": 1, "cudaMemsetAsync": 1
    }


def test_threads_have_calls_and_work_of_their_own(trace):
    done, rows = trace("threads", "8", options=["-d", "cuda_runtime"])
    assert names(calls(rows, "cuda_runtime")) == counted(done)
    by_id = {(row["tid"], row["correlation"]): row for row in calls(rows, "cuda_runtime")}
    assert len(by_id) == len(calls(rows, "cuda_runtime"))
    assert linked(rows) == {"cudaLaunchKernel": 160, "cudaMemsetAsync": 160}


def test_nothing_is_recorded_where_it_is_not_asked_for(trace):
    _, rows = trace("every", options=[])
    assert not calls(rows, "cuda_runtime")
    assert calls(rows, "cuda_driver")


def test_the_mode_records_both(trace):
    done, rows = trace("every", options=["--mode", "cudart"])
    assert names(calls(rows, "cuda_runtime")) == counted(done)
    assert {row["depth"] for row in calls(rows, "cuda_driver")} == {"0", "1"}


def test_it_needs_no_device_work(trace):
    done, rows = trace("every", options=[*DRIVER, "--no-device"])
    assert names(calls(rows, "cuda_runtime")) == counted(done)
    assert not [row for row in rows if row["kind"] == "device"]


def test_operations_are_chosen_by_name(trace):
    _, rows = trace("every", options=["--ops", "cudaMalloc,cudaEvent*"])
    assert names(row for row in rows if row["kind"] == "call") == {
        "cudaMalloc": 2, "cudaEventCreate": 1, "cudaEventCreateWithFlags": 1,
        "cudaEventRecord": 2, "cudaEventSynchronize": 1, "cudaEventQuery": 1,
        "cudaEventElapsedTime": 1, "cudaEventDestroy": 2
    }


@pytest.mark.parametrize("program", ["shared", "static"])
def test_a_call_that_is_left_by_a_jump_is_not_around_later_ones(trace, program):
    done, rows = trace("jump", program=program)
    found = calls(rows, "cuda_runtime")
    assert names(found) == counted(done) == {"cudaDeviceSynchronize": 6}
    assert {row["depth"] for row in found} == {"0"}
    waits = [row for row in calls(rows, "cuda_driver") if row["operation"] == "cuCtxSynchronize"]
    assert sorted(row["parent"] for row in waits) == sorted(row["correlation"] for row in found)


def test_the_child_of_a_fork_ends_and_the_parent_goes_on(trace):
    done, rows = trace("fork")
    assert "child" not in done.out
    assert names(calls(rows, "cuda_runtime"))["cudaDeviceSynchronize"] == 1


def test_pauses_of_the_program_hold_for_its_next_call(build, trace):
    done, rows = trace("pause", build / "src/compat/roctx/libroctx64.so.4")
    assert names(calls(rows, "cuda_runtime")) == counted(done) == {
        "cudaDeviceSynchronize": 20, "cudaPeekAtLastError": 20
    }


@pytest.mark.parametrize("options", [[], ["--no-device"]])
def test_callbacks_of_the_programs_own_user_of_cupti_stay(trace, options):
    done, rows = trace("share", options=[*DRIVER, *options])
    assert "subscribe 0\n" in done.out and "seen 40 40\n" in done.out, done.out
    assert "not asked for" not in done.out
    assert names(calls(rows, "cuda_runtime")) == counted(done)


def test_a_report_takes_waits_from_the_drivers_calls(run, gputap, trace):
    trace("every", options=["--mode", "cudart"])
    report = json.loads(run([gputap, "report", "--json", "--top", "0", "r.gputap"]).out)
    rows = {row["name"]: row["calls"] for row in report["operations"]}
    assert rows["cudaLaunchKernel"] == 2 and rows["cuLaunchKernel"] == 3
    assert report["dropped"] == 0


# Tools ------------------------------------------------------------------------------------


@pytest.fixture
def tool_lines(run, gputap, build, programs, work):
    """Return a function that runs the program with the tool, with or without `gputap run`, and
    returns the tool's output."""

    def call(how="", recorded=False):
        env = {"GPUTAP_TOOLS": programs / "tool.so", "RUNTIME_TOOL": how}
        around = [gputap, "run", "-q", "-f", "-o", "t.gputap", *DRIVER, "--"] if recorded else []
        if not recorded:
            env["LD_PRELOAD"] = build / "libgputap.so.0"
        done = run([*around, gputap, "soft", "cuda", "--", programs / "shared",
                    programs / "kernels.so", "every"], env=env, timeout=60)
        return [line.removeprefix("tool: ").split(" ", 3)
                for line in done.out.splitlines() if line.startswith("tool: ")]

    return call


@pytest.mark.parametrize("recorded", [False, True])
def test_a_tool_is_notified_before_and_after_each_call(tool_lines, recorded):
    lines = tool_lines(recorded=recorded)
    entered = [line for line in lines if line[0] == "enter"]
    ended = [line for line in lines if line[0] == "exit"]
    assert sorted(line[2] for line in entered) == sorted(line[2] for line in ended)
    assert not any("OTHER" in line[3] for line in ended)
    launch = [line for line in lines if line[1] in ("cudaLaunchKernel", "cuLaunchKernel")][:4]
    assert [line[:2] for line in launch] == [["enter", "cudaLaunchKernel"],
                                             ["enter", "cuLaunchKernel"],
                                             ["exit", "cuLaunchKernel"],
                                             ["exit", "cudaLaunchKernel"]]
    assert launch[1][3] == launch[0][2], "the driver's call is inside of the runtime's"
    found = [line[3] for line in ended if line[1] == "cudaMallocPitch"]
    assert len(found) == 1
    assert re.fullmatch(r"0 devPtr=0x\w+ pitch=512 width=100 height=5", found[0]), found
    failed = [line[3] for line in ended if line[1] == "cudaSetDevice"]
    assert failed == ["0 device=0", "101 device=77"]


def test_a_context_that_starts_in_the_middle_is_notified_from_the_next_call_on(tool_lines):
    lines = tool_lines("late")
    # the context starts during the cuMemAlloc_v2 of the cudaMalloc that fails
    assert lines[0][:2] == ["enter", "cudaStreamCreate"]
    assert ["enter", "cudaLaunchKernel"] in [line[:2] for line in lines]


def test_work_that_a_tool_is_notified_of_is_caused_by_the_runtimes_call(tool_lines):
    lines = tool_lines("work")
    by_number = {line[2]: line[1] for line in lines if line[0] == "enter"}
    caused = collections.Counter(by_number.get(line[2]) for line in lines if line[0] == "work")
    assert caused == {
        "cudaLaunchKernel": 2, "cudaLaunchKernelExC": 1, "cudaMemcpy": 2, "cudaMemcpyAsync": 1,
        "cudaMemset": 1, "cudaMemsetAsync": 1
    }
