# SPDX-License-Identifier: MIT
"""Test calls that have not returned: gputap status, snapshots, captures of programs that were
killed, and recovery."""
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import conftest
import mpi_jobs
import pytest
import python_tables

from consumers import perfetto
from control_programs import wait_until

# xdist could not send the package's warnings to its controller, which does not import the package
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
SOURCE = pathlib.Path(__file__).resolve().parent / "open_calls"
SECOND = 1_000_000_000


@pytest.fixture(scope="session")
def refdev(build, tmp_path_factory):
    library, program = build / "soft/refdev", tmp_path_factory.mktemp("hang") / "hang_refdev"
    subprocess.run(["cc", "-O1", "-g", f"-I{conftest.REPO}", SOURCE / "hang_refdev.c", "-o",
                    program, library / "librefdev.so.1", f"-Wl,-rpath,{library}", "-lpthread"],
                   check=True)
    return program


@pytest.fixture(scope="session")
def opencl(tmp_path_factory):
    program = tmp_path_factory.mktemp("hang") / "hang_opencl"
    subprocess.run(["cc", "-O1", "-g", SOURCE / "hang_opencl.c", "-o", program, "-lOpenCL",
                    "-lpthread"], check=True)
    return program


class Hang:
    """A traced program that has stopped making progress."""
    def __init__(self, gputap, command, *options, env=None):
        self.process = subprocess.Popen(
            [gputap, "run", "-q", "-o", "h.gputap", *options, "--", *map(str, command)], text=True,
            env={**conftest.clean_environment(), **(env or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.pid = str(self.process.pid)

    def ready(self):
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()
        return self

    def end(self, status=0):
        pathlib.Path("stop").touch()
        out, err = self.process.communicate(timeout=conftest.HANGS_SECONDS)
        assert status is None or self.process.returncode == status, err
        return out


@pytest.fixture
def hang(gputap, work):
    started = []

    def start(*command, options=(), env=None):
        started.append(Hang(gputap, command, *options, env=env))
        return started[-1]
    yield start
    for one in started:
        if one.process.poll() is None:
            conftest.end_group(one.process)


@pytest.fixture
def threads(tap):
    """Return a function that returns the rows of gputap status, all or of threads that have made no
    progress for a second."""
    def read(h, *options):
        answer = tap("status", "--json", *options, h.pid, status=None)
        if answer.status:  # the session has not started yet
            return []
        rows = json.loads(answer.out)["threads"]
        return [row for row in rows if row["shown"] or "--all" in options]
    return read


def wait_for_row(h, threads, condition):
    """Return the first row of `gputap status` with that condition."""
    found = []

    def is_there():
        found[:] = [row for row in threads(h) if condition(row)]
        return found
    wait_until(is_there)
    return found[0]


def open_calls(tap, file):
    return json.loads(tap("report", "--json", "-t", "open", file, status=None).out)["open"]


def is_in(name):
    return lambda row: row["calls"] and row["calls"][0] == name


def test_status_names_the_call_a_thread_hangs_in(hang, refdev, threads, tap):
    started = time.monotonic_ns()
    h = hang(refdev, "call").ready()
    row = wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    assert row["domain"] == "refdev" and row["program"] == "hang_refdev"
    assert row["tid"] == row["pid"] and row["activities_in_flight"] == 1
    assert SECOND <= row["open_ns"] <= time.monotonic_ns() - started
    for command in (("status",), ("top", "--once")):
        text = tap(*command, h.pid).out
        assert "refdevStreamSynchronize" in text and "1 in flight" in text
    row, = [row for row in json.loads(tap("top", "--once", "--json", h.pid).out)["threads"]
            if row["shown"]]
    assert row["calls"] == ["refdevStreamSynchronize"]
    assert h.end() == "done\n"
    assert open_calls(tap, "h.gputap") == []


def test_status_names_the_last_call_of_a_thread_outside_any_call(hang, refdev, threads, tap):
    h = hang(refdev, "outside").ready()
    row = wait_for_row(h, threads, lambda row: not row["calls"])
    assert row["last_call"] == "refdevStreamSynchronize" and row["last_ended_ns"] >= SECOND
    assert row["activities_in_flight"] == 0 and row["activity_ended_ns"] is not None
    assert "outside any call, after refdevStreamSynchronize" in tap("status", h.pid).out
    h.end()


def test_a_thread_that_waits_outside_calls_is_shown_with_the_one_in_a_call(hang, refdev, threads):
    h = hang(refdev, "thread").ready()
    row = wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    assert row["tid"] != row["pid"] and row["thread"] == "waiter"
    h.end()


def test_a_program_with_progress_has_no_row(hang, refdev, threads, tap):
    h = hang(refdev, "never").ready()
    time.sleep(1.5)
    assert threads(h) == []
    assert "no progress" not in tap("status", h.pid).out
    assert any(row["pid"] == row["tid"] for row in threads(h, "--all"))
    h.end()


def test_status_shows_the_stacks_of_threads_without_progress(hang, refdev, threads, tap):
    h = hang(refdev, "thread").ready()
    wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    rows = {row["thread"]: row for row in threads(h, "--stacks")}
    waiter = rows["waiter"]["stack"]
    assert rows["waiter"]["stack_error"] is None
    # lines in debug information are looked up for a limited time
    assert [f.split()[0] for f in waiter if f.startswith(("refdevS", "hang "))] == [
        "refdevStreamSynchronize", "hang"]
    main = next(row for name, row in rows.items() if name != "waiter")
    assert main["stack"][-1].startswith("main ")
    assert not any(f.startswith("hang ") for f in main["stack"])
    out = tap("status", "--stacks", h.pid).out
    assert "waiter, in refdevStreamSynchronize" in out and "\n  main " in out
    assert "stack" not in threads(h)[0]  # only if requested
    h.end()


PYTHON_PROGRAM = """
import ctypes, os, sys
device = ctypes.CDLL(sys.argv[1])
memory = ctypes.c_void_p()
device.refdevMalloc(ctypes.byref(memory), ctypes.c_size_t(100))
device.refdevMemset(memory, 0, ctypes.c_size_t(100))
def spin():
    count = 0
    while count % 1000 or not os.path.exists("stop"):
        count += 1
def train():
    spin()
print("ready", flush=True)
train()
"""


def test_status_shows_the_line_of_a_python_program_that_computes(hang, build, threads):
    pathlib.Path("train.py").write_text(PYTHON_PROGRAM)
    h = hang(sys.executable, "train.py", build / "soft/refdev/librefdev.so.1").ready()
    wait_for_row(h, threads, lambda row: row["last_call"] == "refdevMemset")
    stack = []

    def is_read():  # a machine under load may not let the thread stop in time
        row = threads(h, "--stacks")[0]
        stack[:] = row["stack"]
        return not row["stack_error"]
    wait_until(is_read)
    assert [f.rpartition(":")[0] for f in stack[-3:]] == [
        "spin at train.py", "train at train.py", "<module> at train.py"]
    assert stack[-2:] == ["train at train.py:12", "<module> at train.py:14"]
    h.end()


def ptrace(request, pid):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    return libc.ptrace(request, pid, None, None)


def test_status_says_why_a_stack_is_not_readable(hang, build, threads, tap):
    PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
    pathlib.Path("train.py").write_text(PYTHON_PROGRAM)
    h = hang(sys.executable, "train.py", build / "soft/refdev/librefdev.so.1").ready()
    pid = wait_for_row(h, threads, lambda row: row["last_call"] == "refdevMemset")["pid"]
    if ptrace(PTRACE_SEIZE, pid):
        pytest.skip("the kernel does not let this test trace a program")
    row = threads(h, "--stacks")[0]
    out = tap("status", "--stacks", h.pid).out
    ptrace(PTRACE_INTERRUPT, pid)
    os.waitpid(pid, 0)
    ptrace(PTRACE_DETACH, pid)
    assert row["stack"] == [] and "does not permit it" in row["stack_error"]
    assert f"\n  {row['stack_error']}\n" in out
    h.end()


def test_opencl_waits_for_a_user_event(hang, opencl, threads, tap):
    h = hang(opencl).ready()
    row = wait_for_row(h, threads, is_in("clFinish"))
    assert row["domain"] == "opencl" and row["open_ns"] >= SECOND
    tap("snapshot", "-q", "-o", "s.gputap", h.pid)
    assert [(c["name"], c["domain"]) for c in open_calls(tap, "s.gputap")] == [
        ("clFinish", "opencl")]
    h.end()


def test_a_snapshot_has_the_open_call_and_the_capture_does_not(hang, refdev, tap, threads):
    h = hang(refdev, "call").ready()
    wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    tap("snapshot", "-q", "-o", "s.gputap", h.pid)
    call, = open_calls(tap, "s.gputap")
    assert call["name"] == "refdevStreamSynchronize" and call["open_ns"] >= SECOND
    assert call["state"] == "condition"  # a worker of the device will wake the thread
    assert "Open: process " in tap("report", "s.gputap", "-t", "open").out
    assert "in refdevStreamSynchronize for " in tap("report", "s.gputap").out
    assert "refdevStreamSynchronize" in tap("info", "s.gputap").out
    tap("export", "s.gputap", "-o", "s.pftrace")
    seen = perfetto.ask("s.pftrace", complaints=perfetto.COMPLAINTS, slices=perfetto.SLICES)
    slices = [s for s in seen["slices"] if s["name"] == "refdevStreamSynchronize"]
    assert [s["dur"] == -1 for s in slices] == [False, True] and not seen["complaints"]
    assert slices[0]["tid"] == slices[1]["tid"] == call["tid"]
    h.end()
    assert open_calls(tap, "h.gputap") == []
    assert "Open" not in tap("report", "h.gputap").out


def test_a_snapshot_with_stacks_shows_where_the_threads_are(hang, refdev, tap, threads):
    h = hang(refdev, "thread").ready()
    wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    time.sleep(1)  # the first thread is outside any call for a second
    for name in "1.gputap", "2.gputap":  # stacks of the second one have other numbers
        tap("snapshot", "-q", "--stacks", "-o", name, h.pid)
    tap("snapshot", "-q", "-o", "none.gputap", h.pid)
    h.end()
    for name in "1.gputap", "2.gputap":
        call, = open_calls(tap, name)
        assert [f for f in call["stack"] if f.startswith("hang ")]
        rows = json.loads(tap("report", "--json", "-t", "host_samples", name, status=None).out)
        stacks = [row["stack"] for row in rows["host_samples"]]
        assert any(s[-1].startswith("main ") for s in stacks), stacks
        assert not any(frame.startswith("hang ") for s in stacks for frame in s)  # is in a call
        out = tap("report", "-t", "open", name, status=None).out
        assert "hang at " in out or "hang in " in out
    assert "refdevStreamSynchronize" in [c["name"] for c in open_calls(tap, "none.gputap")]


def test_a_killed_program_says_in_which_call_and_since_when(hang, refdev, tap, threads):
    h = hang(refdev, "call").ready()
    row = wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    os.kill(row["pid"], signal.SIGKILL)
    h.end(status=None)
    call, = open_calls(tap, "h.gputap")
    assert call["name"] == "refdevStreamSynchronize" and call["open_ns"] >= row["open_ns"]
    with python_tables.gputap.open("h.gputap") as capture:
        entry, = python_tables.rows_of(capture.open_calls)
        ended = {t["thread"]: t["tid"] for t in python_tables.rows_of(capture.threads)}
    assert entry["operation"] == call["name"] and entry["duration_ns"] == call["open_ns"]
    assert ended[entry["thread"]] == row["tid"] and entry["sequence"] is None
    text = " ".join(tap("report", "h.gputap", status=None).out.split())
    assert "Killed (signal 9), in refdevStreamSynchronize for " in text


def test_an_interrupted_program_has_its_open_call(hang, refdev, tap, threads):
    h = hang(refdev, "call").ready()
    wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    os.killpg(h.process.pid, signal.SIGINT)
    h.process.communicate(timeout=conftest.HANGS_SECONDS)
    assert [c["name"] for c in open_calls(tap, "h.gputap")] == ["refdevStreamSynchronize"]


def test_a_program_that_outlives_its_session_has_the_states_of_its_threads(hang, refdev, tap,
                                                                           threads):
    h = hang("sh", "-c", f"{refdev} call & while ! test -e go; do sleep 0.05; done").ready()
    row = wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    pathlib.Path("go").touch()
    assert h.process.wait(timeout=conftest.HANGS_SECONDS) == 0  # the program still hangs
    calls = open_calls(tap, "h.gputap")
    assert [(c["name"], c["pid"]) for c in calls] == [("refdevStreamSynchronize", row["pid"])]
    assert calls[0]["state"] == row["state"] and row["state"]
    h.end()


@pytest.mark.parametrize("kills_program", (False, True), ids=("running", "killed"))
def test_a_recovered_capture_has_the_open_call(hang, refdev, tap, threads, kills_program):
    h = hang(refdev, "call").ready()
    row = wait_for_row(h, threads, is_in("refdevStreamSynchronize"))
    folder = json.loads(tap("status", "--json", h.pid).out)["sessions"][0]["folder"]
    h.process.kill()
    h.process.wait()
    if kills_program:
        os.kill(row["pid"], signal.SIGKILL)
    tap("recover", folder, status=None)
    pathlib.Path("stop").touch()
    h.process.communicate()
    assert [c["name"] for c in open_calls(tap, "h.gputap")] == ["refdevStreamSynchronize"]


def test_a_recovered_capture_lacks_calls_that_returned(hang, refdev, tap, threads):
    h = hang(refdev, "outside").ready()
    wait_for_row(h, threads, lambda row: not row["calls"])
    folder = json.loads(tap("status", "--json", h.pid).out)["sessions"][0]["folder"]
    h.process.kill()
    h.process.wait()
    tap("recover", folder, status=None)
    pathlib.Path("stop").touch()
    h.process.communicate()
    assert open_calls(tap, "h.gputap") == []


@pytest.fixture(params=sorted(mpi_jobs.KINDS))
def mpi(request):
    if not mpi_jobs.library_of(request.param):
        package = {"mpich": "mpich", "openmpi": "openmpi-bin"}[request.param]
        pytest.skip(f"needs {mpi_jobs.KINDS[request.param][0]}: apt install {package}")
    return request.param


def test_a_rank_that_does_not_enter_a_barrier(hang, mpi, work, tap, threads):
    program = mpi_jobs.build(mpi, work, "steps")
    h = hang(*mpi_jobs.launcher(mpi, 4), program, 5, 2, 600_000, env={"TMPDIR": str(work)})

    def all_wait():
        return len([row for row in threads(h) if is_in("MPI_Barrier")(row)]) == 3
    wait_until(all_wait)
    rows = {row["rank"]: row for row in threads(h) if row["rank"] is not None}
    assert sorted(rows) == [0, 1, 2, 3]
    assert {rank: row["calls"] for rank, row in rows.items()} == {
        0: ["MPI_Barrier"], 1: ["MPI_Barrier"], 2: [], 3: ["MPI_Barrier"]}
    assert len({rows[rank]["sequence"] for rank in (0, 1, 3)}) == 1
    assert rows[2]["last_call"] == "MPI_Comm_dup" and rows[2]["open_ns"] is None
    text = tap("status", h.pid).out
    assert "ranks 0, 1, 3" in text and "rank 2 " in text
    tap("snapshot", "-q", "-o", "s.gputap", h.pid)
    assert sorted(c["rank"] for c in open_calls(tap, "s.gputap")) == [0, 1, 3]
    assert "ranks 0, 1, 3 in MPI_Barrier #" in tap("report", "s.gputap", "-t", "open").out
