# SPDX-License-Identifier: MIT
"""Test `gputap export`: how it chooses a format, which input it refuses, and its messages."""

import os
import stat
import pty
import re
import signal
import sqlite3
import subprocess

import pytest


@pytest.fixture
def capture(run, build, work):
    run([build / "tests/synth/synth", "--calls", "200", "--threads", "2", "-o", "t.gputap"])
    return work / "t.gputap"


FORMATS = {
    "t.pftrace": b"\x0a", "t.json": b"{", "t.json.gz": b"\x1f\x8b", "t.rpd": b"SQLite format 3",
    "t.rocpd": b"SQLite format 3", "t.csv": b"kind,"
}


@pytest.mark.parametrize("name", FORMATS)
def test_export_takes_the_format_from_the_extension(capture, tap, name):
    result = tap("export", capture, "-o", name)
    assert result.out == result.err == ""
    with open(name, "rb") as file:
        assert file.read(20).startswith(FORMATS[name])


def test_export_takes_the_format_that_is_named_whatever_the_extension(capture, tap, work):
    tap("export", capture, "-o", "trace.bin", "--format", "rpd")
    assert (work / "trace.bin").read_bytes().startswith(b"SQLite format 3")


@pytest.mark.parametrize("name, first", [("json", b"{"), (".json.gz", b"\x1f\x8b"),
                                         ("rpd", b"SQLite format 3")])
def test_a_format_may_be_named_by_its_extension(capture, tap, work, name, first):
    tap("export", capture, "--format", name, "-o", "out")
    assert (work / "out").read_bytes().startswith(first)


@pytest.mark.parametrize("command", ["export", "merge"])
@pytest.mark.parametrize("options", [["-o", "t.db"], ["-o", "t.x", "--format", "db"]])
def test_an_extension_of_two_formats_wants_a_choice(capture, tap, work, command, options):
    result = tap(command, capture, *options, status=2)
    assert "--format rpd" in result.err and "--format rocpd" in result.err
    assert os.listdir() == ["t.gputap"]


@pytest.mark.parametrize("name, table", [("rpd", "rocpd_api"), ("rocpd", "rocpd_info_agent")])
def test_a_named_format_decides_what_an_extension_of_two_is(capture, tap, name, table):
    tap("export", capture, "-o", "t.db", "--format", name)
    with sqlite3.connect("t.db") as database:
        tables = [n for n, in database.execute("select name from sqlite_master")]
    database.close()
    assert any(n.startswith(table) for n in tables)


def test_run_wants_a_choice_before_it_starts_the_program(tap, work):
    result = tap("run", "-o", "t.db", "touch", "started", status=2)
    assert ".rpd" in result.err and ".rocpd" in result.err
    assert os.listdir() == []


@pytest.mark.parametrize("output, near", [("t.pftrac", ".pftrace"), ("t.jso", ".json"),
                                          ("t.json.gzip", ".json.gz"), ("t.rdp", ".rpd"),
                                          ("t.v2.cvs", ".csv")])
def test_export_names_the_nearest_extension(capture, tap, work, output, near):
    result = tap("export", capture, "-o", output, status=2)
    assert f"did you mean '{near}'" in result.err
    assert not (work / output).exists()


def test_export_names_the_nearest_format(capture, tap):
    assert "did you mean 'perfetto'" in tap("export",
                                            capture,
                                            "-o",
                                            "x",
                                            "--format",
                                            "perfeto",
                                            status=2).err


def test_export_lists_the_extensions_when_none_is_near(capture, tap):
    result = tap("export", capture, "-o", "t.netcdf", status=2)
    for extension in (".pftrace", ".json", ".rpd", ".csv"):
        assert extension in result.err


def test_export_never_replaces_what_is_no_file(capture, tap, work):
    (work / "null.csv").symlink_to("/dev/null")
    os.mkfifo(work / "pipe.csv")
    for name in ("null.csv", "pipe.csv"):
        for force in ([], ["-f"]):
            assert f"{name} is not a regular file" in tap("export",
                                                          capture,
                                                          "-o",
                                                          name,
                                                          *force,
                                                          status=1).err
    assert (work / "null.csv").is_symlink() and stat.S_ISFIFO(os.stat(work / "pipe.csv").st_mode)


def test_export_keeps_what_exists_without_force(capture, tap, work):
    (work / "t.csv").write_text("mine")
    result = tap("export", capture, "-o", "t.csv", status=1)
    assert "t.csv exists" in result.err and "-f" in result.err
    assert (work / "t.csv").read_text() == "mine"
    tap("export", capture, "-o", "t.csv", "-f")
    assert (work / "t.csv").read_text() != "mine"


