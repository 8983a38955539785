# SPDX-License-Identifier: MIT
"""Test the build of the software AMD GPU that tools/test-deep makes with a sanitizer. Plain HSA
programs cause no sanitizer report."""


import pytest

import conftest

MODES = [
    "barriers", "barrier-values", "times", "copies", "errors", "closed-barrier", "producers",
    "signals", "many-queues", "cycles", "endless"
]


@pytest.mark.parametrize("mode", [*MODES, "fork-before", "fork-after"])
@pytest.mark.parametrize("kind", conftest.KINDS)
def test_sanitizer_has_nothing_to_say(run, build, kind, mode):
    if kind == "thread" and mode.startswith("fork"):
        return  # this sanitizer does not support a child process that starts threads
    folder = build if kind == "plain" else conftest.REPO / f"build-{kind}"
    result = run(
        [folder / "tests/soft/hsa_queue", mode, build / "tests/soft/soft_kernels.co"],
        env={
            **conftest.SANITIZERS_STOP, "LD_LIBRARY_PATH": folder / "soft/amdgpu",
            "ASAN_OPTIONS": "detect_leaks=0:exitcode=66",
            "TSAN_OPTIONS": "exitcode=66:ignore_noninstrumented_modules=1"
        })
    assert "Sanitizer" not in result.err and "runtime error" not in result.err
    assert result.out
