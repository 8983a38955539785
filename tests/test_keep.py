# SPDX-License-Identifier: MIT
"""Test `gputap run --keep`, the flight recorder: it retains the last records and everything that
they need, in bounded space. Programs that run for some seconds with a time range of 200 ms take the
place of runs of hours."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

import pytest

from processes import Tree, child_of, finish, sessions_of, tally, wait_until

WINDOW = 200_000_000  # ns, as in --keep 200ms


@pytest.fixture
def tree(build, work):
    return Tree(build)


def kept_of(gputap, capture="c.gputap"):
    out = subprocess.run([gputap, "info", "--json", capture], stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout)


def folders(where="."):
    """Return the folders that a flight recorder keeps next to its capture."""
    return sorted(pathlib.Path(where).glob(".*.keep"))


def size_of(folder):
    """Return the size of a folder. The folder and its files may be deleted meanwhile."""
    size = 0
    try:
        for path in list(folder.iterdir()):
            size += path.stat().st_size if path.exists() else 0
    except FileNotFoundError:
        pass
    return size


def test_only_the_last_records_are_kept_and_the_counts_are_exact(tree, gputap, work):
    tree.run("calls:1000", "sleep:3000", "calls:500", options=["--keep", "200ms"])
    (process,) = tree.read()["processes"]
    assert process["count_calls"] == {
        "seen": 1501, "recorded": 500, "evicted": 1001, "dropped": {}
    }
    kept = kept_of(gputap)["retained"]
    assert kept["window"] and kept["thinned"] and kept["reason"] == "end"
    assert kept["evicted"] == 1001 and kept["requested_ns"] == WINDOW
    (calls,) = [r for r in kept_of(gputap)["records"] if r["class"] == "calls"]
    assert calls["seen"] == calls["recorded"] + calls["dropped"] + calls["evicted"] == 1501
    assert not folders()


def test_a_short_program_is_kept_whole(tree, gputap, work):
    tree.run("calls:1000", options=["--keep", "1h"])
    (process,) = tree.read()["processes"]
    assert process["calls"] == 1001
    info = kept_of(gputap)
    assert info["complete"] and not info["retained"]["thinned"] and info["retained"]["evicted"] == 0


def test_the_capture_says_what_it_is(tree, tap, work):
    tree.run("calls:1000", "sleep:3000", "calls:500", options=["--keep", "200ms"])
    for command in ("info", "report"):
        said = " ".join(tap(command, "c.gputap").out.split())
        assert "1,001 older records evicted" in said
        assert "lost" not in said.split("evicted")[0]
    assert tap("info", "c.gputap").out.startswith("c.gputap: complete")


def test_what_the_last_records_need_was_written_long_before(tree, tap, gputap, work):
    """The process, its thread, the device and the library are written once, when the program
    starts."""
    tree.run("calls:1000", "sleep:3000", "calls:500", options=["--keep", "200ms"])
    info = kept_of(gputap)
    assert info["processes"][0]["exe"].endswith("caller")
    assert info["threads"] == 1 and info["processes"][0]["exit_status"] == 0
    assert "clGetPlatformInfo" in tap("report", "--all", "c.gputap").out


def test_processes_that_ended_before_are_left_out_and_counted(tree, gputap, work):
    steps = ["children:4,100", "sleep:4000", "calls:10"]
    tree.run(*steps, options=["--keep", "200ms"])
    info = kept_of(gputap)
    assert len(info["processes"]) == 1
    assert info["retained"]["evicted_processes"] == 4
    assert info["retained"]["seen_in_evicted_processes"] >= 400
    assert info["complete"]


def test_a_killed_program_leaves_its_last_moment(tree, gputap, work):
    process = tree.start(f"tally:{work}/tally", "calls:1000", "sleep:600", "forever",
                         options=["--keep", "200ms"])
    wait_until(lambda: tally(work / "tally") > 1100, "the last moment")
    os.kill(child_of(process), signal.SIGKILL)
    finish(process)
    (p,) = tree.read()["processes"]
    counts = p["count_calls"]
    assert counts["evicted"] > 0
    assert counts["recorded"] + counts["evicted"] >= tally(work / "tally")
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
    assert counts["evicted"] > 0 and counts["recorded"] > 0
    kept = kept_of(gputap)["retained"]
    assert kept["reason"] == "recovered" and kept["thinned"]
    assert not folders() and not folder.exists()


def test_disk_is_bounded_by_bytes_where_the_window_would_take_more(tree, gputap, work):
    """Both limits apply. Here the size reaches its limit first, because a minute of records would
    take some gigabytes."""
    process = tree.start("calls:30000000", options=["--keep", "1min,64M"])
    most = 0
    while process.poll() is None:
        most = max([most] + [size_of(folder) for folder in folders()])
    finish(process)
    assert 0 < most <= 64 << 20
    assert os.path.getsize("c.gputap") <= 64 << 20
    info = kept_of(gputap)
    assert info["seen"] == info["recorded"] + info["dropped"] + info["evicted"]
    assert info["seen"] >= 30_000_000


@pytest.mark.parametrize("value", ["", "20", "s", "20s,", "20s,1", "1ms", "20s,2G,3", "-1s"])
def test_bad_values_are_refused_with_a_sentence(tree, work, value):
    result = tree.run("calls:1", options=["--keep", value], status=2)
    assert "--keep" in result.err
    assert not pathlib.Path("c.gputap").exists()


def test_compressed_captures_are_kept_too(tree, gputap, work):
    tree.run("calls:1000", "sleep:3000", "calls:5000", options=["--keep", "200ms", "--compress"])
    counts = tree.read()["processes"][0]["count_calls"]
    # on a busy machine, later calls are older than 200 ms as well
    assert counts["evicted"] >= 1000 and counts["recorded"] > 0
    assert counts["recorded"] + counts["evicted"] == counts["seen"] == 6001


# Snapshots ---------------------------------------------------------------------


def test_a_signal_takes_a_snapshot_while_the_program_goes_on(tree, gputap, work):
    process = tree.start("calls:1000", "sleep:1000", f"tally:{work}/tally", "calls:20",
                         f"wait:{work}/go", "calls:7",
                         options=["--keep", "200ms", "--snapshot-signal", "USR2"])
    wait_until(lambda: tally(work / "tally") >= 20, "the last calls")
    process.send_signal(signal.SIGUSR2)
    wait_until(pathlib.Path("c.1.gputap").exists, "the snapshot")
    assert process.poll() is None
    (work / "go").touch()
    result = finish(process)
    assert result.status == 0 and "wrote c.1.gputap" in result.err
    (p,) = tree.read("c.1.gputap")["processes"]
    assert p["count_calls"]["evicted"] > 0 and not p["ended"]
    assert p["count_calls"]["seen"] == 1021
    kept = kept_of(gputap, "c.1.gputap")["retained"]
    assert kept["reason"] == "signal" and kept["snapshot"] == 1
    (p,) = tree.read()["processes"]
    assert p["count_calls"]["seen"] == 1028 and p["ended"]


def test_without_keep_a_snapshot_has_all_so_far(tree, gputap, work):
    process = tree.start("calls:1000", f"tally:{work}/tally", "calls:20", f"wait:{work}/go",
                         "calls:7", options=["--snapshot-signal", "SIGUSR1"])
    wait_until(lambda: tally(work / "tally") >= 20, "calls")
    process.send_signal(signal.SIGUSR1)
    wait_until(pathlib.Path("c.1.gputap").exists, "the snapshot")
    (work / "go").touch()
    finish(process)
    (p,) = tree.read("c.1.gputap")["processes"]
    assert p["count_calls"] == {"seen": 1021, "recorded": 1021, "evicted": 0, "dropped": {}}
    info = kept_of(gputap, "c.1.gputap")
    assert info["complete"] and not info["retained"]["window"] and not info["retained"]["thinned"]
    assert tree.read()["processes"][0]["calls"] == 1028


def test_snapshots_take_the_next_free_name(tree, work):
    pathlib.Path("c.1.gputap").write_text("mine")
    process = tree.start(f"tally:{work}/tally", "calls:20", f"wait:{work}/go",
                         options=["--snapshot-signal", "USR1"])
    wait_until(lambda: tally(work / "tally") >= 20, "calls")
    process.send_signal(signal.SIGUSR1)
    wait_until(pathlib.Path("c.2.gputap").exists, "the snapshot")
    (work / "go").touch()
    finish(process)
    assert pathlib.Path("c.1.gputap").read_text() == "mine"


def test_a_snapshot_that_cannot_be_written_is_said_and_nothing_else_happens(tree, work):
    """The snapshot's file name would be one character too long."""
    long = "x" * 247
    process = tree.start(f"tally:{work}/tally", "calls:20", "sleep:1000", "calls:5",
                         options=["--snapshot-signal", "USR1"], capture=f"{long}.gputap")
    wait_until(lambda: tally(work / "tally") >= 20, "calls")
    process.send_signal(signal.SIGUSR1)
    result = finish(process)
    assert result.status == 0
    assert "cannot write a snapshot, recording continues" in result.err
    assert tree.read(f"{long}.gputap")["processes"][0]["calls"] == 26


