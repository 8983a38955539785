# SPDX-License-Identifier: MIT
"""Test MPI messages between ranks: which rank waited for a send of which other rank."""
import json

import mpi_jobs
import pytest

STEPS, MS = 8, 30
WHOLE_NS = STEPS * MS * 1e6


@pytest.fixture(params=sorted(mpi_jobs.KINDS))
def kind(request):
    if not mpi_jobs.library_of(request.param):
        pytest.skip(f"needs {mpi_jobs.KINDS[request.param][0]}")
    return request.param


@pytest.fixture
def job(tap, work, kind):
    """Return a function: job("scene") runs the scene and returns {(rank, for rank): row} and {rank:
    row}."""
    def call(scene, *options):
        program = mpi_jobs.build(kind, work, "messages")
        tap("run", "-q", "-f", "-o", "job.gputap", *options, *mpi_jobs.launcher(kind, 3), program,
            scene, STEPS, MS, env={"TMPDIR": str(work)})
        found = json.loads(tap("report", "job.gputap", "-t", "ranks,rank_waits", "--json", "--top",
                               "0").out)
        return ({(row["rank"], row["for_rank"]): row for row in found["rank_waits"]},
                {row["rank"]: row for row in found["ranks"]})
    return call


def check_waited(row, ns):
    # ranks without a free processor are late themselves
    assert 0.2 * ns < row["message_wait_ns"] <= row["wait_ns"]


@pytest.mark.parametrize("scene", ["blocking", "one"])
def test_who_receives_waits_for_who_sends_late(job, scene):
    waits, rows = job(scene)
    check_waited(waits[0, 1], WHOLE_NS)
    assert rows[1]["caused_ns"] >= waits[0, 1]["wait_ns"] and rows[0]["messages"] == STEPS
    assert not (waits.get((1, 0)) or {}).get("message_wait_ns")
    assert rows[2]["message_wait_ns"] is None and rows[2]["messages"] == 0


def test_people_read_that_it_was_for_messages(job, tap):
    job("blocking")
    text = " ".join(tap("report", "job.gputap", "-t", "ranks,rank_waits").out.split())
    assert "Waits for other ranks in collective calls and for messages" in text
    assert "of it for messages, and was the last to arrive in " in text


def test_a_call_that_completes_several_waits_for_the_latest(job):
    waits, rows = job("begun")
    check_waited(waits[0, 1], 2 * WHOLE_NS)
    assert waits.get((0, 2), {"wait_ns": 0})["wait_ns"] < waits[0, 1]["wait_ns"]
    assert rows[0]["messages"] == STEPS


def test_a_call_that_completes_any_waits_for_the_one_that_it_completed(job):
    waits, rows = job("any")
    check_waited(waits[0, 2], 2 * WHOLE_NS)
    assert waits.get((0, 1), {"wait_ns": 0})["wait_ns"] < waits[0, 2]["wait_ns"]
    assert rows[0]["messages"] == 2 * STEPS


def test_messages_are_told_apart_by_their_tag(job):
    """The first message arrives immediately and is received after the second message. No rank waits
    for the first message."""
    waits, rows = job("tags")
    check_waited(waits[0, 1], WHOLE_NS)
    assert rows[0]["messages"] == 2 * STEPS


def test_an_exchange_waits_for_the_one_before(job):
    waits, rows = job("exchange")
    check_waited(waits[2, 1], WHOLE_NS)
    assert {row["messages"] for row in rows.values()} == {2 * STEPS}


def test_what_is_received_from_anybody_is_not_said(job):
    waits, rows = job("anybody")
    assert not any(row["message_wait_ns"] for row in waits.values())
    assert {row["messages"] for row in rows.values()} == {0}


def test_nobody_is_not_anybody(job):
    waits, _ = job("nobody")
    check_waited(waits[0, 1], WHOLE_NS)


def test_a_collective_that_is_only_begun_waits_where_it_is_completed(job):
    waits, rows = job("later")
    for rank in (0, 2):
        assert 0.2 * WHOLE_NS < waits[rank, 1]["wait_ns"]
        assert rows[rank]["compared"] == STEPS + 1  # +1: a barrier
    assert not any(row["message_wait_ns"] for row in waits.values())