@pytest.mark.parametrize("arguments, complaint", [
    ((), "no capture given"),
    (("t.gputap",), "no output file"),
    (("t.gputap", "-o", "a.csv", "-o", "b.csv"), "twice"),
    (("t.gputap", "-o", "-"), "standard output"),
    (("t.gputap", "-o", "trace"), "no extension"),
    (("t.gputap", "--outptu", "t.csv"), "--output"),
    (("t.gputap", "-o"), "-o"),
])
def test_export_says_what_is_wrong_with_its_arguments(capture, tap, arguments, complaint):
    assert complaint in tap("export", *arguments, status=2).err


@pytest.mark.parametrize("content, complaint", [(None, "No such file"), (b"", "empty"),
                                                (b"not a capture" * 100, "capture")])
def test_export_says_what_is_wrong_with_its_input(tap, work, content, complaint):
    if content is not None:
        (work / "x.gputap").write_bytes(content)
    result = tap("export", "x.gputap", "-o", "t.csv", status=1)
    assert "x.gputap" in result.err and complaint in result.err
    assert not (work / "t.csv").exists()


def test_export_says_that_a_folder_is_none(tap, work):
    assert "directory" in tap("export", work, "-o", "t.csv", status=1).err


@pytest.mark.parametrize("output", ["missing/t.csv", "missing/t.rpd", "missing/t.pftrace"])
def test_export_says_that_it_cannot_write(capture, tap, output):
    result = tap("export", capture, "-o", output, status=1)
    assert output in result.err and "No such file or directory" in result.err


@pytest.mark.parametrize("name", FORMATS)
def test_export_of_a_full_disk_leaves_nothing(capture, gputap, run, work, name):
    """A file size limit of 8 KiB simulates a full disk. The shell ignores SIGXFSZ, which a write
    beyond the limit raises."""
    result = run(
        ["sh", "-c", f"ulimit -f 16; trap '' XFSZ; exec {gputap} export {capture} -o {name}"],
        status=None)
    if result.status == 0:
        assert (work / name).stat().st_size <= 16 * 512  # the output fitted
    else:
        assert result.status == 1 and name in result.err
        assert [p.name for p in work.iterdir()] == ["t.gputap"]


def test_export_reports_a_capture_without_an_end(run, build, tap, work):
    run([build / "tests/synth/synth", "--calls", "200", "--cut", "-o", "t.gputap"])
    assert "no end" in tap("export", "t.gputap", "-o", "t.csv", status=1).err
    assert (work / "t.csv").exists()


def test_export_reports_a_damaged_capture(capture, tap, work):
    data = bytearray(capture.read_bytes())
    middle = len(data) // 2
    data[middle:middle + 16] = b"\xff" * 16
    capture.write_bytes(data)
    assert "damaged" in tap("export", capture, "-o", "t.csv", status=1).err
    assert (work / "t.csv").exists()


def test_export_helps_by_example(tap):
    result = tap("export", "--help")
    assert "Examples" in result.out and "ui.perfetto.dev" in result.out
    for extension in (".pftrace", ".json.gz", ".rpd", ".csv"):
        assert extension in result.out


@pytest.mark.parametrize("name", ["t.rpd", "t.pftrace"])
def test_export_shows_progress_that_only_rises(run, build, gputap, work, name):
    run([build / "tests/synth/synth", "--calls", "1500000", "--threads", "2", "-o", "t.gputap"])
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen([gputap, "export", "t.gputap", "-o", name],
                          stderr=theirs,
                          stdout=subprocess.DEVNULL,
                          env=environment) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 4096)
            except OSError:
                break
            if not data:
                break
            shown += data
        os.close(ours)
    assert process.returncode == 0
    percents = [int(p) for p in re.findall(rb"(\d+)\s*%", shown)]
    assert percents == sorted(percents) and all(p <= 100 for p in percents)


def test_an_export_that_is_interrupted_leaves_nothing(run, build, gputap, work):
    run([build / "tests/synth/synth", "--calls", "1500000", "--threads", "2", "-o", "t.gputap"])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for _ in range(20):
            process = subprocess.Popen([gputap, "export", "-f", "t.gputap", "-o", "t.json"],
                                       cwd=work)
            while process.poll() is None and not list(work.glob(".t.json.*")):
                pass
            if process.poll() is None:
                process.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            caught = bool(list(work.glob(".t.json.*")))  # stopped while writing
            process.send_signal(number)
            process.send_signal(signal.SIGCONT)
            process.wait()
            assert not list(work.glob(".t.json.*"))
            if caught:
                break
        assert caught and process.returncode == -number
