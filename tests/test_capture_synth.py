# SPDX-License-Identifier: MIT
"""Read whole captures, written by synth, through the public reader."""

import re
import struct

import pytest


@pytest.fixture
def synth(run, build, work):
    def write(*options):
        run([build / "tests/synth/synth", *options, "-o", "a.gputap"])
        return work / "a.gputap"
    return write


@pytest.fixture
def dump(run, build):
    def read(path, *options):
        return run([build / "tests/synth/dump", path, *options]).out
    return read


def counts(text):
    return {
        word: int(number) for number, word in re.findall(
            r"(\d+) (processes|threads|calls|device|external|events)", text)
    }


@pytest.mark.parametrize("options", [[], ["--compress"], ["--plain"], ["--flush-bytes", "1000"],
                                     ["--cut"], ["--device-clock", "timer"]])
def test_every_call_of_every_thread_comes_back(synth, dump, options):
    text = dump(synth("--calls", "20000", "--threads", "3", "--processes", "2", *options))
    # three of every 8 calls enqueue an activity: a kernel, a write and a read
    assert counts(text) == {
        "processes": 2, "threads": 8, "calls": 120000, "device": 45000, "external": 0, "events": 0
    }
    assert ", bad 0 bytes" in text


def test_an_interrupted_capture_says_that_it_is_cut(synth, dump):
    assert "\ncut, " in dump(synth("--cut"))
    assert "\nincomplete, " in dump(synth("--crash", "--nested"))
    assert "\ncomplete, " in dump(synth())


@pytest.mark.parametrize("clock, name", [("raw", "CLOCK_MONOTONIC_RAW"), ("timer", "device timer"),
                                         ("offset", "calls and waits")])
def test_the_clock_of_a_device_is_found_and_nothing_starts_before_its_call(
        synth, dump, clock, name):
    text = dump(synth("--calls", "40000", "--waits", "--device-clock", clock))
    assert re.search(rf"clock {name} residual \d+ ns violations 0$", text, re.M)


def test_waits_that_end_before_their_work_are_counted_and_how_far_they_are_off_is_the_residual(
        synth, dump):
    """The calls return at arbitrary times, as if the runtime's timestamps came from no known
    clock."""
    text = dump(synth("--calls", "4000", "--device-clock", "offset"))
    violations = re.search(
        r"clock (?:smallest offset|calls and waits) residual (\d+) ns violations (\d+)$", text,
        re.M)
    assert int(violations[1]) > 1000 and int(violations[2]) > 0


def test_compressed_and_plain_captures_hold_the_same(synth, dump):
    options = [
        "--calls", "3000", "--threads", "2", "--nested", "--external", "--failed", "--names",
        "tricky", "--events", "--overlap"
    ]
    plain = dump(synth(*options), "--items").rsplit("\n", 2)[0]
    assert dump(synth("--compress", *options), "--items").rsplit("\n", 2)[0] == plain
    assert plain.count("\ncall ") > 6000


def test_children_lie_inside_their_parents(synth, dump):
    text = dump(synth("--calls", "4000", "--nested"), "--items")
    calls = {
        m[1]: m
        for m in re.finditer(r"^call .* id=(\S+) parent=(\S+) .* (\d+)\.\.(\d+) ret", text, re.M)
    }
    children = [m for m in calls.values() if m[2] != "0"]
    assert len(children) > 400
    for child in children:
        parent = calls[child[2]]
        assert int(parent[3]) <= int(child[3]) <= int(child[4]) <= int(parent[4])


def test_work_of_a_device_whose_object_is_lost_is_on_the_clock_of_the_calls(synth, dump):
    """If the blocks of strings and objects are damaged, the reader derives the device's clock from
    the device's activities alone."""
    path = synth("--calls", "60", "--waits", "--device-clock", "offset")

    def times():
        return [(int(a), int(b)) for a, b in re.findall(r"^device .* ext=\S+ (\d+)\.\.(\d+)",
                                                        dump(path, "--items"), re.M)]
    whole, file, at = times(), bytearray(path.read_bytes()), 0
    while (at := file.find(b"TBlk", at)) >= 0:
        kind, _, head, stored = struct.unpack_from("<BBHI", file, at + 4)
        if kind == 7:
            file[at + head + stored // 2] ^= 0xff
        at += 4
    path.write_bytes(file)
    assert len(times()) == len(whole) > 10
    for (start, end), (before, _) in zip(times(), whole):
        # Without queue objects, the wait target of a clFinish() is unknown.
        assert abs(start - before) < 20_000 and end > start


def test_a_report_with_stacks_reads_no_freed_memory(run, gputap, build, work):
    """The report releases the names of stacks after it has closed the capture."""
    run([build / "tests/synth/synth", "--calls", 40, "--gap", 2000000, "--threads", 2,
         "--host-states", "--open-calls", "-o", "s.gputap"])
    # freed memory is overwritten, and returned at once
    env = {"MALLOC_PERTURB_": "165", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    out = run([gputap, "report", "s.gputap", "--all"], env=env).out
    assert "waiting for a lock" in out and "clFinish" in out
    run([gputap, "what-if", "s.gputap"], env=env)
