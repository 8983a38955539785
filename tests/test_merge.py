# SPDX-License-Identifier: MIT
"""Test several captures as one: `gputap merge`, and every command that accepts several files."""

import json
import re
import shutil
import sqlite3

import pytest

BOOT_2 = ("--host", "host-b", "--boot", "2222")


@pytest.fixture
def synth(run, build, work):
    """Return a function: synth("a", "--calls", 100) writes a.gputap."""
    def write(name, *options):
        run([build / "tests/synth/synth", *options, "-o", f"{name}.gputap"])
        return f"{name}.gputap"
    return write


@pytest.fixture
def dump(run, build):
    def read(path, *options):
        return run([build / "tests/synth/dump", path, *options]).out
    return read


def items(text):
    """Return the records without their process number, which is a position in the file."""
    return sorted(
        re.sub(r" \d+/", " ", line, count=1)
        for line in text.splitlines()
        if re.match(r"\w+ \d+/\d+ ", line))


def query(path, sql):
    with sqlite3.connect(path) as db:
        return db.execute(sql).fetchall()


def info(tap, *files, status=0):
    return json.loads(tap("info", "--json", *files, status=status).out)


def test_merged_captures_hold_every_record_as_it_was(synth, dump, tap):
    options = ["--calls", 3000, "--nested", "--external", "--threads", 2]
    files = [
        synth(f"r{i}", *options, "--rank", i, "--pid", 5000 + 1000 * i, "--processes", 2)
        for i in range(3)
    ]
    assert tap("merge", *files, "-o", "job.gputap").err == ""
    whole = items(dump("job.gputap", "--items"))
    assert whole == sorted(line for file in files for line in items(dump(file, "--items")))
    assert len(whole) > 30000


def test_a_merged_capture_is_what_its_parts_are_together(synth, tap):
    files = [synth(f"r{i}", "--rank", i, "--pid", 5000 + 1000 * i) for i in range(4)]
    tap("merge", *files, "-o", "job.gputap")
    for arguments in (["--csv"], ["--csv", "--by", "process,name"]):
        assert tap("report", "job.gputap", *arguments).out == tap("report", *files, *arguments).out
    tap("export", "job.gputap", "-o", "job.csv")
    tap("merge", *files, "-o", "parts.csv")
    assert open("job.csv").read() == open("parts.csv").read()


def test_merging_goes_on_with_merged_captures(synth, dump, tap):
    files = [synth(f"r{i}", "--rank", i, "--pid", 5000 + 1000 * i) for i in range(4)]
    tap("merge", *files, "-o", "once.gputap")
    tap("merge", *files[:2], "-o", "half.gputap")
    tap("merge", "half.gputap", *files[2:], "-o", "twice.gputap")
    assert dump("twice.gputap", "--items") == dump("once.gputap", "--items")
    assert [s["path"] for s in info(tap, "twice.gputap")["sessions"]] == files


@pytest.mark.parametrize("command",
                         [["merge", "-fo", "x.gputap"], ["export", "-fo", "x.csv"], ["report"]])
def test_a_session_that_is_given_twice_counts_once_and_is_reported(synth, tap, command):
    a, b = synth("a"), synth("b", "--pid", 7000)
    shutil.copy(a, "copy.gputap")
    tap("merge", a, b, "-o", "ab.gputap")
    for files in (["ab.gputap", "copy.gputap", b], [a, b, "ab.gputap"]):
        result = tap(*command, *files)
        assert "2 sessions are given twice" in result.err
        if command[0] == "merge":
            assert info(tap, "x.gputap")["calls"] == 2000
        elif command[0] == "export":
            assert sum(line.startswith("call,") for line in open("x.csv")) == 2000
        else:
            assert "2,000 calls" in result.out


def damaged(work, file, out, at):
    data = bytearray((work / file).read_bytes())
    data[at if at >= 0 else len(data) + at] ^= 0xff
    (work / out).write_bytes(data)
    return out


@pytest.mark.parametrize("command",
                         [["merge", "-fo", "x.gputap"], ["export", "-fo", "x.csv"], ["report"]])
