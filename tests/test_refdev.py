# SPDX-License-Identifier: MIT
"""Test the reference accelerator as a device."""
import subprocess

import pytest


@pytest.fixture(scope="session")
def library(build):
    return build / "soft/refdev/librefdev.so.1"


@pytest.fixture(scope="session")
def program(repo, library, tmp_path_factory):
    path = tmp_path_factory.mktemp("refdev") / "refdev_program"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{repo}",
        repo / "tests/refdev/refdev_program.c", "-o", path, library,
        f"-Wl,-rpath,{library.parent}", "-lpthread"
    ],
                   check=True)
    return path


@pytest.fixture(scope="session")
def plugin(build):
    return build / "soft/refdev/librefdev_pu1.so"


# The device --------------------------------------------------------------------------

def test_kernels_copies_fills_events_and_graphs_compute(run, program):
    run([program, "steps", "20"])


def test_the_drivers_level_computes(run, program):
    run([program, "driver", "5"])


def test_a_stream_is_idle_as_soon_as_its_last_event_is_done(run, program):
    assert run([program, "idle", "20000"]).out == "busy 0, open 0\n"


def test_calls_that_fail_say_why(run, program):
    out = run([program, "errors"], env={"REFDEV_FAULTS": "malloc:3"}).out
    assert out.splitlines() == [
        "launch of nothing: invalid argument", "grid of 0: invalid argument",
        "copy from nowhere: invalid argument", "too much memory: no memory",
        "device 99: invalid argument", "free of a stranger: invalid argument",
        "end without begin: invalid argument", "kernel that faults: success",
        "its stream: kernel fault", "afterwards: success", "memory: success", "used 1000",
        "twice the third: no memory", "freed: success"
    ]


def test_a_forks_child_has_no_device_and_the_parent_goes_on(run, program):
    assert run([program, "fork"]).out == "child: the device belongs to the parent process\n"


@pytest.mark.parametrize("fault, sentence", [
    ("launch:2", "refdevLaunchKernel(k, grid, block, s, sizeof *s, stream): the device failed"),
    ("copy:1", "refdevMemcpyHostToDevice, one): the device failed"),
    ("fill:1+", "32, 4): the device failed"),
    ("stream:2", "refdevStreamCreate(&two): no memory"),
    ("event:1", "refdevEventCreate(&event): no memory"),
    ("kernel:2", "refdevStreamSynchronize(two): kernel fault"),
])
def test_faults_come_on_demand(run, program, fault, sentence):
    assert sentence in run([program, "steps"], status=1, env={"REFDEV_FAULTS": fault}).err


@pytest.mark.parametrize("clock, rate", [("hz=1000000000", 1), ("hz=19200000", 0.0192),
                                         ("hz=1000000000,drift=100000ppm", 1.1)])
def test_its_clock_runs_as_it_is_told(run, program, clock, rate):
    out = run([program, "clock"], env={"REFDEV_CLOCK": clock}).out
    a, b = [list(map(int, line.split())) for line in out.splitlines()]
    assert (b[1] - a[1]) / ((b[0] + b[2] - a[0] - a[2]) / 2) == pytest.approx(rate, rel=0.01)


def test_bad_settings_are_refused(run, program):
    for setting in ({"REFDEV_DEVICES": "99"}, {"REFDEV_CLOCK": "hz=0"}, {"REFDEV_FAULTS": "x:1"}):
        assert "invalid argument" in run([program, "steps"], status=1, env=setting).err