def test_the_signal_still_is_the_programs_where_it_was_not_asked_for(tree, work):
    process = tree.start(f"tally:{work}/tally", "calls:20", "sleep:5000")
    wait_until(lambda: tally(work / "tally") >= 20, "calls")
    process.send_signal(signal.SIGUSR1)
    assert finish(process).status == -signal.SIGUSR1


# Triggers ------------------------------------------------------------------------


def test_a_call_that_took_long_triggers_a_snapshot(build, gputap, run, work):
    loop = build / "bench/opencl_loop"
    result = run([gputap, "run", "--trigger", "name=clBuildProgram and duration>1us", "-o",
                  "c.gputap", "--", loop, "", "kernels:100", "10"])
    kept = kept_of(gputap, "c.1.gputap")["retained"]
    assert kept["reason"] == "trigger" and kept["what"].startswith("clBuildProgram took ")
    assert "wrote c.1.gputap: clBuildProgram took" in result.err


def test_device_work_triggers_by_its_own_time(build, gputap, run, work):
    loop = build / "bench/opencl_loop"
    run([gputap, "run", "-q", "--keep", "1h", "--keep-after", "0", "--trigger",
         "kind=kernel and duration>1ns", "-o", "c.gputap", "--", loop, "", "profiling:1000", "10"])
    kept = kept_of(gputap, "c.1.gputap")["retained"]
    assert re.match(r"fill took [1-9][0-9.]* (ns|us|ms|s) in process ", kept["what"])