def test_of_several_copies_the_best_one_counts_wherever_it_is_given(synth, tap, work, command):
    a, b = synth("a", "--calls", 20000), synth("b", "--pid", 7000)
    bad = damaged(work, a, "bad.gputap", (work / a).stat().st_size // 2)
    (work / "cut.gputap").write_bytes((work / a).read_bytes()[:-9000])
    tap("merge", bad, b, "-o", "bad-b.gputap", status=1)
    for files in ([a, bad], [bad, a], ["cut.gputap", bad, a], ["bad-b.gputap", a], [
            a, "bad-b.gputap"
    ], ["cut.gputap", a, "bad-b.gputap", b]):
        result = tap(*command, *files)  # the command reads no damaged part
        assert re.search(r"[1-3] sessions? (is|are) given twice", result.err), result.err
        calls = 20000 + 1000 * ("bad-b.gputap" in files)
        if command[0] == "merge":
            assert info(tap, "x.gputap")["calls"] == calls, files
        elif command[0] == "export":
            assert sum(line.startswith("call,") for line in open("x.csv")) == calls, files
        else:
            assert f"{calls:,} calls" in result.out, files


def test_of_damaged_copies_the_one_counts_of_which_more_can_be_read(synth, tap, work):
    a = synth("a", "--calls", 20000)
    (work / "half.gputap").write_bytes((work / a).read_bytes()[:(work / a).stat().st_size // 2])
    bad = damaged(work, a, "bad.gputap", (work / a).stat().st_size // 2)
    best = info(tap, bad, status=1)["calls"]
    for files in (["half.gputap", bad], [bad, "half.gputap"]):
        tap("merge", "-f", *files, "-o", "x.gputap", status=1)
        assert info(tap, "x.gputap", status=1)["calls"] == best > info(tap, "half.gputap",
                                                                       status=1)["calls"]


def test_a_copy_that_was_cut_takes_nothing_from_a_session_that_is_in(synth, tap, work):
    a, b = synth("a"), synth("b", "--pid", 7000)
    (work / "half.gputap").write_bytes((work / a).read_bytes()[:-9000])
    result = tap("merge", a, b, "half.gputap", "-o", "ab.gputap")
    assert "1 session is given twice" in result.err and "half.gputap" not in result.err
    found = info(tap, "ab.gputap")
    assert found["end"] == "complete" and found["calls"] == 2000


def test_a_session_whose_first_section_block_is_damaged_is_known_by_its_last(synth, tap, work):
    a, b = synth("a"), synth("b", "--pid", 7000)
    tap("merge", a, b, "-o", "ab.gputap")
    # damage the session's id, which follows the file header and the block header
    damaged(work, "ab.gputap", "ab.gputap", 64 + 36)
    for files in (["ab.gputap", a], [a, "ab.gputap"], [b, "ab.gputap", a]):
        result = tap("merge", "-f", *files, "-o", "x.gputap")  # merges the undamaged copy
        assert (
            f"{len(files) - 1} session{'s are' if len(files) > 2 else ' is'} given twice (as a"
            " copy or in a merged capture): merged once"
            in result.err
        )
        assert info(tap, "x.gputap")["calls"] == 2000
        assert "2,000 calls" in tap("report", *files).out


def test_sessions_of_one_boot_keep_their_times_and_others_are_aligned_by_wall_clock(synth, tap):
    # host-b booted later, so its BOOTTIME is 520 ms behind; the wall clocks of both hosts agree
    files = [synth("a"), synth("b", "--start", 1040000000, "--pid", 5000),
             synth("c", *BOOT_2, "--start", 500000000, "--realtime-offset", 1700000000520000000)]
    result = tap("merge", *files, "-o", "job.gputap")
    assert (
        "1 session ran on another machine or boot than a.gputap" in result.err
        and "CLOCK_REALTIME" in result.err
    )
    a, c, b = info(tap, "job.gputap")["sessions"]
    assert [s["path"] for s in (a, c, b)] == ["a.gputap", "c.gputap", "b.gputap"]
    assert (a["at_ns"], a["clock"], a["shift_ns"]) == (0, "boot", 0)
    assert (b["at_ns"], b["clock"], b["shift_ns"]) == (40000000, "boot", 0)
    assert (c["at_ns"], c["clock"], c["shift_ns"]) == (20000000, "wall clock", 520000000)
    tap("export", "job.gputap", "-o", "job.csv")
    tap("export", "c.gputap", "-o", "c.csv")
    rows = [line.split(",") for line in open("job.csv") if re.match(r"(call|device),1000", line)]
    alone = [line.split(",") for line in open("c.csv")][1:]
    assert len(rows) == len(alone) > 1000
    for moved, still in zip(rows, alone):
        assert int(moved[7]) - int(still[7]) == int(moved[8]) - int(still[8]) == 520000000


def test_the_same_pid_on_several_hosts_boots_and_containers_stays_several_processes(synth, tap):
    files = [
        synth("a"),
        synth("host", *BOOT_2),
        synth("boot", "--boot", "3333"),
        synth("container", "--host", "pod-7"),
        synth("again")
    ]
    tap("merge", *files, "-o", "job.gputap")
    found = info(tap, "job.gputap")
    assert [p["pid"] for p in found["processes"]] == [4000] * 5
    assert sorted(s["node"] for s in found["sessions"]) == [0, 1, 2, 3, 4]
    tap("merge", *files, "-o", "job.rpd")
    assert query("job.rpd", "SELECT pid, count(*) FROM rocpd_api GROUP BY pid") == [
        (4000 + node * 10000000, 1000) for node in range(5)
    ]
    assert query("job.rpd",
                 "SELECT node, pid, count(*) FROM napi GROUP BY 1, 2") == [(node, 4000, 1000)
                                                                           for node in range(5)]


def test_processes_of_one_boot_share_a_node_while_their_pids_differ(synth, tap):
    tap("merge", *[synth(f"r{i}", "--pid", 5000 + i) for i in range(3)], "-o", "job.gputap")
    assert {s["node"] for s in info(tap, "job.gputap")["sessions"]} == {0}


def test_a_device_is_one_on_one_machine_and_another_on_another(synth, tap):
    files = [
        synth("a", "--devices", 2),
        synth("b", "--pid", 6000, "--devices", 2),
        synth("boot", "--boot", "3333"),
        synth("pod", "--host", "pod-7", "--pid", 8000),
        synth("c", *BOOT_2)
    ]
    tap("merge", *files, "-o", "job.gputap")
    devices = info(tap, "job.gputap")["devices"]
    assert [d["processes"] for d in devices] == [4, 2, 1]


def test_damage_of_an_input_is_reported_counted_and_costs_only_itself(synth, tap):
    a, b = synth("a", "--calls", 20000), synth("b", "--pid", 9000)
    data = bytearray(open(a, "rb").read())
    data[len(data) // 2] ^= 0xff
    open(a, "wb").write(data)
    before = info(tap, a, status=1)
    result = tap("merge", a, b, "-o", "job.gputap", status=1)
    assert "a.gputap is damaged" in result.err
    found = info(tap, "job.gputap", status=1)
    assert found["calls"] == before["calls"] + 1000 and found["dropped_by_reason"][
        "corrupt"] == before["dropped_by_reason"]["corrupt"]
    assert found["bad_bytes"] == before["bad_bytes"] > 0
    assert found["seen"] == found["recorded"] + found["dropped"] == before["seen"] + 1375
    tap("merge", "job.gputap", "-o", "again.gputap", status=1)
    assert info(tap, "again.gputap", status=1)["bad_bytes"] == before["bad_bytes"]


def test_inputs_that_were_cut_are_merged_and_reported(synth, tap):
    a, b, cut = synth("a"), synth("b", "--pid", 9000), synth("c", "--cut", "--pid", 7000)
    result = tap("merge", a, b, cut, "-o", "job.gputap", status=1)
    assert "c.gputap has no end" in result.err
    found = info(tap, "job.gputap", status=1)
    assert found["calls"] == 3000 and [s["end"] for s in found["sessions"]
                                       ] == ["complete", "complete", "cut"]


def test_a_merged_file_that_is_cut_is_read_as_far_as_it_goes(synth, tap, work):
    tap("merge", synth("a"), synth("b", "--pid", 9000), "-o", "job.gputap")
    whole = (work / "job.gputap").read_bytes()
    for size in range(64, len(whole), len(whole) // 40):
        (work / "cut.gputap").write_bytes(whole[:size])
        found = info(tap, "cut.gputap", status=1)
        assert found["end"] == "cut" and found["calls"] <= 2000
        if len(found["sessions"]) == 2:
            assert [s["end"] for s in found["sessions"]] == ["complete", "cut"]


def test_files_that_are_no_captures_are_left_out_and_reported(synth, tap, work):
    a, b = synth("a"), synth("b", "--pid", 9000)
    (work / "empty.gputap").touch()
    (work / "text.gputap").write_text("not a capture\n" * 20)
    result = tap("merge", a, "empty.gputap", "text.gputap", b, "-o", "job.gputap", status=1)
    assert (
        "left out: capture empty.gputap is empty" in result.err
        and "left out: text.gputap is not a gputap capture" in result.err
    )
    assert info(tap, "job.gputap")["calls"] == 2000
    assert "none of the 2 files is a capture" in tap("merge",
                                                     "empty.gputap",
                                                     "text.gputap",
                                                     "-o",
                                                     "x.gputap",
                                                     status=1).err
    assert not (work / "x.gputap").exists()


def test_a_file_that_is_not_there_ends_it_before_anything_is_written(synth, tap, work):
    a = synth("a")
    assert "No such file" in tap("merge", a, "b.gputap", "-o", "job.gputap", status=1).err
    assert sorted(p.name for p in work.iterdir()) == ["a.gputap"]


@pytest.mark.parametrize("arguments, complaint", [
    ((), "no captures given"),
    (("a.gputap",), "no output file"),
    (("a.gputap", "-o", "x.gputap", "-o", "y.gputap"), "twice"),
    (("a.gputap", "-o", "x.jso"), "did you mean '.json'"),
    (("a.gputap", "-o", "x.parquot"), "did you mean '.parquet'"),
    (("a.gputap", "-o", "x", "--format", "gputep"), "unknown format 'gputep'"),
    (("a.gputap", "--out", "x", "--ouptut"), "--ouptut"),
])
def test_merge_says_what_is_wrong_with_its_arguments(synth, tap, arguments, complaint):
    synth("a")
    assert complaint in tap("merge", *arguments, status=2).err


def test_merge_keeps_what_exists_without_force(synth, tap, work):
    a = synth("a")
    (work / "job.gputap").write_text("mine")
    assert "job.gputap exists: -f replaces it" in tap("merge", a, "-o", "job.gputap", status=1).err
    tap("merge", "-f", a, "-o", "job.gputap")
    tap("merge", a, "-o", "odd.name", "--format", "gputap")
    assert info(tap, "job.gputap")["calls"] == info(tap, "odd.name")["calls"] == 1000


def test_a_hundred_captures_are_one(synth, tap):
    files = [
        synth(f"r{i:02}", "--rank", i, "--pid", 5000 + 100 * (i % 10), "--host", f"node{i // 10}",
              "--boot", f"boot{i // 10}", "--calls", 200) for i in range(100)
    ]
    tap("merge", *files, "-o", "job.gputap")
    found = info(tap, "job.gputap")
    assert found["calls"] == 20000 and found["complete"]
    assert [s["rank"] for s in found["sessions"]] == list(range(100))
    assert len(found["devices"]) == 10
    for name in ("job.pftrace", "job.json.gz", "job.rpd", "job.csv"):
        tap("export", "job.gputap", "-o", name)
    assert query("job.rpd", "SELECT count(DISTINCT pid), count(*) FROM rocpd_api") == [(100, 20000)]


def test_memory_does_not_grow_with_the_captures(synth, run, gputap):
    def peak(*command):
        out = run(["/usr/bin/time", "-f", "%M", gputap, *command]).err
        return int(out.split()[-1])
    small = [synth(f"s{i}", "--calls", 1000, "--pid", 5000 + i) for i in range(4)]
    large = [synth(f"l{i}", "--calls", 400000, "--pid", 5000 + i) for i in range(4)]
    assert peak("merge", *large, "-o", "l.gputap") < peak("merge", *small, "-o", "s.gputap") + 8192


def test_ranks_of_a_real_program_come_together(tap, build, work, run):
    for rank in range(3):
        tap("run",
            "-q",
            "-o",
            f"rank{rank}.gputap",
            build / "tests/opencl/cl_basic",
            env={"RANK": str(rank)})
    tap("merge", "rank0.gputap", "rank1.gputap", "rank2.gputap", "-o", "job.gputap")
    parts = [info(tap, f"rank{rank}.gputap") for rank in range(3)]
    found = info(tap, "job.gputap")
    assert found["complete"] and [s["rank"] for s in found["sessions"]] == [0, 1, 2]
    for key in ("calls", "activities", "linked", "seen", "recorded", "dropped", "threads"):
        assert found[key] == sum(part[key] for part in parts)
    assert len(found["devices"]) == 1 and len(found["processes"]) == sum(
        len(part["processes"]) for part in parts)
    assert all(s["clock"] == "boot" for s in found["sessions"])
