# SPDX-License-Identifier: MIT
"""Test bad input to commands: each command prints one clear sentence to stderr and nothing to
stdout, and exits with status 1 or 2."""

import os
import shlex
import shutil
import struct
import tempfile

import pytest

READERS = ["report", "info"]


@pytest.fixture
def capture(run, build, work):
    run([build / "tests/synth/synth", "--calls", "3000", "-o", "a.gputap"])
    return work / "a.gputap"


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def newer(path):
    """Give the capture a format version far above the current one."""
    data = bytearray(path.read_bytes())
    data[8:10] = struct.pack("<H", 77)
    data[60:64] = struct.pack("<I", crc32c(data[:60]))
    path.write_bytes(data)


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("make, says", [
    (lambda p: p.unlink(), "No such file or directory"),
    (lambda p: (p.unlink(), p.mkdir()), "Is a directory"),
    (lambda p: p.write_bytes(b""), "is empty"),
    (lambda p: p.write_bytes(p.read_bytes()[:13]), "is truncated within its first 64 bytes"),
    (lambda p: p.write_bytes(b"#!/bin/sh\necho hello\n" * 9), "is not a gputap capture"),
    (newer, "use a newer gputap"),
], ids=["missing", "directory", "empty", "tiny", "no capture", "newer"])
def test_what_is_no_capture_is_refused(tap, capture, command, make, says):
    make(capture)
    result = tap(command, "a.gputap", status=1)
    assert result.out == ""
    lines = result.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith(
        f"gputap {command}: ") and says in lines[0] and "a.gputap" in lines[0]
    assert "Bad message" not in lines[0] and "No data" not in lines[0]