def test_a_failed_call_triggers(tree, gputap, build, run, work):
    """The program's clGetPlatformIDs() fails because no platform is found."""
    run([gputap, "run", "-q", "--trigger", "failed", "-o", "c.gputap", "--",
         build / "tests/opencl/cl_commands"], status=None)
    kept = kept_of(gputap, "c.1.gputap")["retained"]
    assert " failed with CL_" in kept["what"]


def test_what_meets_no_trigger_makes_no_snapshot(tree, work):
    tree.run("calls:1000", options=["--trigger", "name=clFinish or duration>1h"])
    assert sorted(p.name for p in work.iterdir() if p.suffix == ".gputap") == ["c.gputap"]


def test_a_call_is_found_among_many_that_might_have_met_the_trigger(tree, gputap, run, work):
    """The trigger checks the process of a call last. The collector is stopped until all calls have
    arrived."""
    shutil.copy(tree.caller, "other")
    script = f"kill -STOP $PPID; for i in 1 2 3 4; do {tree.caller} calls:2000; done; " \
             "./other calls:1; kill -CONT $PPID"
    run([gputap, "run", "-q", "--trigger", "process=other and not name=clGetPlatformIDs", "-o",
         "c.gputap", "--", "sh", "-c", script])
    kept = kept_of(gputap, "c.1.gputap")["retained"]
    assert kept["what"].startswith("clGetPlatformInfo took ")


def test_triggers_are_limited_in_number_and_what_is_left_out_is_said(tree, work):
    result = tree.run("calls:100000",
                      options=["--trigger", "name=clGetPlatformInfo", "--snapshots-most", "2"])
    names = sorted(p.name for p in work.iterdir() if p.suffix == ".gputap")
    assert len(names) <= 3 and "c.1.gputap" in names
    assert "too soon after a snapshot" in result.err


@pytest.mark.parametrize("options, said", [
    (["--trigger", "durtion>1ms"], "did you mean 'duration'?"),
    (["--trigger", "range=step"], "'range' is not available while the program runs"),
    (["--trigger", "kind="], "a value is missing here"),
    (["--keep-after", "1s"], "--keep-after needs --trigger"),
    (["--snapshots-most", "0", "--trigger", "failed"], "a number from 1"),
    (["--snapshot-signal", "KILL"], "one of the signals HUP"),
    (["--snapshot-signal", "USR1", "--stop-signal", "10"], "must differ from --start-signal"),
    (["--keep", "1s", "--trigger", "failed", "--keep-after", "2s"], "is longer than --keep:"),
])
def test_wrong_snapshot_options_are_refused(tree, work, options, said):
    assert said in tree.run("calls:1", options=options, status=2).err


