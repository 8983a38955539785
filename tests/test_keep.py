# SPDX-License-Identifier: MIT
"""`gputap run --keep`, the flight recorder: the last records, and all that they need, in bounded
space. Hours are made of seconds here: a window of 200 ms and programs that run for longer."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from processes import Tree, child_of, finish, sessions_of, tally, wait_until

WINDOW = 200_000_000  # ns, of --keep 200ms


@pytest.fixture
def tree(build, work):
    return Tree(build)


def kept_of(gputap, capture="c.gputap"):
    out = subprocess.run([gputap, "info", "--json", capture], stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout)


def folders(where="."):
    """What a flight recorder keeps beside its capture."""
    return sorted(pathlib.Path(where).glob(".*.keep"))


def size_of(folder):
    """Of files that come and go."""
    size = 0
    for path in folder.glob("*"):
        try:
            size += path.stat().st_size
        except FileNotFoundError:
            pass
    return size


def test_only_the_last_records_are_kept_and_the_counts_are_exact(tree, gputap, work):
    tree.run("calls:1000", "sleep:1500", "calls:500", options=["--keep", "200ms"])
    (process,) = tree.read()["processes"]
    assert process["count_calls"] == {
        "seen": 1501, "recorded": 500, "not_kept": 1001, "dropped": {}
    }
    kept = kept_of(gputap)["kept"]
    assert kept["window"] and kept["thinned"] and kept["reason"] == "end"
    assert kept["not_kept"] == 1001 and kept["asked_ns"] == WINDOW
    assert not folders()


def test_a_short_program_is_kept_whole(tree, gputap, work):
    tree.run("calls:1000", options=["--keep", "1h"])
    (process,) = tree.read()["processes"]
    assert process["calls"] == 1001
    info = kept_of(gputap)
    assert info["complete"] and not info["kept"]["thinned"] and info["kept"]["not_kept"] == 0


def test_the_capture_says_what_it_is(tree, tap, work):
    tree.run("calls:1000", "sleep:1500", "calls:500", options=["--keep", "200ms"])
    for command in ("info", "report"):
        said = " ".join(tap(command, "c.gputap").out.split())
        assert "1,001 records older than that were not kept" in said
        assert "lost" not in said.split("not kept")[0]
    assert tap("info", "c.gputap").out.startswith("c.gputap: complete")


def test_what_the_last_records_need_was_written_long_before(tree, tap, gputap, work):
    """The process, its thread, the device and the library: said once, when the program began."""
    tree.run("calls:1000", "sleep:1500", "calls:500", options=["--keep", "200ms"])
    info = kept_of(gputap)
    assert info["processes"][0]["exe"].endswith("caller")
    assert info["threads"] == 1 and info["processes"][0]["exit_status"] == 0
    assert "clGetPlatformInfo" in tap("report", "c.gputap").out


def test_processes_that_ended_before_are_left_out_and_counted(tree, gputap, work):
    steps = ["children:4,100", "sleep:4000", "calls:10"]
    tree.run(*steps, options=["--keep", "200ms"])
    info = kept_of(gputap)
    assert len(info["processes"]) == 1
    assert info["kept"]["processes_not_kept"] == 4
    assert info["kept"]["seen_in_processes_not_kept"] >= 400
    assert info["complete"]


def test_a_killed_program_leaves_its_last_moment(tree, gputap, work):
    process = tree.start(f"tally:{work}/tally", "calls:1000", "sleep:600", "forever",
                         options=["--keep", "200ms"])
    wait_until(lambda: tally(work / "tally") > 1100, "the last moment")
    os.kill(child_of(process), signal.SIGKILL)
    finish(process)
    (p,) = tree.read()["processes"]
    counts = p["count_calls"]
    assert counts["not_kept"] >= 1001
    assert counts["recorded"] + counts["not_kept"] >= tally(work / "tally")
    assert counts["recorded"] > 0


def test_what_a_killed_collector_kept_is_recovered(tree, tap, gputap, work):
    process = tree.start(f"tally:{work}/tally", "calls:1000", "sleep:1000", "forever",
                         options=["--keep", "200ms"])
    wait_until(lambda: tally(work / "tally") > 2000, "records of the window")
    child = child_of(process)
    (folder,) = sessions_of("c.gputap")
    process.kill()
    os.kill(child, signal.SIGKILL)
    finish(process)
    assert folders()
    tap("recover", folder)
    (p,) = tree.read()["processes"]
    counts = p["count_calls"]
    assert counts["not_kept"] >= 1001 and counts["recorded"] > 0
    kept = kept_of(gputap)["kept"]
    assert kept["reason"] == "recovered" and kept["thinned"]
    assert not folders() and not folder.exists()


def test_disk_is_bounded_by_bytes_where_the_window_would_take_more(tree, gputap, work):
    """Both bounds at once: here the bytes, as a minute would be some gigabytes."""
    process = tree.start("calls:30000000", options=["--keep", "1min,64M"])
    most = 0
    while process.poll() is None:
        most = max([most] + [size_of(folder) for folder in folders()])
    finish(process)
    assert 0 < most <= 64 << 20
    assert os.path.getsize("c.gputap") <= 64 << 20
    info = kept_of(gputap)
    assert info["seen"] == info["recorded"] + info["dropped"] + info["not_kept"]
    assert info["seen"] >= 30_000_000


@pytest.mark.parametrize("value", ["", "20", "s", "20s,", "20s,1", "1ms", "20s,2G,3", "-1s"])
def test_bad_values_are_refused_with_a_sentence(tree, work, value):
    result = tree.run("calls:1", options=["--keep", value], status=2)
    assert "--keep" in result.err
    assert not pathlib.Path("c.gputap").exists()


def test_compressed_captures_are_kept_too(tree, gputap, work):
    tree.run("calls:1000", "sleep:1500", "calls:5000", options=["--keep", "200ms", "--compress"])
    assert tree.read()["processes"][0]["calls"] == 5000