@pytest.mark.parametrize("command", READERS)
def test_an_unreadable_capture_is_refused(run, gputap, capture, command):
    """Root can read every file, so as root the test starts a copy of gputap under user id 65534."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(gputap, folder)
        locked = shutil.copy(capture, folder)
        os.chmod(program, 0o755)
        os.chmod(locked, 0)
        nobody = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        result = run([*nobody, program, command, locked], status=1)
    assert result.out == "" and "Permission denied" in result.err


@pytest.mark.parametrize("command", READERS)
def test_a_capture_cut_anywhere_is_read_as_far_as_it_is_valid(tap, capture, command):
    data = capture.read_bytes()
    for length in range(64, len(data), len(data) // 37):
        capture.write_bytes(data[:length])
        result = tap(command, "a.gputap", status=None)
        assert result.status == 1, result
        if result.out:
            assert "no end" in result.out, result
        else:
            assert len(result.err.splitlines()) == 1, result


def test_damage_is_reported_and_the_rest_is_read(tap, capture):
    data = bytearray(capture.read_bytes())
    middle = len(data) // 2
    data[middle:middle + 16] = bytes(16)
    capture.write_bytes(data)
    assert "The capture is damaged" in tap("report", "a.gputap", status=1).out
    info = tap("info", "a.gputap", status=1).out
    assert info.startswith("a.gputap: not complete\n") and "damaged" in info


def test_a_capture_without_its_session_does_not_make_one_up(tap, capture):
    capture.write_bytes(capture.read_bytes()[:80])
    for command in ("report", "info"):
        out = tap(command, "a.gputap", status=1).out
        assert "command, time and host are not in the readable part" in out
        assert "1970" not in out


def test_one_bad_file_of_several_spoils_a_sum(tap, capture):
    result = tap("report", "a.gputap", "b.gputap", status=1)
    assert "b.gputap" in result.err and result.out == ""


@pytest.mark.parametrize("arguments, says", [
    (["reprot"], "did you mean 'report'?"),
    (["a.gputap"], "did you mean 'gputap report a.gputap'?"),
    (["clinfo"], "did you mean 'gputap run clinfo'?"),
    ([""], "unknown command ''"),
    (["frobnicate"],
     "valid: run, attach, detach, report, diff, export, info, merge, list, recover, top, doctor, "
     "plugin, soft, start, stop, status, snapshot, what-if, help"),
    (["-o", "x"], "unknown option -o before the command"),
    (["--versoin"], "unknown option --versoin before the command; did you mean --version?"),
    (["report"], "no capture given"),
    (["info"], "no capture given"),
    (["report", "a.gputap", "--tpo", "3"], "did you mean --top?"),
    (["report", "a.gputap", "--jsn"], "did you mean --json?"),
    (["report", "a.gputap", "-Q"], "unknown option -Q"),
    (["report", "a.gputap", "-n"], "option -n (--top) needs a value"),
    (["report", "a.gputap", "--top"], "option --top needs a value"),
    (["report", "a.gputap", "--json=yes"], "option --json takes no value"),
    (["report", "a.gputap", "--top", "many"], "--top needs a number of rows, not 'many'"),
    (["report", "a.gputap", "--top", "-3"], "--top needs a number of rows"),
    (["report", "a.gputap", "--sort", "totl_ns"], "did you mean 'total_ns'?"),
    (["report", "a.gputap", "--sort", "colour"], "unknown column 'colour'"),
    (["report", "a.gputap", "--by", "devise"], "did you mean 'device'?"),
    (["report", "a.gputap", "--table", "kernel"], "did you mean 'kernels'?"),
    (["report", "a.gputap", "--where", "nmae=x"], "did you mean 'name'?"),
    (["report", "a.gputap", "--sort", "foo"], "valid: rank, caused_ns"),
    (["report", "a.gputap", "--sort", "meen"], "did you mean 'mean'?"),
    (["report", "a.gputap", "--where", "pid=4"], "unknown field 'pid'; valid: name domain"),
    (["report", "a.gputap", "--where", "kind=kernal"
      ], "unknown kind 'kernal'; did you mean 'kernel'?"),
    (["report", "a.gputap", "--where", "failed or domain != opncl"
      ], "unknown domain 'opncl'; did you mean 'opencl'?"),
    (["report", "a.gputap", "--where", "kind=nonsense"
      ], "unknown kind 'nonsense'; kinds of calls: launch"),
    (["report", "a.gputap", "--json", "--csv"], "choose one"),
    (["list", "opertions"], "did you mean 'operations'?"),
    (["list", "operations", "--group", "quue"], "did you mean 'queue'?"),
    (["list", "operations", "--domain", "openlc"], "did you mean 'opencl'?"),
    (["list", "operations", "--kind", "memcopy"], "did you mean 'memcpy'?"),
    (["info", "--al", "--jsin", "a.gputap"], "did you mean --json?"),
    (["doctor", "--jason"], "did you mean --json?"),
    (["doctor", "everything"], "takes no 'everything'"),
    (["help", "reprot"], "did you mean 'report'?"),
])
def test_a_wrong_word_is_answered_with_the_right_one(tap, capture, arguments, says):
    result = tap(*arguments, status=2)
    assert result.out == ""
    assert says in result.err, result


def test_kinds_and_domains_may_be_patterns(tap, capture):
    assert "records" not in tap("report", "a.gputap", "--where", "kind=command* and domain!=h*").err


def test_nothing_named_like_a_pattern_is_reported(tap):
    assert "did you mean 'clEnqueueNDRangeKernel'?" in tap("list",
                                                           "operations",
                                                           "clEnqeueNDRangeKernel",
                                                           status=1).err
    assert "no name matches 'nothing*'" in tap("list", "operations", "nothing*", status=1).err


def test_output_that_cannot_be_written_is_reported(gputap, capture, run):
    result = run(["sh", "-c", f"'{gputap}' report a.gputap > /dev/full"], status=1)
    assert "cannot write to standard output: No space left on device" in result.err


@pytest.mark.parametrize("command", [
    ["report", "--html", "a.gputap"], ["list", "operations"], ["export", "--help"],
    ["diff", "a.gputap", "b.gputap"], ["diff", "--json", "a.gputap", "b.gputap"]
])
def test_a_full_device_is_named_as_such(gputap, build, capture, run, work, command):
    run([build / "tests/synth/synth", "--calls", "2000", "--seed", "7", "-o", "b.gputap"])
    words = shlex.join([str(gputap), *command])
    result = run(["sh", "-c", f"{words} > /dev/full"], status=None)
    assert result.status and "No space left on device" in result.err
    assert "Input/output error" not in result.err


@pytest.mark.parametrize("command", [["report", "--html", "a.gputap"],
                                     ["diff", "a.gputap", "b.gputap"],
                                     ["diff", "--json", "a.gputap", "b.gputap"]])
def test_a_file_that_cannot_take_its_content_is_named_with_the_reason(
        gputap, build, capture, run, work, command):
    """A file size limit of 0 simulates a full disk. The shell ignores SIGXFSZ, which a write beyond
    the limit raises."""
    run([build / "tests/synth/synth", "--calls", "2000", "--seed", "7", "-o", "b.gputap"])
    words = shlex.join([str(gputap), *command, "-o", "out"])
    result = run(["sh", "-c", f"ulimit -f 0; trap '' XFSZ; exec {words}"], status=None)
    assert result.status and "cannot write out: " in result.err
    assert "File too large" in result.err and "Input/output error" not in result.err
    assert not list(work.glob("*out*"))