def test_a_snapshot_of_a_busy_program_has_lost_nothing(tree, gputap, work):
    """Records in the rings at the time of a snapshot belong to the next snapshot and are not
    lost."""
    process = tree.start(f"tally:{work}/tally", "calls:3000000", "sleep:200", "calls:1",
                         options=["--keep", "1s", "--snapshot-signal", "USR1"])
    for number in range(1, 4):
        wait_until(lambda: tally(work / "tally") > number * 500_000, "calls")
        process.send_signal(signal.SIGUSR1)
        wait_until(pathlib.Path(f"c.{number}.gputap").exists, "the snapshot")
    finish(process)
    for number in range(1, 4):
        (p,) = tree.read(f"c.{number}.gputap")["processes"]
        assert not p["count_calls"]["dropped"], p
        assert kept_of(gputap, f"c.{number}.gputap")["complete"]
    assert tree.read()["processes"][0]["count_calls"]["seen"] == 3_000_002


# Records from before the window ------------------------------------------------------

OPEN_RANGES = r"""
#include <stdint.h>
#include <unistd.h>

int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
void roctxMarkA(const char *message);

int main(void)
{
	uint64_t job, short_job;

	roctxRangePushA("epoch");
	roctxRangePushA("gone");
	roctxRangePop();
	job = roctxRangeStartA("job");
	short_job = roctxRangeStartA("short job");
	roctxRangeStop(short_job);
	roctxMarkA("long ago");
	sleep(3);
	roctxRangePushA("step");
	roctxMarkA("now");
	roctxRangePop();
	roctxRangePop();
	roctxRangeStop(job);
	return 0;
}
"""


@pytest.fixture
def open_ranges(repo, build, work):
    (work / "open.c").write_text(OPEN_RANGES)
    library = build / "src/compat/roctx"
    subprocess.run(["cc", "-o", "open", "open.c", f"-L{library}", "-l:libroctx64.so.4",
                    f"-Wl,-rpath,{library}"], check=True)
    return work / "open"


def test_ranges_that_were_open_are_kept_and_those_that_had_ended_are_not(tap, gputap, open_ranges):
    tap("run", "--keep", "200ms", "-o", "c.gputap", "--", open_ranges)
    tap("export", "c.gputap", "-o", "c.csv")
    rows = pathlib.Path("c.csv").read_text()
    for name in ("epoch", "job", "step", "now"):
        assert f'message=""{name}""' in rows, name
    for name in ("gone", "short job", "long ago"):
        assert f'"{name}"' not in rows
    info = kept_of(gputap)
    assert info["complete"] and info["seen"] == info["recorded"] + info["evicted"]
    assert info["retained"]["thinned"]
    ranges = json.loads(tap("report", "--json", "-t", "ranges", "c.gputap").out)["ranges"]
    assert {r["name"] for r in ranges} >= {"epoch", "step", "job"}


# gputap snapshot ---------------------------------------------------------------------


def test_the_command_takes_a_snapshot_of_a_session_that_goes_on(tree, tap, gputap, work):
    process = tree.start(f"tally:{work}/tally", "calls:20", "sleep:4000", "calls:7")
    try:
        wait_until(lambda: tally(work / "tally") >= 20, "calls")
        said = tap("snapshot", str(process.pid)).err
        assert said.startswith("gputap: wrote ") and "c.1.gputap" in said
        tap("snapshot", str(process.pid), "-o", "mine.gputap")
        refused = tap("snapshot", str(process.pid), "-o", "mine.gputap", status=1).err
        assert refused == "gputap snapshot: mine.gputap exists: -f replaces it\n"
        other = tap("stop", "mine.gputap", status=1).err  # not the file that the session writes
        assert "no running session writes mine.gputap; running:" in other
        tap("snapshot", str(process.pid), "-f", "-o", "mine.gputap")
        assert process.poll() is None
    finally:
        assert finish(process).status == 0
    for name in ("c.1.gputap", "mine.gputap"):
        (p,) = tree.read(name)["processes"]
        assert p["count_calls"] == {"seen": 21, "recorded": 21, "evicted": 0, "dropped": {}}
        assert kept_of(gputap, name)["retained"]["reason"] == "command"


