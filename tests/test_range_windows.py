# SPDX-License-Identifier: MIT
"""Test gputap run --from RANGE --to RANGE. Each process counts its own ranges and is recorded from
the first range to the second."""
import collections
import csv
import json

import pytest

import control_programs
from control_programs import control, recorded, session, status  # noqa: F401 fixtures

SOURCES = ["gputap", "roctx", "roctx-start", "nvtx", "nvtx-start", "itt"]


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    return control_programs.Program("refdev", build, tmp_path_factory.mktemp("ranges"))


def steps(s, count, name="step"):
    """Run @count steps. Launch `a` before each step, `b` twice in each step, and `c` after the last
    step."""
    for _ in range(count):
        s.tell("run a 1", f"begin {name}", "run b 2", "end")
    s.tell("run c 1")


def launches_of(tap):
    """Return {pid: number of launches}, in pid order. Call recorded() first."""
    with open("w.csv", newline="") as f:
        return collections.Counter(
            r["pid"] for r in csv.DictReader(f) if r["operation"] == "refdevLaunchKernel")


def windows_of(tap):
    return [(w["state"], w["why"], w["end_why"])
            for w in json.loads(tap("info", "--json", "w.gputap").out)["windows"]]


def ranges_of(tap):
    rows = csv.DictReader(tap("report", "--csv", "-t", "ranges", "w.gputap").out.splitlines())
    return {r["name"]: int(r["count"]) for r in rows}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("domains", [(), ("-d", "refdev")])
def test_a_window_is_from_the_begin_of_a_range_to_the_end_of_another(session, recorded, tap,
                                                                     source, domains):
    """All sources of ranges open and close windows, even if the ranges themselves are not
    recorded."""
    s = session("--from", "step#3", "--to", "step#5", *domains)
    s.tell(f"by {source}")
    steps(s, 7)
    s.end()
    assert "window" not in s.err.replace("windows", "")
    assert recorded() == {"b": 6, "a": 2}
    assert windows_of(tap) == [("paused", "range", "range"), ("recorded", "range", "range"),
                               ("paused", "range", "process")]
    if not domains:
        assert ranges_of(tap) == {"step": 3}


@pytest.mark.parametrize("options, expected", [
    (["--from", "step#3"], {"a": 1, "b": 4, "c": 1}),
    (["--from", "step"], {"a": 3, "b": 8, "c": 1}),
    (["--to", "step#2"], {"a": 2, "b": 4}),
    (["--to", "step"], {"a": 1, "b": 2}),
    (["--from", "s*p#4", "--to", "st[a-f]p#4"], {"b": 2}),
    (["--from", "s?ep#4"], {"b": 2, "c": 1}),
    (["--from", "[!r]tep#4"], {"b": 2, "c": 1}),
    (["--from", "step*#2", "--to", "*e*#2"], {"b": 2}),
])
def test_one_end_alone_and_patterns(session, recorded, options, expected):
    s = session(*options)
    steps(s, 4)
    s.end()
    assert recorded() == expected


def test_ranges_of_two_names_overlap(session, recorded):
    s = session("--from", "inner#2", "--to", "outer#2")
    for _ in range(3):
        s.tell("begin outer", "run a 1", "begin inner", "run b 1", "end", "run c 1", "end",
               "run d 1")
    s.end()
    assert recorded() == {"b": 1, "c": 1}


@pytest.mark.parametrize("source", SOURCES)
def test_ranges_of_all_threads_are_counted_together(session, recorded, source):
    s = session("--from", "step#3", "--to", "step#4")
    s.tell(f"by {source}", "thread step 1", "begin step", "run b 1", "end", "thread step 2",
           "run c 1", "begin step", "run b 2", "thread step 4", "end", "run d 1")
    s.end()
    assert recorded() == {"a": 2 + 4, "b": 2, "c": 1}


@pytest.mark.parametrize("source", ["gputap", "roctx", "nvtx-start"])
def test_a_forks_child_counts_its_own(session, recorded, tap, source):
    s = session("--from", "step#2", "--to", "step#3", "--wait")
    s.tell(f"by {source}", "run d 1")
    steps(s, 2)  # the window stays open and includes c
    s.begin("fork")
    steps(s, 4)  # the child's steps
    s.begin("exit")
    assert s.process.stdout.readline() == "ok\n"
    steps(s, 2)
    s.end()
    # parent: the second step, the launches after it, and the third step; child: 2 steps
    assert recorded() == {"b": 2 + 2, "a": 1, "c": 1}
    assert sorted(launches_of(tap).values()) == [2 + 1 + 2, 2 + 1 + 1 + 2]


def test_the_end_of_a_range_that_a_forks_parent_began_ends_nothing_in_the_child(session, recorded,
                                                                                 tap):
    s = session("--to", "step", "--wait")
    s.tell("begin step", "run a 1")
    s.begin("fork")
    s.tell("end", "run b 1", "begin step", "run b 2", "end", "run c 1")
    s.begin("exit")
    assert s.process.stdout.readline() == "ok\n"
    s.tell("end", "run d 1")
    s.end()
    recorded()
    assert sorted(launches_of(tap).values()) == [1, 3]


