# SPDX-License-Identifier: MIT
"""Test C++ that hipcc compiles at each optimisation level. The software GPU and the host compute
the same results."""

import shutil
import subprocess

import pytest

from conftest import run_command

FUNCTIONS = ("integers", "wide_integers", "narrow_integers", "floats", "quotients",
             "small_quotients", "doubles", "conversions", "branches", "arrays", "calls", "vectors",
             "bits", "together")


@pytest.mark.parametrize("level", range(4))
def test_kernels_of_each_level_compute_what_the_host_does(hip_headers, softgpu, repo, work, level):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    if level == 0 and "clang version 17" in subprocess.run(
        ["hipcc", "--version"], capture_output=True, text=True).stdout:
        pytest.skip(
            "LLVM 17 reloads spilled registers before it restores EXEC at -O0 (llvm-project#69924)")
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", f"-O{level}", "-ffp-contract=off", "-Wall", "-Werror",
        repo / "tests/soft/levels.hip", "-o", "levels"
    ],
                   check=True)
    result = run_command(["./levels"], env=softgpu)
    assert result.out.splitlines() == [f"{name}: 0 wrong" for name in FUNCTIONS]
