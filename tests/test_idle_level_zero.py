# SPDX-License-Identifier: MIT
"""Test causes of idle time of Level Zero devices, on devices in software.
tests/idle/idle_level_zero.c provokes one cause at a time and prints its times."""
import subprocess

import idle_scenes
import pytest
from conftest import REPO
from idle_scenes import check_shares, check_sums


@pytest.fixture(scope="session")
def driver(build):
    library = build / "soft/level_zero/libze_soft.so"
    if not library.exists():
        pytest.skip("needs the software driver, which is built where the loader's headers are:"
                    " apt install libze-dev")
    return library


@pytest.fixture(scope="session")
def program(driver, tmp_path_factory):
    path = tmp_path_factory.mktemp("idle_level_zero") / "program"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}",
        REPO / "tests/idle/idle_level_zero.c", "-o", path, "-lze_loader", "-lpthread"
    ],
                   check=True)
    return path


@pytest.fixture
def trace(tap, driver, program, work):
    def call(rule, options=()):
        return idle_scenes.trace(
            tap, [program, rule], options, {
                "ZE_ENABLE_ALT_DRIVERS": driver,
                "SOFT_LEVEL_ZERO_DEVICES": "2",
                "SOFT_LEVEL_ZERO_OPENCL": "libpocl.so.2"
            }, kernel="nothing")
    return call


CAUSES = {"queue": "synchronising", "barrier": "blocked", "wait": "blocked"}


@pytest.mark.parametrize("rule", [
    "host", "synchronising", "queue", "allocating", "freeing", "compiling", "other_call",
    "launching", "blocked", "barrier", "wait", "unknown"
])
def test_idle_time_of_level_zero_has_the_cause_that_was_built_in(trace, rule):
    built, report = trace(rule)
    assert list(built) == [CAUSES.get(rule, rule)]
    check_shares(built, report)
    check_sums(report)
    if "blocked" in built:
        (held, ) = [r for r in report["idle"] if r["cause"] == "blocked"]
        assert held["mostly"] == "long_one 100%"
