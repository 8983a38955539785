# SPDX-License-Identifier: MIT
"""Test causes of idle time of CUDA devices, with the driver and CUPTI in software.
tests/idle/idle_cuda.c provokes one cause at a time and prints its times."""
import subprocess

import idle_scenes
import pytest
from conftest import REPO
from idle_scenes import check_shares, check_sums


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("idle_cuda")
    common = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}"]
    for command in ([
            *common, "-shared", "-fPIC", REPO / "tests/idle/idle_cuda_kernels.c", "-o",
            folder / "kernels.so"
    ], [
            *common, REPO / "tests/idle/idle_cuda.c", "-o", folder / "program",
            build / "soft/cuda/libcuda.so.1", "-lpthread"
    ]):
        subprocess.run(list(map(str, command)), check=True)
    return [folder / "program", folder / "kernels.so"]


@pytest.fixture
def trace(gputap, tap, program, work):
    def call(rule, options=()):
        words = [gputap, "soft", "cuda", "--devices", "2", "--", *program, rule]
        return idle_scenes.trace(tap, words, options, kernel="nothing")
    return call


@pytest.mark.parametrize("rule", [
    "host", "synchronising", "event", "allocating", "freeing", "compiling", "copying", "pageable",
    "other_call", "launching", "blocked", "started_late"
])
def test_idle_time_of_cuda_has_the_cause_that_was_built_in(trace, rule):
    built, report = trace(rule)
    assert list(built) == ["synchronising" if rule == "event" else rule]
    check_shares(built, report)


def test_rows_of_cuda_sum_to_the_devices_idle_time(trace):
    built, report = trace("blocked")
    check_sums(report)
    (held, ) = [r for r in report["idle"] if r["cause"] == "blocked"]
    assert held["mostly"] == "long_one 100%" and built


def test_without_arguments_a_held_queue_is_not_known(trace):
    built, report = trace("blocked", options=("--no-args", ))
    check_shares({"unknown": built["blocked"]}, report)
