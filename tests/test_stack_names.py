# SPDX-License-Identifier: MIT
"""Test that a capture contains the names of its call stack frames. Reports show these names even if
the program's files are missing."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

from processes import child_of, sessions_of, wait_until


def has_libdw():
    try:
        ctypes.CDLL("libdw.so.1")
    except OSError:
        return False
    return True


needs_libdw = pytest.mark.skipif(not has_libdw(), reason="libdw is not here")


@pytest.fixture
def program(run, repo, work):
    run(["gcc", "-g", "-w", "-O2", repo / "tests/stacks/stacks_program.c", "-o", "stacks_program",
         "-lOpenCL", "-pthread"])
    return work / "stacks_program"


@pytest.fixture
def read(tap):
    """Return a function: rows() returns the rows of table stacks."""
    def rows(capture="s.gputap"):
        return json.loads(tap("report", capture, "-t", "stacks", "--json").out)["stacks"]
    return rows


def fills(rows):
    return [row["stack"] for row in rows
            if row["name"] == "memset" and row["device_ns"] is not None]


def functions(stack):
    return [re.match(r"[\w.+~:]+", frame)[0] for frame in stack]


WAYS = [["launch_fill", "middle", "other", "main"], ["launch_fill", "middle", "outer", "main"]]
WAITING = ["launch_fill", "middle", "outer", "launch_and_wait", "main"]


def test_names_and_lines_are_those_that_the_files_have(program, tap, read):
    """With or without the program's files, the names from the capture equal the names that the
    files give."""
    tap("run", "-q", "--stacks", "-o", "s.gputap", program, "plain", 3)
    tap("run", "-q", "--stacks=no-names", "-o", "none.gputap", program, "plain", 3)
    there, by_files = read(), read("none.gputap")
    program.unlink()
    assert sorted(fills(read())) == sorted(fills(there)) == sorted(fills(by_files))
    assert sorted(map(functions, fills(read()))) == WAYS
    assert not any("+0x" in frame for frame in sum(fills(read()), []))
    assert all("+0x" in stack[0] for stack in fills(read("none.gputap")))


@needs_libdw
def test_inlined_functions_travel_with_their_lines(program, tap, read):
    tap("run", "-q", "--stacks", "-o", "s.gputap", program, "inlined")
    program.unlink()
    (stack,) = fills(read())
    assert functions(stack) == ["launch_fill", "inlined_helper", "around", "main"]
    assert all(re.search(r" at stacks_program.c:\d+$", frame) for frame in stack)


def test_a_program_that_was_replaced_since_has_the_names_that_it_had(program, tap, read, run):
    tap("run", "-q", "--stacks", "-o", "s.gputap", program, "plain", 1)
    before = read()
    run(["gcc", "-xc", "-", "-o", program], stdin="int main(void) { return 0; }")
    assert read() == before


def test_without_time_for_lines_there_are_functions(program, tap, read):
    said = tap("run", "--stacks=lines:0", "-o", "s.gputap", program, "plain", 1).err
    assert "source lines" not in said  # source lines were not requested
    program.unlink()
    assert sorted(map(functions, fills(read()))) == WAYS
    assert not any(" at " in frame for frame in sum(fills(read()), []))


@pytest.mark.parametrize("code", ["for (;;) pause()", "for (;;)"])
def test_lines_that_take_too_long_are_left_out_and_that_is_said(program, tap, read, strange_libdw,
                                                               code):
    """The run ends even if the search for source lines does not."""
    said = tap("run", "--stacks=lines:100ms", "-o", "s.gputap", program, "plain", 1,
               env=strange_libdw(code)).err
    assert re.search(r"\d+ of \d+ frames have no source lines in the capture: the search "
                     r"ended after 100 ms", " ".join(said.split()))
    program.unlink()
    assert sorted(map(functions, fills(read()))) == WAYS
    assert json.loads(tap("info", "s.gputap", "--json").out)["end"] == "complete"


def test_debug_information_that_kills_its_reader_costs_the_lines_only(program, tap, read,
                                                                      strange_libdw):
    said = tap("run", "--stacks", "-o", "s.gputap", program, "plain", 1,
               env=strange_libdw("abort()")).err
    said = " ".join(said.split())
    assert "frames have no source lines" in said and "in debug information crashed" in said
    program.unlink()
    assert sorted(map(functions, fills(read()))) == WAYS


def test_where_there_is_no_libdw_that_is_said_and_no_time_is_over(program, tap, read, work):
    (work / "libdw.so.1").write_text("no library")
    said = tap("run", "--stacks=lines:60s", "-o", "s.gputap", program, "plain", 1,
               env={"LD_LIBRARY_PATH": work}).err
    assert "elfutils' libdw.so.1 is not installed" in " ".join(said.split())
    assert "the search ended" not in said
    program.unlink()
    assert sorted(map(functions, fills(read()))) == WAYS


def test_no_process_is_left_when_lines_were_looked_up(program, tap):
    """The fixture no_leaks checks for leftover processes."""
    tap("run", "-q", "--stacks", "-o", "s.gputap", program, "plain", 1)


@pytest.mark.skipif(not (3, 11) <= sys.version_info < (3, 15),
                    reason="this Python's frames are not known")
def test_an_interpreter_that_is_gone_is_still_replaced_by_its_frames(repo, work, tap, read):
    python = shutil.copy(os.path.realpath(sys.executable), work / "snake")
    tap("run", "-q", "--stacks", "-o", "s.gputap", python, repo / "tests/stacks/launches.py",
        "native", env={"PYTHONHOME": sys.base_prefix})
    before = fills(read())
    os.unlink(python)
    assert fills(read()) == before
    names = [frame.split(" at ")[0] for frame in before[0] if ".py:" in frame]
    assert names == ["launch", "Model.forward", "through_native.<locals>.<lambda>",
                     "through_native", "main", "<module>"]
    assert "_PyEval" not in str(before)


# The capture is moved ---------------------------------------------------------------------------

def test_merged_captures_keep_names(program, tap, read):
    for name, times in ("a", 1), ("b", 2):
        tap("run", "-q", "--stacks", "-o", f"{name}.gputap", program, "plain", times)
    tap("merge", "a.gputap", "b.gputap", "-o", "s.gputap")
    program.unlink()
    assert sorted(map(functions, fills(read()))) == sorted(2 * WAYS)


def test_a_flight_recorders_capture_has_names(program, tap, read):
    tap("run", "-q", "--stacks", "--keep", "1h", "-o", "s.gputap", program, "plain", 1)
    program.unlink()
    assert sorted(map(functions, fills(read()))) == WAYS


@pytest.fixture
def waiting(gputap, program, work):
    """Start `gputap run` of a program that has launched a fill and waits."""
    started = []

    def start(*options):
        p = subprocess.Popen([gputap, "run", "-q", "--stacks", "-o", "s.gputap", *options, program,
                              "wait"], stdout=subprocess.PIPE, text=True)
        started.append(p)
        assert p.stdout.readline() == "ready\n"
        return p
    yield start
    for p in started:
        p.stdout.close()
        if p.poll() is None:
            os.kill(child_of(p), signal.SIGKILL)
        p.wait()


@pytest.mark.parametrize("options", [[], ["--keep", "1h"]])
def test_a_recovered_capture_has_names(waiting, program, tap, read, options):
    collector = waiting(*options)
    child = child_of(collector)
    (folder,) = sessions_of("s.gputap")
    collector.kill()
    collector.wait()
    os.kill(child, signal.SIGKILL)
    tap("recover", folder)
    program.unlink()
    assert list(map(functions, fills(read()))) == [WAITING]


def test_a_recovered_capture_has_none_where_nobody_wanted_them(waiting, tap):
    collector = waiting("--stacks=no-names")
    child = child_of(collector)
    (folder,) = sessions_of("s.gputap")
    collector.kill()
    collector.wait()
    os.kill(child, signal.SIGKILL)
    tap("recover", folder)
    assert b"launch_and_wait" not in pathlib.Path("s.gputap").read_bytes()


def test_a_capture_that_is_cut_keeps_names(program, tap, read):
    tap("run", "-q", "--stacks", "-o", "s.gputap", program, "plain", 3)
    tap("export", "s.gputap", "--where", "kind=memset", "-o", "cut.gputap")
    program.unlink()
    assert sorted(map(functions, fills(read("cut.gputap")))) == WAYS


@pytest.mark.parametrize("options", [[], ["--keep", "1h"]])
def test_a_snapshot_has_names_when_it_is_there(waiting, program, tap, read, work, options):
    collector = waiting(*options)
    tap("snapshot", collector.pid, "-o", "snap.gputap")
    program.rename("elsewhere")
    assert list(map(functions, fills(read("snap.gputap")))) == [WAITING]


def test_names_are_in_no_capture_that_does_not_want_them(program, tap, run):
    tap("run", "-q", "--stacks=launch,no-names", "-o", "s.gputap", program, "plain", 1)
    tap("run", "-q", "--stacks", "-o", "named.gputap", program, "plain", 1)
    assert b"launch_fill" not in pathlib.Path("s.gputap").read_bytes()
    assert b"launch_fill" in pathlib.Path("named.gputap").read_bytes()


def test_build_ids_stay_with_names(program, tap):
    """Build ids allow a later search for the files."""
    tap("run", "-q", "--stacks", "-o", "s.gputap", program, "plain", 1)
    text = subprocess.run(["readelf", "-n", program], stdout=subprocess.PIPE, text=True).stdout
    assert re.search(r"Build ID: (\w+)", text)[1].encode() in pathlib.Path("s.gputap").read_bytes()


# Text output ------------------------------------------------------------------------------------

def shown(tap, *options, capture="s.gputap", columns=80):
    """Return the lines with functions from the text report, for all stacks."""
    text = tap("report", capture, "-t", "stacks", "-w", "name=memset", *options,
               env={"COLUMNS": columns}).out
    assert max(map(len, text.splitlines())) <= columns
    begin = re.search(r"what, and from where\n", text).end()
    lines = text[begin:].split("\n\n")[0].splitlines()
    return [line.strip() for line in lines if not re.match(r" +[\d.]+ [num]?s ", line)]


def test_a_long_stack_is_shown_in_part(program, tap, read):
    tap("run", "-q", "--stacks", "-o", "s.gputap", program, "deep", 40)
    (stack,) = fills(read())
    lines = shown(tap)
    assert len(lines) == 13 and lines[-1] == f".. {len(stack) - 12} more frames"
    assert [line.split(" at ")[0] for line in lines[:2]] == ["launch_fill", "recurse"] or \
        lines[0].startswith("launch_fill")
    assert len(shown(tap, "--frames", "0")) == len(stack) > 40
    assert len(shown(tap, "--frames", "3")) == 4
    assert len(shown(tap, "--frames", str(len(stack) - 1))) == len(stack)  # without "1 more" line


def test_frames_wants_a_number(tap):
    assert "--frames needs" in tap("report", "--all", "--frames", "few", "x.gputap", status=2).err


@pytest.mark.skipif(not (3, 11) <= sys.version_info < (3, 15),
                    reason="this Python's frames are not known")
def test_functions_of_python_are_shown_however_deep_native_code_is(repo, tap, work):
    tap("run", "-q", "--stacks", "-o", "s.gputap", sys.executable,
        repo / "tests/stacks/launches.py")
    lines = shown(tap, "--frames", "4")
    assert re.fullmatch(r"\.\. \d+ more frames?", lines[2])
    assert [line.split(" at ")[0] for line in lines[3:5]] == ["launch", "Model.forward"]
    assert re.fullmatch(r"\.\. \d+ more frames", lines[5]) and len(lines) == 6


def test_frames_in_a_row_without_names_are_one_line(program, tap, run, read):
    run(["gcc", "-xc", "-", "-O1", "-shared", "-fPIC", "-s", "-o", "libplain.so"], stdin="""
        #define AFTER __asm__ volatile("" ::: "memory")
        __attribute__((noinline)) static void inner(void (*f)(void)) { f(); AFTER; }
        __attribute__((noinline)) static void middle(void (*f)(void)) { inner(f); AFTER; }
        __attribute__((noinline)) static void outer(void (*f)(void)) { middle(f); AFTER; }
        void enter_library(void (*f)(void)) { outer(f); AFTER; }""")
    tap("run", "-q", "--stacks", "-o", "s.gputap", program, "libraries", "./libplain.so")
    assert [re.split(r" (?:at|in) ", line)[0] for line in shown(tap)][:3] == [
        "launch_fill", "3 frames of libplain.so", "enter_library"]
    (stack,) = fills(read())
    assert sum("libplain.so+0x" in frame for frame in stack) == 3


def test_stacks_that_read_the_same_are_one_row(run, program, tap, read):
    """The stacks contain two call sites in one function with unknown lines."""
    tap("run", "-q", "--stacks=lines:0", "-o", "s.gputap", program, "many", 4)
    program.unlink()
    stacks = [tuple(stack) for stack in fills(read())]
    assert len(stacks) == len(set(stacks))
    rows = [row["count"] for row in read() if row["name"] == "memset"]
    assert sum(rows) == 4 and len(rows) < 4
