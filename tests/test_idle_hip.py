# SPDX-License-Identifier: MIT
"""Test causes of idle time of HIP devices, on AMD GPUs in software. tests/idle/idle_hip.hip
provokes one cause at a time and prints its times."""
import shutil
import subprocess

import idle_scenes
import pytest
from conftest import REPO
from idle_scenes import check_shares, check_sums


@pytest.fixture(scope="session")
def program(tmp_path_factory, hip_headers):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder = tmp_path_factory.mktemp("idle_hip")
    common = ["hipcc", "--offload-arch=gfx906", "-O1", "-w", f"-I{REPO}"]
    for out, *options in (["program", "-lpthread"], ["code", "--genco"]):
        subprocess.run([*common, REPO / "tests/idle/idle_hip.hip", "-o", folder / out, *options],
                       check=True)
    return [folder / "program", folder / "code"]


@pytest.fixture
def trace(tap, program, softgpu, work):
    def call(rule, options=()):
        return idle_scenes.trace(tap, [*program, rule], options,
                                 {**softgpu, "SOFT_AMDGPU_GPUS": "2"}, kernel="nothing")
    return call


@pytest.mark.parametrize("rule", [
    "host", "synchronising", "event", "allocating", "freeing", "compiling", "copying",
    "copy_here", "other_call", "launching", "blocked", "started_late"
])
def test_idle_time_of_hip_has_the_cause_that_was_built_in(trace, rule):
    built, report = trace(rule)
    assert list(built) == [{"event": "synchronising", "copy_here": "copying"}.get(rule, rule)]
    check_shares(built, report)
    check_sums(report)


def test_a_stream_of_hip_is_held_by_the_work_of_another_device(trace):
    _, report = trace("blocked")
    (held, ) = [r for r in report["idle"] if r["cause"] == "blocked"]
    assert held["mostly"] == "long_one 100%"
