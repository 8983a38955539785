# SPDX-License-Identifier: MIT
"""Test HIP in programs that gputap is attached to, on the real HIP, ROCr and the software GPU."""
import collections
import os
import subprocess

import pytest

from late_session import Session, export_rows
from processes import wait_until

THREADS, STREAMS, LAUNCHES = 3, 2, 40


class Program:
    """tests/hip/late.hip, which attaches itself to the sessions that it is told."""
    def __init__(self, path, library, softgpu, words):
        self.process = subprocess.Popen([path, library, *words], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env={**os.environ, **softgpu})
        assert self.read() == "ready"

    def read(self):
        return self.process.stdout.readline().strip()

    def tell(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def threads_of_gputap(self):
        tasks = f"/proc/{self.process.pid}/task"
        names = [open(f"{tasks}/{tid}/comm").read().strip() for tid in os.listdir(tasks)]
        return [name for name in names if name.startswith("gputap")]

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


@pytest.fixture
def attach(hip_program, gputap, tap, build, softgpu, work):
    """Return a function that runs late.hip in a number of sessions and returns the rows of each
    session. gputap's threads must end with each session."""
    def run(*words, sessions=1, options=()):
        program = Program(hip_program("late"), build / "libgputap.so.0", softgpu,
                          [f"threads={THREADS}", f"streams={STREAMS}", f"launches={LAUNCHES}",
                           *words])
        for i in range(sessions):
            with Session(gputap, work / f"{i}.gputap", options) as session:
                program.tell(session.folder)
                assert (program.read(), program.read()) == ("attach 0", "done")
            program.tell("over")
            assert program.read() == "between"
            wait_until(lambda: not program.threads_of_gputap(), "gputap's threads to end")
        assert program.end() == 0
        return [export_rows(tap, f"{i}.gputap", work) for i in range(sessions)]
    return run


def title(row):
    return row["name"] or row["operation"]


def count(rows, kind):
    return collections.Counter(title(r) for r in rows if r["kind"] == kind)


def check_work(rows):
    """All work of one session was recorded exactly once and is linked to its call."""
    devices = [r for r in rows if r["kind"] == "device"]
    grids = [(int(r["global_y"]) - 1) * 64 + int(r["global_x"]) - 1
             for r in devices if r["name"] == "after"]
    found = count(rows, "device")
    assert sorted(grids) == list(range(THREADS * LAUNCHES))
    assert (found["node"], found["fresh"]) == (2 * 4 * THREADS, 5 * THREADS)
    assert found["memcpy H2D"] == found["memcpy D2H"] == 2 * THREADS
    assert found["__amd_rocclr_copyBuffer"] == 2 * THREADS
    assert found["__amd_rocclr_fillBufferAligned"] == 2 * THREADS
    assert not found["between"] + found["before"]
    calls = {r["correlation"]: r["operation"] for r in rows if r["kind"] == "call"}
    by = {"after": "hipLaunchKernel", "fresh": "hipLaunchKernel", "node": "hipGraphLaunch",
          "memcpy H2D": "hipMemcpyAsync", "memcpy D2H": "hipMemcpyAsync",
          "__amd_rocclr_copyBuffer": "hipMemcpyAsync",
          "__amd_rocclr_fillBufferAligned": "hipMemsetAsync"}
    # the call of a kernel that was launched during the attach may have begun before
    assert all(calls[r["correlation"]] == by[title(r)] for r in devices if title(r) != "during")
    assert all(int(r["start_ns"]) <= int(r["end_ns"]) for r in devices)


def check_calls(rows):
    assert count(rows, "call") == {
        "hipLaunchKernel": (LAUNCHES + 5) * THREADS,
        "__hipPushCallConfiguration": (LAUNCHES + 5) * THREADS,
        "__hipPopCallConfiguration": (LAUNCHES + 5) * THREADS, "hipMemcpyAsync": 6 * THREADS,
        "hipMemsetAsync": 2 * THREADS, "hipGraphLaunch": 2 * THREADS, "hipStreamCreate": THREADS,
        "hipStreamDestroy": THREADS, "hipStreamSynchronize": (2 + 1 + STREAMS) * THREADS
    }


def test_calls_and_activities_on_existing_and_new_streams_are_recorded_exactly(attach):
    rows, = attach()
    check_calls(rows)
    check_work(rows)


def test_each_of_several_sessions_records_its_own_work(attach):
    for rows in attach(sessions=3):
        check_calls(rows)
        check_work(rows)


def test_attaching_to_busy_threads_disturbs_none_and_misses_nothing_afterwards(attach):
    """Threads launch kernels all the time while gputap is attached and detached. Each of these
    kernels must run exactly once, which the program checks."""
    for rows in attach("busy=1", sessions=2):
        check_work(rows)


def test_hip_that_is_opened_after_the_attach_is_recorded(hip_headers, gputap, build, repo, softgpu,
                                                         tap, work):
    subprocess.run(["cc", repo / "tests/rocm/hip_late.c", "-o", "late", "-ldl"], check=True)
    with Session(gputap, work / "a.gputap") as session:
        result = subprocess.run(
            ["./late", build / "libgputap.so.0", session.folder, "libamdhip64.so.5"], text=True,
            stdout=subprocess.PIPE, env={**os.environ, **softgpu}, check=True)
    assert result.stdout == "attach 0\n"
    rows = export_rows(tap, "a.gputap", work)
    assert count(rows, "call") == {"hipMalloc": 1, "hipMemsetAsync": 5, "hipDeviceSynchronize": 1}
    assert count(rows, "device") == {"__amd_rocclr_fillBufferAligned": 5}
