# SPDX-License-Identifier: MIT
"""Test kernels of collectives over the ranks of a job: which rank waited on the device for which
other rank. Our library has NCCL's names, and its kernels really wait for each other
(tests/cuda)."""
import json
import subprocess

import pytest

from conftest import REPO

STEPS, LATE, LATE_MS, SIZE = 6, 1, 40, 3
JOB = 'for RANK in $(seq 0 $((WORLD_SIZE - 1))); do RANK=$RANK "$@" & done; wait'
EARLY = sorted(set(range(SIZE)) - {LATE})


@pytest.fixture(scope="session")
def parts(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nccl_ranks")
    driver = build / "soft/cuda/libcuda.so.1"
    common = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}"]
    for words in ([*common, "-shared", "-fPIC", REPO / "tests/cuda/nccl_kernels.c", "-o",
                   folder / "kernels.so"],
                  [*common, "-shared", "-fPIC", REPO / "tests/cuda/nccl_library.c",
                   "-Wl,-soname,libnccl.so.2", "-o", folder / "libnccl.so.2", driver],
                  [*common, REPO / "tests/cuda/nccl_program.c", "-o", folder / "program",
                   folder / "libnccl.so.2", driver, f"-Wl,-rpath,{folder}"]):
        subprocess.run(list(map(str, words)), check=True)
    return folder


@pytest.fixture
def job(run, gputap, parts, work):
    """Return a function: job("scene") traces a job and returns its rank waits, its ranks, and the
    report's text."""
    def call(scene, *options, size=SIZE, domains="nccl,cuda_driver"):
        run([gputap, "run", "-q", "-f", "-d", domains, "-o", "job.gputap", *options, "--", gputap,
             "soft", "cuda", "sh", "-c", JOB, "sh", parts / "program", scene, work / "shared",
             STEPS, LATE, LATE_MS],
            env={"WORLD_SIZE": str(size), "NCCL_KERNELS": str(parts / "kernels.so")}, timeout=100)
        return tables(run, gputap, "job.gputap")
    return call


def tables(run, gputap, *words):
    words = [gputap, "report", *words, "-t", "ranks,rank_waits"]
    found = json.loads(run([*words, "--json", "--top", "0"]).out)
    waits = {(row["rank"], row["for_rank"]): row for row in found["rank_waits"]}
    text = " ".join(run(words, env={"COLUMNS": "80"}).out.split())
    return waits, {row["rank"]: row for row in found["ranks"]}, text


def check_late_rank(waits, rows, calls=STEPS):
    """Check every step except the first, in which ranks start at different times."""
    for rank in EARLY:
        row = waits[rank, LATE]
        assert (STEPS - 1) * LATE_MS * 1e6 * 0.2 < row["wait_ns"] == row["device_wait_ns"]
        assert rows[rank]["device_wait_ns"] <= rows[rank]["kernel_ns"]
    assert rows[LATE]["caused_ns"] == max(row["caused_ns"] for row in rows.values())
    assert {row["compared"] for row in rows.values()} == {calls}


def test_the_rank_that_launches_late_is_the_one_that_kernels_wait_for(job):
    waits, rows, text = job("solo")
    check_late_rank(waits, rows)
    assert "Ranks: rank 1 on " in text and "cannot be compared" not in text


def test_a_capture_of_each_rank_is_the_same(run, gputap, parts, work):
    for rank in range(2):
        command = [gputap, "run", "-q", "-d", "nccl,cuda_driver", "-o", "r%r.gputap", "--", gputap,
                   "soft", "cuda", parts / "program", "solo", work / "shared", STEPS, LATE, LATE_MS]
        env = {"RANK": str(rank), "WORLD_SIZE": "2", "NCCL_KERNELS": str(parts / "kernels.so")}
        if rank:
            run(command, env=env, timeout=100)
        else:
            import os
            first = subprocess.Popen(list(map(str, command)), cwd=work, env={**os.environ, **env})
    assert first.wait(100) == 0
    waits, rows, _ = tables(run, gputap, "r0.gputap", "r1.gputap")
    assert {row["compared"] for row in rows.values()} == {STEPS}
    assert waits[0, 1]["device_wait_ns"] > (STEPS - 1) * LATE_MS * 1e6 * 0.2


def test_what_a_group_makes_one_kernel_of_is_compared_once(job):
    waits, rows, _ = job("group")
    check_late_rank(waits, rows)
    assert {row["kernels"] for row in rows.values()} == {STEPS}


def test_communicators_of_a_split_are_told_apart(job):
    """Ranks 0 and 2 share a communicator. Rank 1 is alone in the other communicator, so no rank
    waits for it."""
    waits, rows, _ = job("split")
    assert {pair for pair in waits} <= {(0, 2), (2, 0)}
    assert [rows[rank]["compared"] for rank in (0, 2)] == [STEPS, STEPS]


def test_a_group_of_two_communicators_is_told_apart_by_streams(job):
    waits, rows, _ = job("two")
    check_late_rank(waits, rows, calls=2 * STEPS)


def test_two_communicators_on_one_stream_are_not_guessed(job):
    waits, rows, text = job("shared")
    assert not waits and rows[0]["kernels"] == 2 * STEPS
    assert f"{2 * STEPS * SIZE} of {2 * STEPS * SIZE} kernels of collectives cannot be" in text


def test_all_wait_for_the_root_of_a_broadcast(job):
    waits, rows, _ = job("broadcast")
    for rank in EARLY:
        assert waits[rank, LATE]["device_wait_ns"] > (STEPS - 1) * LATE_MS * 1e6 * 0.2
    assert {row["compared"] for row in rows.values()} == {2 * STEPS}


def test_a_kernel_that_receives_waits_for_the_one_that_sends(job):
    """In the ring, rank 2 receives the data that rank 1 sends."""
    waits, rows, _ = job("ring")
    row = waits[2, LATE]
    assert (STEPS - 1) * LATE_MS * 1e6 * 0.2 < row["message_wait_ns"] == row["device_wait_ns"]
    assert {row["messages"] for row in rows.values()} == {2 * STEPS}


def test_kernels_of_a_graph_are_left_out_and_it_is_said(job):
    waits, rows, text = job("graph")
    assert not waits
    assert f"{STEPS * SIZE} of {STEPS * SIZE} kernels of collectives cannot be compared, " \
        "because graphs launched them" in text


@pytest.mark.parametrize("domains", ["nccl", "cuda_driver"])
def test_where_their_calls_are_not_recorded_it_is_said(job, domains):
    waits, _, text = job("solo", domains=domains)
    assert not waits
    assert "cannot be compared, because the calls that launched them were not recorded" in text
    assert "-d nccl,cuda_driver" in text