def test_the_sessions_pause_and_that_of_ranges_are_two(session, control, status, recorded):
    s = session("--paused", "--from", "step#2", "--to", "step#4")
    steps(s, 1)
    control("start", s)
    steps(s, 1)
    control("stop", s)
    steps(s, 1)
    control("start", s)
    steps(s, 2)
    s.end()
    assert recorded() == {"b": 2 + 2, "c": 1 + 0, "a": 1}


def test_the_programs_pause_does_not_stop_the_count(session, recorded):
    s = session("--from", "step#2")
    s.tell("pause")
    steps(s, 2)
    s.tell("resume")
    steps(s, 1)
    s.end()
    assert recorded() == {"a": 1, "b": 2, "c": 1}


NEVER = "the recording window never opened: "
OPEN = "the recording window stayed open until the end: "


@pytest.mark.parametrize("options, sentence", [
    (["--from", "step#3"], NEVER + "the range 'step' started 2 times; there was no third"),
    (["--from", "step#8"], "started 2 times; there was no eighth"),
    (["--from", "step#21"], "started 2 times; there was no number 21"),
    (["--from", "nix"], NEVER + "no range 'nix' started"),
    (["--from", "open#2"], NEVER + "the range 'open' started once; there was no second"),
    (["--to", "step#3"], OPEN + "the range 'step' started 2 times; there was no third"),
    (["--to", "open"], OPEN + "the range 'open#1' did not end"),
    (["--from", "open", "--to", "step"],
     NEVER + "'step#1' of --to ended before 'open#1' of --from started"),
])
def test_a_range_that_never_comes_is_said(session, options, sentence):
    s = session(*options)
    steps(s, 2)
    s.tell("begin open")
    s.end()
    assert sentence in " ".join(s.err.split())


@pytest.mark.parametrize("options, sentence, caret", [
    (["--from", "step#0"], "--from: # must be followed by a number from 1: step#3", 5),
    (["--to", "step#"], "--to: # must be followed by a number from 1: step#3", 5),
    (["--from", "step#2..3"], "--from: name one range: the first in --from, the last in --to", 5),
    (["--from", ""], "--from: a range's name is missing: step, step#3, layer*#2", 0),
    (["--from", "x" * 250], "--from: this name is too long", 247),
    (["--from", "step#3", "--to", "step#2"], "--to step#2 ends before --from step#3 starts", None),
    (["--from", "step", "--delay", "1s"], "--delay is a time in the session", None),
    (["--to", "step", "--duration", "1s"], "--duration is a time in the session", None),
])
def test_bad_values_are_refused(tap, work, options, sentence, caret):
    err = tap("run", *options, "--", "true", status=2).err
    assert sentence in " ".join(err.split())
    if caret is not None:
        assert err.splitlines()[-1] == " " * (2 + caret) + "^"


# Ranges across pauses ---------------------------------------------------------------------

@pytest.fixture
def across(session, recorded, tap):
    """Return a function: run(source) launches kernels in named ranges and pauses recording between
    the starts and ends of the ranges."""
    def run(source):
        s = session()
        s.tell(f"by {source}", "begin around", "run a 1", "begin before", "run a 2")
        s.tell("pause", "run d 1", "end", "begin within", "run d 1", "end")
        s.tell("begin late", "begin inner", "run d 1", "resume", "run b 4", "end", "run c 8", "end")
        s.tell("pause", "begin between", "resume", "run a 16", "pause", "end", "resume")
        s.tell("begin within", "end", "end")
        s.end()
        assert recorded() == {"a": 19, "b": 4, "c": 8}

    def count(name):
        rows = csv.DictReader(tap("report", "--csv", "-t", "kernels", "--where", f"range={name}",
                                  "w.gputap").out.splitlines())
        return {r["name"]: int(r["count"]) for r in rows}
    run.count = count
    return run


@pytest.mark.parametrize("source", ["gputap", "roctx", "nvtx"])
def test_ranges_across_a_pause_are_whole(across, tap, source):
    across(source)
    assert ranges_of(tap) == {n: 1 for n in ("around", "before", "late", "inner", "between",
                                             "within")}
    assert across.count("around") == {"a": 19, "b": 4, "c": 8}
    assert across.count("before") == {"a": 2}
    assert across.count("late") == {"b": 4, "c": 8}
    assert across.count("inner") == {"b": 4}
    assert across.count("between") == {"a": 16}


@pytest.mark.parametrize("has_package", [False, True])
def test_a_range_of_torch_without_the_package_is_explained(tap, run, work, has_package):
    """The program maps a library with torch's name. The collector checks four times a second
    whether such a library is mapped."""
    (work / "gputap/_shim").mkdir(parents=True)
    for name in ["libtorch_cpu.so", "gputap/_shim/observer.so"]:
        run(["cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", name])
    libraries = ["./libtorch_cpu.so", *(["./gputap/_shim/observer.so"] if has_package else [])]
    program = ("import ctypes, time\n"
               f"kept = [ctypes.CDLL(name) for name in {libraries}]\n"
               "time.sleep(2)")
    said = " ".join(tap("run", "--from", "step", "-o", "t.gputap", "python3", "-c",
                        program).err.split())
    assert ("no range named 'step' was seen; torch's ranges need gputap in torch's environment "
            "('pip install gputap'; " in said) == (not has_package), said
    assert ("no range 'step' started" in said) == has_package