def ask(folder, request):
    """Send a request to a session's control socket and return the answer."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"{folder}/control")
        client.sendall(f"{request}\n".encode())
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def test_a_snapshot_replaces_nothing_but_regular_files_of_its_kind(tree, tap, work):
    (work / "notes.txt").write_text("mine")
    (work / "real.gputap").write_text("mine")
    (work / "link.gputap").symlink_to("real.gputap")
    (work / "nowhere.gputap").symlink_to("nothing")
    (work / "folder.gputap").mkdir()
    os.mkfifo(work / "pipe.gputap")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.gputap")
    before = {p.name: p.lstat().st_ino for p in work.iterdir()}
    process = tree.start(f"tally:{work}/tally", "calls:20", "wait:go")
    try:
        wait_until(lambda: tally(work / "tally") >= 20, "calls")
        (folder,) = sessions_of("c.gputap")
        answer = ask(folder, f"snapshot path={work}/notes.txt replace=yes")
        assert answer == "error a snapshot's name must end in .gputap\n"
        assert "end in .gputap" in ask(folder, f"snapshot path={work}/.gputap replace=yes")
        for name in ["link", "nowhere", "folder", "pipe", "socket"]:
            said = tap("snapshot", "-f", "-o", f"{name}.gputap", "c.gputap", status=1).err
            assert f"{name}.gputap is not a regular file; not modified" in " ".join(
                said.split()), said
        assert (work / "real.gputap").read_text() == (work / "notes.txt").read_text() == "mine"
        tap("snapshot", "-f", "-o", "real.gputap", "c.gputap")
    finally:
        (work / "go").touch()
        assert finish(process).status == 0
    after = {p.name: p.lstat().st_ino for p in work.iterdir()}
    assert {n: after[n] for n in before if n != "real.gputap"} == {
        n: i for n, i in before.items() if n != "real.gputap"}
    assert len(tree.read("real.gputap")["processes"]) == 1


def test_how_long_a_program_runs_is_not_said_of_a_cut_of_a_snapshot(tree, tap, work):
    """The last record of a cut need not be the last record of the snapshot."""
    process = tree.start(f"tally:{work}/tally", "calls:20", "sleep:4000", "calls:7")
    try:
        wait_until(lambda: tally(work / "tally") >= 20, "calls")
        tap("snapshot", str(process.pid), "-o", "mine.gputap")
    finally:
        finish(process)
    tap("export", "mine.gputap", "-o", "cut.gputap", "-w", "at>=0s")
    tap("export", "c.gputap", "-o", "ended.gputap", "-w", "at>=0s")
    said = {name: json.loads(tap("report", name, "--json").out)
            for name in ("mine.gputap", "cut.gputap", "ended.gputap")}
    known = {name: (report["processes"][0]["wall_ns"] is not None,
                    report["threads"][0]["call_share"] is not None)
             for name, report in said.items()}
    assert known == {"mine.gputap": (True, True), "cut.gputap": (False, False),
                     "ended.gputap": (True, True)}


def test_a_snapshot_without_its_session_is_a_sentence(tap, work):
    assert tap("snapshot", "nothing.gputap", status=1).err.strip()
    assert "must end in .gputap" in tap("snapshot", "-o", "x.json", status=2).err


def test_on_a_full_disk_the_oldest_records_make_room_and_what_is_lost_is_said(tree, gputap, work):
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    small = work / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", small], check=True)
    try:
        result = tree.run("calls:20000000", capture=small / "c.gputap",
                          options=["-q", "--keep", "1h,1G"])
        (p,) = tree.read(small / "c.gputap")["processes"]
        counts = p["count_calls"]
        assert counts["seen"] == 20_000_001
        assert counts["recorded"] > 0 and counts["evicted"] > 0
        assert bool(counts["dropped"]) == ("cannot write all of" in result.err)
        assert kept_of(gputap, small / "c.gputap")["retained"]["thinned"]
        assert not folders(small)
    finally:
        subprocess.run(["umount", small], check=True)


def test_with_too_few_descriptors_nothing_begins_or_all_is_kept(run, gputap, work):
    """A session either fails to start or can open its retained records at the end."""
    begun = []
    for limit in range(8, 48, 2):
        done = run(["sh", "-c", f"ulimit -n {limit}; exec '{gputap}' run -q -f -o c.gputap"
                    " --keep 1h true"], status=None)
        if done.status:
            assert "Too many open files" in done.err and "ulimit -n 1024" in done.err
        else:
            begun.append(limit)
            assert kept_of(gputap)["end"] == "complete" and not done.err
        assert not folders()
    assert 46 in begun
