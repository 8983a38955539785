# SPDX-License-Identifier: MIT
"""Test that the rank for which others wait is named: by `gputap status` while the job hangs, and by
the report of a snapshot and of a killed job. Real MPI jobs hang."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

import pytest

import mpi_jobs
from processes import wait_until

RANKS = 4


@pytest.fixture(params=sorted(mpi_jobs.KINDS))
def kind(request):
    if not mpi_jobs.library_of(request.param):
        pytest.skip("the MPI library is not installed")
    return request.param


def pids():
    return [int(p.read_text()) for p in pathlib.Path(".").glob("pid.*") if p.read_text()]


@pytest.fixture
def hang(gputap, work, kind):
    """Start a job that hangs, and wait until all ranks are there. Afterwards kill it."""
    started = []

    def start(how, rank, *, ranks=RANKS, each=False, steps=3):
        program = mpi_jobs.build(kind, work, "hang")
        traced = [gputap, "run", "-q", "-o"]
        command = [program, how, str(rank), str(steps)]
        if each:  # one session per rank
            line = " ".join(map(str, [*traced, "r.$$.gputap", *command]))
            command = [*mpi_jobs.launcher(kind, ranks), "sh", "-c", f"exec {line}"]
        else:
            command = [*traced, "c.gputap", "--", *mpi_jobs.launcher(kind, ranks), *command]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        started.append(process)
        wait_until(lambda: len(pids()) == ranks or process.poll() is not None, "ranks")
        return process

    yield start
    for process in started:
        end_job(process)


def status_of(pid):
    """Return the fields of a process's status after its name; None: the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def end_job(process):
    """Kill the ranks, while their launcher is stopped: it would kill gputap as well."""
    ranks = pids()
    collectors, launchers = [], []
    if process.args[1] != "run":
        collectors = [int(f[1]) for f in map(status_of, ranks) if f]
        for pid in collectors:
            while pid != process.pid and (fields := status_of(pid)) and fields[1] not in "01":
                pid = int(fields[1])
                launchers.append(pid)
    for pid in launchers:
        send(pid, signal.SIGSTOP)
    for pid in ranks:
        send(pid, signal.SIGKILL)
    wait_until(lambda: all((status_of(pid) or "Z")[0] == "Z" for pid in collectors), "captures")
    for pid in launchers:
        send(pid, signal.SIGKILL)
    process.wait()


