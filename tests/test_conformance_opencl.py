# SPDX-License-Identifier: MIT
"""Test that Khronos' own tests give the same results with and without gputap.

GPUTAP_OPENCL_CTS names a folder in which OpenCL-CTS was built, in any version that matches the
installed headers. The programs in this folder run untraced and traced, on the first device. The
same tests must fail in both runs. All tests together take well over half an hour.

The LONG tests of a program take minutes each on a CPU. They run only if GPUTAP_SLOW=1 is set.
"""

import fnmatch
import os
import pathlib
import re

import pytest

PROGRAMS = ("test_events", "test_profiling", "test_device_timer", "test_computeinfo",
            "test_multiples", "test_cl_khr_command_buffer", "test_api", "test_buffers",
            "test_basic")
LONG = {"test_basic": "async_*copy_*"}
SLOW = bool(os.environ.get("GPUTAP_SLOW"))
LIMIT = 6000 if SLOW else 1500


def program(name):
    root = os.environ.get("GPUTAP_OPENCL_CTS")
    if not root:
        pytest.skip("GPUTAP_OPENCL_CTS names no build of OpenCL-CTS")
    for path in sorted(pathlib.Path(root).rglob(name)):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    pytest.skip(f"{name} is not built in {root}")


def chosen(run, path):
    """Return the names of the tests of @path to run. An empty list selects all tests."""
    if SLOW or path.name not in LONG:
        return []
    names = run([path, "--help"], status=None, cwd=path.parent).out.split("Test names:")[1].split()
    left = [n for n in names if not fnmatch.fnmatchcase(n, LONG[path.name])]
    assert 0 < len(left) < len(names)
    return left


def verdicts(text):
    """Return [(test, "passed", "FAILED" or "skipped")] from the result lines of the harness, in
    their order."""
    return re.findall(r"^(\w+) (passed|FAILED|skipped)$", text, re.M)


@pytest.mark.timeout(2 * LIMIT + 60)
@pytest.mark.parametrize("name", PROGRAMS)
def test_khronos_tests_answer_the_same(run, gputap, work, name):
    path = program(name)
    command = [path, *chosen(run, path)]
    env = {"CL_WIMPY_MODE": "1"}
    bare = run(command, status=None, timeout=LIMIT, env=env, cwd=path.parent)
    traced = run([gputap, "run", "-q", "-o", work / "cts.gputap", "--", *command],
                 status=None,
                 timeout=LIMIT,
                 env=env,
                 cwd=path.parent)
    assert verdicts(bare.out) or "SKIPPED" in bare.out, bare
    assert verdicts(traced.out) == verdicts(bare.out)
    assert traced.status == bare.status, traced
