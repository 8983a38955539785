# SPDX-License-Identifier: MIT
"""Test that Khronos' own tests give the same results with and without gputap.

GPUTAP_OPENCL_CTS names a folder in which OpenCL-CTS was built (any version that fits the installed
headers); the programs found there are run untraced and traced, on the first device. A test that
fails untraced may fail traced: the same tests must fail. All together take well over half an hour.

A program's LONG tests take minutes each on a CPU and are left out, unless GPUTAP_SLOW=1 is set.
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
    """Return names of tests to run from @path; an empty list means all of them."""
    if SLOW or path.name not in LONG:
        return []
    names = run([path, "--help"], status=None, cwd=path.parent).out.split("Test names:")[1].split()
    left = [n for n in names if not fnmatch.fnmatchcase(n, LONG[path.name])]
    assert 0 < len(left) < len(names)
    return left


def verdicts(text):
    """Return [(test, passed, failed or skipped)] from the harness's own lines, in their order."""
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