def send(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def sentences(gputap, *session):
    out = subprocess.run([gputap, "status", "--json", *map(str, session)], stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    return [row["sentence"] for row in json.loads(out)["waiting_ranks"]]


def wait_for_verdict(gputap, begin, *session):
    """Return the sentences once one begins with @begin."""
    found = []

    def look():
        found[:] = sentences(gputap, *session)
        return any(s.startswith(begin) for s in found)

    wait_until(look, begin)
    return found


def words(text):
    return " ".join(text.split())


WAITS = {
    "loop": "Rank 2 has not entered MPI_Barrier #5 on MPI_COMM_WORLD; ranks 0, 1 and 3 wait there",
    "sleep": "Rank 2 has not entered MPI_Barrier #5 on MPI_COMM_WORLD; ranks 0, 1 and 3 wait there",
    "other": "Ranks 0, 1 and 3 wait in MPI_Allreduce #5 for",
    "recv": "Rank 2 waits for a message from rank 3 in MPI_Recv for",
    "cycle": "Ranks 0 to 3 wait for each other",
}


@pytest.mark.parametrize("how", sorted(WAITS))
def test_the_rank_that_others_wait_for_is_named_while_it_hangs(hang, gputap, how):
    process = hang(how, 2)
    found = wait_for_verdict(gputap, WAITS[how], process.pid)
    if how == "sleep":
        assert any(s.startswith("Rank 2 is outside any call") and
                   s.endswith("sleeping (its last call: MPI_Allreduce).") for s in found)
    if how == "other":
        assert "rank 2 in MPI_Bcast #5 on MPI_COMM_WORLD: the collective calls differ." in found[0]
    if how == "recv":
        assert "rank 3 is outside any call for" in found[0]
    if how == "cycle":
        assert "rank 0 in MPI_Recv for rank 1" in found[0]


def test_sessions_of_one_job_are_one_verdict(hang, gputap):
    hang("sleep", 1, each=True)
    wait_for_verdict(gputap, "Rank 1 has not entered MPI_Barrier #5 on MPI_COMM_WORLD; ranks 0, 2 "
                             "and 3 wait there")


def test_the_report_of_a_snapshot_names_the_rank(hang, gputap, tap):
    process = hang("sleep", 2)
    wait_for_verdict(gputap, WAITS["sleep"], process.pid)
    tap("snapshot", "-q", "-o", "snap.gputap", process.pid)
    for options in ([], ["-t", "ranks"]):
        out = words(tap("report", "snap.gputap", *options).out)
        assert WAITS["sleep"] in out
        assert "Rank 2 is outside any call for" in out
        assert "(its last call there: MPI_Allreduce #4)" in out


def test_the_verdict_is_data(hang, gputap, tap):
    process = hang("loop", 2)
    wait_for_verdict(gputap, "Rank 2 has not entered", process.pid)
    tap("snapshot", "-q", "-o", "s.gputap", str(process.pid))
    live = json.loads(tap("status", "--json", str(process.pid)).out)["waiting_ranks"]
    stored = json.loads(tap("report", "--json", "s.gputap", status=None).out)["waiting_ranks"]
    for rows in live, stored:
        assert [(r["ranks"], r["call"], r["number"]) for r in rows[:1]] == [([2], "MPI_Barrier", 5)]
        assert rows[0]["sentence"].startswith("Rank 2 has not entered MPI_Barrier #5 on ")
        assert rows[1]["ranks"] == [2]


def test_a_communicator_of_some_ranks_is_matched_in_a_snapshot(hang, gputap, tap):
    process = hang("split", 2)
    wait_for_verdict(gputap, "Rank 0 waits in MPI_Barrier #2 for", process.pid)
    tap("snapshot", "-q", "-o", "snap.gputap", process.pid)
    out = words(tap("report", "snap.gputap").out)
    assert ("Rank 2 has not entered MPI_Barrier #2 on a communicator of 2 ranks; rank 0 waits "
            "there for") in out


def test_the_report_of_a_job_that_was_interrupted_names_the_rank(hang, gputap, tap):
    process = hang("sleep", 2)
    wait_for_verdict(gputap, WAITS["sleep"], process.pid)
    process.send_signal(signal.SIGTERM)
    for pid in pids():
        send(pid, signal.SIGKILL)
    process.wait()
    assert WAITS["sleep"] in words(tap("report", "c.gputap").out)


def test_a_rank_that_is_killed_is_named(hang, tap):
    hang("killed", 2).wait()
    out = words(tap("report", "c.gputap").out)
    assert "Rank 2 has not entered MPI_Barrier #5 on MPI_COMM_WORLD" in out


def test_captures_of_the_ranks_give_one_verdict(hang, gputap, tap):
    hang("sleep", 1, each=True)
    wait_for_verdict(gputap, "Rank 1 has not entered MPI_Barrier #5")
    captures = []
    for pid in pids():
        captures.append(f"snap{pid}.gputap")
        tap("snapshot", "-q", "-o", captures[-1], pid)
    assert len(captures) == RANKS
    out = words(tap("report", *captures).out)
    assert "Rank 1 has not entered MPI_Barrier #5 on MPI_COMM_WORLD" in out


def test_a_job_that_ends_has_no_verdict(hang, tap):
    assert hang("none", -1, steps=20).wait() == 0
    assert "Waiting" not in tap("report", "c.gputap").out
