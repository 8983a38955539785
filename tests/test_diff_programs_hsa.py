# SPDX-License-Identifier: MIT
"""Test gputap diff on real runs, on a software GPU whose kernels take exactly the requested time:
diff finds the injected change and reports nothing else."""
import json

import pytest


@pytest.fixture
def traced(tap, hsa_dispatches, softgpu, build, work):
    """Return a function: traced("a", 100) runs 200 kernels of 100 us each."""
    def call(name, microseconds, kernels=200):
        (work / "durations").write_text(f"* {microseconds}\n")
        tap("run", "-q", "-f", "-o", f"{name}.gputap", "--", hsa_dispatches,
            build / "tests/soft/soft_kernels.co", "1", kernels,
            env={**softgpu, "SOFT_AMDGPU_EXECUTE": 0, "SOFT_AMDGPU_DURATIONS": "durations"})
    return call


@pytest.mark.parametrize("microseconds, verdict", [(100, "noise"), (101, "noise"), (105, "slower"),
                                                   (120, "slower"), (80, "faster")])
def test_the_slowdown_that_is_built_in_is_found(tap, traced, microseconds, verdict):
    traced("a", 100)
    traced("b", microseconds)
    status = int(verdict == "slower")
    row, = json.loads(tap("diff", "a.gputap", "b.gputap", "--json", "--fail-over", "kernels:4%",
                          status=status).out)["kernels"]
    assert row["verdict"] == verdict and row["name"] == "nothing"
    assert row["median_change"] == pytest.approx(microseconds / 100 - 1, abs=0.002)
    assert row["over_limit"] == status


def test_kernels_that_are_launched_more_often_are_found(tap, traced):
    traced("a", 100)
    traced("b", 100, 220)
    row, = json.loads(tap("diff", "a.gputap", "b.gputap", "--json", "--fail-over", "kernels:5%",
                          status=1).out)["kernels"]
    assert row["verdict"] == "more"
    assert (row["count_baseline"], row["count_candidate"]) == (200, 220)
    tap("diff", "a.gputap", "b.gputap", "--fail-over", "kernels:15%")
