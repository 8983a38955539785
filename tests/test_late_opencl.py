# SPDX-License-Identifier: MIT
"""Test attaching to a running program that uses OpenCL, using tests/opencl/cl_late.c, which joins
sessions by calling gputap_attach()."""

import subprocess

import pytest

import conftest
from rings import Session

WAYS = ["linked", "heap", "table"]
KERNEL, UNTIMED = 1, [0, 0, 0, 0]


class Program:
    """A running cl_late. `made`: names of the OpenCL calls that it has made since the attach."""

    def __init__(self, build, way, *args, **env):
        self.build = build
        self.made = []
        self.process = subprocess.Popen(
            [build / "tests/opencl/cl_late", way, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**conftest.clean_environment(), **env})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def tell(self, line):
        """Return the result of a command."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        for answer in self.process.stdout:
            if answer.startswith("done"):
                return answer.split()[1:]
            self.made.append(answer.strip())
        raise AssertionError(f"{line}: the program ended with status {self.process.wait()}")

    def attach(self, session):
        assert self.tell(f"attach {session.library} {session.folder}") == ["0"]
        self.made = []

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=conftest.HANGS_SECONDS) == 0


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


def late_events(session):
    return [e["text"] for e in session.kind("event") if "before gputap attached" in e["text"]]


def test_every_call_after_the_attach_is_recorded_once(build, way):
    with Session(build) as session, Program(build, way) as program:
        program.tell("run 10")
        program.attach(session)
        assert program.tell("run 10") == ["20"]
        program.tell("queue")
        assert program.tell("run 5") == ["25"]
        program.tell("memory")
        program.end()
        assert len(program.made) > 20
        assert session.calls() == program.made
        assert session.counts() == (len(program.made), len(program.made), 0)
        print(session.kind("device"))
        print(session.kind("event"))
        print(session.kind("object"))
