# SPDX-License-Identifier: MIT
"""Test the software AMD GPU under the real ROCr: what plain HSA programs see, and the errors that
they receive."""

import pathlib
import re

import pytest


@pytest.fixture
def hsa(tap, build):
    """Return a function: hsa("barriers", options=["--gpus", "2"], kernel=.., ...) runs
    tests/soft/hsa_queue on software GPUs and returns the result."""
    def call(mode, *arguments, options=(), **keywords):
        program = build / "tests/soft/hsa_queue"
        return tap("soft", "amdgpu", *options, "--", program, mode,
                   build / "tests/soft/soft_kernels.co", *arguments, **keywords)
    return call


def gpus(rocminfo):
    return re.findall(r"Marketing Name: +(Software GPU \w+)", rocminfo)


def test_rocminfo_lists_the_gpu_of_its_type(tap):
    out = tap("soft", "amdgpu", "--", "rocminfo").out
    assert gpus(out) == ["Software GPU gfx906"]
    assert "amdgcn-amd-amdhsa--gfx906:sramecc-:xnack-" in out


@pytest.mark.parametrize("gfx", ["900", "906", "908", "90a"])
def test_rocminfo_lists_eight_gpus_of_each_type(tap, gfx):
    out = tap("soft", "amdgpu", "--gpus", "8", "--gfx", gfx, "--memory", "2G", "--", "rocminfo").out
    assert gpus(out) == [f"Software GPU gfx{gfx}"] * 8
    # ROCr 6 shows two pools of this memory
    assert out.count(f"Size:                    {2 << 20}(") in (8, 16)
    assert len(set(re.findall(r"Uuid: +(GPU-\w+)", out))) == 8


def test_library_path_alone_is_enough(run, build):
    result = run(
        [build / "tests/soft/hsa_queue", "closed-barrier", build / "tests/soft/soft_kernels.co"],
        env={"LD_LIBRARY_PATH": build / "soft/amdgpu", "HSA_ENABLE_DTIF": "1"})
    assert result.out == "destroyed\nend\n"


def test_barriers_hold_what_follows_until_their_signals_are_zero(hsa):
    assert hsa("barriers", options=["--no-execute"]).out.splitlines()[:3] == [
        "closed: 1 1 1", "one open: 0 1 1", "both open: 0 0 0"
    ]


def test_barrier_values_know_all_conditions(hsa):
    assert hsa("barrier-values").out == "closed: 1\nopen: 0\n" * 4 + "end\n"


def test_bad_packets_end_their_queue_with_the_errors_of_hardware(hsa):
    result = hsa("errors")
    assert result.out.splitlines() == [
        "no kernel: HSA_STATUS_ERROR_INVALID_CODE_OBJECT",
        "empty group: HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS",
        "no dimensions: HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS",
        "large group: HSA_STATUS_ERROR_INVALID_ARGUMENT",
        "much LDS: HSA_STATUS_ERROR_INVALID_ALLOCATION",
        "much scratch: HSA_STATUS_ERROR_OUT_OF_RESOURCES",
        "unknown packet: HSA_STATUS_ERROR_INVALID_PACKET_FORMAT",
        "unknown vendor packet: HSA_STATUS_ERROR_INVALID_PACKET_FORMAT",
        "end",
    ]
    assert (
        "soft amdgpu: GPU 1 queue 1 stops: packet 0 has too large a workgroup: 2048 work-items\n"
        in result.err
    )
    assert (
        "stops: packet 0 requests 262144 bytes of scratch per work-item, which the runtime"
        " does not provide\n"
        in result.err
    )


def test_queue_with_a_barrier_that_never_opens_is_destroyed(hsa):
    assert hsa("closed-barrier").out == "destroyed\nend\n"


def test_more_signals_than_events_are_waited_for(hsa):
    assert hsa("signals").out == "waited for 5000\nend\n"


def test_forty_queues_work_side_by_side(hsa):
    assert hsa("many-queues").out == "all done\nend\n"


# Time ------------------------------------------------------------------------

def parse_times(result):
    words = result.out.split()[:-1]  # without the last word, "end"
    return dict(zip(words[::2], map(int, words[1::2])))


def test_stamps_lie_between_submission_and_completion(hsa):
    t = parse_times(hsa("times", options=["--no-execute"]))
    assert (t["before"], t["after"], t["backward"]) == (0, 0, 0)


def test_raw_stamps_are_on_a_clock_of_the_gpus_own(hsa):
    """Raw time stamps are far from the host's clock, so that a tool that does not convert them is
    noticed."""
    t = parse_times(hsa("times", options=["--no-execute", "--clock-epoch", "5000s"]))
    assert abs(t["raw"] * 10 - (t["host"] + 5000 * 10**9)) < 10**9


def test_drift_does_not_put_stamps_outside_of_their_calls(hsa):
    t = parse_times(hsa("times", options=["--no-execute", "--clock-drift", "200ppm"]))
    assert t["backward"] == 0


@pytest.mark.parametrize("skew, where", [("3ms", "after"), ("-1ms", "before")])
def test_skew_puts_stamps_outside_of_their_calls(hsa, skew, where):
    # ROCr converts time stamps wrongly if they precede its first reading of both clocks, so the
    # skew in this test does not exceed ROCr's start-up time.
    t = parse_times(hsa("times", options=["--no-execute", "--clock-skew", skew]))
    assert t[where] > 400


def test_durations_are_exact_to_the_tick(hsa, work):
    (work / "d.txt").write_text("# comment\n\nother* 5ms\nnoth?ng   200us\n")
    t = parse_times(hsa("times", options=["--no-execute", "--durations", "d.txt"]))
    assert 199_980 <= t["least"] and t["before"] == 0


