# SPDX-License-Identifier: MIT
"""Test the software AMD GPU under the real ROCr and HIP with kernels that it executes."""

import os
import re

import pytest

from test_soft_amdgpu_hsa import hsa, parse_times  # noqa: F401  (a fixture)


@pytest.fixture
def hip(tap, build):
    """Return a function: hip("copies", options=["--gpus", "2"], ...) runs tests/soft/hip_soft on
    software GPUs and returns the result."""
    def call(mode, *arguments, options=(), **keywords):
        return tap("soft", "amdgpu", *options, "--", build / "tests/soft/hip_soft", mode,
                   *arguments, **keywords)
    return call


# HSA ---------------------------------------------------------------------------

def test_kernel_runs_after_its_barriers(hsa):
    assert hsa("barriers").out.splitlines()[2:] == [
        "both open: 0 0 0", "kernel: first 1 last 256", "end"
    ]


def test_packets_of_four_threads_on_one_queue_are_each_run_once(hsa):
    assert hsa("producers").out == "counted 8000 signal 0\nend\n"


def test_queue_is_destroyed_while_its_kernel_never_ends(hsa):
    assert hsa("endless").out == "destroyed\n" * 3 + "end\n"


def test_runtime_starts_and_shuts_down_many_times(hsa):
    assert hsa("cycles").out == "last 64\n" * 10


def test_stamps_of_executed_kernels_lie_between_submission_and_completion(hsa):
    t = parse_times(hsa("times"))
    assert (t["before"], t["after"], t["backward"]) == (0, 0, 0)


def test_instruction_that_is_none_ends_the_queue_by_name(hsa):
    result = hsa("kernel", "no_instruction")
    assert result.out == "no_instruction: HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION\nend\n"
    assert re.search(
        r"soft amdgpu: GPU 1 queue 1 stops: kernel no_instruction, at 0x[0-9a-f]+ of its code"
        r" object, .*bf9f0000",
        result.err,
    )


def test_trap_ends_the_queue(hsa):
    assert hsa("kernel", "trap").out == "trap: HSA_STATUS_ERROR_EXCEPTION\nend\n"


def test_access_to_no_memory_ends_the_program_as_on_hardware(hsa):
    result = hsa("kernel", "touch_nothing", status=-6)
    assert "kernel touch_nothing accesses unmapped memory at 0x123456789000" in result.err
    assert re.search(r"Memory access fault by GPU node-1 .* on address 0x123456789000", result.err)


# textures ----------------------------------------------------------------------

def test_textures_and_surfaces_are_what_the_host_makes_of_the_same_array(tap, build):
    lines = tap("soft", "amdgpu", "--", build / "tests/soft/textures").out.splitlines()
    kinds = [line.split(":")[0] for line in lines]
    assert [line for line in lines
            if not re.search(r"^.*: [1-9]\d* compared, 0 wrong$", line)] == []
    assert len(set(kinds)) == 36 + 2 + 13 + 4 + 1 and kinds[-1] == "surfaces"


# fork --------------------------------------------------------------------------

def test_child_and_parent_start_the_runtime_each_for_itself(hsa):
    assert hsa("fork-before").out == "last 64\nchild status 0\nlast 64\n"


def test_child_cannot_use_the_parents_gpu_until_the_parent_has_closed_it(hsa, rocr):
    if rocr >= 18:
        pytest.skip("ROCr 7 fails an assertion of its own where a queue cannot be made")
    out = hsa("fork-after").out
    assert (
        out
        == "init succeeds\nqueue fails\nallocation fails\nchild status 0\n"
        + "last 64\nchild status 0\nlast 64\n"
    )


# HIP ---------------------------------------------------------------------------

def test_hip_lists_the_devices(hip):
    lines = hip("devices", options=["--gpus", "8", "--memory", "2G"]).out.splitlines()
    assert lines[0] == "devices 8"
    assert lines[
        1] == "0: Software GPU gfx906, gfx906:sramecc-:xnack-, 2048 MiB, 60 units, at 0000:03:00.0"
    assert len({line.split(" at ")[1] for line in lines[1:]}) == 8


@pytest.mark.parametrize("env", [{}, {"HSA_ENABLE_SDMA": "0"}, {"HSA_ENABLE_INTERRUPT": "0"},
                                 {"SOFT_AMDGPU_LARGE_BAR": "1"}, {"SOFT_AMDGPU_SPIN": "0"}],
                         ids=lambda env: "".join(env) or "plain")
def test_copies_and_fills_are_right(hip, env):
    assert hip("copies", env=env).out.splitlines() == [
        "there, across and back: same", "pinned, there and back: same", "bytes set: same",
        "words set: same", "rows: same"
    ]


def test_copies_and_fills_are_done_when_kernels_are_not(hip):
    assert "differs" not in hip("copies", options=["--no-execute"]).out
    assert hip("kernels", options=["--no-execute"]).out != "wrong 0\n"


def test_kernel_computes(hip):
    assert hip("kernels").out == "wrong 0\n"


def test_streams_overlap_and_events_order_them(hip):
    assert hip("streams").out == "query: hipErrorNotReady\nwaited: 1\nlast: 2\n"


def test_queues_run_on_the_cpu_that_is_named(hip):
    cpus = os.sched_getaffinity(0)
    for cpu in (min(cpus), max(cpus)):
        assert set(hip("threads",
                       env={"SOFT_AMDGPU_CPU": str(cpu)}).out.splitlines()) == {f"queue: {cpu}"}


