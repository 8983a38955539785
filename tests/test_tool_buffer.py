# SPDX-License-Identifier: MIT
"""Test buffers of the tool API through the library that programs use. unit/tool_buffer.c has more
tests."""
import shutil
import subprocess

import pytest


def test_exceptions_go_through_gputap_and_leave_buffers_usable(repo, build, run, work):
    if not shutil.which("c++"):
        pytest.skip("no c++")
    subprocess.run([
        "c++", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{repo}/include",
        repo / "tests/tool/throws.cc", "-o", "throws", f"-L{build}", "-l:libgputap.so.0",
        f"-Wl,-rpath,{build}"
    ],
                   check=True)
    assert run([work / "throws"]).out.splitlines() == [
        "create 0", "create 0", "caught: 1 records", "flush 0", "caught: 2 records", "flush 0",
        "destroy 0 0"
    ]