# Copies ------------------------------------------------------------------------


@pytest.mark.parametrize("sdma, box", [(1, "60 elements, 0 wrong"), (0, "refused")],
                         ids=["engine", "shader"])
def test_copies_wait_are_right_and_have_times(hsa, sdma, box):
    """The copies use the copy engine in one run, and ROCr's own shaders in the other."""
    assert hsa("copies", env={"HSA_ENABLE_SDMA": sdma}).out.splitlines() == [
        "gate closed: 1 1", "gate open: 0 0", "bytes: same, the rest untouched",
        "there: in its time", "back: in its time", "filled: 0x1020304 0x1020304, then as before",
        f"box: {box}", "end"
    ]


# Wrong settings ----------------------------------------------------------------

@pytest.mark.parametrize("options, said", [
    (["--gfx", "1234"], "--gfx 1234: expected one of gfx900 gfx906 gfx908 gfx90a"),
    (["--gpus", "9"], "--gpus 9: expected 1 to 8"),
    (["--gpus", "0"], "--gpus 0: expected 1 to 8"),
    (["--memory", "1M"], "--memory 1M: expected a size from 64M to 1T"),
    (["--clock-drift", "3x"], "--clock-drift 3x: expected a rate such as 50ppm or -200ppb"),
    (["--clock-skew", "1us,x"], "--clock-skew 1us,x: expected a time such as 20us or -1ms"),
    (["--clock-epoch", "-1s"], "--clock-epoch -1s: expected a time of 0 or more, such as 5s"),
])
def test_wrong_option_is_reported_with_what_is_wanted(tap, options, said):
    assert tap("soft", "amdgpu", *options, "--", "true", status=2).err == f"gputap soft: {said}\n"


def test_wrong_variable_is_reported_by_the_library(run, build):
    result = run([build / "tests/soft/hsa_queue", "times", "none"],
                 status=1,
                 env={
                     "LD_LIBRARY_PATH": build / "soft/amdgpu", "HSA_ENABLE_DTIF": "1",
                     "SOFT_AMDGPU_GPUS": "many"
                 })
    assert "soft amdgpu: SOFT_AMDGPU_GPUS=many: expected 1 to 8\n" in result.err
    assert result.out.startswith("hsa_init(): ")


def test_wrong_line_of_durations_is_reported(hsa, work):
    (work / "d.txt").write_text("fine 5\nvadd soon\n")
    result = hsa("times", options=["--durations", "d.txt"], status=1)
    assert (
        f"{work}/d.txt:2: expected a kernel's name or a pattern, then microseconds" in result.err
    )


def test_accelerator_that_there_is_none_of_is_reported(tap):
    assert "did you mean 'amdgpu'?" in tap("soft", "amdgp", "--", "true", status=2).err


def test_program_that_there_is_none_of_is_reported(tap):
    assert tap("soft", "amdgpu", "--", "./none",
               status=127).err == "gputap soft: cannot start ./none: No such file or directory\n"


def test_list_names_the_library_and_the_runtime(tap, build):
    out = tap("soft").out
    assert str(build / "soft/amdgpu/libhsakmt.so.1") in out and "libhsa-runtime64.so.1" in out


def test_runtime_of_another_version_is_named_by_the_library(run, build, work):
    real = pathlib.Path("/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1").resolve()
    (work / "libhsa-runtime64.so.1").write_bytes(real.read_bytes())
    result = run(
        [build / "tests/soft/hsa_queue", "closed-barrier", build / "tests/soft/soft_kernels.co"],
        env={"LD_LIBRARY_PATH": f"{work}:{build / 'soft/amdgpu'}", "HSA_ENABLE_DTIF": "1"})
    assert (
        f"soft amdgpu: {work}/libhsa-runtime64.so.1 has not been tested; tested: ROCr"
        " 5.2.3"
        in result.err
    )
    assert result.out == "destroyed\nend\n"


def test_runtime_that_wants_other_functions_is_named(tap, run, work):
    (work / "a.c").write_text("void hsaKmtTomorrow(void); void hsaKmtOpenKFD(void);"
                              "void hsa_init(void) { hsaKmtTomorrow(); hsaKmtOpenKFD(); }")
    run(["cc", "-shared", "-fPIC", "-o", "libhsa-runtime64.so.1", "a.c"])
    err = tap("soft", "amdgpu", "--", "true", env={"LD_LIBRARY_PATH": work}).err
    assert (
        "needs 1 functions that the replacement lacks (hsaKmtTomorrow); tested: ROCr 5.2.3"
        in err
    )


def test_runtime_that_can_load_another_thunk_is_told_to(tap, run, work):
    (work / "a.c").write_text('const char *hsa_init(void) { return "HSA_ENABLE_DTIF"; }')
    run(["cc", "-shared", "-fPIC", "-o", "libhsa-runtime64.so.1", "a.c"])
    result = tap("soft",
                 "amdgpu",
                 "--",
                 "printenv",
                 "HSA_ENABLE_DTIF",
                 env={"LD_LIBRARY_PATH": work})
    assert result.out == "1\n" and "libhsa-runtime64.so.1 has not been tested" in result.err


def test_runtime_with_its_own_thunk_is_named(tap, run, work):
    (work / "a.c").write_text("int hsa_init(void) { return 0; }")
    run(["cc", "-shared", "-fPIC", "-o", "libhsa-runtime64.so.1", "a.c"])
    assert "has libhsakmt built in" in tap("soft",
                                         "amdgpu",
                                         "--",
                                         "true",
                                         env={"LD_LIBRARY_PATH": work}).err