@pytest.mark.parametrize("count", [2, 8])
def test_peers_copy_and_reach_each_other(hip, count):
    assert hip("peers", options=["--gpus", str(count), "--memory",
                                 "1G"]).out == "copies wrong: 0\nkernel: 2020202\n"


def test_memory_ends_where_the_budget_does(hip):
    out = hip("budget", options=["--memory", "1G"]).out
    assert (
        out
        == "total 1024 MiB\nthen hipErrorOutOfMemory, after more than 10\nafter a free:"
        " hipSuccess\n"
    )


def test_workgroups_of_a_cooperative_launch_wait_for_each_other(hip):
    assert hip(
        "cooperative").out == "supported 1, wrong 0\ntoo large: hipErrorCooperativeLaunchTooLarge\n"


def test_a_child_computes_on_memory_that_its_parent_shares(hip):
    assert hip("share").out == "a handle that is none: refused\nchild 0, wrong 0\n"


def test_modules_are_told_apart_at_one_address(hip, build):
    assert hip("modules", build / "tests/soft/soft_first.co",
               build / "tests/soft/soft_second.co").out == "wrong 0\n"


def test_device_prints(hip):
    assert hip("print").out == "".join(f"device says {i} of 3\n" for i in range(3))


def test_managed_memory_is_computed_on(hip):
    assert hip("managed").out == "last 2998\n"


def test_registered_memory_has_an_address_of_its_own_on_the_device(hip):
    assert hip("registered").out == "registered: 0 wrong, device address another\n"


def test_scratch_memory_is_the_runtimes_to_give_and_to_take(hip):
    result = hip("scratch", env={"SOFT_AMDGPU_TRACE": "1"})
    assert result.out == "".join(
        f"{words} words: 0 wrong\n" for words in (100, 200, 100, 4000, 100))
    said = re.findall(
        r"requests (\d+) bytes of scratch per work-item, but (\d+) are available"
        r"|its scratch is (released)",
        result.err)
    assert said == [("416", "0", ""), ("816", "416", ""), ("16016", "816", ""),
                    ("", "", "released"), ("416", "0", "")]


@pytest.mark.parametrize("pattern", ["mark", "mark(int*, int)", "_Z4mark*", "m?rk"])
def test_durations_name_kernels_as_people_do(hip, work, pattern):
    (work / "d.txt").write_text(f"{pattern} 5ms\n* 0\n")
    assert hip("durations", options=["--durations", "d.txt"]).out == "15 ms or more\n"


def test_program_leaves_with_a_kernel_that_never_ends(hip, rocr):
    if rocr >= 18:
        pytest.skip("HIP 7 waits for its kernels when the program leaves")
    assert hip("leave").out == "leaving\n"


def test_fault_in_a_hip_kernel_ends_the_program(hip):
    result = hip("fault", status=-6)
    assert (
        "kernel _Z4wildPi accesses unmapped memory at 0x123456789000" in result.err
        and "Memory access fault by GPU node-1" in result.err
    )


@pytest.mark.parametrize("order", ["run first", "soft first"])
def test_runs_inside_and_outside_of_gputap_run(run, gputap, build, work, order):
    trace, soft = [gputap, "run", "-o", "a.gputap", "--"], [gputap, "soft", "amdgpu", "--"]
    command = trace + soft if order == "run first" else soft + trace
    result = run([*command, build / "tests/soft/hip_soft", "kernels"])
    assert result.out == "wrong 0\n"


def test_kernels_of_a_type_without_interpreter_say_so(hip):
    result = hip("copies", options=["--gfx", "908"], status=None)
    assert result.status  # HIP 5 aborts, HIP 7 returns an error to the program
    assert re.search(
        r"kernel __amd_rocclr_\w+ cannot run: the interpreter supports .*, not"
        r" gfx908",
        result.err,
    )


# Requested faults --------------------------------------------------------------

def test_allocation_that_is_to_fail_fails(hip):
    out = hip("budget", options=["--fail", "allocate:60+"], status=None).out
    assert "then hipErrorOutOfMemory" in out


def test_signals_are_polled_when_events_have_run_out(hsa):
    assert hsa("signals", options=["--fail", "event:100+"]).out == "waited for 5000\nend\n"


def test_queue_that_is_to_fail_fails(hsa, rocr):
    if rocr >= 18:
        pytest.skip("ROCr 7 fails an assertion of its own where a queue cannot be made")
    result = hsa("many-queues", options=["--fail", "queue:20"], status=1)
    assert "hsa_queue_create" in result.out and "HSA_STATUS_ERROR_OUT_OF_RESOURCES" in result.out


def test_kernel_that_is_to_fail_ends_its_queue(hsa):
    result = hsa("kernel", "store_index", options=["--fail", "kernel"])
    assert result.out == "store_index: HSA_STATUS_ERROR_EXCEPTION\nend\n"
    assert "kernel store_index fails as requested (SOFT_AMDGPU_FAIL)" in result.err


def test_kernel_that_is_to_hang_hangs_its_queue_only(hip, rocr):
    if rocr >= 18:
        pytest.skip("HIP 7 waits for its kernels when the program leaves")
    assert hip("leave", options=["--fail", "hang"]).out == "leaving\n"
